"""Values that the person has just been shown: "only EUR" means one of them, whether or not the data was ever profiled."""

import json
from dataclasses import replace
from typing import Final

from steward.agents.checking import Catalogue
from steward.agents.planning.task import Last
from steward.definitions import ColumnFacts, DatasetFacts

_LONGEST_VALUE: Final = 60


def with_seen(catalogue: Catalogue, last: Last | None) -> Catalogue:
    """What is known, with the values of the last result where that is short."""
    if last is None or not last.rows:
        return catalogue
    asked = json.dumps(dict(last.arguments), default=str)
    datasets = {
        name: _dataset(facts, last) if name in asked else facts
        for name, facts in catalogue.datasets.items()
    }
    return replace(catalogue, datasets=datasets)


def _dataset(facts: DatasetFacts, last: Last) -> DatasetFacts:
    places = {name: place for place, name in enumerate(last.columns)}
    columns = tuple(
        _column(column, last, places[column.name])
        if column.kind == "text" and column.name in places
        else column
        for column in facts.columns
    )
    return replace(facts, columns=columns)


def _column(column: ColumnFacts, last: Last, place: int) -> ColumnFacts:
    shown = [row[place] for row in last.rows if place < len(row)]
    texts = [
        each for each in shown if isinstance(each, str) and 0 < len(each.strip()) <= _LONGEST_VALUE
    ]
    values = tuple(dict.fromkeys((*column.values, *texts)))
    # Nobody has counted them: those that were shown are all that anybody can mean.
    return replace(
        column, values=values, distinct=len(values) if column.distinct is None else column.distinct
    )
