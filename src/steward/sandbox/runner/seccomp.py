"""The system calls a sandboxed process may make: an allow-list, with a look at dangerous arguments.

Whatever is not listed answers EPERM, so that libraries fall back instead of dying. A call made with
another architecture's numbers kills the process.
"""

import ctypes
import errno
import struct
from dataclasses import dataclass
from typing import Final

from steward.sandbox.runner import kernel
from steward.sandbox.runner.syscalls import NUMBERS
from steward.sandbox.words import words

_AUDIT_ARCH: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT: Final = 0x40000000

_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_ERRNO: Final = 0x00050000
_DENY: Final = _ERRNO | errno.EPERM

_LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_AND: Final = 0x54  # BPF_ALU | BPF_AND | BPF_K
_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_AT_LEAST: Final = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_RETURN: Final = 0x06
_MODE_FILTER: Final = 2

PLAIN: Final = words("""
    read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 close close_range
    lseek fstat stat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink
    readlinkat getdents64 getdents getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename
    renameat renameat2 ftruncate fallocate fsync fdatasync sync_file_range flock fadvise64
    readahead copy_file_range sendfile dup dup2 dup3 pipe pipe2 poll ppoll select pselect6
    epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd2
    timerfd_create timerfd_settime timerfd_gettime munmap mprotect mremap madvise msync mincore brk
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack
    restart_syscall pause alarm setitimer getitimer nanosleep clock_nanosleep clock_gettime
    clock_getres gettimeofday time times getrusage timer_create timer_settime timer_gettime
    timer_delete timer_getoverrun futex futex_waitv set_robust_list get_robust_list rseq membarrier
    set_tid_address gettid getpid getppid getpgrp getpgid getsid getuid geteuid getgid getegid
    getresuid getresgid getgroups sched_yield sched_getaffinity sched_getparam sched_getscheduler
    sched_get_priority_max sched_get_priority_min getpriority getcpu getrlimit setrlimit exit
    exit_group uname sysinfo getrandom umask capget sendto recvfrom sendmsg recvmsg shutdown
    getsockopt setsockopt getsockname getpeername wait4 waitid arch_prctl get_mempolicy
    landlock_create_ruleset landlock_add_rule landlock_restrict_self
    """)
# With a private root these touch nothing but scratch; without one they would reach any file of the
# same user, because Landlock does not look at them.
ON_PRIVATE_ROOT: Final = ("chmod", "fchmod", "fchmodat", "utimensat", "utimes", "utime")

_CLONE_THREAD: Final = 0x00010100  # CLONE_THREAD | CLONE_VM
_SHARED_ANONYMOUS: Final = 0x21
_TRUNCATE_ACCESS: Final = 0o1003  # O_TRUNC and the access mode
_TRUNCATE_READ_ONLY: Final = 0o1000
# FIOCLEX, FIONCLEX, FIONBIO, FIONREAD, and two questions that "is this a terminal?" asks.
_IOCTLS: Final = (0x5451, 0x5450, 0x5421, 0x541B, 0x5401, 0x5413)
# Duplicating, flags and locks; not the ones that make the kernel send signals.
_FCNTLS: Final = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
# Names of threads and of memory.
_PRCTLS: Final = (15, 16, 0x53564D41)


@dataclass(frozen=True)
class _Instruction:
    code: int
    value: int
    yes: int = 0
    no: int = 0


def program(*, pid: int, private_root: bool) -> bytes:
    """The filter as the kernel takes it; `pid` is the process's own, the only one it may signal."""
    numbers = NUMBERS[kernel.ARCHITECTURE]
    steps = [
        _Instruction(_LOAD, 4),
        _Instruction(_EQUAL, _AUDIT_ARCH[kernel.ARCHITECTURE], 1, 0),
        _Instruction(_RETURN, _KILL),
        _Instruction(_LOAD, 0),
    ]
    if kernel.ARCHITECTURE == "x86_64":
        steps += [_Instruction(_AT_LEAST, _X32_BIT, 0, 1), _Instruction(_RETURN, _KILL)]
    for name, body in _checked_calls(pid).items():
        if name in numbers:
            steps += [_Instruction(_EQUAL, numbers[name], 0, len(body)), *body]
    plain = PLAIN + (ON_PRIVATE_ROOT if private_root else ())
    for name in plain:
        if name in numbers:
            steps += [
                _Instruction(_EQUAL, numbers[name], 0, 1),
                _Instruction(_RETURN, _ALLOW),
            ]
    steps.append(_Instruction(_RETURN, _DENY))
    return b"".join(struct.pack("=HBBI", s.code, s.yes, s.no, s.value) for s in steps)


def _checked_calls(pid: int) -> dict[str, list[_Instruction]]:
    """Calls that are allowed with some arguments only; each body ends in a verdict."""
    opening = {"open": 1, "openat": 2}
    bodies = {
        name: _unless_masked(argument, _TRUNCATE_ACCESS, _TRUNCATE_READ_ONLY)
        for name, argument in opening.items()
    }
    bodies |= {
        "mmap": _unless_masked(3, _SHARED_ANONYMOUS, _SHARED_ANONYMOUS),
        "clone": _if_masked(0, _CLONE_THREAD, _CLONE_THREAD),
        # glibc falls back to clone, whose flags can be seen.
        "clone3": [_Instruction(_RETURN, _ERRNO | errno.ENOSYS)],
        "openat2": [_Instruction(_RETURN, _ERRNO | errno.ENOSYS)],
        "fchmodat2": [_Instruction(_RETURN, _ERRNO | errno.ENOSYS)],
        "ioctl": _if_one_of(1, _IOCTLS),
        "fcntl": _if_one_of(1, _FCNTLS),
        "prctl": _if_one_of(0, _PRCTLS),
        "tgkill": _if_one_of(0, (pid,)),
        # Limits of the process itself: they can only be lowered.
        "prlimit64": _if_one_of(0, (0,)),
        # asyncio wakes itself through a pair of stream sockets; datagrams could reach any address.
        "socketpair": [
            _Instruction(_LOAD, _argument(0)),
            _Instruction(_EQUAL, 1, 0, 3),
            _Instruction(_LOAD, _argument(1)),
            _Instruction(_AND, 0xF),
            _Instruction(_EQUAL, 1, 1, 0),
            _Instruction(_RETURN, _DENY),
            _Instruction(_RETURN, _ALLOW),
        ],
    }
    return bodies


def _argument(index: int) -> int:
    """Where the low half of an argument lies; both architectures are little-endian."""
    return 16 + 8 * index


def _if_masked(argument: int, mask: int, wanted: int) -> list[_Instruction]:
    return [
        _Instruction(_LOAD, _argument(argument)),
        _Instruction(_AND, mask),
        _Instruction(_EQUAL, wanted, 1, 0),
        _Instruction(_RETURN, _DENY),
        _Instruction(_RETURN, _ALLOW),
    ]


def _unless_masked(argument: int, mask: int, unwanted: int) -> list[_Instruction]:
    return [
        _Instruction(_LOAD, _argument(argument)),
        _Instruction(_AND, mask),
        _Instruction(_EQUAL, unwanted, 0, 1),
        _Instruction(_RETURN, _DENY),
        _Instruction(_RETURN, _ALLOW),
    ]


def _if_one_of(argument: int, values: tuple[int, ...]) -> list[_Instruction]:
    steps = [_Instruction(_LOAD, _argument(argument))]
    for position, value in enumerate(values):
        steps.append(_Instruction(_EQUAL, value, len(values) - position, 0))
    return [*steps, _Instruction(_RETURN, _DENY), _Instruction(_RETURN, _ALLOW)]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def enforce(bytecode: bytes) -> None:
    """Installs the filter for good, on every thread to come; needs no_new_privs."""
    held = ctypes.create_string_buffer(bytecode, len(bytecode))
    program_ = _Program(len(bytecode) // 8, ctypes.cast(held, ctypes.c_void_p))
    kernel.prctl(kernel.PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(program_))
