"""Applies a project as code: playbooks, agents, definitions, policies, connections and budgets as a folder has them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Protocol

from pydantic import Field

from steward.broker import (
    CONTENT,
    PLAIN,
    TARGET,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.core import Service
from steward.identity import Role
from steward.runs import Json
from steward.tools._calls import listed, off_loop

MOST_CHANGES: Final = 4_000
_TOOL_OF: Final = {"agent": "change_agent", "definitions": "change_definitions"}
"""The tool that changes one of a kind, where there is one. What else a folder has is changed by role alone."""


class Applied(Protocol):
    @property
    def number(self) -> int: ...


class ProjectCode(Protocol):
    def preview_apply(
        self, scope: Any, author: str, role: Any, changes: Sequence[Mapping[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """What would change, field by field; Invalid and Stale say why it cannot."""
        ...

    def apply(
        self,
        scope: Any,
        author: str,
        role: Any,
        changes: Sequence[Mapping[str, Any]],
        hashes: Mapping[str, str],
        call: str,
    ) -> Applied:
        """Puts everything in place, or nothing; called again, it goes on with what it began."""
        ...

    def take_back(
        self, scope: Any, author: str, role: Any, changes: Sequence[Mapping[str, Any]], call: str
    ) -> None: ...


PROJECT_CODE: Final = Service[ProjectCode]("project_code", "Applying a project")


class PartChange(Arguments):
    kind: Annotated[str, TARGET] = Field(max_length=40, description="Such as playbook or agent.")
    name: Annotated[str, TARGET] = Field(max_length=2_500, description="Its name among these.")
    content: Annotated[dict[str, Any] | None, CONTENT] = Field(
        description="The whole thing as it should be; null removes it."
    )
    before: Annotated[str | None, PLAIN] = Field(
        max_length=64,
        description="Hash of what is there now; null: nothing. Refused where something else is there.",
    )


class ApplyProject(Arguments):
    changes: list[PartChange] = Field(
        max_length=MOST_CHANGES, description="What is created, changed and removed."
    )
    hashes: Annotated[dict[str, str], PLAIN] = Field(
        max_length=MOST_CHANGES,
        description="The content of the whole folder, to find later what was changed by hand.",
    )


def _code(context: ToolContext) -> ProjectCode:
    return context.services.use(PROJECT_CODE)


def _who(context: ToolContext) -> tuple[Any, str, Any]:
    return context.scope, context.author, context.token_role


def _changes(arguments: ApplyProject) -> list[dict[str, Any]]:
    return [each.model_dump(mode="json") for each in arguments.changes]


async def preview(context: ToolContext, arguments: ApplyProject) -> Preview:
    look = _code(context).preview_apply
    changes = await off_loop(look, *_who(context), _changes(arguments))
    return Preview(summary=_summary(arguments), details={"changes": list(changes)})


async def run(context: ToolContext, arguments: ApplyProject) -> Outcome:
    call = context.ticket.idempotency_key if context.ticket else ""
    apply = _code(context).apply
    made = await off_loop(apply, *_who(context), _changes(arguments), arguments.hashes, call)
    return Outcome(
        value={"number": made.number, "changed": len(arguments.changes)},
        summary=_summary(arguments),
        # Undo puts back what was replaced; it is refused where somebody changed that since.
        inverse={"call": call},
    )


async def take_back(context: ToolContext, arguments: ApplyProject, inverse: Json) -> Outcome:
    back = _code(context).take_back
    await off_loop(back, *_who(context), _changes(arguments), inverse["call"])
    return Outcome(
        value={"undone": len(arguments.changes)}, summary=f"Undid: {_summary(arguments)}"
    )


def _acts_as(_context: ToolContext, arguments: ApplyProject) -> tuple[str, ...]:
    """A folder is no way around a rule about what it changes."""
    kinds = {each.kind for each in arguments.changes}
    return tuple(tool for kind, tool in _TOOL_OF.items() if kind in kinds)


def _summary(arguments: ApplyProject) -> str:
    if not arguments.changes:
        return "Remember a folder that the project equals"
    names = listed(f"{each.kind} {each.name}" for each in arguments.changes)
    return f"Apply {len(arguments.changes)} changes from a folder: {names}"


add_tool(
    name="apply_project",
    title="Apply a project",
    description="Creates, changes and removes playbooks, agents, definitions, policies, connections and budgets "
    "as a folder has them: all of them or none.",
    arguments=ApplyProject,
    risk=Risk.write,
    run=run,
    effects=Effects(writes=True),
    dry_run=preview,
    acts_as=_acts_as,
    role=Role.editor,
    undo=take_back,
    # A call that is made again finds what it began.
    idempotent=True,
    # An agent that could change policies and agents could give itself everything.
    direct_only=True,
)
