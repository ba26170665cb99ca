"""Journals that earlier versions wrote still open, verify, replay and tell the same story.

The capsules were written by the version before types and signatures, with what its own readers made of them beside each.
One thing was corrected: its traces counted the planning of an edited call as a call of its own.
A capsule of a run by tools that only tests have is replayed where those tools are: in the broker's tests.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steward.agents.chat.turn_documents import turn_document
from steward.agents.chat.turn_events import Teller
from steward.agents.explaining.dossier import dossier
from steward.observe.spans import spans_of
from steward.runs import EntryType, Signing
from steward.runs.capsules import Capsule, unpack
from steward.runs.entries import is_reference, typed
from steward.runs.offline import verify_capsule
from steward.runs.projection import calls_of
from steward.store import Signer
from steward.trace.genai import ABOUT, ADHERED, CHANGES
from tests.broker.conftest import Desk, desk

pytestmark = pytest.mark.every_database

__all__ = ["desk"]

FOLDER = Path(__file__).parent / "corpus"
NAMES = sorted(path.name.removesuffix(".capsule.zip") for path in FOLDER.glob("*.capsule.zip"))


_TURN: Any = SimpleNamespace(
    **dict.fromkeys(("siblings", "mentions", "attachments"), ()),
    thread_id="thr",
    created_by="usr",
    message="",
    created_at="",
    parent=None,
    query_type=None,
)


def opened(name: str) -> Capsule:
    return unpack((FOLDER / f"{name}.capsule.zip").read_bytes())


def payload_of(capsule: Capsule) -> Callable[[Any], Any]:
    def payload(value: Any) -> Any:
        if is_reference(value):
            return json.loads(capsule.payload(value["$blob"]))
        return value

    return payload


@pytest.mark.parametrize("name", NAMES)
def test_an_old_journal_is_verified_and_every_entry_has_a_type(name: str) -> None:
    capsule = opened(name)
    found = verify_capsule(capsule, Signer([bytes(32)]).public)
    assert found.is_intact, found.faults
    assert found.signing is Signing.before_signing
    for entry in capsule.entries:
        assert entry.version == 1
        typed(entry)


@pytest.mark.parametrize("name", NAMES)
def test_an_old_journal_tells_the_same_story(name: str) -> None:
    before = json.loads((FOLDER / f"{name}.json").read_text())
    capsule = opened(name)
    run, entries, payload = capsule.as_run(), list(capsule.entries), payload_of(capsule)
    calls = [asdict(call) for call in calls_of(entries, payload) if call.tool is not None]
    assert _plain(calls) == before["calls"]
    assert _plain(dossier(run, entries, payload)) == before["dossier"]
    # Since then, a span also says what its entries are about, and how many changes a call made, and whether an
    # agent kept to its plan; an agent that stopped with an error has one, too.
    spans = [
        [s.key, s.name, s.parent, str(s.start), str(s.end), _as_then(s.attributes), s.error]
        for s in spans_of(run, run.id, entries, payload)
        if not (s.error and s.name.startswith("invoke_agent "))
    ]
    assert _plain(spans) == before["spans"]
    turn = turn_document(_TURN, run, entries, payload, lambda tool: (tool, "read"))
    told = json.loads(json.dumps(turn, default=str))
    assert {key: told[key] for key in before["turn"]} == before["turn"]
    assert all(told[key] is None for key in told.keys() - before["turn"].keys())
    if before["told"] is not None:
        teller = Teller(payload)
        assert _plain([said for entry in entries for said in teller.tell(entry)]) == before["told"]


def _as_then(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if key not in {ABOUT, ADHERED, CHANGES}}


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def test_old_journals_replay_and_come_out_the_same(desk: Desk) -> None:
    """A later version may put a request to a model in other words; everything else is asked for as it was."""
    reworded = {EntryType.model_asked, EntryType.budget_reserved}
    for name in NAMES:
        capsule = opened(name)
        types = {entry.key: entry.type for entry in capsule.entries}
        report = asyncio.run(desk.steward.runs.replay_capsule(capsule))
        assert [each for each in report.divergences if types[each.key] not in reworded] == [], name


def test_the_corpus_has_what_runs_can_do() -> None:
    types = {entry.type for name in NAMES for entry in opened(name).entries}
    missing = {each.value for each in EntryType} - types
    assert missing <= {"attempt.failed", "noted"}
