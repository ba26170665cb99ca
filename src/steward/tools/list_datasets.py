"""Which datasets there are."""

from steward.broker import Arguments, Effects, Outcome, Risk, ToolContext, add_tool
from steward.tools._calls import bench, off_loop
from steward.workbench import DatasetCard


class ListDatasets(Arguments):
    """Nothing to say."""


async def run(context: ToolContext, _arguments: ListDatasets) -> Outcome:
    def page() -> list[DatasetCard]:
        return bench(context).datasets.page(context.scope, context.author, context.branch)

    cards = await off_loop(page)
    found = [
        {
            "name": card.name,
            "version": card.version,
            "rows": card.rows,
            "columns": len(card.columns),
            "bytes": card.bytes,
            "changed_at": card.changed_at.isoformat() if card.changed_at else None,
            "changed_by": card.changed_by,
            "operation": card.operation,
            **({"stays_at": card.stays_at} if card.stays_at else {}),
        }
        for card in cards
    ]
    return Outcome(
        value={"branch": context.branch, "datasets": found},
        summary=f"{len(found)} datasets on {context.branch}",
        sources=(f"branch:{context.branch}",),
    )


add_tool(
    name="list_datasets",
    title="List datasets",
    description="Names, sizes and last changes of the datasets on the run's branch.",
    arguments=ListDatasets,
    risk=Risk.read,
    run=run,
    answers="schema",
    usual=True,
    effects=Effects(reads=True),
    attempts=3,
)
