"""Revisions, deployments, the way back, two-step delete, and who sees what."""

import pytest

from steward.core.errors import Conflict, Denied, Invalid, NotFound, Stale
from steward.playbooks import Allowed, State
from steward.runs import Status
from tests.playbooks.conftest import ASKING, Room

pytestmark = pytest.mark.every_database


def test_saving_the_same_again_changes_nothing(room: Room) -> None:
    library, access = room.playbooks.library, room.editor.access
    made = library.create(access, ASKING, message="First")
    again = library.save(access, made.id, made.version, ASKING)
    assert (again.head, again.version) == (1, made.version)
    changed = library.save(
        access, "monthly-costs", made.version, ASKING.replace("usd: 2", "usd: 3")
    )
    assert changed.head == 2
    assert library.diff(access, made.id, 1, 2) == ["budget usd: 2 → 3"]
    with pytest.raises(Stale):
        library.save(access, made.id, made.version, ASKING)
    assert [each.message for each in library.revisions(access, made.id)] == ["Changed", "First"]
    one, two = library.revision(access, made.id, 1), library.revision(access, made.id, 2)
    assert one.hash != two.hash
    assert one.author == access.user_id


def test_the_diff_names_steps(room: Room) -> None:
    library, access = room.playbooks.library, room.editor.access
    made = library.create(access, ASKING)
    more = ASKING.replace("closed?", "done?").replace(
        "output:", "  - {id: again, question: Sure}\noutput:"
    )
    library.save(access, made.id, None, more)
    lines = library.diff(access, made.id, 1, 2)
    assert any(line.startswith("node ask: question: ") for line in lines), lines
    assert "node again (question): added" in lines


def test_a_run_keeps_the_revision_it_was_started_with(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = playbooks.library.create(access, ASKING)
    playbooks.deploying.deploy(access, made.id)
    run = playbooks.running.start(access, made.id, {"month": "2026-02"})
    room.drive()
    assert room.fresh(run).status is Status.blocked
    other = ASKING.replace("closed: ", "over: ")
    playbooks.library.save(access, made.id, None, other)
    playbooks.deploying.deploy(access, made.id)
    later = playbooks.running.start(access, made.id, {"month": "2026-03"})
    room.drive()
    room.answer(run, True)
    room.answer(later, False)
    outcome = room.runs.outcome
    assert outcome(run.scope, run.id) == {"output": {"month": "2026-02", "closed": True}}
    assert outcome(run.scope, later.id) == {"output": {"month": "2026-03", "over": False}}
    assert playbooks.running.pin(run.scope, run.id) == 1
    assert playbooks.running.pin(run.scope, later.id) == 2
    grant = room.runs.request(run.scope, run.id).grant
    assert (grant["tools"], grant["risk"], grant["playbook"]) == ([], "read", "monthly-costs")


def test_rolling_back_goes_through_the_deployments(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = playbooks.library.create(access, ASKING)
    for usd in (3, 4):
        playbooks.deploying.deploy(access, made.id)
        text = ASKING.replace("usd: 2", f"usd: {usd}")
        playbooks.library.save(access, made.id, None, text)
    assert playbooks.deploying.deploy(access, made.id).deployed == 3
    assert playbooks.deploying.roll_back(access, made.id).deployed == 2
    assert playbooks.deploying.roll_back(access, made.id).deployed == 1
    with pytest.raises(Conflict, match="deployed before"):
        playbooks.deploying.roll_back(access, made.id)
    assert playbooks.library.get(access, made.id).head == 3


def test_deleting_takes_two_steps_and_has_a_way_back(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = playbooks.library.create(access, ASKING)
    playbooks.deploying.deploy(access, made.id)
    current = playbooks.library.get(access, made.id)
    with pytest.raises(Conflict, match="Archive"):
        playbooks.library.delete(access, made.id, current.version)
    archived = playbooks.deploying.archive(access, made.id)
    with pytest.raises(Conflict, match="archived"):
        playbooks.running.start(access, made.id, {"month": "2026-02"})
    assert playbooks.library.listed(access) == []
    playbooks.library.delete(access, made.id, archived.version)
    with pytest.raises(NotFound):
        playbooks.library.get(access, made.id)
    # Its id is free again while it can be restored.
    other = playbooks.library.create(access, ASKING)
    with pytest.raises(Conflict, match="taken"):
        playbooks.library.restore(access, made.id)
    gone = playbooks.deploying.archive(access, other.id)
    playbooks.library.delete(access, other.id, gone.version)
    back = playbooks.library.restore(access, made.id)
    assert (back.state, back.slug) == (State.archived, "monthly-costs")
    assert playbooks.deploying.bring_back(access, made.id).state is State.active
    with pytest.raises(NotFound):
        playbooks.library.restore(room.stranger.access, other.id)
    room.installation.clock.advance(days=31)
    with pytest.raises(NotFound, match="thirty days"):
        playbooks.library.restore(access, other.id)


def test_only_people_in_scope_see_it(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = playbooks.library.create(access, ASKING)
    deployed = playbooks.deploying.deploy(access, made.id)
    for person in (room.controller, room.stranger):
        assert playbooks.library.listed(person.access) == []
        for named in (made.id, made.slug):
            with pytest.raises(NotFound):
                playbooks.library.get(person.access, named)
            with pytest.raises(NotFound):
                playbooks.running.start(person.access, named, {"month": "2026-02"})
    emails = [room.controller.user.email]
    shared = playbooks.library.share(
        access, made.id, deployed.version, Allowed(users=emails), room.editor.user.email
    )
    assert [card.id for card in playbooks.library.listed(room.controller.access)] == [made.id]
    run = playbooks.running.start(room.controller.access, made.id, {"month": "2026-02"})
    assert run.created_by == room.controller.user.id
    with pytest.raises(Denied):
        playbooks.library.save(room.controller.access, made.id, shared.version, ASKING)
    with pytest.raises(NotFound):
        playbooks.library.get(room.stranger.access, made.id)
    # The project's admins see everything in it.
    assert playbooks.library.get(room.installation.owner.access, made.slug).id == made.id
    playbooks.library.share(access, made.id, shared.version, Allowed(), room.editor.user.email)
    with pytest.raises(NotFound):
        playbooks.library.get(room.controller.access, made.id)


def test_groups_and_everyone(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    groups = room.installation.steward.governing.groups
    groups.put(room.installation.owner.access, "controllers", [room.controller.user.id])
    made = playbooks.library.create(access, ASKING + "allowed: {groups: [controllers]}\n")
    assert playbooks.library.get(room.controller.access, made.id).id == made.id
    with pytest.raises(NotFound):
        playbooks.library.get(room.stranger.access, made.id)
    with pytest.raises(Invalid, match="no group"):
        playbooks.library.save(access, made.id, None, ASKING + "allowed: {groups: [nobody]}\n")
    playbooks.library.save(access, made.id, None, ASKING + "allowed: {everyone: true}\n")
    assert playbooks.library.get(room.stranger.access, made.id).id == made.id


def test_a_draft_is_tried_by_editors_alone(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = playbooks.library.create(access, ASKING + "allowed: {everyone: true}\n")
    assert playbooks.running.start(access, made.id, {"month": "2026-02"}).title == "Monthly costs"
    with pytest.raises(Denied, match="deployed"):
        playbooks.running.start(room.controller.access, made.id, {"month": "2026-02"})
    with pytest.raises(Invalid, match="month"):
        playbooks.running.start(access, made.id, {"month": "May"})


def test_an_old_revision_does_not_share_again(room: Room) -> None:
    playbooks, access = room.playbooks, room.editor.access
    made = playbooks.library.create(access, ASKING + "allowed: {everyone: true}\n")
    playbooks.deploying.deploy(access, made.id)
    playbooks.library.save(
        access, made.id, None, ASKING.replace("usd: 2", "usd: 3") + "allowed: {everyone: false}\n"
    )
    playbooks.deploying.deploy(access, made.id)
    playbooks.deploying.roll_back(access, made.id)
    with pytest.raises(NotFound):
        playbooks.library.get(room.stranger.access, made.id)
