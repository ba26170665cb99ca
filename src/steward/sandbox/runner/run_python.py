"""Runs one guarded Python program and reads its results by their names.

`result` is any value, `result_df` a table, `result_rows` a list of records, `chart` and `charts`
Vega-Lite. The program finds `con` (a connection that knows the datasets), `datasets` (their names),
`parameters` (values by name) and `scratch` (a folder whose files are handed back).
"""

import linecache
import traceback
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import duckdb

from steward.sandbox import guard_python
from steward.sandbox.contract import Answer, Column, Limits, Request
from steward.sandbox.refused import Finding, Refused
from steward.sandbox.runner.tabular import Fetched, fetch
from steward.sandbox.runner.values import Budget, TooMuch, encode, encode_rows

FILENAME: Final = "<code>"
_MOST_FRAMES: Final = 8
_MOST_CHARTS: Final = 20


class CodeFailed(Exception):
    """The program raised; the text is its own traceback."""


def run(
    connection: duckdb.DuckDBPyConnection, request: Request, scratch: str, *, guarded: bool
) -> Answer:
    names: dict[str, Any] = {
        "__name__": "__main__",
        "con": connection,
        "datasets": [dataset.name for dataset in request.datasets],
        "parameters": dict(request.parameters),
        "scratch": Path(scratch),
    }
    if guarded:
        tree: Any = guard_python.check(request.code)
        names["__builtins__"] = _builtins(scratch)
    else:
        tree = request.code
    linecache.cache[FILENAME] = (len(request.code), None, request.code.splitlines(True), FILENAME)
    _execute(tree, names)
    try:
        return _answer(connection, names, request.limits)
    except TooMuch:
        limit = request.limits.output_bytes
        message = f"The result has more than {limit:,} bytes. Return less, or write a file."
        return Answer(status="too_large", message=message)


def check(_connection: duckdb.DuckDBPyConnection, request: Request) -> None:
    """Raises `Refused` for what the guard does not let through and for what cannot be compiled."""
    tree: Any = guard_python.check(request.code)
    try:
        compile(tree, FILENAME, "exec", dont_inherit=True)
    except SyntaxError as problem:
        message = f"This is not Python: {problem.msg}"
        raise Refused([Finding("syntax", message, problem.lineno, problem.offset)]) from None


def fresh_randomness() -> None:
    """Children of one zygote would otherwise all draw the same numbers from numpy's global state."""
    import numpy as np

    np.random.seed(None)


@cache
def _builtins(scratch: str) -> dict[str, Any]:
    """Made before there is a request: a process runs one program, and it is that program's own."""
    return guard_python.reduced_builtins(Path(scratch))


def _execute(tree: Any, names: dict[str, Any]) -> None:
    try:
        exec(compile(tree, FILENAME, "exec", dont_inherit=True), names)  # noqa: S102 - behind the walls
    except MemoryError:
        raise
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise CodeFailed(f"The code ended itself: {ended.code}") from None
    except BaseException as problem:  # noqa: BLE001 - whatever the code raises is its outcome
        if "memory" in str(problem).lower() and "alloc" in str(problem).lower():
            raise MemoryError from None
        raise CodeFailed(_trace(problem)) from None


def _trace(problem: BaseException) -> str:
    """The traceback as its author would see it: the frames of the code, none of ours."""
    frames = [f for f in traceback.extract_tb(problem.__traceback__) if f.filename == FILENAME]
    lines = traceback.format_list(frames[-_MOST_FRAMES:])
    return "".join([*lines, *traceback.format_exception_only(problem)]).strip()


def _answer(
    connection: duckdb.DuckDBPyConnection, names: Mapping[str, Any], limits: Limits
) -> Answer:
    budget = Budget(limits.output_bytes)
    table = _table(connection, names, limits, budget)
    charts = _charts(names, budget)
    result = names.get("result")
    if table is None and result is not None and _is_frame(result):
        table, result = _frame(connection, result, limits, budget), None
    fetched = table or Fetched([], [])
    return Answer(
        status="too_large" if fetched.excess else "done",
        message=fetched.excess,
        columns=fetched.columns,
        rows=fetched.rows,
        result=encode(result, budget),
        charts=charts,
    )


def _table(
    connection: duckdb.DuckDBPyConnection,
    names: Mapping[str, Any],
    limits: Limits,
    budget: Budget,
) -> Fetched | None:
    frame = names.get("result_df")
    if frame is not None:
        if not _is_frame(frame):
            raise CodeFailed("result_df is not a table of pandas, polars, Arrow or DuckDB.")
        return _frame(connection, frame, limits, budget)
    rows = names.get("result_rows")
    if rows is None:
        return None
    return _records(rows, limits, budget)


def _is_frame(value: Any) -> bool:
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
    return kind in {
        "pandas.DataFrame",
        "pandas.Series",
        "polars.DataFrame",
        "polars.LazyFrame",
        "polars.Series",
        "pyarrow.Table",
        "_duckdb.DuckDBPyRelation",
        "duckdb.DuckDBPyRelation",
    }


def _frame(
    connection: duckdb.DuckDBPyConnection, frame: Any, limits: Limits, budget: Budget
) -> Fetched:
    kind = type(frame).__name__
    if kind == "DuckDBPyRelation":
        return _relation(frame, limits, budget)
    if kind == "LazyFrame":
        frame = frame.collect()
    if kind == "Series":
        frame = frame.to_frame()
    if type(frame).__module__.startswith("pandas"):
        frame = _with_plain_index(frame)
    cursor = connection.cursor()
    try:
        cursor.register("steward_result", frame)
        cursor.execute("SELECT * FROM steward_result")
    except duckdb.Error:
        # A column of pandas may hold anything; as records each value speaks for itself.
        if not type(frame).__module__.startswith("pandas"):
            raise
        return _records(frame.head(limits.rows + 1).to_dict("records"), limits, budget)
    return fetch(cursor, limits, budget)


def _relation(relation: Any, limits: Limits, budget: Budget) -> Fetched:
    described = zip(relation.columns, relation.types, strict=True)
    columns = [Column(name=str(name), type=str(kind)) for name, kind in described]
    found = relation.limit(limits.rows + 1).fetchall()
    rows = encode_rows(found[: limits.rows], budget)
    return Fetched(columns, rows, _too_many(limits) if len(found) > limits.rows else "")


def _too_many(limits: Limits) -> str:
    return f"The result has more than {limits.rows:,} rows. These are the first {limits.rows:,}."


def _with_plain_index(frame: Any) -> Any:
    """An index that means something becomes columns; column names become text."""
    if any(name is not None for name in frame.index.names):
        clash = set(frame.index.names) & set(frame.columns)
        frame = frame.reset_index(drop=bool(clash))
    frame = frame.copy(deep=False)
    frame.columns = [
        " ".join(str(part) for part in name if part != "") if isinstance(name, tuple) else str(name)
        for name in frame.columns
    ]
    return frame


def _records(rows: Any, limits: Limits, budget: Budget) -> Fetched:
    if not isinstance(rows, list | tuple):
        raise CodeFailed("result_rows is not a list.")
    names: dict[str, None] = {}
    for row in rows[: limits.rows]:
        if isinstance(row, Mapping):
            names |= {str(key): None for key in row}
        elif isinstance(row, list | tuple):
            names |= {f"column_{number}": None for number in range(1, len(row) + 1)}
        else:
            raise CodeFailed("result_rows holds something that is neither a record nor a list.")
    made: list[list[Any]] = []
    for row in rows[: limits.rows]:
        if isinstance(row, Mapping):
            known = {str(key): value for key, value in row.items()}
            made.append([encode(known.get(name), budget) for name in names])
        else:
            padded = [*row, *[None] * (len(names) - len(row))]
            made.append([encode(value, budget) for value in padded])
    columns = [Column(name=name, type=_type_of(rows, made, at)) for at, name in enumerate(names)]
    excess = _too_many(limits) if len(rows) > limits.rows else ""
    return Fetched(columns, made, excess)


def _type_of(rows: Any, made: list[list[Any]], at: int) -> str:
    """The type of a column of records, from the values JSON holds and the ones it was made from."""
    kinds: set[str] = set()
    for row, encoded in zip(rows, made, strict=False):
        values = list(row.values()) if isinstance(row, Mapping) else list(row)
        value = values[at] if at < len(values) else encoded[at]
        if encoded[at] is not None:
            kinds.add(_PYTHON_TYPES.get(type(value).__name__, "VARCHAR"))
    if kinds == {"BIGINT", "DOUBLE"}:
        return "DOUBLE"
    return kinds.pop() if len(kinds) == 1 else "VARCHAR"


_PYTHON_TYPES: Final = {
    "bool": "BOOLEAN",
    "int": "BIGINT",
    "float": "DOUBLE",
    "Decimal": "DECIMAL",
    "date": "DATE",
    "datetime": "TIMESTAMP",
    "Timestamp": "TIMESTAMP",
    "time": "TIME",
    "timedelta": "INTERVAL",
    "bytes": "BLOB",
    "list": "JSON",
    "dict": "JSON",
    "tuple": "JSON",
}


def _charts(names: Mapping[str, Any], budget: Budget) -> list[dict[str, Any]]:
    given = names.get("charts")
    found = list(given) if isinstance(given, list | tuple) else []
    if names.get("chart") is not None:
        found.append(names["chart"])
    charts: list[dict[str, Any]] = []
    for chart in found[:_MOST_CHARTS]:
        made = chart.to_dict() if hasattr(chart, "to_dict") else chart
        if not isinstance(made, Mapping):
            raise CodeFailed("A chart is a Vega-Lite document or an Altair chart.")
        charts.append(encode(made, budget))
    return charts
