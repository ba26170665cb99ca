"""Capsules: a run in one file, with its journal, payloads and artifacts, to keep, send, replay or test elsewhere."""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from steward.core import Invalid, NotFound, TooLarge, read_json
from steward.runs.canonical import Json, canonical
from steward.runs.entries import (
    Entry,
    Link,
    Stored,
    blob_references,
    first_damage,
    is_reference,
    read,
    typed,
)
from steward.runs.heads import SignedHead, read_lines, write_lines
from steward.runs.model import Run, Status
from steward.store import BlobStore, Scope

FORMAT = "steward-capsule/1"
HEADS = "heads.jsonl"
MAX_BYTES = 2 << 30
_MOMENT = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Capsule:
    """What a capsule file holds, after everything in it was checked."""

    run: dict[str, Any]
    entries: tuple[Entry, ...]
    expect: dict[str, Any] | None
    payload: Callable[[str], bytes]
    digests: tuple[str, ...]
    heads: tuple[SignedHead, ...] = ()
    """The run's lines of the log of signed heads; a capsule from before signing has none."""

    @property
    def run_id(self) -> str:
        return str(self.run["id"])

    def as_run(self) -> Run:
        """The run as its capsule describes it; it belongs to no project here."""
        described, last = self.run, self.entries[-1]
        return Run(
            id=self.run_id,
            scope=Scope("", ""),
            title=described["title"],
            program=described["program"],
            subject=described["subject"],
            status=Status(described["status"]),
            reason=None,
            queue="cpu",
            priority=0,
            control=None,
            control_by=described.get("control_by"),
            created_by=described["created_by"],
            created_at=datetime.fromisoformat(described["created_at"]),
            started_at=_moment(described.get("started_at")),
            ended_at=None,
            parent_id=described.get("parent"),
            parent_key=described.get("parent_key"),
            root_id=described.get("root", self.run_id),
            forked_from=described.get("forked_from"),
            epoch=0,
            holder=None,
            head_seq=last.seq,
            head_hash=last.hash,
            progress=None,
            waits=None,
        )


def pack(
    run: Run,
    entries: Iterable[Entry],
    blobs: BlobStore,
    expect: dict[str, Any] | None = None,
    heads: Sequence[SignedHead] = (),
) -> bytes:
    """The same run gives the same bytes."""
    listed = list(entries)
    digests = sorted(set(references(listed, lambda name: b"".join(blobs.read(name)))))
    described = {
        "format": FORMAT,
        "id": run.id,
        "title": run.title,
        "program": run.program,
        "subject": run.subject,
        "status": run.status.value,
        "created_by": run.created_by,
        "created_at": run.created_at.isoformat(),
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "parent": run.parent_id,
        "parent_key": run.parent_key,
        "root": run.root_id,
        "control_by": run.control_by,
        "forked_from": run.forked_from,
        "entries": len(listed),
        "head": listed[-1].hash,
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        _put(file, "run.json", canonical(described).encode())
        lines = "".join(f"{entry.hash} {entry.body}\n" for entry in listed)
        _put(file, "journal.jsonl", lines.encode("utf-8", "surrogatepass"))
        if heads:
            _put(file, HEADS, write_lines(heads).encode("utf-8", "surrogatepass"))
        if expect is not None:
            _put(file, "expect.json", canonical(expect).encode())
        for digest in digests:
            _put(file, f"blobs/{digest}", b"".join(blobs.read(digest)))
    return target.getvalue()


def unpack(content: bytes) -> Capsule:
    """Reads and verifies a capsule; a bit that was changed anywhere is refused."""
    try:
        file = zipfile.ZipFile(io.BytesIO(content))
    except zipfile.BadZipFile:
        raise Invalid("This is not a capsule: it is no zip file.", code="not-a-capsule") from None
    if sum(info.file_size for info in file.infolist()) > MAX_BYTES:
        raise TooLarge("The capsule is larger than 2 GiB when unpacked.")
    try:
        run = read_json(_member(file, "run.json"))
        lines = _member(file, "journal.jsonl").decode("utf-8", "surrogatepass").splitlines()
        rows = [_row(str(run["id"]), line) for line in lines]
        expect = (
            read_json(_member(file, "expect.json")) if "expect.json" in file.namelist() else None
        )
        heads = (
            read_lines(_member(file, HEADS).decode("utf-8", "surrogatepass"))
            if HEADS in file.namelist()
            else []
        )
        if run["format"] != FORMAT:
            raise Invalid(f"The capsule has the unknown format {run['format']!r}.")
        head = Link(int(run["entries"]), str(run["head"]))
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        raise Invalid(f"The capsule cannot be read ({error}).", code="not-a-capsule") from None
    damage = first_damage(str(run["id"]), rows, head)
    if damage is not None or len(rows) != head.seq:
        where = damage.seq if damage else head.seq
        reason = damage.reason if damage else "the number of entries is wrong"
        raise Invalid(f"The capsule is damaged: entry {where}: {reason}.", code="damaged")
    entries = tuple(read(row.body, row.hash) for row in rows)
    for entry in entries:
        try:
            typed(entry)
        except ValueError:
            reason = f"entry {entry.seq} does not hold what a {entry.type} holds"
            raise Invalid(f"The capsule is damaged: {reason}.", code="damaged") from None

    def payload(digest: str) -> bytes:
        return _member(file, f"blobs/{digest}")

    try:
        digests = tuple(sorted(set(references(entries, payload))))
    except (KeyError, ValueError, TypeError, RecursionError):
        raise Invalid("The capsule is damaged: a payload cannot be read.", code="damaged") from None
    _check_payloads(payload, digests)
    return Capsule(run, entries, expect, payload, digests, tuple(heads))


def references(entries: Iterable[Entry], payload: Callable[[str], bytes]) -> Iterator[str]:
    """Every blob a run needs: large payloads and the files that its calls made."""
    for entry in entries:
        yield from blob_references(entry.data)
        result = entry.data.get("result")
        if is_reference(result):
            result = json.loads(payload(result["$blob"]))
        yield from artifacts_of(result)


def artifacts_of(outcome: Json) -> Iterator[str]:
    """Digests of the files that a call made, as the broker records them; never what stands in its value."""
    if isinstance(outcome, dict) and {"value", "labels", "artifacts"} <= outcome.keys():
        for item in outcome["artifacts"]:
            yield str(item["digest"])


def _check_payloads(payload: Callable[[str], bytes], digests: Iterable[str]) -> None:
    for digest in digests:
        if hashlib.sha256(payload(digest)).hexdigest() != digest:
            raise Invalid(f"The capsule is damaged: payload {digest[:12]}… was altered.")


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _row(run_id: str, line: str) -> Stored:
    hash_, _, body = line.partition(" ")
    found = json.loads(body)
    return Stored(run_id, found["seq"], found["kind"], found["key"], body, hash_)


def _put(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, _MOMENT)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    file.writestr(info, content)


def _member(file: zipfile.ZipFile, name: str) -> bytes:
    try:
        return file.read(name)
    except KeyError:
        raise NotFound(f"The capsule has no {name}.") from None
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError) as error:
        raise Invalid(f"The capsule is damaged: {name} ({error}).", code="damaged") from None
