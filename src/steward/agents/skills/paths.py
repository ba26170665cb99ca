"""Paths and sizes of files in a skill: what can be kept on every machine and leads nowhere else."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

from steward.core import Invalid, TooLarge

MOST_FILES: Final = 200
MOST_FILE_BYTES: Final = 1 << 20
MOST_BYTES: Final = 8 << 20
LONGEST_PATH: Final = 200
DEEPEST_PATH: Final = 6
_SEGMENT = re.compile(r"[\w][\w .()+@-]*", re.UNICODE)
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_JUNK_FOLDERS: Final = frozenset({"__MACOSX", ".git", ".svn", ".hg", "__pycache__", "node_modules"})
_JUNK_FILES: Final = frozenset(
    {".DS_Store", "Thumbs.db", "desktop.ini", ".gitignore", ".gitattributes"}
)


def is_junk(path: str) -> bool:
    """What systems and tools leave in folders; it is passed over."""
    *folders, name = path.split("/")
    return name in _JUNK_FILES or not _JUNK_FOLDERS.isdisjoint(folders)


def safe_path(path: str) -> str:
    """The path as it is, if it names a file below the skill's folder on every machine."""
    parts = path.split("/")
    wrong = (
        "leads outside the folder"
        if path.startswith("/") or ".." in parts or "\\" in path or ":" in path
        else "is too long or too deep"
        if len(path) > LONGEST_PATH or len(parts) > DEEPEST_PATH
        else "has characters that not every machine can keep"
        if not all(_is_segment(part) for part in parts)
        or unicodedata.normalize("NFC", path) != path
        else None
    )
    if wrong is not None:
        shown = path.encode("ascii", "backslashreplace").decode()[:80]
        raise Invalid(f"The file name {shown!r} {wrong}; it is refused.", code="skill-path")
    return path


def _is_segment(part: str) -> bool:
    return (
        bool(_SEGMENT.fullmatch(part))
        and not part.endswith((" ", "."))
        and not _DEVICES.fullmatch(part)
    )


def refuse_clashes(paths: Iterable[str]) -> None:
    """No two names that some machine takes for one, and no file where another has a folder."""
    seen: dict[str, str] = {}
    folders: dict[str, str] = {}
    listed = list(paths)
    for path in listed:
        key = _folded(path)
        if key in seen:
            raise Invalid(
                f"{seen[key]!r} and {path!r} are one file on many machines; rename one.",
                code="skill-path",
            )
        seen[key] = path
        for parent in PurePosixPath(path).parents:
            folder = str(parent)
            other = folders.setdefault(_folded(folder), folder)
            if other != folder:
                raise Invalid(
                    f"The folders {other!r} and {folder!r} are one on many machines; rename one.",
                    code="skill-path",
                )
    clash = next((seen[key] for key in seen if key in folders), None)
    if clash is not None:
        raise Invalid(f"{clash!r} is a file and a folder at once.", code="skill-path")


def refuse_sizes(sizes: Mapping[str, int]) -> None:
    if len(sizes) > MOST_FILES:
        raise TooLarge(f"A skill has at most {MOST_FILES} files; this one has {len(sizes)}.")
    for path, size in sizes.items():
        if size > MOST_FILE_BYTES:
            raise TooLarge(
                f"{path} has {size:,} bytes; at most {MOST_FILE_BYTES:,} fit in a skill."
            )
    total = sum(sizes.values())
    if total > MOST_BYTES:
        raise TooLarge(f"The skill has {total:,} bytes; at most {MOST_BYTES:,} fit.")


def safe_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a skill in order, all names and sizes looked at."""
    for path in files:
        safe_path(path)
    refuse_clashes(files)
    refuse_sizes({path: len(content) for path, content in files.items()})
    return dict(sorted(files.items()))


def _folded(path: str) -> str:
    return unicodedata.normalize("NFKC", path.casefold()).casefold()
