"""Who changed what, and when: the latest changes of the branch, or of one dataset."""

from typing import Annotated

from pydantic import Field

from steward.broker import PLAIN, TARGET, Arguments, Effects, Outcome, Risk, ToolContext, add_tool
from steward.core import NotFound
from steward.runs import Json
from steward.tools._calls import bench, off_loop
from steward.tools._installation import NAME_OF


class ListChanges(Arguments):
    dataset: Annotated[str | None, TARGET] = Field(
        None, max_length=200, description="Only changes of this dataset; unset: of the branch."
    )
    limit: Annotated[int, PLAIN] = Field(
        10, ge=1, le=200, description="How many, the newest first."
    )


async def run(context: ToolContext, arguments: ListChanges) -> Outcome:
    def look() -> list[list[Json]]:
        datasets = bench(context).datasets
        found = datasets.history(
            context.scope,
            context.author,
            arguments.dataset,
            branch=context.branch,
            limit=arguments.limit,
        )
        return [
            [
                commit.created_at.isoformat(),
                _name(context, commit.author),
                commit.message,
                ", ".join(change.name for change in commit.changes),
                commit.id,
            ]
            for commit in found
        ]

    rows = await off_loop(look)
    about = arguments.dataset or f"branch {context.branch}"
    count = f"{len(rows)} change{'' if len(rows) == 1 else 's'}"
    return Outcome(
        value={
            "columns": [
                {"name": "when", "type": "TIMESTAMP WITH TIME ZONE"},
                *({"name": name, "type": "VARCHAR"} for name in ("who", "what", "datasets")),
                {"name": "commit", "type": "VARCHAR"},
            ],
            "rows": rows,
        },
        summary=f"The latest {count} of {about}" if rows else f"No changes of {about}",
        sources=(f"branch:{context.branch}",),
    )


def _name(context: ToolContext, author: str) -> str:
    """What the author is called; who is not there any more keeps the id."""
    name_of = context.services.find(NAME_OF)
    try:
        return author if name_of is None else name_of(author)
    except NotFound:
        return author


add_tool(
    name="list_changes",
    title="List changes",
    description="The latest changes of a dataset or of the branch: when, by whom, what, and the commit.",
    arguments=ListChanges,
    risk=Risk.read,
    run=run,
    effects=Effects(reads=True),
    attempts=3,
)
