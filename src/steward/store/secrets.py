"""Secrets, encrypted at rest with a key file that never enters the database."""

import base64
import hmac
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from secrets import token_bytes
from typing import Any

import sqlalchemy as sa
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import Column, LargeBinary, String, Table, UniqueConstraint
from sqlalchemy.dialects import postgresql, sqlite

from steward.core import Clock, Misconfigured, NotFound, Unavailable
from steward.store.blobs import sync_folder
from steward.store.confine import Scope
from steward.store.database import EVERYWHERE, Database
from steward.store.eventlog import EventLog
from steward.store.guarded import TypedText
from steward.store.holds import UNHELD
from steward.store.secret_sources import SecretSources
from steward.store.tables import Moment, id_column, metadata, scope_columns

secrets = Table(
    "secrets",
    metadata,
    *scope_columns(),
    Column("name", TypedText(100), nullable=False),
    Column("key_id", String(40), nullable=False),
    Column("ciphertext", LargeBinary, nullable=False),
    Column("source", String(40)),
    Column("reference", TypedText(500)),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("updated_by", String(40), nullable=False),
    Column("deleted_at", Moment),
    UniqueConstraint("project_id", "name"),
    info=UNHELD,
)

key_checks = Table(
    "key_checks",
    metadata,
    id_column("key_id", primary_key=True),
    Column("ciphertext", LargeBinary, nullable=False),
)

UNDO_WINDOW = timedelta(minutes=10)
OWN_SECRETS = "steward."
"""How names begin of what Steward keeps for itself: neither listed nor set by anybody."""
_FRESH_SECONDS = 60.0
_NONCE_BYTES = 12
_KEY_BYTES = 32
_CHECK_TEXT = b"steward key check"
_CHECK_CONTEXT = "key-check"


@dataclass(frozen=True)
class SecretInfo:
    """What may be shown of a secret: everything but its value."""

    name: str
    created_at: datetime
    updated_at: datetime
    updated_by: str
    source: str | None = None
    """Where the value lives, when not in Steward."""
    reference: str | None = None


class Keyring:
    """Encryption keys by id, oldest first; the newest one encrypts, the others stay to read with."""

    def __init__(self, keys: dict[str, bytes], path: Path | None = None) -> None:
        if not keys:
            raise Misconfigured("The key file holds no key; restore it from a backup.")
        self._keys = keys
        self._path = path
        """The file it was read from: a key that was added to it since is found there."""
        self.primary = list(keys)[-1]

    @classmethod
    def generate(cls, key_id: str) -> "Keyring":
        return cls({key_id: token_bytes(_KEY_BYTES)})

    @classmethod
    def load(cls, path: Path) -> "Keyring":
        try:
            document = json.loads(path.read_text())
            keys = {str(entry["id"]): _key_bytes(entry["key"]) for entry in document["keys"]}
            return cls(keys, path)
        except FileNotFoundError:
            raise Misconfigured(
                f"The key file {path} is missing. Put it back from a backup: without it the stored "
                "secrets cannot be read."
            ) from None
        except OSError as error:
            raise Misconfigured(
                f"The key file {path} cannot be read ({error.strerror}); check who owns it."
            ) from None
        except (ValueError, KeyError, TypeError):
            raise Misconfigured(
                f"The key file {path} is damaged; restore it from a backup."
            ) from None

    def with_new(self, key_id: str) -> "Keyring":
        """The same with another key, which encrypts from then on."""
        return Keyring(self._keys | {key_id: token_bytes(_KEY_BYTES)}, self._path)

    def derived(self, purpose: str) -> bytes:
        """A key for another purpose, which does not give the encryption key away."""
        return self.derived_by_all(purpose)[-1]

    def derived_for_good(self, purpose: str) -> bytes:
        """The same from the oldest key, for what journals and other processes refer to: a new key does not change it."""
        return self.derived_by_all(purpose)[0]

    def derived_by_all(self, purpose: str) -> list[bytes]:
        """The same from every key of the file; the last one belongs to the primary key."""
        return [hmac.new(key, purpose.encode(), "sha256").digest() for key in self._keys.values()]

    def read_again(self) -> "Keyring":
        """With the keys that were added to its file since."""
        if self._path is not None:
            self._keys |= Keyring.load(self._path)._keys
        return self

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(self.dump())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)

    def dump(self) -> str:
        keys = [{"id": i, "key": base64.b64encode(k).decode()} for i, k in self._keys.items()]
        return json.dumps({"schema_version": 1, "keys": keys}, indent=2) + "\n"

    def seal(self, plaintext: bytes, context: str) -> tuple[str, bytes]:
        """Encrypts for one place: the context is bound in, so a ciphertext moved elsewhere fails."""
        nonce = token_bytes(_NONCE_BYTES)
        sealed = AESGCM(self._keys[self.primary]).encrypt(nonce, plaintext, context.encode())
        return self.primary, nonce + sealed

    def open(self, key_id: str, ciphertext: bytes, context: str) -> bytes:
        # Somebody may have rotated the keys while this process ran. It encrypts with its own until it starts again.
        key = self._keys.get(key_id) or self.read_again()._keys.get(key_id)
        if key is None:
            raise Misconfigured(f"The key file does not hold key {key_id}; restore the right one.")
        nonce, sealed = ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:]
        try:
            return AESGCM(key).decrypt(nonce, sealed, context.encode())
        except InvalidTag:
            raise Misconfigured(
                "A stored secret does not decrypt with its key: the key file or the database is not "
                "the one they were written with."
            ) from None


@dataclass(frozen=True)
class _Read:
    """A value as its source gave it."""

    place: str
    value: str
    read_at: float


class SecretStore:
    def __init__(
        self,
        database: Database,
        keyring: Keyring,
        clock: Clock,
        events: EventLog,
        sources: SecretSources | None = None,
    ) -> None:
        self._database = database
        self._keyring = keyring
        self._clock = clock
        self._events = events
        self.sources = sources or SecretSources({})
        self._read: dict[tuple[str, str], _Read] = {}
        self.changes = 0
        """How often this process learned a new value; whoever remembers values looks here."""

    def set(self, scope: Scope, name: str, value: str, *, author: str) -> SecretInfo:
        return self._set(scope, name, value, author)

    def refer(
        self, scope: Scope, name: str, source: str, reference: str, *, author: str
    ) -> SecretInfo:
        """A secret whose value stays elsewhere; refused where it cannot be read there."""
        self.sources.check(scope, source, reference)
        value = self.sources.read(scope, source, reference)
        made = self._set(scope, name, "", author, source, reference)
        self._remember(scope, name, f"{source}:{reference}", value)
        return made

    def _set(
        self,
        scope: Scope,
        name: str,
        value: str,
        author: str,
        source: str | None = None,
        reference: str | None = None,
    ) -> SecretInfo:
        now = self._clock.now()
        key_id, ciphertext = self._keyring.seal(
            value.encode(), secret_context(scope.project_id, name)
        )
        fields = {
            "key_id": key_id,
            "ciphertext": ciphertext,
            "source": source,
            "reference": reference,
            "updated_at": now,
            "updated_by": author,
            "deleted_at": None,
        }
        with self._database.write(scope) as tx:
            insert = postgresql.insert if tx.dialect == "postgresql" else sqlite.insert
            # One statement: of two writers of a new name, the later one wins and neither fails.
            tx.execute(
                insert(secrets)
                .values(name=name, created_at=now, **fields)
                .on_conflict_do_update(index_elements=["project_id", "name"], set_=fields)
            )
            row = tx.execute(sa.select(secrets).where(secrets.c.name == name)).one()
            if not name.startswith(OWN_SECRETS):
                self._events.append(tx, "secret.changed", name, {"by": author, "name": name})
        self.changes += 1
        return _info(row)

    def get(self, scope: Scope, name: str) -> str:
        """The value, for the code that uses it; it must not reach a prompt, log, trace or error."""
        with self._database.read(scope) as tx:
            row = tx.first(
                sa.select(secrets).where(secrets.c.name == name, secrets.c.deleted_at.is_(None))
            )
        if row is None:
            raise _missing(name)
        return self._opened(scope, row) if row.source is None else self._referred(scope, row)

    def _opened(self, scope: Scope, row: sa.Row[Any]) -> str:
        context = secret_context(scope.project_id, row.name)
        return self._keyring.open(row.key_id, row.ciphertext, context).decode()

    def _referred(self, scope: Scope, row: sa.Row[Any]) -> str:
        """What the source says, asked once a minute; while it does not answer, what it said last."""
        place = f"{row.source}:{row.reference}"
        known = self._read.get((scope.project_id, row.name))
        if known is not None and known.place != place:
            known = None
        if known is not None and self._clock.monotonic() - known.read_at < _FRESH_SECONDS:
            return known.value
        try:
            value = self.sources.read(scope, row.source, row.reference)
        except Unavailable:
            if known is None:
                raise
            value = known.value
        self._remember(scope, row.name, place, value)
        return value

    def _remember(self, scope: Scope, name: str, place: str, value: str) -> None:
        before = self._read.get((scope.project_id, name))
        self._read[scope.project_id, name] = _Read(place, value, self._clock.monotonic())
        if before is None or before.value != value:
            self.changes += 1

    def values(self, scope: Scope) -> dict[str, str]:
        """Every value of a project by name, for taking them out of what is written; goes nowhere else."""
        with self._database.read(scope) as tx:
            rows = tx.rows(sa.select(secrets))
        # Of those elsewhere, what this process has read: it can write no other.
        found = {
            row.name: self._read.get((scope.project_id, row.name)) for row in rows if row.source
        }
        return {row.name: self._opened(scope, row) for row in rows if row.source is None} | {
            name: read.value for name, read in found.items() if read is not None
        }

    def page(self, scope: Scope, *, after: str | None = None, limit: int = 200) -> list[SecretInfo]:
        statement = sa.select(secrets).where(
            secrets.c.deleted_at.is_(None), sa.not_(secrets.c.name.startswith(OWN_SECRETS))
        )
        if after is not None:
            statement = statement.where(secrets.c.name > after)
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(secrets.c.name).limit(limit))
        return [_info(row) for row in rows]

    def delete(self, scope: Scope, name: str, author: str | None = None) -> None:
        """Hides a secret at once; it can be brought back within the undo window, then it is gone."""
        now = self._clock.now()
        with self._database.write(scope) as tx:
            tx.execute(sa.delete(secrets).where(secrets.c.deleted_at < now - UNDO_WINDOW))
            hidden = tx.execute(
                sa.update(secrets)
                .where(secrets.c.name == name, secrets.c.deleted_at.is_(None))
                .values(deleted_at=now)
            )
            if hidden.rowcount == 0:
                raise _missing(name)
            self._events.append(tx, "secret.deleted", name, {"name": name, "by": author})

    def forget(self, scope: Scope, name: str) -> None:
        """Removes a secret for good, and does nothing where there is none."""
        with self._database.write(scope) as tx:
            tx.execute(sa.delete(secrets).where(secrets.c.name == name))
        self.changes += 1

    def undelete(self, scope: Scope, name: str, author: str | None = None) -> SecretInfo:
        earliest = self._clock.now() - UNDO_WINDOW
        with self._database.write(scope) as tx:
            restored = tx.execute(
                sa.update(secrets)
                .where(secrets.c.name == name, secrets.c.deleted_at >= earliest)
                .values(deleted_at=None)
            )
            if restored.rowcount == 0:
                raise NotFound(f"There is no recently deleted secret called {name!r}; set it anew.")
            row = tx.execute(sa.select(secrets).where(secrets.c.name == name)).one()
            self._events.append(tx, "secret.restored", name, {"name": name, "by": author})
        return _info(row)

    def forget_unused(self, prefix: str, before: datetime) -> int:
        """Removes secrets of Steward's own, in all projects, that were set before a moment."""
        with self._database.write(EVERYWHERE) as tx:
            old = sa.and_(secrets.c.name.startswith(prefix), secrets.c.updated_at < before)
            return tx.execute(sa.delete(secrets).where(old)).rowcount

    def encrypt_again(self) -> int:
        """With the newest key; the number of secrets."""
        return encrypt_again(
            self._database,
            self._keyring,
            secrets,
            lambda row: secret_context(row.project_id, row.name),
        )

    def purge_deleted(self) -> int:
        """Removes for good what was deleted longer ago than the undo window."""
        latest = self._clock.now() - UNDO_WINDOW
        with self._database.write(EVERYWHERE) as tx:
            return tx.execute(sa.delete(secrets).where(secrets.c.deleted_at < latest)).rowcount


def _info(row: sa.Row[Any]) -> SecretInfo:
    return SecretInfo(
        row.name, row.created_at, row.updated_at, row.updated_by, row.source, row.reference
    )


def secrets_elsewhere(database: Database) -> list[tuple[Scope, str, str]]:
    """Project, source and reference of every secret whose value is not kept in Steward."""
    statement = sa.select(secrets).where(
        secrets.c.source.is_not(None), secrets.c.deleted_at.is_(None)
    )
    with database.read(EVERYWHERE) as tx:
        rows = tx.rows(statement.order_by(secrets.c.source, secrets.c.reference))
    return [(Scope(row.org_id, row.project_id), row.source, row.reference) for row in rows]


def add_key(database: Database, keyring: Keyring, path: Path, key_id: str) -> Keyring:
    """Adds a key to the key file, unless its newest one was never used."""
    with database.write(EVERYWHERE) as tx:
        used = {row.key_id for row in tx.rows(sa.select(key_checks))}
        if keyring.primary not in used:
            return keyring
        made = keyring.with_new(key_id)
        try:
            # First the file: what is encrypted with a key that is nowhere is lost.
            made.save(path)
        except OSError as error:
            raise Misconfigured(
                f"The key file {path} cannot be written ({error.strerror}). Nothing has changed."
            ) from None
        return made


def use_key(database: Database, keyring: Keyring) -> None:
    """Notes that the newest key is in use: a key file without it is refused from then on."""
    with database.write(EVERYWHERE) as tx:
        known = tx.first(sa.select(key_checks).where(key_checks.c.key_id == keyring.primary))
        if known is None:
            key_id, ciphertext = keyring.seal(_CHECK_TEXT, _CHECK_CONTEXT)
            tx.execute(sa.insert(key_checks).values(key_id=key_id, ciphertext=ciphertext))


def encrypt_again(
    database: Database, keyring: Keyring, table: sa.Table, context_of: Callable[[sa.Row[Any]], str]
) -> int:
    """Encrypts what older keys encrypted with the newest one; what somebody changes meanwhile has it already."""
    old = sa.select(table).where(table.c.key_id != keyring.primary)
    with database.read(EVERYWHERE) as tx:
        rows = tx.rows(old)
    count = 0
    for row in rows:
        plain = keyring.open(row.key_id, row.ciphertext, context_of(row))
        key_id, ciphertext = keyring.seal(plain, context_of(row))
        same = sa.and_(
            *(column == getattr(row, column.name) for column in table.primary_key),
            table.c.ciphertext == row.ciphertext,
        )
        with database.write(EVERYWHERE) as tx:
            values = {"key_id": key_id, "ciphertext": ciphertext}
            count += tx.execute(sa.update(table).where(same).values(values)).rowcount
    return count


def open_keyring(database: Database, path: Path, new_key_id: str) -> Keyring:
    """The key file of this database; made for a new installation, demanded for an old one."""
    with database.read(EVERYWHERE) as tx:
        checks = tx.rows(sa.select(key_checks))
    if not checks:
        checks = _first_keys(database, path, new_key_id)
    keyring = Keyring.load(path)
    verify_key_checks(keyring, ((row.key_id, row.ciphertext) for row in checks))
    return keyring


def _first_keys(database: Database, path: Path, new_key_id: str) -> Sequence[sa.Row[Any]]:
    """Makes the keys of a new installation, one process at a time: two key files would lock one out."""
    with database.write(EVERYWHERE) as tx:
        if tx.dialect == "postgresql":
            tx.execute(sa.text("LOCK TABLE key_checks IN EXCLUSIVE MODE"))
        checks = tx.rows(sa.select(key_checks))
        if checks:
            return checks
        if path.exists():
            # It may be mounted read-only, by whoever keeps the keys of the installation.
            keyring = Keyring.load(path)
        else:
            keyring = Keyring.generate(new_key_id)
            keyring.save(path)
        key_id, ciphertext = keyring.seal(_CHECK_TEXT, _CHECK_CONTEXT)
        tx.execute(sa.insert(key_checks).values(key_id=key_id, ciphertext=ciphertext))
        return tx.rows(sa.select(key_checks))


def verify_key_checks(keyring: Keyring, checks: Iterable[tuple[str, bytes]]) -> None:
    """Proves that the keys are those the database was written with."""
    for key_id, ciphertext in checks:
        keyring.open(key_id, ciphertext, _CHECK_CONTEXT)


def _key_bytes(text: str) -> bytes:
    key = base64.b64decode(text, validate=True)
    if len(key) != _KEY_BYTES:
        raise ValueError("an encryption key has 32 bytes")
    return key


def secret_context(project_id: str, name: str) -> str:
    return f"secret:{project_id}:{name}"


def _missing(name: str) -> NotFound:
    return NotFound(f"There is no secret called {name!r} in this project. Set it under Secrets.")
