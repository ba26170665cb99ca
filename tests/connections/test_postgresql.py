"""PostgreSQL behind TLS: whom to trust is said in the connection, and nobody else is."""

import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import sqlalchemy as sa

from steward.connections import load_connectors
from steward.core.errors import Invalid, StewardError
from steward.ingest import reading
from steward.ingest.address import certificates as checked
from steward.ingest.address import driver_text, parse_address
from steward.ingest.reach import INSIDE
from steward.testing.connections import surroundings
from steward.testing.servers import PostgresServer
from tests.connections.outside import certificates

_SSL_REQUEST = struct.pack("!II", 8, 80877103)


class Front:
    """Speaks TLS before a server that has none built in, as a PostgreSQL with certificates would."""

    def __init__(self, behind: str, tls: ssl.SSLContext) -> None:
        self._behind = behind
        self._tls = tls
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                made, _ = self._listening.accept()
                threading.Thread(target=self._meet, args=(made,), daemon=True).start()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _meet(self, caller: socket.socket) -> None:
        with suppress(OSError), caller:
            if caller.recv(8) != _SSL_REQUEST:
                return
            caller.sendall(b"S")
            with (
                self._tls.wrap_socket(caller, server_side=True) as inside,
                socket.socket(socket.AF_UNIX) as server,
            ):
                server.connect(self._behind)
                back = threading.Thread(target=_pour, args=(server, inside), daemon=True)
                back.start()
                _pour(inside, server)
                back.join()


def _pour(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def fronted(url: sa.URL, tls: ssl.SSLContext) -> Iterator[int]:
    folder = url.host or url.query.get("host")
    front = Front(f"{folder}/.s.PGSQL.{url.port or 5432}", tls)
    serving = threading.Thread(target=front.serve, daemon=True)
    serving.start()
    try:
        yield front.port
    finally:
        front.close()
        serving.join()


def test_a_root_certificate_of_the_connection_is_what_is_trusted(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    tls = certificates(tmp_path, "localhost").server
    root = _pem(tmp_path)
    certificates(tmp_path / "other", "elsewhere")
    stranger = _pem(tmp_path / "other")
    connector = load_connectors().get("postgresql")
    with postgres.database(None) as plain:
        url = sa.make_url(plain)
        with fronted(url, tls) as port:

            def ask(tls_mode: str, host: str = "localhost", trusted: str = "") -> str:
                settings = connector.settings.model_validate(
                    {"host": host, "port": port, "database": url.database, "user": url.username}
                    | {"tls": tls_mode, "root_certificate": trusted}
                )
                assert connector.database is not None
                place = connector.database(surroundings(), settings, {})
                asked = reading.query(place.url or "", "it", "SELECT 1 + 1", 1, reach=INSIDE)
                return str(asked.rows[0][0])

            assert ask("require") == "2"
            assert ask("verify-full", trusted=root) == "2"
            assert ask("verify-full", trusted=root.replace("\n", " ")) == "2", "pasted in one line"
            assert ask("verify-full", trusted=stranger + root) == "2"
            assert ask("verify-ca", "127.0.0.1", root) == "2"
            with pytest.raises(StewardError, match="certificate"):
                ask("verify-full", trusted=stranger)
            with pytest.raises(StewardError, match="certificate"):
                ask("verify-full")
            with pytest.raises(StewardError, match="does not match host name"):
                ask("verify-full", "127.0.0.1", root)


def _pem(folder: Path) -> str:
    whole = (folder / "server.pem").read_text()
    return whole[whole.index("-----BEGIN CERTIFICATE") :]


@pytest.mark.parametrize(
    "text",
    [
        "/etc/passwd",
        "system",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----",
        "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----",
    ],
)
def test_what_is_no_certificate_is_refused(text: str) -> None:
    """Above all no path: it would name a file of this machine."""
    with pytest.raises(Invalid, match="root certificate"):
        checked(text)
    with pytest.raises(Invalid, match="root certificate"):
        parse_address(f"postgresql://h/d?sslrootcert={text}")


def test_the_driver_is_given_no_file_that_an_address_names() -> None:
    assert "sslrootcert" not in driver_text(parse_address("postgresql://h/d?sslmode=verify-full"))


@pytest.mark.parametrize("kind", ["postgresql", "mysql"])
def test_a_certificate_that_would_not_be_looked_at_is_refused(kind: str, tmp_path: Path) -> None:
    certificates(tmp_path, "localhost")
    model = load_connectors().get(kind).settings
    given = {"host": "h", "database": "d", "root_certificate": _pem(tmp_path)}
    with pytest.raises(ValueError, match="verify-ca or verify-full"):
        model.model_validate({**given, "tls": "require"})
    with pytest.raises(ValueError, match="no private key"):
        model.model_validate({**given, "tls": "verify-full", "root_certificate": "root.crt"})
    model.model_validate({**given, "tls": "verify-full"})
