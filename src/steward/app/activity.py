"""What happened in a project lately, for somebody who may see some of it: figures, alerts, triggers and budgets."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from steward.app.alerting import alert_view
from steward.app.budgeting import BudgetDesk
from steward.app.failing_triggers import failing_triggers
from steward.app.figure_names import flow_titles
from steward.app.present_access import present_access
from steward.app.tracing import Observations
from steward.broker import PeriodBudgets
from steward.core import Clock
from steward.identity import Access, Identity, Role
from steward.observe import ActivitySummary, Extent, Ranked, amount, line_of, one_line
from steward.playbooks import Playbooks
from steward.store import Scope

_EVERYTHING: Final = Extent(flows=0, names=1_000)
_UNDO: Final = frozenset({"undo", "undo_action", "take_back"})


@dataclass(frozen=True)
class Activity:
    """Summaries of the last whole days."""

    identity: Identity
    playbooks: Playbooks
    budgets: PeriodBudgets
    observations: Observations
    clock: Clock

    def of_days(self, access: Access, days: int) -> ActivitySummary:
        """So many whole days (UTC) until yesterday, as this person may see them."""
        access.require(Role.viewer)
        now = self.clock.now()
        last = now.astimezone(UTC).date() - timedelta(days=1)
        visible = self.playbooks.people.sight(access).among
        overview = self.observations.overview
        found = overview.figures(access.scope, _end_of(last), 24 * days, visible, _EVERYTHING)
        standing = overview.figures(access.scope, now, 1, visible).standing
        return ActivitySummary(
            first=last - timedelta(days=days - 1),
            last=last,
            project=self.identity.projects.get(access).name,
            now=found.now,
            before=found.before,
            undone=sum(each.count - each.errors for each in found.ranked if _is_undo(each)),
            standing=standing,
            failing=found.failing,
            costliest=[each for each in found.ranked if each.kind == "flow" and each.nano_usd],
            concerns=tuple(self._concerns(access)),
        )

    def titles(self, access: Access) -> Callable[[str], str]:
        return flow_titles(self.playbooks, access)

    def described(
        self, scope: Scope, user_id: str, token_role: Role | None, days: int
    ) -> dict[str, object]:
        """The same for whoever a run acts for."""
        access = present_access(self.identity, scope, user_id, token_role)
        return self.of_days(access, days).to_json(self.titles(access))

    def _concerns(self, access: Access) -> Iterator[str]:
        title_of = self.titles(access)
        view = alert_view(self.playbooks, access)
        for alert in self.observations.alerts.listed(access.scope, view):
            yield line_of(alert, title_of)
        for trigger in failing_triggers(self.playbooks, access.scope, view.visible):
            what = f"fails: {one_line(trigger.why)}" if trigger.why else "is silent"
            since = f"{trigger.since:%Y-%m-%d %H:%M} UTC"
            yield (
                f"Trigger “{one_line(trigger.name)}” of “{one_line(trigger.playbook)}” {what} "
                f"(since {since})."
            )
        desk = BudgetDesk(
            self.budgets,
            self.observations.budgets,
            self.identity,
            self.playbooks,
            self.clock,
            access,
        )
        for seen in desk.listed():
            limit, expected = seen.kept.document.usd, seen.expected
            if limit is not None and expected is not None and expected.usd > limit:
                yield (
                    f"The budget of “{one_line(seen.title)}” will not suffice: "
                    f"{amount('spend', expected.usd)} of {amount('spend', float(limit))} expected at its reset."
                )


def _is_undo(each: Ranked) -> bool:
    return each.kind == "tool" and each.name in _UNDO


def _end_of(day: date) -> datetime:
    return datetime.combine(day, time.max, UTC)
