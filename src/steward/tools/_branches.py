"""Calls on a branch below the run's own: work that is looked at before it becomes the run's branch's."""

from dataclasses import replace
from typing import Final

from steward.broker import ToolContext
from steward.core import Denied

BRANCH: Final = (
    "A branch below the run's own to work on, as in `main/try-out`; unset: the run's branch."
)


def on_branch(context: ToolContext, branch: str | None) -> ToolContext:
    """The call as made on that branch; a run reaches its own branch and those below it."""
    if branch is None or branch == context.branch:
        return context
    if not branch.startswith(f"{context.branch}/"):
        raise Denied(
            f"A run on branch {context.branch!r} works there or on a branch below it, not on {branch!r}.",
            code="branch-not-granted",
        )
    return replace(context, branch=branch)
