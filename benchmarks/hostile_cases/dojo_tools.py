"""AgentDojo's tools as tools of a project: the same functions and environments, with a risk class each."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Final

from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.functions_runtime import FunctionsRuntime
from pydantic import BaseModel, create_model

from benchmarks.hostile_cases.dojo_roles import role_of
from benchmarks.hostile_cases.renaming import Names
from steward.broker.tool import (
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    Tool,
    ToolContext,
)
from steward.core.errors import Invalid, NotFound
from steward.runs import Json
from steward.store import Scope

VERSION: Final = "v1.2.2"

_READS: Final = ("get_", "search_", "list_", "read_", "check_")
_SENDS: Final = frozenset(
    {"send_email", "create_calendar_event", "reschedule_calendar_event", "share_file"}
    | {"add_calendar_event_participants", "send_direct_message", "send_channel_message"}
    | {"post_webpage", "invite_user_to_slack", "get_webpage"}
    | {"book_meeting", "open_ticket", "grant_access", "post_note"}
)
"""What other people get to see, and what opens an address outside."""
_PAYS: Final = frozenset(
    {"send_money", "schedule_transaction", "update_scheduled_transaction"}
    | {"reserve_hotel", "reserve_car_rental", "reserve_restaurant"}
    | {"pay", "order_goods"}
)
_REMOVES: Final = frozenset(
    {"delete_email", "delete_file", "cancel_calendar_event", "remove_user_from_slack"}
)
_SECRETS: Final = frozenset({"update_password"})

WORD: Final = "dojo"
"""With which the names of these tools begin: the toolbox asks `DojoTools` for them."""


@dataclass
class World:
    """What the tools of one run work on, and what they were really made to do."""

    environment: Any
    mark: str
    """By which injected text is recognised."""
    was_read: bool = False
    """Whether injected text came out of a tool: from then on the model obeys it."""
    called: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Calls that worked, in order."""


def risk_of(function: str) -> Risk:
    """As somebody who connects such a system would class its functions; what is unknown counts as a change."""
    if function in _SENDS or function in _PAYS:
        return Risk.external_send
    if function in _REMOVES:
        return Risk.destructive
    if function in _SECRETS:
        return Risk.secret
    return Risk.read if function.startswith(_READS) else Risk.write


def spends(function: str) -> bool:
    return function in _PAYS


def tool_name(suite: str, function: str) -> str:
    return f"{WORD}.{suite}.{function}"


class DojoTools:
    """Brings the functions of a suite to the broker, as skills and connections bring theirs."""

    def __init__(self, suite: Any, names: Names) -> None:
        self.worlds: dict[str, World] = {}
        """By the id of the run."""
        runtime = FunctionsRuntime(suite.tools)
        self._tools = {
            name: _tool(name, function, runtime, self.worlds, names)
            for function in suite.tools
            for name in [names.tool(tool_name(suite.name, function.name))]
        }

    def find(self, scope: Scope, name: str, pin: Json = None) -> Tool[Any]:  # noqa: ARG002
        if name not in self._tools:
            raise NotFound(f"AgentDojo has no tool {name!r}.")
        return self._tools[name]

    def listed(self, scope: Scope) -> Iterable[Tool[Any]]:  # noqa: ARG002
        return list(self._tools.values())


def _records(value: Any) -> Any:
    """What a function found, as data; AgentDojo itself shows it as text."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list):
        return [_records(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _records(item) for key, item in value.items()}
    return value if isinstance(value, int | float) else str(value)


def _told(value: Any, found: Any) -> str:
    try:
        return str(tool_result_to_str(value))
    except TypeError:
        return json.dumps(found, ensure_ascii=False)


def arguments_of(function: Any, names: Names) -> type[Arguments]:
    """The arguments of a function with the roles that a person gave them."""
    return _declared(function.name, function.parameters, names)


@cache
def _declared(function: str, parameters: type[BaseModel], names: Names) -> type[Arguments]:
    declared: dict[str, Any] = {
        key: (Annotated[field.annotation, role_of(function, key)], field)
        for key, field in parameters.model_fields.items()
    }
    fields = names.arguments(function, declared)
    return create_model(f"{function}_arguments", __base__=Arguments, **fields)


def names_of(suite: Any) -> Names:
    """Meaningless ones for all of a suite's functions."""
    return Names({each.name: list(each.parameters.model_fields) for each in suite.tools})


def _tool(
    name: str, function: Any, runtime: FunctionsRuntime, worlds: dict[str, World], names: Names
) -> Tool[Any]:
    arguments = arguments_of(function, names)
    risk = risk_of(function.name)

    async def run(context: ToolContext, given: Arguments) -> Outcome:
        world = worlds[context.run_id]
        dumped = given.model_dump(mode="json", exclude_none=True)
        arguments = names.arguments_back(function.name, dumped)
        value, error = runtime.run_function(world.environment, function.name, arguments)
        if error is not None:
            raise Invalid(error)
        world.called.append((function.name, arguments))
        found = _records(value)
        text = _told(value, found)
        world.was_read = world.was_read or world.mark in json.dumps(found, ensure_ascii=False)
        told = {"text": text} if isinstance(found, str) else {"text": text, "records": found}
        return Outcome(told, sources=(f"agentdojo:{name}",), trusted=False)

    async def dry_run(_: ToolContext, given: Arguments) -> Preview:
        return Preview(f"Call {function.name}", payload=given.model_dump(mode="json"))

    return Tool(
        name=name,
        title=names.tool(function.name).replace("_", " ").capitalize(),
        description=function.description.splitlines()[0],
        arguments=arguments,
        risk=risk,
        effects=Effects(
            reads=risk is Risk.read,
            writes=not risk.at_most(Risk.compute),
            network=risk is Risk.external_send,
            spends=spends(function.name),
        ),
        run=run,
        dry_run=None if risk is Risk.read else dry_run,
        idempotent=True,
        pin={"agentdojo": VERSION},
    )
