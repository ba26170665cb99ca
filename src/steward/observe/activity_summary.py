"""What happened in a project in some days, in words: what ran, failed, cost and was undone, and what to look at."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from steward.observe.alert_messages import count_of, one_line
from steward.observe.facts import NANO
from steward.observe.overview import Standing
from steward.observe.period_sums import Failing, Ranked, Totals

_MOST_LINES: Final = 5
_RISE: Final = 1.5
"""Spending this many times that of the days before is told."""
_RISE_USD: Final = 1.0
"""Below this nobody needs to hear of it."""


@dataclass(frozen=True)
class ActivitySummary:
    """Of whole days (UTC), with what stands open now."""

    first: date
    last: date
    project: str
    now: Totals
    before: Totals
    """The same number of days before."""
    undone: int
    """Changes that were undone in these days."""
    standing: Standing
    failing: Sequence[Failing]
    costliest: Sequence[Ranked]
    """Flows."""
    concerns: Sequence[str] = ()
    """Alerts, triggers and budgets to look at, one line each."""

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def subject(self) -> str:
        failed = f", {self.now.failed:,} failed" if self.now.failed else ""
        return f"{one_line(self.project)}: {count_of(self.now.runs, 'run')}{failed}, {_usd(self.now.nano_usd)}"

    def text(self, title_of: Callable[[str], str]) -> str:
        """Plain text; `title_of` gives names of flows, which anybody may have written."""
        period = f"{self.first:%Y-%m-%d}" + (
            "" if self.first == self.last else f" to {self.last:%Y-%m-%d}"
        )
        parts = [
            f"{one_line(self.project)}, {period} (UTC)",
            "\n".join(self._figures()),
            _listed("Failed most", (self._failed(each, title_of) for each in self.failing)),
            _listed("Cost most", (self._cost(each, title_of) for each in self.costliest)),
            _listed("What to look at", self.to_look_at()) or "Nothing needs your attention.",
        ]
        return "\n\n".join(part for part in parts if part)

    def to_look_at(self) -> Iterator[str]:
        waiting, oldest = self.standing.approvals, self.standing.oldest_approval_at
        if waiting and oldest is not None:
            verb = "waits" if waiting == 1 else "wait"
            yield f"{count_of(waiting, 'approval')} {verb}, the oldest since {_moment(oldest)}."
        if self._rose(self.now.failed, self.before.failed, self.now.runs, self.before.runs):
            yield f"{_percent(self.now)} of the runs failed, {_percent(self.before)} before."
        rise = self.now.nano_usd - self.before.nano_usd
        if rise >= _RISE_USD * NANO and self.now.nano_usd > _RISE * self.before.nano_usd:
            yield f"Spending rose from {_usd(self.before.nano_usd)} to {_usd(self.now.nano_usd)}."
        yield from self.concerns

    def to_json(self, title_of: Callable[[str], str]) -> dict[str, Any]:
        return {
            "first": self.first.isoformat(),
            "last": self.last.isoformat(),
            "subject": self.subject,
            "text": self.text(title_of),
            "runs": self.now.runs,
            "failed": self.now.failed,
            "cancelled": self.now.cancelled,
            "usd": self.now.nano_usd / NANO,
            "tokens": self.now.tokens,
            "undone": self.undone,
            "approvals_waiting": self.standing.approvals,
            "to_look_at": list(self.to_look_at()),
        }

    @property
    def _days_before(self) -> str:
        return "the day before" if self.days == 1 else f"the {self.days} days before"

    def _figures(self) -> Iterator[str]:
        now, before = self.now, self.before
        cancelled = f", {now.cancelled:,} cancelled" if now.cancelled else ""
        yield (
            f"Runs: {now.runs:,} ended, {now.failed:,} failed{cancelled} "
            f"({self._days_before}: {before.runs:,} ended, {before.failed:,} failed)."
        )
        yield (
            f"Cost: {_usd(now.nano_usd)} and {now.tokens:,} tokens "
            f"({self._days_before}: {_usd(before.nano_usd)})."
        )
        yield f"Undone: {count_of(self.undone, 'change')}."

    @staticmethod
    def _failed(each: Failing, title_of: Callable[[str], str]) -> str:
        return f"{one_line(title_of(each.flow))}: {each.failed:,} of {count_of(each.runs, 'run')}"

    @staticmethod
    def _cost(each: Ranked, title_of: Callable[[str], str]) -> str:
        return f"{one_line(title_of(each.name))}: {_usd(each.nano_usd)}"

    @staticmethod
    def _rose(failed: int, failed_before: int, runs: int, runs_before: int) -> bool:
        """Whether a larger share failed than before, by more than one run of chance."""
        if not runs or failed < 2:
            return False
        return not runs_before or failed / runs > _RISE * (failed_before / runs_before)


def _listed(heading: str, lines: Iterable[str]) -> str:
    every = list(lines)
    if not every:
        return ""
    rest = len(every) - _MOST_LINES
    shown = [*every[:_MOST_LINES], *([f"And {rest:,} more."] if rest > 0 else [])]
    return "\n".join([heading, *(f"- {line}" for line in shown)])


def _percent(totals: Totals) -> str:
    return f"{100 * totals.failed / totals.runs:.0f} %" if totals.runs else "none"


def _usd(nano: int) -> str:
    value = nano / NANO
    return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.4f}"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
