"""What a step's result names as records: fields with values, apart from the words that somebody wrote into them.

A value that fills a field was put there by the system that keeps the records; one that only stands among words was put
there by whoever wrote them. Where there are fields of a kind, words beside them do not decide.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from steward.agents.operating.quotations import CLOSING, plain, stands_in

_MAIL: Final = re.compile(r"[^\s@<>,;]{1,256}+@[^\s@<>,;]+\.[a-z]{2,}", re.IGNORECASE)
_ACCOUNT: Final = re.compile(r"\b[A-Z]{2}\d{2}[A-Z0-9]{8,30}\b")
_LEAST_NAME: Final = 4
_LONGEST_NAME: Final = 80
_ON_TOP: Final = Decimal("1.25")
_DEEPEST: Final = 12
_LARGEST: Final = Decimal(10) ** 20
_CENT: Final = Decimal("0.01")
_FIGURE: Final = re.compile(r"(?<![\w.,:/'-])\W?(?P<number>\d[\d,']*(?:\.\d+)?)(?![\w:/-])")
"""A number that stands by itself, and is no part of a date, a time, a code or an address."""


@dataclass(frozen=True)
class Record:
    """Values of one thing, by the names of their fields."""

    fields: tuple[tuple[str, str | int | float], ...]

    def has(self, value: Any) -> bool:
        return any(_is_same(value, each) for _, each in self.fields)

    @property
    def name(self) -> str | None:
        """What people may call it: its first short words, or else its first number or code."""
        values = [str(each) for _, each in self.fields]
        kinds = [_kind(each) for each in values]
        words = [each for each, kind in zip(values, kinds, strict=True) if kind == "words"]
        short = [each for each in values if each and len(each) <= _LONGEST_NAME and " " not in each]
        return next(iter([*words, *short]), None)

    def field_with(self, value: Any) -> str | None:
        """The field among whose words a value stands."""
        return next(
            (
                field
                for field, text in self.fields
                if isinstance(text, str) and stands_in(value, [text])
            ),
            None,
        )

    def is_named_in(self, texts: Sequence[str]) -> bool:
        """Whether somebody called it by one of its values."""
        return any(
            isinstance(value, str) and len(value) >= _LEAST_NAME and stands_in(value, texts)
            for _, value in self.fields
        )


def records_of(value: Any, depth: int = 0) -> Iterator[Record]:
    """Everything in a result that has fields; rows of a table by their columns."""
    if depth > _DEEPEST:
        return
    match value:
        case {"columns": list() as columns, "rows": list() as rows} if all(
            isinstance(row, list) for row in rows
        ):
            names = [str(each.get("name")) if isinstance(each, Mapping) else str(each) for each in columns]  # fmt: skip
            for row in rows:
                yield from records_of(dict(zip(names, row, strict=False)), depth + 1)
        case Mapping():
            own = tuple(
                (str(name), leaf) for name, inner in value.items() for leaf in _leaves(inner)
            )
            if own:
                yield Record(own)
            for inner in value.values():
                yield from records_of(inner, depth + 1) if not _is_flat(inner) else ()
        case list():
            for item in value:
                if isinstance(item, str | int | float) and not isinstance(item, bool):
                    yield Record((("", item),))
                else:
                    yield from records_of(item, depth + 1)


def is_beside_records(value: Any, records: Sequence[Record]) -> bool:
    """Whether a value fills no field, although there are fields that hold such values."""
    if any(record.has(value) for record in records):
        return False
    kind = _kind(value)
    return any(_kind(each) == kind for record in records for _, each in record.fields)


def is_another(value: Any, records: Sequence[Record], said: Sequence[str]) -> bool:
    """Whether somebody called one of the records by name, and the value is of others."""
    named = [record for record in records if record.is_named_in(said)]
    return bool(named) and not any(record.has(value) for record in named)


def others_beside(value: Any, texts: Iterable[str]) -> list[str]:
    """Other addresses that stand in words which name one."""
    pattern = {"mail": _MAIL, "account": _ACCOUNT}.get(_kind(value))
    if pattern is None:
        return []
    found = {
        plain(each.group().rstrip(CLOSING)): each.group().rstrip(CLOSING)
        for text in texts
        for each in pattern.finditer(text)
    }
    return (
        [text for key, text in found.items() if key != plain(str(value))] if len(found) > 1 else []
    )


def is_supported(amount: Decimal, records: Sequence[Record], about: Collection[str]) -> bool | None:
    """Whether an amount follows from the records that a call is about, or from all of them; None without any figure.

    It is one of their figures, the sum of a field or what lies between two figures; up to a quarter more, as what is owed
    is often a figure with something on top; or less than any of them. Which field says an amount, and which one a year,
    nobody has to know for that.
    """
    own = [each for each in records if any(each.has(value) for value in about)]
    fields: dict[str, list[Decimal]] = {}
    for record in own or records:
        for name, figure in _figures(record):
            fields.setdefault(name, []).append(figure)
    figures = {figure for column in fields.values() for figure in column}
    if not figures:
        return None
    if not amount.is_finite() or amount > _LARGEST:
        return False
    whole = [*figures, *(sum(column, Decimal(0)) for column in fields.values())]
    return (
        amount <= min(figures)
        or any(each <= amount <= each * _ON_TOP for each in whole)
        or any(amount.quantize(_CENT) + each in figures for each in figures)
    )


def least_said(texts: Iterable[str]) -> Decimal | None:
    """The least number that somebody wrote: whether it is a limit or a price, more than that was not asked for."""
    found = [_number(each["number"]) for text in texts for each in _FIGURE.finditer(text)]
    return min((each for each in found if each is not None), default=None)


def _figures(record: Record) -> Iterator[tuple[str, Decimal]]:
    for name, value in record.fields:
        figure = Decimal(str(value)) if not isinstance(value, str) else None
        if figure is not None and figure.is_finite() and figure > 0:
            yield name, figure.quantize(_CENT) if abs(figure) < _LARGEST else figure


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(",", "").replace("'", ""))
    except InvalidOperation:
        return None


def _is_flat(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str | int | float | bool) for item in value
    )


def _leaves(value: Any) -> Iterator[str | int | float]:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value
    elif _is_flat(value):
        yield from (item for item in value if not isinstance(item, bool))


def _kind(value: Any) -> str:
    """What a value looks like by its form alone."""
    text = str(value)
    if "@" in text and not any(map(str.isspace, text)):
        return "mail"
    if _ACCOUNT.fullmatch(text):
        return "account"
    if len(text) > _LONGEST_NAME or not text:
        return "text"
    if text.isdigit():
        return "number"
    return "code" if any(map(str.isdigit, text)) else "words"


def _is_same(value: Any, field: str | int | float) -> bool:
    if isinstance(value, str) and isinstance(field, str):
        return plain(value) == plain(field)
    if isinstance(value, str) or isinstance(field, str):
        return str(value) == str(field)
    return bool(value == field)
