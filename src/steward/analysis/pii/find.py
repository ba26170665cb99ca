"""Finds personal data: SQL counts every row, the checks run on a bounded sample of values."""

from collections.abc import Sequence

import duckdb

from steward.analysis.pii.evidence import Candidates, Evidence, weigh_inside, weigh_whole
from steward.analysis.pii.hints import named_kinds
from steward.analysis.pii.kinds import PREFILTER
from steward.analysis.pii.masks import mask
from steward.analysis.pii.people import looks_like_person
from steward.analysis.pii.results import Finding, Findings
from steward.analysis.pii.values import SAMPLE, Sample, Values, column_values, one_row, take
from steward.tables import Column, Table, literal, quote

_WHOLE_NUMBERS = frozenset({"INTEGER", "BIGINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT"})
_MOMENTS = ("DATE", "TIMESTAMP")

NAMES_NOTE = "the column's name and Steward's own short list of common names, not a model"
_LONG_NUMBER = 10_000_000


def find(
    connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[str] | None = None
) -> Findings:
    """Personal data in the named columns, or in all of them."""
    chosen = table.chosen(columns)
    if not chosen:
        return Findings(table.name, (), 0)
    counts = _survey(connection, table, chosen)
    found: list[Finding] = []
    for column, (filled, distinct) in zip(chosen, counts, strict=True):
        if filled == 0:
            continue
        values = column_values(table, column, distinct)
        sample = take(connection, values) if readable(column) else Sample((), complete=False)
        found += inspect(connection, column, values, sample, filled)
    return Findings(table.name, tuple(found), len(chosen))


def _survey(
    connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[Column]
) -> list[tuple[int, int]]:
    """Rows that are not null and an estimate of distinct values, for all columns in one scan."""
    parts = []
    for column in columns:
        name = quote(column.name)
        distinct = f"approx_count_distinct({name})" if readable(column) else "0"
        parts.append(f"count({name}), {distinct}")
    row = one_row(connection, f"SELECT {', '.join(parts)} FROM {table.source}")
    return list(zip(row[::2], row[1::2], strict=True))


def readable(column: Column) -> bool:
    """Whether the column's values can be personal data as text or as whole numbers."""
    return is_text(column) or column.type in _WHOLE_NUMBERS


def is_text(column: Column) -> bool:
    return column.type in {"VARCHAR", "JSON"} or (
        column.type.startswith("ENUM(") and column.type.endswith(")")
    )


def inspect(
    connection: duckdb.DuckDBPyConnection,
    column: Column,
    values: Values,
    sample: Sample,
    filled: int,
) -> tuple[Finding, ...]:
    """The findings of one column, given a sample of its values and its rows that are not null."""
    found: list[Finding] = []
    if readable(column) and _worth_reading(column, sample):
        found += _by_value(connection, column, values, sample, filled)
    whole = {finding.kind for finding in found if finding.where == "whole value"}
    if not whole:
        found += _by_name(column, sample, filled)
    return tuple(found)


def _worth_reading(column: Column, sample: Sample) -> bool:
    """Whole numbers below eight digits are never personal numbers; most ids end here."""
    if is_text(column):
        return True
    return any(abs(int(text)) >= _LONG_NUMBER for text, _ in sample.values)


def _by_value(
    connection: duckdb.DuckDBPyConnection,
    column: Column,
    values: Values,
    sample: Sample,
    filled: int,
) -> list[Finding]:
    candidates = Candidates.of(column.name, numeric=not is_text(column))
    guesses, rest = weigh_whole(sample.values, candidates)
    if sample.complete:
        inside = weigh_inside(rest, candidates) if is_text(column) else []
        return [_finding(column, one, one.rows, filled) for one in (*guesses, *inside)]
    counted, left = _count(connection, values, guesses, filled)
    found = [
        _finding(column, one, rows, filled) for one, rows in zip(guesses, counted, strict=True)
    ]
    if left and is_text(column):
        found += _search_rest(connection, column, values, guesses, left, candidates, filled)
    return found


def _matches(evidence: Evidence) -> str:
    if evidence.inside:
        return f"regexp_matches(v, {literal(evidence.kind.inside_pattern)})"
    return f"regexp_full_match(v, {literal(evidence.kind.shape(evidence.hinted))})"


def _unguessed(guesses: Sequence[Evidence]) -> str:
    others = " AND ".join(f"NOT {_matches(guess)}" for guess in guesses) or "true"
    return f"{others} AND regexp_matches(v, {literal(PREFILTER)})"


def _count(
    connection: duckdb.DuckDBPyConnection,
    values: Values,
    guesses: Sequence[Evidence],
    filled: int,
) -> tuple[list[int], int]:
    """Rows of each guessed kind, and the number of other values that may hold personal data."""
    counted = [
        int(
            one_row(
                connection,
                f"SELECT coalesce(sum(n), 0)::BIGINT FROM {values.source} WHERE {_matches(guess)}",
            )[0]
        )
        for guess in guesses
    ]
    if filled in counted:
        return counted, 0
    condition = _unguessed(guesses)
    left = one_row(connection, f"SELECT count(*) FROM {values.source} WHERE {condition}")[0]
    return counted, int(left)


def _search_rest(
    connection: duckdb.DuckDBPyConnection,
    column: Column,
    values: Values,
    guesses: Sequence[Evidence],
    left: int,
    candidates: Candidates,
    filled: int,
) -> list[Finding]:
    """Rare kinds and personal data inside longer text, among the values no guess explains."""
    condition = _unguessed(guesses)
    known = {guess.kind.name for guess in guesses}
    others = Candidates(tuple(pair for pair in candidates.kinds if pair[0].name not in known))
    if left <= SAMPLE:
        sample = take(connection, Values(values.source, left), condition)
        whole, rest = weigh_whole(sample.values, others)
        found = [*whole, *weigh_inside(rest, others)]
        return [_finding(column, one, one.rows, filled) for one in found]
    return _search_each(connection, column, values, condition, others, filled)


def _search_each(
    connection: duckdb.DuckDBPyConnection,
    column: Column,
    values: Values,
    condition: str,
    candidates: Candidates,
    filled: int,
) -> list[Finding]:
    """Each kind on its own, so that a frequent one does not hide a rare one from the sample."""
    places = [
        Evidence(kind, inside=inside, hinted=hinted and not inside)
        for kind, hinted in candidates.kinds
        for inside in ((False, True) if kind.inside else (False,))
    ]
    shapes = "|".join(
        place.kind.inside_pattern if place.inside else f"^(?:{place.kind.shape(place.hinted)})$"
        for place in places
    )
    # One test for all kinds first: most values pass none of them.
    within = f"{condition} AND regexp_matches(v, {literal(shapes)})"
    counts = ", ".join(
        f"count(*) FILTER ({_matches(place)}), coalesce(sum(n) FILTER ({_matches(place)}), 0)"
        for place in places
    )
    row = one_row(connection, f"SELECT {counts} FROM {values.source} WHERE {within}")
    found = []
    for place, count, rows in zip(places, row[::2], row[1::2], strict=True):
        if not count:
            continue
        sample = take(
            connection,
            Values(values.source, min(int(count), values.distinct)),
            f"{condition} AND {_matches(place)}",
        )
        alone = Candidates(((place.kind, place.hinted),))
        weighed = (
            weigh_inside(sample.values, alone)
            if place.inside
            else weigh_whole(sample.values, alone)[0]
        )
        found += [_finding(column, one, int(rows), filled) for one in weighed]
    return _one_per_kind(found)


def _one_per_kind(found: Sequence[Finding]) -> list[Finding]:
    """A shape inside text includes the values that have it as a whole."""
    best: dict[str, Finding] = {}
    for finding in found:
        if finding.kind not in best or finding.rows > best[finding.kind].rows:
            best[finding.kind] = finding
    return list(best.values())


def _finding(column: Column, evidence: Evidence, rows: int, filled: int) -> Finding:
    kind = evidence.kind
    return Finding(
        column=column.name,
        kind=kind.name,
        label=kind.label,
        where="inside text" if evidence.inside else "whole value",
        rows=rows,
        rows_exact=True,
        share=round(rows / filled, 6),
        checked=evidence.checked,
        valid=evidence.valid,
        check=kind.check,
        confidence="high" if evidence.valid >= 0.5 * evidence.checked else "medium",
        examples=tuple(evidence.examples),
    )


def _by_name(column: Column, sample: Sample, filled: int) -> list[Finding]:
    found = []
    text = is_text(column)
    people = [value for value, _ in sample.values if looks_like_person(value)] if text else []
    named = named_kinds(column.name)
    for one in named:
        person = one.name == "person_name"
        if person and not text:
            continue
        if one.name == "birth_date" and not (text or column.type.startswith(_MOMENTS)):
            continue
        examples = people[:3] if person else [value for value, _ in sample.values if value][:3]
        confident = person and len(people) >= 0.2 * len(sample.values) > 0
        found.append(
            Finding(
                column=column.name,
                kind=one.name,
                label=one.label,
                where="column name",
                rows=filled,
                rows_exact=False,
                share=1.0,
                checked=len(sample.values) if person else 0,
                valid=len(people) if person else 0,
                check=NAMES_NOTE if person else "the column's name alone",
                confidence="medium" if confident else "low",
                examples=tuple(mask(value, one.name) for value in examples),
            )
        )
    if not named and text:
        found += _unannounced_people(column, sample, people, filled)
    return found


def _unannounced_people(
    column: Column, sample: Sample, people: list[str], filled: int
) -> list[Finding]:
    """Names under a column name that does not say so; full names only, single words mislead."""
    full = [value for value in people if " " in value.strip()]
    if len(sample.values) < 5 or len(full) < 0.6 * len(sample.values):
        return []
    rows = sum(count for value, count in sample.values if looks_like_person(value))
    seen = sum(count for _, count in sample.values)
    return [
        Finding(
            column=column.name,
            kind="person_name",
            label="name of a person",
            where="whole value",
            rows=rows if sample.complete else round(filled * rows / seen),
            rows_exact=sample.complete,
            share=round(rows / seen, 6),
            checked=len(sample.values),
            valid=len(people),
            check="Steward's own short list of common names, not a model",
            confidence="medium",
            examples=tuple(mask(value, "person_name") for value in full[:3]),
        )
    ]
