"""Landlock: which files the process may touch, whatever its user id could do."""

import ctypes
import os
import struct
from collections.abc import Iterable
from typing import Final

from steward.sandbox.runner import kernel

EXECUTE: Final = 1 << 0
WRITE_FILE: Final = 1 << 1
READ_FILE: Final = 1 << 2
READ_DIR: Final = 1 << 3
REMOVE_DIR: Final = 1 << 4
REMOVE_FILE: Final = 1 << 5
MAKE_DIR: Final = 1 << 7
MAKE_REG: Final = 1 << 8
REFER: Final = 1 << 13
TRUNCATE: Final = 1 << 14

_READ_TREE: Final = READ_FILE | READ_DIR
# Neither devices, sockets, pipes nor links are ever made: none of them is a result.
_SCRATCH: Final = (
    READ_FILE
    | READ_DIR
    | WRITE_FILE
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_DIR
    | MAKE_REG
    | REFER
    | TRUNCATE
)
# How many file rights, network rights and scopes each version of Landlock knows.
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15}
_FILE_RIGHTS_LATEST: Final = 16
_NET_FROM: Final = 4
_SCOPES_FROM: Final = 6
_RULE_PATH_BENEATH: Final = 1
_VERSION_FLAG: Final = 1


def version() -> int:
    """The kernel's version of Landlock; 0 when it has none or has it switched off."""
    try:
        return kernel.syscall(
            kernel.LANDLOCK_CREATE_RULESET, None, 0, _VERSION_FLAG, what="landlock"
        )
    except OSError:
        return 0


class Ruleset:
    """Denies everything that no rule allows."""

    def __init__(self) -> None:
        known = version()
        count = _FILE_RIGHTS.get(known, _FILE_RIGHTS_LATEST)
        self._handled = (1 << count) - 1
        fields = [self._handled]
        if known >= _NET_FROM:
            fields.append(0b11)  # binding and connecting TCP: no rule ever allows a port
        if known >= _SCOPES_FROM:
            fields.append(0b11)  # abstract unix sockets and signals stay within
        attributes = struct.pack(f"={len(fields)}Q", *fields)
        self.descriptor = kernel.syscall(
            kernel.LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0, what="landlock ruleset"
        )

    def read(self, paths: Iterable[str]) -> None:
        """Allows reading files and listing folders beneath these paths; missing ones are left out."""
        for path in paths:
            self._allow(path, _READ_TREE)

    def files(self, paths: Iterable[str]) -> None:
        """Allows reading files beneath these paths by name, without listing any folder."""
        for path in paths:
            self._allow(path, READ_FILE)

    def write(self, path: str) -> None:
        self._allow(path, _SCRATCH)

    def devices(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._allow(path, READ_FILE | WRITE_FILE)

    def _allow(self, path: str, rights: int) -> None:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            folder = os.fstat(descriptor).st_mode & 0o170000 == 0o040000
            if not folder:
                rights &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
            attributes = struct.pack("=Qi", rights & self._handled, descriptor)
            kernel.syscall(
                kernel.LANDLOCK_ADD_RULE,
                self.descriptor,
                _RULE_PATH_BENEATH,
                ctypes.create_string_buffer(attributes, len(attributes)),
                0,
                what=f"landlock rule for {path}",
            )
        finally:
            os.close(descriptor)

    def enforce(self) -> None:
        """Binds this process for good; needs no_new_privs."""
        kernel.syscall(kernel.LANDLOCK_RESTRICT_SELF, self.descriptor, 0, what="landlock")
        os.close(self.descriptor)
