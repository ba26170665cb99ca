"""What the output of a run looks like in numbers: rows, columns, shares of empty values, and the numbers in it.

Measured from the journal of an ended run of a playbook: its output, and the tables and counts that its steps gave back.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from math import fsum, isfinite, nan
from typing import Any, Final, Literal

import sqlalchemy as sa

from steward.core import Clock
from steward.observe._tables import outputs
from steward.observe.facts import hour_of
from steward.observe.rollups import insert_into
from steward.runs import Entry, EntryType, Json, Payload
from steward.store import Database, Scope, Transaction

Aspect = Literal["rows", "number", "empty", "mean"]
Measures = dict[str, dict[str, dict[str, float]]]
"""Numbers by place, such as the output or a step; then by column or field, empty for the table as a whole; by aspect."""

OUTPUT: Final = "output"
MOST_FIELDS: Final = 150
_MOST_LEVELS: Final = 4
_MOST_CELLS: Final = 200_000
_LARGEST: Final = 8_000_000
"""Bytes; a larger payload is not read for this."""
_LONGEST_NAME: Final = 100


def measures_of(entries: Iterable[Entry], payload: Payload) -> Measures:
    """Of a run that is done; empty for others."""
    found = _Found()
    ended = False
    for entry in entries:
        if entry.type == EntryType.run_done:
            ended = True
            found.walk(_fetched(entry.data.get("output"), payload), OUTPUT, whole=True)
        elif entry.type == EntryType.call_done and "/" not in entry.of:
            # Steps inside a loop run a different number of times each time.
            result = _fetched(entry.data.get("result"), payload)
            if isinstance(result, Mapping):
                found.walk(result.get("value"), entry.of, whole=False)
    return found.measures if ended else {}


def _fetched(value: Json, payload: Payload) -> Json:
    if isinstance(value, Mapping) and "$blob" in value and value.get("bytes", 0) > _LARGEST:
        return None
    return payload(value)


class _Found:
    def __init__(self) -> None:
        self.measures: Measures = {}
        self._fields = 0

    def walk(self, value: Json, place: str, *, whole: bool, level: int = 0) -> None:
        """Everything in it, or only its tables and what it counts."""
        table = _table(value)
        if table is not None:
            self._add_table(place, *table)
        elif isinstance(value, Mapping) and level < _MOST_LEVELS:
            for name, each in value.items():
                if isinstance(each, (Mapping, list)):
                    inner = f"{place}.{name}"
                    self.walk(each, inner, whole=whole or name == "counts", level=level + 1)
                elif whole:
                    self._add_value(place, str(name), each)
        elif whole and isinstance(value, list):
            self._add(place, "", "rows", len(value))
        elif whole and level == 0:
            self._add_value(place, "", value)

    def _add_value(self, place: str, name: str, value: Json) -> None:
        number = _number(value)
        if number is not None:
            self._add(place, name, "number", number)
        elif value is None or isinstance(value, str):
            self._add(place, name, "empty", 100.0 * _is_empty(value))

    def _add_table(self, place: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self._add(place, "", "rows", len(rows))
        read = rows[: max(1, _MOST_CELLS // max(1, len(names)))]
        for at, name in enumerate(names):
            self._add(place, name)
            if not read:
                continue
            cells = [row[at] if at < len(row) else None for row in read]
            filled = [cell for cell in cells if not _is_empty(cell)]
            self._add(place, name, "empty", 100 * (len(cells) - len(filled)) / len(cells))
            numbers = [number for cell in filled if (number := _number(cell)) is not None]
            if numbers and len(numbers) == len(filled):
                self._add(place, name, "mean", fsum(numbers) / len(numbers))

    def _add(self, place: str, name: str, aspect: Aspect = "number", value: float = nan) -> None:
        """Without a value, only that it is there."""
        if self._fields >= MOST_FIELDS:
            return
        fields = self.measures.setdefault(place[:_LONGEST_NAME], {})
        self._fields += name[:_LONGEST_NAME] not in fields
        aspects = fields.setdefault(name[:_LONGEST_NAME], {})
        if isfinite(value):
            aspects[aspect] = float(value)


def _table(value: Json) -> tuple[list[str], list[Sequence[Any]]] | None:
    """Names of columns and rows, where a value is a table: as queries give it back, or as a list of objects."""
    if isinstance(value, Mapping):
        columns, rows = value.get("columns"), value.get("rows")
        if not isinstance(columns, list) or not isinstance(rows, list):
            return None
        names = [str(each.get("name") if isinstance(each, Mapping) else each) for each in columns]
        return (names, rows) if all(isinstance(row, list) for row in rows) else None
    if isinstance(value, list) and value and all(isinstance(row, Mapping) for row in value):
        names = list(dict.fromkeys(str(name) for row in value for name in row))
        return names, [[row.get(name) for name in names] for row in value]
    return None


def _number(value: Json) -> float | None:
    if isinstance(value, (bool, int, float)):
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def _is_empty(value: Json) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


class RunOutputs:
    """The measures of each run, kept as long as figures by the hour."""

    def __init__(self, database: Database, clock: Clock, kept: timedelta) -> None:
        self._database = database
        self._clock = clock
        self._kept = kept

    def add(self, tx: Transaction, found: Iterable[tuple[str, str, int, Measures]]) -> None:
        """Runs, each with its flow, the hour in which it ended, and its measures."""
        oldest = hour_of(self._clock.now() - self._kept)
        rows = [
            {"run_id": run_id, "flow": flow, "at": at, "measures": measures}
            for run_id, flow, at, measures in found
            if measures and at >= oldest
        ]
        if rows:
            tx.execute(insert_into(tx, outputs).on_conflict_do_nothing(), rows)

    def since(self, scope: Scope, hour: int) -> Iterator[tuple[str, int, str, Measures]]:
        """Runs that ended from an hour on: flow, hour, run and measures, in the order in which they started."""
        kept = outputs.c
        wanted = sa.select(kept.flow, kept.at, kept.run_id, kept.measures).where(kept.at >= hour)
        with self._database.read(scope) as tx:
            rows = tx.rows(wanted.order_by(kept.at, kept.run_id))
        for row in rows:
            yield row.flow, row.at, row.run_id, row.measures
