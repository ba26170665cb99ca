"""Backup and restore: everything works in the new place, and any damage is found before it is trusted."""

import hashlib
import json
import random
import shutil
import sqlite3
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from pprint import pformat
from typing import Any

import pytest
import sqlalchemy as sa

from steward.app import Steward, key_file, open_steward
from steward.core import MovableClock, load_settings
from steward.core.errors import Conflict, Invalid, Misconfigured, Unauthenticated
from steward.identity import Access, Principal, Role, Via
from steward.store import EVERYWHERE, Keyring, archive, metadata
from steward.store.backup import Verified, backup, restore, verify
from steward.testing import PostgresServer, fast_passwords

pytestmark = pytest.mark.every_database

PASSWORD = "correct horse battery"
SECRET = "ключ 🔑 \u2028 line"


@contextmanager
def _opened(home: Path, url: str | None, clock: MovableClock) -> Iterator[Steward]:
    settings = load_settings(home=home, database={"url": url})
    steward = open_steward(settings, clock=clock, passwords=fast_passwords())
    try:
        yield steward
    finally:
        steward.close()


class Places:
    """Homes on either database."""

    def __init__(self, request: pytest.FixtureRequest, folder: Path) -> None:
        self._request = request
        self._folder = folder
        self._stack = ExitStack()
        self._made = 0

    def empty(self, kind: str) -> tuple[Path, str | None]:
        self._made += 1
        home = self._folder / f"home-{self._made}"
        if kind == "sqlite":
            return home, None
        server: PostgresServer = self._request.getfixturevalue("postgres")
        return home, self._stack.enter_context(server.database(None))

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Places]:
    made = Places(request, tmp_path)
    yield made
    made.close()


def _fill(steward: Steward) -> tuple[Access, str]:
    """Somebody of every kind; returns the owner's access and a token."""
    identity = steward.identity
    owner = identity.users.create("owner@example.com", "Zoë Owner", PASSWORD)
    organisation = identity.projects.create_organisation("Example", owner.id)
    project_id = identity.projects.create(organisation.id, "First", owner.id)
    access = identity.projects.enter(
        Principal(owner.id, owner.email, owner.name, Via.session), project_id
    )
    _, token = identity.tokens.create(access, "export", Role.editor, 30)
    identity.invitations.create(access, Role.viewer, "guest@example.com", 7)
    steward.secrets.set(access.scope, "KEY", SECRET, author=owner.id)
    steward.secrets.set(access.scope, "GONE", SECRET, author=owner.id)
    steward.secrets.delete(access.scope, "GONE")
    for content in (b"", b"small", random.Random(1).randbytes(200_000)):
        steward.blobs.put([content])
    return access, token


def _backup(steward: Steward, target: Path, **options: Any) -> Verified:
    return backup(
        steward.database,
        steward.blobs,
        steward.keyring,
        target,
        version="0.0.0",
        now=steward.clock.now(),
        **options,
    )


def _restore(home: Path, url: str | None, source: Path, **options: Any) -> Verified:
    from steward.app import open_blobs, open_database

    settings = load_settings(home=home, database={"url": url})
    database = open_database(settings)
    try:
        return restore(source, database, open_blobs(settings), key_file(settings), **options)
    finally:
        database.close()


def _rows(steward: Steward) -> dict[str, list[Any]]:
    with steward.database.read(EVERYWHERE) as tx:
        return {
            # With the keys of documents in one order: PostgreSQL keeps none.
            name: sorted(pformat(tuple(row)) for row in tx.rows(sa.select(table)))
            for name, table in metadata.tables.items()
        }


def _blobs(steward: Steward) -> dict[str, bytes]:
    return {digest: b"".join(steward.blobs.read(digest)) for digest in steward.blobs.digests()}


@pytest.mark.parametrize(
    ("source", "target"),
    [("sqlite", "sqlite"), ("sqlite", "postgres"), ("postgres", "sqlite")],
)
def test_everything_works_in_the_new_place(
    places: Places, tmp_path: Path, clock: MovableClock, source: str, target: str
) -> None:
    file = tmp_path / "backup.tar.gz"
    with _opened(*places.empty(source), clock) as old:
        access, token = _fill(old)
        made = _backup(old, file)
        rows, blobs = _rows(old), _blobs(old)
        events = [event.as_cloudevent() for event in old.events.after(access.scope, 0)]
        last = old.events.latest(access.scope)
    assert file.stat().st_mode & 0o777 == 0o600
    assert (made.blobs, made.secrets, made.keys_proven) == (3, 2, True)
    home, url = places.empty(target)
    assert _restore(home, url, file) == made
    with _opened(home, url, clock) as new:
        assert _rows(new) == rows
        assert _blobs(new) == blobs
        assert [event.as_cloudevent() for event in new.events.after(access.scope, 0)] == events
        session = new.identity.sessions.sign_in("owner@example.com", PASSWORD, address="::1")
        assert new.identity.sessions.resolve(session.token).name == "Zoë Owner"
        with pytest.raises(Unauthenticated):
            new.identity.sessions.sign_in("owner@example.com", "wrong password", address="::1")
        principal = new.identity.tokens.resolve(token)
        assert new.identity.projects.enter(principal, access.scope.project_id).role is Role.editor
        assert new.secrets.get(access.scope, "KEY") == SECRET
        new.secrets.undelete(access.scope, "GONE")
        assert new.secrets.get(access.scope, "GONE") == SECRET
        new.identity.notifications.mark_read(access, None)
        new.identity.members.set_organisation_role(access.scope.org_id, access.user_id, Role.owner)
        with new.database.write(access.scope) as tx:
            new.events.append(tx, "thing.happened", "x")
        assert new.events.latest(access.scope) > last, "numbering goes on behind what was restored"
    assert key_file(new.settings).stat().st_mode & 0o777 == 0o600


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Steward, Path]]:
    """An installation and its backup; tests look at both and change neither."""
    folder = tmp_path_factory.mktemp("sample")
    clock = MovableClock(datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
    with _opened(folder / "home", None, clock) as steward:
        _fill(steward)
        _backup(steward, folder / "backup.tar.gz")
        yield steward, folder / "backup.tar.gz"


def _is_refused(file: Path) -> bool:
    try:
        verify(file)
    except (Invalid, Misconfigured):
        return True
    return False


@pytest.mark.soak
def test_a_flipped_byte_anywhere_is_found(
    sample: tuple[Steward, Path], tmp_path: Path, effort: Callable[[int, int], int]
) -> None:
    """The soak: header and end in full, the rest sampled; in full every byte up to some thousands."""
    _, file = sample
    content = file.read_bytes()
    damaged = tmp_path / "damaged.tar.gz"
    chance = random.Random(7)
    edges = [*range(12), *range(len(content) - 12, len(content))]
    count = min(effort(40, 20_000), len(content))
    for position in [*edges, *chance.sample(range(len(content)), count)]:
        for mask in (1 << chance.randrange(8), 0xFF):
            changed = bytearray(content)
            changed[position] ^= mask
            damaged.write_bytes(changed)
            assert _is_refused(damaged), f"byte {position} of {len(content)} changed by {mask:#x}"
    damaged.write_bytes(content)
    verify(damaged)


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9, 0.9999])
def test_an_archive_that_is_cut_short_is_found(
    sample: tuple[Steward, Path], tmp_path: Path, kept: float
) -> None:
    content = sample[1].read_bytes()
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(Invalid):
        verify(cut)


def _rebuilt(file: Path, target: Path, change: Callable[[dict[str, bytes]], object]) -> Path:
    """The archive with its entries changed and every hash made right again: the work of a forger."""
    entries = {name: b"".join(chunks) for name, chunks in archive.reading(file)}
    manifest = json.loads(entries.pop("manifest.json"))
    change(entries)
    forged = json.loads(entries.pop("manifest.json", b"null")) or manifest
    forged["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in entries.items()}
    forged["rows"] = {
        Path(name).stem: data.count(b"\n")
        for name, data in entries.items()
        if name.endswith(".ndjson")
    }
    target.touch()
    with archive.writing(target) as writer:
        for name, data in entries.items():
            writer.data(name, data)
        writer.data("manifest.json", json.dumps(forged).encode())
    return target


@pytest.mark.parametrize(
    "name",
    [
        "../evil.ndjson",
        "/etc/evil.ndjson",
        "tables/../../evil.ndjson",
        "tables/sub/evil.ndjson",
        "tables/.evil",
        "tables/",
        "keys/../evil.json",
        "blobs/../evil",
        "evil",
        "tables/evil.ndjson\x00",
    ],
)
def test_hostile_names_are_refused(sample: tuple[Steward, Path], tmp_path: Path, name: str) -> None:
    forged = _rebuilt(
        sample[1], tmp_path / "forged.tar.gz", lambda entries: entries.update({name: b"{}\n"})
    )
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(Invalid):
        _restore(inside / "home", None, forged)
    assert not list(tmp_path.rglob("*evil*"))
    assert not Path("/etc/evil.ndjson").exists()


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_entries_that_are_not_files_are_refused(tmp_path: Path, kind: bytes) -> None:
    file = tmp_path / "links.tar.gz"
    file.touch()
    with archive.writing(file) as writer:
        entry = tarfile.TarInfo("tables/users.ndjson")
        entry.type, entry.linkname = kind, "/etc/passwd"
        writer._archive.addfile(entry)
    with pytest.raises(Invalid, match="not a plain file"):
        verify(file)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda e: e.update({"tables/secrets.ndjson": b"not json\n"}), "not ours"),
        (lambda e: e.update({"tables/secrets.ndjson": b"[]\n"}), "not ours"),
        (lambda e: e.update({"tables/secrets.ndjson": b'{"name": 1}\n'}), "not ours"),
        (lambda e: e.update({"keys/secrets.json": b"{}"}), "damaged"),
        (lambda e: e.update({"manifest.json": b'{"schema_version": 2}'}), "cannot read"),
        (lambda e: e.pop("keys/secrets.json"), "missing"),
        (
            lambda e: e.update({"keys/secrets.json": Keyring.generate("k").dump().encode()}),
            "does not hold key",
        ),
    ],
)
def test_forgeries_with_right_hashes_are_refused(
    sample: tuple[Steward, Path],
    tmp_path: Path,
    change: Callable[[dict[str, bytes]], object],
    said: str,
) -> None:
    forged = _rebuilt(sample[1], tmp_path / "forged.tar.gz", change)
    with pytest.raises((Invalid, Misconfigured), match=said):
        verify(forged)


def test_a_secret_that_does_not_decrypt_is_found(
    sample: tuple[Steward, Path], tmp_path: Path
) -> None:
    def swap(entries: dict[str, bytes]) -> None:
        """Two secrets exchange their values: hashes and counts cannot tell."""
        rows = [json.loads(line) for line in entries["tables/secrets.ndjson"].splitlines()]
        rows[0]["ciphertext"], rows[1]["ciphertext"] = rows[1]["ciphertext"], rows[0]["ciphertext"]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        entries["tables/secrets.ndjson"] = lines.encode()

    forged = _rebuilt(sample[1], tmp_path / "forged.tar.gz", swap)
    with pytest.raises(Misconfigured, match="does not decrypt"):
        verify(forged)


def test_a_backup_of_a_newer_version_is_refused_and_leaves_nothing(
    sample: tuple[Steward, Path], places: Places, tmp_path: Path, clock: MovableClock
) -> None:
    def renew(entries: dict[str, bytes]) -> None:
        manifest = {name: b"".join(c) for name, c in archive.reading(sample[1])}["manifest.json"]
        entries["manifest.json"] = json.dumps(
            {**json.loads(manifest), "database_revision": "9999"}
        ).encode()

    forged = _rebuilt(sample[1], tmp_path / "newer.tar.gz", renew)
    home, url = places.empty("sqlite")
    with pytest.raises(Misconfigured, match="newer version"):
        _restore(home, url, forged)
    assert not key_file(load_settings(home=home)).exists()
    _restore(home, url, sample[1])


def test_a_restore_that_fails_half_way_can_be_repeated(
    sample: tuple[Steward, Path], places: Places, tmp_path: Path, clock: MovableClock
) -> None:
    def spoil(entries: dict[str, bytes]) -> None:
        """A row twice: the archive is consistent, the database refuses it."""
        entries["tables/users.ndjson"] *= 2

    forged = _rebuilt(sample[1], tmp_path / "forged.tar.gz", spoil)
    home, url = places.empty("sqlite")
    with pytest.raises(Invalid, match="refuses"):
        _restore(home, url, forged)
    _restore(home, url, sample[1])
    with _opened(home, url, clock) as new:
        assert _rows(new) == _rows(sample[0])


def test_without_keys_the_key_file_is_asked_for(
    sample: tuple[Steward, Path], places: Places, tmp_path: Path, clock: MovableClock
) -> None:
    steward, _ = sample
    file = tmp_path / "bare.tar.gz"
    made = _backup(steward, file, include_keys=False)
    assert made.manifest.has_keys is False
    names = [name for name, chunks in archive.reading(file) if list(chunks) is not None]
    assert not [name for name in names if name.startswith("keys/")]
    with pytest.raises(Invalid, match="pass the key file"):
        verify(file)
    with pytest.raises(Misconfigured):
        verify(file, keyring=Keyring.generate("key_other"))
    home, url = places.empty("sqlite")
    with pytest.raises(Invalid, match="pass the key file"):
        _restore(home, url, file)
    _restore(home, url, file, keyring=Keyring.load(key_file(steward.settings)))
    with _opened(home, url, clock) as new:
        assert _rows(new) == _rows(steward)


def test_nothing_is_overwritten(
    sample: tuple[Steward, Path], places: Places, clock: MovableClock
) -> None:
    steward, file = sample
    content = file.read_bytes()
    with pytest.raises(Conflict, match="exists already"):
        _backup(steward, file)
    assert file.read_bytes() == content
    home, url = places.empty("sqlite")
    with _opened(home, url, clock) as other:
        before = _rows(other)
        with pytest.raises(Conflict, match="installation here already"):
            _restore(home, url, file)
        assert _rows(other) == before
    (home / "steward.db").unlink()
    with pytest.raises(Conflict, match="installation here already"):
        _restore(home, url, file)


def test_a_backup_that_fails_leaves_no_file(
    places: Places, tmp_path: Path, clock: MovableClock
) -> None:
    with _opened(*places.empty("sqlite"), clock) as steward:
        blob = steward.blobs.put([b"fresh"])
        path = steward.settings.home / "blobs" / blob.digest[:2] / blob.digest[2:4] / blob.digest
        path.chmod(0o600)
        path.write_bytes(b"rotten")
        with pytest.raises(Invalid, match="damaged"):
            _backup(steward, tmp_path / "second.tar.gz")
    assert list(tmp_path.glob("second*")) == []


def test_a_backup_sees_one_moment(places: Places, tmp_path: Path, clock: MovableClock) -> None:
    """Somebody who joins while the backup runs is in all of its tables or in none."""
    with _opened(*places.empty("sqlite"), clock) as steward:
        access, _ = _fill(steward)
        seen: list[str] = []

        def meanwhile(step: str) -> None:
            seen.append(step)
            if step.startswith("blob"):
                steward.secrets.set(access.scope, f"LATE_{len(seen)}", "x", author="usr_1")

        made = _backup(steward, tmp_path / "b.tar.gz", progress=meanwhile)
    assert made.secrets == 2
    assert any(step.startswith("table secrets") for step in seen)
    assert seen[-1] == "reading it back"


def test_other_programs_can_unpack_it(sample: tuple[Steward, Path], tmp_path: Path) -> None:
    subprocess.run(["tar", "xzf", str(sample[1]), "-C", str(tmp_path)], check=True)
    assert (tmp_path / "manifest.json").exists()
    assert (tmp_path / "tables" / "users.ndjson").read_text().count("\n") == 1


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    empty, text, tar = (tmp_path / name for name in ("empty", "text", "tar"))
    empty.touch()
    text.write_text("hello")
    with tarfile.open(tar, "w:gz") as made:
        made.add(text, "text")
    plain = tmp_path / "no-manifest.tar.gz"
    plain.touch()
    with archive.writing(plain) as writer:
        writer.data("tables/users.ndjson", b"")
    for path, said in (
        (empty, "not a Steward backup"),
        (text, "not a Steward backup"),
        (tar, "not a Steward backup"),
        (plain, "no manifest"),
        (tmp_path / "absent", "no file"),
        (tmp_path, "a folder"),
    ):
        with pytest.raises(Invalid, match=said):
            verify(path)


def test_the_database_is_whole_after_a_restore(
    sample: tuple[Steward, Path], places: Places, tmp_path: Path
) -> None:
    home, url = places.empty("sqlite")
    _restore(home, url, sample[1])
    connection = sqlite3.connect(home / "steward.db")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    shutil.rmtree(home)
