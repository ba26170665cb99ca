"""AgentDojo's tools as tools of Steward: the same functions and environments, with a risk class each."""

from typing import Any, Final

from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.functions_runtime import FunctionsRuntime
from pydantic import create_model

from steward.broker.tool import (
    TOOLS,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    Tool,
    ToolContext,
)
from steward.core.errors import Invalid

VERSION: Final = "v1.2.2"

_READS: Final = ("get_", "search_", "list_", "read_", "check_")
_SENDS: Final = frozenset(
    {"send_email", "create_calendar_event", "reschedule_calendar_event", "share_file"}
    | {"add_calendar_event_participants", "send_direct_message", "send_channel_message"}
    | {"post_webpage", "invite_user_to_slack", "get_webpage"}
)
"""What other people get to see, and what opens an address outside."""
_PAYS: Final = frozenset(
    {"send_money", "schedule_transaction", "update_scheduled_transaction"}
    | {"reserve_hotel", "reserve_car_rental", "reserve_restaurant"}
)
_REMOVES: Final = frozenset(
    {"delete_email", "delete_file", "cancel_calendar_event", "remove_user_from_slack"}
)
_SECRETS: Final = frozenset({"update_password"})

ENVIRONMENTS: Final[dict[str, Any]] = {}
"""The world of each run, by its id."""


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
    return f"dojo_{suite}_{function}"


def register(suite: Any) -> None:
    """Makes the suite's functions known to the broker."""
    runtime = FunctionsRuntime(suite.tools)
    for function in suite.tools:
        name = tool_name(suite.name, function.name)
        if name not in TOOLS:
            TOOLS.add(name, _tool(name, function, runtime))


def _tool(name: str, function: Any, runtime: FunctionsRuntime) -> Tool[Any]:
    fields: dict[str, Any] = {
        key: (field.annotation, field) for key, field in function.parameters.model_fields.items()
    }
    arguments = create_model(f"{name}_arguments", __base__=Arguments, **fields)
    risk = risk_of(function.name)

    async def run(context: ToolContext, given: Arguments) -> Outcome:
        environment = ENVIRONMENTS[context.run_id]
        value, error = runtime.run_function(
            environment, function.name, given.model_dump(mode="json", exclude_unset=True)
        )
        if error is not None:
            raise Invalid(error)
        text = tool_result_to_str(value)
        return Outcome({"text": text}, sources=(f"agentdojo:{name}",), trusted=False)

    async def dry_run(_: ToolContext, given: Arguments) -> Preview:
        return Preview(f"Call {function.name}", payload=given.model_dump(mode="json"))

    return Tool(
        name=name,
        title=function.name.replace("_", " ").capitalize(),
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
        destination=(lambda given: str(given)[:200]) if risk is Risk.external_send else None,
    )
