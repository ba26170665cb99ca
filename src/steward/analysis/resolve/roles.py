"""Reads the role of a column from its name and, above all, from its values."""

from functools import cache

from steward.analysis.resolve.columns import ColumnFacts
from steward.analysis.resolve.rules import Role
from steward.core import package_yaml


@cache
def _named(kind: str) -> frozenset[str]:
    """Words of column names, in the languages our users' systems speak."""
    return frozenset(package_yaml("steward.analysis.resolve", "column_words.yaml")[kind])


MIN_SHARE = 0.6
# In fewer rows than this any column may be unique by chance.
FEW_ROWS = 50


def role_of(facts: ColumnFacts) -> Role:
    """The role, `other` where nothing fits; values decide over names where they can."""
    words = set(facts.words)
    if facts.filled == 0 or facts.distinct < 2 or words & _named("staff") or "by" in words:
        return "other"
    by_value = _role_by_value(facts, words)
    if by_value is not None:
        return by_value
    if facts.temporal or facts.numeric or facts.type == "BOOLEAN":
        return "birth_date" if facts.temporal and words & _named("birth") else "other"
    return _role_by_name(facts, words)


def names_people(facts: ColumnFacts) -> bool:
    """Whether the column's name says that its values are people; a bare `name` does not."""
    words = set(facts.words)
    return bool(words & (_named("person") | _named("party") | _named("given") | _named("family")))


def is_id_like(facts: ColumnFacts) -> bool:
    """Whether the column could number things: few characters, no prose, a telling name."""
    if facts.numeric or facts.temporal or not facts.filled:
        return False
    return bool(set(facts.words) & _named("id")) and facts.length <= 40 and facts.word_count < 2.5


def row_key_of(facts: tuple[ColumnFacts, ...]) -> str | None:
    """The first unique column that is named like a number of the row, or else looks like one."""
    unique = [one for one in facts if one.unique and not one.numeric and not one.temporal]
    named = [one for one in unique if is_id_like(one) or one.words == ("id",)]
    coded = [
        one
        for one in unique
        if one.rows >= FEW_ROWS
        and one.word_count < 1.01
        and one.length <= 40
        and one.shares["digit_inside"] >= 0.95
        and one.shares["email"] == 0
    ]
    return next((one.name for one in (*named, *coded)), None)


def moment_of(facts: tuple[ColumnFacts, ...]) -> str | None:
    """The column that best says when a row was last true."""
    dated = [
        one
        for one in facts
        if (one.temporal or one.shares["date"] >= MIN_SHARE)
        and not set(one.words) & _named("birth")
    ]
    for hints in ("updated", "created"):
        for one in dated:
            if set(one.words) & _named(hints):
                return one.name
    return None


def is_event_like(facts: ColumnFacts) -> bool:
    """Times, amounts and prose: what differs from event to event, not from party to party."""
    timed = facts.temporal or facts.shares["date"] >= MIN_SHARE
    return (
        (timed and not set(facts.words) & _named("birth"))
        or facts.numeric
        or facts.shares["amount"] >= MIN_SHARE
    )


def _role_by_value(facts: ColumnFacts, words: set[str]) -> Role | None:
    shares = facts.shares
    if shares["email"] >= MIN_SHARE:
        return "email"
    if shares["iban"] >= MIN_SHARE and facts.length > 14:
        return "bank_account"
    if words & _named("web") and (shares["url"] >= 0.3 or "domain" in words or "website" in words):
        return "email_domain"
    if words & _named("phone") and shares["phone"] >= 0.5 and facts.length >= 6:
        return "phone"
    return None


def _role_by_name(facts: ColumnFacts, words: set[str]) -> Role:
    if words & _named("birth") and facts.shares["digit_inside"] >= 0.5:
        return "birth_date"
    if words & _named("tax") or {"soc", "sec"} <= words or {"social", "security"} <= words:
        return "tax_id"
    if words & _named("bank"):
        return "bank_account"
    address = _address_role(facts, words)
    if address is not None:
        return address
    named = _name_role(facts, words)
    if named is not None:
        return named
    worded = facts.shares["letters"] >= MIN_SHARE and facts.length <= 200
    return "text" if words & _named("thing") and worded and not words & _named("id") else "other"


def _address_role(facts: ColumnFacts, words: set[str]) -> Role | None:
    if words & _named("postcode") or {"post", "code"} <= words:
        return "postcode"
    if words & _named("email") or words & _named("phone"):
        return None
    if words & _named("number") and words & _named("house"):
        return "street_number"
    if words & _named("street") and not words & _named("web"):
        return "address_detail" if words & {"2", "3", "address2", "detail", "unit"} else "street"
    if words & _named("city"):
        return "city"
    if words & _named("country"):
        return "country"
    if words & _named("region") and facts.distinct <= 500:
        return "region"
    return None


def _name_role(facts: ColumnFacts, words: set[str]) -> Role | None:
    if (
        facts.shares["letters"] < MIN_SHARE
        or facts.length > 80
        or words & (_named("id") - {"name"})
    ):
        return None
    if words & _named("given") and not words & {"order", "purchase", "seen", "contacted"}:
        return "given_name"
    if words & _named("family") and not words & {"order", "purchase", "seen", "login", "contacted"}:
        return "family_name"
    firm = facts.shares["legal_form"] >= 0.1
    if facts.shares["digit_inside"] > 0.3:
        return "company" if firm and words & _named("company") else None
    if words & _named("company"):
        return "company"
    if words & _named("person"):
        return "company" if firm else "person_name"
    if words & _named("party") and (words & _named("name") or len(words) == 1):
        return "company" if firm else "person_name"
    if words & _named("name") and len(words - _named("name") - {"full", "display", "legal"}) == 0:
        return "company" if firm else "person_name"
    return None
