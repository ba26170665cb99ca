"""A real MariaDB or MySQL-compatible server for tests: in a folder and on a port of its own, ended by its process."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROGRAM = shutil.which("mariadbd", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
INSTALL = shutil.which("mariadb-install-db")
CLIENT = shutil.which("mariadb")
AVAILABLE = bool(PROGRAM and INSTALL and CLIENT)
REASON = "needs a MariaDB server on this machine (mariadbd, mariadb-install-db, mariadb)"
_SECONDS = 60


@dataclass(frozen=True)
class MariaServer:
    port: int
    socket: Path

    def run(self, sql: str) -> str:
        """Statements as the server's root, by its socket; what they answered."""
        command = [str(CLIENT), "--no-defaults", f"--socket={self.socket}", "--user=root"]
        command += ["--default-character-set=utf8mb4", "--batch", "--skip-column-names"]
        done = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def mariadb(folder: Path, *options: str) -> Iterator[MariaServer]:
    """`folder` should have a short path: that of a socket may have about a hundred characters."""
    data, place = folder / "data", folder / "s"
    common = ["--no-defaults", f"--datadir={data}", "--user=root"]
    subprocess.run(
        [str(INSTALL), *common, "--auth-root-authentication-method=normal", "--skip-test-db"],
        check=True,
        capture_output=True,
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                str(PROGRAM),
                *common,
                f"--port={port}",
                f"--socket={place}",
                f"--pid-file={folder / 'pid'}",
                "--bind-address=127.0.0.1",
                "--innodb-buffer-pool-size=32M",
                "--innodb-flush-log-at-trx-commit=0",
                "--local-infile=1",
                "--secure-file-priv=",
                *options,
            ],
            stdout=log,
            stderr=log,
        )
    try:
        _wait(process, port, folder / "log")
        yield MariaServer(port, place)
    finally:
        process.terminate()
        process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + _SECONDS
    while process.poll() is None and time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
    raise AssertionError(f"the server does not start: {log.read_text()[-2000:]}")
