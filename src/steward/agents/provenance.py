"""Where the arguments of a model's call come from: said by a person, quoted from what was read, or made up.

Nothing is guessed from meaning. A value counts as said or quoted only when it stands there whole, token by token and in
one piece; parts put together are something new, and what is new is the model's. So a text that tells a model what to
write can be found again in what the model writes, and an address that was built from pieces is known to be nobody's.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Final

from steward.broker.labels import Labels, joined
from steward.broker.tool import Risk
from steward.runs import Json

MADE_UP: Final = "model"
"""Source of what stands nowhere: a model's own words."""
STEP: Final = "step:"
"""Prefix of the source that names the step of the plan whose result a text is."""

_SMALL: Final = 1_000
_MOST_PUNCTUATION: Final = 4
_OPENING: Final = frozenset("\"'([{<“‘`«")
_CLOSING: Final = frozenset("\"')]}>”’`»,;:.!?")
_LOWER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_NUMBER: Final = re.compile(r"[-+]?\d[\d,' ]*(?:\.\d+)?")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})

_RECIPIENTS: Final = frozenset(
    {"to", "cc", "bcc", "recipient", "recipients", "receiver", "email", "emails", "mail", "phone"}
    | {"url", "urls", "uri", "link", "endpoint", "host", "domain", "server", "webhook", "callback"}
    | {"channel", "channels", "room", "participant", "participants", "attendee", "attendees"}
    | {"invitees", "account", "iban", "wallet", "destination", "bucket", "topic", "queue"}
)
_OBJECTS: Final = frozenset(
    {"id", "ids", "user", "users", "path", "paths", "file", "files", "filename", "folder"}
    | {"dataset", "datasets", "target", "table", "branch", "commit", "connection", "password"}
    | {"playbook", "repository", "digest", "upload", "hotel", "company", "restaurant"}
)
_AMOUNTS: Final = frozenset(
    {"amount", "amounts", "price", "sum", "total", "usd", "eur", "budget", "quantity"}
)


def is_recipient(name: str) -> bool:
    """Whether an argument says where something goes."""
    return bool(_words(name) & _RECIPIENTS)


def is_target(name: str) -> bool:
    """Whether an argument says where something goes or to what something happens."""
    return bool(_words(name) & (_RECIPIENTS | _OBJECTS))


def is_narrow(value: Json) -> bool:
    """Whether a value has no room for a message: a truth value, a number, a date or a time."""
    match value:
        case None | bool() | int() | float():
            return True
        case str():
            return len(value) <= 40 and _is_moment(value)
        case list():
            return len(value) <= 8 and all(is_narrow(item) for item in value)
    return False


def trusted_for(risk: Risk, said: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """What counts as said by a person for a call of this risk.

    Names of the catalogue are good enough to look at something. What is changed or sent a person has to name.
    """
    return (*said, *names) if risk.at_most(Risk.compute) else tuple(said)


def label_arguments(
    arguments: Mapping[str, Json],
    trusted: Sequence[str],
    seen: Sequence[tuple[str, Labels]],
    *,
    schema: Mapping[str, Any] | None = None,
) -> dict[str, Labels]:
    """The labels of each argument of a call that a model makes.

    `trusted` are texts that people wrote or approved, `seen` the texts that were shown to the model. A value that stands
    whole in a trusted text, or is a harmless constant, carries no label. One that stands whole in texts that were seen
    has their labels. Everything else is made up after all that was seen, and has the labels of all of it.
    """
    properties = (schema or {}).get("properties", {})
    told = [_Text(text) for text in trusted]
    shown = [(_Text(text), labels) for text, labels in seen]
    everything = joined(labels for _, labels in seen)
    return {
        name: joined(
            _label(name, leaf, told, shown, everything)
            for leaf in _leaves(value, properties.get(name, {}))
        )
        for name, value in arguments.items()
    }


def _label(
    name: str,
    leaf: Json,
    told: Sequence["_Text"],
    shown: Sequence[tuple["_Text", Labels]],
    everything: Labels,
) -> Labels:
    # A name or an address is one line; what is appended to one is a trick.
    is_odd = is_target(name) and isinstance(leaf, str) and bool(set(leaf) & set("\n\t"))
    if _is_harmless(name, leaf) or (not is_odd and any(text.holds(leaf) for text in told)):
        return Labels()
    quoted = [labels for text, labels in shown if not is_odd and text.holds(leaf)]
    if quoted:
        return joined(quoted)
    return Labels((*everything.sources, MADE_UP), everything.trusted)


def _is_harmless(name: str, leaf: Json) -> bool:
    match leaf:
        case None | bool() | "":
            return True
        case int() | float():
            # A number says which one, or how much, where the argument is for that.
            return not is_target(name) and not _words(name) & _AMOUNTS and abs(leaf) <= _SMALL
    return False


def _leaves(value: Json, schema: Mapping[str, Any]) -> Iterator[Json]:
    """Every value inside, and every name that the tool did not declare: both can carry a message."""
    match value:
        case dict():
            declared = schema.get("properties", {})
            for key, item in value.items():
                if key not in declared:
                    yield key
                yield from _leaves(item, declared.get(key, {}))
        case list():
            items = schema.get("items", {})
            for item in value:
                yield from _leaves(item, items if isinstance(items, dict) else {})
        case _ if isinstance(value, str) and value in _choices(schema):
            return
        case _:
            yield value


def _choices(schema: Mapping[str, Any]) -> list[Any]:
    if "const" in schema:
        return [schema["const"]]
    inner = [choice for part in schema.get("anyOf", ()) for choice in _choices(part)]
    return [*schema.get("enum", ()), *inner]


class _Text:
    """A text as tokens, each with the ways in which punctuation around it may belong to it or not."""

    def __init__(self, text: str) -> None:
        self._at = _positions(text)
        self._numbers = _numbers(text)

    def holds(self, leaf: Json) -> bool:
        """Whether the value stands in the text, whole and in one piece."""
        match leaf:
            case str():
                return self._holds_text(leaf)
            case int() | float():
                return _decimal(str(leaf)) in self._numbers
        return False

    def _holds_text(self, text: str) -> bool:
        if _hides_something(text):
            return False
        wanted = _plain(text).split()
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
    for place, token in enumerate(_plain(text).split()):
        for form in _forms(token):
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


def _forms(token: str) -> Iterator[str]:
    left = 0
    while left < min(len(token), _MOST_PUNCTUATION) and token[left] in _OPENING:
        left += 1
    right = 0
    while right < min(len(token), _MOST_PUNCTUATION) and token[-1 - right] in _CLOSING:
        right += 1
    for start in range(left + 1):
        for end in range(right + 1):
            form = token[start : len(token) - end]
            if form:
                yield form


def _plain(text: str) -> str:
    """One spelling for what is the same to every system: composed letters, ASCII in small letters.

    No more than that: compatibility forms and other scripts look alike and are other addresses.
    """
    return unicodedata.normalize("NFC", text).translate(_LOWER)


def _hides_something(text: str) -> bool:
    """Control characters, invisible or unassigned ones: nobody says those."""
    return any(
        unicodedata.category(character) in _UNSEEN and character not in "\n\t" for character in text
    )


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text).normalize()
    except InvalidOperation:
        return None


def _is_moment(text: str) -> bool:
    for kind in (datetime, date, time):
        try:
            kind.fromisoformat(text)
        except ValueError:
            continue
        return True
    return False


@lru_cache(maxsize=1024)
def _words(name: str) -> frozenset[str]:
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return frozenset(re.split(r"[^a-z0-9]+", parts.lower()))
