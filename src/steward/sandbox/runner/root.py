"""A private file system of read-only views: the interpreter, its libraries, the data; nothing else.

As root the views are made first and the user id is dropped afterwards, so that an interpreter under
a closed home folder still works. An ordinary user gets the right to mount from a user namespace.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from steward.sandbox.runner import kernel

NOBODY: Final = 65534
SCRATCH: Final = "/scratch"
DEVICES: Final = ("/dev/null", "/dev/urandom", "/dev/random")
# Harmless files that libraries expect to be either readable or absent.
_SYSTEM: Final = (
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/zoneinfo",
    "/usr/share/fonts",
    "/usr/share/mime",
    "/lib",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/fonts",
)
_NAMESPACES: Final = (
    kernel.NEWUSER
    | kernel.NEWNS
    | kernel.NEWPID
    | kernel.NEWNET
    | kernel.NEWIPC
    | kernel.NEWUTS
    | kernel.NEWCGROUP
)
_INSIDE_ID: Final = 1000


def runtime_paths() -> list[str]:
    """What the interpreter needs to run and to import: no more of the machine than that."""
    wanted = [*_SYSTEM, sys.prefix, sys.base_prefix, *sys.path]
    real = {os.path.realpath(path) for path in wanted if path and Path(path).exists()}
    named = {path for path in wanted if path and Path(path).exists()}
    return _outermost(sorted(real | named))


def _outermost(paths: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for path in paths:
        if not any(path == other or path.startswith(other + "/") for other in kept):
            kept.append(path)
    return kept


def enter(data_roots: list[str], *, uid: int | None, gid: int | None) -> None:
    """Moves this process into namespaces of its own; with a `uid`, from root to that user.

    The next fork is the first process of the new process namespace.
    """
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if uid is None:
            ids = os.getuid(), os.getgid()
            kernel.unshare(_NAMESPACES)
            _map_ids(proc, *ids)
            _build(data_roots)
            return
        kernel.unshare(kernel.NEWNS)
        _build(data_roots)
        group = gid if gid is not None else uid
        drop_user(uid, group)
        kernel.unshare(_NAMESPACES)
        _map_ids(proc, uid, group)
    finally:
        os.close(proc)


def drop_user(uid: int, gid: int) -> None:
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    # Changing user hides /proc/self from the process itself, which must still write its id map.
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)


def _map_ids(proc: int, uid: int, gid: int) -> None:
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_INSIDE_ID} {uid} 1"),
        ("gid_map", f"{_INSIDE_ID} {gid} 1"),
    ):
        descriptor = os.open(f"self/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


def _build(data_roots: list[str]) -> None:
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    # Any folder that exists will do: the new root covers it in this namespace alone.
    base = "/tmp"  # noqa: S108
    plain = kernel.MS_NOSUID | kernel.MS_NODEV
    views = _outermost(sorted({*runtime_paths(), *data_roots}))
    # The views are opened before the new root covers any of them.
    held = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in views if not _linked(path)]
    devices = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in DEVICES]
    source_proc = os.open("/proc/self/fd", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    kernel.mount("sandbox", base, "tmpfs", plain, "size=1m,nr_inodes=2k,mode=0755")
    try:
        os.fchdir(source_proc)
        for path, descriptor in [*held, *devices]:
            _bind(str(descriptor), base + path, device=path in DEVICES)
    finally:
        os.chdir("/")
        for _, descriptor in [*held, *devices]:
            os.close(descriptor)
        os.close(source_proc)
    _restore_links(base, views)
    Path(base + SCRATCH).mkdir(mode=0o755)
    Path(base + "/old").mkdir()
    os.chdir(base)
    kernel.pivot_root(".", "old")
    os.chdir("/")
    kernel.unmount("/old")
    Path("/old").rmdir()
    kernel.mount("none", "/", None, kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | plain)


def _linked(path: str) -> bool:
    return Path(path).is_symlink()


def _bind(source: str, target: str, *, device: bool) -> None:
    folder = Path(source).is_dir()
    where = Path(target)
    where.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    if folder:
        where.mkdir(exist_ok=True, mode=0o755)
    else:
        where.touch(mode=0o644)
    kernel.mount(source, target, None, kernel.MS_BIND)
    flags = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_NOSUID | kernel.MS_RDONLY
    if not device:
        flags |= kernel.MS_NODEV
    for kept in _locked_flags(target, flags):
        try:
            kernel.mount("none", target, None, kept)
        except PermissionError:
            continue
        return
    raise PermissionError(f"{target} cannot be made read-only")


def _locked_flags(target: str, flags: int) -> Iterator[int]:
    """A user namespace must keep the flags a mount came with, such as noexec and noatime."""
    now = os.statvfs(target).f_flag
    inherited = now & (kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC | 1024 | 2048)
    relative = 1 << 21 if now & 4096 else 0
    yield flags | inherited | relative
    yield flags | inherited


def _restore_links(base: str, views: list[str]) -> None:
    """Such as /lib -> usr/lib, and a versioned interpreter's folder: links are made anew."""
    for path in views:
        if _linked(path):
            where = Path(base + path)
            where.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
            if not where.exists():
                where.symlink_to(Path(path).readlink())
