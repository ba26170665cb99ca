"""Rules by which rows are the same: proposed from the data or weighed as given, with counts and the pairs in doubt."""

from typing import Annotated, Any, Final

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
from steward.core import Invalid
from steward.tools._calls import bench, heavy, listed, source
from steward.tools._commits import inputs, reading_cost

_PAIRS: Final = 20
"""Pairs that are shown: people look at the nearest to the threshold, and records stay small."""


class ProposeRules(Arguments):
    datasets: Annotated[list[str], TARGET] = Field(
        min_length=1, max_length=20, description="Names of the datasets."
    )
    rules: Annotated[str | None, SELECTOR] = Field(
        None,
        max_length=500_000,
        description="Rules as YAML, to be weighed; unset: proposed from the data.",
    )
    threshold: Annotated[float | None, PLAIN] = Field(
        None,
        ge=0.05,
        lt=1,
        description="Pairs at least this likely are merged; unset: as the rules say.",
    )


async def run(context: ToolContext, arguments: ProposeRules) -> Outcome:
    return await heavy(context, _weighed, context, arguments)


def _weighed(context: ToolContext, arguments: ProposeRules) -> Outcome:
    resolving = bench(context).resolving
    who, names = (context.scope, context.author), arguments.datasets
    found: dict[str, Any] | None = None
    rules = arguments.rules
    if rules is None:
        found = resolving.propose(*who, names, context.branch)
        rules = str(found["rules"])
    if arguments.threshold is not None:
        rules, found = with_threshold(rules, arguments.threshold), None
    if found is None:
        found = resolving.estimate(*who, rules, names, context.branch)
    return _described(context, arguments, found)


def with_threshold(rules: str, match: float) -> str:
    """The same rules with another threshold; the band to look at always holds it."""
    from steward.analysis.resolve import from_yaml, to_yaml

    if not 0.05 <= match < 1:
        raise Invalid("A threshold is a probability from 0.05 to below 1.")
    known = from_yaml(rules)
    band = known.thresholds
    moved = band.model_copy(
        update={
            "match": match,
            "review_from": min(band.review_from, match),
            "review_to": max(band.review_to, match),
        }
    )
    return to_yaml(known.model_copy(update={"thresholds": moved}))


def _described(context: ToolContext, arguments: ProposeRules, found: dict[str, Any]) -> Outcome:
    read = inputs(context, arguments.datasets)
    estimate = found["estimate"]
    return Outcome(
        value={**found, "datasets": arguments.datasets, "borderline": found["borderline"][:_PAIRS]},
        summary=(
            f"{estimate['rows']:,} rows of {listed(arguments.datasets)} would be "
            f"{estimate['entities']:,} entities; {estimate['borderline']:,} pairs are in doubt"
        ),
        sources=tuple(source(each.name, each.version) for each in read),
        trusted=False,
        cost=Cost(rows=sum(each.rows for each in read), bytes=sum(each.bytes for each in read)),
    )


add_tool(
    name="propose_rules",
    title="Propose or weigh matching rules",
    description=(
        "Finds rules by which rows of datasets are the same customer, company or thing, or weighs given "
        "ones: estimated entities, and the pairs in doubt side by side. Nothing is written."
    ),
    arguments=ProposeRules,
    risk=Risk.compute,
    run=run,
    effects=Effects(reads=True),
    attempts=2,
    estimate=lambda context, arguments: reading_cost(context, arguments.datasets),
)
