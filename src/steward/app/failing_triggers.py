"""Triggers that are at work and fail or are silent."""

from dataclasses import dataclass
from datetime import datetime

from steward.observe import Visible, shows
from steward.playbooks import Playbooks, subject_of
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
