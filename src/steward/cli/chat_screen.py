"""A chat turn on a terminal while it happens: plan, steps, calls and text; plain lines where nobody sits at it."""

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TextIO

from steward.agents import TRYING, LiveText, Teller
from steward.cli.output import plain
from steward.models import NO_MODEL
from steward.runs import Entry

_LONGEST: Final = 160
_ANSWER: Final = "answer"
_MAKERS: Final = {
    "model": "a model",
    "rules": "rules",
    "fallback": "rules, as a fallback",
    "person": "a person",
}
_CLEAR: Final = "\r\x1b[2K"


class Screen:
    """What happens goes to the error stream; the answer's text to the output, as it comes, if that is a terminal."""

    def __init__(self, payload: Callable[[Any], Any], *, is_first: bool) -> None:
        """`is_first`: that there is no model is said at the beginning of a conversation, not each time."""
        self._teller = Teller(payload)
        self._is_first = is_first
        self._streams = sys.stdout.isatty()
        self._has_status = sys.stderr.isatty()
        self._titles: dict[tuple[int, str], str] = {}
        self._parts: dict[str, _Streamed] = {}
        self._open: str | None = None
        self._doing, self._since = "Looking at the data", time.monotonic()
        self._status = ""

    def take(self, entry: Entry) -> None:
        """An entry of the turn's journal, in their order."""
        for kind, data in self._teller.tell(entry):
            tell = getattr(self, f"_on_{kind}", None)
            if tell is not None:
                tell(data)
        if entry.key == "context":
            self._does("Planning")

    def live(self, parts: Mapping[str, LiveText]) -> None:
        """Text that models are just writing."""
        for part, found in parts.items():
            known = self._parts.setdefault(part, _Streamed())
            fresh = known.fresh(found)
            if not fresh:
                continue
            if part == TRYING:
                self.line(fresh)
            elif self._streams:
                self._stream(part, fresh)

    def tick(self) -> None:
        """Shows that it is still at work, where somebody can see it move."""
        if not self._has_status or self._open is not None:
            return
        seconds = int(time.monotonic() - self._since)
        status = f"  … {self._doing}{f', {seconds} s' if seconds else ''}"
        if status != self._status:
            self._write(sys.stderr, f"{_CLEAR}{status}")
            self._status = status

    def line(self, text: str) -> None:
        self.rest()
        shown = plain(text).rstrip().replace("\n", "\n    ")
        self._write(sys.stderr, f"  · {shown}\n")

    def rest(self) -> None:
        """Leaves a whole line behind: something else is about to be written."""
        if self._status:
            self._write(sys.stderr, _CLEAR)
            self._status = ""
        if self._open is not None:
            self._write(sys.stdout, "\n")
            self._open = None

    def answer(self, text: str) -> None:
        """The answer as it stands in the journal: what of it was not shown yet."""
        shown = plain(text).strip()
        if self._open is not None:
            already = self._parts[self._open].text.strip()
            if already and shown.startswith(already):
                self._write(sys.stdout, shown[len(already) :])
                self.rest()
                return
        before = any(part.text for name, part in self._parts.items() if name == _ANSWER)
        if before and self._streams:
            self.line("The answer has changed since it was shown. This is the final answer:")
        self.rest()
        self._write(sys.stdout, f"{shown}\n")

    # Events

    def _on_plan(self, data: dict[str, Any]) -> None:
        planned, branch = data["planned"], data["branch"]
        steps = planned["plan"]["steps"]
        for number, step in enumerate(steps, 1):
            place = f"Step {number} of {len(steps)}: " if len(steps) > 1 else ""
            self._titles[branch, step["id"]] = f"{place}{step['title']}"
        self.line(plan_text(planned["plan"], planned["made_by"], is_again=branch > 1))
        said = planned["said"]
        said = said if self._is_first else said.replace(NO_MODEL, "").strip()
        if said:
            self.line(said)

    def _on_step(self, data: dict[str, Any]) -> None:
        title = self._titles.get((data["branch"], data["id"]), data["id"])
        if data["state"] == "running":
            self.line(title)
            self._does(title)
        elif data["state"] in {"done", "skipped"}:
            self._does("Writing the answer")

    def _on_tool_call(self, data: dict[str, Any]) -> None:
        given = ", ".join(f"{name}={_short(value)}" for name, value in data["arguments"].items())
        self.line(f"  {data['tool']}({_cut(given)})")

    def _on_tool_result(self, data: dict[str, Any]) -> None:
        error = data["error"]
        told = f"✗ {error['message']}" if error else f"✓ {data['summary'] or 'Done.'}"
        self.line(f"  {told}")

    def _on_deviation(self, data: dict[str, Any]) -> None:
        self.line(f"  ! {data.get('why') or data['kind']}")

    def _on_wait(self, data: dict[str, Any]) -> None:
        if data["kind"] == "undo_window":
            self.line("  Steward sends it in a few seconds. Press Ctrl-C to cancel.")

    # Text

    def _does(self, what: str) -> None:
        self._doing, self._since = _cut(plain(what), 60), time.monotonic()

    def _stream(self, part: str, fresh: str) -> None:
        if self._open != part:
            self.rest()
            self._open = part
        elif self._parts[part].began_anew:
            self.rest()
            self.line("The model starts again.")
            self._open = part
        self._write(sys.stdout, plain(fresh))

    def _write(self, stream: TextIO, text: str) -> None:
        stream.write(text)
        stream.flush()


class _Streamed:
    """How much of a part was shown."""

    def __init__(self) -> None:
        self.beginning: int | None = None
        self.text = ""
        self.began_anew = False

    def fresh(self, found: LiveText) -> str:
        self.began_anew = bool(self.text) and found.beginning != self.beginning
        if found.beginning != self.beginning:
            self.beginning, self.text = found.beginning, ""
        fresh = plain(found.text)[len(self.text) :]
        self.text += fresh
        return fresh


def plan_text(plan: dict[str, Any], made_by: str = "", *, is_again: bool = False) -> str:
    maker = f" (by {_MAKERS.get(made_by, made_by)})" if made_by else ""
    steps = [
        f"{number}. {step['title']} ({step['agent']}: {', '.join(step['tools']) or 'no tools'})"
        for number, step in enumerate(plan["steps"], 1)
    ]
    return "\n".join([f"{'Another plan' if is_again else 'Plan'}{maker}: {plan['goal']}", *steps])


def _short(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _cut(text: str, longest: int = _LONGEST) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= longest else f"{one_line[: longest - 1]}…"
