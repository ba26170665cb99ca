"""The columns of a dataset, and the commits that made it what it is."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from steward.broker import (
    SELECTOR,
    TARGET,
    Arguments,
    Effects,
    Outcome,
    Risk,
    ToolContext,
    add_tool,
)
from steward.tools._calls import off_loop, source
from steward.tools._commits import workspace
from steward.versions import Commit, Dataset

_COMMITS = 10


class GetDatasetSchema(Arguments):
    dataset: Annotated[str, TARGET] = Field(max_length=200, description="Name of the dataset.")
    at: Annotated[str | None, SELECTOR] = Field(
        None, max_length=200, description="A branch, tag or commit; unset: the run's branch."
    )


async def run(context: ToolContext, arguments: GetDatasetSchema) -> Outcome:
    def look() -> tuple[Dataset, Sequence[Commit]]:
        place, at = workspace(context), arguments.at or context.branch
        found = place.dataset(arguments.dataset, at)
        return found, place.history(arguments.dataset, at, limit=_COMMITS)

    found, history = await off_loop(look)
    return Outcome(
        value={
            "name": found.name,
            "version": found.version,
            "rows": found.rows,
            "columns": [{"name": column.name, "type": column.type} for column in found.columns],
            **({"stays_at": found.stays.connection} if found.stays else {}),
            "commits": [
                {"id": each.id, "operation": each.operation, "message": each.message}
                for each in history
            ],
        },
        summary=f"{found.name}: {found.rows:,} rows, {len(found.columns)} columns",
        sources=(source(found.name, found.version),),
        # Names of columns are the words of whoever made the file.
        trusted=False,
    )


add_tool(
    name="get_dataset_schema",
    title="Describe a dataset",
    description="Columns and types of a dataset, its size, and its latest commits.",
    arguments=GetDatasetSchema,
    risk=Risk.read,
    run=run,
    answers="schema",
    effects=Effects(reads=True),
    attempts=3,
)
