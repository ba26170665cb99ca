"""What dashboards show beside figures: names of flows, and triggers that fail."""

from collections.abc import Mapping, Sequence
from typing import Any

from steward.app.compose import Steward
from steward.app.failing_triggers import failing_triggers
from steward.app.figure_names import program_title
from steward.observe import LiveFigures, Visible
from steward.playbooks import SUBJECT
from steward.store import Scope


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
