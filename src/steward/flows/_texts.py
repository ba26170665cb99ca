"""The text of expressions: where quoted texts end, what an error in one says, and what a reference is."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from steward.core import Invalid


class ExpressionError(Invalid):
    """An expression that cannot be read or computed; `column` counts from 1 within its text."""

    code = "expression"
    title = "The expression does not work"

    def __init__(self, message: str, text: str, column: int | None = None) -> None:
        where = f", at character {column}" if column else ""
        super().__init__(f"The expression {_short(text)}{where}: {message}.")
        self.reason = message
        self.column = column


@dataclass(frozen=True)
class Path:
    """One reference to data, such as `nodes.load.output.rows`."""

    names: tuple[str, ...]
    column: int

    @property
    def root(self) -> str:
        return self.names[0]

    def __str__(self) -> str:
        return ".".join(self.names)


def outside_quotes(text: str, start: int) -> Iterator[int]:
    """Positions of the characters that are not inside a quoted text; refuses what confuses readers."""
    position = start
    while position < len(text):
        char = text[position]
        if char in "\"'":
            if text[position : position + 3] == char * 3:
                raise ExpressionError("write texts in single quotes", text, position + 1)
            end = position + 1
            while end < len(text) and text[end] != char:
                end += 2 if text[end] == "\\" else 1
            if end >= len(text) or "\n" in text[position:end]:
                raise ExpressionError("this text has no end", text, position + 1)
            position = end + 1
            continue
        if text.startswith("//", position):
            raise ExpressionError("comments have no place here", text, position + 1)
        yield position
        position += 1


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return f"“{flat[:80]}…”" if len(flat) > 80 else f"“{flat}”"


def text_of(value: Any) -> str:
    """How a JSON value reads inside a text: null is empty, lists and objects are JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
