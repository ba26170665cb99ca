"""What happened in the project in the last days: a text to send, and its figures."""

from typing import Annotated, Any, Final, Protocol

from pydantic import Field

from steward.broker import PLAIN, Arguments, Effects, Outcome, Risk, ToolContext, add_tool
from steward.core import Service
from steward.identity import Role
from steward.store import Scope
from steward.tools._calls import off_loop


class Activity(Protocol):
    def described(
        self, scope: Scope, user_id: str, token_role: Role | None, days: int
    ) -> dict[str, Any]:
        """What this person may know of the last whole days."""
        ...


ACTIVITY_SUMMARY: Final = Service[Activity]("activity", "Summing up a project")


class SummariseActivity(Arguments):
    days: Annotated[int, PLAIN] = Field(
        7, ge=1, le=31, description="How many whole days until yesterday (UTC)."
    )


async def run(context: ToolContext, arguments: SummariseActivity) -> Outcome:
    activity = context.services.use(ACTIVITY_SUMMARY)
    found = await off_loop(
        activity.described, context.scope, context.author, context.token_role, arguments.days
    )
    return Outcome(
        value=found,
        summary=f"Summed up {found['first']} to {found['last']}",
        sources=("project:activity",),
        # Titles and reasons in it were written by others.
        trusted=False,
    )


add_tool(
    name="summarise_activity",
    title="Summarise activity",
    description=(
        "What ran, failed, cost and was undone in the project in the last days, and what to look at: a text to send, "
        "and its figures."
    ),
    arguments=SummariseActivity,
    risk=Risk.read,
    run=run,
    effects=Effects(reads=True),
    attempts=3,
)
