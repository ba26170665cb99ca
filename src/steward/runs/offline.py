"""Verification away from the installation: a capsule or a backup, and nothing but the public key."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from steward.runs import _tables as tables
from steward.runs.canonical import Json
from steward.runs.capsules import Capsule
from steward.runs.entries import Stored
from steward.runs.heads import SignedHead, line_from
from steward.runs.model import Run, stored_status
from steward.runs.verification import (
    BlobCheck,
    KeptHead,
    ProjectVerification,
    Record,
    Verification,
    verify_log,
    verify_record,
)
from steward.store import Contents, Moment, PublicKeys, Scope

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PAYLOAD: Final = re.compile(r'\\"\$blob\\":\\"([0-9a-f]{64})\\"')
_MOMENTS: Final = {column.name for column in tables.runs.c if isinstance(column.type, Moment)}
ApprovalClaim = Callable[[Mapping[str, Any]], Json]
"""A row of an approval as it is signed; the room that owns approvals knows."""


def verify_capsule(capsule: Capsule, keys: PublicKeys) -> Verification:
    """A run in a file, whose entries and payloads were checked when it was unpacked."""
    run = capsule.as_run()
    rows = [
        Stored(run.id, entry.seq, entry.kind, entry.key, entry.body, entry.hash)
        for entry in capsule.entries
    ]
    blobs = BlobCheck(lambda digest: [capsule.payload(digest)])
    return verify_record(Record(run, rows, capsule.heads, blobs, None), keys)


def payloads_in(folder: Path) -> set[str]:
    """The blobs that journals of a backup refer to: needed to find the files that large outcomes name."""
    found: set[str] = set()
    path = folder / "journal.ndjson"
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                found |= set(_PAYLOAD.findall(line))
    return found


def verify_backup(
    contents: Contents,
    keys: PublicKeys,
    approval_claim: ApprovalClaim,
    kept: frozenset[KeptHead] = frozenset(),
) -> list[ProjectVerification]:
    """Every run of every project in a backup, and the logs of their signed heads."""
    runs = {row["id"]: _run(row) for row in contents.rows("runs")}
    heads: dict[str, list[SignedHead]] = defaultdict(list)
    logs: dict[str, list[SignedHead]] = defaultdict(list)
    for row in contents.rows("run_heads"):
        line = line_from(row)
        heads[line.run_id].append(line)
        logs[row["project_id"]].append(line)
    approvals: dict[str, list[Json]] = defaultdict(list)
    for row in contents.rows("approvals"):
        approvals[row["run_id"]].append(approval_claim(row))
    found: dict[str, list[Verification]] = defaultdict(list)
    blobs = _InBackup(contents)
    for run_id, rows in _journals(contents, runs):
        run = runs[run_id]
        claims = sorted(approvals[run_id], key=lambda claim: str(claim["id"]))
        record = Record(run, rows, heads[run_id], blobs, claims)
        found[run.scope.project_id].append(verify_record(record, keys))
    by_project = sorted(found.keys() | logs.keys())
    return [
        ProjectVerification(
            project, verify_log(logs[project], keys, project, runs, kept), tuple(found[project])
        )
        for project in by_project
    ]


def _journals(
    contents: Contents, runs: Mapping[str, Run]
) -> Iterator[tuple[str, Iterator[Stored]]]:
    """The entries of each run, and nothing for a run that has none."""
    left = dict.fromkeys(runs)
    for run_id, rows in groupby(contents.rows("journal"), lambda row: str(row["run_id"])):
        if run_id in left:
            del left[run_id]
            yield run_id, (_stored(row) for row in rows)
    for run_id in left:
        yield run_id, iter(())


class _InBackup(BlobCheck):
    """Blobs of a backup: their bytes were compared with their names when it was laid open."""

    def __init__(self, contents: Contents) -> None:
        super().__init__(contents.kept.read)
        self._digests = contents.digests

    def _look(self, digest: str) -> str | None:
        return None if digest in self._digests else "missing"


def _stored(row: Mapping[str, Any]) -> Stored:
    return Stored(*(row[name] for name in ("run_id", "seq", "kind", "key", "body", "hash")))


def _run(row: Mapping[str, Any]) -> Run:
    fields = {name: _value(name, row[name]) for name in Run.__dataclass_fields__ if name in row}
    fields |= {"status": stored_status(row["id"], row["status"])}
    return Run(scope=Scope(row["org_id"], row["project_id"]), **fields)


def _value(name: str, value: Any) -> Any:
    if name in _MOMENTS and value is not None:
        return _EPOCH + timedelta(microseconds=value)
    return value
