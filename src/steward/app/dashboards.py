"""What dashboards show beside figures: names of flows, and triggers that fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from steward.app.compose import Steward
from steward.app.figure_names import program_title
from steward.observe import LiveFigures
from steward.observe.overview import Visible, shows
from steward.playbooks import Playbooks, subject_of
from steward.playbooks.people import SUBJECT
from steward.store import Scope


@dataclass(frozen=True)
class FailingTrigger:
    id: str
    name: str
    playbook: str
    since: datetime
    why: str
    """Empty where it does not fail but is silent for longer than expected."""


def failing_triggers(playbooks: Playbooks, scope: Scope, visible: Visible) -> list[FailingTrigger]:
    """Triggers that are at work and fail or are silent, the longest first."""
    titles = playbooks.library.titles(scope)
    found = []
    for each in playbooks.triggers.subscriptions.listed(scope):
        since = each.failing_since or each.silent_since
        if each.enabled and since is not None and shows(visible, subject_of(each.playbook_id)):
            title = titles.get(each.playbook_id, "")
            found.append(FailingTrigger(each.id, each.name, title, since, each.failing_why or ""))
    return sorted(found, key=lambda trigger: trigger.since)


def live_figures(steward: Steward, scope: Scope, hours: int, visible: Visible) -> LiveFigures:
    """The overview of everybody who sees the same flows, with their names."""

    def beside(flows: Sequence[str]) -> Mapping[str, Any]:
        known = steward.playbooks.library.titles(scope)
        return {
            "titles": {flow: _title(known, flow) for flow in flows},
            "triggers": {
                each.id: {
                    "name": each.name,
                    "playbook": each.playbook,
                    "since": each.since.isoformat(),
                    "why": each.why,
                }
                for each in failing_triggers(steward.playbooks, scope, visible)
            },
        }

    found = steward.observations
    return LiveFigures(
        steward.database,
        steward.clock,
        found.projector,
        found.overview,
        scope,
        hours,
        visible,
        beside,
    )


def _title(known: Mapping[str, str], flow: str) -> str:
    if not flow.startswith(SUBJECT):
        return program_title(flow)
    return known.get(flow.removeprefix(SUBJECT)) or program_title(flow)
