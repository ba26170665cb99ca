"""Changes an agent of the project: a new version of its document, or its end."""

from collections.abc import Sequence
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
from steward.runs import Found, Json, Reconciled, Ticket
from steward.tools._calls import happened, in_thread_of_call

_LONGEST_NAME: Final = 60


class Changed(Protocol):
    """A version that was made."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def is_archived(self) -> bool: ...


class AgentDocuments(Protocol):
    def preview_change(
        self, scope: Any, name: str, document: Json
    ) -> tuple[int, Sequence[dict[str, Any]]]:
        """The version that it would follow, and what would change, field by field; Invalid says what is wrong."""
        ...

    def change(
        self,
        scope: Any,
        author: str,
        name: str,
        document: Json,
        *,
        message: str,
        call: str,
        expected: int | None,
    ) -> Changed: ...

    def document_before(self, scope: Any, name: str, version: int) -> Json:
        """What the version replaced; None where the agent was not there or archived."""
        ...

    def restore(
        self, scope: Any, author: str, name: str, document: Json, *, call: str, expected: int
    ) -> Changed:
        """Sets a document that was kept before, as a new version."""
        ...

    def made_by(self, scope: Any, call: str) -> Changed | None: ...


AGENTS: Final = Service[AgentDocuments]("agents", "Changing an agent")


class ChangeAgent(Arguments):
    name: Annotated[str, TARGET] = Field(
        min_length=1, max_length=_LONGEST_NAME, description="The agent's name."
    )
    document: Annotated[dict[str, Any] | None, CONTENT] = Field(
        None, description="The whole agent as it should be; unset archives it."
    )
    message: Annotated[str, CONTENT] = Field("", max_length=400, description="Why it changes.")
    version: Annotated[int | None, PLAIN] = Field(
        None,
        ge=0,
        description="The version it was made from, 0 for a new agent; refused where it is not the newest.",
    )


def _agents(context: ToolContext) -> AgentDocuments:
    return context.services.use(AGENTS)


@in_thread_of_call
def preview(context: ToolContext, arguments: ChangeAgent) -> Preview:
    version, changes = _agents(context).preview_change(
        context.scope, arguments.name, arguments.document
    )
    return Preview(
        summary=_summary(arguments.name, version + 1, archived=arguments.document is None),
        details={"changes": list(changes)},
    )


@in_thread_of_call
def run(context: ToolContext, arguments: ChangeAgent) -> Outcome:
    made = _agents(context).change(
        context.scope,
        context.author,
        arguments.name,
        arguments.document,
        message=arguments.message,
        call=_call(context),
        expected=arguments.version,
    )
    return _changed(context, made)


@in_thread_of_call
def take_back(context: ToolContext, arguments: ChangeAgent, inverse: Json) -> Outcome:
    made = _agents(context).restore(
        context.scope,
        context.author,
        arguments.name,
        inverse["document"],
        call=_call(context),
        expected=inverse["version"],
    )
    return _changed(context, made)


@in_thread_of_call
def reconcile(context: ToolContext, _arguments: ChangeAgent, ticket: Ticket) -> Reconciled:
    """A version remembers the call that made it."""
    made = _agents(context).made_by(context.scope, ticket.idempotency_key)
    return Reconciled(Found.not_happened) if made is None else happened(_changed(context, made))


def _call(context: ToolContext) -> str:
    return context.ticket.idempotency_key if context.ticket else ""


def _changed(context: ToolContext, made: Changed) -> Outcome:
    before = _agents(context).document_before(context.scope, made.name, made.version)
    return Outcome(
        value={"name": made.name, "version": made.version, "archived": made.is_archived},
        summary=_summary(made.name, made.version, archived=made.is_archived),
        # Undo sets what was there before; it is refused where somebody changed the agent since.
        inverse={"document": before, "version": made.version},
    )


def _summary(name: str, version: int, *, archived: bool) -> str:
    return f"Archive the agent {name}" if archived else f"Save the agent {name}, version {version}"


add_tool(
    name="change_agent",
    title="Change an agent",
    description="Saves a new version of an agent of the project, or archives it.",
    arguments=ChangeAgent,
    risk=Risk.write,
    run=run,
    effects=Effects(writes=True),
    dry_run=preview,
    undo=take_back,
    role=Role.editor,
    reconcile=reconcile,
    # An agent that could change agents could give itself tools.
    direct_only=True,
)
