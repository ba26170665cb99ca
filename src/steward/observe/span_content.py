"""What a span was asked and answered, line by line, with what was untrusted, withheld or redacted marked; and two of them compared."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final, Literal

from steward.core import NotFound
from steward.models import WITHHELD
from steward.runs import Entry, EntryType, Json, Runs
from steward.store import Scope
from steward.trace import MASK, redact, redact_text

Mark = Literal["untrusted", "withheld", "redacted"]
Change = Literal["same", "added", "removed"]
_UNTRUSTED: Final = re.compile(
    r'<<untrusted (?P<nonce>[0-9a-f]{20})>> source="(?P<source>[^"\n]*)"\n(?P<text>.*?)\n<<end (?P=nonce)>>',
    re.DOTALL,
)
"""As `broker.untrusted` wraps what others wrote; nothing inside can look like these marks."""
_NONCE: Final = re.compile(r"<<(untrusted|end) [0-9a-f]{20}>>")
"""The marks of one request, where its instructions name them: each request has its own."""
_SHOWN: Final = (EntryType.model_asked, EntryType.call_done, EntryType.call_planned)
_MOST_LINES: Final = 2_000
_LONGEST_LINE: Final = 2_000
_ROLES: Final = {"system": "Instructions", "user": "Message", "model": "Earlier answer"}


@dataclass(frozen=True)
class Line:
    text: str
    mark: Mark | None = None
    source: str = ""
    """Where untrusted text comes from."""
    is_heading: bool = False


@dataclass(frozen=True)
class SpanContent:
    run_id: str
    about: str
    kind: Literal["model", "tool"]
    name: str
    """The model that answered, or the tool."""
    asked: tuple[Line, ...]
    answered: tuple[Line, ...]
    input_tokens: int | None
    output_tokens: int | None
    before: str | None
    """The request to a model before this one, in the same run."""
    is_cut: bool
    """Whether lines were left out because there are too many."""


@dataclass(frozen=True)
class DiffLine:
    change: Change
    line: Line


@dataclass(frozen=True)
class SpanDiff:
    left: SpanContent
    right: SpanContent
    asked: tuple[DiffLine, ...]
    answered: tuple[DiffLine, ...]


class SpanContents:
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def content(self, scope: Scope, run_id: str, about: str) -> SpanContent:
        """Prompt and completion of a request to a model, or arguments and result of a call."""
        self._runs.get(scope, run_id)
        found: Entry | None = None
        asked_before: str | None = None
        latest: str | None = None
        for entry in self._runs.journal.entries(scope, run_id):
            if entry.type in _SHOWN and entry.of == about and "request" in entry.data:
                found, asked_before = entry, latest
            if entry.type == EntryType.model_asked and entry.of != about:
                latest = entry.of
        if found is None:
            raise NotFound(
                f"Run {run_id} has no request and no call {about[:100]!r}. Choose a span of a model or a tool."
            )
        if found.type == EntryType.model_asked:
            return self._request(run_id, found, asked_before)
        return self._call(run_id, found)

    def diff(self, scope: Scope, left: tuple[str, str], right: tuple[str, str]) -> SpanDiff:
        """What changed from the left span to the right one."""
        sides = [self.content(scope, *each) for each in (left, right)]
        return SpanDiff(
            sides[0],
            sides[1],
            tuple(_compared(sides[0].asked, sides[1].asked)),
            tuple(_compared(sides[0].answered, sides[1].answered)),
        )

    def _request(self, run_id: str, entry: Entry, before: str | None) -> SpanContent:
        request = entry.data["request"]
        answer = self._runs.payload(entry.data["result"]) if "result" in entry.data else None
        known: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {}
        withheld = known.get("rows_withheld") is True
        asked = [line for each in request["messages"] for line in _message(each, withheld)]
        asked += [line for each in request.get("tools", ()) for line in _tool(each)]
        answered = [line for part in known.get("parts") or () for line in _part(part)]
        usage = known.get("usage") or {}
        return SpanContent(
            run_id,
            entry.of,
            "model",
            str(known.get("model", "")),
            tuple(asked[:_MOST_LINES]),
            (*answered[:_MOST_LINES], *_error(entry)),
            usage.get("input_tokens"),
            usage.get("output_tokens"),
            before,
            max(len(asked), len(answered)) > _MOST_LINES,
        )

    def _call(self, run_id: str, entry: Entry) -> SpanContent:
        request = entry.data["request"]
        result = self._runs.payload(entry.data["result"]) if "result" in entry.data else None
        shown = result.get("value") if isinstance(result, Mapping) and "value" in result else result
        asked = list(_document(request.get("arguments")))
        answered = list(_document(shown, *_label(result))) if "result" in entry.data else []
        return SpanContent(
            run_id,
            entry.of,
            "tool",
            str(request.get("tool", "")),
            tuple(asked[:_MOST_LINES]),
            (*answered[:_MOST_LINES], *_error(entry)),
            None,
            None,
            None,
            max(len(asked), len(answered)) > _MOST_LINES,
        )


def _message(message: Mapping[str, Any], withheld: bool) -> Iterator[Line]:
    """As it was sent: a model that may not see rows got other words instead."""
    kind = str(message["kind"])
    tool = str(message.get("tool", ""))
    yield Line(_ROLES.get(kind, f"Result of {tool}"), is_heading=True)
    if kind == "model":
        for part in message["parts"]:
            yield from _part(part)
        return
    if withheld and message.get("rows", kind == "tool"):
        yield from _lines(str(message.get("without_rows") or WITHHELD), "withheld")
        return
    yield from _marked(str(message["text"]))


def _marked(text: str) -> Iterator[Line]:
    """Lines of a prompt; what stands between the marks of untrusted content is marked as such."""
    at = 0
    for match in _UNTRUSTED.finditer(text):
        yield from _lines(text[at : match.start()].strip("\n"))
        yield from _lines(match["text"], "untrusted", match["source"])
        at = match.end()
    yield from _lines(text[at:].strip("\n"))


def _part(part: Mapping[str, Any]) -> Iterator[Line]:
    match part["kind"]:
        case "call":
            yield Line(f"Call of {part['tool']}", is_heading=True)
            yield from _document(part.get("broken") or part["arguments"])
        case "thought":
            yield Line("Thought", is_heading=True)
            yield from _lines(str(part["text"]))
        case _:
            yield from _lines(str(part["text"]))


def _tool(tool: Mapping[str, Any]) -> Iterator[Line]:
    yield Line(f"Tool {tool['name']}", is_heading=True)
    yield from _lines(str(tool.get("description", "")))


def _label(result: Json) -> tuple[Mark | None, str]:
    """Whether what a tool gave is untrusted, and where it is from."""
    labels = result.get("labels") if isinstance(result, Mapping) else None
    if isinstance(labels, Mapping) and labels.get("trusted") is False:
        return "untrusted", ", ".join(map(str, labels.get("sources") or ())) or "unknown"
    return None, ""


def _error(entry: Entry) -> Iterator[Line]:
    error = entry.data.get("error")
    if isinstance(error, Mapping):
        yield Line(f"Error {error.get('code', '')}", is_heading=True)
        yield from _lines(str(error.get("message", "")), "untrusted", "the error")


def _document(value: Json, mark: Mark | None = None, source: str = "") -> Iterator[Line]:
    text = (
        value if isinstance(value, str) else json.dumps(redact(value), ensure_ascii=False, indent=2)
    )
    yield from _lines(text, mark, source)


def _lines(text: str, mark: Mark | None = None, source: str = "") -> Iterator[Line]:
    if not text:
        return
    for line in redact_text(text).splitlines():
        shown = line if len(line) <= _LONGEST_LINE else _cut(line)
        yield Line(shown, "redacted" if MASK in line else mark, source)


def _cut(line: str) -> str:
    """Two long lines that differ only after the cut do not look the same."""
    digest = hashlib.sha256(line.encode()).hexdigest()[:12]
    return f"{line[:_LONGEST_LINE]}… ({len(line):,} characters, SHA-256 {digest})"


def _compared(left: Sequence[Line], right: Sequence[Line]) -> Iterator[DiffLine]:
    ours, theirs = ([_NONCE.sub(r"<<\1>>", each.text) for each in side] for side in (left, right))
    for tag, a, b, c, d in SequenceMatcher(None, ours, theirs).get_opcodes():
        if tag == "equal":
            yield from (DiffLine("same", line) for line in right[c:d])
        else:
            yield from (DiffLine("removed", line) for line in left[a:b])
            yield from (DiffLine("added", line) for line in right[c:d])
