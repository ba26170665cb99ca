"""Events as lines that other systems read: JSON lines (CloudEvents) and CEF (Common Event Format)."""

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from steward import __version__
from steward.core import TYPE_PREFIX, Event

SEAL: Final = "audit.seal"
_SEVERE: Final = frozenset(
    [
        "refused",
        "mismatched",
        "failed",
        "undo_failed",
        "redo_failed",
        "deleted",
        "removed",
        "revoked",
        "dead_letter",
        "failing",
    ]
)
_CHANGES: Final = frozenset(
    ["changed", "saved", "created", "approved", "enabled", "disabled", "exported"]
)
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f\u2028\u2029]")


class AuditFormat(StrEnum):
    jsonl = "jsonl"
    cef = "cef"

    @property
    def media_type(self) -> str:
        return "application/x-ndjson" if self is AuditFormat.jsonl else "text/plain; charset=utf-8"


def line_of(event: Event, form: AuditFormat) -> str:
    """One event without a line break in it."""
    if form is AuditFormat.jsonl:
        return compact({**event.as_cloudevent(), "cursor": event.cursor})
    kind = kind_of(event)
    by = event.data.get("by")
    return _cef(
        kind,
        kind.replace(".", " ").replace("_", " "),
        severity_of(kind),
        {
            "rt": int(event.time.timestamp() * 1000),
            "externalId": event.id,
            **({"suser": by} if isinstance(by, str) else {}),
            "cn1Label": "cursor",
            "cn1": event.cursor,
            "cs1Label": "project",
            "cs1": event.source.rpartition("/")[2],
            "cs2Label": "subject",
            "cs2": event.subject,
            "cs3Label": "data",
            "cs3": compact(event.data),
        },
    )


def seal_line(seal: str, signature: str, form: AuditFormat) -> str:
    """The last line: what the lines before it add up to, signed."""
    if form is AuditFormat.jsonl:
        return compact({"type": TYPE_PREFIX + SEAL, "seal": seal, "signature": signature})
    extension = {"cs4Label": "seal", "cs4": seal, "cs5Label": "signature", "cs5": signature}
    return _cef(SEAL, "seal of the lines before", 3, extension)


def seal_in(line: str) -> tuple[str, str] | None:
    """Seal and signature of a last line; nothing where it is another line."""
    if line.startswith("CEF:"):
        found = re.search(r"\|audit\.seal\|.* cs4=(.*) cs5Label=signature cs5=([0-9a-f]+)$", line)
        return (_unescaped(found[1]), found[2]) if found else None
    try:
        document = json.loads(line)
    except ValueError:
        return None
    if not isinstance(document, dict) or document.get("type") != TYPE_PREFIX + SEAL:
        return None
    return str(document.get("seal")), str(document.get("signature"))


def kind_of(event: Event) -> str:
    return event.type.removeprefix(TYPE_PREFIX)


def severity_of(kind: str) -> int:
    """From 0 to 10, as CEF has it: refusals and losses are high, changes of settings medium."""
    word = kind.rpartition(".")[2]
    if word in _SEVERE:
        return 7
    return 5 if word in _CHANGES else 3


def compact(document: Any) -> str:
    return json.dumps(document, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _cef(kind: str, name: str, severity: int, extension: Mapping[str, Any]) -> str:
    head = "|".join(
        _in_header(each) for each in ("CEF:0", "Steward", "Steward", __version__, kind, name)
    )
    pairs = " ".join(f"{key}={_in_extension(str(value))}" for key, value in extension.items())
    return f"{head}|{severity}|{pairs}"


def _in_header(text: str) -> str:
    plain = _CONTROL.sub(" ", text).replace("\r", " ").replace("\n", " ")
    return plain.replace("\\", "\\\\").replace("|", "\\|")


def _in_extension(text: str) -> str:
    plain = _CONTROL.sub(" ", text).replace("\\", "\\\\").replace("=", "\\=")
    return plain.replace("\r", "\\r").replace("\n", "\\n")


def _unescaped(text: str) -> str:
    turned = {"\\": "\\", "=": "=", "n": "\n", "r": "\r"}
    return re.sub(r"\\([\\=nr])", lambda found: turned[found[1]], text)
