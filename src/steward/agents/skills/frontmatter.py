"""Reads the head of SKILL.md: the plain part of YAML, every value with its line, every mistake with its place."""

from dataclasses import dataclass
from typing import Final

from steward.agents.skills.model import SKILL_FILE, Fault
from steward.core import Invalid, Part, documents

_FENCE: Final = "---"


class Unreadable(Exception):
    """The text cannot be read any further."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message

    def at(self, path: str) -> Fault:
        return Fault(path, self.line, self.message)


@dataclass(frozen=True)
class Head:
    fields: dict[str, Part]
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
    found = parse_part(head, first_line=2)
    fields = found.mapping() if found is not None else None
    if fields is None:
        raise Unreadable(2, "the fields must be lines of `name: value`")
    body = "\n".join(lines[closing + 1 :])
    stripped = body.lstrip("\n")
    return Head(fields, stripped.rstrip(), closing + 2 + len(body) - len(stripped))


def parse_part(text: str, *, first_line: int = 1, flow: bool = False) -> Part | None:
    """One document of plain YAML; `flow` lets [lists] and {mappings} on a line pass."""
    try:
        found = documents.parse_yaml(text, first_line=first_line)
    except documents.Unreadable as problem:
        raise Unreadable(problem.line, problem.reason) from None
    except Invalid as problem:
        raise Unreadable(first_line, problem.message) from None
    if found is not None and not flow:
        _refuse_flow(found)
    return found


def _refuse_flow(part: Part) -> None:
    if part.flow:
        said = "lists and mappings are written in lines, not in [ ] or { }"
        raise Unreadable(part.line, said)
    if isinstance(part.content, dict | list):
        inner = part.content.values() if isinstance(part.content, dict) else part.content
        for each in inner:
            _refuse_flow(each)


def decoded(content: bytes, path: str = SKILL_FILE) -> str:
    """The text of a file, or where it stops being one."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise Unreadable(line, f"{path} is not UTF-8 here") from None
    return text
