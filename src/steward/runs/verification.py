"""Verification: whether everything a run claims is what was written, and signed, at the time.

It works on a `Record`, wherever that comes from: the database, a capsule or a backup. Names every fault it finds.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from steward.core import NotFound
from steward.runs.canonical import GENESIS, Json, sha256
from steward.runs.capsules import artifacts_of
from steward.runs.entries import (
    Damaged,
    Entry,
    Link,
    Stored,
    blob_references,
    checked_entries,
    end_reason,
    is_reference,
)
from steward.runs.entry_types import Kind
from steward.runs.heads import SignedHead, claims
from steward.runs.model import IMPORTED, Run, Status
from steward.store import PublicKeys

_ENDS: Final = {
    Kind.done.value: Status.done,
    Kind.failed.value: Status.failed,
    Kind.cancelled.value: Status.cancelled,
}
_UNDER_WAY: Final = {Status.queued, Status.running}
_WORDS: Final = {
    "created_at": "time of request",
    "started_at": "time of start",
    "forked_from": "origin",
    "parent": "parent run",
    "parent_key": "step of the parent run",
    "root": "first run of its family",
    "subject": "subject",
    "program": "program",
    "title": "title",
    "author": "author",
    "status": "status",
    "control_by": "person who paused, resumed or cancelled it",
}
_ADDED: Final = {"started_at", "parent_key", "root", "control_by"}
"""Heads that older versions signed say nothing of these."""
_TO_WRITE: Final = timedelta(minutes=1)
"""What may lie between an entry and the moment at which its run is said to have ended."""
_DECIDED: Final = {
    "approved": {"approved", "used"},
    "rejected": {"rejected"},
    "edited": {"edited"},
}


class Signing(StrEnum):
    signed = "signed"
    not_yet = "not_yet"
    before_signing = "before_signing"


@dataclass(frozen=True)
class Fault:
    """One thing that is not what was written or signed."""

    part: str
    """What is wrong: entry, status, title, author, approval, file, signature, log …"""
    reason: str
    seq: int | None = None


@dataclass(frozen=True)
class Verification:
    run_id: str
    title: str
    entries: int
    files: int
    approvals: int
    signing: Signing
    signed_at: str | None
    signer: str | None
    faults: tuple[Fault, ...]

    @property
    def is_intact(self) -> bool:
        return not self.faults

    @property
    def sentence(self) -> str:
        if self.faults:
            first = self.faults[0]
            where = f"entry {first.seq}: " if first.seq is not None else ""
            more = f" There are {len(self.faults) - 1} more faults." if len(self.faults) > 1 else ""
            return f"Not verified: {where}{first.reason}.{more}"
        match self.signing:
            case Signing.signed:
                return "Verified."
            case Signing.not_yet:
                return "Chain intact, not signed yet: the run has not stopped since it began."
            case Signing.before_signing:
                return "Chain intact, not signed (written before signing)."


class BlobCheck:
    """Whether blobs hold the bytes they are named after; each is read once, however many runs name it."""

    def __init__(self, read: Callable[[str], Iterable[bytes]]) -> None:
        self._read = read
        self._known: dict[str, str | None] = {}

    def fault(self, digest: str) -> str | None:
        """`missing`, `altered`, or None if it is as it was written."""
        if digest not in self._known:
            self._known[digest] = self._look(digest)
        return self._known[digest]

    def payload(self, digest: str) -> Json:
        content = b"".join(self._read(digest))
        return json.loads(content.decode("utf-8", "surrogatepass"))

    def _look(self, digest: str) -> str | None:
        hasher = hashlib.sha256()
        try:
            for chunk in self._read(digest):
                hasher.update(chunk)
        except NotFound:
            return "missing"
        return None if hasher.hexdigest() == digest else "altered"


@dataclass(frozen=True)
class Record:
    """Everything there is about one run; nothing of it is believed."""

    run: Run
    rows: Iterable[Stored]
    heads: Sequence[SignedHead]
    blobs: BlobCheck
    approvals: Sequence[Mapping[str, Any]] | None
    """What the rows of its approvals say now; None where they are not at hand, as in a capsule."""


def verify_record(record: Record, keys: PublicKeys) -> Verification:
    """Checks entries, payloads, files, approvals, what the run says of itself, and the signatures."""
    seen = _Seen(record.blobs)
    faults: list[Fault] = []
    run = record.run
    try:
        for entry in checked_entries(run.id, record.rows, Link(run.head_seq, run.head_hash)):
            faults += seen.take(entry)
    except Damaged as found:
        faults.append(Fault("entry", found.damage.reason, found.damage.seq))
    else:
        faults += _told_otherwise(run, seen)
        faults += _decided_otherwise(record.approvals or (), seen)
    faults += _signed_otherwise(record, seen, keys)
    last = record.heads[-1] if record.heads else None
    document = last.document if last else {}
    return Verification(
        run.id,
        run.title,
        len(seen.hashes),
        len(seen.files),
        len(record.approvals or ()),
        _signing(run, record.heads, seen),
        document.get("at"),
        document.get("signer"),
        # What both the journal and the signature contradict is told once.
        tuple(dict.fromkeys(faults)),
    )


@dataclass
class _Seen:
    """What the entries of a run said, gathered in one pass."""

    blobs: BlobCheck
    hashes: list[str] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    answers: dict[str, Json] = field(default_factory=dict)
    title: str = ""
    author: str = ""
    end: Status | None = None
    ended_at: datetime | None = None
    reason: str | None = None
    version: int = 0

    def take(self, entry: Entry) -> Iterator[Fault]:
        self.hashes.append(entry.hash)
        self.version = max(self.version, entry.version)
        if entry.kind == Kind.created:
            self.title = str(entry.data["request"]["title"])[:200]
            self.author = str(entry.data["author"])
        elif entry.kind == Kind.closed:
            self.answers[entry.key] = entry.data["answer"]
        elif entry.kind in _ENDS:
            self.end = _ENDS[entry.kind]
            self.ended_at = datetime.fromisoformat(entry.at)
            self.reason = end_reason(entry.data)
        yield from self._look_at_blobs(entry)

    def _look_at_blobs(self, entry: Entry) -> Iterator[Fault]:
        faulty = False
        for digest in blob_references(entry.data):
            problem = self.blobs.fault(digest)
            if problem is not None:
                faulty = True
                yield Fault("payload", f"a payload it refers to is {problem}", entry.seq)
        result = entry.data.get("result")
        if is_reference(result):
            result = None if faulty else self.blobs.payload(result["$blob"])
        for digest in artifacts_of(result):
            self.files.add(digest)
            problem = self.blobs.fault(digest)
            if problem is not None:
                yield Fault("file", f"the file {digest[:12]}… that it made is {problem}", entry.seq)


def _told_otherwise(run: Run, seen: _Seen) -> Iterator[Fault]:
    """What the run's record says, against its own journal; this needs no signature."""
    if seen.title != run.title:
        yield _changed("title", seen.title, run.title)
    if seen.author[:40] != run.created_by:
        yield _changed("author", seen.author, run.created_by)
    ended = f'ended "{seen.end.value}"' if seen.end else "did not end"
    imported = seen.end is None and run.reason == IMPORTED
    if (run.status.is_final or seen.end) and run.status is not seen.end and not imported:
        reason = f'the status is "{run.status.value}", but the journal says that the run {ended}'
        yield Fault("status", reason)
    if seen.end is None or imported:
        return
    # A file of the run says neither; where they stand, they are what the last entry was written with.
    if run.reason not in {None, IMPORTED, seen.reason}:
        yield _changed("reason", seen.reason, run.reason)
    if run.ended_at and seen.ended_at and abs(run.ended_at - seen.ended_at) > _TO_WRITE:
        yield _changed("time of end", seen.ended_at.isoformat(), run.ended_at.isoformat())


def _decided_otherwise(approvals: Sequence[Mapping[str, Any]], seen: _Seen) -> Iterator[Fault]:
    """Decisions as the inbox shows them, against those that the run went on with."""
    for claim in approvals:
        if claim["body"] != claim["body_hash"]:
            reason = (
                f"the payload of approval {claim['id']} does not match the hash that was approved"
            )
            yield Fault("approval", reason)
        answer = seen.answers.get(claim["key"])
        if not isinstance(answer, Mapping) or answer.get("approval_id") != claim["id"]:
            continue
        same = (
            claim["status"] in _DECIDED.get(answer["decision"], ())
            and claim["by"] == answer["by"]
            and claim["body_hash"] == answer["body_hash"]
        )
        if not same:
            reason = f"approval {claim['id']} says something else than the decision in the journal"
            yield Fault("approval", reason)


def _signed_otherwise(record: Record, seen: _Seen, keys: PublicKeys) -> Iterator[Fault]:
    run, heads = record.run, record.heads
    for line in heads:
        yield from _line_faults(line, keys, run.scope.project_id)
        if line.run_id != run.id:
            yield Fault("signature", f"line {line.position} of the log is about another run")
        yield from _head_faults(line, seen)
    if not heads:
        # Anything that came to rest under a version that signs has a line in the log.
        if seen.version > 1 and run.status not in _UNDER_WAY:
            yield Fault("signature", "the signature of its last entry was removed")
        return
    under_way = run.status in _UNDER_WAY
    last = heads[-1].document
    if not under_way and len(seen.hashes) > int(last.get("seq", 0)):
        first = int(last.get("seq", 0)) + 1
        yield Fault("entry", f"entry {first} was added after the last signature", first)
    yield from _claim_faults(record, last.get("claims", {}), under_way=under_way)


def _line_faults(line: SignedHead, keys: PublicKeys, project_id: str) -> Iterator[Fault]:
    """Whether a line of the log is what was signed."""
    where = f"line {line.position} of the log of signed heads"
    try:
        said = line.document
        agrees = (
            sha256(line.body) == line.hash
            and said["run"] == line.run_id
            and said["seq"] == line.seq
            and said["position"] == line.position
            and project_id in {"", said["project"]}
        )
        signer = str(said["signer"])
    except (ValueError, KeyError, TypeError):
        yield Fault("signature", f"{where} cannot be read")
        return
    if signer not in keys.fingerprints:
        yield Fault("signature", f"{where} was signed with another key ({signer[:12]}…)")
    elif not agrees or not keys.signed(signer, line.message, line.signature):
        yield Fault("signature", f"{where} is not what was signed")


def _head_faults(line: SignedHead, seen: _Seen) -> Iterator[Fault]:
    if line.seq > len(seen.hashes):
        first = len(seen.hashes) + 1
        reason = f"the journal is cut short: {line.seq} entries were signed, {first - 1} are there"
        yield Fault("entry", reason, first)
    elif line.seq < 1 or seen.hashes[line.seq - 1] != line.document.get("head"):
        reason = "the journal was written again: this is not the entry that was signed"
        yield Fault("entry", reason, line.seq)


def _claim_faults(record: Record, signed: Mapping[str, Any], *, under_way: bool) -> Iterator[Fault]:
    run = record.run
    now = claims(run, run.status, record.approvals or ())
    for name, word in _WORDS.items():
        if name in {"status", "started_at"} and under_way:
            continue
        # Until a run ends, somebody may pause or resume it after it was signed.
        if name == "control_by" and not run.status.is_final:
            continue
        if name in _ADDED and name not in signed:
            continue
        if signed.get(name) != now[name]:
            yield _changed(word, signed.get(name), now[name])
    if record.approvals is None or under_way:
        return
    before = {claim["id"]: claim for claim in signed.get("approvals", ())}
    after = {claim["id"]: claim for claim in record.approvals}
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) == after.get(name):
            continue
        what = "changed" if name in before and name in after else "removed"
        what = "added" if name not in before else what
        yield Fault("approval", f"approval {name} was {what} after it was signed")


def _changed(word: str, signed: Any, now: Any) -> Fault:
    return Fault(word, f'the {word} was changed: it was "{signed}", now it says "{now}"')


def _signing(run: Run, heads: Sequence[SignedHead], seen: _Seen) -> Signing:
    if heads:
        return Signing.signed
    under_way = run.status in _UNDER_WAY
    return Signing.not_yet if seen.version > 1 and under_way else Signing.before_signing


@dataclass(frozen=True)
class KeptHead:
    """A line that somebody wrote down elsewhere: a log that was cut or written again since does not have it."""

    position: int
    hash: str


@dataclass(frozen=True)
class LogVerification:
    """What a check of a project's whole log of heads found."""

    lines: int
    hash: str
    """The hash of its last line: keep it elsewhere, and a log that was cut can be told from a whole one."""
    faults: tuple[Fault, ...]
    kept: frozenset[KeptHead] = frozenset()
    """Those of the kept heads that were found in the log."""
    removed: int = 0
    """Runs that retention removed, as the log says itself."""


def verify_log(
    lines: Iterable[SignedHead],
    keys: PublicKeys,
    project_id: str,
    run_ids: Iterable[str],
    kept: frozenset[KeptHead] = frozenset(),
) -> LogVerification:
    """Checks that no line of a log is missing, added or changed, and that every run it names is there."""
    held: set[KeptHead] = set()
    known = set(run_ids)
    gone: dict[str, None] = {}
    removed: set[str] = set()
    faults: list[Fault] = []
    position, previous = 0, GENESIS
    for line in lines:
        found = list(_line_faults(line, keys, project_id))
        if line.position != position + 1:
            faults.append(
                Fault("log", f"line {position + 1} of the log of signed heads is missing")
            )
        elif not found and line.document["previous"] != previous:
            reason = (
                f"line {line.position} of the log of signed heads does not follow line {position}"
            )
            faults.append(Fault("log", reason))
        faults += found
        if line.run_id not in known:
            gone[line.run_id] = None
        if not found and "removed" in line.document.get("claims", {}):
            removed.add(line.run_id)
        if not found:
            held |= {KeptHead(line.position, line.hash)} & kept
        position, previous = line.position, line.hash
    faults += [
        Fault("log", f"the run {run_id} was signed and is not there any more")
        for run_id in gone
        if run_id not in removed
    ]
    lawful = len(removed & gone.keys())
    return LogVerification(position, previous, tuple(faults), frozenset(held), lawful)


@dataclass(frozen=True)
class ProjectVerification:
    """What was found in one project."""

    project_id: str
    log: LogVerification
    runs: tuple[Verification, ...]

    @property
    def is_intact(self) -> bool:
        return not self.log.faults and all(each.is_intact for each in self.runs)
