"""Runs a playbook as a sub-run and waits for its result.

What the sub-run does goes through the door call by call, under a token no wider than the caller's; so this call itself
only computes.
"""

from typing import Annotated, Any, Final, Protocol

from pydantic import Field

from steward.broker import (
    CONTENT,
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


class Playbooks(Protocol):
    async def preview(self, context: ToolContext, playbook: str, inputs: Any) -> Preview:
        """What the playbook would do with these inputs; Invalid where they do not fit."""
        ...

    async def call(self, context: ToolContext, playbook: str, inputs: Any) -> Outcome: ...


PLAYBOOK_CALLS: Final = Service[Playbooks]("playbooks", "Calling a playbook")


class CallPlaybook(Arguments):
    playbook: Annotated[str, TARGET] = Field(
        min_length=1, max_length=200, description="Id or name of the playbook."
    )
    inputs: Annotated[dict[str, Any], CONTENT] = Field(
        default_factory=dict, description="As the playbook declares."
    )


def _playbooks(context: ToolContext) -> Playbooks:
    return context.services.use(PLAYBOOK_CALLS)


async def dry_run(context: ToolContext, arguments: CallPlaybook) -> Preview:
    return await _playbooks(context).preview(context, arguments.playbook, arguments.inputs)


async def run(context: ToolContext, arguments: CallPlaybook) -> Outcome:
    return await _playbooks(context).call(context, arguments.playbook, arguments.inputs)


add_tool(
    name="call_playbook",
    title="Call a playbook",
    description="Runs another playbook of the project with inputs and returns its output.",
    arguments=CallPlaybook,
    risk=Risk.compute,
    run=run,
    effects=Effects(reads=True, spends=True),
    dry_run=dry_run,
)
