"""A person is erased: what is theirs goes, what proves their work stays and names nobody."""

import asyncio

import pytest
import sqlalchemy as sa

from steward.core.errors import Conflict, NotFound
from steward.flows import DirectCall
from steward.identity import Role, relying_party
from steward.identity._tables import users
from steward.store import EVERYWHERE, metadata
from steward.testing import Installation
from tests.identity.authenticator import Authenticator

pytestmark = pytest.mark.every_database
PASSWORD = "correct horse battery"
HERE = "192.0.2.7"


def everything(installation: Installation) -> str:
    """Every row but those of journals and the event log, as text."""
    with installation.steward.database.read(EVERYWHERE) as tx:
        return "\n".join(
            str(row)
            for table in metadata.sorted_tables
            if table.name not in ("events", "journal", "run_entries")
            for row in tx.rows(sa.select(table))
        )


def test_what_is_theirs_goes_and_what_they_did_stays(installation: Installation) -> None:
    steward, identity = installation.steward, installation.steward.identity
    person = installation.person(Role.editor)
    access, user = person.access, identity.users.get(person.access.user_id)
    identity.users.set_password(user.id, PASSWORD)
    session = identity.sessions.sign_in(user.email, PASSWORD, address=HERE)
    identity.sessions.new_link(user.id)
    identity.two_step.begin(user.id, PASSWORD, address=HERE)
    party, key = relying_party("http://localhost:8400"), Authenticator()
    options = identity.passkeys.begin(session.principal, party, None, address=HERE)
    identity.passkeys.add(session.principal, party, "A laptop", key.made(options))
    identity.passkeys.begin(session.principal, party, None, address=HERE)
    document = {
        "name": "helper",
        "title": "Helper",
        "description": "Helps.",
        "instructions": "Help.",
    }
    call = DirectCall("change_agent", {"name": "helper", "document": document})
    asyncio.run(steward.governing.direct_calls.run(access, call))

    before = identity.eraser.preview(user.id)
    assert before.removed["two_step_keys"] == 1
    assert (before.removed["passkeys"], before.removed["passkey_challenges"]) == (1, 1)
    assert before.removed["project_members"] == 1
    assert before.kept["agent_versions.author"] == 1
    assert before.kept["runs.created_by"] == 1
    assert identity.users.get(user.id) == identity.users.find(user.email)

    done = identity.eraser.erase(user.id)
    assert done == before
    now = identity.users.get(user.id)
    assert (now.name, now.has_password, now.disabled_at is not None) == (
        "Former member",
        False,
        True,
    )
    assert identity.users.find(user.email) is None
    left = everything(installation)
    assert user.email not in left
    assert user.name not in left
    assert identity.eraser.preview(user.id).removed == {}
    # The address is free for somebody new, who is another person.
    assert identity.users.create(user.email, "Somebody", PASSWORD).id != user.id


def test_the_last_owner_and_strangers_are_not_erased(installation: Installation) -> None:
    eraser = installation.steward.identity.eraser
    with pytest.raises(Conflict):
        eraser.erase(installation.owner.access.user_id)
    for act in (eraser.preview, eraser.erase):
        with pytest.raises(NotFound):
            act("usr_nobody")
    assert installation.steward.identity.users.get(installation.owner.access.user_id).name != (
        "Former member"
    )


def test_every_table_that_is_about_a_person_is_known() -> None:
    """A column that refers to users is either theirs, called user_id, or a record of who did something."""
    records = {
        f"{table.name}.{key.parent.name}"
        for table in metadata.sorted_tables
        for key in table.foreign_keys
        if key.column is users.c.id and key.parent.name != "user_id"
    }
    assert records <= {"invitations.created_by", "invitations.accepted_by"}
