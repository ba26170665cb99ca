"""Shadow runs: another version repeats ended runs without effects, and what differs is told."""

import pytest

from steward.core.errors import Conflict, NotFound
from steward.observe._tables import facts
from steward.playbooks._tables import shadows
from steward.playbooks.shadows import Shadow, ShadowComparison
from steward.runs import Run, Status
from tests.playbooks.conftest import Room

pytestmark = pytest.mark.every_database

WRITES = """\
format: 1
id: writes
budget: {usd: 1}
inputs: {type: object, properties: {n: {type: integer}}}
graph:
  nodes:
    - {id: write, type: tool, tool: edit_file, arguments: {path: "a${string(inputs.n)}.md", old: "", new: "n is ${string(inputs.n)}"}}
    - {id: gate, type: approval, needs: [write], message: "Fine?", payload: "${inputs.n}"}
    - {id: yes, type: output, needs: [gate.approved], value: {n: "${inputs.n}", limit: "${inputs.n > 3}"}}
    - {id: no, type: output, needs: [gate.rejected], value: refused}
"""
OTHER = WRITES.replace("inputs.n > 3", "inputs.n > 4")


def shadowed(room: Room, second: str, **wish: bool | int) -> str:
    playbooks, access = room.playbooks, room.editor.access
    made = playbooks.library.create(access, WRITES)
    playbooks.deploying.deploy(access, made.id)
    playbooks.library.save(access, made.id, None, second)
    room.installation.clock.advance(seconds=1)
    playbooks.shadows.start(access, made.id, **wish)  # type: ignore[arg-type]
    return made.id


def live(room: Room, playbook: str, n: int, decision: str = "approve") -> Run:
    room.installation.clock.advance(seconds=1)
    return ended(
        room, room.playbooks.running.start(room.editor.access, playbook, {"n": n}), decision
    )


def ended(room: Room, run: Run, decision: str = "approve") -> Run:
    room.drive()
    wait = (room.fresh(run).waits or [])[0]
    room.runs.records.signal(run.scope, run.id, wait["key"], {"decision": decision, "by": "x"})
    room.drive()
    return room.fresh(run)


def settled(room: Room, playbook: str) -> tuple[Shadow, list[ShadowComparison]]:
    while room.playbooks.shadows.round():
        room.drive()
    access = room.editor.access
    shadow = room.playbooks.shadows.found(access, playbook)
    assert shadow is not None
    return shadow, room.playbooks.shadows.comparisons(access, playbook)


def test_a_shadow_repeats_runs_without_effects_and_tells_what_differs(room: Room) -> None:
    playbook = shadowed(room, OTHER)
    files = room.installation.steward.workbench.versions.workspace(
        room.editor.access.scope, room.editor.access.user_id
    )
    same = live(room, playbook, 3)
    refused = live(room, playbook, 9, "reject")
    other = live(room, playbook, 4)
    before = files.log("main")[0].id
    shadow, found = settled(room, playbook)
    assert (shadow.compared, shadow.equal, shadow.under_way, shadow.failed) == (3, 2, 0, 0)
    by_run = {each.live_id: each for each in found}
    assert by_run[same.id].differences == by_run[refused.id].differences == []
    kinds = {(each.kind, each.at) for each in by_run[other.id].differences}
    assert kinds == {("output", "run"), ("step", "yes")}
    told = next(each for each in by_run[other.id].differences if each.kind == "output")
    assert ('"limit":true' in told.live, '"limit":false' in told.shadow) == (True, True)
    # Nothing happened but on the branch of the shadow.
    assert files.log("main")[0].id == before
    assert len(room.runs.records.listed(same.scope, subject=same.subject)) == 3
    shadow_run = room.runs.get(same.scope, by_run[same.id].shadow_id)
    assert (shadow_run.status, shadow_run.priority) == (Status.done, -1)


def test_a_shadow_counts_in_no_figures(room: Room) -> None:
    playbook = shadowed(room, OTHER)
    run = live(room, playbook, 3)
    projector = room.installation.steward.observations.projector
    projector.catch_up(run.scope)
    settled(room, playbook)
    projector.catch_up(run.scope)
    with room.installation.steward.database.read(run.scope) as tx:
        rows = tx.rows(facts.select().where(facts.c.kind == "run"))
    assert sum(row.times for row in rows if row.is_root) == 1
    assert len(rows) == 2


def test_a_share_of_the_runs_gets_a_shadow(room: Room) -> None:
    playbook = shadowed(room, OTHER, percent=50)
    for n in range(4):
        live(room, playbook, n)
    shadow, found = settled(room, playbook)
    assert (shadow.compared, len(found)) == (2, 2)


def test_what_a_version_would_do_besides_is_a_difference(room: Room) -> None:
    more = WRITES.replace(
        "    - {id: gate",
        '    - {id: more, type: tool, tool: edit_file, arguments: {path: b.md, old: "", new: x}}\n    - {id: gate',
    )
    playbook = shadowed(room, more)
    live(room, playbook, 3)
    _, [found] = settled(room, playbook)
    [difference] = found.differences
    assert (difference.kind, difference.at, difference.live) == ("call", "more", "")
    assert "b.md" in difference.shadow


def test_inputs_that_do_not_fit_are_a_difference(room: Room) -> None:
    playbook = shadowed(room, WRITES.replace("type: integer", "type: integer, maximum: 2"))
    live(room, playbook, 3)
    shadow, [found] = settled(room, playbook)
    assert (shadow.equal, shadow.compared) == (0, 1)
    assert "Not started" in found.differences[0].shadow


def test_deploying_or_ending_it_ends_the_shadow_and_keeps_what_was_compared(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    playbook = shadowed(room, OTHER)
    live(room, playbook, 3)
    settled(room, playbook)
    playbooks.deploying.deploy(access, playbook)
    live(room, playbook, 2)
    shadow, found = settled(room, playbook)
    assert shadow.ended_at is not None
    assert len(found) == 1
    with pytest.raises(Conflict, match="deployed already"):
        playbooks.shadows.start(access, playbook)
    assert playbooks.shadows.start(access, playbook, 1, percent=10).ended_at is None
    assert playbooks.shadows.end(access, playbook).ended_at is not None
    never = playbooks.library.create(access, WRITES.replace("id: writes", "id: never"))
    with pytest.raises(NotFound, match="ever ran in shadow"):
        playbooks.shadows.end(access, never.id)


def test_names_and_documents_are_not_made_by_a_shadow(room: Room) -> None:
    more = WRITES.replace(
        "    - {id: gate",
        "    - {id: name, type: tool, tool: snapshot, arguments: {name: month-end}}\n    - {id: gate",
    )
    playbook = shadowed(room, more)
    run = live(room, playbook, 3)
    _, [found] = settled(room, playbook)
    assert [(each.kind, each.at, each.live) for each in found.differences] == [("call", "name", "")]
    files = room.installation.steward.workbench.versions.workspace(run.scope, run.created_by)
    assert files.tags() == []


def test_a_run_that_went_on_from_another_one_has_no_shadow(room: Room) -> None:
    playbook = shadowed(room, OTHER)
    run = live(room, playbook, 3)
    [again] = room.playbooks.retries.retry(room.editor.access, playbook, [run.id], at="gate")
    assert again.run is not None
    assert ended(room, again.run).status is Status.done
    _, found = settled(room, playbook)
    assert [each.live_id for each in found] == [run.id]


def test_branches_comparisons_and_shadows_are_cleaned_up(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    playbook = shadowed(room, OTHER)
    live(room, playbook, 3)
    settled(room, playbook)
    files = room.installation.steward.workbench.versions.workspace(access.scope, access.user_id)
    assert [each.name for each in files.branches() if each.name.startswith("test/")] != []
    room.installation.clock.advance(days=8)
    assert playbooks.shadows.tidy() == 0
    assert [each.name for each in files.branches() if each.name.startswith("test/")] == []
    room.installation.clock.advance(days=90)
    assert playbooks.shadows.tidy() == 1
    gone = playbooks.deploying.archive(access, playbook)
    playbooks.library.delete(access, playbook, gone.version)
    room.installation.clock.advance(days=31)
    other = playbooks.library.create(access, WRITES.replace("id: writes", "id: other"))
    archived = playbooks.deploying.archive(access, other.id)
    # Deleting one removes for good what was deleted long ago.
    playbooks.library.delete(access, other.id, archived.version)
    with room.installation.steward.database.read(access.scope) as tx:
        assert tx.rows(shadows.select()) == []
