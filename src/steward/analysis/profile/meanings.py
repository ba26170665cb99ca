"""What the values of a column probably are: a country, a date written as text, an id …"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from steward.analysis.countries import alpha2_codes, country_of
from steward.analysis.pii import Finding
from steward.analysis.pii.evidence import Candidates, weigh_whole
from steward.analysis.pii.hints import announces
from steward.analysis.pii.validators import stdnum
from steward.analysis.pii.values import Sample
from steward.analysis.profile.counting import Counted
from steward.analysis.profile.currencies import CURRENCIES
from steward.analysis.profile.measures import Spread
from steward.analysis.profile.results import Meaning
from steward.analysis.profile.texts import PLACEHOLDERS

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


def _matches(pattern: str, flags: int = 0) -> Callable[[str], bool]:
    regex = re.compile(pattern, flags)
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
    return lambda text: shape(text) and stdnum(module)(text)


_BIC = _matches(r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")
_DATE = (
    r"\d{4}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])"
    r"|(?:0?[1-9]|[12]\d|3[01])[-/. ](?:0?[1-9]|[12]\d|3[01]|[A-Za-z]{3,9})[-/. ]\d{2}(?:\d{2})?"
    r"|[A-Za-z]{3,9} \d{1,2},? \d{4}"
)
_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?[AaPp][Mm])?(?:Z|[+-]\d{2}:?\d{2})?)?"

TESTS = (
    Test(
        "country",
        "country",
        lambda text: country_of(text) is not None,
        "codes and names of ISO 3166",
        hints=("country", "nation", "land", "pays", "pais", "nationality", "country code"),
        unless=("state", "language", "lang", "locale", "region", "province"),
        fewest=3,
    ),
    Test(
        "currency",
        "currency",
        lambda text: text in CURRENCIES or text.upper() in CURRENCIES,
        "codes of ISO 4217",
        hints=("currency", "ccy", "waehrung", "devise", "moneda"),
        fewest=2,
    ),
    Test("url", "web address", _matches(r"(?:https?|ftp)://[^\s]+|www\.[^\s]+\.[^\s]+"), "syntax"),
    Test(
        "uuid",
        "UUID",
        _matches(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE),
        "syntax",
    ),
    Test(
        "hash",
        "hash or key in hexadecimal",
        _matches(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128}", re.IGNORECASE),
        "length and digits",
    ),
    Test("json", "JSON document", _is_json, "parsed"),
    Test(
        "date_text",
        "date written as text",
        _matches(_DATE + "|(?:" + _DATE + ")" + _TIME),
        "usual ways to write dates",
    ),
    Test(
        "boolean_text",
        "yes or no written as text",
        lambda text: text.casefold()
        in {"yes", "no", "y", "n", "true", "false", "t", "f", "ja", "nein", "oui", "non", "on", "off"},
        "usual words",
        fewest=2,
    ),
    Test(
        "percentage",
        "percentage written as text",
        _matches(r"[+-]?\d+(?:[.,]\d+)? ?%"),
        "a number and a per cent sign",
    ),
    Test(
        "money_text",
        "amount of money written as text",
        _matches(r"[-+(]?(?:[€$£¥₹]|[A-Z]{3}) ?-?\d[\d.,' ]*\)?|-?\d[\d.,' ]* ?(?:[€$£¥₹]|[A-Z]{3})"),
        "a number and a currency",
    ),
    Test(
        "number_text",
        "number written as text",
        _matches(r"[+-]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:[,.' ]\d{3})+)(?:[.,]\d+)?(?:[eE][+-]?\d+)?"),
        "usual ways to write numbers, none with leading zeros",
        unless=("zip", "postcode", "postal", "plz", "phone", "code", "number", "no", "id", "iban"),
    ),
    Test(
        "postcode",
        "postcode",
        _matches(r"[A-Za-z0-9][A-Za-z0-9 \-]{2,9}"),
        "the column's name and the shape of postcodes",
        hints=("zip", "zip code", "zipcode", "postcode", "post code", "postal code", "plz", "cap"),
        needs_hint=True,
    ),
    Test(
        "postcode",
        "postcode",
        _matches(
            r"[A-Z]{1,2}\d[A-Z\d]? ?\d[ABD-HJLNP-UW-Z]{2}|[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d"
            r"|[1-9]\d{3} [A-Z]{2}"
        ),
        "the shape of British, Canadian or Dutch postcodes",
        fewest=5,
    ),
    Test(
        "bic",
        "BIC (bank)",
        lambda text: _BIC(text) and text[4:6].upper() in alpha2_codes(),
        "the column's name, the shape and the country in it",
        hints=("bic", "swift", "swift code", "bic code"),
        needs_hint=True,
    ),
    Test(
        "isin",
        "ISIN (security)",
        _checked("isin", r"[A-Z]{2}[A-Z0-9]{9}\d"),
        "check digit",
        hints=("isin",),
        fewest=3,
    ),
    Test(
        "isbn",
        "ISBN (book)",
        _checked("isbn", r"(?:97[89][- ]?)?(?:\d[- ]?){9}[\dX]"),
        "check digit",
        hints=("isbn",),
        fewest=5,
    ),
    Test(
        "ean",
        "EAN (article)",
        _checked("ean", r"\d{8}|\d{12,14}"),
        "check digit",
        hints=("ean", "gtin", "upc", "barcode"),
        fewest=10,
    ),
    Test(
        "coordinates",
        "latitude and longitude",
        _matches(r"[-+]?\d{1,2}\.\d+ ?[,;] ?[-+]?\d{1,3}\.\d+"),
        "syntax",
    ),
    Test("domain", "domain name", _matches(r"(?:[a-z0-9-]{1,63}\.)+[a-z]{2,24}", re.IGNORECASE), "syntax"),
    Test(
        "colour",
        "colour",
        _matches(r"#[0-9a-f]{6}|#[0-9a-f]{3}", re.IGNORECASE),
        "syntax",
    ),
    Test(
        "path",
        "file path",
        _matches(r"(?:[A-Za-z]:\\|\\\\|/|\./|~/)[^\s:*?\"<>|]+(?:[\\/][^\\/:*?\"<>|]+)*"),
        "syntax",
    ),
)  # fmt: skip

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
    for test in TESTS:
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


NUMBER_TESTS = (
    NumberTest("latitude", "latitude", ("lat", "latitude"), -90, 90),
    NumberTest("longitude", "longitude", ("lon", "lng", "long", "longitude"), -180, 180),
    NumberTest("year", "year", ("year", "yr", "jahr", "annee", "vintage"), 1000, 2999, whole=True),
    NumberTest("month", "month of the year", ("month", "mon", "monat"), 1, 12, whole=True),
    NumberTest("age", "age in years", ("age", "alter"), 0, 130),
    NumberTest(
        "unix_time",
        "moment as seconds since 1970",
        ("time", "timestamp", "ts", "at", "created", "updated", "epoch"),
        1e8,
        5e9,
        whole=True,
    ),
    NumberTest(
        "percentage",
        "percentage",
        ("percent", "percentage", "pct", "rate", "share", "ratio"),
        0,
        100,
    ),
    NumberTest(
        "money",
        "amount of money",
        ("price", "amount", "cost", "total", "revenue", "salary", "balance", "fee", "tax", "sales"),
        -1e15,
        1e15,
    ),
)


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
    for test in NUMBER_TESTS:
        within = test.low <= found.low and found.high <= test.high
        if within and announces(column, test.hints) and (found.whole or not test.whole):
            evidence = "the column's name and the range of the values"
            return (Meaning(test.kind, test.label, 1.0, checked, exact, evidence),)
    if found.whole and counted.distinct == 2 and (found.low, found.high) == (0, 1):
        return (Meaning("flag", "yes or no as 1 and 0", 1.0, 2, exact, "only 0 and 1"),)
    return ()
