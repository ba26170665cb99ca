"""Schema cards: what a model is shown of the datasets, the likeliest first, inside a budget."""

from typing import Final

from steward.agents.planning.plan_checks import Catalogue
from steward.agents.planning.task import Task
from steward.agents.planning.words import overlap, words_of
from steward.definitions import ColumnFacts, DatasetFacts

_MOST_COLUMNS: Final = 60
_MOST_VALUES: Final = 6
_MOST_CATEGORIES: Final = 12


def schema_cards(task: Task, catalogue: Catalogue, room: int, *, values: bool) -> str:
    """One paragraph for each dataset; datasets for which there is no room are named."""
    ranked = sorted(catalogue.datasets.values(), key=lambda each: _rank(each, task))
    cards: list[str] = []
    used = 0
    for number, dataset in enumerate(ranked):
        card = _card(dataset, values=values)
        if cards and used + len(card) > room:
            cards.append("Also: " + ", ".join(each.name for each in ranked[number:]))
            break
        cards.append(card[: max(room, 200)])
        used += len(card)
    return "\n".join(cards) or "There are no datasets yet."


def _rank(dataset: DatasetFacts, task: Task) -> tuple[bool, float, str]:
    wanted = words_of(task.message)
    there = words_of(" ".join([dataset.name, *dataset.names]))
    mentioned = dataset.name in task.mentions
    return not mentioned, -overlap(wanted, there), dataset.name


def _card(dataset: DatasetFacts, *, values: bool) -> str:
    columns = [_column(each, values=values) for each in dataset.columns[:_MOST_COLUMNS]]
    if len(dataset.columns) > _MOST_COLUMNS:
        columns.append(f"and {len(dataset.columns) - _MOST_COLUMNS} more columns")
    key = f", one row per {' and '.join(dataset.key)}" if dataset.key else ""
    return f"{dataset.name} ({dataset.rows:,} rows{key}): {'; '.join(columns)}"


def _column(column: ColumnFacts, *, values: bool) -> str:
    said = [column.type.lower()]
    if column.meanings:
        said.append(column.meanings[0].replace("_", " "))
    few = column.distinct is not None and column.distinct <= _MOST_CATEGORIES
    if values and few and column.values and not column.personal:
        said.append("values " + " | ".join(column.values[:_MOST_VALUES]))
    return f"{column.name} ({', '.join(said)})"
