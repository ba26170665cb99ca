"""Finds the type of each text column, with the samples and counts that decided it."""

from collections.abc import Sequence
from dataclasses import replace

import duckdb

from steward.ingest import dates, numbers
from steward.ingest.findings import Alternative, ColumnFinding, Note, Sample
from steward.ingest.null_words import NULL_WORDS, is_null_word
from steward.ingest.options import Options
from steward.ingest.readings import (
    ISO,
    Reading,
    declared_reading,
    fits_sql,
    is_number,
    value_sql,
)
from steward.ingest.texts import (
    Evidence,
    Found,
    Inferred,
    Search,
    Tally,
    TextColumn,
    TextTable,
    text_sql,
)
from steward.tables import literal, quote

_FAMILIES = ("boolean", "time", "number", "date")
_FAMILY_WORDS = {
    "boolean": "true or false",
    "time": "times of day",
    "number": "numbers",
    "date": "dates",
}
_TIME_LIKE = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?"
_COLUMNS_AT_ONCE = 25
_COUNTS_PER_COLUMN = 8
_MOST_WORDS = 3
_AMOUNT_SHARE = 0.95


def infer(
    connection: duckdb.DuckDBPyConnection,
    table: TextTable,
    options: Options,
    *,
    beside: Sequence[ColumnFinding] = (),
    delimiter: str | None = None,
) -> Inferred:
    """The type of every column, from all records of `table`.

    What a column leaves open is settled by the others, by those that are already known (`beside`) and by the
    delimiter: a semicolon stands where commas are decimal marks.
    """
    found: list[Found] = []
    searches: list[Search] = []
    for start in range(0, len(table.columns), _COLUMNS_AT_ONCE):
        chunk = table.columns[start : start + _COLUMNS_AT_ONCE]
        for column, tally in zip(chunk, _tallies(connection, table, chunk, options), strict=True):
            searches.append(Search(connection, table, column, options, tally))
            found.append(_find(searches[-1]))
    evidence = gathered((*beside, *(each.finding for each in found)), delimiter)
    for position, search in enumerate(searches):
        if open_questions(found[position].finding, found[position].notes, evidence):
            search.evidence, search.settling = evidence, True
            found[position] = _find(search)
    return Inferred(
        tuple(each.finding for each in found),
        tuple(note for each in found for note in each.notes),
        (
            *_words_among_texts(found, searches),
            *(other for each in found for other in each.alternatives),
        ),
    )


def gathered(findings: Sequence[ColumnFinding], delimiter: str | None) -> Evidence:
    """What decided columns say about those that are not."""
    findings = [finding for finding in findings if not finding.assumed]
    comma = next((f for f in findings if f.decimal_mark == ","), None)
    grouped = next((f for f in findings if f.thousands == ","), None)
    point = next((f for f in findings if _has_point(f)), None)
    mark, why = None, ""
    if comma is not None:
        mark, why = ",", f"{comma.name!r} writes decimal commas"
    elif delimiter == ";" and point is None:
        mark, why = ",", "the file separates its fields with semicolons"
    elif point is not None or grouped is not None:
        mark, why = ".", f"{(point or grouped).name!r} writes decimal points"  # type: ignore[union-attr]
    orders = {
        dates.order(f.format): f for f in findings if f.format and f.type in ("DATE", "TIMESTAMP")
    }
    day, month = orders.get("dm"), orders.get("md")
    if day is not None and month is None:
        return Evidence(mark, why, True, f"the dates of {day.name!r} begin with the day")
    if month is not None and day is None and month.format != ISO:
        return Evidence(mark, why, False, f"the dates of {month.name!r} begin with the month")
    return Evidence(mark, why, True if mark == "," else None, why if mark == "," else "")


def _has_point(finding: ColumnFinding) -> bool:
    decimal = finding.type == "DOUBLE" or finding.type.startswith("DECIMAL")
    sure = numbers.GROUPS_OF_THOUSANDS not in finding.candidates
    return decimal and finding.decimal_mark is None and sure and "number" in finding.candidates


def open_questions(finding: ColumnFinding, notes: Sequence[Note], evidence: Evidence) -> bool:
    """Whether a column could be read in two ways and the rest of the file may tell which."""
    if finding.declared:
        return False
    if any(note.column == finding.name and note.code in _AMBIGUOUS for note in notes):
        return True
    grouped = numbers.GROUPS_OF_THOUSANDS in finding.candidates and finding.thousands is None
    return evidence.decimal_mark == "," and grouped and finding.type != "VARCHAR"


_AMBIGUOUS = ("ambiguous-date", "ambiguous-number", "two-digit-year")


def _tallies(
    connection: duckdb.DuckDBPyConnection,
    table: TextTable,
    columns: Sequence[TextColumn],
    options: Options,
) -> list[Tally]:
    inner = ", ".join(
        f"{text_sql(column, options)} AS {quote(f'r{i}')}, trim({quote(f'r{i}')}) AS {quote(f't{i}')}"
        for i, column in enumerate(columns)
    )
    null_like = ", ".join(literal(word) for word in NULL_WORDS)
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
            f"count_if({text} <> {quote(f'r{i}')})",
        ]
    row = connection.execute(
        f"SELECT {', '.join(counts)} FROM (SELECT {inner} FROM {table.source})"
    ).fetchone()
    cells = [int(cell or 0) for cell in row or [0] * len(counts)]
    step = _COUNTS_PER_COLUMN
    return [Tally(cells[0], *cells[1 + step * i : 1 + step * (i + 1)]) for i in range(len(columns))]


def _find(search: Search) -> Found:
    if search.wish.type is not None or search.wish.format is not None:
        return Found(_declared(search))
    if not search.tally.values:
        return Found(search.text("No record has a value here."))
    if search.tally.null_like and search.wish.null_markers is None:
        read = _with_words(search)
        if read is not None:
            return read
    family = next((family for family in _FAMILIES if search.near(family)), None)
    if family == "boolean":
        return Found(search.typed(Reading("BOOLEAN"), "Every value is true or false."))
    if family == "time":
        return Found(search.typed(Reading("TIME"), "Every value is a time of day."))
    if family == "number":
        found = numbers.find_number(search)
        if found.finding.type != "VARCHAR" or not search.near("date"):
            return found
    return _mixed(search) if family is None else _dates(search)


def _with_words(search: Search) -> Found | None:
    """The column with its null words read as no value, if everything else is of one type."""
    words = _null_words(search)
    inner = search.without(words)
    if not inner.tally.values or not any(map(inner.near, _FAMILIES)):
        return None
    found = _find(inner)
    finding = found.finding
    if finding.type == "VARCHAR":
        return None
    name, count = search.column.name, search.tally.null_like
    listed = _listed(words)
    reason = (
        f"{finding.reason} {listed} is read as empty ({count:,} of {search.tally.values:,} values)."
    )
    message = (
        f"{name!r}: {listed} is read as empty, so that the other values are {_word(finding.type)}."
    )
    keep = search.instead(
        f"Keep {name!r} as text, with {listed}",
        f"{listed} stands in {count:,} of {search.tally.values:,} values.",
        type="VARCHAR",
        null_markers=[],
    )
    return Found(
        replace(finding, reason=reason, null_markers=words),
        (*found.notes, Note("null-marker", message, name)),
        (*found.alternatives, keep),
    )


def _words_among_texts(
    found: Sequence[Found], searches: Sequence[Search]
) -> tuple[Alternative, ...]:
    """The offer to read a word as empty among texts too, where it means nothing among numbers or dates."""
    known = {word for each in found for word in each.finding.null_markers}
    texts = [
        search
        for each, search in zip(found, searches, strict=True)
        if each.finding.type == "VARCHAR" and search.column.families and search.tally.null_like
    ]
    words = sorted({word for search in texts for word in _null_words(search) if word in known})
    if not words:
        return ()
    says = f"Read {_listed(words)} as empty in columns of text too"
    return (Alternative(says, "It is read as empty in other columns.", {"null_markers": words}),)


def _word(kind: str) -> str:
    if kind in ("BOOLEAN", "TIME", "DATE") or kind.startswith("TIMESTAMP"):
        return {"BOOLEAN": "true or false", "TIME": "times of day"}.get(kind, "dates")
    return "numbers"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def _declared(search: Search) -> ColumnFinding:
    wish, options = search.wish, search.options
    known = wish.format
    kind = wish.type or ("TIMESTAMP" if set("HIMS") & set(known or "") else "DATE")
    if known is None and options.date_format and kind.upper() in ("DATE", "TIMESTAMP"):
        known = options.date_format
    mark = wish.decimal_mark or options.decimal_mark
    thousands = wish.thousands or options.thousands
    reading = declared_reading(kind, known, mark, thousands)
    if reading.type == "VARCHAR":
        return replace(search.text("The type was declared."), declared=True)
    words = _null_words(search) if search.wish.null_markers is None else ()
    inner = search.without(words) if words else search
    if is_number(reading.type) and mark is None and thousands is None:
        reading = numbers.best_written(inner, reading)
    if reading.type in ("DATE", "TIMESTAMP") and reading.format is None:
        reading = _best_format(inner, reading)
    return inner.typed(reading, "The type was declared.")


def _best_format(search: Search, reading: Reading) -> Reading:
    """The format that holds most dates of a column whose type a person chose."""
    counts = {
        possible: search.count(fits_sql(possible, "x"))
        for possible in _date_readings(search)
        if possible.type == reading.type
    }
    plain = search.count(fits_sql(reading, "x"))
    best = max(counts, key=lambda known: counts[known], default=None)
    if best is None or counts[best] <= plain or best.format == ISO:
        return reading
    return replace(best, declared=True)


def _mixed(search: Search) -> Found:
    """Text, with a word on what nearly made it something else."""
    tally = search.tally
    counts = {f: tally.of(f) for f in _FAMILIES if f in search.column.families}
    endless = numbers.with_infinity(search) if counts.get("number") else None
    if endless is not None:
        return endless
    best = max(counts, key=lambda family: counts[family], default="number")
    most = counts.get(best, 0)
    offered = numbers.amounts(search) if "number" in counts else ()
    if most * 2 < tally.values:
        return Found(search.text("The values are text.", counts), (), offered)
    pattern = {
        "boolean": "(?i)true|false",
        "time": _TIME_LIKE,
        "number": numbers.NUMBER_LIKE,
        "date": dates.DATE_LIKE,
    }[best]
    condition = f"NOT regexp_full_match(x, {literal(pattern)})"
    samples = search.samples(condition, f"is not among {_FAMILY_WORDS[best]}, as most others are")
    words = _recurring(search, condition)
    if words and not offered:
        offered = (
            search.instead(
                f"Treat {_listed(words)} as empty in {search.column.name!r}",
                f"All other values are {_FAMILY_WORDS[best]}.",
                null_markers=list(words),
            ),
        )
    if not offered and best == "number" and most >= tally.values * _AMOUNT_SHARE:
        offered = (
            search.instead(
                f"Read {search.column.name!r} as numbers",
                f"{tally.values - most:,} of {tally.values:,} records would be left out.",
                type="DOUBLE",
            ),
        )
    reason = f"{tally.values - most:,} of {tally.values:,} values are not {_FAMILY_WORDS[best]}."
    return Found(search.text(reason, counts, samples), (), offered)


def _recurring(search: Search, condition: str) -> tuple[str, ...]:
    """The few words that are all that keeps a column from being of one type."""
    rows = search.connection.execute(
        f"SELECT x, count(*) FROM {search.rows} AND ({condition}) GROUP BY x ORDER BY 2 DESC, x "
        f"LIMIT {_MOST_WORDS + 1}"
    ).fetchall()
    few = len(rows) <= _MOST_WORDS and all(len(word) <= 40 for word, _ in rows)
    known = all(count > 1 or is_null_word(word) for word, count in rows)
    return tuple(word for word, _ in rows) if few and known else ()


def _null_words(search: Search) -> tuple[str, ...]:
    if not search.tally.null_like:
        return ()
    words = search.connection.execute(
        f"SELECT x FROM {search.rows} AND x IN ({', '.join(map(literal, NULL_WORDS))}) "
        "GROUP BY x ORDER BY count(*) DESC, x"
    ).fetchall()
    return tuple(word[0] for word in words)


def _dates(search: Search) -> Found:
    readings = _date_readings(search)
    if not readings:
        return Found(search.text("The values look like dates in no format that is understood."))
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
        if choice.code in ("ambiguous-date", "two-digit-year") and search.settling:
            return _likely_date(search, choice, candidates)
        return _undecided_dates(search, choice, candidates, conditions)
    reason = f"{choice.reading.format} is the one format that holds every date."
    samples = _deciding_dates(search, choice.reading, readings)
    return Found(search.typed(choice.reading, reason, candidates, samples))


def _likely_date(search: Search, choice: dates.Choice, candidates: dict[str, int]) -> Found:
    """The likelier of several formats that hold every date, said with its reason; the others are offered."""
    chosen, why = dates.likely(choice.rivals, search.evidence, _one_day(search, choice.rivals))
    name = search.column.name
    others = tuple(
        search.instead(
            f"Read {name!r} as {dates.shown(rival.format)}",
            "This format holds every value too.",
            type=rival.type,
            format=rival.format,
        )
        for rival in choice.rivals
        if rival != chosen and dates.order(rival.format) != dates.order(chosen.format)
    )
    keep = search.instead(f"Keep {name!r} as text", "The values stay as they are.", type="VARCHAR")
    years = " Years have two digits: 68 and less mean 20…" if "%y" in (chosen.format or "") else ""
    reason = f"Read as {dates.shown(chosen.format)}: {why}.{years}"
    note = Note(
        "assumed-date", f"{name!r} is read as {dates.shown(chosen.format)}: {why}.{years}", name
    )
    samples = search.samples("TRUE", f"is read as {dates.shown(chosen.format)}", limit=1)
    finding = replace(search.typed(chosen, reason, candidates, samples), assumed=True)
    return Found(finding, (note,), (*others, keep))


def _one_day(search: Search, rivals: Sequence[Reading]) -> Reading | None:
    """The one reading under which every date is the same day of its month, as in monthly figures."""
    same = []
    for reading in rivals:
        row = search.connection.execute(
            f"SELECT count(DISTINCT day(v)), count(DISTINCT v) "
            f"FROM (SELECT {value_sql(reading, 'x')} AS v FROM {search.rows})"
        ).fetchone()
        if row and row[0] == 1 and row[1] > 2:
            same.append(reading)
    return same[0] if len(same) == 1 else None


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
) -> Found:
    name = search.column.name
    listed = " and ".join(dates.shown(reading.format) for reading in choice.rivals)
    code = choice.code
    samples = search.samples(f"NOT ({' OR '.join(conditions)})", "fits no format that was tried")
    offered = tuple(
        search.instead(
            f"Read {name!r} as {dates.shown(reading.format)}",
            f"{candidates.get(f'{reading.type} {reading.format}', 0):,} of {search.tally.values:,} values fit.",
            type=reading.type,
            format=reading.format,
        )
        for reading in choice.rivals[:2]
        if reading.format
    )
    if code in ("ambiguous-date", "two-digit-year"):
        message = f"{name!r} is kept as text: {listed} fit every value."
        samples = search.samples("TRUE", f"could be {listed}", limit=2)
    elif any(label.startswith(dates.ZONED) for label in candidates):
        code = "time-zones"
        message = f"{name!r} is kept as text: its moments are in different time zones."
        offered = (
            search.instead(
                f"Read {name!r} as moments in UTC",
                "Each is converted by its own time zone.",
                type=dates.ZONED,
            ),
        )
    else:
        code = "mixed-dates"
        message = f"No one date format holds every value of {name!r}; it is kept as text."
    return Found(search.text(message, candidates, samples), (Note(code, message, name),), offered)
