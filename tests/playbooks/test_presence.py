"""Who has a playbook open."""

import pytest

from steward.core.errors import NotFound
from steward.playbooks.presence import STAYS
from tests.playbooks.conftest import ASKING, Room


def test_people_see_who_else_has_it_open_until_they_leave(room: Room) -> None:
    presence = room.playbooks.presence
    made = room.playbooks.library.create(room.editor.access, ASKING)
    editor, owner = room.editor.access, room.installation.owner.access
    assert presence.announce(editor, made.id, is_editing=True) == []
    (seen,) = presence.announce(owner, made.id, is_editing=False)
    assert (seen.user_id, seen.is_editing) == (editor.user_id, True)
    presence.announce(editor, made.id, is_editing=False)
    (seen,) = presence.announce(owner, made.id, is_editing=False)
    assert not seen.is_editing
    presence.leave(editor, made.id)
    assert presence.announce(owner, made.id, is_editing=False) == []


def test_somebody_who_says_nothing_any_more_is_gone(room: Room) -> None:
    presence = room.playbooks.presence
    made = room.playbooks.library.create(room.editor.access, ASKING)
    presence.announce(room.editor.access, made.id, is_editing=True)
    room.installation.clock.advance(seconds=STAYS.total_seconds() + 1)
    assert presence.announce(room.installation.owner.access, made.id, is_editing=False) == []


def test_a_playbook_that_one_may_not_see_tells_nothing(room: Room) -> None:
    made = room.playbooks.library.create(room.editor.access, ASKING)
    with pytest.raises(NotFound):
        room.playbooks.presence.announce(room.stranger.access, made.id, is_editing=False)
