"""`steward up`: start everything on one machine."""

import fcntl
import ipaddress
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from steward.app import Steward, open_steward, prepare_first_start
from steward.cli.output import AsJson, command, progress, say, show
from steward.core import Conflict, Misconfigured, Settings, load_settings
from steward.identity import User
from steward.trace import configure_logs


@command
def up(
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 picks a free one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Start Steward and print a link that signs the first user in."""
    settings = _settings(host, port)
    configure_logs(settings.log)
    progress(f"Opening {settings.home.resolve()}")
    with _only_one(settings.home):
        steward = open_steward(settings)
        try:
            first = prepare_first_start(steward, progress)
            _refuse_open_door(steward)
            _serve(steward, first.owner, as_json=as_json)
        finally:
            steward.close()
    if not as_json:
        say("Stopped. Everything is kept. Start Steward again to go on where you left off.")


def _serve(steward: Steward, owner: User, *, as_json: bool) -> None:
    # The terminal starts a server through its own door; the HTTP door stays unknown to the rest of it.
    from steward.api import serve

    def started(address: str) -> None:
        base = (steward.settings.http.public_url or address).rstrip("/")
        document = {"url": base, "sign_in": None}
        if _is_loopback(steward.settings.http.host):
            link = steward.identity.sessions.new_link(owner.id)
            document["sign_in"] = f"{base}/sign-in?{urlencode({'link': link})}"
        show(document, as_json=as_json, text=lambda: _greeting(document, owner))
        # What is found is proposed to the owner on a page; nobody waits for it.
        steward.connections.discovery.look_in_background()

    serve(steward, started)


def _greeting(document: dict[str, str | None], owner: User) -> str:
    lines = ["", f"  Steward is running at {document['url']}"]
    if document["sign_in"]:
        lines += [f"  Sign in as {owner.email}:", "", f"    {document['sign_in']}", ""]
        lines += ["  The link works once, for an hour. Ctrl-C stops Steward; nothing is lost.", ""]
    else:
        lines += ["  Sign in with your e-mail address and password. Ctrl-C stops Steward.", ""]
    return "\n".join(lines)


def _settings(host: str | None, port: int | None) -> Settings:
    settings = load_settings()
    changes = {key: value for key, value in (("host", host), ("port", port)) if value is not None}
    if not changes:
        return settings
    return load_settings(http={**settings.http.model_dump(), **changes})


def _refuse_open_door(steward: Steward) -> None:
    host = steward.settings.http.host
    if _is_loopback(host) or steward.identity.users.anyone_with_password():
        return
    raise Misconfigured(
        f"Listening on {host} lets other machines in, and no user has a password yet, so this is "
        "refused. Give the owner one with 'steward user password EMAIL', then start again; or listen "
        "on 127.0.0.1."
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def _only_one(home: Path) -> Iterator[None]:
    """Two servers on one home would run everything twice."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (home / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Conflict(
                f"Steward runs on {home} already (process {lock.read().strip() or 'unknown'}). Stop "
                "it, or set STEWARD_HOME to another folder."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
    sys.stdout.flush()
