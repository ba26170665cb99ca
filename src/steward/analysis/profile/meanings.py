"""What the values of a column probably are: a country, a date written as text, an id …"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from steward.analysis.countries import alpha2_codes, country_of
from steward.analysis.pii import Finding, validators
from steward.analysis.pii.evidence import Candidates, weigh_whole
from steward.analysis.pii.hints import announces
from steward.analysis.pii.values import Sample
from steward.analysis.profile.counting import Counted
from steward.analysis.profile.currencies import CURRENCIES
from steward.analysis.profile.measures import Spread
from steward.analysis.profile.results import Meaning
from steward.analysis.profile.texts import PLACEHOLDERS
from steward.core import package_yaml

_ENOUGH = 0.8
_MOST = 3
_LISTED = frozenset(word.casefold() for word in PLACEHOLDERS)


@dataclass(frozen=True)
class Test:
    """A kind that shows in single values."""

    kind: str
    label: str
    holds: Callable[[str], bool]
    evidence: str
    hints: tuple[str, ...] = ()
    needs_hint: bool = False
    unless: tuple[str, ...] = ()
    fewest: int = 1
    """Distinct values below which agreement would be no surprise, unless the name says so."""


def _matches(pattern: str) -> Callable[[str], bool]:
    regex = re.compile(pattern)
    return lambda text: regex.fullmatch(text) is not None


def _is_json(text: str) -> bool:
    if not text.startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _checked(module: str, pattern: str) -> Callable[[str], bool]:
    shape = _matches(pattern)
    return lambda text: shape(text) and validators.stdnum(module)(text)


_BIC = _matches(r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")
_YES_OR_NO = frozenset(
    ["yes", "no", "y", "n", "true", "false", "t", "f", "ja", "nein", "oui", "non", "on", "off"]
)
_CHECKS: dict[str, Callable[[str], bool]] = {
    "country": lambda text: country_of(text) is not None,
    "currency": lambda text: text in CURRENCIES or text.upper() in CURRENCIES,
    "json": _is_json,
    "yes_or_no": lambda text: text.casefold() in _YES_OR_NO,
    "bic": lambda text: _BIC(text) and text[4:6].upper() in alpha2_codes(),
}


def _declared(kind: str) -> list[dict[str, Any]]:
    """The tests as the file beside this module has them, with tuples of words."""
    listed = package_yaml("steward.analysis.profile", "meanings.yaml")[kind]
    return [{k: tuple(v) if isinstance(v, list) else v for k, v in each.items()} for each in listed]


@cache
def text_tests() -> tuple[Test, ...]:
    return tuple(_text_test(**each) for each in _declared("texts"))


def _text_test(check: str = "", pattern: str = "", stdnum: str = "", **rest: Any) -> Test:
    if stdnum:
        return Test(holds=_checked(stdnum, pattern), **rest)
    return Test(holds=_CHECKS[check] if check else _matches(pattern), **rest)


@cache
def number_tests() -> tuple["NumberTest", ...]:
    return tuple(NumberTest(**each) for each in _declared("numbers"))


_ID_HINTS = ("id", "key", "code", "no", "nr", "number", "uuid", "guid", "ref", "reference", "sku")


def of_text(
    column: str, counted: Counted, sample: Sample, pii: tuple[Finding, ...]
) -> tuple[Meaning, ...]:
    """Likely kinds, the most certain first."""
    said = [(text.strip(), rows) for text, rows in sample.values]
    said = [(text, rows) for text, rows in said if text and text.casefold() not in _LISTED]
    total = sum(rows for _, rows in said)
    found = [_from_finding(finding, sample) for finding in pii if finding.share >= _ENOUGH]
    if total:
        found += _tested(column, said, total, sample)
        found += _vat(column, said, total, sample)
    if not found or {meaning.kind for meaning in found} <= {"person_name", "address", "uuid"}:
        found += _by_counts(column, counted, said, sample)
    unique: dict[str, Meaning] = {}
    for meaning in found:
        unique.setdefault(meaning.kind, meaning)
    return tuple(sorted(unique.values(), key=lambda one: -one.share)[:_MOST])


def _tested(column: str, said: list[tuple[str, int]], total: int, sample: Sample) -> list[Meaning]:
    found = []
    for test in text_tests():
        hinted = announces(column, test.hints)
        if (test.needs_hint and not hinted) or announces(column, test.unless):
            continue
        if not hinted and len(said) < test.fewest:
            continue
        # Most tests fail on the first values; the rest need not be looked at.
        if not any(test.holds(text) for text, _ in said[:50]):
            continue
        rows = sum(rows for text, rows in said if test.holds(text))
        if rows >= _ENOUGH * total:
            share = round(rows / total, 6)
            found.append(
                Meaning(test.kind, test.label, share, len(said), sample.complete, test.evidence)
            )
    return found


def _vat(column: str, said: list[tuple[str, int]], total: int, sample: Sample) -> list[Meaning]:
    candidates = Candidates.of(column, numeric=False, personal_only=False)
    only = Candidates(tuple(pair for pair in candidates.kinds if not pair[0].personal))
    evidence, _ = weigh_whole(said, only)
    return [
        Meaning(
            one.kind.name,
            one.kind.label,
            round(one.rows / total, 6),
            one.checked,
            sample.complete,
            one.kind.check,
        )
        for one in evidence
        if one.rows >= _ENOUGH * total and one.valid >= _ENOUGH * one.checked
    ]


def _from_finding(finding: Finding, sample: Sample) -> Meaning:
    return Meaning(
        finding.kind,
        finding.label,
        finding.share,
        finding.checked,
        finding.rows_exact or sample.complete,
        finding.check,
    )


def _by_counts(
    column: str, counted: Counted, said: list[tuple[str, int]], sample: Sample
) -> list[Meaning]:
    checked = len(said)
    if counted.unique and counted.filled > 1 and announces(column, _ID_HINTS):
        evidence = "every row has its own and the column's name says so"
        return [Meaning("id", "identifier", 1.0, checked, counted.exact, evidence)]
    if 1 < counted.distinct <= 50 and counted.filled >= 4 * counted.distinct:
        evidence = f"{counted.distinct} values, each many times"
        return [Meaning("category", "category", 1.0, checked, counted.exact, evidence)]
    words = sum(len(text.split()) for text, _ in said)
    if checked and words / checked >= 5:
        return [
            Meaning("free_text", "free text", 1.0, checked, sample.complete, "several words each")
        ]
    return []


@dataclass(frozen=True)
class NumberTest:
    kind: str
    label: str
    hints: tuple[str, ...]
    low: float
    high: float
    whole: bool = False


def of_number(column: str, counted: Counted, found: Spread | None) -> tuple[Meaning, ...]:
    if found is None:
        return ()
    exact = counted.exact
    checked = counted.distinct
    if counted.unique and found.whole and found.high - found.low == found.rows - 1 > 0:
        evidence = "every whole number of its range occurs once"
        return (Meaning("id", "running number", 1.0, checked, exact, evidence),)
    if counted.unique and found.whole and found.rows > 1 and announces(column, _ID_HINTS):
        evidence = "every row has its own and the column's name says so"
        return (Meaning("id", "identifier", 1.0, checked, exact, evidence),)
    if found.whole and announces(column, _ID_HINTS):
        evidence = "the column's name; values repeat"
        return (Meaning("reference", "reference to something", 1.0, checked, exact, evidence),)
    for test in number_tests():
        within = test.low <= found.low and found.high <= test.high
        if within and announces(column, test.hints) and (found.whole or not test.whole):
            evidence = "the column's name and the range of the values"
            return (Meaning(test.kind, test.label, 1.0, checked, exact, evidence),)
    if found.whole and counted.distinct == 2 and (found.low, found.high) == (0, 1):
        return (Meaning("flag", "yes or no as 1 and 0", 1.0, 2, exact, "only 0 and 1"),)
    return ()
