"""Finds how a column writes its numbers: decimal mark, grouping, and the narrowest exact type."""

from collections.abc import Sequence
from dataclasses import replace

from steward.ingest.findings import Alternative, Note, Sample
from steward.ingest.readings import INFINITE, Reading, fits_sql, number_pattern
from steward.ingest.texts import Found, Search
from steward.tables import literal

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
ROUNDED = "rounded-number"
"""The note about digits that a DOUBLE does not hold."""


def find_number(search: Search) -> Found:
    """The reading of a column whose values nearly all look like numbers."""
    mark = search.wish.decimal_mark or search.options.decimal_mark
    thousands = search.wish.thousands or search.options.thousands
    if mark is not None or thousands is not None:
        return _with_marks(search, ((mark or ".", thousands),))
    plain = search.count(_matches(number_pattern(".", None)))
    if plain == search.tally.number:
        grouped = search.evidence.decimal_mark == "," and _all_grouped(search)
        if grouped and search.count(_matches(number_pattern(",", "."))) == search.tally.number:
            pairs = ((",", "."), (".", None))
            return _assumed(search, pairs[0], pairs, search.evidence.mark_reason, {})
        return _sized(search, ".", None, {})
    power = search.count(_matches(number_pattern(".", None, exponent=True)))
    if power == search.tally.number:
        return _powers(search)
    odd = _not_a_number(search)
    return odd if odd is not None else _with_marks(search, _MARKS)


def with_infinity(search: Search) -> Found | None:
    """Doubles where every value that is no number says that it is infinite; said, with the way back."""
    infinite = search.count(_matches(INFINITE))
    reading = Reading("DOUBLE")
    if search.tally.number + infinite != search.tally.values or (
        search.count(fits_sql(reading, "x")) < search.tally.values
    ):
        return None
    name, words = search.column.name, search.samples(_matches(INFINITE), "is infinite")
    reason = f"Numbers; {infinite:,} of {search.tally.values:,} values are infinite."
    others = (
        search.instead(f"Keep {name!r} as text", "Sums and means stay finite.", type="VARCHAR"),
        search.instead(
            f"Treat infinite values as empty in {name!r}", "All other values are numbers.",
            null_markers=sorted({sample.value for sample in words}),
        ),
    )  # fmt: skip
    return Found(search.typed(reading, reason, {"number": search.tally.number}, words), (), others)


def _matches(pattern: str) -> str:
    return f"regexp_full_match(x, {literal(pattern)})"


def _not_a_number(search: Search) -> Found | None:
    """Digits that are no quantity: a leading zero or a plus says that the text matters."""
    zeros = search.samples(_matches("-?0[0-9]+([.,][0-9]+)?"), "begins with a zero")
    if zeros:
        reason = "Kept as text: a leading zero would be lost in a number."
        number = search.instead(
            f"Read {search.column.name!r} as numbers", "Leading zeros are lost.", type="BIGINT"
        )
        return Found(search.text(reason, {"number": search.tally.number}, zeros), (), (number,))
    signs = search.samples("x[1] = '+'", "begins with a plus")
    if signs:
        reason = "Kept as text: a leading plus would be lost in a number."
        number = search.instead(
            f"Read {search.column.name!r} as numbers", "Leading plus signs are lost.", type="DOUBLE"
        )
        return Found(search.text(reason, {"number": search.tally.number}, signs), (), (number,))
    return None


def _sized(search: Search, mark: str, thousands: str | None, candidates: dict[str, int]) -> Found:
    """The narrowest exact type for numbers written with these marks."""
    whole, places, minus_zeros = _extent(search, mark, thousands)
    shown = f"at most {_counted(whole, 'digit')}"
    shown += f" and {_counted(places, 'decimal place')}" if places else ""
    if thousands or mark != ".":
        shown += f", decimal mark {mark!r}" + (f", groups by {thousands!r}" if thousands else "")
    longest = _longest(search)
    candidates = {**candidates, "number": search.tally.number}
    if places == 3 and mark == "." and not thousands:
        candidates[GROUPS_OF_THOUSANDS] = _all_grouped(search)
    kinds = _types(whole, places) if places or not minus_zeros else ("DOUBLE",)
    if search.column.floats and places:
        kinds = ("DOUBLE", *(kind for kind in kinds if kind != "DOUBLE"))
    for kind in kinds:
        reading = Reading(
            kind, decimal_mark=mark if places and mark != "." else None, thousands=thousands
        )
        if search.count(fits_sql(reading, "x")) == search.tally.number:
            label = "Decimal" if places else "Whole"
            return Found(search.typed(reading, f"{label} numbers: {shown}.", candidates, longest))
    if places:
        rounded = _rounded(search, mark, thousands)
        if rounded is not None:
            return rounded
    message = f"{search.column.name!r} is kept as text: no number type holds {shown} exactly."
    finding = search.text(message, candidates, longest)
    return Found(finding, (Note("number-too-long", message, search.column.name),))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


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


def _powers(search: Search) -> Found:
    samples = search.samples("lower(x) LIKE '%e%'", "is written with a power of ten", limit=2)
    double = Reading("DOUBLE")
    if search.count(fits_sql(double, "x")) == search.tally.number:
        counts = {"number": search.tally.number}
        return Found(search.typed(double, "Numbers with powers of ten.", counts, samples))
    rounded = _rounded(search, ".", None)
    if rounded is not None:
        return rounded
    message = f"{search.column.name!r} is kept as text: a double does not hold its numbers exactly."
    misfits = search.samples(f"NOT {fits_sql(double, 'x')}", "would be rounded")
    finding = search.text(message, {"number": search.tally.number}, misfits)
    return Found(finding, (Note("number-too-long", message, search.column.name),))


def _rounded(search: Search, mark: str, thousands: str | None) -> Found | None:
    """Doubles for numbers with more digits than those hold, as programs print them; said, with the way back."""
    reading = Reading(
        "DOUBLE", decimal_mark=None if mark == "." else mark, thousands=thousands, rounded=True
    )
    if search.count(fits_sql(reading, "x")) < search.tally.number:
        return None
    name = search.column.name
    reason = "Numbers with more digits than a computer's number holds: those behind the 15th may be rounded."
    keep = search.instead(f"Keep {name!r} as text", "No digit is dropped then.", type="VARCHAR")
    note = Note(ROUNDED, f"{name!r}: digits behind the 15th may be rounded.", name)
    finding = search.typed(reading, reason, {"number": search.tally.number})
    return Found(finding, (note,), (keep,))


def _with_marks(search: Search, marks: Sequence[tuple[str, str | None]]) -> Found:
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
        return _ambiguous(search, whole, candidates)
    if whole:
        return _sized(search, *whole[0], candidates)
    misfits = search.samples(
        " AND ".join(f"NOT {_matches(number_pattern(*pair))}" for pair in marks),
        "fits no way of writing numbers that was tried",
    )
    reason = "Kept as text: no one way of writing numbers holds every value."
    return Found(search.text(reason, candidates, misfits))


def _ambiguous(
    search: Search, whole: Sequence[tuple[str, str | None]], candidates: dict[str, int]
) -> Found:
    """Numbers that two ways of writing hold with different values: the likelier one, the other offered."""
    name = search.column.name
    if not search.settling:
        listed = " and ".join(_label(*pair) for pair in whole)
        message = f"{name!r} is kept as text: {listed} fit every value."
        samples = search.samples(f"NOT {_matches('-?[0-9]+')}", f"could be {listed}", limit=2)
        note = Note("ambiguous-number", message, name)
        return Found(search.text(message, candidates, samples), (note,))
    mark = search.evidence.decimal_mark or "."
    why = search.evidence.mark_reason or "the file has no other sign of decimal commas"
    return _assumed(
        search, next((p for p in whole if p[0] == mark), whole[0]), whole, why, candidates
    )


def _assumed(
    search: Search,
    chosen: tuple[str, str | None],
    whole: Sequence[tuple[str, str | None]],
    why: str,
    candidates: dict[str, int],
) -> Found:
    name = search.column.name
    found = _sized(search, *chosen, candidates)
    others = tuple(
        search.instead(
            f"Read {name!r} with {_label(*pair)}",
            "This way of writing numbers holds every value too.",
            decimal_mark=pair[0],
            thousands=pair[1],
        )
        for pair in whole
        if pair[0] != chosen[0]
    )
    message = f"{name!r} is read with {_label(*chosen)}: {why}."
    reason = f"{found.finding.reason} Read so because {why}."
    finding = replace(found.finding, reason=reason, assumed=True)
    return Found(finding, (*found.notes, Note("assumed-number", message, name)), others[:1])


def _label(mark: str, thousands: str | None) -> str:
    return f"decimal mark {mark!r}" + (f" with groups by {thousands!r}" if thousands else "")


GROUPS_OF_THOUSANDS = _label(",", ".")


_AMOUNT = "[(]?[+\u2212-]?\\s*([A-Z]{3}|\\p{Sc})?\\s*[+\u2212-]?[0-9][0-9.,'’ \u00a0\u202f]*\\s*(%|[A-Z]{3}|\\p{Sc})?[)]?-?"
"""Numbers with what people write around them: currencies, percent signs, brackets for minus."""


def amounts(search: Search) -> tuple[Alternative, ...]:
    """The offer to read amounts as numbers, where nearly all values are such."""
    count = search.count(f"regexp_full_match(x, {literal(_AMOUNT)})")
    if count < search.tally.values * _AMOUNT_SHARE:
        return ()
    reading = best_written(search, Reading("DOUBLE", declared=True))
    fitting = search.count(fits_sql(reading, "x"))
    why = f"{fitting:,} of {search.tally.values:,} values fit; currency and percent signs are dropped."
    return (search.instead(f"Read {search.column.name!r} as numbers", why, type="DOUBLE"),)


_AMOUNT_SHARE = 0.95


def best_written(search: Search, reading: Reading) -> Reading:
    """The decimal mark and grouping under which most values of a column fit a type that a person chose."""
    prefer = search.evidence.decimal_mark or "."
    pairs: tuple[tuple[str, str | None], ...] = ((".", None), *_MARKS)
    readings = [replace(reading, decimal_mark=m, thousands=t) for m, t in pairs]
    row = search.connection.execute(
        f"SELECT {', '.join(f'count_if({fits_sql(r, chr(120))})' for r in readings)} FROM {search.rows}"
    ).fetchone()
    counts = [int(cell) for cell in row or [0] * len(readings)]
    best = max(
        range(len(readings)),
        key=lambda i: (counts[i], readings[i].decimal_mark == prefer, -i),
    )
    chosen = readings[best]
    return replace(chosen, decimal_mark=None if chosen.decimal_mark == "." else chosen.decimal_mark)
