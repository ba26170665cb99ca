"""Takes the files that code left in scratch, trusting nothing about them."""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from steward.sandbox.contract import ScratchFile

_DEEPEST: Final = 8
_MOST_ENTRIES: Final = 10_000
_MOST_FILES: Final = 200
_LONGEST_NAME: Final = 1000


@dataclass
class Collected:
    files: list[ScratchFile] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def collect(scratch: int, most_bytes: int) -> Collected:
    """Regular files with one name, up to a sum of bytes, below an open folder.

    Called when the process that wrote them is dead. Links are never followed, pipes never waited
    for; names that start with a dot are the libraries' own.
    """
    found = Collected()
    left = most_bytes
    for path, folder, name in _walk(scratch):
        if len(found.files) == _MOST_FILES:
            found.skipped.append(f"{path}: more than {_MOST_FILES} files")
            break
        try:
            descriptor = os.open(
                name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
            )
        except OSError as problem:
            found.skipped.append(f"{path}: {problem.strerror}")
            continue
        try:
            about = os.fstat(descriptor)
            reason = _unfit(about, left)
            if reason:
                found.skipped.append(f"{path}: {reason}")
                continue
            content = _read(descriptor, left)
        finally:
            os.close(descriptor)
        left -= len(content)
        digest = hashlib.sha256(content).hexdigest()
        found.files.append(
            ScratchFile.model_construct(
                path=path, size=len(content), sha256=digest, content=content
            )
        )
    del found.skipped[_MOST_FILES:]
    return found


def _unfit(about: os.stat_result, left: int) -> str:
    if not stat.S_ISREG(about.st_mode):
        return "not a regular file"
    if about.st_nlink != 1:
        return "has more than one name"
    if about.st_size > left:
        return "too large to be handed back"
    return ""


def _read(descriptor: int, most: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while size <= most and (piece := os.read(descriptor, 1 << 20)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)[:most]


def _walk(scratch: int) -> Iterator[tuple[str, int, str]]:
    """Path, open folder and name of every entry that is no folder."""
    seen = 0
    pending = [("", os.dup(scratch), 0)]
    try:
        while pending:
            prefix, folder, depth = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        seen += 1
                        if seen > _MOST_ENTRIES:
                            return
                        path = prefix + entry.name
                        if entry.name.startswith(".") or len(path) > _LONGEST_NAME:
                            continue
                        if not entry.is_dir(follow_symlinks=False):
                            yield _printable(path), folder, entry.name
                        elif depth < _DEEPEST:
                            inner = _folder(folder, entry.name)
                            if inner is not None:
                                pending.append((path + "/", inner, depth + 1))
            finally:
                os.close(folder)
    finally:
        for _, folder, _ in pending:
            os.close(folder)


def _folder(parent: int, name: str) -> int | None:
    try:
        return os.open(
            name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent
        )
    except OSError:
        return None


def _printable(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def used(scratch: int) -> tuple[int, int]:
    """Bytes and entries below a folder now, for the watchdog where no file system sets a cap."""
    size = count = 0
    pending = [os.dup(scratch)]
    try:
        while pending and count < _MOST_ENTRIES:
            folder = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        count += 1
                        if entry.is_dir(follow_symlinks=False):
                            inner = _folder(folder, entry.name)
                            if inner is not None:
                                pending.append(inner)
                        else:
                            size += entry.stat(follow_symlinks=False).st_blocks * 512
            except OSError:
                continue
            finally:
                os.close(folder)
    finally:
        for folder in pending:
            os.close(folder)
    return size, count
