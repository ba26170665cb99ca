"""Columns of text on their way to types: where the texts are, and the questions asked of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from steward.ingest.findings import Alternative, ColumnFinding, Note, Sample
from steward.ingest.options import ColumnOption, Options
from steward.ingest.readings import TEXT, Reading, fits_sql
from steward.tables import literal

ALL_FAMILIES = frozenset({"boolean", "time", "number", "date"})


@dataclass(frozen=True)
class TextColumn:
    """A column of texts: `expression` is the SQL that yields the text as it stands in the file."""

    name: str
    original_name: str | None
    expression: str
    families: frozenset[str] = ALL_FAMILIES
    """What its texts may turn out to be, beside text."""
    marked: bool = False
    """Whether texts may have the apostrophe that keeps a spreadsheet from running them."""
    floats: bool = False
    """Whether its numbers with decimals are doubles where it is written, as in JSON."""


@dataclass(frozen=True)
class TextTable:
    """Texts to be typed: a FROM item, and the SQL of each record's line."""

    source: str
    columns: tuple[TextColumn, ...]
    line: str


@dataclass(frozen=True)
class Inferred:
    findings: tuple[ColumnFinding, ...]
    notes: tuple[Note, ...]
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class Found:
    """One column's finding, with what to say about it and what else it could be."""

    finding: ColumnFinding
    notes: tuple[Note, ...] = ()
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What the rest of the file says about how it writes numbers and dates; none where it says nothing."""

    decimal_mark: str | None = None
    mark_reason: str = ""
    day_first: bool | None = None
    order_reason: str = ""


NO_EVIDENCE = Evidence()


@dataclass(frozen=True)
class Tally:
    """How many values of a column look like what."""

    records: int
    texts: int
    values: int
    boolean: int
    time: int
    number: int
    date: int
    null_like: int
    padded: int = 0
    """How many values have spaces around them."""

    def of(self, family: str) -> int:
        return int(getattr(self, family))


def reading_of(finding: ColumnFinding) -> Reading:
    return Reading(
        finding.type,
        finding.format,
        finding.decimal_mark,
        finding.thousands,
        finding.declared,
        finding.rounded,
    )


def text_sql(
    column: TextColumn, options: Options, words: Sequence[str] = (), *, padded: bool = False
) -> str:
    """The text of a column with null markers taken out: the declared ones, and the words of this column."""
    text = f"trim({column.expression})" if padded else column.expression
    wished = options.columns.get(column.name, ColumnOption()).null_markers
    markers = dict.fromkeys((*options.null_markers, *(wished or ()), *words))
    if not markers:
        return text
    listed = ", ".join(literal(marker) for marker in markers)
    return f"(CASE WHEN {text} IN ({listed}) THEN NULL ELSE {text} END)"


class Search:
    """One column's values, and what may be asked of them while its type is sought."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: TextTable,
        column: TextColumn,
        options: Options,
        tally: Tally,
        *,
        words: Sequence[str] = (),
        evidence: Evidence = NO_EVIDENCE,
    ) -> None:
        self.connection = connection
        self.table = table
        self.words = tuple(words)
        self.evidence = evidence
        self.settling = False
        """Whether the other columns have been looked at, so that the likelier reading is to be taken."""
        self.padded = tally.padded > 0
        self.options = options
        self.wish = options.columns.get(column.name, ColumnOption())
        self.column = column
        self.tally = tally
        self.allowed = int(options.tolerance * tally.values)
        value = f"nullif({text_sql(column, options, words, padded=self.padded)}, '')"
        self.rows = (
            f"(SELECT {table.line} AS line, {value} AS x FROM {table.source}) WHERE x IS NOT NULL"
        )

    def near(self, family: str) -> bool:
        """Whether nearly all values are of a family; a null marker is a value until it is read as none."""
        if family not in self.column.families:
            return False
        count = self.tally.of(family)
        enough = count >= self.tally.values - self.allowed
        return bool(count) and enough and not self.tally.null_like

    def without(self, words: Sequence[str]) -> "Search":
        """The same search with these words read as no value."""
        tally = self.tally
        less = replace(
            tally,
            texts=tally.texts - tally.null_like,
            values=tally.values - tally.null_like,
            number=min(tally.number, tally.values - tally.null_like),
            null_like=0,
        )
        search = Search(
            self.connection,
            self.table,
            self.column,
            self.options,
            less,
            words=words,
            evidence=self.evidence,
        )
        search.settling = self.settling
        return search

    def instead(self, says: str, why: str, **wish: Any) -> Alternative:
        """Another reading of this column."""
        return Alternative(says, why, {"columns": {self.column.name: wish}}, self.column.name)

    def count(self, condition: str) -> int:
        row = self.connection.execute(f"SELECT count_if({condition}) FROM {self.rows}").fetchone()
        return int(row[0]) if row else 0

    def samples(self, condition: str, says: str, limit: int = 3) -> tuple[Sample, ...]:
        """The first values for which something holds."""
        rows = self.connection.execute(
            f"SELECT line, x[:200] FROM {self.rows} AND ({condition}) ORDER BY line LIMIT {limit}"
        ).fetchall()
        return tuple(Sample(row[0], row[1], says) for row in rows)

    def text(
        self, reason: str, candidates: dict[str, int] | None = None, samples: Sequence[Sample] = ()
    ) -> ColumnFinding:
        return self._finding(TEXT, reason, candidates or {}, samples)

    def typed(
        self,
        reading: Reading,
        reason: str,
        candidates: dict[str, int] | None = None,
        samples: Sequence[Sample] = (),
    ) -> ColumnFinding:
        """A typed column, with the values that do not fit as further evidence."""
        fitting = self.count(fits_sql(reading, "x"))
        label = f"{reading.type} {reading.format}" if reading.format else reading.type
        if fitting < self.tally.values:
            misfits = self.samples(f"NOT {fits_sql(reading, 'x')}", f"does not fit {label}")
            samples = (*samples, *misfits)
            reason += f" {self.tally.values - fitting} of {self.tally.values} values do not fit."
        finding = self._finding(reading, reason, {**(candidates or {}), label: fitting}, samples)
        return replace(
            finding,
            null_markers=self.words,
            padded=self.padded,
            misfits=self.tally.values - fitting,
        )

    def _finding(
        self, reading: Reading, reason: str, candidates: dict[str, int], samples: Sequence[Sample]
    ) -> ColumnFinding:
        return ColumnFinding(
            name=self.column.name,
            original_name=self.column.original_name,
            type=reading.type,
            reason=reason,
            format=reading.format,
            decimal_mark=reading.decimal_mark,
            thousands=reading.thousands,
            declared=reading.declared,
            rounded=reading.rounded,
            records=self.tally.records,
            values=self.tally.values,
            nulls=self.tally.records - self.tally.texts,
            empty_texts=self.tally.texts - self.tally.values,
            candidates={name: count for name, count in candidates.items() if count},
            samples=tuple(samples),
        )
