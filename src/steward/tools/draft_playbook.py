"""Drafts a playbook from choices: of a form, of a model that understood a description, or of both."""

from typing import Annotated, Any, Final, Protocol

from pydantic import Field

from steward.broker import (
    CONTENT,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.core import Service
from steward.tools._calls import off_loop


class Drafting(Protocol):
    """The service `playbooks`."""

    def preview_draft(self, form: Any, understood: Any) -> str:
        """The document that would be kept, as YAML; Invalid says what is missing."""
        ...

    def draft(self, context: ToolContext, form: Any, understood: Any) -> Outcome: ...


PLAYBOOK_DRAFTS: Final = Service[Drafting]("playbook_drafts", "Drafting a playbook")


class DraftPlaybook(Arguments):
    form: Annotated[dict[str, Any], CONTENT] = Field(
        description="What was chosen: name, goal, sources, steps (profile, relate, trim, resolve), results "
        "(report, workbook, lineage), ask."
    )
    understood: Annotated[dict[str, Any] | None, CONTENT] = Field(
        None, description="The same as understood from words; it fills what the form leaves open."
    )


def _drafting(context: ToolContext) -> Drafting:
    return context.services.use(PLAYBOOK_DRAFTS)


async def dry_run(context: ToolContext, arguments: DraftPlaybook) -> Preview:
    text = await off_loop(_drafting(context).preview_draft, arguments.form, arguments.understood)
    return Preview(
        summary="Keep this as a draft of a playbook", details={"yaml": text}, payload={"yaml": text}
    )


async def run(context: ToolContext, arguments: DraftPlaybook) -> Outcome:
    return await off_loop(_drafting(context).draft, context, arguments.form, arguments.understood)


add_tool(
    name="draft_playbook",
    title="Draft a playbook",
    description="Makes a checked draft of a playbook from a few choices: sources, steps and results.",
    arguments=DraftPlaybook,
    risk=Risk.write,
    run=run,
    effects=Effects(writes=True),
    dry_run=dry_run,
    # A run finds the draft it made.
    idempotent=True,
    beyond_data=True,
)
