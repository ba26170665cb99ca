"""Unpacks gzip, zstd and zip within limits: bombs, tricks with paths and deep nesting are refused."""

import gzip
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO, Any

from steward.core import Invalid, NotFound, TooLarge
from steward.ingest.arrow import arrow
from steward.ingest.detect import detect
from steward.ingest.findings import Note, TableListing
from steward.ingest.job import Job

_CHUNK = 1 << 20
_MOST_MEMBERS = 10_000
_IGNORED = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")
_DRIVE = re.compile(r"^[A-Za-z]:")
_WRAPPERS = ("gzip", "zstd", "zip")


def unpacked(job: Job) -> tuple[Job, str]:
    """The job with its innermost file in scratch space, and that file's format."""
    found = detect(job.path, job.name, job.options.format)
    job = job.with_notes(*found.notes)
    depth = 0
    while found.format in _WRAPPERS:
        depth += 1
        if depth > job.limits.nesting:
            raise Invalid(
                f"{job.name!r} has archives inside archives, deeper than {job.limits.nesting}; "
                "unpack it first.",
                code="nested-archive",
            )
        job = (
            _unpack_zip(job, depth)
            if found.format == "zip"
            else _unpack_stream(job, found.format, depth)
        )
        found = detect(job.path, job.name, job.options.format)
        job = job.with_notes(*found.notes)
    return job, found.format


def _unpack_stream(job: Job, kind: str, depth: int) -> Job:
    target = job.scratch / f"unpacked-{depth}"
    with _opened(job.path, kind) as stream:
        _copy(stream, target, job, packed=job.path.stat().st_size)
    name = job.name
    for ending in (".gz", ".zst", ".gzip", ".zstd"):
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
            break
    return replace(job, path=target, name=name, wrappers=(*job.wrappers, kind))


@contextmanager
def _opened(path: Path, kind: str) -> Iterator[IO[bytes] | Any]:
    if kind == "gzip":
        with gzip.open(path) as stream:
            yield stream
    else:
        pa = arrow()
        with pa.OSFile(str(path)) as raw, pa.CompressedInputStream(raw, "zstd") as stream:
            yield stream


def _copy(stream: IO[bytes] | Any, target: Path, job: Job, packed: int) -> None:
    """Writes what comes out, counting it: what an archive says of its size is not believed."""
    written = 0
    most, free = job.limits.unpacked_mb << 20, job.limits.unpack_free_mb << 20
    try:
        with target.open("wb") as out:
            while data := stream.read(_CHUNK):
                written += len(data)
                if written > most:
                    raise _too_large(job, f"unpacks to more than {job.limits.unpacked_mb:,} MB")
                if written > free and written > packed * job.limits.unpack_ratio:
                    raise _too_large(
                        job, f"unpacks to more than {job.limits.unpack_ratio} times its size"
                    )
                out.write(data)
                job.progress("unpacking", written, None)
    except (
        EOFError,
        OSError,
        ValueError,
        zlib.error,
        zipfile.BadZipFile,
        RuntimeError,
    ) as problem:
        raise Invalid(
            f"{job.name!r} is damaged or cut short: it cannot be unpacked. Send it again.",
            code="damaged",
        ) from problem


def _too_large(job: Job, what: str) -> TooLarge:
    return TooLarge(f"{job.name!r} {what}; it is refused as a likely bomb.", code="archive-bomb")


def _unpack_zip(job: Job, depth: int) -> Job:
    try:
        archive = zipfile.ZipFile(job.path)
    except (zipfile.BadZipFile, OSError, ValueError) as problem:
        raise Invalid(
            f"{job.name!r} is a damaged zip archive. Fetch or pack it again.", code="damaged"
        ) from problem
    with archive:
        members = _members(archive, job)
        info, inner = _chosen(members, job)
        target = job.scratch / f"unpacked-{depth}"
        try:
            stream = archive.open(info)
        except (zipfile.BadZipFile, RuntimeError, OSError) as problem:
            raise Invalid(
                f"{info.filename!r} in {job.name!r} is damaged or packed in an unknown way.",
                code="damaged",
            ) from problem
        with stream:
            _copy(stream, target, job, packed=max(info.compress_size, 1))
    listing = tuple(TableListing(member.filename) for member in members)
    notes: tuple[Note, ...] = ()
    if len(members) > 1:
        message = f"The archive holds {len(members)} files; this is {info.filename!r}."
        notes = (Note("several-members", message),)
    return replace(
        job,
        path=target,
        name=PurePosixPath(info.filename).name,
        options=replace(job.options, table=inner),
        wrappers=(*job.wrappers, "zip"),
        members=listing if len(members) > 1 else job.members,
        member=info.filename if len(members) > 1 else job.member,
        notes=(*job.notes, *notes),
    )


def _members(archive: zipfile.ZipFile, job: Job) -> list[zipfile.ZipInfo]:
    infos = archive.infolist()
    if len(infos) > _MOST_MEMBERS:
        raise TooLarge(
            f"{job.name!r} holds {len(infos):,} files; at most {_MOST_MEMBERS:,} are looked at.",
            code="archive-bomb",
        )
    total = sum(info.file_size for info in infos)
    if total > job.limits.unpacked_mb << 20:
        raise _too_large(job, f"says it unpacks to {total >> 20:,} MB")
    members = []
    for info in infos:
        _check_name(info, job)
        if info.is_dir() or any(part in info.filename for part in _IGNORED):
            continue
        if info.flag_bits & 0x1:
            raise Invalid(
                f"{job.name!r} is protected by a password. Pack it again without one.",
                code="encrypted",
            )
        members.append(info)
    if len({member.filename for member in members}) < len(members):
        raise Invalid(f"{job.name!r} holds two files of the same name.", code="archive-path")
    if not members:
        raise Invalid(f"{job.name!r} is an archive without files.", code="empty")
    return sorted(members, key=lambda info: info.filename)


def _check_name(info: zipfile.ZipInfo, job: Job) -> None:
    """No member is ever written under its own name; a name that tries to escape is an attack."""
    name = info.filename.replace("\\", "/")
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or _DRIVE.match(name) or "\0" in info.orig_filename:
        raise Invalid(
            f"{job.name!r} holds a file whose name leads outside the archive; it is refused.",
            code="archive-path",
        )
    if stat.S_ISLNK(info.external_attr >> 16):
        raise Invalid(f"{job.name!r} holds a symbolic link; it is refused.", code="archive-path")


def _chosen(members: list[zipfile.ZipInfo], job: Job) -> tuple[zipfile.ZipInfo, str | None]:
    """The member that `Options.table` names, and the table inside it."""
    wanted = job.options.table
    by_name = {member.filename: member for member in members}
    if wanted is None:
        return members[0], None
    if wanted in by_name:
        return by_name[wanted], None
    for name, member in by_name.items():
        if wanted.startswith(f"{name}#"):
            return member, wanted[len(name) + 1 :]
    if len(members) == 1:
        return members[0], wanted
    listed = ", ".join(sorted(by_name)[:10])
    raise NotFound(f"There is no {wanted!r} in {job.name!r}; it holds {listed}.")
