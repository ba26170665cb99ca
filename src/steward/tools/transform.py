"""SQL or Python that makes a new state of a dataset: run in the sandbox, shown as a diff, committed as it was shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from steward.broker import (
    CODE,
    NEW_TARGET,
    PLAIN,
    SELECTOR,
    Cost,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.core import Invalid, NotFound
from steward.tools._calls import agreed, bench, off_loop, plain
from steward.tools._commits import base_as_agreed, changed, reconciling, version_now, workspace
from steward.tools._sandboxed import (
    Executed,
    Job,
    Parameters,
    Sandboxed,
    caps,
    chosen,
    estimated,
    execute,
)
from steward.versions import Commit, Dataset, Draft, Layout, Version, VersionDiff
from steward.workbench import land

OPERATION: Final = "transform"
_SHOWN: Final = 50


class Transform(Sandboxed):
    target: Annotated[str, NEW_TARGET] = Field(
        min_length=1, max_length=200, description="Dataset that is made, or replaced."
    )
    language: Annotated[Literal["sql", "python"], PLAIN] = Field(
        "sql", description="What the code is."
    )
    code: Annotated[str, SELECTOR] = Field(
        min_length=1,
        max_length=100_000,
        description="One SELECT; or Python that leaves a table in `result_df` or `result_rows`.",
        json_schema_extra={CODE: {"field": "language"}},
    )
    parameters: Annotated[Parameters, SELECTOR] = Field(
        default_factory=dict,
        description='Values for `$name` in SQL, or `parameters["name"]` in Python.',
    )
    key: Annotated[list[str], SELECTOR] = Field(
        default_factory=list,
        max_length=20,
        description="Columns that tell rows apart, so that the diff says which changed.",
    )


@dataclass(frozen=True)
class _Made:
    """A new state that no branch has yet, and what it was made from."""

    version: Version
    reads: Mapping[str, str]
    sql: str | None = None
    stdout: str = ""


async def dry_run(context: ToolContext, arguments: Transform) -> Preview:
    made = await _make(context, arguments)
    return await off_loop(_shown, context, arguments, made)


async def run(context: ToolContext, arguments: Transform) -> Outcome:
    made = await off_loop(_agreed, context) or await _make(context, arguments)
    commit = await off_loop(_commit, context, arguments, made)
    return await described(context, commit)


async def _make(context: ToolContext, arguments: Transform) -> _Made:
    job = Job(
        arguments.language,
        arguments.code,
        arguments,
        caps(context).transform_rows,
        arguments.parameters,
        noun="transform",
        whole=True,
    )
    executed = await execute(context, job)
    if not executed.response.columns:
        raise Invalid(
            "The code left no table. Put one in `result_df`, or records in `result_rows`.",
            code="no-table",
        )
    return await off_loop(_landed, context, arguments, executed)


def _landed(context: ToolContext, arguments: Transform, executed: Executed) -> _Made:
    versions = bench(context).versions
    response = executed.response
    before = version_now(context, arguments.target)
    layout = _layout(context, before, [column.name for column in response.columns])
    version = land(versions, context.scope, response.columns, response.rows, layout)
    # It stays for as long as the run does: what was approved is what is committed, however late.
    versions.pin(context.scope, "run", context.run_id, versions=[version.id])
    reads = {each.name: each.version for each in executed.used}
    return _Made(version, reads, response.sql, response.stdout[:2000])


def _layout(context: ToolContext, before: str | None, columns: Sequence[str]) -> Layout:
    """What was promised of the dataset stays promised, as far as its columns are still there."""
    if before is None:
        return Layout()
    known = bench(context).versions.get(context.scope, before).layout
    kept = {
        "key": known.key if set(known.key) <= set(columns) else (),
        "sort": known.sort if set(known.sort) <= set(columns) else (),
    }
    return replace(known, **kept)


def _agreed(context: ToolContext) -> _Made | None:
    """The state that the preview showed, if it is still there."""
    said = agreed(context)
    if not said.get("version"):
        return None
    try:
        version = bench(context).versions.get(context.scope, str(said["version"]))
    except NotFound:
        return None
    return _Made(version, dict(said["reads"]))


def _commit(context: ToolContext, arguments: Transform, made: _Made) -> Commit:
    target = arguments.target
    base = base_as_agreed(context, target)
    promised = agreed(context).get("version")
    if promised and promised != made.version.id:
        raise Invalid(
            "The result is not the one that was shown, and that one is gone; look at it again.",
            code="not-as-shown",
        )
    draft = Draft(
        message=f"Transform {target} by {'SQL' if arguments.language == 'sql' else 'Python'}",
        operation=OPERATION,
        arguments={
            "target": target,
            "datasets": sorted(made.reads),
            "language": arguments.language,
            "code": arguments.code,
            "parameters": dict(arguments.parameters),
            "key": list(arguments.key),
        },
        datasets={target: made.version.id},
        inputs={target: [made.reads[name] for name in sorted(made.reads)]},
        lineage={target: {"operation": OPERATION, "inputs": sorted(made.reads), "columns": []}},
    )
    return workspace(context).commit(
        draft, context.branch, base=base, unchanged=sorted({target, *made.reads})
    )


def _shown(context: ToolContext, arguments: Transform, made: _Made) -> Preview:
    versions = bench(context).versions
    target, version = arguments.target, made.version
    before = version_now(context, target)
    counts, diff = _counted(context, before, version, arguments.key)
    details: dict[str, Any] = {
        "operation": OPERATION,
        "target": target,
        "counts": counts,
        "columns": plain(version.columns),
        "sql": made.sql,
        "stdout": made.stdout,
    }
    if before is None or diff is None:
        details["schema"] = [{"name": c.name, "kind": "added"} for c in version.columns]
        summary = f"Make {target}: {version.rows:,} rows, {len(version.columns)} columns"
    else:
        page = versions.diff_rows(
            context.scope, before, version.id, key=arguments.key or None, limit=_SHOWN
        )
        details |= {"schema": plain(diff.columns), "method": diff.method, "diff": plain(page)}
        summary = (
            f"Change {target}: {diff.added:,} rows added, {diff.removed:,} removed, "
            f"{diff.changed:,} changed"
        )
        if diff.columns:
            summary += f", {len(diff.columns)} columns differ"
    payload = {"reads": dict(made.reads), "replaces": before, "version": version.id}
    return Preview(summary=summary, details=details, payload=payload)


def _counted(
    context: ToolContext, before: str | None, after: Version, key: Sequence[str]
) -> tuple[dict[str, int], VersionDiff | None]:
    if before is None:
        return {"rows": after.rows}, None
    diff = bench(context).versions.diff(context.scope, before, after.id, key=key or None)
    counts = {
        "rows": after.rows,
        "added_rows": diff.added,
        "removed_rows": diff.removed,
        "changed_rows": diff.changed,
        "changed_cells": sum(diff.changed_cells.values()),
    }
    return counts, diff


async def described(context: ToolContext, commit: Commit) -> Outcome:
    outcome = await changed(context, commit)
    return await off_loop(_with_counts, context, commit, outcome)


def _with_counts(context: ToolContext, commit: Commit, outcome: Outcome) -> Outcome:
    """Counts by the key that the call named; the target by name also where nothing differed."""
    said = commit.arguments
    value: dict[str, Any] = {**outcome.value, "dataset": said["target"]}
    change = next((each for each in commit.changes if each.kind == "dataset" and each.after), None)
    if change is not None and change.after is not None:
        version = bench(context).versions.get(context.scope, change.after)
        value["counts"], _ = _counted(context, change.before, version, said["key"])
    return replace(outcome, value=value)


def _cost(context: ToolContext, arguments: Transform) -> Cost:
    known: dict[str, Dataset] = {e.name: e for e in chosen(context, arguments.datasets)}
    rows = known[arguments.target].rows if arguments.target in known else 0
    return estimated(context, arguments, rows)


add_tool(
    name="transform",
    title="Transform by SQL or Python",
    description=(
        "Makes or replaces a dataset by the result of a SELECT or of Python, after showing what would differ."
    ),
    arguments=Transform,
    risk=Risk.write,
    run=run,
    effects=Effects(reads=True, writes=True),
    dry_run=dry_run,
    reconcile=reconciling(described),
    timeout=timedelta(minutes=15),
    estimate=_cost,
)
