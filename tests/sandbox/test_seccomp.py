"""The system call filter, read by a small interpreter, for both architectures on any machine."""

import errno
import struct

import pytest

from steward.sandbox.runner import kernel, seccomp
from steward.sandbox.runner.syscalls import NUMBERS

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
DENY = ERRNO | errno.EPERM
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
OWN_PID = 77
# Calls that are on no list, by architecture: what most escapes begin with.
FORBIDDEN = {
    "x86_64": {
        "socket": 41,
        "connect": 42,
        "execve": 59,
        "fork": 57,
        "kill": 62,
        "ptrace": 101,
        "mount": 165,
        "unshare": 272,
        "memfd_create": 319,
        "bpf": 321,
        "io_uring_setup": 425,
        "link": 86,
        "symlink": 88,
        "truncate": 76,
    },
    "aarch64": {
        "socket": 198,
        "connect": 203,
        "execve": 221,
        "kill": 129,
        "ptrace": 117,
        "mount": 40,
        "unshare": 97,
        "memfd_create": 279,
        "bpf": 280,
        "io_uring_setup": 425,
        "linkat": 37,
        "symlinkat": 36,
        "truncate": 45,
    },
}


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    monkeypatch.setattr(kernel, "ARCHITECTURE", name)
    return name


def _verdict(program: bytes, number: int, *arguments: int, audit: int) -> int:
    """What the kernel would answer to one call."""
    wide = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=IIQ6Q", number, audit, 0, *wide)
    at = value = 0
    while True:
        code, yes, no, constant = struct.unpack_from("=HBBI", program, at * 8)
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", data, constant)
        elif code == 0x54:
            value &= constant
        elif code == 0x15:
            at += yes if value == constant else no
        elif code == 0x35:
            at += yes if value >= constant else no
        else:
            assert code == 0x06
            return int(constant)


def _asked(machine: str, name: str, *arguments: int, private_root: bool = True) -> int:
    program = seccomp.program(pid=OWN_PID, private_root=private_root)
    return _verdict(program, NUMBERS[machine][name], *arguments, audit=AUDIT[machine])


def test_listed_calls_are_allowed(machine: str) -> None:
    for name in seccomp.PLAIN:
        if name in NUMBERS[machine]:
            assert _asked(machine, name) == ALLOW, name


def test_every_listed_call_is_known_somewhere() -> None:
    assert [name for name in seccomp.PLAIN if name not in NUMBERS["x86_64"]] == []
    assert len(set(NUMBERS["aarch64"].values())) == len(NUMBERS["aarch64"])


def test_all_other_calls_are_denied(machine: str) -> None:
    program = seccomp.program(pid=OWN_PID, private_root=True)
    listed = set(NUMBERS[machine].values())
    for number in set(range(500)) - listed:
        assert _verdict(program, number, audit=AUDIT[machine]) == DENY, number
    assert not listed & set(FORBIDDEN[machine].values())


def test_another_architectures_calls_kill(machine: str) -> None:
    program = seccomp.program(pid=OWN_PID, private_root=True)
    other = next(value for name, value in AUDIT.items() if name != machine)
    assert _verdict(program, 0, audit=other) == KILL
    assert _verdict(program, 0, audit=0x40000003) == KILL
    if machine == "x86_64":
        assert _verdict(program, 0x40000000, audit=AUDIT[machine]) == KILL


def test_arguments_are_looked_at(machine: str) -> None:
    thread, process = 0x3D0F00, 0x11
    assert _asked(machine, "clone", thread) == ALLOW
    assert _asked(machine, "clone", process) == DENY
    assert _asked(machine, "clone3") == ERRNO | errno.ENOSYS
    assert _asked(machine, "mmap", 0, 4096, 3, 0x22) == ALLOW
    assert _asked(machine, "mmap", 0, 4096, 3, 0x21) == DENY
    assert _asked(machine, "openat", 0, 0, 0o1000) == DENY
    assert _asked(machine, "openat", 0, 0, 0o1101) == ALLOW
    assert _asked(machine, "tgkill", OWN_PID) == ALLOW
    assert _asked(machine, "tgkill", 1) == DENY
    assert _asked(machine, "prlimit64", 0) == ALLOW
    assert _asked(machine, "prlimit64", 1) == DENY
    assert _asked(machine, "socketpair", 1, 1 | 0o2000000) == ALLOW
    assert _asked(machine, "socketpair", 1, 2) == DENY
    assert _asked(machine, "socketpair", 2, 1) == DENY
    assert _asked(machine, "fcntl", 0, 8) == DENY
    assert _asked(machine, "fcntl", 0, 1030) == ALLOW
    assert _asked(machine, "ioctl", 0, 0x5412) == DENY
    assert _asked(machine, "prctl", 15) == ALLOW
    assert _asked(machine, "prctl", 4) == DENY


def test_modes_change_only_on_a_private_root(machine: str) -> None:
    assert _asked(machine, "fchmod") == ALLOW
    assert _asked(machine, "fchmod", private_root=False) == DENY
