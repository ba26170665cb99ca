"""The one reader of YAML and JSON that people, models and other programs wrote.

It reads the part of YAML that is JSON: no anchors, no tags, no duplicate keys, and `no` is a word. Size, depth
and the number of values are limited, so that no text keeps a thread busy, and every refusal names its place.
"""

import datetime as dt
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml  # type: ignore[import-untyped]

from steward.core.errors import Invalid, Problem, TooLarge

LARGEST: Final = 1_000_000
"""Characters of a document, unless its reader says otherwise."""
DEEPEST: Final = 100
"""Lists and objects within one another."""
MOST_VALUES: Final = 100_000

# libyaml where it is there; both give the same events, and only events are taken from them: the
# composers that come with them recurse.
_PARSER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DIGITS: Final = 300
_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_DECIMAL: Final = re.compile(r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT: Final = re.compile(
    rf"{_DATE.pattern}[Tt ][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:\.[0-9]{{1,6}})?(?:Z|[-+][0-9]{{2}}:?[0-9]{{2}})?"
)
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
# The closing quote may be missing, or each quote of a text without its end would be tried again.
_JSON_TEXT: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))


class Unreadable(Invalid):
    """A text that cannot be read; `line` and `column` start at 1."""

    code = "unreadable"

    def __init__(self, kind: str, line: int, column: int, reason: str) -> None:
        said = f"line {line}, column {column}: {reason}"
        super().__init__(f"This {kind} cannot be read: {said}.", problems=[Problem("", said)])
        self.line = line
        self.column = column
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Part:
    """A value of a YAML document with its place: text as it is written, or parts within it."""

    line: int
    column: int
    content: "str | dict[str, Part] | list[Part]"
    plain: bool = True
    """Written without quotes, so that `true` and `3` may mean what they look like."""
    flow: bool = False
    """Written in [ ] or { }."""
    key_line: int = 0

    def text(self) -> str | None:
        return self.content if isinstance(self.content, str) else None

    def mapping(self) -> "dict[str, Part] | None":
        return self.content if isinstance(self.content, dict) else None

    def data(self, *, dates: bool = False) -> Any:
        """As JSON would have it; with `dates`, days and moments written without quotes are no texts."""
        if isinstance(self.content, dict):
            return {name: part.data(dates=dates) for name, part in self.content.items()}
        if isinstance(self.content, list):
            return [part.data(dates=dates) for part in self.content]
        if not self.plain:
            return self.content
        found = _date(self.content) if dates else None
        return _scalar(self.content) if found is None else found


@dataclass(frozen=True)
class Lined:
    """A document with the line on which each of its parts begins, by JSON pointer."""

    value: Any
    lines: dict[str, int]

    def line(self, pointer: str) -> int:
        """Where a part stands; for one that is missing, where it should."""
        while pointer not in self.lines and pointer:
            pointer = pointer.rpartition("/")[0]
        return self.lines.get(pointer, 1)


def read_yaml(text: str, *, largest: int = LARGEST, first_line: int = 1) -> Any:
    """The value of a YAML document, which may be JSON; `Unreadable` says where it goes wrong."""
    found = parse_yaml(text, largest=largest, first_line=first_line)
    return None if found is None else found.data()


def read_lined(text: str, *, largest: int = LARGEST) -> Lined:
    """The value of a YAML document and the lines of its parts."""
    found = parse_yaml(text, largest=largest)
    if found is None:
        return Lined(None, {"": 1})
    return Lined(found.data(), dict(_lines(found, "")))


def parse_yaml(text: str, *, largest: int = LARGEST, first_line: int = 1) -> Part | None:
    """The parts of a YAML document with their places; None if there is nothing in it."""
    _require_size(text, largest)
    composer = _Composer(first_line)
    try:
        for event in yaml.parse(text.encode(), Loader=_PARSER):
            composer.take(event)
    except UnicodeEncodeError as problem:
        raise _at(text[: problem.start], first_line, "this character is no text") from None
    except yaml.reader.ReaderError as problem:
        before = text.encode()[: problem.position].decode(errors="ignore")
        raise _at(before, first_line, "this character is not allowed in a text") from None
    except yaml.YAMLError as problem:
        raise _refused(problem, text, first_line) from None
    return composer.found


def dump_yaml(document: Any, *, flow: bool | None = False) -> str:
    """The document as text that `read_yaml` reads as the same; `flow` None puts what is short on one line."""
    text: str = yaml.dump(
        document,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
        default_flow_style=flow,
    )
    return text


def read_json(text: str | bytes, *, largest: int = LARGEST) -> Any:
    """The value of a JSON document: no duplicate keys, no NaN; `Unreadable` says where it goes wrong."""
    _require_size(text, largest)
    try:
        known = text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError as problem:
        before = text[: problem.start].decode(errors="ignore") if isinstance(text, bytes) else ""
        raise _at(before, 1, "this is not UTF-8", "JSON") from None
    require_bounded(known)
    try:
        return json.loads(known, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as problem:
        raise Unreadable("JSON", problem.lineno, problem.colno, problem.msg) from None
    except ValueError as problem:
        raise Unreadable("JSON", 1, 1, str(problem)) from None


def require_unique_keys(text: bytes) -> None:
    """Refuses JSON that names a key twice in one object: readers differ in which of the two they take.

    Numbers of thousands of digits are refused, too.
    """
    # Most bodies are small. What is no JSON at all is told by whoever reads it.
    try:
        json.loads(text, object_pairs_hook=_unique, parse_int=_short)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return
    except ValueError as problem:
        raise Unreadable("JSON", 1, 1, str(problem)) from None


def require_bounded(
    text: str | bytes, *, deepest: int = DEEPEST, most_values: int = MOST_VALUES
) -> None:
    """Refuses JSON with too much in one another or too many values, without parsing it.

    Everything behind may then recurse, and takes no longer than a moment.
    """
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    # Readers guess an encoding from the first bytes. In another one, half a letter could pass for a quote here.
    if not json.detect_encoding(content).startswith("utf-8"):
        raise Unreadable("JSON", 1, 1, "this is not UTF-8")
    if _marks(content) <= min(deepest, most_values):
        return
    # Each step goes over the whole at once: a loop over its characters would take the time that it is to save.
    most_texts = 2 * most_values + 1
    content, texts = _JSON_TEXT.subn(b"", content, count=most_texts)
    if texts == most_texts or _marks(content) > most_values:
        raise Unreadable("JSON", 1, 1, _too_many(most_values))
    brackets = content.translate(_SQUARE, _NO_BRACKETS)
    for _ in range(deepest):
        brackets = brackets.replace(b"[]", b"")
    # What is left has no pairs, unless it goes deeper; brackets that are never closed count, too.
    if b"[]" in brackets or brackets.count(b"[") > deepest:
        raise Unreadable("JSON", 1, 1, _too_deep(deepest))


def _marks(content: bytes) -> int:
    """How many values there are at most: each but the first follows a bracket or a comma."""
    return content.count(b"[") + content.count(b"{") + content.count(b",")


@dataclass(slots=True)
class _Open:
    """A list or mapping around the current place; `key` waits for its value: its name and line."""

    part: Part
    key: tuple[str, int] | None = None


class _Composer:
    """Puts events together without recursion, and refuses what has no place in a document."""

    def __init__(self, first_line: int) -> None:
        self._first_line = first_line
        self._open: list[_Open] = []
        self._values = 0
        self._documents = 0
        self.found: Part | None = None

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._refuse_unusual(event)
            self._add(self._scalar(event))
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            self._refuse_unusual(event)
            content: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
            line, column = self._place(event)
            part = Part(
                line, column, content, flow=bool(event.flow_style), key_line=self._key_line(line)
            )
            if len(self._open) >= DEEPEST:
                raise self._refusal(event, _too_deep(DEEPEST))
            self._open.append(_Open(part))
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            self._add(self._open.pop().part)
        elif isinstance(event, yaml.AliasEvent):
            self._refuse_unusual(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise self._refusal(event, "a second document begins here; there can be only one")

    def _scalar(self, event: Any) -> Part:
        value: str = event.value
        plain = event.style in (None, "")
        if _UNSTORABLE.search(value):
            raise self._refusal(event, "a text cannot hold NUL or unpaired surrogates")
        if plain and not _is_finite(value):
            raise self._refusal(event, "numbers are finite and not too large")
        line, column = self._place(event)
        return Part(line, column, value, plain, key_line=self._key_line(line))

    def _add(self, part: Part) -> None:
        if not self._open:
            self.found = part
            return
        around = self._open[-1]
        content = around.part.content
        if isinstance(content, list):
            content.append(part)
        elif isinstance(content, dict) and around.key is None:
            name = part.text()
            if name is None or name in content:
                reason = "a key is a text" if name is None else f"{name!r} is there twice"
                raise Unreadable("YAML", part.line, part.column, reason)
            around.key = (name, part.line)
        elif isinstance(content, dict) and around.key is not None:
            content[around.key[0]] = part
            around.key = None

    def _key_line(self, line: int) -> int:
        key = self._open[-1].key if self._open else None
        return line if key is None else key[1]

    def _refuse_unusual(self, event: Any) -> None:
        self._values += 1
        if self._values > MOST_VALUES:
            raise self._refusal(event, _too_many(MOST_VALUES))
        # Anchors would let a small text become a huge document.
        if getattr(event, "anchor", None):
            raise self._refusal(event, "anchors (&, *) are not allowed; write the value out")
        if getattr(event, "tag", None) is not None:
            raise self._refusal(event, "tags (!) are not allowed")

    def _place(self, event: Any) -> tuple[int, int]:
        mark = event.start_mark
        return self._first_line + mark.line, mark.column + 1

    def _refusal(self, event: Any, reason: str) -> Unreadable:
        return Unreadable("YAML", *self._place(event), reason)


def _refused(problem: Any, text: str, first_line: int) -> Unreadable:
    said = str(getattr(problem, "problem", None) or "this is not YAML")
    mark = getattr(problem, "problem_mark", None) or getattr(problem, "context_mark", None)
    lines = text.split("\n")
    # The end of a text may be told as a line that is not there.
    if mark is None or mark.line >= len(lines):
        return _at(text, first_line, said)
    return Unreadable("YAML", first_line + mark.line, mark.column + 1, said)


_ODD_LINE_END = re.compile("[\x85\u2028\u2029]")


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _represent_text(dumper: Any, text: str) -> Any:
    # Other line ends would be read back as ordinary ones unless they are escaped.
    style = '"' if _ODD_LINE_END.search(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)
# A text that this reader would take for a number is quoted, also where older YAML would not.
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(f"^(?:{_DECIMAL.pattern})$"), list("-+0123456789")
)


def _scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text


def _is_finite(text: str) -> bool:
    """False for a number that no program can keep; every other text is fine."""
    if not (_WHOLE.fullmatch(text) or _DECIMAL.fullmatch(text)):
        return True
    return len(text) <= _DIGITS and math.isfinite(float(text))


def _date(text: str) -> dt.date | None:
    try:
        if _DATE.fullmatch(text):
            return dt.date.fromisoformat(text)
        return dt.datetime.fromisoformat(text.upper()) if _MOMENT.fullmatch(text) else None
    except ValueError:
        return None


def _lines(part: Part, at: str) -> Iterator[tuple[str, int]]:
    yield at, part.key_line
    if isinstance(part.content, dict):
        for name, inner in part.content.items():
            escaped = name.replace("~", "~0").replace("/", "~1")
            yield from _lines(inner, f"{at}/{escaped}")
    elif isinstance(part.content, list):
        for index, inner in enumerate(part.content):
            yield from _lines(inner, f"{at}/{index}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counted = Counter(name for name, _ in pairs)
        twice = counted.most_common(1)[0][0]
        raise ValueError(f"the key {twice[:100]!r} is there twice in one object")
    return found


def _short(number: str) -> int:
    """Its reader takes the square of its digits in time; what it is does not matter here."""
    if len(number) > _DIGITS:
        raise ValueError(f"a number has at most {_DIGITS} digits")
    return 0


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not a JSON value")


def _require_size(text: str | bytes, largest: int) -> None:
    if len(text) > largest:
        unit = "characters" if isinstance(text, str) else "bytes"
        raise TooLarge(f"The document is too long: at most {largest:,} {unit} are read.")


def _too_deep(deepest: int) -> str:
    return f"lists and objects are nested more than {deepest} deep"


def _too_many(most: int) -> str:
    return f"a document has at most {most:,} values"


def _at(before: str, first_line: int, reason: str, kind: str = "YAML") -> Unreadable:
    line = before.count("\n")
    return Unreadable(kind, first_line + line, len(before) - before.rfind("\n"), reason)
