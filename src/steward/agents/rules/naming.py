"""Which datasets and columns a command names."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from steward.agents.asking.lexicon import LONGEST_PHRASE, Sense
from steward.agents.planning.plan_checks import Catalogue
from steward.agents.rules.request import Ask
from steward.definitions import ColumnFacts, DatasetFacts

_MEANT: Final = 0.6
"""Names that are less sure are not taken for what a command is about."""


@dataclass(frozen=True)
class Found:
    """A column that a range of tokens names."""

    column: ColumnFacts
    start: int
    end: int
    score: float


@dataclass(frozen=True)
class Link:
    """How another dataset is reached from one, without multiplying rows."""

    dataset: DatasetFacts
    left: str
    right: str


def _senses(ask: Ask, kind: str) -> Iterator[tuple[int, int, Sense]]:
    for start in range(len(ask.tokens)):
        for end in range(start + 1, min(len(ask.tokens), start + LONGEST_PHRASE) + 1):
            for sense in ask.catalogue.lexicon.senses(ask.words[start:end]):
                if sense.kind == kind and sense.score >= _MEANT:
                    yield start, end, sense


def columns_in(ask: Ask, dataset: DatasetFacts, start: int = 0) -> list[Found]:
    """Columns of a dataset that the tokens from a place on name, in order; of overlapping names the surest."""
    rows = {
        (first, last): sense.score
        for first, last, sense in _senses(ask, "table")
        if sense.table == dataset.name
    }
    # "invoices" are the rows of billing_invoices, not its column invoice_no.
    candidates = [
        Found(column, first, last, sense.score + 0.1 * (last - first))
        for first, last, sense in _senses(ask, "column")
        if sense.table == dataset.name
        and first >= start
        and sense.score > rows.get((first, last), 0.0)
        and (column := dataset.column(sense.name)) is not None
    ]
    chosen: list[Found] = []
    for each in sorted(candidates, key=lambda found: -found.score):
        if all(each.end <= other.start or each.start >= other.end for other in chosen):
            chosen.append(each)
    return sorted(chosen, key=lambda found: found.start)


def datasets_in(ask: Ask) -> list[DatasetFacts]:
    """Datasets that the request names, the surest first."""
    scores: dict[str, float] = dict.fromkeys(ask.task.mentions, 50.0)
    for first, last, sense in _senses(ask, "table"):
        score = sense.score + 0.5 * (last - first)
        scores[sense.table] = max(scores.get(sense.table, 0.0), score)
    ranked = sorted(scores, key=lambda name: -scores[name])
    return [ask.catalogue.datasets[name] for name in ranked if name in ask.catalogue.datasets]


def best_dataset(ask: Ask) -> DatasetFacts | None:
    """The dataset that a command is about: named, worked on last, with the columns named, or the only one."""
    named = datasets_in(ask)
    if named:
        return named[0]
    datasets = list(ask.catalogue.datasets.values())
    last = last_dataset(ask)
    if last is not None:
        return last
    with_columns = [
        each for each in datasets if any(found.score >= 1.0 for found in columns_in(ask, each))
    ]
    if len(with_columns) == 1:
        return with_columns[0]
    return datasets[0] if len(datasets) == 1 else None


def last_dataset(ask: Ask) -> DatasetFacts | None:
    """The dataset that the conversation was about last."""
    last, acted = ask.task.last, ask.task.acted
    plan = last.arguments.get("plan") if last is not None else None
    name = acted.dataset if acted is not None else None
    if name is None and last is not None:
        name = last.arguments.get("dataset") or (
            plan.get("source") if isinstance(plan, dict) else None
        )
    if not isinstance(name, str):
        return None
    wanted = name.casefold()
    return next(
        (each for each in ask.catalogue.datasets.values() if each.name.casefold() == wanted), None
    )


def link(catalogue: Catalogue, source: DatasetFacts, other: DatasetFacts) -> Link | None:
    """The relationship by which rows of one dataset lead to a row of another."""
    ways = catalogue.world.paths(source.name).get(other.name, [])
    direct = [way.steps[0] for way in ways if len(way.steps) == 1]
    if len(direct) != 1 or len(direct[0].from_columns) != 1:
        return None
    return Link(other, direct[0].from_columns[0], direct[0].to_columns[0])
