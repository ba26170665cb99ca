"""How results are shown to a model: as data, within limits, and without rows where rows must not leave."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from steward.broker import NONE, Labelled, Labels, for_model, tools_that_answer, untrusted
from steward.models import Message, ToolResult, User
from steward.runs import Json

ERROR_SOURCE: Final = "error of a tool"
_MOST_ITEMS: Final = 50
_MOST_COLUMNS: Final = 200
_ESCAPE: Final = re.compile(r"\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})")
_NAMES_ONLY: Final = ("Binder Error", "Parser Error", "Catalog Error", "is not part of this step")
"""Errors that are about the words of a query and the names of columns."""


@dataclass(frozen=True)
class Shown:
    """A text with its origin; what is called because of it inherits that."""

    title: str
    text: str
    labels: Labels = NONE
    rows: bool = False
    without_rows: str = ""
    value: Json = None
    """What the text shows, where that is data."""
    spelled: bool = False
    """Whether the text is JSON, in which a new line is a backslash and a letter."""
    failed: bool = False

    @property
    def searched(self) -> str:
        """The text as values are looked for in it: as they are, not as JSON spells them."""
        return _ESCAPE.sub(_unescaped, self.text) if self.spelled else self.text

    @classmethod
    def error(cls, message: str, labels: Labels = NONE) -> "Shown":
        """What went wrong; the words of a failure can quote a row."""
        instead = without_values(message)
        return cls("error", message, labels, rows=True, without_rows=instead, failed=True)


def as_message(shown: Shown, nonce: str, reply: ToolResult | None = None) -> Message:
    """The message that shows it: a tool's answer, or something the application adds."""
    text = for_model(shown.text, shown.labels, nonce)
    instead = for_model(shown.without_rows, shown.labels, nonce) if shown.without_rows else None
    if reply is not None:
        return replace(reply, text=text, rows=shown.rows, without_rows=instead)
    return User(f"{shown.title}:\n{text}", rows=shown.rows, without_rows=instead)


def error_message(title: str, why: str, nonce: str) -> Message:
    """Tells what failed and why, in words that others may have written."""
    shown = Shown.error(why, untrusted(ERROR_SOURCE))
    told, instead = (
        f"{title}:\n{for_model(text, shown.labels, nonce)}"
        for text in (shown.text, shown.without_rows)
    )
    return User(told, rows=True, without_rows=instead)


def without_values(message: str) -> str:
    """The message of a failure where it tells of names only; no more than that it failed otherwise."""
    if any(kind in message for kind in _NAMES_ONLY):
        return message
    return "It failed. The reason may quote rows of data, which are not sent to this model."


def result_shown(tool: str, found: Labelled) -> Shown:
    """A result of a tool. What is not known to be free of rows counts as rows."""
    files = [item["name"] for item in found.artifacts]
    about = {"files": files} if files else {}
    text = _spelled({"summary": found.summary, "result": _shortened(found.value), **about})
    if tool in tools_that_answer("schema"):
        return Shown(tool, text, found.labels, spelled=True)
    return Shown(
        tool,
        text,
        found.labels,
        rows=True,
        without_rows=_spelled({**_outline(found.value), **about}),
        spelled=True,
    )


def value_shown(title: str, value: Json, labels: Labels) -> Shown:
    """Data that a task is about; taken for rows, since nobody says what it is."""
    is_text = isinstance(value, str)
    text = value if is_text else _spelled(_shortened(value))
    instead = _spelled(_outline(value))
    return Shown(
        title, text, labels, rows=True, without_rows=instead, value=value, spelled=not is_text
    )


def _spelled(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def _unescaped(match: re.Match[str]) -> str:
    return str(json.loads(f'"{match.group()}"'))


def _shortened(value: Json) -> Json:
    """The first items of long lists; how many there are is said beside them."""
    if isinstance(value, Mapping):
        return {name: _shortened(inner) for name, inner in value.items()}
    if isinstance(value, list):
        shown = [_shortened(item) for item in value[:_MOST_ITEMS]]
        more = len(value) - _MOST_ITEMS
        return [*shown, f"… {more} more"] if more > 0 else shown
    return value


def _outline(value: Json) -> dict[str, Any]:
    """What may be told of a result without any content of rows: its columns and how much there is."""
    told: dict[str, Any] = {"rows": "not shown: rows of data are not sent to this model"}
    if not isinstance(value, Mapping):
        return told
    columns = value.get("columns")
    if isinstance(columns, list):
        told["columns"] = [_column(item) for item in columns[:_MOST_COLUMNS]]
    rows = value.get("rows")
    if isinstance(rows, list):
        told["row_count"] = len(rows)
    return told


def _column(item: Json) -> Json:
    if isinstance(item, Mapping):
        return {name: item[name] for name in ("name", "type") if isinstance(item.get(name), str)}
    return item if isinstance(item, str) else None
