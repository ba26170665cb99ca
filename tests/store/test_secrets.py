"""Secrets: encrypted for one place, readable with the right key file alone, shown nowhere."""

import json
import logging
import shutil
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest
import sqlalchemy as sa

from steward.app import key_file, open_steward
from steward.core.errors import Misconfigured, NotFound
from steward.identity import Role
from steward.store import (
    EVERYWHERE,
    OWN_SECRETS,
    Database,
    Keyring,
    Scope,
    add_key,
    open_keyring,
    use_key,
)
from steward.store.secrets import secrets
from steward.testing import Installation, fast_passwords

pytestmark = pytest.mark.every_database

VALUE = "s3cret-välue\n with spaces"


def _everywhere(installation: Installation) -> list[sa.Row[tuple[object, ...]]]:
    with installation.steward.database.read(EVERYWHERE) as tx:
        return list(tx.rows(sa.select(secrets)))


def test_a_value_comes_back_and_is_not_stored_as_it_is(installation: Installation) -> None:
    store, scope = installation.steward.secrets, installation.scope
    info = store.set(scope, "KEY", VALUE, author="usr_1")
    assert store.get(scope, "KEY") == VALUE
    assert (info.name, info.updated_by) == ("KEY", "usr_1")
    [row] = _everywhere(installation)
    assert VALUE.encode() not in row.ciphertext
    assert "s3cret" not in repr(row)
    store.set(scope, "KEY", VALUE, author="usr_1")
    [again] = _everywhere(installation)
    assert again.ciphertext != row.ciphertext, "the same value twice must not be recognisable"


def test_setting_again_replaces_and_tells_when(installation: Installation) -> None:
    store, scope = installation.steward.secrets, installation.scope
    first = store.set(scope, "KEY", "one", author="usr_1")
    installation.clock.advance(minutes=1)
    second = store.set(scope, "KEY", "two", author="usr_2")
    assert store.get(scope, "KEY") == "two"
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    assert second.updated_by == "usr_2"
    assert store.page(scope) == [second]


def test_a_project_does_not_see_anothers_secret(installation: Installation) -> None:
    store, scope = installation.steward.secrets, installation.scope
    other = Scope(scope.org_id, installation.project("Second"))
    store.set(scope, "KEY", "mine", author="usr_1")
    store.set(other, "KEY", "theirs", author="usr_1")
    assert (store.get(scope, "KEY"), store.get(other, "KEY")) == ("mine", "theirs")
    store.delete(other, "KEY")
    assert store.get(scope, "KEY") == "mine"
    with pytest.raises(NotFound):
        store.get(other, "KEY")


@pytest.mark.parametrize("moved_to", ["name", "project"])
def test_a_ciphertext_moved_elsewhere_does_not_open(
    installation: Installation, moved_to: str
) -> None:
    """Whoever can write to the database must not get at a value through a place they may read."""
    store, scope = installation.steward.secrets, installation.scope
    other = Scope(scope.org_id, installation.project("Second"))
    store.set(scope, "KEY", VALUE, author="usr_1")
    target = (scope, "OTHER") if moved_to == "name" else (other, "KEY")
    store.set(*target, "unimportant", author="usr_1")
    with installation.steward.database.write(EVERYWHERE) as tx:
        mine = (secrets.c.project_id == scope.project_id) & (secrets.c.name == "KEY")
        [stolen] = tx.rows(sa.select(secrets.c.ciphertext).where(mine))
        theirs = (secrets.c.project_id == target[0].project_id) & (secrets.c.name == target[1])
        tx.execute(sa.update(secrets).where(theirs).values(ciphertext=stolen.ciphertext))
    with pytest.raises(Misconfigured, match="does not decrypt"):
        store.get(*target)
    assert store.get(scope, "KEY") == VALUE


def test_a_changed_ciphertext_does_not_open(installation: Installation) -> None:
    store, scope = installation.steward.secrets, installation.scope
    store.set(scope, "KEY", VALUE, author="usr_1")
    [row] = _everywhere(installation)
    for position in range(len(row.ciphertext)):
        changed = bytearray(row.ciphertext)
        changed[position] ^= 1
        with pytest.raises(Misconfigured):
            installation.steward.keyring.open(row.key_id, bytes(changed), "anything")


def test_deleting_hides_at_once_and_can_be_undone_for_a_while(installation: Installation) -> None:
    store, scope, clock = installation.steward.secrets, installation.scope, installation.clock
    store.set(scope, "KEY", VALUE, author="usr_1")
    store.delete(scope, "KEY")
    with pytest.raises(NotFound):
        store.get(scope, "KEY")
    with pytest.raises(NotFound):
        store.delete(scope, "KEY")
    assert store.page(scope) == []
    clock.advance(minutes=10)
    store.undelete(scope, "KEY")
    assert store.get(scope, "KEY") == VALUE
    with pytest.raises(NotFound):
        store.undelete(scope, "KEY")
    store.delete(scope, "KEY")
    clock.advance(minutes=10, seconds=1)
    with pytest.raises(NotFound, match="set it anew"):
        store.undelete(scope, "KEY")
    assert len(_everywhere(installation)) == 1
    for chore in installation.steward.runs.parts.chores:
        chore()
    assert _everywhere(installation) == []


def test_a_deletion_takes_older_ones_away_for_good(installation: Installation) -> None:
    store, scope, clock = installation.steward.secrets, installation.scope, installation.clock
    for name in ("OLD", "NEW"):
        store.set(scope, name, VALUE, author="usr_1")
    store.delete(scope, "OLD")
    clock.advance(minutes=11)
    store.delete(scope, "NEW")
    assert [row.name for row in _everywhere(installation)] == ["NEW"]


def test_pages_follow_the_names(installation: Installation) -> None:
    store, scope = installation.steward.secrets, installation.scope
    for name in ("C", "A", "B"):
        store.set(scope, name, "x", author="usr_1")
    assert [secret.name for secret in store.page(scope, limit=2)] == ["A", "B"]
    assert [secret.name for secret in store.page(scope, after="B")] == ["C"]


def test_writers_of_a_new_name_do_not_fail_each_other(
    installation: Installation, effort: Callable[[int, int], int]
) -> None:
    store, scope = installation.steward.secrets, installation.scope
    together = Barrier(4)

    def write(number: int, name: str) -> None:
        together.wait(30)
        store.set(scope, name, f"value {number}", author="usr_1")

    with ThreadPoolExecutor(4) as threads:
        for attempt in range(effort(3, 100)):
            name = f"KEY_{attempt}"
            list(threads.map(write, range(4), [name] * 4))
            assert store.get(scope, name).startswith("value ")


def test_values_appear_neither_in_logs_nor_in_what_is_shown(
    installation: Installation, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    admin = installation.person(Role.admin)
    address = f"/api/v1/projects/{installation.scope.project_id}/secrets"
    answers = [
        admin.client.put(f"{address}/KEY", json={"value": VALUE}),
        admin.client.put(f"{address}/KEY", json={"valu": VALUE}),
        admin.client.put(f"{address}/KEY", json={"value": [VALUE]}),
        admin.client.get(address),
        admin.client.delete(f"{address}/KEY"),
        admin.client.post(f"{address}/KEY/restore"),
    ]
    assert [answer.status_code for answer in answers] == [200, 422, 422, 200, 204, 200]
    steward = installation.steward
    shown = [answer.text for answer in answers] + [caplog.text]
    shown += [repr(steward), repr(steward.secrets), repr(steward.keyring)]
    shown += [repr(info) for info in steward.secrets.page(installation.scope)]
    key = json.loads(key_file(steward.settings).read_text())["keys"][0]["key"]
    for text in shown:
        assert "s3cret" not in text
        assert key not in text


def _reopen(installation: Installation) -> None:
    open_steward(
        installation.steward.settings, clock=installation.clock, passwords=fast_passwords()
    ).close()


def test_the_key_file_is_for_its_owner_alone(installation: Installation) -> None:
    path = key_file(installation.steward.settings)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    _reopen(installation)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.unlink(), "is missing"),
        (lambda path: path.write_text("{}"), "is damaged"),
        (lambda path: path.write_text("[]"), "is damaged"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "is damaged"),
        (lambda path: path.write_text('{"keys": []}'), "holds no key"),
        (lambda path: path.write_text('{"keys": [{"id": "k", "key": "AAAA"}]}'), "is damaged"),
        (lambda path: path.write_text('{"keys": [{"id": "k", "key": "?"}]}'), "is damaged"),
        (lambda path: (path.unlink(), path.mkdir()), "cannot be read"),
        (lambda path: Keyring.generate("key_other").save(path), "does not hold key"),
    ],
)
def test_a_wrong_key_file_is_refused(
    home_template: Path, tmp_path: Path, spoil: Callable[[Path], object], said: str
) -> None:
    shutil.copytree(home_template, tmp_path / "home")
    database = Database(f"sqlite:///{tmp_path / 'home' / 'steward.db'}")
    path = tmp_path / "home" / "keys" / "secrets.json"
    open_keyring(database, path, "key_first")
    mine = path.read_text()
    spoil(path)
    with pytest.raises(Misconfigured, match=said) as caught:
        open_keyring(database, path, "key_second")
    assert json.loads(mine)["keys"][0]["key"] not in str(caught.value)
    database.close()


def test_a_missing_key_file_is_refused_at_the_start(installation: Installation) -> None:
    key_file(installation.steward.settings).unlink()
    with pytest.raises(Misconfigured, match="is missing"):
        _reopen(installation)


def test_another_key_of_the_same_name_is_refused_at_the_start(installation: Installation) -> None:
    path = key_file(installation.steward.settings)
    Keyring.generate(installation.steward.keyring.primary).save(path)
    with pytest.raises(Misconfigured, match="does not decrypt"):
        _reopen(installation)


def test_new_values_use_the_newest_key_and_old_ones_keep_theirs(
    installation: Installation,
) -> None:
    path, scope = key_file(installation.steward.settings), installation.scope
    installation.steward.secrets.set(scope, "OLD", VALUE, author="usr_1")
    keys = json.loads(path.read_text())
    keys["keys"].append(json.loads(Keyring.generate("key_new").dump())["keys"][0])
    path.write_text(json.dumps(keys))
    again = open_steward(
        installation.steward.settings, clock=installation.clock, passwords=fast_passwords()
    )
    again.secrets.set(scope, "NEW", VALUE, author="usr_1")
    assert again.secrets.get(scope, "OLD") == again.secrets.get(scope, "NEW") == VALUE
    used = {row.name: row.key_id for row in _everywhere(installation)}
    assert used == {"OLD": installation.steward.keyring.primary, "NEW": "key_new"}
    again.close()


def test_a_key_file_survives_a_start_that_was_cut_before_its_check(
    installation: Installation,
) -> None:
    """The file is written first: without a check in the database, the next start takes it as it is."""
    path = key_file(installation.steward.settings)
    mine = path.read_text()
    with installation.steward.database.write(EVERYWHERE) as tx:
        tx.execute(sa.text("DELETE FROM key_checks"))
    _reopen(installation)
    assert path.read_text() == mine


def test_changes_are_told_without_values(installation: Installation) -> None:
    steward, scope = installation.steward, installation.scope
    since = steward.events.latest(scope)
    steward.secrets.set(scope, "KEY", "open sesame", author="usr_me")
    steward.secrets.set(scope, f"{OWN_SECRETS}inner", "hidden", author="usr_me")
    steward.secrets.delete(scope, "KEY")
    steward.secrets.undelete(scope, "KEY")
    told = steward.events.after(scope, since)
    assert [event.type.rpartition("steward.")[2] for event in told] == [
        "secret.changed",
        "secret.deleted",
        "secret.restored",
    ]
    assert "sesame" not in repr(told)


def test_keys_are_rotated_while_processes_run(installation: Installation) -> None:
    """Another process encrypts everything anew; this one reads it, writes with its own key, and both stay readable."""
    steward, scope = installation.steward, installation.scope
    steward.secrets.set(scope, "KEY", VALUE, author="usr_1")
    file = key_file(steward.settings)
    add_key(steward.database, steward.keyring, file, "key_second")
    with closing(open_steward(steward.settings, passwords=fast_passwords())) as other:
        assert other.keyring.primary == "key_second"
        use_key(other.database, other.keyring)
        assert other.secrets.encrypt_again() >= 1
        assert other.secrets.encrypt_again() == 0
        assert {row.key_id for row in _everywhere(installation)} == {"key_second"}
        assert steward.secrets.get(scope, "KEY") == VALUE
        steward.secrets.set(scope, "LATER", VALUE, author="usr_1")
        assert other.secrets.get(scope, "LATER") == VALUE
        for purpose in ("nonce", "doorbell"):
            assert other.keyring.derived_for_good(purpose) == steward.keyring.derived_for_good(
                purpose
            )
    # A key that nobody used yet is not followed by another one.
    third = add_key(steward.database, Keyring.load(file), file, "key_third")
    assert add_key(steward.database, third, file, "key_fourth").primary == "key_third"
