"""Definitions of tools as servers give them: foreign text, bounded and disarmed, and known by its hash."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

LONGEST_TEXT: Final = 1_000
LARGEST_SCHEMA: Final = 32 << 10
MOST_TOOLS: Final = 200
_DEEPEST: Final = 30
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,50}")
DEFAULT_RISK: Final = "external_send"
_RAISED: Final = "destructive"


@dataclass(frozen=True)
class Definition:
    """What a server says one of its tools is; nothing of it is believed beyond its form."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, Any]
    hints: Mapping[str, bool] = field(default_factory=dict)
    hash: str = ""
    """Of the definition as the server sent it, before anything was cut off."""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": dict(self.arguments),
            "hints": dict(self.hints),
            "hash": self.hash,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Definition":
        return cls(**document)


def definition_of(sent: Mapping[str, Any]) -> Definition | str:
    """The definition in what a server sent, or why the tool is left out."""
    name = str(sent.get("name", ""))
    if not _NAME.fullmatch(name):
        return f"a tool called {disarmed(name, 40)!r}: its name has other characters than letters, digits and _.-"
    schema = sent.get("inputSchema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return f"{name}: its arguments are not described as an object"
    text = json.dumps(schema, sort_keys=True)
    if len(text) > LARGEST_SCHEMA or _depth(schema) > _DEEPEST:
        return f"{name}: the description of its arguments is too large"
    annotations = sent.get("annotations")
    hints = annotations if isinstance(annotations, dict) else {}
    title = str(sent.get("title") or hints.get("title") or name)
    return Definition(
        name,
        disarmed(title, 100),
        disarmed(str(sent.get("description") or ""), LONGEST_TEXT),
        _disarmed_schema(schema),
        {key: value for key, value in sorted(hints.items()) if isinstance(value, bool)},
        hash_of(sent),
    )


def hash_of(sent: Mapping[str, Any]) -> str:
    """What a person accepts: everything that says what a tool does and takes."""
    told = {
        key: sent.get(key)
        for key in ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
        if sent.get(key) is not None
    }
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def risk_of(hints: Mapping[str, bool]) -> str:
    """The risk class of a tool nobody has judged: hints may raise it, and never lower it."""
    return _RAISED if hints.get("destructiveHint") is True else DEFAULT_RISK


def disarmed(text: str, longest: int) -> str:
    """Foreign text as one plain line: nothing invisible, no markup that a prompt could take for its own."""
    shown = " ".join(text[: longest * 4].split())
    # What is left and cannot be printed is of Unicode's categories C; most texts have none of it.
    if not shown.isprintable():
        shown = "".join(filter(str.isprintable, shown))
    shown = " ".join(shown.split()).replace("<", "‹").replace(">", "›").replace("```", "ʼʼʼ")
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _disarmed_schema(schema: Any) -> Any:
    """The same schema with the texts for people disarmed; what validates stays as it is."""
    if isinstance(schema, list):
        return [_disarmed_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: disarmed(value, 400)
        if key in {"description", "title", "$comment"} and isinstance(value, str)
        else _disarmed_schema(value)
        for key, value in schema.items()
    }


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max((_depth(each) for each in value.values()), default=0)
    if isinstance(value, list):
        return 1 + max((_depth(each) for each in value), default=0)
    return 0
