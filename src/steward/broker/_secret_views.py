"""Text seen through its escapes: each view takes one more layer off and knows which bytes it came from."""

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

LAYERS: Final = 3
"""How many escapes inside one another are looked through: JSON in a URL in JSON."""

_ESCAPE = re.compile(
    rb"%(?P<percent>[0-9a-fA-F]{2})"
    rb"|\\+u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\+u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|\\+u(?P<unicode>[0-9a-fA-F]{4})"
    rb"|\\+u\{(?P<braced>[0-9a-fA-F]{1,6})\}"
    rb"|\\+x(?P<hex>[0-9a-fA-F]{2})"
    rb"|\\(?P<short>[\"'\\/bfnrt])"
    rb"|&\#[xX]0*(?P<entity_hex>[0-9a-fA-F]{1,6});?"
    rb"|&\#0*(?P<entity>[0-9]{1,7});?"
    rb"|&(?P<named>[A-Za-z][A-Za-z0-9]{1,30});"
)
_SHORT: Final = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_BREAK = re.compile(rb"[ \t]*[\r\n]+[ \t]*")
_MOST_CODE: Final = 0x10FFFF


@dataclass(frozen=True)
class View:
    """Bytes in segments; each was copied from the view below or stands for an escape there."""

    content: bytes
    below: "View | None" = None
    starts: tuple[int, ...] = ()
    origins: tuple[int, ...] = ()
    """Where each segment begins here and below; one more at the end for the end itself."""
    copied: tuple[bool, ...] = ()

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The bytes of the original text behind a span; an escape is taken whole."""
        if self.below is None:
            return start, end
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, end - 1) - 1
        begin = self.origins[first] + (start - self.starts[first] if self.copied[first] else 0)
        if self.copied[last]:
            finish = self.origins[last] + end - self.starts[last]
        else:
            finish = self.origins[last + 1]
        return self.below.origin(begin, finish)


def views(content: bytes) -> Iterator[View]:
    """The text as it stands, then with one layer of escapes after the other taken off."""
    view = View(content)
    yield view
    for _ in range(LAYERS):
        further = _rewritten(view, _ESCAPE, _decoded)
        if further is None:
            return
        view = further
        yield view


def without_breaks(view: View) -> View | None:
    """The view with its lines joined, as encoders break long output; None when it is one line."""
    return _rewritten(view, _BREAK, lambda _: b"")


def joined_lines(text: str) -> str:
    """A value as it looks in such a view."""
    content = text.encode("utf-8", "surrogatepass")
    return _BREAK.sub(b"", content).decode("utf-8", "surrogatepass")


def decoded(content: bytes) -> Iterator[bytes]:
    """What becomes of a text layer by layer, itself first."""
    for view in views(content):
        yield view.content


def _rewritten(
    view: View, pattern: re.Pattern[bytes], replace: Callable[[re.Match[bytes]], bytes | None]
) -> View | None:
    content = view.content
    pieces: list[bytes] = []
    starts, origins, copied = [], [], []
    length = at = 0
    for match in pattern.finditer(content):
        stands_for = replace(match)
        if stands_for is None:
            continue
        for piece, origin, is_copy in (
            (content[at : match.start()], at, True),
            (stands_for, match.start(), False),
        ):
            pieces.append(piece)
            starts.append(length)
            origins.append(origin)
            copied.append(is_copy)
            length += len(piece)
        at = match.end()
    if not pieces:
        return None
    pieces.append(content[at:])
    return View(
        b"".join(pieces),
        view,
        (*starts, length),
        (*origins, at),
        (*copied, True),
    )


def _decoded(match: re.Match[bytes]) -> bytes | None:
    kind = match.lastgroup
    found = match[kind] if kind else b""
    match kind:
        case "percent" | "hex":
            return bytes([int(found, 16)])
        case "low":
            high, low = int(match["high"], 16), int(found, 16)
            return _character(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        case "unicode" | "braced" | "entity_hex":
            return _character(int(found, 16))
        case "entity":
            return _character(int(found))
        case "short":
            return _SHORT.get(found, found)
        case _:
            text = match[0].decode()
            character = html.unescape(text)
            return None if character == text else character.encode()


def _character(code: int) -> bytes | None:
    return chr(code).encode("utf-8", "surrogatepass") if code <= _MOST_CODE else None
