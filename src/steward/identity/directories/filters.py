"""Filters of SCIM (RFC 7644, 3.4.2.2): read once, asked of many documents."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from steward.core import Invalid

Document = Mapping[str, Any]
Test = Callable[[Document], bool]

_LONGEST: Final = 1_000
_DEEPEST: Final = 20
_TOKEN: Final = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<mark>[()\[\]])|(?P<word>[^\s()\[\]"]+))'
)
_URN: Final = re.compile(r"^urn:ietf:params:scim:schemas:core:2\.0:(User|Group):", re.IGNORECASE)
_EXACT: Final = frozenset({"id", "externalid", "value"})
_PATH: Final = re.compile(r"^[A-Za-z$][\w$-]*(\.[A-Za-z$][\w$-]*)?$")


def read_filter(text: str) -> Test:
    """A test for documents; Invalid with the place where the filter cannot be read."""
    if len(text) > _LONGEST:
        raise _unreadable(f"it is longer than {_LONGEST} characters")
    reader = _Reader(_tokens(text))
    found = reader.either(0)
    if reader.left:
        raise _unreadable(f"nothing was expected after it, but {reader.left[0]!r} follows")
    return found


def simple_equality(text: str) -> tuple[str, str] | None:
    """The attribute and the text of `name eq "text"`: what an index answers."""
    try:
        tokens = _tokens(text)
    except Invalid:
        return None
    if len(tokens) == 3 and tokens[1].lower() == "eq" and tokens[2].startswith('"'):
        value = _value(tokens[2])
        return attribute_name(tokens[0]), str(value)
    return None


def attribute_name(path: str) -> str:
    return _URN.sub("", path).lower()


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise _unreadable(f"character {at + 1} is not expected")
        found.append(match.group().strip())
        at = match.end()
    if not found:
        raise _unreadable("it is empty")
    return found


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.left = tokens

    def either(self, depth: int) -> Test:
        tests = [self._both(depth)]
        while self._next_is("or"):
            tests.append(self._both(depth))
        return lambda document: any(test(document) for test in tests)

    def _both(self, depth: int) -> Test:
        tests = [self._single(depth)]
        while self._next_is("and"):
            tests.append(self._single(depth))
        return lambda document: all(test(document) for test in tests)

    def _single(self, depth: int) -> Test:
        if depth > _DEEPEST:
            raise _unreadable("its parentheses are too deep")
        if self._next_is("not"):
            inner = self._single(depth + 1)
            return lambda document: not inner(document)
        if self._next_is("("):
            inside = self.either(depth + 1)
            self._require(")")
            return inside
        path = attribute_name(self._take())
        if not _PATH.match(path):
            raise _unreadable(f"{path!r} is not an attribute")
        if self._next_is("["):
            each = self.either(depth + 1)
            self._require("]")
            return lambda document: any(
                each(item) for item in found_at(document, path) if isinstance(item, Mapping)
            )
        return self._comparison(path)

    def _comparison(self, path: str) -> Test:
        word = self._take().lower()
        if word == "pr":
            return lambda document: any(each not in (None, "") for each in found_at(document, path))
        wanted = _value(self._take())
        if word == "ne":
            equal = _compared("eq", path, wanted)
            return lambda document: not equal(document)
        return _compared(word, path, wanted)

    def _next_is(self, word: str) -> bool:
        if self.left and self.left[0].lower() == word:
            self.left = self.left[1:]
            return True
        return False

    def _require(self, mark: str) -> None:
        if not self._next_is(mark):
            raise _unreadable(f"{mark!r} is missing")

    def _take(self) -> str:
        if not self.left:
            raise _unreadable("it ends too early")
        first, self.left = self.left[0], self.left[1:]
        return first


def _compared(word: str, path: str, wanted: Any) -> Test:
    exact = path.rpartition(".")[2] in _EXACT and path != "emails.value"

    def folded(value: Any) -> Any:
        return value.casefold() if isinstance(value, str) and not exact else value

    told = folded(wanted)
    compare: dict[str, Callable[[Any], bool]] = {
        "eq": lambda value: type(value) is type(told) and value == told,
        "co": lambda value: isinstance(value, str) and str(told) in value,
        "sw": lambda value: isinstance(value, str) and value.startswith(str(told)),
        "ew": lambda value: isinstance(value, str) and value.endswith(str(told)),
        "gt": lambda value: isinstance(value, str) and value > str(told),
        "ge": lambda value: isinstance(value, str) and value >= str(told),
        "lt": lambda value: isinstance(value, str) and value < str(told),
        "le": lambda value: isinstance(value, str) and value <= str(told),
    }
    if word not in compare:
        raise _unreadable(f"{word!r} is not a comparison")
    return lambda document: any(
        compare[word](folded(_plain(each))) for each in found_at(document, path)
    )


def _plain(value: Any) -> Any:
    """`emails eq "a@b"` means the value of each."""
    return value.get("value") if isinstance(value, Mapping) else value


def found_at(document: Document, path: str) -> list[Any]:
    """The values at a path, those inside lists too; names in any case."""
    found: list[Any] = [document]
    for step in path.split("."):
        deeper = []
        for each in found:
            if isinstance(each, Mapping):
                value = next((v for name, v in each.items() if name.lower() == step), None)
                deeper += value if isinstance(value, list) else [value] if value is not None else []
        found = deeper
    return found


def _value(token: str) -> Any:
    if token.lower() in {"true", "false", "null"}:
        token = token.lower()
    try:
        return json.loads(token)
    except ValueError:
        raise _unreadable(f"{token[:50]!r} is not a value; write text in quotes") from None


def _unreadable(reason: str) -> Invalid:
    return Invalid(f"The filter cannot be read: {reason}.", code="invalidFilter")
