"""The walls of one child, raised in order, each from which there is no way back."""

import os
from dataclasses import dataclass
from typing import Final

from steward.isolation import lower_limits
from steward.sandbox.contract import Limits, Tier
from steward.sandbox.runner import kernel, landlock, root, seccomp

_PRIVATE: Final = kernel.NEWNS | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS
_MOST_FILES: Final = 256
_MOST_THREADS: Final = 256


@dataclass(frozen=True)
class Place:
    """Where a child lives: its tier, what it may read at all, and its scratch folder."""

    tier: Tier
    readable: tuple[str, ...]
    data_roots: tuple[str, ...]
    scratch: str
    scratch_bytes: int
    scratch_inodes: int


def raise_walls(place: Place, keep: set[int]) -> tuple[int, landlock.Ruleset | None, list[str]]:
    """Confines this process for good before it has read a byte that others wrote.

    Gives an open descriptor of scratch, the rules to be narrowed to the request's files, and the
    names of the walls. `keep` are the descriptors that stay open.
    """
    walls: list[str] = []
    if place.tier == "ns":
        kernel.unshare(_PRIVATE)
        kernel.mount(
            "scratch",
            place.scratch,
            "tmpfs",
            kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC,
            f"size={place.scratch_bytes},nr_inodes={place.scratch_inodes},mode=0700",
        )
        walls += ["user, mount, pid, net, ipc and uts namespaces", "private root", "scratch tmpfs"]
    scratch = os.open(place.scratch, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.chdir(place.scratch)
    keep = {*keep, scratch}
    _close_others(keep)
    _fixed_limits(place)
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    narrow = None
    # Only a container, which has a file system of its own, goes without Landlock.
    if place.tier != "container" or landlock.version():
        outer = _rules(place)
        outer.read(place.data_roots)
        outer.enforce()
        narrow = _rules(place)
        walls.append(f"Landlock {landlock.version()}")
    seccomp.enforce(seccomp.program(pid=os.getpid(), private_root=place.tier == "ns"))
    return scratch, narrow, [*walls, "no capabilities", "no_new_privs", "seccomp", "rlimits"]


def _rules(place: Place) -> landlock.Ruleset:
    rules = landlock.Ruleset()
    rules.read(place.readable)
    # DuckDB aborts when these exist and cannot be read; with a private root they do not exist.
    rules.files(("/proc/self/cgroup", "/sys/fs/cgroup"))
    rules.devices(root.DEVICES)
    rules.write(place.scratch)
    return rules


def narrow_to(
    rules: landlock.Ruleset | None, files: list[str], limits: Limits, base_data: int
) -> None:
    """The last step, made when the request is known: its files, its memory, its processor time."""
    if rules is not None:
        rules.read(files)
        rules.enforce()
    lower_limits(
        {
            "DATA": base_data + limits.memory_bytes,
            "CPU": limits.cpu_seconds,
            "FSIZE": limits.scratch_bytes,
        }
    )


def _fixed_limits(place: Place) -> None:
    lower_limits({"CORE": 0, "NOFILE": _MOST_FILES, "MEMLOCK": 0, "MSGQUEUE": 0})
    if place.tier == "ns":
        # Without a namespace this would count every process of the user.
        lower_limits({"NPROC": _MOST_THREADS})


def _close_others(keep: set[int]) -> None:
    last = 2
    for descriptor in sorted(keep):
        if descriptor > last + 1:
            os.closerange(last + 1, descriptor)
        last = max(last, descriptor)
    os.closerange(last + 1, 4096)
