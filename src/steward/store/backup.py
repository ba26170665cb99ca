"""Backup and restore that prove themselves: rows, blobs and keys, checked by hash and by decryption.

An archive (see `archive.py`) holds `tables/<name>.ndjson`, `blobs/<digest>`, `keys/secrets.json` and, last,
`manifest.json` with a SHA-256 of everything before it. Rows are portable: a backup of SQLite restores
into PostgreSQL and the other way round.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Literal

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy.exc import CompileError, DataError, IntegrityError

from steward.core import Conflict, Invalid, Misconfigured
from steward.store import archive
from steward.store.archive import ArchiveWriter
from steward.store.blobs import BlobStore, FileBlobs
from steward.store.database import Database
from steward.store.migrate import schema_revision, upgrade
from steward.store.secrets import Keyring, secret_context, verify_key_checks

Progress = Callable[[str], None]
MANIFEST = "manifest.json"
KEYS = "keys/secrets.json"
_BATCH = 1000
_VERSION_TABLE = "alembic_version"
# What reading rows raises that we did not write.
_NOT_OURS = (ValueError, KeyError, TypeError, AttributeError)
_ENTRY_NAME = re.compile(r"[a-z0-9_]{1,100}\.(ndjson|json)")


class Manifest(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid")

    schema_version: Literal[1] = 1
    steward_version: str
    created_at: datetime
    database_revision: str = Field(min_length=1)
    rows: dict[str, int]
    sha256: dict[str, str]
    has_keys: bool


@dataclass(frozen=True)
class Verified:
    """What a check of an archive found, all of it in order."""

    manifest: Manifest
    rows: int
    blobs: int
    secrets: int
    keys_proven: bool


def backup(
    database: Database,
    blobs: BlobStore,
    keyring: Keyring,
    target: Path,
    *,
    version: str,
    now: datetime,
    include_keys: bool = True,
    progress: Progress = lambda _: None,
) -> Verified:
    """Writes an archive, readable by its owner only, then reads it back and checks all of it."""
    if target.exists():
        raise Conflict(f"{target} exists already. Choose another name; nothing was overwritten.")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600)
    try:
        with archive.writing(partial) as writer:
            rows = _dump_tables(database, writer, progress)
            digests = list(blobs.digests())
            for number, digest in enumerate(digests, start=1):
                progress(f"blob {number} of {len(digests)}")
                writer.stream(f"blobs/{digest}", blobs.size(digest) or 0, blobs.read(digest))
            if include_keys:
                writer.data(KEYS, keyring.dump().encode())
            manifest = Manifest(
                steward_version=version,
                created_at=now,
                database_revision=schema_revision(database) or "",
                rows=rows,
                sha256=dict(writer.sha256),
                has_keys=include_keys,
            )
            writer.data(MANIFEST, manifest.model_dump_json(indent=2).encode())
        progress("reading it back")
        verified = verify(partial, keyring=None if include_keys else keyring)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return verified


def verify(archive_path: Path, *, keyring: Keyring | None = None) -> Verified:
    """Checks every hash, every row count, and that the keys decrypt every secret."""
    with TemporaryDirectory(prefix="steward-verify-") as folder:
        return _unpack(archive_path, Path(folder), keyring, keep_blobs=None).verified


def restore(
    archive_path: Path,
    database: Database,
    blobs: BlobStore,
    key_path: Path,
    *,
    keyring: Keyring | None = None,
    progress: Progress = lambda _: None,
) -> Verified:
    """Loads an archive into an empty installation; checks it first and again when it is in place."""
    if schema_revision(database) is not None or key_path.exists():
        raise Conflict(
            "There is an installation here already. Restore into an empty home and database: "
            "choose another STEWARD_HOME, or move the old one away."
        )
    with TemporaryDirectory(prefix="steward-restore-") as folder:
        progress("checking the archive")
        unpacked = _unpack(archive_path, Path(folder), keyring, keep_blobs=blobs)
        manifest = unpacked.verified.manifest
        progress("loading rows")
        # One transaction: a restore that is cut short leaves no schema behind, and can be repeated.
        with database.raw_writer() as connection, connection.begin():
            upgrade(connection, manifest.database_revision)
            try:
                loaded = _load_tables(connection, Path(folder))
            except (IntegrityError, DataError, CompileError, *_NOT_OURS) as error:
                raise Invalid(
                    f"{archive_path} holds rows that the database refuses ({type(error).__name__})."
                ) from error
            if loaded != manifest.rows:
                raise Misconfigured(
                    "The rows loaded do not tie out with the archive's manifest. Expected "
                    f"{manifest.rows}, got {loaded}."
                )
            upgrade(connection)
            unpacked.keyring.save(key_path)
    missing = [digest for digest in unpacked.digests if blobs.size(digest) is None]
    if missing:
        raise Misconfigured(f"{len(missing)} blobs did not arrive in the store; try again.")
    return unpacked.verified


def _dump_tables(database: Database, writer: ArchiveWriter, progress: Progress) -> dict[str, int]:
    counts: dict[str, int] = {}
    with TemporaryDirectory(prefix="steward-dump-") as folder, database.raw_writer() as connection:
        if not database.is_sqlite:
            connection = connection.execution_options(isolation_level="REPEATABLE READ")  # noqa: PLW2901
        with connection.begin():
            for table in _reflect(connection).sorted_tables:
                progress(f"table {table.name}")
                path = Path(folder) / f"{table.name}.ndjson"
                counts[table.name] = _dump_table(connection, table, path)
                writer.file(f"tables/{table.name}.ndjson", path)
    return counts


def _dump_table(connection: sa.Connection, table: sa.Table, path: Path) -> int:
    count = 0
    statement = sa.select(table).order_by(*table.primary_key.columns)
    with path.open("w", encoding="utf-8") as file:
        rows = connection.execution_options(yield_per=_BATCH).execute(statement)
        for row in rows.mappings():
            cells = {name: _encode(value) for name, value in row.items()}
            file.write(json.dumps(cells, separators=(",", ":"), ensure_ascii=False) + "\n")
            count += 1
    return count


def _load_tables(connection: sa.Connection, folder: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    for table in _reflect(connection).sorted_tables:
        path = folder / "tables" / f"{table.name}.ndjson"
        counts[table.name] = 0
        if not path.exists():
            continue
        with path.open(encoding="utf-8") as lines:
            for batch in _batches(lines):
                rows = [{name: _decode(cell) for name, cell in row.items()} for row in batch]
                connection.execute(sa.insert(table), rows)
                counts[table.name] += len(rows)
        if connection.dialect.name == "postgresql":
            _advance_sequences(connection, table)
    return counts


def _advance_sequences(connection: sa.Connection, table: sa.Table) -> None:
    """After rows were loaded with their numbers, new rows must continue behind them."""
    for column in table.primary_key.columns:
        if isinstance(column.type, sa.Integer):
            connection.execute(
                sa.text(
                    "SELECT setval(pg_get_serial_sequence(:table, :column), "
                    f'(SELECT coalesce(max("{column.name}"), 0) + 1 FROM "{table.name}"), false) '
                    "WHERE pg_get_serial_sequence(:table, :column) IS NOT NULL"
                ),
                {"table": table.name, "column": column.name},
            )


def _reflect(connection: sa.Connection) -> sa.MetaData:
    """The tables as they are, not as this version would make them: old archives stay loadable."""
    found = sa.MetaData()
    found.reflect(connection)
    if _VERSION_TABLE in found.tables:
        found.remove(found.tables[_VERSION_TABLE])
    return found


def _batches(lines: IO[str]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for line in lines:
        batch.append(json.loads(line))
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _encode(value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        return {"$bytes": base64.b64encode(bytes(value)).decode()}
    if isinstance(value, dict | list):
        return {"$json": value}
    return value


def _decode(cell: Any) -> Any:
    if isinstance(cell, dict):
        return base64.b64decode(cell["$bytes"]) if "$bytes" in cell else cell["$json"]
    return cell


@dataclass(frozen=True)
class Contents:
    """A backup laid open in a folder, after every hash in it was compared. Its secrets stay closed."""

    manifest: Manifest
    digests: frozenset[str]
    """The blobs it holds."""
    kept: FileBlobs
    """Those of them that were asked for."""
    folder: Path

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """The rows of a table in the order of its primary key; none where the backup has no such table."""
        return _rows(self.folder / "tables" / f"{table}.ndjson")


@contextmanager
def opened(path: Path, keep: Callable[[Path], Container[str]]) -> Iterator[Contents]:
    """Lays a backup open without any key. `keep` reads the folder of tables and names the blobs to keep."""
    with TemporaryDirectory(prefix="steward-open-") as name:
        folder = Path(name)
        kept = FileBlobs(folder / "blobs")
        laid = _lay_out(path, folder, kept, lambda: keep(folder / "tables"))
        yield Contents(laid.manifest, frozenset(laid.digests), kept, folder)


@dataclass(frozen=True)
class _Laid:
    manifest: Manifest
    rows: int
    digests: tuple[str, ...]


class _All:
    """Every blob is wanted."""

    def __contains__(self, _digest: object) -> bool:
        return True


def _lay_out(
    path: Path,
    folder: Path,
    blobs: BlobStore | None,
    wanted: Callable[[], Container[str]] = _All,
) -> _Laid:
    """Takes an archive apart, compares every hash and counts every row; tables come before blobs."""
    (folder / "tables").mkdir()
    (folder / "keys").mkdir()
    sha256: dict[str, str] = {}
    digests: list[str] = []
    manifest: Manifest | None = None
    chosen: Container[str] | None = None
    for name, chunks in archive.reading(path):
        if name == MANIFEST:
            manifest = _manifest(path, b"".join(chunks))
            continue
        keep = None
        if blobs is not None and name.startswith("blobs/"):
            chosen = wanted() if chosen is None else chosen
            keep = blobs if name.removeprefix("blobs/") in chosen else None
        sha256[name] = _take(name, chunks, folder, keep, digests)
    if manifest is None:
        raise Invalid(f"{path} has no manifest: it is not a Steward backup, or it is cut short.")
    _compare(manifest.sha256, sha256)
    counts = _count_rows(folder)
    if counts != manifest.rows:
        raise Invalid(
            f"{path}: the row counts differ from the manifest; it was altered. Use another backup."
        )
    return _Laid(manifest, sum(counts.values()), tuple(digests))


@dataclass(frozen=True)
class _Unpacked:
    verified: Verified
    keyring: Keyring
    digests: tuple[str, ...]


def _unpack(
    path: Path, folder: Path, keyring: Keyring | None, keep_blobs: BlobStore | None
) -> _Unpacked:
    laid = _lay_out(path, folder, keep_blobs)
    manifest = laid.manifest
    if manifest.has_keys:
        keyring = Keyring.load(folder / KEYS)
    elif keyring is None:
        raise Invalid(f"{path} was made without keys; pass the key file it belongs to.")
    try:
        checked = _prove_keys(folder, keyring)
    except _NOT_OURS as error:
        raise Invalid(f"{path} holds rows that are not ours ({type(error).__name__}).") from None
    verified = Verified(manifest, laid.rows, len(laid.digests), checked, keys_proven=True)
    return _Unpacked(verified, keyring, laid.digests)


def _manifest(path: Path, content: bytes) -> Manifest:
    try:
        return Manifest.model_validate_json(content)
    except ValidationError:
        raise Invalid(
            f"{path} holds a manifest that this version cannot read. Upgrade Steward, or use another backup."
        ) from None


def _take(
    name: str,
    chunks: Iterator[bytes],
    folder: Path,
    blobs: BlobStore | None,
    digests: list[str],
) -> str:
    kind, _, rest = name.partition("/")
    if kind == "blobs":
        digest = blobs.put(chunks).digest if blobs else _sha256(chunks)
        if digest != rest:
            raise Invalid(f"Blob {rest[:12]}… in the archive is damaged.")
        digests.append(digest)
        return digest
    # Names are compared, never joined as given: an archive may be hostile.
    if kind not in {"tables", "keys"} or not _ENTRY_NAME.fullmatch(rest):
        raise Invalid(f"The archive holds {name!r}, which does not belong in a backup.")
    hasher = hashlib.sha256()
    with (folder / kind / rest).open("wb") as file:
        for chunk in chunks:
            hasher.update(chunk)
            file.write(chunk)
    return hasher.hexdigest()


def _sha256(chunks: Iterator[bytes]) -> str:
    hasher = hashlib.sha256()
    for chunk in chunks:
        hasher.update(chunk)
    return hasher.hexdigest()


def _compare(expected: dict[str, str], found: dict[str, str]) -> None:
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            raise Invalid(f"The backup is damaged: {name} is missing, added or changed.")


def _count_rows(folder: Path) -> dict[str, int]:
    counts = {}
    for path in (folder / "tables").glob("*.ndjson"):
        with path.open("rb") as file:
            counts[path.stem] = sum(1 for _ in file)
    return counts


def _prove_keys(folder: Path, keyring: Keyring) -> int:
    checks = _rows(folder / "tables" / "key_checks.ndjson")
    verify_key_checks(keyring, ((row["key_id"], row["ciphertext"]) for row in checks))
    count = 0
    for row in _rows(folder / "tables" / "secrets.ndjson"):
        context = secret_context(row["project_id"], row["name"])
        keyring.open(row["key_id"], row["ciphertext"], context)
        count += 1
    return count


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield {name: _decode(cell) for name, cell in json.loads(line).items()}
