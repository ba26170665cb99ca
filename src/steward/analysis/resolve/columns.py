"""What the columns of a table look like: the facts from which their roles are read."""

import re
from dataclasses import dataclass
from typing import Any

import duckdb

from steward.analysis.resolve.cleaning import cleaned
from steward.analysis.resolve.vocabulary import vocabulary
from steward.tables import Column, Table, literal, quote

LOOKED_AT = 20_000

_PATTERNS: dict[str, str] = {
    "email": r"^[^\s@]+@[^\s@]+\.[^\s@]+$",
    "phone": r"^[+(]?[0-9][0-9 ()/.\-]{5,}$",
    "digits": r"^[0-9]+$",
    "letters": r"\p{L}",
    "digit_inside": r"[0-9]",
    "date": r"^(\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4}|(19|20)\d{6})",
    "url": r"^(https?://|www\.)",
    "iban": r"^[A-Za-z]{2}\d{2}[ ]?([A-Za-z0-9]{4}[ ]?){2,7}[A-Za-z0-9]{1,4}$",
    "amount": r"^-?[0-9]{1,3}([., ]?[0-9]{3})*([.,][0-9]+)$",
}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PATH = re.compile(r"[/#](?=[^/#]*$)")
_SPLIT = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])")


@dataclass(frozen=True)
class ColumnFacts:
    """One column: shares are of the filled values, from 0 to 1."""

    table: str
    name: str
    type: str
    words: tuple[str, ...]
    rows: int
    filled: int
    distinct: int
    length: float
    word_count: float
    shares: dict[str, float]

    @property
    def unique(self) -> bool:
        return 0 < self.rows == self.filled == self.distinct

    @property
    def fill(self) -> float:
        return self.filled / self.rows if self.rows else 0.0

    @property
    def variety(self) -> float:
        """Distinct values per filled value."""
        return self.distinct / self.filled if self.filled else 0.0

    @property
    def temporal(self) -> bool:
        return self.type.startswith(("DATE", "TIMESTAMP"))

    @property
    def numeric(self) -> bool:
        return self.type.startswith(("DECIMAL", "DOUBLE", "FLOAT", "REAL"))


def name_words(name: str) -> tuple[str, ...]:
    """The words of a column's name (`billingPostCode`, `billing_post_code`, `http://x.org/y#postCode`)."""
    return tuple(word for word in _SPLIT.split(_CAMEL.sub("_", bare_name(name)).lower()) if word)


def bare_name(name: str) -> str:
    """The name without the address of the vocabulary it comes from."""
    return _PATH.split(name)[-1] or name


def look(connection: duckdb.DuckDBPyConnection, table: Table) -> tuple[ColumnFacts, ...]:
    """Facts of all columns; patterns are looked for in an even sample of at most 20,000 rows."""
    if not table.columns:
        return ()
    counted = _row(connection, table, [_counts(column) for column in table.columns], None)
    rows = int(counted[0])
    looked = _row(connection, table, [_shares(column) for column in table.columns], rows)
    facts = []
    width = 2 + len(_PATTERNS) + 1
    for place, column in enumerate(table.columns):
        filled, distinct = counted[1 + place * 2], counted[2 + place * 2]
        values = looked[1 + place * width : 1 + (place + 1) * width]
        shares = dict(
            zip(
                [*_PATTERNS, "legal_form"], (float(value or 0) for value in values[2:]), strict=True
            )
        )
        facts.append(
            ColumnFacts(
                table=table.name,
                name=column.name,
                type=column.type,
                words=name_words(column.name),
                rows=rows,
                filled=int(filled),
                distinct=int(distinct),
                length=float(values[0] or 0),
                word_count=float(values[1] or 0),
                shares=shares,
            )
        )
    return tuple(facts)


def _row(
    connection: duckdb.DuckDBPyConnection, table: Table, columns: list[str], rows: int | None
) -> tuple[Any, ...]:
    source = table.source
    if rows is not None and rows > LOOKED_AT:
        step = -(-rows // LOOKED_AT)
        numbered = f"SELECT *, row_number() OVER () AS steward_position FROM {source}"
        source = f"(SELECT * FROM ({numbered}) WHERE steward_position % {step} = 0)"
    found = connection.execute(f"SELECT count(*), {', '.join(columns)} FROM {source}").fetchone()
    return tuple(found) if found is not None else ()


def text(column: str) -> str:
    return f"nullif(trim(CAST({quote(column)} AS VARCHAR)), '')"


def _counts(column: Column) -> str:
    return f"count({text(column.name)}), count(DISTINCT {text(column.name)})"


def _shares(column: Column) -> str:
    value = text(column.name)
    parts = [f"avg(length({value}))", f"avg(len(string_split({value}, ' ')))"]
    parts += [
        f"avg(CASE WHEN regexp_matches({value}, {literal(pattern)}) THEN 1.0"
        f" WHEN {value} IS NOT NULL THEN 0.0 END)"
        for pattern in _PATTERNS.values()
    ]
    forms = "|".join(form for form in vocabulary()["legal_forms"] if len(form) > 1)
    plain = cleaned(value, ["fold", "words"])
    parts.append(
        f"avg(CASE WHEN regexp_matches({plain}, {literal(f' ({forms})$')}) THEN 1.0"
        f" WHEN {value} IS NOT NULL THEN 0.0 END)"
    )
    return ", ".join(parts)
