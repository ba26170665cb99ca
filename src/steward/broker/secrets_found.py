"""Finds the values of secrets in what a tool returns and takes them out, however they are encoded.

Looked for are the stored values themselves, not the shape of secrets: what merely looks like one, or a column
called "token", is data and stays. (Logs and traces are masked by shape as well, see `steward.trace.redact`.)
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Final
from urllib.parse import quote

from steward.broker._secret_views import View, decoded, joined_lines, views, without_breaks
from steward.core import Invalid
from steward.runs import Json

LEAST_CHARACTERS: Final = 6
"""Shorter values are taken out only where they are a whole string: they occur by chance."""
_HEAD: Final = 6
_LEAST_JOINED: Final = 16
"""Across a line break only longer finds count: short ones happen in columns of numbers."""
_BASE64: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
_LEADING: Final = (0, 2, 3)
"""Base64 characters that hold bits of what precedes a value which begins 0, 1 or 2 bytes into a group."""


@dataclass(frozen=True)
class _Needle:
    content: bytes
    name: str
    is_base64: bool = False
    before: bool = False
    after: bool = False
    """Whether the characters beside a base64 find hold some bits of the value too."""


@dataclass(frozen=True)
class _Find:
    start: int
    end: int
    name: str


class Scrubber:
    """Knows some secrets, by name or numbered, and removes them from any JSON value."""

    def __init__(self, values: Mapping[str, str] | Iterable[str]) -> None:
        if not isinstance(values, Mapping):
            values = {str(number): value for number, value in enumerate(values, 1)}
        self._whole = {value: name for name, value in values.items() if value}
        self._spaced = [value for value in self._whole if len(value.split()) > 1]
        long = {n: v for n, v in values.items() if len(v.strip()) >= LEAST_CHARACTERS}
        self._exact = _Index(each for n, v in long.items() for each in _spelled(n, v))
        # Hexadecimal is written in capitals, in small letters, and mixed: all are looked at as small.
        self._hex = _Index(each for n, v in long.items() for each in _hexadecimal(n, v))

    def scrub(self, value: Json) -> Json:
        """A copy without secrets; each is replaced by `[secret:NAME]`."""
        if not self._whole:
            return value
        try:
            return self._scrubbed(value)
        except RecursionError:
            raise Invalid("This value is nested too deeply to be searched for secrets.") from None

    def text(self, text: str) -> str:
        whole = self._whole.get(text)
        if whole is not None:
            return _mask(whole)
        content = text.encode("utf-8", "surrogatepass")
        finds = self._finds(content)
        if not finds:
            return text
        pieces: list[bytes] = []
        at = 0
        for find in finds:
            pieces += [content[at : find.start], _mask(find.name).encode("utf-8", "surrogatepass")]
            at = find.end
        pieces.append(content[at:])
        return b"".join(pieces).decode("utf-8", "surrogatepass")

    def settled(self, text: str) -> int:
        """How many characters of a text that still grows can be searched and shown.

        Not its last word, which may become a secret, and nothing from where one with spaces may have begun.
        """
        if not self._whole:
            return len(text)
        end = len(text)
        while end and not text[end - 1].isspace():
            end -= 1
        for value in self._spaced:
            start = max(0, len(text) - len(value) + 1)
            while start < end and not value.startswith(text[start:]):
                start += 1
            end = min(end, start)
        return end

    def names_in(self, value: Json) -> frozenset[str]:
        """Which secrets a value holds, for example one that is about to be sent."""
        if isinstance(value, Mapping):
            return frozenset().union(
                *(self.names_in(part) for pair in value.items() for part in pair)
            )
        if isinstance(value, list | tuple):
            return frozenset().union(*(self.names_in(item) for item in value))
        if value is None or isinstance(value, bool):
            return frozenset()
        text = value if isinstance(value, str) else json.dumps(value)
        whole = self._whole.get(text)
        if whole is not None or not isinstance(value, str):
            return frozenset() if whole is None else frozenset({whole})
        finds = self._finds(text.encode("utf-8", "surrogatepass"))
        return frozenset(find.name for find in finds)

    def _scrubbed(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self._scrubbed_object(value)
        if isinstance(value, list | tuple):
            return [self._scrubbed(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            whole = self._whole.get(json.dumps(value))
            return value if whole is None else _mask(whole)
        return value

    def _scrubbed_object(self, value: Mapping[str, Any]) -> dict[str, Any]:
        clean: dict[str, Any] = {}
        for key, item in value.items():
            name = shown = self.text(str(key))
            number = 1
            while shown in clean:  # two keys that held one secret stay two
                number += 1
                shown = f"{name} ({number})"
            clean[shown] = self._scrubbed(item)
        return clean

    def _finds(self, content: bytes) -> list[_Find]:
        """Spans of the text to take out: in order, none overlapping another."""
        if len(content) < LEAST_CHARACTERS:  # no encoding is shorter than its value
            return []
        found: list[_Find] = []
        last: View | None = None
        for view in views(content):
            found += self._search(view)
            last = view
        joined = without_breaks(last) if last else None
        if joined is not None:
            found += self._search(joined, least=_LEAST_JOINED)
        merged: list[_Find] = []
        for find in sorted(found, key=lambda each: (each.start, -each.end)):
            if merged and find.start < merged[-1].end:
                kept = merged[-1]
                merged[-1] = _Find(kept.start, max(kept.end, find.end), kept.name)
            else:
                merged.append(find)
        return merged

    def _search(self, view: View, least: int = 0) -> Iterator[_Find]:
        lowered = view.content.lower()
        for index, content in ((self._exact, view.content), (self._hex, lowered)):
            for start, needle in index.search(content):
                if len(needle.content) < least:
                    continue
                begin, end = _with_edges(view.content, start, needle)
                yield _Find(*view.origin(begin, end), needle.name)


class _Index:
    """Many needles sought in one pass: a pattern finds their first bytes, a table says which they are."""

    def __init__(self, needles: Iterable[_Needle]) -> None:
        self._by_head: dict[bytes, list[_Needle]] = {}
        for needle in dict.fromkeys(needles):
            self._by_head.setdefault(needle.content[:_HEAD], []).append(needle)
        for needles_of_head in self._by_head.values():
            needles_of_head.sort(key=lambda each: -len(each.content))
        heads = sorted(self._by_head)
        self._pattern = re.compile(_alternatives(heads), re.DOTALL) if heads else None

    def search(self, content: bytes) -> Iterator[tuple[int, _Needle]]:
        if self._pattern is None:
            return
        at = 0
        while (match := self._pattern.search(content, at)) is not None:
            at = match.start() + 1
            for needle in self._by_head[match[0]]:
                if content.startswith(needle.content, match.start()):
                    yield match.start(), needle
                    at = match.start() + max(1, len(needle.content) - _HEAD)
                    break


def _alternatives(heads: list[bytes]) -> bytes:
    """A pattern that branches byte by byte, so that its cost hardly grows with the number of needles."""
    if len(heads) == 1:
        return re.escape(heads[0])
    branches: dict[bytes, list[bytes]] = {}
    for head in heads:
        branches.setdefault(head[:1], []).append(head[1:])
    parts = [re.escape(first) + _alternatives(rests) for first, rests in branches.items() if first]
    return b"(?:" + b"|".join(parts) + b")"


def _with_edges(content: bytes, start: int, needle: _Needle) -> tuple[int, int]:
    end = start + len(needle.content)
    if not needle.is_base64:
        return start, end
    if needle.before and start > 0 and content[start - 1] in _BASE64:
        start -= 1
    if needle.after and end < len(content) and content[end] in _BASE64:
        end += 1
    while end < len(content) and content[end] == ord("="):
        end += 1
    return start, end


def _spelled(name: str, value: str) -> Iterator[_Needle]:
    for form in _forms(value):
        for plain in decoded(form):
            if len(plain) >= LEAST_CHARACTERS:
                yield _Needle(plain, name)
        yield from _base64(name, form)


def _forms(value: str) -> Iterator[bytes]:
    """How a value may be written before it is encoded further, so that no view can see through."""
    stripped = value.strip()
    texts = dict.fromkeys(
        text
        for each in (value, stripped)
        for text in (
            each,
            json.dumps(each)[1:-1],
            json.dumps(each, ensure_ascii=False)[1:-1],
            quote(each, safe="", errors="replace"),
            each.replace(" ", "+"),
            escape(each),
            joined_lines(each),
        )
    )
    for text in texts:
        if len(text) >= LEAST_CHARACTERS:
            yield text.encode("utf-8", "surrogatepass")


def _base64(name: str, form: bytes) -> Iterator[_Needle]:
    """The characters that depend on the value alone, for each way it can lie in groups of three bytes."""
    for shift, leading in enumerate(_LEADING):
        bits = (shift + len(form)) * 8
        whole = base64.b64encode(b"\0" * shift + form)[leading : bits // 6]
        for content in dict.fromkeys((whole, whole.translate(bytes.maketrans(b"+/", b"-_")))):
            yield _Needle(content, name, is_base64=True, before=shift > 0, after=bits % 6 != 0)


def _hexadecimal(name: str, value: str) -> Iterator[_Needle]:
    for form in _forms(value):
        yield _Needle(form.hex().encode(), name)


def _mask(name: str) -> str:
    return f"[secret:{name}]"
