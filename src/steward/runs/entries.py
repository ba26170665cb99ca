"""Journal entries: their bytes, and the chain that no bit can leave unnoticed."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeGuard

from steward.runs.canonical import GENESIS, Json, canonical, chained, quoted
from steward.runs.entry_types import ENTRY, Kind, Mark, TypedEntry, lifted, plain_mark

SCHEMA_VERSION = 2
"""Version 1 knew neither types nor signatures."""


class Entry(NamedTuple):
    """A tuple: long journals have a hundred thousand of them, and objects would take three times as long to make."""

    seq: int
    kind: str
    key: str
    at: str
    data: dict[str, Any]
    hash: str
    body: str
    type: str
    of: str
    """What it is about: the key of a call, a step, a plan or a wait."""
    version: int = SCHEMA_VERSION


def made(
    run_id: str,
    previous: "Link",
    kind: Kind,
    key: str,
    at: datetime,
    data: Json,
    mark: Mark | None = None,
) -> Entry:
    """The entry that follows `previous`; its data is as it will come back from the journal."""
    mark = mark or plain_mark(kind, key)
    seq = previous.seq + 1
    moment = at.isoformat()
    spelt = canonical(data)
    type_, of = str(mark.type), mark.of
    # Spelt out: as canonical JSON of all of it would be, with the keys in their order.
    body = (
        f'{{"at":"{moment}","data":{spelt},"key":{quoted(key)},"kind":"{kind}","of":{quoted(of)},'
        f'"run":{quoted(run_id)},"seq":{seq},"type":{quoted(type_)},"v":{SCHEMA_VERSION}}}'
    )
    # Read back from its own bytes: what runs and what replays must see the same.
    plain = json.loads(spelt)
    hash_ = chained(previous.hash, body)
    return Entry(seq, str(kind), key, moment, plain, hash_, body, type_, of)


@dataclass(frozen=True, slots=True)
class Link:
    """Where a chain stands."""

    seq: int = 0
    hash: str = GENESIS


def read(body: str, hash_: str) -> Entry:
    """An entry from its stored bytes."""
    return _entry(json.loads(body), body, hash_)


def typed(entry: Entry) -> TypedEntry:
    """The entry as its type describes it; a ValueError where it holds something else."""
    names = ("seq", "at", "key", "of", "type", "data")
    return ENTRY.validate_python({name: getattr(entry, name) for name in names})


def read_all(rows: Sequence[Sequence[str]]) -> list[Entry]:
    """Entries from their stored bytes and hashes; decoded together, which takes half the time of one by one."""
    decoded = json.loads(f"[{','.join([body for body, _ in rows])}]")
    if len(decoded) != len(rows):
        # Something that is no entry stands among them; reading one by one says which.
        return [read(body, hash_) for body, hash_ in rows]
    return [_entry(found, body, hash_) for found, (body, hash_) in zip(decoded, rows, strict=True)]


def _entry(found: dict[str, Any], body: str, hash_: str) -> Entry:
    kind, key, data = found["kind"], found["key"], found["data"]
    type_, of = (found["type"], found["of"]) if "type" in found else lifted(kind, key, data)
    return Entry(found["seq"], kind, key, found["at"], data, hash_, body, type_, of, found["v"])


@dataclass(frozen=True)
class Stored:
    """A row of the journal as the database has it: nothing of it is believed before it is checked."""

    run_id: str
    seq: int
    kind: str
    key: str
    body: str
    hash: str


@dataclass(frozen=True)
class Damage:
    """The first place at which a journal is not what was written."""

    seq: int
    reason: str


class Damaged(Exception):
    """Raised where a journal stops being what was written."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(damage.reason)
        self.damage = damage


def first_damage(run_id: str, rows: Iterable[Stored], head: Link) -> Damage | None:
    """The first altered, missing or added entry of a run, or None if all is as it was written."""
    try:
        for _ in checked_entries(run_id, rows, head):
            pass
    except Damaged as found:
        return found.damage
    return None


def checked_entries(run_id: str, rows: Iterable[Stored], head: Link) -> Iterator[Entry]:
    """The entries of a run, each after its place in the chain was checked; Damaged where one is wrong."""
    link = Link()
    for row in rows:
        expected = link.seq + 1
        if row.seq != expected:
            raise Damaged(Damage(expected, f"entry {expected} is missing"))
        yield _checked(run_id, row, link)
        link = Link(row.seq, row.hash)
    if link.seq < head.seq:
        reason = f"entry {link.seq + 1} is missing: the journal is cut short"
        raise Damaged(Damage(link.seq + 1, reason))
    if link.seq == head.seq and link.hash != head.hash:
        raise Damaged(Damage(head.seq, "the run's own record names another last entry"))


def _checked(run_id: str, row: Stored, link: Link) -> Entry:
    if chained(link.hash, row.body) != row.hash:
        reason = "its hash does not cover its content and the entry before it"
        raise Damaged(Damage(row.seq, reason))
    try:
        found = json.loads(row.body)
        same = (
            canonical(found) == row.body
            and found["run"] == run_id == row.run_id
            and found["seq"] == row.seq
            and found["kind"] == row.kind
            and found["key"] == row.key
        )
        entry = _entry(found, row.body, row.hash)
    except (ValueError, KeyError, TypeError):
        raise Damaged(Damage(row.seq, "its content cannot be read")) from None
    if not same:
        raise Damaged(Damage(row.seq, "its columns do not agree with its content"))
    return entry


def is_reference(value: Json) -> TypeGuard[dict[str, Any]]:
    """Whether a value stands for a payload that lives as a blob beside the journal."""
    return isinstance(value, dict) and len(value) == 2 and "$blob" in value and "bytes" in value


def blob_references(data: dict[str, Any]) -> Iterator[str]:
    """Digests of payloads that were too large to stand in the journal itself.

    Looked for only where the driver puts them: what people or tools say may look the same and is content.
    """
    answer = data.get("answer")
    places = [data.get("result"), data.get("output")]
    if isinstance(answer, dict):
        places.append(answer.get("output"))
    yield from (place["$blob"] for place in places if is_reference(place))


def end_reason(data: Mapping[str, Any]) -> str | None:
    """Why a run ended as it did, by the data of its last entry; None where nothing went wrong."""
    error = data.get("error")
    return str(error["message"])[:400] if isinstance(error, Mapping) else None
