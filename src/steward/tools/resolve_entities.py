"""Which rows mean the same thing in the world: golden records, the mapping of every row, and the pairs."""

from typing import Annotated, Any

from pydantic import Field

from steward.broker import (
    NEW_TARGET,
    SELECTOR,
    TARGET,
    Arguments,
    Cost,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.tools._branches import BRANCH, on_branch
from steward.tools._calls import agreed, bench, heavy, listed, off_loop, source
from steward.tools._commits import (
    base_as_agreed,
    promise,
    reading_cost,
    reconciling,
)
from steward.versions import Commit

_FACTS = (
    *("rules_hash", "base", "results", "rows", "entities", "merged_entities"),
    *("checks", "notes"),
)
"""What the commit of a resolution says about it."""


class ResolveEntities(Arguments):
    datasets: Annotated[list[str], TARGET] = Field(
        min_length=1, max_length=20, description="Names of the datasets."
    )
    target: Annotated[str, NEW_TARGET] = Field(
        min_length=1,
        max_length=180,
        description="Name of the golden records; ` mapping` and ` pairs` are kept beside them.",
    )
    rules: Annotated[str | None, SELECTOR] = Field(
        None,
        max_length=500_000,
        description="Matching rules as YAML; unset: proposed from the data and shown in the preview.",
    )
    branch: Annotated[str | None, NEW_TARGET] = Field(
        None, min_length=1, max_length=200, description=BRANCH
    )
    base: Annotated[str | None, SELECTOR] = Field(
        None,
        max_length=40,
        description="The commit that a trial was based on; refused when its data changed since.",
    )


async def _judged(context: ToolContext, arguments: ResolveEntities) -> dict[str, Any]:
    resolving, who = bench(context).resolving, (context.scope, context.author)
    if arguments.rules is None:
        return await heavy(context, resolving.propose, *who, arguments.datasets, context.branch)
    return await heavy(
        context, resolving.estimate, *who, arguments.rules, arguments.datasets, context.branch
    )


async def dry_run(context: ToolContext, arguments: ResolveEntities) -> Preview:
    context = on_branch(context, arguments.branch)
    promised = await off_loop(promise, context, arguments.datasets, arguments.target)
    judged = await _judged(context, arguments)
    estimate = judged["estimate"]
    return Preview(
        summary=(
            f"Resolve {listed(arguments.datasets)}: {estimate['rows']:,} rows are "
            f"{estimate['entities']:,} entities, {estimate['borderline']:,} pairs are borderline"
        ),
        details={
            "counts": {"rows": estimate["rows"], "entities": estimate["entities"]},
            "estimate": estimate,
            "borderline": judged["borderline"],
            "warnings": judged["notes"],
            "target": arguments.target,
        },
        # The rules themselves are what is approved, also when they were proposed.
        payload={**promised, "rules": judged["rules"]},
    )


async def run(context: ToolContext, arguments: ResolveEntities) -> Outcome:
    context = on_branch(context, arguments.branch)
    await off_loop(base_as_agreed, context, arguments.target)
    rules = arguments.rules or agreed(context).get("rules")
    if rules is None:
        rules = (await _judged(context, arguments))["rules"]
    commit = await heavy(
        context,
        bench(context).resolving.apply,
        context.scope,
        context.author,
        rules,
        arguments.datasets,
        arguments.target,
        context.branch,
        context.run_id,
        base=arguments.base,
    )
    return await _resolved(context, commit)


async def _resolved(context: ToolContext, commit: Commit) -> Outcome:
    return await off_loop(_described, context, commit)


def _described(context: ToolContext, commit: Commit) -> Outcome:
    versions = bench(context).versions
    made = {
        change.name: versions.get(context.scope, change.after)
        for change in commit.changes
        if change.kind == "dataset" and change.after
    }
    mapping = next((name for name in made if name.endswith(" mapping")), None)
    target = mapping.removesuffix(" mapping") if mapping else None
    counts = {}
    if mapping and target in made:
        counts = {"rows": made[mapping].rows, "entities": made[target].rows}
    return Outcome(
        value={
            "commit": commit.id,
            "dataset": target,
            "datasets": {name: version.id for name, version in sorted(made.items())},
            "counts": counts,
            **{name: commit.arguments.get(name) for name in _FACTS},
        },
        summary=commit.message,
        commits=(commit.id,),
        sources=tuple(source(name, version.id) for name, version in sorted(made.items())),
        trusted=False,
        cost=Cost(
            rows=sum(version.rows for version in made.values()),
            bytes=sum(version.bytes for version in made.values()),
        ),
    )


add_tool(
    name="resolve_entities",
    title="Resolve entities",
    description=(
        "Finds rows of one or several datasets that are the same customer, company or thing, by rules "
        "that are proposed or given; keeps golden records, the mapping of every row and the scored pairs."
    ),
    arguments=ResolveEntities,
    risk=Risk.write,
    run=run,
    effects=Effects(reads=True, writes=True),
    dry_run=dry_run,
    reconcile=reconciling(_resolved),
    estimate=lambda context, arguments: reading_cost(context, arguments.datasets),
)
