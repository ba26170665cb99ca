"""The web app has a sentence for every kind of event that is written."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from steward.broker.approvals import State
from steward.runs import Status

ROOT = Path(__file__).parents[2]
SENTENCES = ROOT / "web/src/components/describe-event.ts"
WORDS = {
    "'alert.muted' if until is not None else 'alert.unmuted'": ["alert.muted", "alert.unmuted"],
    "'agent.archived' if agent is None else 'agent.saved'": ["agent.archived", "agent.saved"],
    "f'approval.{status.value}'": [
        f"approval.{each}" for each in (State.approved, State.rejected, State.edited)
    ],
    "f'client.{why}'": ["client.replayed", "client.removed"],
    "f'directory.person_{what}'": ["directory.person_added", "directory.person_removed"],
    "f'connection.{what}'": [
        f"connection.{what}"
        for what in (
            *("created", "changed", "deleted", "restored", "program_accepted"),
            *("tool_withdrawn", "tool_risk_set", "tool_roles_confirmed"),
        )
    ],
    "f'passkey.{what}'": [
        f"passkey.{each}" for each in ("added", "removed", "signed_in", "refused")
    ],
    "f'plugin.{word}'": [
        f"plugin.{each}" for each in ("installed", "enabled", "disabled", "removed")
    ],
    "f'run.{action}_asked'": [f"run.{each}_asked" for each in ("pause", "resume", "cancel")],
    "f'run.{outcome}'": [f"run.{a}_{b}" for a in ("undo", "redo") for b in ("done", "failed")],
    "f'run.{status.value}'": [f"run.{each.value}" for each in Status],
    "f'run.{Status.running.value}'": ["run.running"],
    "f'service.{what}'": [f"service.{each}" for each in ("installed", "updated", "removed")],
    "f'service.operation_{event}'": [
        f"service.operation_{each}" for each in ("offered", "roles_confirmed", "risk_set")
    ],
    "'skill.enabled' if enabled else 'skill.disabled'": ["skill.enabled", "skill.disabled"],
}
"""What stands for several kinds, as it is written in the code."""


def written(source: str) -> Iterator[str]:
    """The expressions for kinds in what a module appends to the event log."""
    tree = ast.parse(source)
    named = {
        ast.unparse(node.targets[0]): ast.unparse(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and re.search(r"'\w+\.|\"\w+\.", ast.unparse(node.value))
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or len(node.args) < 3:
            continue
        called = ast.unparse(node.func)
        if called.endswith("events.append") or called == "News":
            kind = ast.unparse(node.args[1])
            yield named.get(kind, kind)


def test_every_kind_has_a_sentence() -> None:
    found: set[str] = set()
    for path in sorted((ROOT / "src/steward").rglob("*.py")):
        text = path.read_text()
        if path.name == "eventlog.py" or not re.search(r"events\.append|\bNews\b", text):
            continue
        for kind in written(text):
            found |= set(WORDS.get(kind) or [kind.strip("'")])
    told = set(re.findall(r"^  '([a-z_]+\.[a-z_]+)':", SENTENCES.read_text(), re.MULTILINE))
    assert len(found) > 100
    assert sorted(found - told) == [], f"{SENTENCES.name} has no sentence for these"
    assert sorted(told - found) == [], "these are written nowhere"
