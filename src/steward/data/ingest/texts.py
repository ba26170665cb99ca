"""Columns of text on their way to types: where the texts are, and the questions asked of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from steward.data.ingest.findings import ColumnFinding, Note, Sample
from steward.data.ingest.options import ColumnOption, Options
from steward.data.ingest.readings import TEXT, Reading, fits_sql
from steward.data.tables import literal

ALL_FAMILIES = frozenset({"boolean", "time", "number", "date"})


@dataclass(frozen=True)
class TextColumn:
    """A column of texts: `expression` is the SQL that yields the text as it stands in the file."""

    name: str
    original_name: str | None
    expression: str
    families: frozenset[str] = ALL_FAMILIES
    """What its texts may turn out to be, beside text."""


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

    def of(self, family: str) -> int:
        return int(getattr(self, family))


def reading_of(finding: ColumnFinding) -> Reading:
    return Reading(
        finding.type, finding.format, finding.decimal_mark, finding.thousands, finding.declared
    )


def text_sql(column: TextColumn, options: Options) -> str:
    """The text of a column with the declared null markers taken out."""
    if not options.null_markers:
        return column.expression
    markers = ", ".join(literal(marker) for marker in options.null_markers)
    return f"(CASE WHEN {column.expression} IN ({markers}) THEN NULL ELSE {column.expression} END)"


class Search:
    """One column's values, and what may be asked of them while its type is sought."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: TextTable,
        column: TextColumn,
        options: Options,
        tally: Tally,
    ) -> None:
        self.connection = connection
        self.options = options
        self.wish = options.columns.get(column.name, ColumnOption())
        self.column = column
        self.tally = tally
        self.allowed = int(options.tolerance * tally.values)
        value = f"nullif({text_sql(column, options)}, '')"
        self.rows = (
            f"(SELECT {table.line} AS line, {value} AS x FROM {table.source}) WHERE x IS NOT NULL"
        )

    def near(self, family: str) -> bool:
        """Whether nearly all values are of a family; a null marker is a value until declared."""
        if family not in self.column.families:
            return False
        count = self.tally.of(family)
        enough = count >= self.tally.values - self.allowed
        return bool(count) and enough and not self.tally.null_like

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
        return self._finding(reading, reason, {**(candidates or {}), label: fitting}, samples)

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
            records=self.tally.records,
            values=self.tally.values,
            nulls=self.tally.records - self.tally.texts,
            empty_texts=self.tally.texts - self.tally.values,
            candidates={name: count for name, count in candidates.items() if count},
            samples=tuple(samples),
        )
