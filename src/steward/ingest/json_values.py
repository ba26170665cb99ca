"""Parses JSON texts into records with their lines, exactly: no number is rounded, no key dropped."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from steward.core import Invalid, NotFound, TooLarge
from steward.ingest.findings import Encoding, Note, TableListing
from steward.ingest.job import Job
from steward.ingest.nesting import Number, dump
from steward.ingest.records import decoded, lines_of

_DOCUMENT_MB = 256
_SPACE = re.compile(r"[ \t\r\n]*")


class _Refused(ValueError):
    """A value that is valid for some parsers but not JSON, or not exactly kept."""


def _no_constant(text: str) -> object:
    raise _Refused(f"{text} is no JSON number")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        repeated = next(name for name, count in Counter(n for n, _ in pairs).items() if count > 1)
        raise _Refused(f"the key {repeated[:80]!r} appears twice in one object")
    return value


_DECODER = json.JSONDecoder(
    parse_int=Number, parse_float=Number, parse_constant=_no_constant, object_pairs_hook=_object
)


class Item(NamedTuple):
    line: int
    value: object
    raw: str
    problem: str | None = None


@dataclass
class Document:
    """A JSON text opened for reading: its records, and the tables it offers."""

    items: Iterable[Item]
    layout: str
    tables: tuple[TableListing, ...] = ()
    table: str | None = None
    notes: list[Note] = field(default_factory=list)


def open_document(job: Job, encoding: Encoding) -> Document:
    """Finds out how the file lays out its records; they are read as they are asked for."""
    pieces = (piece for piece in decoded(job.path, encoding.name) if piece)
    head = ""
    for piece in pieces:
        head = (head + piece).removeprefix("\ufeff")
        if "\n" in head.lstrip() or len(head) > 1 << 20:
            break
    start = head.lstrip()[:1]
    if not start:
        raise Invalid(f"{job.name!r} has no record: it is blank.", code="empty")
    if start == "[":
        return Document(_array_items(job, chain((head,), pieces)), "array")
    further = next(pieces, "")
    if _is_lines(head, further):
        return Document(_line_items(chain((head, further), pieces)), "lines")
    return _whole_document(job, head + further, pieces)


def _is_lines(head: str, further: str) -> bool:
    """Whether the first line is a value by itself and another follows."""
    first, _, rest = head.lstrip().partition("\n")
    if not (rest + further).strip():
        return False
    try:
        _DECODER.decode(first)
    except _Refused:
        return True
    except (ValueError, RecursionError):
        # A broken first line does not make the lines below it anything else.
        second = rest.lstrip().partition("\n")[0]
        return second.startswith("{") and second.rstrip().endswith("}")
    return True


def _line_items(pieces: Iterable[str]) -> Iterator[Item]:
    for line in lines_of(pieces):
        text = line.text.strip()
        if not text:
            continue
        try:
            value = _DECODER.decode(text)
        except _Refused as problem:
            yield Item(line.number, None, line.text, str(problem))
        except RecursionError:
            yield Item(line.number, None, line.text, "is nested too deeply")
        except ValueError as problem:
            where = problem.colno if isinstance(problem, json.JSONDecodeError) else 1
            yield Item(line.number, None, line.text, f"is not valid JSON at character {where}")
        else:
            yield Item(line.number, value, line.text)


def _array_items(job: Job, pieces: Iterator[str]) -> Iterator[Item]:
    reader = _ArrayReader(job, pieces)
    reader.expect("[")
    if reader.peek() == "]":
        reader.expect("]")
    else:
        while True:
            yield reader.item()
            if reader.peek() != ",":
                break
            reader.expect(",")
        reader.expect("]")
    if reader.peek():
        raise reader.broken("something follows the end of the array")


class _ArrayReader:
    """Reads the items of an array one by one, holding no more of it than one item needs."""

    def __init__(self, job: Job, pieces: Iterator[str]) -> None:
        self._name = job.name
        self._longest = job.limits.record_mb << 20
        self._pieces = pieces
        self._text = ""
        self._at = 0
        self._line = 1
        self._counted = 0

    def _here(self) -> int:
        """The line at which reading stands; every character is counted once."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _more(self, characters: int) -> bool:
        """Reads on until so many characters lie ahead; false at the end of the file."""
        self._here()
        parts, length = [self._text[self._at :]], len(self._text) - self._at
        self._at = self._counted = 0
        found = False
        while length < characters:
            piece = next(self._pieces, None)
            if piece is None:
                break
            parts.append(piece)
            length += len(piece)
            found = found or bool(piece)
        self._text = "".join(parts)
        return found

    def peek(self) -> str:
        """The next character that is no space; empty at the end of the file."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(1):
                return ""

    def expect(self, character: str) -> None:
        found = self.peek()
        if found != character:
            raise self.broken(f"{character!r} is expected" if found else "it ends too early")
        self._at += 1

    def item(self) -> Item:
        if not self.peek():
            raise self.broken("it ends too early")
        while True:
            line = self._here()
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except _Refused as problem:
                raise self.broken(str(problem)) from problem
            except RecursionError as problem:
                raise self.broken("it is nested too deeply") from problem
            except ValueError as problem:
                ahead = len(self._text) - self._at
                if ahead > self._longest or not self._more(max(ahead * 2, 1 << 16)):
                    raise self.broken("it is not valid JSON, or cut short") from problem
                continue
            # A number at the end of what was read may go on.
            if end == len(self._text) and self._more(end - self._at + 1):
                continue
            raw = self._text[self._at : end]
            self._at = end
            return Item(line, value, raw)

    def broken(self, why: str) -> Invalid:
        return Invalid(
            f"{self._name!r} cannot be read as JSON: near line {self._here()}, {why}.",
            code="damaged",
        )


def _whole_document(job: Job, head: str, pieces: Iterator[str]) -> Document:
    """One object: a record by itself, or a wrapper around lists of records."""
    if job.path.stat().st_size > _DOCUMENT_MB << 20:
        raise TooLarge(
            f"{job.name!r} is one JSON object of more than {_DOCUMENT_MB} MB; "
            "save its records one a line.",
            code="document-too-large",
        )
    reader = _ArrayReader(job, iter((head + "".join(pieces),)))
    first = reader.item()
    if reader.peek():
        return Document(_sequence(reader, first), "values")
    value = first.value
    lists: dict[str, list[object]] = {}
    if isinstance(value, dict):
        lists = {
            name: inner
            for name, inner in value.items()
            if isinstance(inner, list) and inner and all(isinstance(i, dict) for i in inner)
        }
    if not isinstance(value, dict) or not lists:
        return Document((first,), "document")
    return _inner_table(job, value, lists)


def _sequence(reader: _ArrayReader, first: Item) -> Iterator[Item]:
    yield first
    while reader.peek():
        yield reader.item()


def _inner_table(job: Job, value: dict[str, object], lists: dict[str, list[object]]) -> Document:
    chosen = job.options.table or next(iter(lists))
    if chosen not in lists:
        raise NotFound(
            f"There is no list {chosen[:80]!r} in {job.name!r}; there are {', '.join(lists)}."
        )
    rest = [name for name in value if name != chosen]
    notes = []
    if rest:
        message = f"Only the list {chosen!r} is read; beside it stand {', '.join(rest)[:200]}."
        notes.append(Note("beside-the-table", message))
    items = (Item(i, row, dump(row)) for i, row in enumerate(lists[chosen], start=1))
    listing = tuple(TableListing(name, rows=len(rows)) for name, rows in lists.items())
    return Document(items, "document", listing, chosen, notes)
