"""Network policies: what rules say, and that no kind of connection, tool, trigger or model gets around them."""

import ast
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

import steward
from steward.connections import Draft, Http, NetworkPolicies, load_connectors
from steward.connections.mcp.settings import program_hash
from steward.core import (
    Bug,
    Denied,
    Invalid,
    ModelChoice,
    NetworkLevel,
    NetworkRules,
    Services,
    Stale,
    check_reach,
    check_rules,
    reaching_for,
)
from steward.core.services import Offer
from steward.identity import Principal, Role, Via
from steward.models.lineup import Chosen
from steward.playbooks import TRIGGERS
from steward.playbooks.trigger import Looking
from steward.tools import load_tools
from tests.connections.test_kinds import SETTINGS
from tests.tools.room import Room, run

NOTHING = NetworkRules(allow=())


def refusal(rules: NetworkRules, host: str, port: int, *addresses: str) -> str:
    """What is said against a call; empty where it may be made."""
    try:
        check_reach([NetworkLevel("project", check_rules(rules))], host, port, addresses)
    except Denied as problem:
        return problem.message
    return ""


@pytest.mark.parametrize(
    ("rule", "host", "address", "port"),
    [
        ("evil.example", "EVIL.example.", "8.8.8.8", 443),
        ("*.evil.example", "a.b.evil.example", "8.8.8.8", 443),
        ("evil.example", "\uff45vil.example", "8.8.8.8", 443),
        ("10.0.0.0/8", "harmless.example", "::ffff:10.1.2.3", 443),
        ("10.0.0.0/8", "harmless.example", "64:ff9b::a01:203", 443),
        ("10.0.0.0/8", "harmless.example", "2002:a01:203::1", 443),
        ("10.1.2.3", "::ffff:10.1.2.3", "::ffff:10.1.2.3", 443),
        ("::ffff:10.1.2.3", "harmless.example", "10.1.2.3", 443),
        ("[::ffff:10.0.0.0/104]:443", "harmless.example", "::ffff:10.1.2.3", 443),
        ("private", "harmless.example", "100.64.0.1", 443),
        ("private", "harmless.example", "168.63.129.16", 443),
        ("private", "harmless.example", "fd00::1", 443),
        ("*:25", "mail.example", "8.8.8.8", 25),
        ("[fd00::/8]:5000-6000", "db.example", "fd00::1", 5432),
        ("fd00::/8", "db.example", "fd00::1", 1),
    ],
)
def test_a_denied_place_is_refused_however_it_is_written(
    rule: str, host: str, address: str, port: int
) -> None:
    said = refusal(NetworkRules(deny=(rule,)), host, port, "8.8.4.4", address)
    assert repr(rule) in said
    assert "A project admin can change it under Settings → Network." in said
    assert refusal(NetworkRules(deny=(rule,)), "other.example", 444, "8.8.4.4") == ""


def test_with_a_list_of_allowed_places_nothing_else_is_called() -> None:
    rules = NetworkRules(allow=("*.example.com:443", "10.0.0.0/8:5432"), deny=("x.example.com",))
    assert refusal(rules, "api.example.com", 443, "8.8.8.8") == ""
    assert refusal(rules, "db.internal", 5432, "10.1.2.3", "::ffff:10.1.2.4") == ""
    for host, port, *addresses in (
        ("example.com", 443, "8.8.8.8"),
        ("api.example.com", 80, "8.8.8.8"),
        ("notexample.com", 443, "8.8.8.8"),
        ("x.example.com", 443, "8.8.8.8"),
        ("db.internal", 5432, "10.1.2.3", "8.8.8.8"),
        ("db.internal", 5433, "10.1.2.3"),
    ):
        assert refusal(rules, str(host), int(port), *map(str, addresses))
    # The end of an address is no domain.
    assert refusal(NetworkRules(allow=("*.0.0.1",)), "127.0.0.1", 80, "127.0.0.1")


@pytest.mark.parametrize(
    "rule",
    ["", "a b", "http://x", "10.0.0.1/8", "x:0", "x:70000", "x:9-8", "*.*", "bücher.de", "a*"],
)
def test_a_rule_that_cannot_be_read_is_refused(rule: str) -> None:
    with pytest.raises(Invalid) as wrong:
        check_rules(NetworkRules(deny=("fine.example", rule)))
    assert wrong.value.problems[0].pointer == "/deny/1"


@pytest.fixture(autouse=True)
def _open_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the network policy alone stands in the way."""
    monkeypatch.setenv("STEWARD_NETWORK__ALLOW_PRIVATE", '["127.0.0.1"]')


def person(user_id: str) -> Principal:
    return Principal(user_id, "owner@example.com", "Owner", Via.session)


@pytest.fixture
def network(room: Room) -> NetworkPolicies:
    return room.steward.connections.network


def set_rules(room: Room, rules: NetworkRules, level: str = "project") -> None:
    network = room.steward.connections.network
    revision = network.current(room.scope, level).revision
    network.save(room.scope, room.author, level, rules, revision=revision)


def test_the_organisation_denies_what_the_project_allows(
    room: Room, network: NetworkPolicies
) -> None:
    set_rules(room, NetworkRules(allow=("*",)))
    set_rules(room, NetworkRules(deny=("127.0.0.1",)), "organisation")
    with reaching_for(room.scope), pytest.raises(Denied) as refused:
        network.check("127.0.0.1", 80, [])
    assert "network policy of the organisation" in refused.value.message
    assert "An owner of the organisation can change it" in refused.value.message


def test_nothing_leaves_for_which_nobody_said_whose_it_is(room: Room) -> None:
    with pytest.raises(Bug, match="without the project"):
        run(room.steward.connections.around.http.request("GET", "http://127.0.0.1:1/"))


# The tool


def test_a_change_is_shown_recorded_and_taken_back(room: Room, network: NetworkPolicies) -> None:
    tool = load_tools().get("change_network")
    context = room.context(network=network, ticket="one")
    given = {"allow": ["*.example.com:443"], "revision": 0}
    assert (
        room.preview("change_network", given, context).details["after"]["allow"] == given["allow"]
    )
    outcome = room.call("change_network", given, context)
    assert network.levels(room.scope)[1].rules.allow == ("*.example.com:443",)
    assert room.reconcile("change_network", given, context).found.value == "happened"
    told = [
        each
        for each in room.steward.events.after(room.scope, 0)
        if each.type.endswith("network.changed")
    ]
    assert told[0].data["allow"] == ["*.example.com:443"]
    with pytest.raises(Stale):
        room.call("change_network", given, room.context(network=network, ticket="two"))
    assert tool.undo is not None
    checked = tool.arguments.model_validate(given)
    run(tool.undo(room.context(network=network, ticket="three"), checked, outcome.inverse))
    assert network.levels(room.scope)[1].rules == NetworkRules()
    with pytest.raises(Stale):
        run(tool.undo(room.context(network=network, ticket="four"), checked, outcome.inverse))


def test_only_people_change_it_and_only_admins(room: Room) -> None:
    tool = load_tools().get("change_network")
    assert tool.direct_only
    assert tool.role.name == "admin"


# No way around


@contextmanager
def no_sockets() -> Iterator[list[Any]]:
    """Connections that this process opened to others meanwhile."""
    seen: list[Any] = []
    active = True

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if (
            active
            and event in {"socket.connect", "socket.sendto"}
            and args[0].family != socket.AF_UNIX
        ):
            seen.append(args[1])

    sys.addaudithook(watch)
    try:
        yield seen
    finally:
        active = False


@pytest.fixture
def closed(room: Room) -> Iterator[Room]:
    set_rules(room, NOTHING)
    with no_sockets() as seen:
        yield room
    assert seen == []


OPEN = SETTINGS | {
    "sftp": {"host": "127.0.0.1", "port": 1, "username": "ada"},
    "slack_webhook": {"webhook_hosts": ["127.0.0.1:1"]},
}
WITHOUT_NETWORK = {"database_file"}


@pytest.mark.parametrize("kind", sorted(OPEN.keys() - WITHOUT_NETWORK))
def test_no_kind_of_connection_gets_around(closed: Room, kind: str) -> None:
    connector = load_connectors().get(kind)
    values = {
        each.name: "https://127.0.0.1:1/x"
        for each in connector.secrets
        if "client" not in each.name
    }
    checked = connector.settings.model_validate(OPEN[kind])

    async def check() -> None:
        with reaching_for(closed.scope):
            await connector.check(closed.steward.connections.around, checked, values)

    with pytest.raises(Denied) as refused:
        run(check())
    assert refused.value.specific_code == "network-policy"


def test_a_connection_starts_no_program_beside_the_rules(closed: Room) -> None:
    desk, principal = closed.steward.connections, closed.author
    access = closed.steward.identity.projects.enter(person(principal), closed.scope.project_id)
    settings = {"transport": "stdio", "command": "/bin/true"}
    made = desk.documents.create(access, Draft("local", "mcp", settings))
    assert made.program is not None
    desk.accept_program(access, made.id, program_hash(made.program))
    assert run(desk.health.check(closed.scope, made.id, principal)).code == "network-policy"
    set_rules(closed, NetworkRules(allow=(), programs=True))
    assert run(desk.health.check(closed.scope, made.id, principal)).code != "network-policy"


ELSEWHERE = "https://127.0.0.1:1/x"
CALLS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "http_request": ({"url": ELSEWHERE}, {"http_request": {"allow": ["127.0.0.1:1"]}}),
    "ingest": (
        {"url": ELSEWHERE, "dataset": "fetched"},
        {"ingest": {"allow_urls": ["127.0.0.1:1"]}},
    ),
    "load_from_server": (
        {"server": "ada@8.8.8.8:1/shop", "secret": "address", "dataset": "loaded"},
        {},
    ),
}
BY_CONNECTION = {
    *("load_from_connection", "load_from_service", "query_connection"),
    *("send_email", "send_slack", "send_webhook", "send_correction"),
}
"""They reach what their connection leads to, by the doors that the connections were tried with."""
FOR_KEEPERS = {"fetch_model"}
"""It fetches through the same door, for those who keep the machine."""


def test_every_tool_that_reaches_out_is_known_here() -> None:
    known = {name for name, tool in load_tools() if tool.effects.network}
    assert known == CALLS.keys() | BY_CONNECTION | FOR_KEEPERS


@pytest.mark.parametrize("name", sorted(CALLS))
def test_no_tool_gets_around(closed: Room, name: str) -> None:
    arguments, settings = CALLS[name]
    closed.put_secret("address", "postgresql://ada:pw@8.8.8.8:1/shop")
    desk = closed.steward.connections
    context = closed.context(
        settings, http=desk.around.http, role_of=lambda *_: Role.admin, ticket="one"
    )

    async def call() -> None:
        with reaching_for(closed.scope):
            await closed.calling(name, arguments, context)

    with pytest.raises(Denied) as refused:
        run(call())
    assert refused.value.specific_code == "network-policy"


def reaching_triggers() -> list[str]:
    load_triggers = TRIGGERS
    return sorted(
        name for name, kind in load_triggers if {"url", "url_secret"} & kind.model_fields.keys()
    )


@pytest.mark.parametrize("name", reaching_triggers())
def test_no_trigger_gets_around(closed: Room, name: str) -> None:
    kind = TRIGGERS.get(name)
    scheme = next(iter(getattr(kind, "ports", {"postgresql": 5432})))
    closed.put_secret("elsewhere", f"{scheme}://ada:pw@127.0.0.1:1/shop")
    where = {"url": ELSEWHERE} if "url" in kind.model_fields else {"url_secret": "elsewhere"}
    trigger = kind.model_validate({**kind.starter, **where, "type": name})
    steward = closed.steward
    looking = Looking(
        *(closed.scope, "sub_1", "pbk_1", closed.author, steward.clock.now(), steward.clock),
        Services(Offer("http", steward.connections.around.http), Offer("secrets", steward.secrets)),
    )
    source = trigger.source(looking)
    assert source is not None

    async def take() -> None:
        with reaching_for(closed.scope):
            await source.take(None)

    with pytest.raises(Denied) as refused:
        run(take())
    assert refused.value.specific_code == "network-policy"


@pytest.mark.parametrize("provider", ["anthropic", "openai", "google", "compatible", "ollama"])
def test_no_model_gets_around(closed: Room, provider: str) -> None:
    choice = ModelChoice(provider=provider, name="m", base_url="http://127.0.0.1:1/v1")
    models = closed.steward.models

    async def ask() -> None:
        with reaching_for(closed.scope):
            await models.line(Chosen(choice))

    with pytest.raises(Denied) as refused:
        run(ask())
    assert refused.value.specific_code == "network-policy"


def test_a_redirect_and_a_second_answer_of_the_name_are_asked_about_again(room: Room) -> None:
    """What a name leads to now counts, and the line goes to the address that was looked at."""
    answers = iter([["8.8.8.8"], ["10.0.0.5"]])

    async def resolve(_host: str, _port: int) -> list[str]:
        return next(answers)

    seen: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.url.host)
        return httpx2.Response(302, headers={"location": "https://moved.example/"})

    set_rules(room, NetworkRules(deny=("10.0.0.0/8",)))
    http = Http(
        allow_private=["10.0.0.0/8"],
        resolve=resolve,
        transport=httpx2.MockTransport(answer),
        may_reach=room.steward.connections.network.check,
    )

    async def ask() -> None:
        with reaching_for(room.scope):
            await http.request("GET", "https://start.example/")

    with pytest.raises(Denied, match=r"the rule '10\.0\.0\.0/8'"):
        run(ask())
    assert seen == ["8.8.8.8"]


def test_these_files_open_lines_to_others() -> None:
    """A new one asks the network policy by `checked_addresses`, or belongs to the installation, and is named here."""
    root = Path(steward.__file__).parent
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if path.parts[len(root.parts)] not in {"testing", "sandbox", "isolation", "api", "store"}
        and opens_lines(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == {
        # The doors of projects.
        *("connections/http.py", "connections/mail.py", "connections/mailbox.py"),
        *(
            "connections/sftp.py",
            "connections/catalogue/grpc_calls.py",
            "connections/mcp/client.py",
        ),
        *("connections/mcp/sign_in.py", "ingest/mysql.py", "models/provided.py"),
        *("models/telling_servers.py", "models/local/fetching.py", "playbooks/triggers/nats.py"),
        # This machine and the installation's own servers.
        *("connections/syslog.py", "models/local/server.py", "models/local/ollama.py"),
        *("runs/nats.py", "app/diagnose.py"),
    }


OPENERS = {
    *("AsyncClient", "AsyncHTTPTransport", "Client", "HTTPTransport", "create_connection"),
    *("open_connection", "HTTPConnection", "HTTPSConnection", "urlopen", "IMAPClient", "Session"),
    *("insecure_channel", "secure_channel", "SMTP", "SMTP_SSL", "FTP", "AIOKafkaConsumer"),
}
LIBRARIES = {"httpx2", "httpx", "socket", "asyncio", "http", "urllib", "requests", "nats", "grpc"}


def opens_lines(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        if isinstance(function, ast.Name) and function.id == "IMAPClient":
            return True
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            library, name = function.value.id, function.attr
            if (library in LIBRARIES and name in OPENERS) or (library, name) in {
                ("socket", "socket"),
                ("nats", "connect"),
            }:
                return True
        if isinstance(function, ast.Attribute) and function.attr == "HTTPConnection":
            return True
    return False
