"""Which operations a table needs, found by looking at its values, with how many cells each would change."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import duckdb

from steward.analysis.clean.categories import propose_categories
from steward.analysis.clean.operations.emails import LOOKS_LIKE_ADDRESS
from steward.analysis.clean.operations.missing import MARKERS
from steward.analysis.clean.operations.spaces import INLINE, SPACE
from steward.analysis.clean.operations.unicode import suspicious
from steward.analysis.clean.registry import clean
from steward.analysis.countries import country_of
from steward.analysis.relate.names import listed, words_of
from steward.core import TooLarge
from steward.tables import Cell, Table, changed_cells, literal, quote

_CATEGORY_VALUES = 60
_COUNTRY_VALUES = 400
_MOSTLY = 0.8
_SAMPLE_VALUES = 20_000
_PHONE_WORDS = listed("phone telephone tel mobile fax cell telefon fon handy")
_COUNTRY_WORDS = listed("country nation land pays pais")
_IDENTIFIER_WORDS = listed("id key code no nr number sku iban zip postcode plz vat ref")
_DATE = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}.*|(?:19|20)\d{6}|\d{1,2}\.? ?\p{L}{3,}\.? ?\d{2,4}|\p{L}{3,} \d{1,2}(?:st|nd|rd|th)?,? \d{4}"
_NUMBER = r"[-+(]?[^\d\p{L}]{0,3}(?:[A-Z]{3} )?\d[\d.,'' ]*[)%-]?(?: ?(?:[^\d\p{L}]|[A-Z]{3}))?"


@dataclass(frozen=True)
class Suggestion:
    """An operation with its arguments, why it is proposed, how much it would change and some examples."""

    operation: str
    arguments: dict[str, Any]
    columns: tuple[str, ...]
    reason: str
    changed: int
    unconverted: int
    examples: tuple[Cell, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class _Look:
    """What one pass over a text column shows; all numbers but `distinct` are counts of rows."""

    name: str
    filled: int
    distinct: int
    markers: int
    spaces: int
    suspicious: int
    looked: int
    looked_markers: int
    dates: int
    numbers: int
    marked_numbers: int
    addresses: int
    digits: int


def suggest(connection: duckdb.DuckDBPyConnection, table: Table) -> tuple[Suggestion, ...]:
    """Operations that would change something, in the order in which they are best applied.

    Nothing is proposed for lack of beauty alone: each has evidence in the values, and is planned to count its
    effect. Filling missing values and dropping columns are left to people.
    """
    looks = [_look(connection, table, c.name) for c in table.columns if c.type == "VARCHAR"]
    found = []
    for operation, arguments, columns, reason in (
        *_whole_table(looks),
        *(proposal for look in looks for proposal in _for_column(connection, table, look)),
        ("drop_duplicates", {}, table.column_names, "Some rows occur more than once."),
    ):
        made = _made(connection, table, operation, arguments, tuple(columns), reason)
        if made is not None:
            found.append(made)
    return tuple(found)


_Proposal = tuple[str, dict[str, Any], tuple[str, ...], str]


def _whole_table(looks: list[_Look]) -> Iterator[_Proposal]:
    damaged = tuple(look.name for look in looks if look.suspicious)
    if damaged:
        reason = "Some texts were damaged by a wrong encoding or hold invisible characters."
        yield "unicode_repair", {"columns": list(damaged)}, damaged, reason
    spaced = tuple(look.name for look in looks if look.spaces)
    if spaced:
        reason = "Some texts have spaces around them or runs of spaces."
        yield "collapse_spaces", {"columns": list(spaced)}, spaced, reason
    marked = tuple(look.name for look in looks if look.markers)
    if marked:
        reason = "Some texts only say that a value is missing."
        yield "null_markers", {"columns": list(marked)}, marked, reason


def _for_column(
    connection: duckdb.DuckDBPyConnection, table: Table, look: _Look
) -> Iterator[_Proposal]:
    """At most one meaning for a column: what most of its values are."""
    usual = look.looked - look.looked_markers
    if usual <= 0:
        return
    name, words = look.name, set(words_of(look.name))
    mostly = usual * _MOSTLY
    if look.addresses >= mostly:
        yield "emails", {"columns": [name]}, (name,), "Most values are e-mail addresses."
    elif words & _PHONE_WORDS and look.digits >= mostly:
        country = next(
            (c.name for c in table.columns if set(words_of(c.name)) & _COUNTRY_WORDS), None
        )
        arguments: dict[str, Any] = {"columns": [name]}
        if country is not None and country != name:
            arguments["country_column"] = country
        yield "phones", arguments, (name,), "The name and the digits say telephone numbers."
    elif look.dates >= mostly:
        yield "parse_dates", {"columns": [name]}, (name,), "Most values are dates written as text."
    elif look.numbers >= mostly and look.marked_numbers and not words & _IDENTIFIER_WORDS:
        reason = "Most values are numbers written with marks or currencies."
        yield "parse_numbers", {"columns": [name]}, (name,), reason
    elif _countries(connection, table, look, words):
        yield "countries", {"columns": [name]}, (name,), "Most values are countries."
    elif 2 <= look.distinct <= _CATEGORY_VALUES and look.filled >= look.distinct * 5:
        mapping = propose_categories(connection, table, name).mapping
        if mapping:
            reason = "Few values, some of which look like spellings of others."
            yield "map_categories", {"column": name, "mapping": mapping}, (name,), reason


def _look(connection: duckdb.DuckDBPyConnection, table: Table, name: str) -> _Look:
    """Faults are counted in all values; what most values are is judged by some of them where there are many."""
    column = quote(name)
    counted = connection.execute(
        f"SELECT approx_count_distinct({column}) FROM {table.source}"
    ).fetchone()
    step = max(1, int(counted[0] if counted else 0) // _SAMPLE_VALUES)
    markers = ", ".join(literal(marker) for marker in MARKERS)
    shares = [
        f"regexp_full_match(t, '{_DATE}')",
        f"regexp_full_match(t, '{_NUMBER}')",
        f"regexp_full_match(t, '{_NUMBER}') AND NOT regexp_full_match(t, '-?\\d+')",
        f"regexp_matches(t, '{LOOKS_LIKE_ADDRESS}')",
        "length(regexp_replace(t, '\\D', '', 'g')) BETWEEN 6 AND 15",
    ]
    terms = [
        "sum(n)",
        "count(*)",
        f"sum(n) FILTER (lower(t) IN ({markers}))",
        f"sum(n) FILTER (t <> v OR regexp_matches(v, '{INLINE}{{2,}}|[\\t\\x{{a0}}]'))",
        f"sum(n) FILTER ({suspicious('v')})",
        "sum(n) FILTER (looked)",
        f"sum(n) FILTER (looked AND lower(t) IN ({markers}))",
        # CASE, unlike AND, is sure to skip the expression for the values that are not looked at.
        *(f"sum(n) FILTER (CASE WHEN looked THEN {share} ELSE FALSE END)" for share in shares),
    ]
    row = connection.execute(
        f"SELECT {', '.join(terms)} FROM (SELECT v, n, hash(v) % {step} = 0 AS looked, "
        f"regexp_replace(v, '^{SPACE}+|{SPACE}+$', '', 'g') AS t FROM (SELECT {column} AS v, count(*) AS n "
        f"FROM {table.source} WHERE {column} IS NOT NULL GROUP BY 1))"
    ).fetchone()
    return _Look(name, *(int(number or 0) for number in row or (0,) * len(terms)))


def _countries(
    connection: duckdb.DuckDBPyConnection, table: Table, look: _Look, words: set[str]
) -> bool:
    if look.distinct > _COUNTRY_VALUES or look.distinct < 2:
        return False
    column = quote(look.name)
    rows = connection.execute(
        f"SELECT {column}, count(*) FROM {table.source} WHERE {column} IS NOT NULL GROUP BY 1 ORDER BY 1"
    ).fetchall()
    known = sum(int(number) for text, number in rows if country_of(str(text)) is not None)
    # Two-letter codes of other lists pass for countries; without the word in the name, names must be among them.
    named = any(len(str(text)) > 3 and country_of(str(text)) for text, _ in rows)
    return known >= look.filled * _MOSTLY and (bool(words & _COUNTRY_WORDS) or named)


def _made(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    operation: str,
    arguments: dict[str, Any],
    columns: tuple[str, ...],
    reason: str,
) -> Suggestion | None:
    try:
        change = clean(connection, table, operation, arguments)
    except TooLarge:
        # Too many different values to convert one by one: nothing to propose here.
        return None
    changed = change.counts.get("removed_rows") or change.counts["changed_cells"]
    if not changed:
        return None
    return Suggestion(
        operation=operation,
        arguments=change.arguments,
        columns=columns,
        reason=reason,
        changed=changed,
        unconverted=change.counts.get("unconverted_cells", 0),
        examples=changed_cells(connection, change, limit=5),
    )
