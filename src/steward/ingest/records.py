"""Splits delimited text into records, exactly and with line numbers, however odd the file is.

A field without quotes that is empty is null; a quoted empty field is an empty text. A quote in the
middle of an unquoted field is an ordinary character. What cannot be split is a record with a
problem, never nothing.
"""

import codecs
import re
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from steward.core import TooLarge
from steward.ingest.findings import Dialect

_CHUNK = 1 << 20
_LONGEST_LINE = 256 << 20
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_MARKED = re.compile("[\ud800-\udfff]")
_HANDLER = "steward.ingest.mark"


class Record(NamedTuple):
    line: int
    fields: list[str | None] | None
    """None where the record could not be split."""
    raw: str
    problem: str | None = None


class Line(NamedTuple):
    number: int
    text: str
    end: str


def _mark(error: UnicodeError) -> tuple[str, int]:
    """Bytes that an encoding does not know become lone surrogates, which no text contains."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    bad = error.object[error.start : error.end]
    return "".join(chr(0xDC00 + byte) for byte in bad), error.end


codecs.register_error(_HANDLER, _mark)


def decoded(path: Path, encoding: str, limit: int | None = None) -> Iterator[str]:
    """The text of a file in pieces; bytes that do not decode are marked, not dropped."""
    decoder = codecs.getincrementaldecoder(encoding)(_HANDLER)
    left = limit
    with path.open("rb") as file:
        while data := file.read(_CHUNK if left is None else min(_CHUNK, left)):
            if left is not None:
                left -= len(data)
            yield decoder.decode(data)
            if left == 0:
                # What follows the limit is unknown: a character cut in two is no bad byte.
                return
        yield decoder.decode(b"", final=True)


def decode_marked(data: bytes) -> str:
    """UTF-8 as text, with bytes that are none marked."""
    return data.decode("utf-8", _HANDLER)


def has_marks(text: str) -> bool:
    return not text.isascii() and _MARKED.search(text) is not None


def unmarked(text: str) -> str:
    """A text in which undecodable bytes are written as `\\xNN`."""
    return _MARKED.sub(
        lambda match: (
            f"\\x{ord(match[0]) - 0xDC00:02x}"
            if 0xDC00 <= ord(match[0]) <= 0xDCFF
            else f"\\u{ord(match[0]):04x}"
        ),
        text,
    )


def lines_of(pieces: Iterable[str], first: int = 1) -> Iterator[Line]:
    """Physical lines; `\\n`, `\\r\\n` and `\\r` all end one."""
    number, pending, length = first, [""], 0
    for piece in pieces:
        if not pending[-1].endswith("\r") and "\n" not in piece and "\r" not in piece:
            # Joining only at a line end keeps a very long line from being copied again and again.
            pending.append(piece)
            length += len(piece)
            if length > _LONGEST_LINE:
                raise TooLarge(
                    f"Line {number} is longer than {_LONGEST_LINE:,} characters; is this a table?",
                    code="record-too-long",
                )
            continue
        text = "".join(pending) + piece
        position = 0
        if "\r" not in text:
            *whole, rest = text.split("\n")
            for line in whole:
                yield Line(number, line, "\n")
                number += 1
            position = len(text) - len(rest)
        else:
            for match in _LINE_ENDS.finditer(text):
                if match.end() == len(text) and match[0] == "\r":
                    # The next piece may begin with the other half of this line end.
                    break
                yield Line(number, text[position : match.start()], match[0])
                number += 1
                position = match.end()
        pending, length = [text[position:]], len(text) - position
    rest = "".join(pending)
    if rest.endswith("\r"):
        yield Line(number, rest[:-1], "\r")
    elif rest:
        yield Line(number, rest, "")


class _Splitter:
    """Splits one record that contains quotes, line by line, in time linear in its length."""

    def __init__(self, dialect: Dialect) -> None:
        self._delimiter = dialect.delimiter
        self._quote = dialect.quote or ""
        self._backslash = dialect.escape if dialect.escape not in (None, dialect.quote) else None
        self.fields: list[str | None] = []
        self.problem: str | None = None
        self._open: list[str] | None = None

    def feed(self, text: str) -> bool:
        """Takes one line; whether the record is complete."""
        position = 0
        while True:
            if self._open is None:
                if not text.startswith(self._quote, position):
                    end = text.find(self._delimiter, position)
                    field = text[position:] if end < 0 else text[position:end]
                    self.fields.append(field or None)
                    if end < 0:
                        return True
                    position = end + len(self._delimiter)
                    continue
                self._open = []
                position += 1
            closing = self._closing(text, position)
            if closing is None:
                return False
            position = self._past_blanks(text, closing)
            if position == len(text):
                return True
            if not text.startswith(self._delimiter, position):
                self.problem = "text follows a closing quote"
                return True
            position += len(self._delimiter)

    def _past_blanks(self, text: str, position: int) -> int:
        """Blanks between a closing quote and what ends the field say nothing."""
        while text.startswith(" ", position) and self._delimiter != " ":
            position += 1
        return position

    def feed_end(self, end: str) -> None:
        """Takes the line end inside an open field."""
        if self._open is not None:
            self._open.append(end)

    def _closing(self, text: str, position: int) -> int | None:
        """Reads on in a quoted field; where it ends, or none if the line ends first."""
        parts = self._open if self._open is not None else []
        quote = self._quote
        while True:
            end = text.find(quote, position)
            if self._backslash is not None:
                slash = text.find(self._backslash, position)
                if slash >= 0 and (end < 0 or slash < end):
                    escaped = text[slash + 1 : slash + 2]
                    keep = (
                        escaped if escaped in (quote, self._backslash) else text[slash : slash + 2]
                    )
                    parts.append(text[position:slash] + keep)
                    position = slash + 2
                    continue
            if end < 0:
                parts.append(text[position:])
                return None
            if text.startswith(quote, end + 1):
                parts.append(text[position : end + 1])
                position = end + 2
                continue
            parts.append(text[position:end])
            self.fields.append("".join(parts))
            self._open = None
            return end + 1


class Records:
    """The records of a delimited text; after iterating, `blank_lines` and `problems` are known."""

    def __init__(
        self,
        lines: Iterable[Line],
        dialect: Dialect,
        longest: int,
        *,
        keep_blank: bool = False,
        cut: bool = False,
    ) -> None:
        self._lines = iter(lines)
        self._dialect = dialect
        self._longest = longest
        self._keep_blank = keep_blank
        self._cut = cut
        """Whether the text was cut off, so that the last record may be half a one."""
        self._ahead: deque[Line] = deque()
        self.blank_lines = 0

    def _next(self) -> Line | None:
        return self._ahead.popleft() if self._ahead else next(self._lines, None)

    def __iter__(self) -> Iterator[Record]:
        delimiter, quote, longest = self._dialect.delimiter, self._dialect.quote, self._longest
        while (line := self._next()) is not None:
            text = line.text
            if self._cut and not line.end:
                return
            if not text:
                if not self._keep_blank:
                    self.blank_lines += 1
                    continue
                yield Record(line.number, [None], "")
            elif len(text) > longest:
                yield Record(
                    line.number, None, text, f"the line is longer than {longest} characters"
                )
            elif quote and quote in text:
                record = self._quoted(line)
                if record is None:
                    return
                yield record
            else:
                yield Record(line.number, [f or None for f in text.split(delimiter)], text)

    def _quoted(self, first: Line) -> Record | None:
        splitter = _Splitter(self._dialect)
        taken = [first]
        size = len(first.text)
        line = first
        while not splitter.feed(line.text):
            following = self._next()
            if following is None or size > self._longest:
                if following is None and self._cut:
                    return None
                # The quote never closes. Only its own line is given up: the others are read anew.
                if following is not None:
                    taken.append(following)
                self._ahead.extendleft(reversed(taken[1:]))
                return Record(first.number, None, first.text, "a quote is opened and never closed")
            splitter.feed_end(line.end)
            taken.append(following)
            size += len(following.text)
            line = following
        raw = "".join(part.text + part.end for part in taken[:-1]) + taken[-1].text
        if splitter.problem:
            return Record(first.number, None, raw, splitter.problem)
        return Record(first.number, splitter.fields, raw)
