"""What a column of texts looks like: lengths, white space, placeholders, shapes, spellings."""

from collections.abc import Iterable
from dataclasses import dataclass

from steward.analysis.pii.values import Sample, one_row
from steward.analysis.profile.counting import SHOWN, Counted, Scope
from steward.analysis.profile.patterns import patterns
from steward.analysis.profile.results import Text
from steward.core import copied
from steward.tables import literal

# Compared as written; the variants people and programs really produce.
PLACEHOLDERS = (
    *("N/A", "n/a", "NA", "#N/A", "#NA", "N.A.", "n.a.", "NULL", "null", "Null", "NaN", "nan"),
    *("None", "none", "NONE", "nil", "-", "--", "?", "??", ".", "unknown", "Unknown", "UNKNOWN"),
    *("undefined", "missing", "TBD", "tbd", "xxx", "XXX", "(blank)", "(null)", "#REF!", "#VALUE!"),
)
_SPACES = r"[\s\x00-\x20]*"


@dataclass(frozen=True)
class TextFacts:
    minimum: str | None
    maximum: str | None
    shortest: int
    longest: int
    characters: int
    empty: int
    blank: int
    padded: int
    placeholders: int


def measure(scope: Scope, counted: Counted) -> TextFacts:
    """Everything that needs every value, in one statement."""
    listed = ", ".join(literal(word) for word in PLACEHOLDERS)
    # Texts that begin with a space or control character sort before '!'.
    padded = (
        "((v < '!' AND v <> '') OR suffix(v, ' ') OR suffix(v, chr(9)) OR suffix(v, chr(10)) "
        "OR suffix(v, chr(13)))"
    )
    row = one_row(
        scope.connection,
        f"SELECT left(min(v), {SHOWN}), left(max(v), {SHOWN}), coalesce(min(length(v)), 0), "
        "coalesce(max(length(v)), 0), coalesce(sum(length(v) * n), 0)::HUGEINT, "
        "coalesce(sum(n) FILTER (v = ''), 0)::BIGINT, "
        "coalesce(sum(CASE WHEN v < '!' AND v <> '' "
        f"THEN CASE WHEN regexp_full_match(v, {literal(_SPACES)}) THEN n END END), 0)::BIGINT, "
        f"coalesce(sum(n) FILTER ({padded}), 0)::BIGINT, "
        # As a query of its own this needs no look at most values.
        f"(SELECT coalesce(sum(n), 0)::BIGINT FROM {counted.source} WHERE v IN ({listed})) "
        f"FROM {counted.source}",
    )
    return TextFacts(row[0], row[1], *(int(number) for number in row[2:]))


def describe(facts: TextFacts, counted: Counted, sample: Sample) -> Text:
    return copied(
        Text,
        facts,
        mean_length=round(facts.characters / counted.filled, 4) if counted.filled else 0.0,
        patterns=patterns((text, rows) for text, rows in sample.values if text),
        patterns_from=len(sample.values),
        patterns_exact=sample.complete,
        spellings=_spellings(text for text, _ in sample.values) if sample.complete else 0,
    )


def _spellings(values: Iterable[str]) -> int:
    """Distinct values beyond the first among those that differ in case or spacing only."""
    seen: set[str] = set()
    repeated = 0
    for text in values:
        plain = " ".join(text.split()).casefold()
        repeated += plain in seen
        seen.add(plain)
    return repeated
