"""kill -9 of workers whose agent keeps a note, wherever it hurts: each note is kept once, and the run ends and replays."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL

import pytest

from steward.agents.operating.roster import agent_from_document
from steward.flows.launch import Start
from steward.models import Request, ToolResult, User
from steward.testing import Installation
from steward.testing.models import Item, calls
from tests.crash.nursery import Children, Nursery, chosen, points_met

pytestmark = pytest.mark.every_database


def answer(request: Request) -> Item:
    """A model that goes by what it is asked, so that any process can go on where another died."""
    done = [message.tool for message in request.messages if isinstance(message, ToolResult)]
    said = " ".join(each.text for each in request.messages if isinstance(each, User))
    (fact,) = re.findall(r"Keep fact (\d+)\.", said)
    if "remember" not in done:
        return calls("remember", text=f"Fact {fact}")
    return "Kept."


@pytest.mark.timeout(600)
def test_a_note_is_kept_once_wherever_its_worker_dies(
    installation: Installation,
    nursery: Nursery,
    database_url: str | None,
    tmp_path: Path,
    effort: Callable[[int, int], int],
) -> None:
    steward, access, clock = installation.steward, installation.owner.access, installation.clock
    document = {
        "name": "clerk",
        "title": "Clerk",
        "description": "Keeps facts.",
        "instructions": "Keep the fact.",
        "memory": {"keep": 50},
    }
    agent = agent_from_document(document)
    steward.agents.save(access.scope, access.user_id, "clerk", agent, message="", call="")
    place = {
        "home": str(steward.settings.home),
        "url": database_url,
        "folder": str(tmp_path),
        "model": f"{__name__}:{answer.__name__}",
        "modules": [__name__, "steward.models.translate"],
    }
    children = Children(nursery, place)
    started: list[str] = []

    def start() -> str:
        node = {"id": "clerk", "type": "agent", "agent": "clerk"}
        node["instructions"] = f"Keep fact {len(started) + 1}."
        flow = {"format": 1, "id": "keep", "nodes": [node]}
        run = steward.governing.launcher.start(access, Start(flow))
        started.append(run.id)
        return run.id

    def now() -> str:
        return clock.now().isoformat()

    listing = tmp_path / "points.json"
    assert children.drive(now(), run=start(), listing=str(listing)) == 0
    found = chosen(points_met(0, listing), every=bool(effort(0, 1)))
    assert "broker.executed" in {point for _, point, _ in found}
    for _, point, occurrence in found[: effort(40, 49)]:
        ended = children.drive(now(), run=start(), point=point, occurrence=occurrence)
        assert ended == -SIGKILL, (point, occurrence)
    # Once the leases of the dead have ended.
    clock.advance(seconds=7)
    assert children.drive(now()) == 0

    for run_id in started:
        assert steward.runs.outcome(access.scope, run_id) == {"output": "Kept."}
        report = asyncio.run(steward.runs.replay(access.scope, run_id))
        assert report.is_same, report.divergences
    kept = steward.agents.notes.visible(access.scope, "clerk", access.user_id)
    wanted = {f"Fact {number}": run_id for number, run_id in enumerate(started, 1)}
    assert {each.text: each.run_id for each in kept} == wanted
    assert len(kept) == len(wanted)
