"""Which datasets and columns a request speaks of: by names, parts of names, meanings and the words people use."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from steward.agents.checking import Catalogue
from steward.agents.planning.words import LITTLE
from steward.agents.rules.asking import Ask, name_words, spans
from steward.agents.rules.vocabulary import DATE_WORDS, MEANING_WORDS, MEASURES
from steward.definitions import ColumnFacts, DatasetFacts

_FULL: Final = 3.0
_HEAD: Final = 2.0
_MEANT: Final = 1.8
_SYNONYM: Final = 1.5
_PART: Final = 1.0
_GENERIC: Final = frozenset(
    {"id", "no", "number", "code", "date", "name", "ref", "type", "key", "at", "on"}
)


_PLAIN: Final = frozenset(
    {"last", "first", "next", "new", "old", "top", "total", "full", "short", "is", "other"}
)
"""Words that begin names of columns and mean nothing by themselves."""


@dataclass(frozen=True)
class Found:
    """A column that a range of tokens stands for."""

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


def columns_in(
    ask: Ask, dataset: DatasetFacts, start: int = 0, end: int | None = None, *, least: float = _PART
) -> list[Found]:
    """Columns that the tokens name, in order; where two readings overlap, the better one."""
    words = ask.words[start : len(ask.words) if end is None else end]
    own = set(name_words(dataset.name))
    candidates: list[Found] = []
    for column in dataset.columns:
        for alias, certain in aliases(column):
            # A number that is text is less likely meant than one that is not.
            score = certain - (column.is_number_text and certain < _FULL)
            # "invoices" are the rows of billing_invoices, not its column invoice_no.
            if score >= least and (score >= _FULL - 0.2 or not own.issuperset(alias)):
                candidates += [
                    Found(column, start + first, start + last, score + 0.1 * (last - first))
                    for first, last in spans(words, alias)
                ]
    candidates += [each for each in _measures(dataset, words, start) if each.score >= least]
    candidates.sort(key=lambda each: (-each.score, -(each.end - each.start)))
    chosen: list[Found] = []
    for each in candidates:
        if all(each.end <= other.start or each.start >= other.end for other in chosen):
            chosen.append(each)
    return sorted(chosen, key=lambda each: each.start)


@lru_cache(maxsize=4096)
def aliases(column: ColumnFacts) -> tuple[tuple[tuple[str, ...], float], ...]:
    """What a column may be called, with how sure that is."""
    words = name_words(column.name)
    found: dict[tuple[str, ...], float] = {}

    def add(alias: tuple[str, ...], score: float) -> None:
        plain = len(alias) == 1 and (alias[0] in LITTLE or alias[0] in _PLAIN) and score < _FULL
        if alias and not plain and found.get(alias, 0.0) < score:
            found[alias] = score

    add(words, _FULL)
    if len(words) > 1:
        if words[-1] not in _GENERIC:
            add(words[-1:], _HEAD)
        if words[-1] in _GENERIC:
            add(words[:-1], _PART if words[-1] in DATE_WORDS else _HEAD - 0.5)
        if words[-1] in DATE_WORDS:
            add((*words[:-1], "date"), _FULL - 0.1)
            add((f"{words[0].rstrip('e')}ed",), _PART)
            add((f"{words[0].rstrip('e')}ed", "date"), _HEAD)
        if words[-1] == "name":
            add(words[:-1], _HEAD)
    for meaning in column.meanings:
        for alias in MEANING_WORDS.get(meaning, ()):
            add(alias, _MEANT)
    return tuple(found.items())


def _measures(dataset: DatasetFacts, words: Sequence[str], start: int) -> Iterator[Found]:
    """Words for money and the like stand for the likeliest column of numbers."""
    for position, word in enumerate(words):
        for name in MEASURES.get(word, ()):
            column = next(
                (
                    each
                    for each in dataset.columns
                    if (each.kind == "number" or each.is_number_text)
                    and name_words(name)[-1] in name_words(each.name)
                    and not each.is_reference
                ),
                None,
            )
            if column is not None:
                score = _SYNONYM - column.is_number_text
                yield Found(column, start + position, start + position + 1, score)
                break


def datasets_in(ask: Ask) -> list[DatasetFacts]:
    """Datasets that the request names, the likeliest first."""
    scored = [(_named(ask, dataset), dataset) for dataset in ask.catalogue.datasets.values()]
    return [each for score, each in sorted(scored, key=lambda pair: -pair[0]) if score > 0]


def best_dataset(ask: Ask) -> DatasetFacts | None:
    """The dataset a request is most likely about: by its name, its columns, or because there is no other."""
    datasets = list(ask.catalogue.datasets.values())
    if not datasets:
        return None
    last = _last_source(ask)
    scored = [
        (
            _named(ask, dataset)
            + sum(each.score for each in columns_in(ask, dataset))
            + 0.5 * (dataset.name.casefold() == last),
            dataset,
        )
        for dataset in datasets
    ]
    score, best = max(scored, key=lambda pair: pair[0])
    if score >= 1.5:
        return best
    if last is not None and last in {each.name.casefold() for each in datasets}:
        return next(each for each in datasets if each.name.casefold() == last)
    return datasets[0] if len(datasets) == 1 else None


def query_dataset(ask: Ask) -> DatasetFacts | None:
    """The dataset to count or add up: one that has the measure and refers to what is named, else the likeliest."""
    counted = _counted(ask)
    if counted is not None:
        return counted
    best = best_dataset(ask)
    if best is None or _measured(ask, best):
        return best
    for other in ask.catalogue.datasets.values():
        if other.name != best.name and _measured(ask, other) and link(ask.catalogue, other, best):
            return other
    return best


def _counted(ask: Ask) -> DatasetFacts | None:
    """ "How many invoices" counts invoices, whatever else is named."""
    for _, end in ask.places(("how many", "number of", "count of", "count")):
        for dataset in ask.catalogue.datasets.values():
            words = name_words(dataset.name)
            if words and end < len(ask.words) and ask.words[end] == words[-1]:
                return dataset
    return None


def _measured(ask: Ask, dataset: DatasetFacts) -> bool:
    return any(
        (each.column.kind == "number" or each.column.is_number_text)
        and not each.column.is_reference
        for each in columns_in(ask, dataset, least=1.5)
    )


def thing_at(ask: Ask, dataset: DatasetFacts, at: int) -> tuple[ColumnFacts, Link] | None:
    """A noun that names another dataset: its rows, by what people call them."""
    for other in ask.catalogue.datasets.values():
        words = name_words(other.name)
        if (
            other.name == dataset.name
            or not words
            or at >= len(ask.words)
            or ask.words[at] != words[-1]
        ):
            continue
        reached = link(ask.catalogue, dataset, other)
        shown = _display(other)
        if reached is not None and shown is not None:
            return shown, reached
    return None


def _display(dataset: DatasetFacts) -> ColumnFacts | None:
    for wanted in ("company", "name", "title", "label"):
        for column in dataset.columns:
            if wanted in name_words(column.name) and "person_name" not in column.meanings:
                return column
    return dataset.column(dataset.key[0]) if dataset.key else None


def name_spans(ask: Ask, dataset: DatasetFacts) -> list[tuple[int, int]]:
    """Where words of the dataset's name stand: they are not values or columns."""
    words = set(name_words(dataset.name))
    full = list(spans(ask.words, name_words(dataset.name)))
    return full or [(n, n + 1) for n, word in enumerate(ask.words) if word in words]


def _named(ask: Ask, dataset: DatasetFacts) -> float:
    words = name_words(dataset.name)
    if dataset.name in ask.task.mentions:
        return 50.0
    if any(True for _ in spans(ask.words, words)):
        return 10.0 + len(words)
    said = set(ask.words)
    score = 4.0 if words and words[-1] in said and words[-1] not in _GENERIC else 0.0
    return score + sum(1.5 for word in words[:-1] if word in said and len(word) > 2)


def _last_source(ask: Ask) -> str | None:
    """The dataset that the conversation was about last."""
    last, acted = ask.task.last, ask.task.acted
    if acted is not None:
        return acted.dataset.casefold()
    if last is None:
        return None
    plan = last.arguments.get("plan")
    named = last.arguments.get("dataset") or (
        plan.get("source") if isinstance(plan, dict) else None
    )
    return named.casefold() if isinstance(named, str) else None


def date_column(ask: Ask, dataset: DatasetFacts) -> ColumnFacts | None:
    """The column by which time goes: the one named, else the first of dates."""
    named = [each.column for each in columns_in(ask, dataset) if is_date(each.column, dataset)]
    return named[0] if named else next((c for c in dataset.columns if is_date(c, dataset)), None)


def is_date(column: ColumnFacts, dataset: DatasetFacts) -> bool:
    if column.is_time or column.is_date_text:
        return True
    # Of a dataset that nobody profiled only the name can tell.
    words = set(name_words(column.name))
    return not dataset.profiled and column.kind == "text" and bool(words & DATE_WORDS)


def link(catalogue: Catalogue, source: DatasetFacts, other: DatasetFacts) -> Link | None:
    """A key of the other dataset that a column of the source refers to."""
    for each in catalogue.relations:
        if (each.dataset, each.other_dataset) == (source.name, other.name) and _is_key(
            other, each.other_column
        ):
            return Link(other, each.column, each.other_column)
    if len(other.key) != 1:
        return None
    key = other.key[0]
    wanted = {name_words(key), *((word, "id") for word in name_words(other.name))}
    wanted |= {(word, "no") for word in name_words(other.name)}
    for column in source.columns:
        if name_words(column.name) in wanted and column.name not in source.key:
            return Link(other, column.name, key)
    return None


def _is_key(dataset: DatasetFacts, column: str) -> bool:
    facts = dataset.column(column)
    return dataset.key == (column,) or (facts is not None and bool(facts.unique))
