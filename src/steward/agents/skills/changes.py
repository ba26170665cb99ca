"""What changed between two versions of a skill, file by file, line by line."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

MOST_LINES: Final = 4_000
Kind = Literal["added", "removed", "changed"]


@dataclass(frozen=True)
class FileChange:
    path: str
    kind: Kind
    lines: tuple[str, ...]
    """As `diff -u` has them, without the names; empty where a file is no text."""
    cut: bool = False


def changes_between(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[FileChange]:
    found = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        kind: Kind = "added" if old is None else "removed" if new is None else "changed"
        lines = _lines(old or b"", new or b"")
        found.append(FileChange(path, kind, tuple(lines[:MOST_LINES]), len(lines) > MOST_LINES))
    return found


def _lines(old: bytes, new: bytes) -> list[str]:
    before, after = text_of(old), text_of(new)
    if before is None or after is None:
        return []
    compared = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3)
    return list(compared)[2:]


def text_of(content: bytes) -> str | None:
    """The content as text, if it is one."""
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None
