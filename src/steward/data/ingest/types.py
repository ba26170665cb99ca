"""Finds the type of each text column, with the samples and counts that decided it."""

from collections.abc import Sequence
from dataclasses import replace

import duckdb

from steward.data.ingest import dates, numbers
from steward.data.ingest.findings import ColumnFinding, Note, Sample
from steward.data.ingest.options import Options
from steward.data.ingest.readings import ISO, Reading, declared_reading, fits_sql
from steward.data.ingest.texts import Inferred, Search, Tally, TextColumn, TextTable, text_sql
from steward.data.tables import literal, quote

NULL_LIKE = (
    "NA", "N/A", "n/a", "#N/A", "NULL", "Null", "null", "None", "none", "nil", "NaN", "nan",
    "-", "--", "?", "\\N", "(null)", "missing", "n.a.", "NIL",
)  # fmt: skip
_FAMILIES = ("boolean", "time", "number", "date")
_TIME_LIKE = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?"
_COLUMNS_AT_ONCE = 25
_COUNTS_PER_COLUMN = 7


def infer(connection: duckdb.DuckDBPyConnection, table: TextTable, options: Options) -> Inferred:
    """The type of every column, from all records of `table`."""
    findings: list[ColumnFinding] = []
    notes: list[Note] = []
    for start in range(0, len(table.columns), _COLUMNS_AT_ONCE):
        chunk = table.columns[start : start + _COLUMNS_AT_ONCE]
        for column, tally in zip(chunk, _tallies(connection, table, chunk, options), strict=True):
            finding, found = _find(Search(connection, table, column, options, tally))
            findings.append(finding)
            notes.extend(found)
    return numbers.settle_marks(Inferred(tuple(findings), tuple(notes)))


def _tallies(
    connection: duckdb.DuckDBPyConnection,
    table: TextTable,
    columns: Sequence[TextColumn],
    options: Options,
) -> list[Tally]:
    inner = ", ".join(
        f"{text_sql(column, options)} AS {quote(f't{i}')}" for i, column in enumerate(columns)
    )
    null_like = ", ".join(literal(word) for word in NULL_LIKE)
    counts = ["count(*)"]
    for i in range(len(columns)):
        text = quote(f"t{i}")
        counts += [
            f"count({text})",
            f"count(nullif({text}, ''))",
            f"count_if(lower({text}) IN ('true', 'false'))",
            f"count_if(regexp_full_match({text}, {literal(_TIME_LIKE)}))",
            f"count_if(regexp_full_match({text}, {literal(numbers.NUMBER_LIKE)}))",
            f"count_if(regexp_full_match({text}, {literal(dates.DATE_LIKE)}))",
            f"count_if({text} IN ({null_like}))",
        ]
    row = connection.execute(
        f"SELECT {', '.join(counts)} FROM (SELECT {inner} FROM {table.source})"
    ).fetchone()
    cells = [int(cell or 0) for cell in row or [0] * len(counts)]
    step = _COUNTS_PER_COLUMN
    return [Tally(cells[0], *cells[1 + step * i : 1 + step * (i + 1)]) for i in range(len(columns))]


def _find(search: Search) -> tuple[ColumnFinding, list[Note]]:
    if search.wish.type is not None or search.wish.format is not None:
        return _declared(search), []
    if not search.tally.values:
        return search.text("No record has a value here."), []
    family = next((family for family in _FAMILIES if search.near(family)), None)
    if family == "boolean":
        return search.typed(Reading("BOOLEAN"), "Every value is true or false."), []
    if family == "time":
        return search.typed(Reading("TIME"), "Every value is a time of day."), []
    if family == "number":
        finding, notes = numbers.find_number(search)
        if finding.type != "VARCHAR" or not search.near("date"):
            return finding, notes
    return _mixed(search) if family is None else _dates(search)


def _declared(search: Search) -> ColumnFinding:
    wish, options = search.wish, search.options
    known = wish.format
    kind = wish.type or ("TIMESTAMP" if set("HIMS") & set(known or "") else "DATE")
    if known is None and options.date_format and kind.upper() in ("DATE", "TIMESTAMP"):
        known = options.date_format
    reading = declared_reading(
        kind,
        known,
        wish.decimal_mark or options.decimal_mark,
        wish.thousands or options.thousands,
    )
    return search.typed(reading, "The type was declared.")


def _mixed(search: Search) -> tuple[ColumnFinding, list[Note]]:
    """Text, with a word on what nearly made it something else."""
    tally, name = search.tally, search.column.name
    counts = {f: tally.of(f) for f in _FAMILIES if f in search.column.families}
    best = max(counts, key=lambda family: counts[family], default="number")
    most = counts.get(best, 0)
    if tally.null_like and most and most >= tally.values - tally.null_like - search.allowed:
        listed = _null_words(search)
        message = (
            f"{tally.null_like} values of {name!r} are {listed}; declare them as null markers "
            f"and the column can become a {best}."
        )
        reason = f"Kept as text: {tally.null_like} values are {listed}, the others a {best}."
        return search.text(reason, counts), [Note("null-marker", message, name)]
    if most * 2 < tally.values:
        return search.text("The values are text.", counts), []
    pattern = {
        "boolean": "(?i)true|false",
        "time": _TIME_LIKE,
        "number": numbers.NUMBER_LIKE,
        "date": dates.DATE_LIKE,
    }[best]
    samples = search.samples(
        f"NOT regexp_full_match(x, {literal(pattern)})", f"is no {best}, as most others are"
    )
    return search.text(
        f"{tally.values - most} of {tally.values} values are no {best}.", counts, samples
    ), []


def _null_words(search: Search) -> str:
    words = search.connection.execute(
        f"SELECT x FROM {search.rows} AND x IN ({', '.join(map(literal, NULL_LIKE))}) "
        "GROUP BY x ORDER BY count(*) DESC, x LIMIT 5"
    ).fetchall()
    return ", ".join(repr(word[0]) for word in words)


def _dates(search: Search) -> tuple[ColumnFinding, list[Note]]:
    readings = _date_readings(search)
    if not readings:
        return search.text("The values look like dates in no format that is understood."), []
    conditions = [fits_sql(reading, "x") for reading in readings]
    row = search.connection.execute(
        f"SELECT {', '.join(f'count_if({c})' for c in conditions)}, "
        f"count_if({' OR '.join(conditions)}) FROM {search.rows}"
    ).fetchone()
    counts = [int(cell) for cell in row or ()]
    fits = dict(zip(readings, counts[:-1], strict=True))
    candidates = {f"{r.type} {r.format}": n for r, n in fits.items()}
    choice = dates.choose(fits, counts[-1], search.tally.values, search.allowed)
    if choice.reading is None:
        return _undecided_dates(search, choice, candidates, conditions)
    reason = f"{choice.reading.format} is the one format that holds every date."
    samples = _deciding_dates(search, choice.reading, readings)
    return search.typed(choice.reading, reason, candidates, samples), []


def _date_readings(search: Search) -> tuple[Reading, ...]:
    if search.options.date_format is not None:
        known = search.options.date_format
        kind = "TIMESTAMP" if set("HIMS") & set(known) else "DATE"
        return (replace(declared_reading(kind, known), declared=False),)
    first = search.connection.execute(
        f"SELECT DISTINCT x FROM (SELECT x FROM {search.rows} ORDER BY line LIMIT 500) ORDER BY x"
    ).fetchall()
    readings = dates.possible_readings(value[0] for value in first)
    if "number" in search.column.families:
        return readings
    # A text that the format marks as text is a date only in the one form that is nothing else.
    return tuple(reading for reading in readings if reading.format == ISO)


def _deciding_dates(
    search: Search, chosen: Reading, readings: Sequence[Reading]
) -> tuple[Sample, ...]:
    samples: list[Sample] = []
    for rival in readings:
        if rival != chosen:
            samples += search.samples(
                f"{fits_sql(chosen, 'x')} AND NOT {fits_sql(rival, 'x')}",
                f"fits {chosen.format}, not {rival.format}",
                limit=1,
            )
    return tuple(samples[:3])


def _undecided_dates(
    search: Search, choice: dates.Choice, candidates: dict[str, int], conditions: Sequence[str]
) -> tuple[ColumnFinding, list[Note]]:
    name = search.column.name
    listed = " and ".join(str(reading.format) for reading in choice.rivals)
    code = choice.code
    samples = search.samples(f"NOT ({' OR '.join(conditions)})", "fits no format that was tried")
    if code == "ambiguous-date":
        message = f"{name!r} is kept as text: {listed} fit every value. Declare the format."
        samples = search.samples("TRUE", f"could be {listed}", limit=2)
    elif code == "two-digit-year":
        message = f"{name!r} is kept as text: its years have two digits. Declare {listed}."
    elif any(label.startswith(dates.ZONED) for label in candidates):
        code = "time-zones"
        message = (
            f"{name!r} is kept as text: its moments stand in different time zones. "
            f"Declare {dates.ZONED} to convert them to UTC."
        )
    else:
        code = "mixed-dates"
        message = f"No one date format holds every value of {name!r}; it is kept as text."
    return search.text(message, candidates, samples), [Note(code, message, name)]
