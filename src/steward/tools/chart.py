"""A chart of a dataset as a Vega-Lite specification with its data."""

from typing import Annotated, Any

from pydantic import Field

from steward.broker import (
    PLAIN,
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
from steward.output import ChartRequest
from steward.runs import canonical
from steward.tools._calls import bench, keep, off_loop, source
from steward.tools._commits import inputs, reading_cost
from steward.versions import Dataset

MEDIA_TYPE = "application/vnd.vegalite.v6+json"


class DrawChart(Arguments):
    dataset: Annotated[str, TARGET] = Field(max_length=200, description="Name of the dataset.")
    chart: Annotated[ChartRequest, SELECTOR] = Field(description="Which columns to draw and how.")
    locale: Annotated[str, PLAIN] = Field(
        "en-GB", max_length=20, description="How numbers and dates are written."
    )


async def run(context: ToolContext, arguments: DrawChart) -> Outcome:
    def draw() -> tuple[Dataset, dict[str, Any]]:
        found = inputs(context, [arguments.dataset])[0]
        wanted = arguments.chart.model_dump(exclude_none=True)
        drawn = bench(context).outputs.chart(
            context.scope, found.name, found.version, wanted, locale=arguments.locale
        )
        return found, drawn

    found, drawn = await off_loop(draw)
    content = canonical(drawn["spec"]).encode()
    artifact = await keep(context, f"{arguments.chart.kind}.vl.json", MEDIA_TYPE, content)
    return Outcome(
        value=drawn,
        summary=f"{drawn['title'] or 'Chart'}: {drawn['points']:,} points of {found.name}",
        artifacts=(artifact,),
        sources=(source(found.name, found.version),),
        trusted=False,
        cost=Cost(rows=found.rows, bytes=found.bytes),
    )


add_tool(
    name="chart",
    title="Draw a chart",
    description="Draws bars, lines, areas, scatter, histogram, heat map, pie, box plot or waterfall.",
    arguments=DrawChart,
    risk=Risk.compute,
    run=run,
    answers="rows",
    usual=True,
    effects=Effects(reads=True),
    attempts=2,
    estimate=lambda context, arguments: reading_cost(context, [arguments.dataset]),
)
