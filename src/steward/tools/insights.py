"""What can be learnt from datasets: profile, correlations, relations between them."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from steward.broker import (
    SELECTOR,
    TARGET,
    Arguments,
    Cost,
    Effects,
    Outcome,
    Risk,
    ToolContext,
    add_tool,
)
from steward.core import Bug
from steward.tools._calls import bench, heavy, listed, off_loop, plain, source
from steward.tools._commits import inputs, reading_cost, workspace
from steward.tools._pushed import push, stays_acts_as
from steward.versions import Dataset, Version
from steward.workbench import Kind


class OneDataset(Arguments):
    dataset: Annotated[str, TARGET] = Field(max_length=200, description="Name of the dataset.")
    version: Annotated[str | None, SELECTOR] = Field(
        None, max_length=100, description="A version of it; unset: that of the branch."
    )


class SeveralDatasets(Arguments):
    datasets: Annotated[list[str] | None, TARGET] = Field(
        None, min_length=1, max_length=50, description="Names; unset: all of the branch."
    )


async def _about(context: ToolContext, arguments: OneDataset, kind: Kind, verb: str) -> Outcome:
    insights = bench(context).insights

    def look() -> tuple[Version, dict[str, Any] | None]:
        chosen = arguments.version or inputs(context, [arguments.dataset])[0].version
        version = bench(context).versions.get(context.scope, chosen)
        return version, insights.known(context.scope, kind, version.id)

    version, found = await off_loop(look)
    if found is None:
        compute = getattr(insights, kind)
        found = await heavy(context, compute, context.scope, arguments.dataset, version.id)
    return Outcome(
        value=found,
        summary=f"{verb} {arguments.dataset}: {version.rows:,} rows, {len(version.columns)} columns",
        sources=(source(arguments.dataset, version.id),),
        trusted=False,
        cost=Cost(rows=version.rows, bytes=version.bytes),
    )


async def profile(context: ToolContext, arguments: OneDataset) -> Outcome:
    (chosen,) = await off_loop(inputs, context, [arguments.dataset])
    if chosen.stays and arguments.version in (None, chosen.version):
        return await _profile_there(context, chosen)
    return await _about(context, arguments, "profile", "Profiled")


async def _profile_there(context: ToolContext, found: Dataset) -> Outcome:
    """The profile of a dataset that stays elsewhere: counted there over all rows, without distributions."""
    from steward.analysis.profile import pushed_profile, pushed_query

    pushed = await push(context, pushed_query(found.name, found.columns), [found], 1)
    if pushed is None:
        raise Bug("A dataset that stays elsewhere was not asked there.")
    place = pushed.read["connection"]
    when = f"{place} on {pushed.read['at'][:16]} UTC"
    made = pushed_profile(found.name, found.columns, pushed.asked.rows[0], when)
    document = plain(made)
    await off_loop(bench(context).insights.keep, context.scope, "profile", found.version, document)
    return Outcome(
        value={**document, "read": dict(pushed.read)},
        summary=f"Profiled {found.name} at {place}: {made.rows:,} rows, {len(found.columns)} columns",
        sources=(pushed.source, source(found.name, found.version)),
        trusted=False,
        cost=Cost(rows=1),
    )


async def correlate(context: ToolContext, arguments: OneDataset) -> Outcome:
    return await _about(context, arguments, "correlations", "Correlated")


async def suggest(context: ToolContext, arguments: OneDataset) -> Outcome:
    return await _about(context, arguments, "suggestions", "Looked for things to clean in")


async def relate(context: ToolContext, arguments: SeveralDatasets) -> Outcome:
    def look() -> Outcome:
        chosen: Sequence[Dataset] = (
            workspace(context).datasets(context.branch)
            if arguments.datasets is None
            else inputs(context, arguments.datasets)
        )
        found = bench(context).insights.relations(
            context.scope, context.author, arguments.datasets, context.branch
        )
        rows, size = sum(each.rows for each in chosen), sum(each.bytes for each in chosen)
        return Outcome(
            value=found,
            summary=f"Related {listed([each.name for each in chosen])}",
            sources=tuple(source(each.name, each.version) for each in chosen),
            trusted=False,
            cost=Cost(rows=rows, bytes=size),
        )

    return await heavy(context, look)


def _relate_cost(context: ToolContext, arguments: SeveralDatasets) -> Cost:
    names = arguments.datasets
    if names is None:
        names = [each.name for each in workspace(context).datasets(context.branch)]
    return reading_cost(context, names)


add_tool(
    name="profile",
    title="Profile a dataset",
    description=(
        "Statistics of every column: missing and distinct values, spread, patterns, meanings such as "
        "e-mail or country, keys, and notes on what looks wrong."
    ),
    arguments=OneDataset,
    risk=Risk.compute,
    run=profile,
    usual=True,
    acts_as=lambda context, arguments: stays_acts_as(context, arguments.dataset, context.branch),
    effects=Effects(reads=True),
    attempts=2,
    estimate=lambda context, arguments: reading_cost(context, [arguments.dataset]),
)
add_tool(
    name="correlate",
    title="Correlate columns",
    description="How strongly pairs of columns of a dataset go together, with significance.",
    arguments=OneDataset,
    risk=Risk.compute,
    run=correlate,
    effects=Effects(reads=True),
    attempts=2,
    estimate=lambda context, arguments: reading_cost(context, [arguments.dataset]),
)
add_tool(
    name="suggest_cleaning",
    title="Suggest cleaning",
    description="Cleaning operations that suit a dataset, with how many cells each would change.",
    arguments=OneDataset,
    risk=Risk.compute,
    run=suggest,
    effects=Effects(reads=True),
    attempts=2,
    estimate=lambda context, arguments: reading_cost(context, [arguments.dataset]),
)
add_tool(
    name="relate",
    title="Relate datasets",
    description="Keys and foreign keys across datasets, with evidence and possible joins.",
    arguments=SeveralDatasets,
    risk=Risk.compute,
    run=relate,
    answers="schema",
    effects=Effects(reads=True),
    attempts=2,
    estimate=_relate_cost,
)
