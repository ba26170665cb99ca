"""What applying a folder would do: created, changed field by field, removed, left alone; and who changed what since the last time."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from steward.projects.applies import Applied
from steward.projects.parts import FieldDiff, Part, field_diffs
from steward.runs import digest

Deed = Literal["create", "change", "remove"]
Since = Literal["folder", "project", "both"]
"""Where something changed since the last apply; None where it was not applied before."""
Parts = Mapping[tuple[str, str], Part]


@dataclass(frozen=True)
class Planned:
    action: Deed
    kind: str
    name: str
    path: str
    since: Since | None
    fields: tuple[FieldDiff, ...]


@dataclass(frozen=True)
class OnlyHere:
    """Something that the project has and the folder does not."""

    kind: str
    name: str
    since: Since | None


@dataclass(frozen=True)
class Plan:
    changes: tuple[Planned, ...]
    unchanged: int
    only_here: tuple[OnlyHere, ...]
    notes: tuple[str, ...]
    last: Applied | None
    calls: tuple[Mapping[str, Any], ...]
    """The changes as the tool takes them."""
    hashes: Mapping[str, str]

    @property
    def differs(self) -> bool:
        return bool(self.changes or self.only_here)

    @property
    def is_new(self) -> bool:
        """Whether applying it does or remembers anything."""
        return (
            bool(self.changes) or self.last is None or dict(self.last.hashes) != dict(self.hashes)
        )

    @property
    def subject(self) -> str:
        """Names exactly these changes: while they wait for an approval, they are not asked for again."""
        return f"apply:{digest(self.arguments())}"

    def arguments(self) -> dict[str, Any]:
        return {"changes": [dict(each) for each in self.calls], "hashes": dict(self.hashes)}

    def to_json(self) -> dict[str, Any]:
        last = self.last
        applied = (
            None
            if last is None
            else {"number": last.number, "by": last.author, "at": last.created_at.isoformat()}
        )
        return {
            "changes": [asdict(each) for each in self.changes],
            "unchanged": self.unchanged,
            "only_here": [asdict(each) for each in self.only_here],
            "notes": list(self.notes),
            "differs": self.differs,
            "last_apply": applied,
        }


def planned(
    present: Parts, wanted: Parts, last: Applied | None, *, prune: bool, notes: list[str]
) -> Plan:
    """Compares; everything was checked before."""
    changes, calls, unchanged = [], [], 0
    hashes = {part.label: part.digest for part in wanted.values()}
    applied = dict(last.hashes) if last is not None else {}
    for key, part in sorted(wanted.items()):
        there = present.get(key)
        before = None if there is None else there.beside(part)
        if before is not None and before.digest == part.digest:
            unchanged += 1
            continue
        since = _since(applied.get(part.label), before, part)
        fields = tuple(field_diffs(before.meaning if before else {}, part.meaning))
        deed: Deed = "change" if before else "create"
        changes.append(Planned(deed, *key, part.path, since, fields))
        calls.append(_call(part, part.content, before))
    extra = [part for key, part in sorted(present.items()) if key not in wanted]
    for part in extra if prune else ():
        fields = tuple(field_diffs(part.meaning, {}))
        since = _since(applied.get(part.label), part, None)
        changes.append(Planned("remove", *part.key, part.path, since, fields))
        calls.append(_call(part, None, part))
    only_here = [
        OnlyHere(*part.key, _since(applied.get(part.label), part, None))
        for part in extra
        if not prune
    ]
    return Plan(
        tuple(changes), unchanged, tuple(only_here), tuple(notes), last, tuple(calls), hashes
    )


def _call(part: Part, content: Any, before: Part | None) -> dict[str, Any]:
    digest = before.digest if before is not None else None
    return {"kind": part.kind, "name": part.name, "content": content, "before": digest}


def _since(applied: str | None, there: Part | None, wanted: Part | None) -> Since | None:
    if applied is None:
        return None
    by_hand = there is None or there.digest != applied
    in_folder = wanted is None or wanted.digest != applied
    if by_hand and in_folder:
        return "both"
    return "project" if by_hand else "folder"
