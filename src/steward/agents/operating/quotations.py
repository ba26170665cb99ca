"""Whether a value stands in a text: whole, token by token, in one piece and in the same letters.

Nothing is guessed from meaning. Parts put together are something new, and letters that only look alike are others.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Final

import re2  # type: ignore[import-untyped]

from steward.runs import Json

CLOSING: Final = "\"')]}>”’`»,;:.!?"
"""Punctuation after a word that is no part of it."""
_LEAST_FORM: Final = 4
_MOST_PUNCTUATION: Final = 4
_OPENING: Final = frozenset("\"'([{<“‘`«")
_LOWER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_NUMBER: Final = re.compile(r"[-+]?\d[\d,' ]*(?:\.\d+)?")
_QUOTED: Final = re.compile(r"""['"“‘]([^'"“”‘’\n]*+)['"”’]""")
_HOLE: Final = re.compile(r"\{[A-Za-z_ ]{1,40}\}")
_FILLED: Final = r"([^\n{}]{1,80}?)"
_QUIET: Final = re2.Options()
_QUIET.log_errors = False
# Somebody forgot the space: "see www.example.com.Then go on".
_GLUED: Final = re.compile(r"(\S+\.(?:com|org|net|edu|gov|io|de|fr|uk|ch|eu))[.!?][A-Z][a-z]+")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})


def stands_in(value: Json, texts: Iterable[str]) -> bool:
    """Whether a value stands whole in one of the texts."""
    return any(Text(text).holds(value) for text in texts)


class Text:
    """A text as tokens, each with the ways in which punctuation around it may belong to it or not."""

    def __init__(self, text: str) -> None:
        self.source = text
        self._at = _positions(text)
        self._numbers = _numbers(text)
        self.forms = _given_forms(text)

    def holds(self, leaf: Json) -> bool:
        """Whether the value stands in the text, whole and in one piece."""
        match leaf:
            case str():
                return self._holds_text(leaf)
            case int() | float():
                return _decimal(str(leaf)) in self._numbers
        return False

    def _holds_text(self, text: str) -> bool:
        if hides_something(text):
            return False
        wanted = plain(text).split()
        if not wanted:
            return True
        return any(
            all(start + offset in self._at.get(token, ()) for offset, token in enumerate(wanted))
            for start in self._at.get(wanted[0], ())
        )


@lru_cache(maxsize=256)
def _positions(text: str) -> dict[str, frozenset[int]]:
    """Where each token stands; with and without the quotes, brackets and stops around it."""
    found: dict[str, set[int]] = {}
    for place, token in enumerate(unicodedata.normalize("NFC", text).split()):
        glued = _GLUED.match(token)
        whole = (token, glued.group(1)) if glued else (token,)
        for form in (plain(form) for each in whole for form in _forms(each)):
            found.setdefault(form, set()).add(place)
    return {token: frozenset(places) for token, places in found.items()}


@lru_cache(maxsize=256)
def _numbers(text: str) -> frozenset[Decimal]:
    """Numbers that stand alone; digits inside a name, a date or an address are none."""
    found = set()
    for token in text.split():
        for form in _forms(token.lstrip("$€£")):
            if _NUMBER.fullmatch(form):
                number = _decimal(form.replace(",", "").replace("'", ""))
                if number is not None:
                    found.add(number)
    return frozenset(found)


@lru_cache(maxsize=256)
def _given_forms(text: str) -> tuple["Form", ...]:
    found, told, at = [], plain(text), 0
    while quoted := _QUOTED.search(told, at):
        is_form = _HOLE.search(quoted[1]) is not None
        # A quote that closes nothing, as in "it's", may open what follows it.
        at = quoted.end() if is_form else quoted.start() + 1
        if is_form and (form := as_form(quoted[1])) is not None:
            found.append(form)
    return tuple(found)


@lru_cache(maxsize=256)
def as_form(text: str) -> "Form | None":
    """What holds texts against one with named holes, such as `Dinner at {restaurant}`; None for other texts.

    A hole takes a few words. What is nearly all hole is no form, nor is what has very many.
    """
    parts = _HOLE.split(text)
    if len(parts) == 1 or len("".join(parts).strip()) < _LEAST_FORM:
        return None
    try:
        return Form(re2.compile(_FILLED.join(map(re2.escape, parts)), _QUIET))
    except (re2.error, UnicodeError):
        return None


class Form:
    """A text with holes. It is compared in linear time: models and strangers write forms and what is to fill them."""

    def __init__(self, pattern: Any) -> None:
        self._pattern = pattern

    def pieces(self, text: str) -> tuple[str, ...] | None:
        """What fills the holes; None where the text is something else."""
        try:
            found = self._pattern.fullmatch(text)
        except UnicodeError:
            return None
        return tuple(found.groups()) if found is not None else None


def _forms(token: str) -> Iterator[str]:
    left = 0
    while left < min(len(token), _MOST_PUNCTUATION) and token[left] in _OPENING:
        left += 1
    right = 0
    while right < min(len(token), _MOST_PUNCTUATION) and token[-1 - right] in CLOSING:
        right += 1
    for start in range(left + 1):
        for end in range(right + 1):
            form = token[start : len(token) - end]
            if form:
                yield form


def plain(text: str) -> str:
    """One spelling for what is the same to every system: composed letters, ASCII in small letters.

    No more than that: compatibility forms and other scripts look alike and are other addresses.
    """
    return unicodedata.normalize("NFC", text).translate(_LOWER)


def hides_something(text: str) -> bool:
    """Control characters, invisible or unassigned ones: nobody says those."""
    return any(
        unicodedata.category(character) in _UNSEEN and character not in "\n\t" for character in text
    )


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text).normalize()
    except InvalidOperation:
        return None
