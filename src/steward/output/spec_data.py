"""The rows inside a Vega-Lite specification: inline, bounded, and free of names that mean something to JavaScript."""

from collections.abc import Callable
from typing import Any

from steward.output import allowed
from steward.output.expressions import FORBIDDEN_NAMES
from steward.output.requests import MAX_POINTS

MAX_FIELDS = 60
MAX_CELL = 10_000
_MAX_DATASETS = 20


class Rows:
    """Checks the data parts of one specification and remembers what other checks need to know about them."""

    def __init__(self, add: Callable[[str, str], None]) -> None:
        self._add = add
        self._names: set[str] = set()
        self._count = 0
        self._spans: dict[str, tuple[float, float]] = {}
        self.keys: set[str] = set()
        self.shown_whole: str | None = None
        """Where a tooltip shows the whole row, if one does."""

    def span(self, field: str) -> float:
        """The distance between the extreme numbers of a field."""
        low, high = self._spans.get(field, (0.0, 0.0))
        return high - low

    def datasets(self, value: Any, pointer: str) -> None:
        if value is None:
            return
        if not isinstance(value, dict) or len(value) > _MAX_DATASETS:
            self._add(pointer, f"Datasets are up to {_MAX_DATASETS} named lists of rows.")
            return
        for name, rows in value.items():
            at = f"{pointer}/{str(name)[:100].replace('~', '~0').replace('/', '~1')}"
            if not allowed.NAME.match(str(name)) or name in FORBIDDEN_NAMES:
                self._add(at, "A dataset's name is letters, digits and _.")
            self._names.add(str(name))
            self._values(rows, at)

    def data(self, value: Any, pointer: str) -> None:
        if value is None:
            return
        if not isinstance(value, dict):
            self._add(pointer, "Data is an object with values.")
            return
        self._data_keys(value, pointer)
        if "values" in value:
            self._values(value["values"], f"{pointer}/values")
        elif "sequence" in value:
            self.sequence(value["sequence"], f"{pointer}/sequence")
        elif "url" not in value and str(value.get("name")) not in self._names:
            self._add(f"{pointer}/name", "No data of this name is given.")
        if "format" in value:
            self._format(value["format"], f"{pointer}/format")

    def _data_keys(self, value: dict[str, Any], pointer: str) -> None:
        for key in value:
            if key == "url":
                self._add(
                    f"{pointer}/url",
                    "A chart carries its data and loads nothing: put rows under values.",
                )
            elif key not in allowed.DATA:
                self._add(f"{pointer}/{str(key)[:100]}", "Data has values, a name and a format.")
        if "name" in value and not allowed.NAME.match(str(value["name"])):
            self._add(f"{pointer}/name", "The name of data is letters, digits and _.")

    def sequence(self, value: Any, pointer: str) -> None:
        """Generated numbers: bounded before they exist."""
        if not isinstance(value, dict) or set(value) - {"start", "stop", "step", "as"}:
            self._add(pointer, "A sequence has start, stop and step.")
            return
        start, stop, step = value.get("start", 0), value.get("stop"), value.get("step", 1)
        if not all(
            isinstance(part, (int, float)) and not isinstance(part, bool)
            for part in (start, stop, step)
        ):
            self._add(pointer, "A sequence has start, stop and step.")
        elif step == 0 or abs((stop - start) / step) > MAX_POINTS:
            self._add(pointer, f"A sequence has at most {MAX_POINTS:,} numbers.")
        else:
            self._counted(int(abs((stop - start) / step)), pointer)
        if "as" in value:
            self._key(value["as"], f"{pointer}/as")

    def finish(self) -> None:
        if self.shown_whole is not None and "image" in self.keys:
            self._add(
                self.shown_whole, 'A field named "image" would be loaded as a picture by tooltips.'
            )

    def _format(self, value: Any, pointer: str) -> None:
        if not isinstance(value, dict) or set(value) - allowed.DATA_FORMAT:
            self._add(pointer, "A format has a type and what to parse.")
            return
        if value.get("type", "json") != "json":
            self._add(f"{pointer}/type", "Rows are JSON.")
        parse = value.get("parse")
        if isinstance(parse, dict):
            for name, kind in parse.items():
                self._key(name, f"{pointer}/parse")
                if kind is not None and not allowed.DATETIME_PARSE.match(str(kind)):
                    self._add(f"{pointer}/parse", "Fields are number, boolean, string or date.")
        elif parse is not None:
            self._add(f"{pointer}/parse", "Fields and their types belong here.")

    def _values(self, value: Any, pointer: str) -> None:
        if not isinstance(value, list):
            self._add(pointer, "Rows are a list.")
            return
        self._counted(len(value), pointer)
        for i, row in enumerate(value[:MAX_POINTS]):
            if isinstance(row, dict):
                self._row(row, f"{pointer}/{i}")
            elif not self._cell(row):
                self._add(f"{pointer}/{i}", "A row is an object of plain values.")

    def _row(self, row: dict[str, Any], pointer: str) -> None:
        if len(row) > MAX_FIELDS:
            self._add(pointer, f"A row has at most {MAX_FIELDS} fields.")
        for key, cell in row.items():
            if key not in self.keys:
                self._key(key, pointer)
            if isinstance(cell, (int, float)) and not isinstance(cell, bool):
                low, high = self._spans.get(key, (cell, cell))
                self._spans[key] = (min(low, cell), max(high, cell))
            elif not self._cell(cell):
                self._add(
                    f"{pointer}/{str(key)[:100].replace('~', '~0').replace('/', '~1')}",
                    f"A cell is a number, a text up to {MAX_CELL:,} characters, true, false, null or a list of these.",
                )

    def _key(self, key: Any, pointer: str) -> None:
        if not isinstance(key, str) or key in FORBIDDEN_NAMES or len(key) > 200:
            self._add(pointer, "This field name is reserved or too long.")
        else:
            self.keys.add(key)

    def _cell(self, cell: Any) -> bool:
        if isinstance(cell, str):
            return len(cell) <= MAX_CELL
        if isinstance(cell, list):
            return len(cell) <= MAX_FIELDS and all(
                not isinstance(item, (list, dict)) and self._cell(item) for item in cell
            )
        return cell is None or isinstance(cell, (bool, int, float))

    def _counted(self, rows: int, pointer: str) -> None:
        before, self._count = self._count, self._count + rows
        if before <= MAX_POINTS < self._count:
            self._add(pointer, f"A chart holds at most {MAX_POINTS:,} rows; aggregate them first.")
