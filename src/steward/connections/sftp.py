"""Folders on SFTP servers: listed and read at checked addresses, from servers that show the key that was agreed upon."""

import base64
import hashlib
import io
import logging
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from steward.connections.addresses import Address
from steward.connections.hosts import Place
from steward.connections.http import Http
from steward.core import Misconfigured, NotFound, TooLarge, Unavailable, current, in_thread

if TYPE_CHECKING:
    import paramiko

_CONNECT_SECONDS: Final = 15
_READ_SECONDS: Final = 60
_PATIENCE: Final = 5.0
_CHUNK: Final = 1 << 20
T = TypeVar("T")

# It would write about every failed sign-in there.
logging.getLogger("paramiko").setLevel(logging.CRITICAL)


@dataclass(frozen=True)
class SftpServer:
    host: str
    port: int
    username: str
    host_key: str
    """`SHA256:…` of the server's key; empty: not agreed upon yet."""
    password: str = field(default="", repr=False)
    private_key: str = field(default="", repr=False)


class SftpSession:
    """Several questions to one server after one sign-in; a failure ends it, and the next question signs in again."""

    def __init__(self, http: Http, server: SftpServer) -> None:
        self._http = http
        self._server = server
        self._line: socket.socket | None = None
        self._transport: paramiko.Transport | None = None
        self._client: paramiko.SFTPClient | None = None

    async def list_folder(self, folder: str, most: int) -> dict[str, str]:
        """The plain files of a folder, each with its size and time. Links and folders are left out."""
        return await self._working(lambda client: _listed(client, folder, most))

    async def fetch_file(self, path: str, most: int) -> bytes:
        """A file, whole; TooLarge where it has more bytes than `most`."""
        return await self._working(lambda client: _read(client, path, most))

    async def _working(self, work: "Callable[[paramiko.SFTPClient], T]") -> T:
        place = Place("sftp", self._server.host, self._server.port)
        addresses = await self._http.checked_addresses(place)
        return await in_thread(partial(self._worked, addresses[0], work), patience=_PATIENCE)

    def _worked(self, address: Address, work: "Callable[[paramiko.SFTPClient], T]") -> T:
        whole = False
        try:
            with _errors_of(self._server), current().ended_by(self.close):
                if self._client is None:
                    self._client = self._signed_in(address)
                found = work(self._client)
            whole = True
            return found
        finally:
            if not whole:
                self.close()

    def _signed_in(self, address: Address) -> "paramiko.SFTPClient":
        import paramiko

        server = self._server
        self._line = socket.create_connection((str(address), server.port), timeout=_CONNECT_SECONDS)
        self._transport = paramiko.Transport(self._line)
        return _client(server, self._transport)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
        if self._line is not None:
            self._line.close()
        self._line = self._transport = self._client = None


async def list_folder(http: Http, server: SftpServer, folder: str, most: int) -> dict[str, str]:
    """The same, for one question."""
    with closing(SftpSession(http, server)) as session:
        return await session.list_folder(folder, most)


@contextmanager
def _errors_of(server: SftpServer) -> Iterator[None]:
    try:
        import paramiko
    except ModuleNotFoundError:
        raise Misconfigured(
            "SFTP needs Steward's 'sftp' extra; install it first (pip install 'steward[sftp]')."
        ) from None
    try:
        yield
    except paramiko.AuthenticationException:
        raise Misconfigured(
            f"{server.host} refused the sign-in of {server.username!r}. Check the user name and the password or key."
        ) from None
    except FileNotFoundError:
        raise NotFound(f"There is no such file or folder on {server.host}.") from None
    except PermissionError:
        raise Misconfigured(f"{server.username!r} may not read this on {server.host}.") from None
    except (paramiko.SSHException, OSError, EOFError) as problem:
        raise Unavailable(
            f"The connection to {server.host}:{server.port} failed ({type(problem).__name__})."
        ) from None


def _client(server: SftpServer, transport: "paramiko.Transport") -> "paramiko.SFTPClient":
    import paramiko

    transport.start_client(timeout=_CONNECT_SECONDS)
    _require_known(server, transport.get_remote_server_key().asbytes())
    transport.auth_timeout = _CONNECT_SECONDS
    if server.private_key:
        transport.auth_publickey(server.username, _key(server.private_key))
    else:
        transport.auth_password(server.username, server.password, fallback=False)
    client = paramiko.SFTPClient.from_transport(transport)
    if client is None:
        raise Unavailable(f"{server.host} offers no SFTP.")
    channel = client.get_channel()
    if channel is not None:
        channel.settimeout(_READ_SECONDS)
    return client


def _require_known(server: SftpServer, key: bytes) -> None:
    """Before anything is told to the server."""
    digest = base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")
    shown = f"SHA256:{digest}"
    if not server.host_key:
        raise Misconfigured(
            f"{server.host} shows the host key {shown}. Ask its operator whether that is right, and enter it in the "
            "connection.",
            code="host-key-unknown",
        )
    if server.host_key.rstrip("=") != shown:
        raise Misconfigured(
            f"{server.host} shows another host key than the connection names: {shown}. Somebody may stand in between. "
            "Ask its operator before you enter the new key.",
            code="host-key-changed",
        )


def _key(text: str) -> "paramiko.PKey":
    import paramiko

    for kind in (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey):
        try:
            found: paramiko.PKey = kind.from_private_key(io.StringIO(text.strip() + "\n"))
        except (paramiko.SSHException, ValueError, IndexError):
            continue
        return found
    raise Misconfigured(
        "The secret “private_key” is not an Ed25519, ECDSA or RSA key without a passphrase."
    )


def _listed(client: "paramiko.SFTPClient", folder: str, most: int) -> dict[str, str]:
    found: dict[str, str] = {}
    # Entry by entry: a server may send names without an end.
    for count, each in enumerate(client.listdir_iter(folder), 1):
        is_plain = stat.S_ISREG(each.st_mode or 0) and "/" not in each.filename
        if is_plain and each.filename not in {"", ".", ".."}:
            found[each.filename] = f"{each.st_size or 0}:{each.st_mtime or 0}"
        if count > most:
            raise TooLarge(f"The folder has more than {most:,} entries.", code="too-many-files")
    return found


def _read(client: "paramiko.SFTPClient", path: str, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    with client.open(path, "rb", bufsize=_CHUNK) as file:
        while piece := file.read(_CHUNK):
            size += len(piece)
            if size > most:
                raise TooLarge(f"The file has more than {most:,} bytes.", code="file-too-large")
            parts.append(piece)
    return b"".join(parts)
