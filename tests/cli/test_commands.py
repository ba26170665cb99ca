"""Every command, as a process: text for people, JSON for programs, one clear line for a mistake."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import EXECUTABLE, NOTHING, Terminal

PASSWORD = "correct horse battery"


def _refused(
    terminal: Terminal, *args: str, stdin: str = "", env: Mapping[str, str] = NOTHING
) -> str:
    """Runs a command that must fail; returns its one line, which JSON repeats."""
    said = terminal.run(*args, "--json", stdin=stdin, code=1, env=env)
    assert re.fullmatch(r"(  · .*\n)*steward: [^\n]+\n", said.err), said.err
    message: str = said.json()["error"]["message"]
    assert said.json()["error"]["code"]
    assert said.err.endswith(f"steward: {message}\n")
    return message


def _both(terminal: Terminal, *args: str, stdin: str = "") -> tuple[str, Any]:
    """What a command that changes nothing prints as text and as JSON."""
    return terminal.run(*args, stdin=stdin).out, terminal.run(*args, "--json", stdin=stdin).json()


def test_the_installed_program_prints_its_version() -> None:
    said = subprocess.run([EXECUTABLE, "version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"steward \d+\.\d+\.\d+\S*\n", said.stdout)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_print(terminal: Terminal, shell: str) -> None:
    script = terminal.run(env={"_STEWARD_COMPLETE": f"source_{shell}"}).out
    assert "_STEWARD_COMPLETE" in script


def test_completion_knows_the_commands(terminal: Terminal) -> None:
    typed = {"COMP_WORDS": "steward user ", "COMP_CWORD": "2"}
    found = terminal.run(env={"_STEWARD_COMPLETE": "complete_bash", **typed}).out.split()
    assert {"list", "add", "password", "role", "link", "disable", "enable"} <= set(found)


def _explained(terminal: Terminal, *words: str) -> set[str]:
    """Checks the help of a command and of all below it; returns their names."""
    page = terminal.run(*words, "--help").out
    assert page.startswith(f"Usage: steward {' '.join(words)}".rstrip())
    below = re.findall(r"^  ([a-z-]+)  ", page.partition("Commands:")[2], re.MULTILINE)
    if not below:
        assert "--json" in page, words
        return {" ".join(words)}
    return {name for word in below for name in _explained(terminal, *words, word)}


def test_every_command_explains_itself(terminal: Terminal) -> None:
    found = _explained(terminal)
    assert {"up", "doctor", "backup", "restore", "version", "user add", "token revoke"} <= found


def test_version(terminal: Terminal) -> None:
    text, document = _both(terminal, "version")
    assert text == f"steward {document['steward']}\n"
    assert {"python", "sqlite", "platform"} < set(document)


def test_doctor_of_a_fresh_machine(terminal: Terminal) -> None:
    text, document = _both(terminal, "doctor")
    assert not terminal.home.exists(), "looking changes nothing"
    states = {finding["subject"]: finding["state"] for finding in document}
    assert states["database"] == states["keys"] == "info"
    assert all(subject in text for subject in states)


def test_doctor_of_a_running_home(filled: Terminal) -> None:
    with filled.serving() as server:
        port = server.url.rpartition(":")[2]
        found = filled.run("doctor", "--json", env={"STEWARD_HTTP__PORT": port}).json()
    states = {finding["subject"]: finding for finding in found}
    assert states["database"]["state"] == states["keys"]["state"] == "ok"
    assert "answers" in states["port"]["message"]


def test_doctor_fails_and_says_how_to_mend(filled: Terminal) -> None:
    key = filled.home / "keys" / "secrets.json"
    key.chmod(0o644)
    filled.home.chmod(0o755)
    (filled.home / "steward.db").write_bytes(b"not a database " * 1000)
    said = filled.run("doctor", code=1).out
    assert f"→ chmod 600 {key}" in said
    assert f"→ chmod 700 {filled.home}" in said
    assert re.search(r"✗ database +The database file is damaged", said)


def test_sign_on_providers_from_the_terminal(filled: Terminal) -> None:
    project = "Demo: customer data"
    added = filled.run(
        *("sign-on", "add", "Acme", "--issuer", "https://login.acme.example"),
        *("--client-id", "steward", "--secret-stdin", "--json"),
        *("--rule", f"groups=finance:{project}:operator", "--invited-only"),
        stdin="s3cret-of-steward\n",
    ).json()
    assert added["has_secret"] is True
    assert added["just_in_time"] is False
    assert added["rules"][0]["value"] == "finance"
    assert added["redirect_uri"].endswith(f"/api/v1/sign-on/{added['id']}/callback")
    changed = filled.run("sign-on", "change", "Acme", "--off", "--json").json()
    assert (changed["enabled"], changed["revision"], changed["has_secret"]) == (False, 2, True)
    text, document = _both(filled, "sign-on", "list")
    assert [each["name"] for each in document] == ["Acme"]
    assert "s3cret" not in text + json.dumps(document)
    wrong = filled.run("sign-on", "change", "Acme", "--rule", "finance", code=1)
    assert "is no rule" in wrong.err
    filled.run("sign-on", "remove", "Acme")
    assert filled.run("sign-on", "list").out.strip() == "No providers."


def test_directories_from_the_terminal(filled: Terminal) -> None:
    rule = "finance:Demo: customer data:operator"
    added = filled.run("directory", "add", "Acme", "--rule", rule, "--json").json()
    assert added["token"].startswith("scim_")
    assert added["rules"][0]["group"] == "finance"
    text, document = _both(filled, "directory", "list")
    assert added["token"] not in text + json.dumps(document)
    renewed = filled.run("directory", "renew-token", "Acme", "--json").json()
    assert renewed["token"] != added["token"]
    assert filled.run("directory", "rules", "Acme", "--json").json()["rules"] == []
    assert "is no rule" in filled.run("directory", "rules", "Acme", "--rule", "x", code=1).err
    filled.run("directory", "remove", "Acme")
    assert filled.run("directory", "list").out.strip() == "No directories."


def test_people_from_the_terminal(filled: Terminal) -> None:
    text, document = _both(filled, "user", "list")
    assert [user["email"] for user in document] == ["owner@localhost"]
    assert "owner@localhost" in text
    added = filled.run(
        *("user", "add", "Ada@Example.com", "--name", "Ada Lovelace", "--role", "admin"),
        *("--password-stdin", "--json"),
        stdin=PASSWORD + "\n",
    ).json()
    assert added["email"] == "ada@example.com"
    assert "password" not in json.dumps(added).replace("has_password", "")
    filled.run("user", "add", "bo@example.com", "--name", "Bo", "--password-stdin", stdin=PASSWORD)
    assert "ada@example.com" in filled.run("user", "role", "ada@example.com", "owner").out
    changed = filled.run("user", "role", "ada@example.com", "editor", "--json").json()
    assert changed == {"email": "ada@example.com", "role": "editor"}
    filled.run("user", "password", "bo@example.com", "--password-stdin", stdin="another good one")
    assert "Sessions ended: 0" in filled.run("user", "sign-out", "bo@example.com").out
    filled.run("user", "disable", "bo@example.com")
    people = {user["email"]: user for user in filled.run("user", "list", "--json").json()}
    assert people["bo@example.com"]["disabled_at"] is not None
    filled.run("user", "enable", "bo@example.com")
    link = filled.run("user", "link", "bo@example.com", "--json").json()["sign_in"]
    assert link.startswith("http://127.0.0.1:8400/sign-in?link=stl_")
    with filled.serving() as server:
        client = server.client()
        assert client.post("/session", json={"link": link.rpartition("=")[2]}).status_code == 201
        for password, status in ((PASSWORD, 401), ("another good one", 201)):
            body = {"email": "bo@example.com", "password": password}
            assert client.post("/session", json=body).status_code == status


def test_a_mistake_without_json_leaves_the_output_empty(terminal: Terminal) -> None:
    said = terminal.run("backup", "--verify", "none.tar.gz", code=1)
    assert (said.out, said.err) == ("", "steward: There is no file none.tar.gz.\n")


def test_mistakes_about_people_are_one_line_and_change_nothing(filled: Terminal) -> None:
    add = ("user", "add", "ada@example.com", "--name", "Ada", "--password-stdin")
    assert "no role 'king'" in _refused(filled, *add, "--role", "king", stdin=PASSWORD)
    assert "at least 10" in _refused(filled, *add, stdin="short")
    assert "between 1 and 100" in _refused(filled, *add, "--name", "x" * 101, stdin=PASSWORD)
    assert "not an e-mail address" in _refused(
        filled, "user", "add", "nobody", "--name", "N", "--password-stdin", stdin=PASSWORD
    )
    assert "already a user" in _refused(
        filled,
        *("user", "add", "owner@localhost", "--name", "N", "--password-stdin"),
        stdin=PASSWORD,
    )
    assert "--password-stdin" in _refused(filled, "user", "add", "ada@example.com", "--name", "Ada")
    for words in (("link",), ("disable",), ("enable",), ("password", "--password-stdin")):
        said = _refused(filled, "user", words[0], "ada@example.com", *words[1:], stdin=PASSWORD)
        assert "no user ada@example.com" in said
    assert "last owner" in _refused(filled, "user", "disable", "owner@localhost")
    assert "last owner" in _refused(filled, "user", "role", "owner@localhost", "viewer")
    assert len(filled.run("user", "list", "--json").json()) == 1


def test_a_role_needs_an_organisation_first(terminal: Terminal) -> None:
    add = ("user", "add", "ada@example.com", "--name", "Ada", "--role", "admin", "--password-stdin")
    assert "steward up" in _refused(terminal, *add, stdin=PASSWORD)
    assert terminal.run("user", "list", "--json").json() == []
    assert "no owner yet" in _refused(terminal, "data", "ls")


def test_tokens_from_the_terminal(filled: Terminal) -> None:
    owner = ("--user", "owner@localhost")
    assert "No tokens" in filled.run("token", "list", *owner).out
    assert filled.run("token", "list", *owner, "--json").json() == []
    text = filled.run("token", "create", "export", *owner).out.strip()
    made = filled.run(
        "token", "create", "admin", *owner, "--role", "admin", "--days", "7", "--json"
    ).json()
    listed = filled.run("token", "list", *owner, "--json").json()
    assert [token["name"] for token in listed] == ["admin", "export"]
    assert made["token"] not in filled.run("token", "list", *owner).out
    with filled.serving() as server:
        client = server.client()
        for token, status in ((text, 200), (made["token"], 200), ("stw_" + "x" * 43, 401)):
            answer = client.get("/me", headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == status
        filled.run("token", "revoke", made["id"], *owner)
        header = {"Authorization": f"Bearer {made['token']}"}
        assert client.get("/me", headers=header).status_code == 401
    assert "no such token" in _refused(filled, "token", "revoke", "tok_x", *owner)
    assert "between 1 and" in _refused(filled, "token", "create", "x", *owner, "--days", "0")
    assert "no role" in _refused(filled, "token", "create", "x", *owner, "--role", "king")
    assert "no user" in _refused(filled, "token", "list", "--user", "ada@example.com")
    assert "which project" in _refused(filled, "token", "list", *owner, "--project", "None such")


def test_backup_and_restore_from_the_terminal(filled: Terminal) -> None:
    made = filled.run("backup", "all.tar.gz", "--json")
    archive = filled.folder / "all.tar.gz"
    assert archive.stat().st_mode & 0o777 == 0o600
    document = made.json()
    assert document["blobs"] >= 3
    assert document["has_keys"] is True
    assert "reading it back" in made.err
    assert "is complete" in filled.run("backup", "--verify", "all.tar.gz").out
    assert "exists already" in _refused(filled, "backup", "all.tar.gz")
    assert "installation here already" in _refused(filled, "restore", "all.tar.gz")
    elsewhere = {"STEWARD_HOME": str(filled.folder / "new")}
    assert "no file" in _refused(filled, "restore", "none.tar.gz", env=elsewhere)
    restored = filled.run("restore", "all.tar.gz", "--json", env=elsewhere).json()
    assert restored["rows"] == document["rows"]
    listed = [filled.run("user", "list", "--json", env=env).json() for env in ({}, elsewhere)]
    assert listed[0] == listed[1]


def test_the_schema_goes_back_for_an_older_version_and_forward_again(filled: Terminal) -> None:
    before = filled.run("user", "list", "--json").json()
    done = filled.run("downgrade", "--backup", "before.tar.gz", "--json").json()
    assert done["before"] > done["after"]
    assert (filled.folder / "before.tar.gz").exists()
    assert filled.run("user", "list", "--json").json() == before
    assert "none that came before" in _refused(filled, "downgrade", "0999")


def test_keys_are_rotated_in_one_step_or_two(filled: Terminal) -> None:
    file = filled.home / "keys" / "secrets.json"
    before = file.read_text()
    added = filled.run("keys", "rotate", "--only-add", "--json").json()["key"]
    assert added in file.read_text()
    assert added not in before
    # The key that was added is used; another one is added the next time.
    assert filled.run("keys", "rotate", "--json").json()["key"] == added
    said = filled.run("keys", "rotate").out
    assert added not in said
    assert "Back up" in said
    filled.run("backup", "all.tar.gz")
    file.write_text(before)
    assert "does not hold key" in _refused(filled, "user", "list")


def test_a_backup_without_keys_asks_for_the_key_file(filled: Terminal) -> None:
    said = filled.run("backup", "--without-keys", "bare.tar.gz").out
    assert "holds no keys" in said
    key = str(filled.home / "keys" / "secrets.json")
    assert "pass the key file" in _refused(filled, "backup", "--verify", "bare.tar.gz")
    filled.run("backup", "--verify", "bare.tar.gz", "--key", key)
    elsewhere = {"STEWARD_HOME": str(filled.folder / "new")}
    assert "pass the key file" in _refused(filled, "restore", "bare.tar.gz", env=elsewhere)
    filled.run("restore", "bare.tar.gz", "--key", key, env=elsewhere)
    assert "is missing" in _refused(
        filled, "backup", "--verify", "bare.tar.gz", "--key", "none.json"
    )


def test_trouble_of_the_machine_is_one_line(terminal: Terminal) -> None:
    (terminal.folder / "file").touch()
    inside = str(terminal.folder / "file" / "home")
    for words in (("user", "list"), ("up",), ("backup",)):
        assert "file" in _refused(terminal, *words, env={"STEWARD_HOME": inside})
    assert "file" in _refused(terminal, "backup", f"{inside}/b.tar.gz")
    away = {"STEWARD_DATABASE__URL": "postgresql://u:hunter2@127.0.0.1:1/d"}
    said = _refused(terminal, "user", "list", env=away)
    assert "did not answer" in said
    assert "hunter2" not in said


def test_wrong_settings_are_one_line(terminal: Terminal) -> None:
    for command in (("up",), ("doctor",), ("user", "list"), ("restore", "x")):
        said = _refused(terminal, *command, env={"STEWARD_HTTP__PORT": "many"})
        assert "http.port" in said
        assert "STEWARD_HTP" in _refused(terminal, *command, env={"STEWARD_HTP__PORT": "1"})


def test_tools_of_a_server_are_accepted_with_what_their_arguments_are_for(filled: Terminal) -> None:
    server = Path(__file__).parent.parent / "connections" / "mcp_server.py"
    program = [
        *("--set", "transport=stdio", "--set", f"command={sys.executable}"),
        *("--set", f"args={json.dumps([str(server), 'stdio'])}"),
    ]
    filled.run("connections", "add", "mcp", "demo", *program)
    filled.run("connections", "accept", "demo", "--program")
    text = filled.run("connections", "tools", "demo", "--ask").out
    assert "add" in text
    assert "new" in text
    accepted = filled.run("connections", "accept-tool", "demo", "add", "--role", "a=amount").out
    assert accepted == "Accepted add of demo. Still the strictest: b.\n"
    found = filled.run("connections", "tools", "demo", "--json").json()
    assert [each["roles"] for each in found if each["name"] == "add"] == [{"a": "amount"}]
    wrong = _refused(filled, "connections", "accept-tool", "demo", "add", "--role", "c=plain")
    assert wrong == "The tool has no argument 'c'."
