"""What can be learnt from datasets: profile, correlations, relations between them."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import Field

from steward.broker.roles import TARGET
from steward.broker.tool import TOOLS, Arguments, Cost, Effects, Outcome, Risk, Tool, ToolContext
from steward.data.versions import Dataset
from steward.data.workbench import Task
from steward.tools._calls import bench, finished, listed, off_loop, source
from steward.tools._commits import inputs, reading_cost, workspace

Insight = Callable[[str, str], dict[str, Any] | Task]


class OneDataset(Arguments):
    dataset: Annotated[str, TARGET] = Field(max_length=200, description="Name of the dataset.")


class SeveralDatasets(Arguments):
    datasets: Annotated[list[str] | None, TARGET] = Field(
        None, min_length=1, max_length=50, description="Names; unset: all of the branch."
    )


async def _about(context: ToolContext, name: str, insight: Insight, verb: str) -> Outcome:
    def look() -> tuple[Dataset, dict[str, Any] | Task]:
        found = inputs(context, [name])[0]
        return found, insight(found.name, found.version)

    found, begun = await off_loop(look)
    return Outcome(
        value=await finished(context, begun),
        summary=f"{verb} {found.name}: {found.rows:,} rows, {len(found.columns)} columns",
        sources=(source(found.name, found.version),),
        trusted=False,
        cost=Cost(rows=found.rows, bytes=found.bytes),
    )


async def profile(context: ToolContext, arguments: OneDataset) -> Outcome:
    insights = bench(context).insights
    return await _about(
        context,
        arguments.dataset,
        lambda name, version: insights.profile(context.scope, context.author, name, version),
        "Profiled",
    )


async def correlate(context: ToolContext, arguments: OneDataset) -> Outcome:
    insights = bench(context).insights
    return await _about(
        context,
        arguments.dataset,
        lambda name, version: insights.correlations(context.scope, context.author, name, version),
        "Correlated",
    )


async def relate(context: ToolContext, arguments: SeveralDatasets) -> Outcome:
    def look() -> tuple[Sequence[Dataset], dict[str, Any] | Task]:
        place = workspace(context)
        chosen = (
            place.datasets(context.branch)
            if arguments.datasets is None
            else inputs(context, arguments.datasets)
        )
        begun = bench(context).insights.relations(
            context.scope, context.author, arguments.datasets, context.branch
        )
        return chosen, begun

    chosen, begun = await off_loop(look)
    names = [each.name for each in chosen]
    return Outcome(
        value=await finished(context, begun),
        summary=f"Related {listed(names)}",
        sources=tuple(source(each.name, each.version) for each in chosen),
        trusted=False,
        cost=Cost(rows=sum(each.rows for each in chosen), bytes=sum(each.bytes for each in chosen)),
    )


def _relate_cost(context: ToolContext, arguments: SeveralDatasets) -> Cost:
    names = arguments.datasets
    if names is None:
        names = [each.name for each in workspace(context).datasets(context.branch)]
    return reading_cost(context, names)


TOOLS.add(
    "profile",
    Tool(
        name="profile",
        title="Profile a dataset",
        description=(
            "Statistics of every column: missing and distinct values, spread, patterns, meanings such as "
            "e-mail or country, keys, and notes on what looks wrong."
        ),
        arguments=OneDataset,
        risk=Risk.compute,
        run=profile,
        effects=Effects(reads=True),
        attempts=2,
        estimate=lambda context, arguments: reading_cost(context, [arguments.dataset]),
    ),
)
TOOLS.add(
    "correlate",
    Tool(
        name="correlate",
        title="Correlate columns",
        description="How strongly pairs of columns of a dataset go together, with significance.",
        arguments=OneDataset,
        risk=Risk.compute,
        run=correlate,
        effects=Effects(reads=True),
        attempts=2,
        estimate=lambda context, arguments: reading_cost(context, [arguments.dataset]),
    ),
)
TOOLS.add(
    "relate",
    Tool(
        name="relate",
        title="Relate datasets",
        description="Keys and foreign keys across datasets, with evidence and possible joins.",
        arguments=SeveralDatasets,
        risk=Risk.compute,
        run=relate,
        effects=Effects(reads=True),
        attempts=2,
        estimate=_relate_cost,
    ),
)
