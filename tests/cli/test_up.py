"""`steward up`: starts, lets its owner in, refuses what is unsafe, stops cleanly, starts again as it was."""

import random
import re
import signal
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.cli.terminal import PATIENCE, Installed, Server, Terminal, until

PASSWORD = "correct horse battery"
PROMPT_S = 15.0


@contextmanager
def _following(server: Server) -> Iterator[Iterator[str]]:
    """An open event stream, as a browser tab keeps one."""
    client = server.signed_in()
    project = client.get("/projects").json()["items"][0]["id"]
    with client.stream("GET", f"/projects/{project}/events/stream") as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": connected"
        yield lines


def _datasets(client: httpx.Client, project_id: str) -> dict[str, int]:
    items = client.get(f"/projects/{project_id}/datasets").json()["items"]
    return {item["name"]: item["rows"] for item in items}


def _check_complete(server: Server) -> None:
    """One owner, one demo project with three datasets that can be read."""
    client = server.signed_in()
    session = client.get("/session").json()
    assert session["user"]["email"] == "owner@localhost"
    [project] = session["projects"]
    assert (project["is_demo"], project["role"]) == (True, "owner")
    datasets = _datasets(client, project["id"])
    assert len(datasets) == 3
    for name, rows in datasets.items():
        assert rows > 100
        answer = client.get(f"/projects/{project['id']}/datasets/{name}/rows")
        assert answer.status_code == 200, answer.text


def _check_tidy(home: Path) -> None:
    """The database is whole, and no row belongs to a project that is not there."""
    with closing(sqlite3.connect(home / "steward.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        scoped = connection.execute(
            "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c "
            "WHERE m.type = 'table' AND c.name = 'project_id'"
        ).fetchall()
        assert ("events",) in scoped
        for (table,) in scoped:
            [[strays]] = connection.execute(
                f"SELECT count(*) FROM {table} WHERE project_id NOT IN (SELECT id FROM projects)"
            )
            assert strays == 0, table
        [[users]] = connection.execute("SELECT count(*) FROM users")
        assert users == 1


def test_the_link_signs_in_once_and_a_second_start_finds_everything(terminal: Terminal) -> None:
    with terminal.serving() as server:
        assert terminal.home.stat().st_mode & 0o777 == 0o700
        _check_complete(server)
        again = server.client().post("/session", json={"link": server.link})
        assert (again.status_code, again.json()["code"]) == (401, "link-expired")
        client = server.signed_in(terminal.new_link())
        project = client.get("/projects").json()["items"][0]["id"]
        made = client.put(f"/projects/{project}/secrets/KEY", json={"value": "kept"})
        assert made.status_code == 200
    with terminal.serving() as server:
        _check_complete(server)
        secrets = (
            server.signed_in(terminal.new_link())
            .get(f"/projects/{project}/secrets")
            .json()["items"]
        )
        assert [secret["name"] for secret in secrets] == ["KEY"]
    _check_tidy(terminal.home)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_cleanly_even_with_a_stream_open(
    filled: Terminal, number: signal.Signals
) -> None:
    server = filled.up()
    with _following(server) as lines:
        server.process.send(number)
        assert not [line for line in lines if line], "the stream ends by itself, not cut off"
        assert server.process.wait(PROMPT_S) == 0
    assert "Traceback" not in server.process.err
    assert not re.search(r'"level": "(warning|error|critical)"', server.process.err)


def test_the_installed_program_greets_people_and_says_goodbye(filled: Terminal) -> None:
    installed = Terminal(
        Installed(), filled.folder / "installed", {"STEWARD_HOME": str(filled.home)}
    )
    installed.folder.mkdir()
    process = installed.start("up", "--port", "0")
    try:
        link = until(
            lambda: re.search(r"http://127\.0\.0\.1:\d+/sign-in\?link=stl_\S+", process.out)
        )
        assert "Sign in as owner@localhost" in process.out
        with httpx.Client(timeout=PATIENCE) as client:
            base, _, token = link.group().partition("/sign-in?link=")
            answer = client.post(f"{base}/api/v1/session", json={"link": token})
            assert answer.status_code == 201
        process.send(signal.SIGINT)
        assert process.wait(PROMPT_S) == 0
        assert process.out.rstrip().endswith("Start Steward again to go on where you left off.")
    finally:
        installed.close()


def test_a_second_server_on_the_same_home_is_refused(filled: Terminal) -> None:
    with filled.serving() as server:
        refused = filled.run("up", "--port", "0", code=1)
        assert f"already (process {server.process.pid})" in refused.err
        assert server.client().get("/about").status_code == 200
    with filled.serving():
        pass


def test_a_taken_port_is_refused_with_the_reason(filled: Terminal) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        refused = filled.run("up", "--port", port, code=1)
    assert f"Cannot listen on 127.0.0.1:{port} (Address already in use)" in refused.err
    assert "PORT=" in refused.err
    assert refused.out == ""


def test_other_machines_are_let_in_only_where_somebody_has_a_password(filled: Terminal) -> None:
    everywhere = ("up", "--json", "--port", "0", "--host", "0.0.0.0")
    for env in ({}, {"STEWARD_HTTP__HOST": "0.0.0.0"}):
        words = everywhere[:4] if env else everywhere
        refused = filled.run(*words, code=1, env=env)
        assert "no user has a password yet" in refused.err
        assert "steward user password" in refused.err
    filled.run("user", "password", "owner@localhost", "--password-stdin", stdin=PASSWORD)
    server = filled.greeted(filled.start(*everywhere))
    assert server.sign_in is None, (
        "a link on a network would let in whoever reads the terminal's log"
    )
    port = server.url.rpartition(":")[2]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=PATIENCE) as client:
        body = {"email": "owner@localhost", "password": PASSWORD}
        assert client.post("/session", json=body).status_code == 201
    server.process.send(signal.SIGTERM)
    assert server.process.wait() == 0


def test_without_the_demo_there_is_an_empty_project(terminal: Terminal) -> None:
    with terminal.serving(env={"STEWARD_DEMO": "false"}) as server:
        client = server.signed_in()
        [project] = client.get("/session").json()["projects"]
        assert (project["is_demo"], project["name"]) == (False, "My project")
        assert _datasets(client, project["id"]) == {}


def test_a_missing_or_foreign_key_file_stops_the_start(filled: Terminal) -> None:
    key = filled.home / "keys" / "secrets.json"
    mine = key.read_text()
    key.unlink()
    assert "is missing. Put it back" in filled.run("up", "--port", "0", code=1).err
    assert not key.exists(), "no new key hides the loss of the old one"
    key.write_text("{}")
    assert "is damaged" in filled.run("up", "--port", "0", code=1).err
    key.write_text(re.sub(r'"key": "....', '"key": "AAAA', mine))
    assert "does not decrypt" in filled.run("up", "--port", "0", code=1).err
    key.write_text(mine)
    with filled.serving():
        pass


@pytest.mark.soak
def test_a_first_start_killed_at_any_moment_ends_complete(
    terminal: Terminal, effort: Callable[[int, int], int]
) -> None:
    chance = random.Random()
    for number in range(effort(2, 60)):
        home = terminal.folder / f"home-{number}"
        env = {"STEWARD_HOME": str(home)}
        for _ in range(chance.randint(1, 3)):
            _kill_at_a_random_moment(terminal, chance, env)
        server = terminal.up(env=env)
        _check_complete(server)
        server.close_clients()
        server.process.send(signal.SIGKILL)
        server.process.wait()
        _check_tidy(home)


def _kill_at_a_random_moment(
    terminal: Terminal, chance: random.Random, env: dict[str, str]
) -> None:
    """Some time after one of the steps that can be seen from outside."""
    process = terminal.start("up", "--json", "--port", "0", env=env)
    step = chance.choice(
        ["", "Opening", "Creating the first user", "Creating the demo", "no such step"]
    )
    until(lambda: step in process.err or "stl_" in process.out or None)
    # The kill falls at a random time on purpose; nothing is waited for.
    threading.Event().wait(chance.uniform(0, 0.3))
    process.send(signal.SIGKILL)
    process.wait()
