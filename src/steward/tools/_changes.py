"""Tools that change datasets by an operation of the workbench: planned, shown, carried out as one commit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steward.broker.tool import Cost, Outcome, Preview, ToolContext
from steward.data.workbench import Planned
from steward.tools._calls import bench, off_loop, plain
from steward.tools._commits import base_as_agreed, changed, promise, reading_cost


@dataclass(frozen=True)
class Change:
    """An operation as the workbench takes it."""

    operation: str
    datasets: tuple[str, ...]
    arguments: Mapping[str, Any]
    target: str | None = None

    @property
    def result(self) -> str:
        return self.target or self.datasets[0]


async def preview_change(context: ToolContext, change: Change, note: str = "") -> Preview:
    def plan() -> tuple[Planned, dict[str, Any]]:
        promised = promise(context, change.datasets, change.result)
        planned = bench(context).operations.plan(
            context.scope,
            context.author,
            change.operation,
            change.datasets,
            change.arguments,
            target=change.target,
            branch=context.branch,
        )
        return planned, promised

    planned, promised = await off_loop(plan)
    details = {
        "operation": planned.operation,
        "target": planned.target,
        "counts": planned.counts,
        "warnings": [*planned.warnings, *([note] if note else [])],
        "rows_before": planned.rows_before,
        "columns": planned.preview.columns,
        "rows": planned.preview.rows,
        "cells": planned.cells,
        "leftovers": planned.leftovers,
        "base": planned.base,
    }
    return Preview(summary=planned.summary, details=plain(details), payload=promised)


async def apply_change(context: ToolContext, change: Change) -> Outcome:
    def apply() -> Any:
        return bench(context).operations.apply(
            context.scope,
            context.author,
            change.operation,
            change.datasets,
            change.arguments,
            target=change.target,
            branch=context.branch,
            base=base_as_agreed(context, change.result),
            run_id=context.run_id,
        )

    applied = await off_loop(apply)
    return await changed(context, applied.commit)


def change_cost(context: ToolContext, change: Change) -> Cost:
    return reading_cost(context, change.datasets)
