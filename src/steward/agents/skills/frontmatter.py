"""Reads the head of SKILL.md: the plain part of YAML, every value with its line, every mistake with its place."""

import re
from dataclasses import dataclass
from typing import Any, Final

import yaml  # type: ignore[import-untyped]

from steward.agents.skills.model import SKILL_FILE, Fault

_FENCE: Final = "---"
_DEEPEST: Final = 30
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,17}")
_WORDS: Final = {"true": True, "false": False, "null": None, "~": None, "": None}


class Unreadable(Exception):
    """The text cannot be read any further."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message

    def at(self, path: str) -> Fault:
        return Fault(path, self.line, self.message)


@dataclass(frozen=True)
class Value:
    """A value of the head: text, or mappings and lists of values; with the line where it begins."""

    line: int
    content: "str | dict[str, Value] | list[Value]"
    plain: bool = True
    """Written without quotes, so that `true` and `3` may mean what they look like."""
    key_line: int = 0

    def text(self) -> str | None:
        return self.content if isinstance(self.content, str) else None

    def mapping(self) -> "dict[str, Value] | None":
        return self.content if isinstance(self.content, dict) else None

    def data(self) -> Any:
        """As JSON would have it."""
        if isinstance(self.content, dict):
            return {name: value.data() for name, value in self.content.items()}
        if isinstance(self.content, list):
            return [value.data() for value in self.content]
        return _scalar(self.content) if self.plain else self.content


@dataclass(frozen=True)
class Head:
    fields: dict[str, Value]
    body: str
    body_line: int


def split(text: str) -> Head:
    """The fields and the body of a SKILL.md; `Unreadable` says on which line it goes wrong."""
    if text.startswith("\ufeff"):
        raise Unreadable(1, "the file starts with a byte order mark; save it as plain UTF-8")
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        raise Unreadable(1, "the file must start with a line --- and the fields of the skill")
    closing = next((at for at, line in enumerate(lines) if at and line.rstrip() == _FENCE), None)
    if closing is None:
        raise Unreadable(len(lines), "the fields are not closed by a line ---")
    head = "\n".join(lines[1:closing])
    found = read_yaml(head, first_line=2)
    fields = found.mapping() if found is not None else None
    if fields is None:
        raise Unreadable(2, "the fields must be lines of `name: value`")
    body = "\n".join(lines[closing + 1 :])
    stripped = body.lstrip("\n")
    return Head(fields, stripped.rstrip(), closing + 2 + len(body) - len(stripped))


def read_yaml(text: str, *, first_line: int = 1, flow: bool = False) -> Value | None:
    """One document of plain YAML; `flow` lets [lists] and {mappings} on a line pass."""
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position)
        raise Unreadable(first_line + line, "a character that has no place in a text") from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None) or getattr(problem, "context_mark", None)
        said = str(getattr(problem, "problem", None) or "this is not YAML")
        raise Unreadable(first_line + (mark.line if mark else 0), said) from None
    return None if node is None else _value(node, first_line, flow=flow)


class _Loader(yaml.BaseLoader):  # type: ignore[misc]
    """Takes every value for text and refuses what makes a small text large or another type."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.depth += 1
        event = self.peek_event()
        if self.depth > _DEEPEST:
            raise _refused(event, "this is nested too deeply")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _refused(event, "anchors (&, *) have no place here; write it out")
        if getattr(event, "tag", None) is not None:
            raise _refused(event, "tags (!) have no place here")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _value(node: Any, first: int, *, flow: bool, key_line: int = 0) -> Value:
    line = first + node.start_mark.line
    at = key_line or line
    if isinstance(node, yaml.ScalarNode):
        return Value(line, node.value, node.style is None, at)
    if node.flow_style and not flow:
        said = "lists and mappings are written in lines, not in [ ] or { }"
        raise Unreadable(line, said)
    if isinstance(node, yaml.SequenceNode):
        return Value(line, [_value(each, first, flow=flow) for each in node.value], key_line=at)
    found: dict[str, Value] = {}
    for key, value in node.value:
        key_at = first + key.start_mark.line
        if not isinstance(key, yaml.ScalarNode):
            raise Unreadable(key_at, "a name must be a text")
        if key.value in found:
            raise Unreadable(key_at, f"{key.value!r} is there twice")
        found[key.value] = _value(value, first, flow=flow, key_line=key_at)
    return Value(line, found, key_line=at)


def _scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text


def _refused(event: Any, said: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=said, problem_mark=event.start_mark)


def decoded(content: bytes, path: str = SKILL_FILE) -> str:
    """The text of a file, or where it stops being one."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise Unreadable(line, f"{path} is not UTF-8 here") from None
    return text
