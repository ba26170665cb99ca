"""Drafts of people: kept as they type, theirs alone, never lost to another window."""

import pytest

from steward.core.errors import Denied, Invalid, NotFound, Stale
from steward.identity import Access
from steward.playbooks import Drawing
from steward.playbooks.drafts import NEW, STAYS
from tests.playbooks.conftest import ASKING, Room

pytestmark = pytest.mark.every_database
BASE = Drawing(ASKING, {"places": {"ask": {"x": 1, "y": 2}}})
HALF = Drawing(ASKING + "\nnodes: [", {})


def _keep(
    room: Room, who: Access, named: str, seen: int = 0, *, drawing: Drawing = HALF, base: int = 1
) -> int:
    return room.playbooks.drafts.keep(who, named, drawing, BASE, base_version=base, seen=seen)


def test_a_draft_comes_back_as_it_was_even_if_it_cannot_be_read(room: Room) -> None:
    drafts, editor = room.playbooks.drafts, room.editor.access
    made = room.playbooks.library.create(editor, ASKING)
    assert drafts.mine(editor, made.id) is None
    first = _keep(room, editor, made.id)
    assert _keep(room, editor, made.slug, first, drawing=Drawing("x", {"notes": []})) == 2
    found = drafts.mine(editor, made.id)
    assert found is not None
    assert (found.drawing, found.base) == (Drawing("x", {"notes": []}), BASE)
    assert (found.base_version, found.version) == (1, 2)
    drafts.discard(editor, made.id, seen=first)
    assert drafts.mine(editor, made.id) == found
    drafts.discard(editor, made.id, seen=2)
    assert drafts.mine(editor, made.id) is None


def test_nobody_else_reads_it_and_everybody_is_told_whose_it_is(room: Room) -> None:
    drafts, editor, owner = (
        room.playbooks.drafts,
        room.editor.access,
        room.installation.owner.access,
    )
    made = room.playbooks.library.create(editor, ASKING)
    _keep(room, editor, made.id)
    _keep(room, editor, NEW)
    assert drafts.mine(owner, made.id) is None
    assert drafts.mine(owner, NEW) is None
    (unsaved,) = drafts.unsaved(owner, made.id)
    assert unsaved.user_id == editor.user_id
    drafts.discard(owner, made.id, seen=1)
    assert drafts.mine(editor, made.id) is not None
    # Saving is another matter: the draft stays until its author drops it, as another window may hold more.
    assert room.playbooks.library.get(owner, made.id).head == made.head


def test_one_window_does_not_replace_what_another_keeps(room: Room) -> None:
    editor = room.editor.access
    made = room.playbooks.library.create(editor, ASKING)
    seen = _keep(room, editor, made.id)
    _keep(room, editor, made.id, seen)
    with pytest.raises(Stale, match="another window"):
        _keep(room, editor, made.id, seen, drawing=Drawing("older", {}))
    found = room.playbooks.drafts.mine(editor, made.id)
    assert found is not None
    assert found.drawing == HALF


def test_a_playbook_that_one_may_not_see_takes_no_draft(room: Room) -> None:
    made = room.playbooks.library.create(room.editor.access, ASKING)
    stranger = room.stranger.access
    for ask in (room.playbooks.drafts.mine, room.playbooks.drafts.unsaved):
        with pytest.raises(NotFound):
            ask(stranger, made.id)
    with pytest.raises((Denied, NotFound)):
        _keep(room, stranger, made.id)


def test_a_draft_that_holds_a_secret_is_refused(room: Room) -> None:
    owner = room.installation.owner.access
    secret = "s3cret-of-the-house"
    room.installation.steward.secrets.set(owner.scope, "MAIL", secret, author=owner.user_id)
    with pytest.raises(Invalid, match="secret"):
        _keep(room, owner, NEW, drawing=Drawing(f"goal: {secret}", {}))
    assert room.playbooks.drafts.mine(owner, NEW) is None


def test_a_draft_that_nobody_touches_is_gone_after_a_time(room: Room) -> None:
    editor, owner = room.editor.access, room.installation.owner.access
    made = room.playbooks.library.create(editor, ASKING)
    _keep(room, editor, made.id)
    room.installation.clock.advance(seconds=STAYS.total_seconds() + 1)
    assert room.playbooks.drafts.unsaved(owner, made.id) == []
    _keep(room, owner, NEW)
    assert room.playbooks.drafts.mine(editor, made.id) is None
