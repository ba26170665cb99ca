"""An SFTP server over a folder of this machine, for tests: paramiko's protocol, real files."""

import base64
import hashlib
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paramiko

USER = "partner"
PASSWORD = "not-told-0123456789"


@dataclass(frozen=True)
class Running:
    folder: Path
    port: int
    fingerprint: str
    sign_ins: list[str]
    listings: list[str]


class _Door(paramiko.ServerInterface):  # type: ignore[misc]
    def __init__(self, key: paramiko.PKey, sign_ins: list[str]) -> None:
        self._key = key
        self._sign_ins = sign_ins

    def get_allowed_auths(self, username: str) -> str:
        return "password,publickey"

    def check_auth_password(self, username: str, password: str) -> Any:
        self._sign_ins.append("password")
        fits = (username, password) == (USER, PASSWORD)
        return paramiko.AUTH_SUCCESSFUL if fits else paramiko.AUTH_FAILED

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> Any:
        self._sign_ins.append("publickey")
        return paramiko.AUTH_SUCCESSFUL if key == self._key else paramiko.AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> Any:
        return paramiko.OPEN_SUCCEEDED


class _Files(paramiko.SFTPServerInterface):  # type: ignore[misc]
    root: Path
    listings: list[str]

    def _at(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def canonicalize(self, path: str) -> str:
        return "/" + path.lstrip("/.")

    def list_folder(self, path: str) -> Any:
        self.listings.append(path)
        try:
            found = sorted(self._at(path).iterdir())
        except OSError as problem:
            return paramiko.SFTPServer.convert_errno(problem.errno or 0)
        return [paramiko.SFTPAttributes.from_stat(each.lstat(), each.name) for each in found]

    def stat(self, path: str) -> Any:
        try:
            return paramiko.SFTPAttributes.from_stat(self._at(path).stat())
        except OSError as problem:
            return paramiko.SFTPServer.convert_errno(problem.errno or 0)

    lstat = stat

    def open(self, path: str, flags: int, attr: Any) -> Any:
        try:
            file = os.fdopen(os.open(self._at(path), os.O_RDONLY), "rb")
        except OSError as problem:
            return paramiko.SFTPServer.convert_errno(problem.errno or 0)
        handle = paramiko.SFTPHandle(flags)
        handle.readfile = file
        handle.stat = lambda: paramiko.SFTPAttributes.from_stat(os.fstat(file.fileno()))
        return handle


@contextmanager
def sftp_server(folder: Path, client_key: paramiko.PKey) -> Iterator[Running]:
    host_key = paramiko.ECDSAKey.generate()
    listings: list[str] = []
    files = type("Files", (_Files,), {"root": folder, "listings": listings})
    listening = socket.create_server(("127.0.0.1", 0))
    transports: list[paramiko.Transport] = []
    sign_ins: list[str] = []

    def serve() -> None:
        while True:
            try:
                line, _ = listening.accept()
            except OSError:
                return
            transport = paramiko.Transport(line)
            transports.append(transport)
            transport.add_server_key(host_key)
            transport.set_subsystem_handler("sftp", paramiko.SFTPServer, files)
            with suppress(paramiko.SSHException, EOFError, OSError):
                transport.start_server(server=_Door(client_key, sign_ins))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    digest = base64.b64encode(hashlib.sha256(host_key.asbytes()).digest()).decode().rstrip("=")
    try:
        port = listening.getsockname()[1]
        yield Running(folder, port, f"SHA256:{digest}", sign_ins, listings)
    finally:
        # Closing alone does not wake the one that waits for the next connection.
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)
        for each in transports:
            each.close()
