"""The independent reading of a real file, and how a loaded table is compared with it.

A truth is a table of plain Python values: None, bool, int, float, str, date, datetime, time. Text that pandas leaves
alone may be better understood by Steward; then the typed value has to say what the text says.
"""

import datetime
import gzip
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

_NOTHING = (
    ".",
    "..",
    "...",
    "-",
    "--",
    "?",
    "*",
    "missing",
    "Missing",
    "none",
    "NONE",
    "n.a.",
    "N.A.",
    "na",
)
_PANDAS_NOTHING = ("NA", "N/A", "n/a", "null", "NULL", "None", "nan", "NaN", "#N/A", "-nan", "<NA>")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Mismatch(Exception):
    """A loaded table says something other than the truth."""


@dataclass(frozen=True)
class Table:
    names: list[str | None]
    columns: list[list[Any]]
    several: bool = False
    """Whether names go over several rows; then the last row's part has to be there."""

    @property
    def rows(self) -> int:
        return len(self.columns[0]) if self.columns else 0


def read_truth(path: Path, truth: dict[str, Any]) -> Table:
    if "parquet_of" in truth:
        return _parquet(path.with_name(path.name + ".parquet"))
    kind = truth["reader"]
    if kind == "csv":
        return _csv(path, truth)
    if kind == "excel":
        return _excel(path, truth)
    if kind == "json":
        return _json(path, truth)
    return _parquet(path)


def _csv(path: Path, truth: dict[str, Any]) -> Table:
    import pandas

    options = {"sep": ",", "header": 0, **truth.get("options", {})}
    strip = options.pop("numbers", ())
    several = isinstance(options["header"], list)
    kinds = {int(position): kind for position, kind in options.pop("dtype", {}).items()}
    indexed = options.pop("indexed", False)
    # pandas' own faster way of reading numbers loses digits of very small ones.
    frame = pandas.read_csv(
        path, low_memory=False, float_precision="round_trip", index_col=None if several or indexed else False, dtype=kinds or None,
        compression="gzip" if path.name.endswith(".gz") else None, **options,
    )  # fmt: skip
    if indexed:
        frame = frame.reset_index(names="Unnamed: 0")
    for position in strip:
        text = frame.iloc[:, position].astype(str).str.strip().str.replace(",", "")
        frame.isetitem(position, pandas.to_numeric(text))
    table = _framed(frame, several)
    return replace(table, names=[None] * len(table.names)) if options["header"] is None else table


def _framed(frame: Any, several: bool) -> Table:
    columns = []
    for position in range(frame.shape[1]):
        cells = frame.iloc[:, position].tolist()
        columns.append([None if _missing(cell) else _plain(cell) for cell in cells])
    shown = [_joined(name) for name in frame.columns]
    names = [None if not n or n.startswith("Unnamed:") else n for n in shown]
    return Table(names, columns, several)


def _joined(name: Any) -> str:
    """Names over several rows, joined; pandas calls an empty cell of them `Unnamed`."""
    if not isinstance(name, tuple):
        return str(name)
    parts = [str(part) for part in name if not str(part).startswith("Unnamed:")]
    return parts[-1] if parts else ""


def _missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell)) or str(cell) == "NaT"


def _plain(cell: Any) -> Any:
    if hasattr(cell, "to_pydatetime"):
        return cell.to_pydatetime()
    return cell.item() if hasattr(cell, "item") else cell


def _excel(path: Path, truth: dict[str, Any]) -> Table:
    import warnings

    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(path, data_only=True)
        sheet = next(
            s for s in book.worksheets if any(any(r) for r in s.iter_rows(values_only=True))
        )
        if truth.get("sheet"):
            sheet = book[truth["sheet"]]
        rows = [list(row) for row in sheet.iter_rows(values_only=True)]
    left = min((i for row in rows for i, c in enumerate(row) if c is not None), default=0)
    right = max((i for row in rows for i, c in enumerate(row) if c is not None), default=0)
    rows = [row[left : right + 1] for row in rows]
    header = truth.get("header", [0])
    first = truth.get("first", (header[-1] + 1) if header else 0)
    data = [row for row in rows[first:] if any(c is not None for c in row)]
    width = right - left + 1
    names: list[str | None] = [
        " ".join(dict.fromkeys(str(rows[i][c]) for i in header if rows[i][c] is not None)) or None
        for c in range(width)
    ]
    return Table(names, [[row[c] for row in data] for c in range(width)])


def _json(path: Path, truth: dict[str, Any]) -> Table:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
    if truth.get("lines"):
        records = [json.loads(line) for line in text.splitlines() if line.strip()]
    else:
        value = json.loads(text)
        records = value[truth["key"]] if truth.get("key") else value
    names = list(dict.fromkeys(name for record in records for name in record))
    return Table(list(names), [[record.get(name) for record in records] for name in names])


def _parquet(path: Path) -> Table:
    import pyarrow.parquet

    table = pyarrow.parquet.ParquetFile(path).read()
    columns = [[None if _missing(c) else c for c in col.to_pylist()] for col in table.columns]
    return Table(list(table.column_names), columns)


def read_loaded(path: Path) -> Table:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    found = connection.execute(f"SELECT * FROM read_parquet('{path}')")
    names = [column[0] for column in found.description or ()]
    rows = found.fetchall()
    columns = [[None if _missing(row[i]) else row[i] for row in rows] for i in range(len(names))]
    return Table(list(names), columns)


def compare(ours: Table, truth: Table) -> str:
    """`same` or `better`; raises where a name, a row or a value differs."""
    truth = _without_empty_rows(truth)
    ours = _without_empty_rows(ours)
    if len(ours.names) != len(truth.names):
        raise Mismatch(
            f"{len(ours.names)} columns {ours.names[:6]}, not {len(truth.names)} {truth.names[:6]}"
        )
    if ours.rows != truth.rows:
        raise Mismatch(f"{ours.rows} rows, not {truth.rows}")
    better = False
    for own, name in zip(ours.names, truth.names, strict=True):
        # pandas numbers names that stand twice in the last row; ours differ by the rows above.
        plain = re.sub(r"\.\d+$", "", " ".join((name or "").split()))
        given = truth.several and name and plain in (own or "")
        if name and not given and not _same_name(own or "", name):
            raise Mismatch(f"column {own!r}, not {name!r}")
    for name, mine, true in zip(ours.names, ours.columns, truth.columns, strict=True):
        verdict = _column(mine, true)
        if verdict is not None:
            raise Mismatch(f"{name}: {verdict}")
        better = better or _kinds(mine) != _kinds(true)
    return "better" if better else "same"


def _without_empty_rows(table: Table) -> Table:
    empty = (None, "")
    kept = [
        i for i in range(table.rows)
        if any(column[i] not in empty for column in table.columns)
    ]  # fmt: skip
    if len(kept) == table.rows:
        return table
    return replace(table, columns=[[column[i] for i in kept] for column in table.columns])


def _same_name(own: str, name: str) -> bool:
    tidy = " ".join("".join(c if c.isprintable() else " " for c in name).split())[:200].strip()
    plain = re.sub(r"\.\d+$", "", tidy)
    return own in (tidy, plain) or re.fullmatch(re.escape(plain) + r"_\d+", own) is not None


def _kinds(column: Sequence[Any]) -> set[str]:
    names = {int: "number", float: "number", Decimal: "number"}
    return {names.get(type(cell), type(cell).__name__) for cell in column if cell is not None}


def _column(mine: Sequence[Any], true: Sequence[Any]) -> str | None:
    """What differs in a column; none if nothing does."""
    codes = any(isinstance(own, str) and _keeps_more(own) for own in mine)
    numbers = _kinds(true) <= {"number"} and any(c is not None for c in true) and not codes
    # A column that pandas leaves as text, for a word that it does not know, may be read with the word as nothing.
    understood = "str" in _kinds(true) and "str" not in _kinds(mine)
    orders = {"day", "month"}
    for row, (own, cell) in enumerate(zip(mine, true, strict=True)):
        if own is None and understood and cell in _NOTHING:
            continue
        if cell is None and not numbers and own in _PANDAS_NOTHING:
            # Kept as it stands where the file does not show that it means nothing.
            continue
        if isinstance(own, datetime.date) and isinstance(cell, str):
            orders &= _orders(own, cell)
            if not orders:
                return f"row {row + 1}: {own!r}, not {cell!r}"
            continue
        if not _equal(own, cell, numbers):
            return f"row {row + 1}: {own!r}, not {cell!r}"
    return None


def _equal(own: Any, cell: Any, numbers: bool) -> bool:
    if own is None or cell is None:
        # A word for "no value" in a column of numbers is none; an empty text is none too.
        return _empty(own) and _empty(cell)
    if isinstance(own, bool) or isinstance(cell, bool):
        return str(own).lower() == str(cell).lower()
    if _is_number(own) and _is_number(cell):
        return _close(float(own), float(cell))
    if isinstance(own, str) and _is_number(cell):
        return not numbers and _close_text(own, float(cell))
    if _is_number(own) and isinstance(cell, str):
        return _close_text(cell, float(own))
    if isinstance(own, (datetime.date, datetime.time)) or isinstance(
        cell, (datetime.date, datetime.time)
    ):
        return _moment(own) == _moment(cell)
    if isinstance(own, (dict, list)) or isinstance(cell, (dict, list, tuple)):
        return bool(_nested(own) == _nested(cell))
    if isinstance(own, str) and isinstance(cell, str):
        if own.replace('""', '"') == cell.replace('""', '"'):
            return True
        return own.strip() == cell.strip() or own.replace("\r\n", "\n") == cell.replace(
            "\r\n", "\n"
        )
    return str(own) == str(cell)


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _close(a: float, b: float) -> bool:
    return a == b or math.isclose(a, b, rel_tol=1e-9) or (math.isnan(a) and math.isnan(b))


def _keeps_more(text: str) -> bool:
    """Whether a number would lose what the text says: a leading zero, a plus, very many digits."""
    plain = text.strip()
    return bool(re.match(r"[+-]?0\d|\+", plain)) or len(re.sub(r"\D", "", plain)) > 15


def _close_text(text: str, number: float) -> bool:
    plain = re.sub(r"[\s$€£%]", "", text)
    for variant in (plain, plain.replace(",", ""), plain.replace(".", "").replace(",", ".")):
        if _NUMBER.fullmatch(variant) and _close(float(variant), number):
            return True
    return False


def _moment(value: Any) -> str:
    if isinstance(value, datetime.datetime):
        moment = value.astimezone(datetime.UTC) if value.tzinfo else value
        text = moment.replace(tzinfo=None).isoformat(" ")
        return text.removesuffix(" 00:00:00")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return re.sub(r"(T| )00:00:00(\.0+)?Z?$", "", str(value)).replace("T", " ").removesuffix("Z")


def _orders(own: datetime.date, text: str) -> set[str]:
    """Which orders of day and month make the text say this date."""
    if _moment(own) == _moment(text):
        return {"day", "month"}
    import warnings

    import pandas

    warnings.simplefilter("ignore")
    found = set()
    for order in ("day", "month"):
        try:
            parsed = pandas.to_datetime(text, dayfirst=order == "day").to_pydatetime()
        except (ValueError, OverflowError):
            continue
        if _moment(parsed) == _moment(own):
            found.add(order)
    return found


def _nested(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    if value in ({}, []):
        return None
    if isinstance(value, dict):
        return {str(k): _nested(v) for k, v in value.items() if v is not None}
    if isinstance(value, list) and value and all(isinstance(v, tuple) for v in value):
        # How pyarrow shows a map.
        value = dict(value)
        return {str(k): _nested(v) for k, v in value.items() if v is not None}
    if isinstance(value, (list, tuple)):
        return [_nested(v) for v in value]
    if isinstance(value, (datetime.date, datetime.time)):
        return _moment(value)
    return float(value) if _is_number(value) else value
