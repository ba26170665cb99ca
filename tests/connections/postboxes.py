"""Real IMAP servers for tests: pymap from its package, dovecot where this machine has it."""

import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from imaplib import IMAP4, IMAP4_SSL
from pathlib import Path

HOST = "mail.example"
USER = "ada"
PASSWORD = "s3cret-of-the-mailbox"
DOVECOT = shutil.which("dovecot", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
_SECONDS = 60


@dataclass(frozen=True)
class PostBox:
    """A running server with one mailbox."""

    port: int
    security: str
    tls: ssl.SSLContext
    rebuild: Callable[[], None] | None = None
    """Gives all messages new numbers, where it can."""

    @property
    def settings(self) -> dict[str, object]:
        return {"host": HOST, "port": self.port, "security": self.security, "username": USER}

    @contextmanager
    def reader(self) -> Iterator[IMAP4]:
        """Signed in, as a person's mail program would be."""
        if self.security == "tls":
            client: IMAP4 = IMAP4_SSL("127.0.0.1", self.port, ssl_context=_unnamed(self.tls))
        else:
            client = IMAP4("127.0.0.1", self.port)
            client.starttls(_unnamed(self.tls))
        client.login(USER, PASSWORD)
        try:
            yield client
        finally:
            client.logout()

    def deliver(self, *messages: bytes) -> None:
        with self.reader() as client:
            for each in messages:
                said = client.append("INBOX", "", "", each.replace(b"\n", b"\r\n"))
                assert said[0] == "OK", said

    def empty(self) -> None:
        with self.reader() as client:
            _, [count] = client.select("INBOX")
            if int(count or b"0"):
                client.store("1:*", "+FLAGS", "\\Deleted")
                client.expunge()

    def flags(self) -> list[bytes]:
        """What the mailbox says about each message."""
        with self.reader() as client:
            client.select("INBOX", readonly=True)
            found = client.fetch("1:*", "(FLAGS)")[1]
            return [each for each in found if isinstance(each, bytes)]


def _unnamed(tls: ssl.SSLContext) -> ssl.SSLContext:
    """The test itself knows where it goes."""
    tls.check_hostname = False
    return tls


@contextmanager
def pymap(folder: Path, tls: ssl.SSLContext) -> Iterator[PostBox]:
    """In memory; encrypts by STARTTLS. `folder` has server.pem."""
    with _pymap([str(Path(sys.executable).with_name("pymap"))], folder, tls) as box:
        yield box


@contextmanager
def token_pymap(folder: Path, tls: ssl.SSLContext, mechanism: str, asked: str) -> Iterator[PostBox]:
    """The same for people with a token that is good at the address `asked`."""
    program = Path(__file__).with_name("token_pymap.py")
    with _pymap([sys.executable, str(program), mechanism, asked, PASSWORD], folder, tls) as box:
        yield box


@contextmanager
def _pymap(program: Sequence[str], folder: Path, tls: ssl.SSLContext) -> Iterator[PostBox]:
    port = _free_port()
    file = str(folder / "server.pem")
    command = [*program, "--host", "127.0.0.1"]
    command += ["--port", str(port), "--cert", file, "--key", file, "dict", "--demo-data"]
    command += ["--demo-user", USER, "--demo-password", PASSWORD]
    with _running(command, port, folder):
        yield PostBox(port, "starttls", tls)


@contextmanager
def dovecot(folder: Path, tls: ssl.SSLContext) -> Iterator[PostBox]:
    """In files; encrypts from the start. Its processes are of users that may not look into folders of tests."""
    port = _free_port()
    place = Path(tempfile.mkdtemp(prefix="steward-dovecot-"))
    place.chmod(0o755)
    home = place / "home"
    home.mkdir()
    os.chown(home, 8, 8)
    settings = place / "dovecot.conf"
    settings.write_text(
        f"""\
protocols = imap
listen = 127.0.0.1
base_dir = {place}/run
state_dir = {place}/state
log_path = {place}/log
ssl = required
ssl_cert = <{folder}/server.pem
ssl_key = <{folder}/server.pem
disable_plaintext_auth = yes
mail_location = maildir:{home}/Maildir
first_valid_uid = 8
passdb {{
  driver = static
  args = user={USER} password={PASSWORD}
}}
userdb {{
  driver = static
  args = uid=8 gid=8 home={home}
}}
service imap-login {{
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {port}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
}}
"""
    )

    def rebuild() -> None:
        for each in (home / "Maildir").glob("dovecot*"):
            if each.is_file():
                each.unlink()

    try:
        with _running([str(DOVECOT), "-F", "-c", str(settings)], port, place):
            yield PostBox(port, "tls", tls, rebuild)
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _running(command: Sequence[str], port: int, folder: Path) -> Iterator[None]:
    output = folder / "imap.log"
    with output.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    deadline = time.monotonic() + _SECONDS
    try:
        while not _answers(port):
            assert process.poll() is None, output.read_text()
            assert time.monotonic() < deadline, output.read_text()
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


Serve = Callable[[Path, ssl.SSLContext], AbstractContextManager[PostBox]]
SERVERS: dict[str, Serve] = {"pymap": pymap, "dovecot": dovecot}


def missing(name: str) -> str | None:
    """Why a server cannot be started here."""
    if name == "dovecot" and (DOVECOT is None or os.geteuid() != 0):
        return "needs dovecot on this machine, and root to start it"
    return None
