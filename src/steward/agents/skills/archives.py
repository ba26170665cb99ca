"""Skills in zip archives: read as hostile, written with the same bytes every time."""

import io
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from steward.agents.skills.model import SKILL_FILE
from steward.agents.skills.paths import (
    MOST_BYTES,
    MOST_FILE_BYTES,
    is_junk,
    refuse_clashes,
    safe_files,
    safe_path,
)
from steward.core import Invalid, TooLarge

MOST_ARCHIVE_BYTES: Final = 16 << 20
MOST_MEMBERS: Final = 2_000
MOST_SKILLS: Final = 50
_CHUNK: Final = 1 << 16
_MOST_UNPACKED: Final = 4 * MOST_BYTES
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
_METHODS: Final = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


def pack(files: Mapping[str, bytes], folder: str | None = None) -> bytes:
    """A zip of the files, below a folder if one is given.

    Stored without compression: what a compressor writes differs from version to version of it.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path, content in sorted(files.items()):
            info = zipfile.ZipInfo(f"{folder}/{path}" if folder else path, _LONG_AGO)
            info.create_system = 3
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, content)
    return target.getvalue()


def unpack(content: bytes) -> dict[str, bytes]:
    """All files of a zip by path; whatever could do harm, or only pretends, refuses the whole."""
    if len(content) > MOST_ARCHIVE_BYTES:
        raise TooLarge(f"The archive is larger than {MOST_ARCHIVE_BYTES:,} bytes.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _read(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as problem:
        raise Invalid(
            "This is not a zip archive, or it is damaged. Make it again.", code="skill-archive"
        ) from problem


def skills_in(files: Mapping[str, bytes]) -> list[tuple[str | None, dict[str, bytes]]]:
    """The skills among files: each folder with a SKILL.md, by its name; None for one at the top."""
    homes = [PurePosixPath(path).parent for path in files if _is_skill_file(path)]
    if not homes:
        raise Invalid("There is no SKILL.md in it, so no skill.", code="skill-archive")
    outer = [
        home for home in sorted(homes) if not any(home != o and _below(home, o) for o in homes)
    ]
    if len(outer) > MOST_SKILLS:
        raise TooLarge(f"There are {len(outer)} skills in it; bring at most {MOST_SKILLS} at once.")
    found: list[tuple[str | None, dict[str, bytes]]] = []
    for home in outer:
        inside = {
            str(PurePosixPath(path).relative_to(home)): content
            for path, content in files.items()
            if _below(PurePosixPath(path), home)
        }
        name = home.name or None
        found.append((name, safe_files(inside)))
    return found


def read_folder(folder: Path) -> list[tuple[str | None, dict[str, bytes]]]:
    """The skills of a folder on disk, such as a Git checkout; links are not followed."""
    folder = folder.resolve()
    files: dict[str, bytes] = {}
    total = 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if is_junk(name):
            continue
        if path.is_symlink():
            raise Invalid(f"{name} is a link; put the file itself there.", code="skill-path")
        if not path.is_file():
            continue
        size = path.stat().st_size
        total += size
        if size > MOST_FILE_BYTES or total > _MOST_UNPACKED or len(files) >= MOST_MEMBERS:
            raise TooLarge(f"{name} and the files before it are too much for skills.")
        files[name] = path.read_bytes()
    found = skills_in(files)
    return [(name or folder.name, inside) for name, inside in found]


def _is_skill_file(path: str) -> bool:
    return PurePosixPath(path).name.lower() == SKILL_FILE.lower()


def _below(path: PurePosixPath, home: PurePosixPath) -> bool:
    return path != home and path.is_relative_to(home)


def _read(archive: zipfile.ZipFile) -> dict[str, bytes]:
    infos = archive.infolist()
    if len(infos) > MOST_MEMBERS:
        raise TooLarge(f"The archive holds {len(infos):,} entries; at most {MOST_MEMBERS:,} pass.")
    members = [info for info in infos if _is_member(info)]
    refuse_clashes([info.filename for info in members])
    files: dict[str, bytes] = {}
    room = _MOST_UNPACKED
    for info in members:
        content = _content(archive, info, min(MOST_FILE_BYTES, room))
        room -= len(content)
        files[info.filename] = content
    return files


def _is_member(info: zipfile.ZipInfo) -> bool:
    """Whether it is a file to take; refuses what is neither that nor a plain folder."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        raise Invalid("The archive holds a link or a device; it is refused.", code="skill-path")
    if not info.filename or info.orig_filename != info.filename:
        raise Invalid(
            "The archive holds a name with tricks in it; it is refused.", code="skill-path"
        )
    # What is passed over is looked at as well: junk is no excuse for a way outside.
    name = info.filename.rstrip("/") if info.is_dir() else info.filename
    if is_junk(name):
        parts = name.split("/")
        if name.startswith("/") or ".." in parts or "\\" in name:
            safe_path(name)
        return False
    safe_path(name)
    if info.is_dir():
        if info.file_size:
            raise Invalid("The archive holds a folder with content of its own.", code="skill-path")
        return False
    if info.flag_bits & 0x1:
        raise Invalid("The archive is protected by a password.", code="skill-archive")
    if info.compress_type not in _METHODS:
        raise Invalid("The archive is packed in an unusual way.", code="skill-archive")
    return True


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """What really comes out, counted: what an archive says of its sizes is not believed."""
    pieces: list[bytes] = []
    size = 0
    with archive.open(info) as stream:
        while piece := stream.read(_CHUNK):
            size += len(piece)
            if size > most:
                raise TooLarge(
                    f"{info.filename} unpacks to more than {most:,} bytes; it is refused.",
                    code="archive-bomb",
                )
            pieces.append(piece)
    return b"".join(pieces)
