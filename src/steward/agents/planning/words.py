"""Words as planning compares them: lower case, without endings, without the little ones."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*", re.UNICODE)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LITTLE_TEXT: Final = """
    a an the of to in on at for from by with and or is are was were be been do does did me my our your us we i you
    it its this that these those there please can could would will shall should let lets give get want need show tell
    what which who whom whose how when where why as per each every all any some into out up than then so if not no
    have has had here just only also about der die das ein eine und oder von zu im in mit für nach pro je le la les
    un une des et ou de du en par pour avec
"""
LITTLE: Final = frozenset(_LITTLE_TEXT.split())


def tokens(text: str) -> list[str]:
    """Words and numbers of a text or a name, in order, in lower case."""
    return [word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", text))]


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A word without plural and a few other endings: enough to tell that two words are one."""
    for ending, instead in (
        ("ies", "y"),
        ("sses", "ss"),
        ("xes", "x"),
        ("ches", "ch"),
        ("shes", "sh"),
    ):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + instead
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def words_of(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, by their stems."""
    return frozenset(stem(word) for word in tokens(text) if word not in LITTLE)


def overlap(wanted: Iterable[str], there: frozenset[str]) -> float:
    """How much of what is wanted is there, between 0 and 1."""
    asked = list(wanted)
    return sum(word in there for word in asked) / len(asked) if asked else 0.0
