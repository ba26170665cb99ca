"""What a machine has configured is found, shown without its secrets, and used only after somebody accepted it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from steward.connections.discovery import (
    Discovery,
    Proposal,
    dbt,
    environment,
    mcp_clients,
    ollama,
    pgpass,
)
from steward.connections.discovery.desk import told_wrong
from steward.connections.discovery.environment import find
from steward.connections.discovery.reading import LARGEST
from steward.core.errors import Denied, Invalid, NotFound
from steward.core.settings import discoverable_environment
from steward.identity import Role
from steward.testing import Installation
from tests.connections.outside import ok, serving
from tests.tools.room import run

SECRET = "hunter2-hunter2-hunter2"


def _one(found: list[Proposal], kind: str) -> Proposal:
    (only,) = [each for each in found if each.kind == kind]
    return only


@pytest.mark.parametrize(
    ("variables", "kind", "settings", "values", "missing"),
    [
        (
            {"DATABASE_URL": f"postgres://ada:{SECRET}@db.example.com:6432/shop?sslmode=require"},
            "postgresql",
            {
                "host": "db.example.com",
                "database": "shop",
                "user": "ada",
                "port": 6432,
                "tls": "require",
            },
            {"password": SECRET},
            (),
        ),
        (
            {"DATABASE_URL": f"mysql+pymysql://ada:p%40ss{SECRET}@db.example.com/shop"},
            "mysql",
            {"host": "db.example.com", "database": "shop", "user": "ada"},
            {"password": f"p@ss{SECRET}"},
            (),
        ),
        (
            {"DATABASE_URL": "sqlite:////data/shop.db"},
            "database_file",
            {"path": "/data/shop.db"},
            {},
            (),
        ),
        (
            {"PGHOST": "pg.example.com", "PGUSER": "ada", "PGPASSWORD": SECRET, "PGPORT": "7"},
            "postgresql",
            {"host": "pg.example.com", "database": "ada", "user": "ada", "port": 7},
            {"password": SECRET},
            (),
        ),
        (
            {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "eu-1"},
            "s3",
            {"region": "eu-1"},
            {"access_key_id": "AKIA", "secret_access_key": SECRET},
            ("bucket",),
        ),
        (
            {"SLACK_WEBHOOK_URL": f"https://hooks.slack.com/services/{SECRET}"},
            "slack_webhook",
            {},
            {"url": f"https://hooks.slack.com/services/{SECRET}"},
            (),
        ),
        (
            {"SLACK_BOT_TOKEN": SECRET, "SLACK_CHANNEL": "#ops"},
            "slack",
            {"channels": ["#ops"]},
            {"token": SECRET},
            (),
        ),
    ],
)
def test_variables_are_understood(
    variables: Mapping[str, str],
    kind: str,
    settings: dict[str, Any],
    values: dict[str, str],
    missing: tuple[str, ...],
) -> None:
    found = _one(list(find(variables)), kind)
    assert (found.settings, found.values, found.missing) == (settings, values, missing)
    assert SECRET not in repr(found) + str(found.masked) + found.id
    assert told_wrong(found).refused == ""


def test_models_are_a_matter_of_settings() -> None:
    found = list(find({"OPENAI_API_KEY": SECRET, "ANTHROPIC_API_KEY": SECRET}))
    assert [each.settings["provider"] for each in found] == ["openai", "anthropic"]
    assert "STEWARD_MODELS__DEFAULT__API_KEY_VARIABLE=OPENAI_API_KEY" in found[0].note
    assert SECRET not in str([(each.note, each.settings, each.masked) for each in found])


@pytest.mark.parametrize(
    "url", ["", "mongodb://x/y", "postgres://", "http://[", "sqlite:///rel.db"]
)
def test_urls_of_other_things_are_left_alone(url: str) -> None:
    assert list(find({"DATABASE_URL": url})) == []


def test_only_wanted_variables_leave_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", "x")
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    found = discoverable_environment()
    assert found["PGHOST"] == "x"
    assert "GITHUB_TOKEN" not in found


def test_the_password_file_is_read_as_libpq_does(tmp_path: Path) -> None:
    file = tmp_path / ".pgpass"
    lines = [
        "# comment",
        f"db.example.com:5433:shop:ada:{SECRET}",
        r"host\:x:*:*:b\\ob:pa\:ss:word",
        "*:*:*:*:x",
        "broken",
    ]
    file.write_text("\n".join(lines))
    file.chmod(0o644)
    assert list(pgpass.find(tmp_path)) == []
    file.chmod(0o600)
    first, second = pgpass.find(tmp_path)
    assert first.settings == {
        "host": "db.example.com",
        "database": "shop",
        "user": "ada",
        "port": 5433,
    }
    assert (first.found_in, first.values) == ("~/.pgpass, line 2", {"password": SECRET})
    assert second.settings == {"host": "host:x", "user": "b\\ob"}
    assert (second.values, second.missing) == ({"password": "pa:ss:word"}, ("database",))


def _dbt(home: Path, text: str) -> list[Proposal]:
    (home / ".dbt").mkdir(exist_ok=True)
    (home / ".dbt" / "profiles.yml").write_text(text)
    return list(dbt.find(home))


def test_profiles_of_dbt_are_found(tmp_path: Path) -> None:
    found = _dbt(
        tmp_path,
        f"""
shop:
  target: dev
  outputs:
    dev: {{type: postgres, host: db.example.com, port: 5432, user: ada, pass: {SECRET}, dbname: shop}}
    prod: {{type: postgres, host: "{{{{ env_var('H') }}}}", user: ada, password: x, dbname: shop}}
    local: {{type: duckdb, path: /data/shop.duckdb}}
    cloud: {{type: snowflake, account: x}}
config: 7
""",
    )
    assert [each.kind for each in found] == ["postgresql", "postgresql", "database_file"]
    assert found[0].found_in == "~/.dbt/profiles.yml, shop.dev"
    assert (found[0].name, found[0].values) == ("shop_dev", {"password": SECRET})
    assert found[1].missing == ("host",)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x]\nb: *a",
        "!!python/object/apply:os.system ['touch /tmp/x']",
        "[" * 1200,
        "- a list",
        "x: {outputs: 3}",
        "\x00",
        "x" * (LARGEST + 1),
    ],
    ids=["alias", "object", "deep", "list", "outputs", "nul", "large"],
)
def test_hostile_profiles_are_left_alone(tmp_path: Path, text: str) -> None:
    assert _dbt(tmp_path, text) == []


def test_servers_of_other_mcp_clients_are_found(tmp_path: Path) -> None:
    cursor = tmp_path / ".cursor" / "mcp.json"
    code = tmp_path / ".config" / "Code" / "User" / "mcp.json"
    for file in (cursor, code):
        file.parent.mkdir(parents=True)
    server = {"command": "npx", "args": ["-y", "files"], "env": {"API_TOKEN": SECRET, "X": "${Y}"}}
    leaky = {"command": "npx", "args": [f"--api-key={SECRET}"]}
    cursor.write_text(json.dumps({"mcpServers": {"Files!": server, "leaky": leaky, "odd": 3}}))
    web = {"type": "http", "url": "https://mcp.example.com/mcp", "headers": {"X-Key": SECRET}}
    old = {"type": "sse", "url": "https://old.example.com"}
    code.write_text(json.dumps({"servers": {"web": web, "old": old}}))
    found = {each.name: each for each in mcp_clients.find(tmp_path)}
    assert found.keys() == {"files", "leaky", "web"}
    assert found["files"].settings == {
        "transport": "stdio",
        "command": "npx",
        "args": ["-y", "files"],
    }
    assert found["files"].values == {"env.API_TOKEN": SECRET}
    assert found["web"].values == {"header.X-Key": SECRET}
    assert "looks like a secret" in found["leaky"].refused
    assert SECRET not in str([(e.settings, e.masked, e.note) for e in found.values()])


def test_servers_for_single_folders_and_of_further_clients_are_found(tmp_path: Path) -> None:
    gemini = tmp_path / ".gemini" / "settings.json"
    gemini.parent.mkdir()
    gemini.write_text(json.dumps({"mcpServers": {"g": {"httpUrl": "https://g.example.com/mcp"}}}))
    folders = {"/work/a": {"mcpServers": {"inner": {"command": "npx"}}}, "/work/b": 3}
    everywhere = {"outer": {"command": "uvx"}}
    code = tmp_path / ".claude.json"
    code.write_text(json.dumps({"mcpServers": everywhere, "projects": folders}))
    found = {each.name: each for each in mcp_clients.find(tmp_path)}
    assert found.keys() == {"outer", "inner", "g"}
    assert "for /work/a" in found["inner"].found_in
    assert found["g"].settings == {"transport": "http", "url": "https://g.example.com/mcp"}


@pytest.mark.parametrize(
    ("url", "tls"),
    [
        ("mariadb://ada:x@db.example.com/shop", None),
        ("mysql+pymysql://ada:x@db.example.com/shop?ssl-mode=REQUIRED", "require"),
        ("mysql2://ada:x@db.example.com/shop?ssl_mode=verify_identity", "verify-full"),
    ],
)
def test_urls_of_mysql_are_understood_in_its_own_words(url: str, tls: str | None) -> None:
    (found,) = environment.find({"DATABASE_URL": url})
    assert (found.kind, found.settings.get("tls")) == ("mysql", tls)
    assert found.values == {"password": "x"}


def test_a_compatible_model_server_needs_no_key_to_be_found() -> None:
    (found,) = environment.find({"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"})
    assert "PROVIDER=compatible" in found.note
    assert "http://127.0.0.1:8000/v1" in found.note


def test_a_local_ollama_is_asked_and_no_other_machine() -> None:
    async def work() -> None:
        async with serving(lambda _: ok(b'{"models":[{"name":"qwen3:8b"}]}')) as server:
            (found,) = await ollama.find({"OLLAMA_HOST": f"localhost:{server.port}"})
            assert server.heard[0].path == "/api/tags"
            assert "STEWARD_MODELS__DEFAULT__NAME=qwen3:8b" in found.note
            assert f"BASE_URL=http://127.0.0.1:{server.port}/v1" in found.note

    run(work())
    assert ollama.base("") == "http://127.0.0.1:11434"
    assert ollama.base("0.0.0.0:80") == "http://127.0.0.1:80"
    for elsewhere in ("10.0.0.5:11434", "http://ollama.example.com", "169.254.169.254", "[", "a b"):
        assert ollama.base(elsewhere) is None


# Proposals


def _discovery(installation: Installation, **variables: str) -> Discovery:
    desk, steward = installation.steward.connections, installation.steward
    # An address that nobody may be asked at: no test depends on what runs beside it.
    given = {"OLLAMA_HOST": "http://elsewhere.example.com", **variables}
    return Discovery(
        desk.documents,
        desk.keepers,
        steward.database,
        steward.events,
        steward.clock,
        variables=lambda: given,
        home=lambda: None,
    )


URL = f"postgres://ada:{SECRET}@db.example.com/shop"


def test_a_proposal_becomes_a_connection_only_when_accepted(installation: Installation) -> None:
    discovery, access = _discovery(installation, DATABASE_URL=URL), installation.owner.access
    documents = installation.steward.connections.documents
    (found,) = discovery.proposals(access)
    assert documents.listed(access.scope) == []
    assert installation.steward.secrets.page(access.scope) == []
    made = discovery.accept(access, found.id)
    assert (made.name, made.kind, made.secrets) == (
        "shop",
        "postgresql",
        {"password": "connection.shop.password"},
    )
    kept = installation.steward.secrets.get(access.scope, "connection.shop.password")
    assert kept == SECRET
    assert SECRET not in str(made)
    assert discovery.proposals(access) == []
    with pytest.raises(NotFound):
        discovery.accept(access, found.id)


def test_what_is_missing_is_given_and_nothing_else(installation: Installation) -> None:
    keys = {"AWS_ACCESS_KEY_ID": "AKIA0123", "AWS_SECRET_ACCESS_KEY": SECRET}
    discovery, access = _discovery(installation, **keys), installation.owner.access
    (found,) = discovery.proposals(access)
    with pytest.raises(Invalid, match="bucket"):
        discovery.accept(access, found.id)
    evil = {"bucket": "reports", "endpoint": "https://evil.example.com"}
    with pytest.raises(Invalid, match="endpoint"):
        discovery.accept(access, found.id, settings=evil)
    made = discovery.accept(access, found.id, name="reports", settings={"bucket": "reports"})
    assert made.place == "s3://reports/"


def test_models_are_not_accepted_but_explained(installation: Installation) -> None:
    discovery = _discovery(installation, OPENAI_API_KEY=SECRET)
    (found,) = discovery.proposals(installation.owner.access)
    with pytest.raises(Invalid, match="STEWARD_MODELS__DEFAULT__PROVIDER=openai"):
        discovery.accept(installation.owner.access, found.id)


def test_a_dismissed_proposal_stays_away_and_comes_back(installation: Installation) -> None:
    discovery, access = _discovery(installation, DATABASE_URL=URL), installation.owner.access
    (found,) = discovery.proposals(access)
    discovery.dismiss(access, found.id)
    assert discovery.proposals(access, again=True) == []
    assert discovery.bring_back(access, found.id) == found
    assert discovery.proposals(access) == [found]


def test_only_keepers_see_the_machine(installation: Installation) -> None:
    discovery = _discovery(installation, DATABASE_URL=URL)
    (found,) = discovery.proposals(installation.owner.access)
    for role in (Role.viewer, Role.editor, Role.admin, Role.owner):
        person = installation.person(role).access
        for act in (
            lambda who=person: discovery.proposals(who),
            lambda who=person: discovery.accept(who, found.id),
            lambda who=person: discovery.dismiss(who, found.id),
            lambda who=person: discovery.bring_back(who, found.id),
        ):
            with pytest.raises((Denied, NotFound) if role < Role.admin else NotFound):
                act()


def test_owners_of_other_organisations_are_no_keepers(installation: Installation) -> None:
    owner = installation.owner
    identity = installation.steward.identity
    installation.clock.advance(seconds=60)
    guest = identity.users.create("guest@example.org", "Gus Guest", "correct horse battery")
    organisation = identity.projects.create_organisation("Guests", guest.id)
    project = identity.projects.create(organisation.id, "Theirs", guest.id)
    person = installation._person(guest, project)
    assert person.access.role is Role.owner
    keepers = installation.steward.connections.keepers
    assert not keepers.include(person.access)
    assert keepers.include(owner.access)


def test_discovery_can_be_switched_off(installation: Installation) -> None:
    discovery = _discovery(installation, DATABASE_URL=URL)
    discovery.enabled = False
    assert discovery.proposals(installation.owner.access, again=True) == []
