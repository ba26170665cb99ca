"""ISO 3166 countries with the other names people write, and the way from any of them to the country."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from steward.core import package_text

# Official names of most countries are their usual ones with this in front; the exceptions are in the table.
_FORMAL = re.compile(
    r"^(?:[a-z]+ ){0,4}(?:republic|kingdom|principality|commonwealth|sultanate|duchy) of (?:the )?"
)


@dataclass(frozen=True)
class Country:
    alpha2: str
    alpha3: str
    name: str
    others: tuple[str, ...]


def country_of(text: str) -> Country | None:
    """The country that a code or name stands for; None where it is none of the known ones."""
    folded = _folded(text)
    return _index().get(folded) or _index().get(_FORMAL.sub("", folded))


@cache
def alpha2_codes() -> frozenset[str]:
    return frozenset(country.alpha2 for country in _index().values())


@cache
def _index() -> dict[str, Country]:
    index: dict[str, Country] = {}
    for line in package_text("steward.analysis", "countries.txt").splitlines():
        if line.startswith("#"):
            continue
        alpha2, alpha3, name, *others = (part.strip() for part in re.split(r"[|;]", line))
        country = Country(alpha2, alpha3, name, tuple(other for other in others if other))
        for spelling in (alpha2, alpha3, name, *country.others):
            index.setdefault(_folded(spelling), country)
    return index


def _folded(text: str) -> str:
    """Without case, accents, punctuation and a leading article."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    plain = plain.replace("&", " and ").replace("ł", "l").replace("ø", "o")
    words = re.findall(r"\w+", re.sub(r"(?<=\b\w)\.(?=\w\b|$|\s)", "", plain))
    return " ".join(words[1:] if len(words) > 1 and words[0] == "the" else words)
