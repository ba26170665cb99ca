"""Finds how a column writes its numbers: decimal mark, grouping, and the narrowest exact type."""

from collections.abc import Sequence
from dataclasses import replace

from steward.data.ingest.findings import ColumnFinding, Note, Sample
from steward.data.ingest.readings import Reading, fits_sql, number_pattern
from steward.data.ingest.texts import Inferred, Search
from steward.data.tables import literal

NUMBER_LIKE = "[+-]?([0-9][0-9.,'’ \u00a0\u202f]*|[.,][0-9]+)([eE][+-]?[0-9]+)?"
"""What is worth trying as a number; phone numbers and dates with dots are among it."""

_MARKS: tuple[tuple[str, str | None], ...] = (
    (",", None),
    (".", ","),
    (",", "."),
    (",", " "),
    (",", "\u00a0"),
    (",", "\u202f"),
    (".", " "),
    (".", "\u00a0"),
    (".", "\u202f"),
    (".", "'"),
    (".", "’"),
    (",", "'"),
)
_MOST_PLACES = 9


def find_number(search: Search) -> tuple[ColumnFinding, list[Note]]:
    """The reading of a column whose values nearly all look like numbers."""
    mark = search.wish.decimal_mark or search.options.decimal_mark
    thousands = search.wish.thousands or search.options.thousands
    if mark is not None or thousands is not None:
        return _with_marks(search, ((mark or ".", thousands),))
    plain = search.count(_matches(number_pattern(".", None)))
    if plain == search.tally.number:
        return _sized(search, ".", None, {})
    power = search.count(_matches(number_pattern(".", None, exponent=True)))
    if power == search.tally.number:
        return _powers(search)
    odd = _not_a_number(search)
    return odd if odd is not None else _with_marks(search, _MARKS)


def _matches(pattern: str) -> str:
    return f"regexp_full_match(x, {literal(pattern)})"


def _not_a_number(search: Search) -> tuple[ColumnFinding, list[Note]] | None:
    """Digits that are no quantity: a leading zero or a plus says that the text matters."""
    zeros = search.samples(_matches("-?0[0-9]+([.,][0-9]+)?"), "begins with a zero")
    if zeros:
        reason = "Kept as text: a leading zero would be lost in a number."
        return search.text(reason, {"number": search.tally.number}, zeros), []
    signs = search.samples("x[1] = '+'", "begins with a plus")
    if signs:
        reason = "Kept as text: a leading plus would be lost in a number."
        return search.text(reason, {"number": search.tally.number}, signs), []
    return None


def _sized(
    search: Search, mark: str, thousands: str | None, candidates: dict[str, int]
) -> tuple[ColumnFinding, list[Note]]:
    """The narrowest exact type for numbers written with these marks."""
    whole, places, minus_zeros = _extent(search, mark, thousands)
    shown = f"at most {whole} digits" + (f" and {places} decimal places" if places else "")
    if thousands or mark != ".":
        shown += f", decimal mark {mark!r}" + (f", groups by {thousands!r}" if thousands else "")
    longest = _longest(search)
    candidates = {**candidates, "number": search.tally.number}
    if places == 3 and mark == "." and not thousands:
        candidates[_label(",", ".")] = _all_grouped(search)
    for kind in _types(whole, places) if places or not minus_zeros else ("DOUBLE",):
        reading = Reading(
            kind, decimal_mark=mark if places and mark != "." else None, thousands=thousands
        )
        if search.count(fits_sql(reading, "x")) == search.tally.number:
            label = "Decimal" if places else "Whole"
            return search.typed(reading, f"{label} numbers: {shown}.", candidates, longest), []
    message = f"{search.column.name!r} is kept as text: no number type holds {shown} exactly."
    finding = search.text(message, candidates, longest)
    return finding, [Note("number-too-long", message, search.column.name)]


def _extent(search: Search, mark: str, thousands: str | None) -> tuple[int, int, int]:
    """The most digits before and after the mark, and how many values are a zero with a minus."""
    plain = "x" if not thousands else f"replace(x, {literal(thousands)}, '')"
    fitting = _matches(number_pattern(mark, thousands))
    row = search.connection.execute(
        f"SELECT max(strlen(ltrim(split_part(p, {literal(mark)}, 1), '-'))), "
        f"max(strlen(split_part(p, {literal(mark)}, 2))), count_if(p = '-0') "
        f"FROM (SELECT {plain} AS p FROM {search.rows} AND {fitting})"
    ).fetchone()
    whole, places, minus_zeros = row or (0, 0, 0)
    return int(whole or 0), int(places or 0), int(minus_zeros or 0)


def _types(whole: int, places: int) -> tuple[str, ...]:
    """The types to try, the most useful first; each is taken only if it holds every number."""
    if not places:
        return ("BIGINT",) if whole <= 18 else ("BIGINT", "DECIMAL(38,0)")
    decimals = [f"DECIMAL({width},{places})" for width in (18, 38) if whole + places <= width][:1]
    if places <= _MOST_PLACES:
        return (*decimals, "DOUBLE")
    return ("DOUBLE", *decimals)


def _all_grouped(search: Search) -> int:
    """How many values could be groups of thousands instead; 0 if any value with a point cannot."""
    grouped = search.count(_matches("-?[1-9][0-9]{0,2}([.][0-9]{3})+"))
    pointed = search.count("contains(x, '.')")
    return grouped if grouped == pointed else 0


def _longest(search: Search) -> tuple[Sample, ...]:
    """The value that forced the width."""
    rows = search.connection.execute(
        f"SELECT line, x[:200] FROM {search.rows} AND {_matches(NUMBER_LIKE)} "
        "ORDER BY strlen(x) DESC, line LIMIT 1"
    ).fetchall()
    return tuple(Sample(row[0], row[1], "is the longest") for row in rows)


def _powers(search: Search) -> tuple[ColumnFinding, list[Note]]:
    samples = search.samples("lower(x) LIKE '%e%'", "is written with a power of ten", limit=2)
    double = Reading("DOUBLE")
    if search.count(fits_sql(double, "x")) == search.tally.number:
        return search.typed(double, "Numbers with powers of ten.", {}, samples), []
    message = f"{search.column.name!r} is kept as text: a double does not hold its numbers exactly."
    misfits = search.samples(f"NOT {fits_sql(double, 'x')}", "would be rounded")
    finding = search.text(message, {"number": search.tally.number}, misfits)
    return finding, [Note("number-too-long", message, search.column.name)]


def _with_marks(
    search: Search, marks: Sequence[tuple[str, str | None]]
) -> tuple[ColumnFinding, list[Note]]:
    """Tries decimal marks and groupings; two that both hold but differ in value settle nothing."""
    row = search.connection.execute(
        f"SELECT {', '.join(f'count_if({_matches(number_pattern(*pair))})' for pair in marks)} "
        f"FROM {search.rows}"
    ).fetchone()
    counts = dict(zip(marks, (int(cell) for cell in row or ()), strict=True))
    candidates = {_label(*pair): count for pair, count in counts.items()}
    whole = [pair for pair, count in counts.items() if count == search.tally.number]
    marked = len({pair[0] for pair in whole}) > 1
    if marked and search.count("contains(x, '.') OR contains(x, ',')"):
        name = search.column.name
        listed = " and ".join(_label(*pair) for pair in whole)
        message = f"{name!r} is kept as text: {listed} fit every value. Declare the decimal mark."
        samples = search.samples(f"NOT {_matches('-?[0-9]+')}", f"could be {listed}", limit=2)
        return search.text(message, candidates, samples), [Note("ambiguous-number", message, name)]
    if whole:
        return _sized(search, *whole[0], candidates)
    misfits = search.samples(
        " AND ".join(f"NOT {_matches(number_pattern(*pair))}" for pair in marks),
        "fits no way of writing numbers that was tried",
    )
    reason = "Kept as text: no one way of writing numbers holds every value."
    return search.text(reason, candidates, misfits), []


def _label(mark: str, thousands: str | None) -> str:
    return f"decimal mark {mark!r}" + (f" with groups by {thousands!r}" if thousands else "")


def settle_marks(inferred: Inferred) -> Inferred:
    """Where one column writes decimal commas, `1.234` in another may be a thousand: text, then."""
    if not any(finding.decimal_mark == "," for finding in inferred.findings):
        return inferred
    findings: list[ColumnFinding] = []
    notes = list(inferred.notes)
    for finding in inferred.findings:
        doubtful = finding.type != "VARCHAR" and _label(",", ".") in finding.candidates
        if doubtful and finding.decimal_mark is None and not finding.thousands:
            message = (
                f"{finding.name!r} is kept as text: the file writes decimal commas elsewhere, so "
                "its points may group thousands. Declare the decimal mark."
            )
            notes.append(Note("ambiguous-number", message, finding.name))
            finding = replace(finding, type="VARCHAR", reason=message)  # noqa: PLW2901
        findings.append(finding)
    return replace(inferred, findings=tuple(findings), notes=tuple(notes))
