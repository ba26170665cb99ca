"""Tools that change datasets by an operation of the workbench: planned, shown, carried out as one commit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from steward.broker import Arguments, Effects, Outcome, Preview, Risk, ToolContext, add_tool
from steward.core import Invalid, Problem
from steward.tools._calls import bench, in_thread_of_call, off_loop, plain
from steward.tools._commits import (
    base_as_agreed,
    changed,
    describe_change,
    promise,
    reading_cost,
    reconciling,
)
from steward.workbench import Planned

A = TypeVar("A", bound=Arguments)
BASE: Final = (
    "The commit that a preview was made from; refused when the datasets have changed since."
)


@dataclass(frozen=True)
class Change:
    """An operation as the workbench takes it."""

    operation: str
    datasets: tuple[str, ...]
    arguments: Mapping[str, Any]
    target: str | None = None
    base: str | None = None
    """The commit that was looked at; refused where its datasets have changed since."""

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


@in_thread_of_call
def apply_change(context: ToolContext, change: Change) -> Outcome:
    commit = bench(context).operations.apply(
        context.scope,
        context.author,
        change.operation,
        change.datasets,
        change.arguments,
        target=change.target,
        branch=context.branch,
        base=change.base or base_as_agreed(context, change.result),
        run_id=context.run_id,
    )
    return describe_change(context, commit)


def add_change_tool(
    name: str,
    title: str,
    description: str,
    arguments: type[A],
    change: Callable[[A], Change],
    note: str = "",
    risk: Risk = Risk.write,
) -> None:
    """Adds a tool whose calls are an operation of the workbench each; `note` is a warning of every preview."""

    async def dry_run(context: ToolContext, given: A) -> Preview:
        return await preview_change(context, change(given), note)

    async def run(context: ToolContext, given: A) -> Outcome:
        return await apply_change(context, change(given))

    add_tool(
        name=name,
        title=title,
        description=description,
        arguments=arguments,
        risk=risk,
        run=run,
        effects=Effects(reads=True, writes=True),
        dry_run=dry_run,
        reconcile=reconciling(changed),
        estimate=lambda context, given: reading_cost(context, change(given).datasets),
    )


def change_arguments(
    operation: str,
    datasets: Sequence[str],
    arguments: Mapping[str, Any],
    target: str | None,
    base: str | None,
) -> tuple[str, dict[str, Any]]:
    """An operation of the workbench's catalogue as a call: the tool that does it, and its arguments."""
    common = {"target": target, "base": base}
    if operation in {"join", "union"}:
        given = dict(arguments)
        if isinstance(given.get("on"), list):
            given["on"] = [
                {"left": pair[0], "right": pair[1]} if isinstance(pair, list | tuple) else pair
                for pair in given["on"]
            ]
        return operation, {"datasets": list(datasets), **given, **common}
    if len(datasets) != 1:
        raise Invalid(
            f"{operation} changes one dataset at a time.",
            problems=[Problem("/datasets", "more than one")],
        )
    if operation in {"redact", "encrypt_columns", "decrypt_columns"}:
        return operation, {"dataset": datasets[0], **arguments, **common}
    return "clean", {
        "dataset": datasets[0],
        "operation": operation,
        "arguments": dict(arguments),
        **common,
    }
