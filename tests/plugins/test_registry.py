"""Plug-ins in an installation: consent, pinning, what they add, how they go, and what other processes see."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.app import Steward, open_steward
from steward.broker.toolbox import Toolbox
from steward.core.errors import Conflict, Denied, Invalid, NotFound
from steward.flows import NODES, load_flow
from steward.flows.launch import Start
from steward.identity import Role
from steward.plugins import read_wheel
from steward.runs import Run
from steward.testing import Installation, fast_passwords
from tests.plugins.wheels import example, scaffold

pytestmark = pytest.mark.every_database

TAX = "plugin.acme-tax.add_tax"


def install(installation: Installation, content: bytes, *, rights: bool = False) -> None:
    sha256 = read_wheel(content).sha256
    access = installation.owner.access
    installation.steward.plugins.install(access, content, sha256, rights=rights)


def toolbox(installation: Installation) -> Toolbox:
    return installation.steward.governing.broker.tools


def start(installation: Installation, flow: dict[str, Any]) -> Run:
    return installation.steward.governing.launcher.start(installation.owner.access, Start(flow))


def call(installation: Installation, tool: str, **arguments: Any) -> dict[str, Any]:
    flow = installation.steward.governing.launcher.single(tool, arguments)
    return ended(installation, start(installation, flow))


def ended(installation: Installation, run: Run) -> dict[str, Any]:
    installation.steward.runs.drive_until_idle()
    found: dict[str, Any] = installation.steward.runs.outcome(installation.scope, run.id)
    return found


def due(**fields: Any) -> dict[str, Any]:
    node = {"id": "due", "type": "due_date", "date": "2026-03-02", **fields}
    return {"format": 1, "id": "terms", "nodes": [node]}


def test_a_tool_of_a_plugin_runs_in_the_sandbox(installation: Installation, tmp_path: Path) -> None:
    install(installation, scaffold(tmp_path))
    names = toolbox(installation).names(installation.scope)
    assert TAX in names
    assert call(installation, TAX, net=100)["output"] == {"gross": 119.0}


def test_the_code_of_a_sandboxed_tool_has_no_way_out(
    installation: Installation, tmp_path: Path
) -> None:
    """The guard sees only the syntax; the walls are around the process."""
    text = tmp_path / "acme-tax/acme_tax/add_tax.py"
    scaffold(tmp_path)
    hostile = text.read_text().replace(
        "    net, rate", "    open('/etc/passwd').read()\n    net, rate"
    )
    install(installation, scaffold(tmp_path / "again", add_tax=hostile))
    outcome = call(installation, TAX, net=100)
    assert "output" not in outcome
    assert "root:" not in str(outcome)


def test_a_tool_reads_the_datasets_that_its_arguments_name(installation: Installation) -> None:
    steward, access = installation.steward, installation.owner.access
    steward.workbench.bringing.load_text(
        access.scope,
        access.user_id,
        "open.csv",
        "due,open\n2026-02-20,100\n2026-02-25,50\n2025-11-01,10\n2026-04-01,7\n",
        "open_invoices",
    )
    install(installation, example(), rights=True)
    found = call(
        installation,
        "plugin.acme-invoices.overdue_by_age",
        invoices="open_invoices",
        due="due",
        amount="open",
        today="2026-03-02",
    )
    assert found["output"] == [
        {"age": "up to 30 days", "invoices": 2, "amount": 150.0},
        {"age": "longer", "invoices": 1, "amount": 10.0},
    ]


def test_only_the_wheel_that_was_shown_is_installed(
    installation: Installation, tmp_path: Path
) -> None:
    content = scaffold(tmp_path)
    plugins, access = installation.steward.plugins, installation.owner.access
    with pytest.raises(Conflict, match="SHA-256 differs"):
        plugins.install(access, content, "0" * 64)
    assert plugins.listed(access) == []


def test_code_with_the_servers_rights_needs_consent(installation: Installation) -> None:
    with pytest.raises(Denied, match="node due_date, guardrail no-account-numbers"):
        install(installation, example())
    assert installation.steward.plugins.listed(installation.owner.access) == []
    assert "due_date" not in NODES


def test_only_keepers_may_touch_plugins(installation: Installation, tmp_path: Path) -> None:
    content = scaffold(tmp_path)
    install(installation, content)
    plugins, other = installation.steward.plugins, installation.person(Role.owner).access
    for attempt in (
        lambda: plugins.inspect(other, content),
        lambda: plugins.install(other, content, read_wheel(content).sha256),
        lambda: plugins.switch(other, "acme-tax", enabled=False),
        lambda: plugins.remove(other, "acme-tax"),
        lambda: plugins.listed(other),
    ):
        with pytest.raises(Denied, match="Only an owner of the organisation"):
            attempt()


def test_a_node_of_a_plugin_is_in_the_palette_and_runs(installation: Installation) -> None:
    client, project = installation.owner.client, installation.scope.project_id
    palette = f"/api/v1/projects/{project}/flows/palette"

    def types() -> set[str]:
        return {each["type"] for each in client.get(palette).json()["nodes"]}

    assert "due_date" not in types()
    install(installation, example(), rights=True)
    assert "due_date" in types()
    assert ended(installation, start(installation, due(days=14)))["output"] == {"due": "2026-03-16"}
    installation.steward.plugins.remove(installation.owner.access, "acme-invoices")
    assert "due_date" not in types()


def test_what_is_disabled_or_removed_is_not_found_and_says_why(
    installation: Installation, tmp_path: Path
) -> None:
    plugins, access = installation.steward.plugins, installation.owner.access
    install(installation, scaffold(tmp_path, "sandboxed_tool", "tool", "node"), rights=True)
    assert call(installation, "plugin.acme-tax.tell_time")["output"] == {"time": "09:00"}
    plugins.switch(access, "acme-tax", enabled=False)
    assert TAX not in toolbox(installation).names(installation.scope)
    assert "shout" not in NODES
    with pytest.raises(Conflict, match="is disabled"):
        toolbox(installation).get(access.scope, TAX)
    plugins.switch(access, "acme-tax", enabled=True)
    assert "shout" in NODES
    assert call(installation, TAX, net=1)["output"] == {"gross": 1.19}
    plugins.remove(access, "acme-tax")
    with pytest.raises(Conflict, match=r"acme-tax 0\.1\.0 was removed on 2026-03-02"):
        toolbox(installation).get(access.scope, TAX)
    with pytest.raises(NotFound):
        toolbox(installation).get(access.scope, "plugin.other.thing")
    with pytest.raises(Invalid, match="no node type 'shout'"):
        load_flow({"format": 1, "id": "x", "nodes": [{"id": "a", "type": "shout", "text": "a"}]})


def test_a_run_names_the_plugin_it_used_and_replays_without_it(
    installation: Installation, tmp_path: Path
) -> None:
    content = scaffold(tmp_path)
    install(installation, content)
    steward, scope = installation.steward, installation.scope
    flow = steward.governing.launcher.single(TAX, {"net": 100})
    run = start(installation, flow)
    assert ended(installation, run)["output"] == {"gross": 119.0}
    steward.plugins.remove(installation.owner.access, "acme-tax")
    text = str([entry.body for entry in steward.runs.entries(scope, run.id, 0, 100)])
    assert read_wheel(content).sha256 in text
    assert "plugin:acme-tax@0.1.0" in text
    report = asyncio.run(steward.runs.replay(scope, run.id))
    assert report.divergences == ()


def test_another_version_replaces_the_one_before(
    installation: Installation, tmp_path: Path
) -> None:
    kinds = ("sandboxed_tool", "node")
    install(installation, scaffold(tmp_path / "one", *kinds), rights=True)
    old = toolbox(installation).get(installation.scope, TAX)
    text = (tmp_path / "one/acme-tax/acme_tax/shout.py").read_text()
    louder = text.replace(".upper()", '.upper() + "!"')
    project = (tmp_path / "one/acme-tax/pyproject.toml").read_text()
    content = scaffold(
        tmp_path / "two", *kinds, shout=louder, pyproject=project.replace("0.1.0", "0.2.0")
    )
    install(installation, content, rights=True)
    [listed] = installation.steward.plugins.listed(installation.owner.access)
    assert listed.version == "0.2.0"
    flow = {"format": 1, "id": "x", "nodes": [{"id": "a", "type": "shout", "text": "hello"}]}
    assert ended(installation, start(installation, flow))["output"] == "HELLO!"
    # What was planned with the old version still finds it.
    assert toolbox(installation).get(installation.scope, TAX, old.pin).pin == old.pin
    assert toolbox(installation).get(installation.scope, TAX).pin != old.pin


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise RuntimeError('boom')\n", "RuntimeError: boom"),
        ("ShoutNode = 3\n", "is not a subclass of Node"),
        (
            'from typing import Literal\nfrom steward.flows import Node\n\n\nclass ShoutNode(Node):\n    type: Literal["other"]\n',
            "is not a Node with",
        ),
    ],
)
def test_code_that_does_not_load_is_not_installed(
    installation: Installation, tmp_path: Path, code: str, said: str
) -> None:
    before = {name for name, _ in NODES}
    with pytest.raises(Invalid, match=said):
        install(installation, scaffold(tmp_path, "node", shout=code), rights=True)
    assert installation.steward.plugins.listed(installation.owner.access) == []
    assert {name for name, _ in NODES} == before


def test_what_is_registered_must_be_declared(installation: Installation, tmp_path: Path) -> None:
    from steward.agents.guardrails import GUARDRAILS

    scaffold(tmp_path, "node")
    text = (tmp_path / "acme-tax/acme_tax/shout.py").read_text()
    more = (
        "\nfrom steward.agents.guardrails import GUARDRAILS, Guardrail\n\n\n"
        "@GUARDRAILS.register('hidden')\nclass Hidden(Guardrail):\n    pass\n"
    )
    with pytest.raises(Invalid, match="registers the guardrail 'hidden'"):
        install(installation, scaffold(tmp_path / "b", "node", shout=text + more), rights=True)
    assert "hidden" not in GUARDRAILS
    assert "shout" not in NODES


def test_a_plugin_cannot_take_the_name_of_another_package(
    installation: Installation, tmp_path: Path
) -> None:
    with pytest.raises(Conflict, match="'pydantic'"):
        install(installation, scaffold(tmp_path, "node", name="pydantic"), rights=True)


def test_changed_files_on_disk_are_written_again(
    installation: Installation, tmp_path: Path
) -> None:
    content = example()
    install(installation, content, rights=True)
    folder = installation.steward.settings.home / "plugins" / read_wheel(content).sha256
    file = folder / "acme_invoices/due_date.py"
    right = file.read_text()
    installation.steward.plugins.switch(installation.owner.access, "acme-invoices", enabled=False)
    file.write_text("raise RuntimeError\n")
    (folder / "extra.py").write_text("x = 1\n")
    installation.steward.plugins.switch(installation.owner.access, "acme-invoices", enabled=True)
    assert file.read_text() == right
    assert not (folder / "extra.py").exists()
    assert not list(folder.glob("*.dist-info"))


@pytest.fixture
def second(installation: Installation, shared_sandbox: Any) -> Iterator[Steward]:
    """Another process of the same installation, as far as one process can show it."""
    other = open_steward(
        installation.steward.settings,
        clock=installation.clock,
        passwords=fast_passwords(),
        provider=shared_sandbox,
    )
    yield other
    other.close()


def test_other_servers_and_workers_have_what_one_installed(
    installation: Installation, second: Steward, tmp_path: Path
) -> None:
    """The other one has not heard of it: it looks when a name is missing."""
    install(installation, scaffold(tmp_path, "sandboxed_tool", "tool", "node"), rights=True)
    scope = installation.scope
    tools = second.governing.broker.tools
    assert TAX in tools.names(scope)
    assert tools.get(scope, "plugin.acme-tax.tell_time").title == "Tell the time"
    run = start(
        installation,
        {"format": 1, "id": "x", "nodes": [{"id": "a", "type": "shout", "text": "hello"}]},
    )
    second.runs.drive_until_idle()
    assert second.runs.outcome(scope, run.id)["output"] == "HELLO"
    installation.steward.plugins.switch(installation.owner.access, "acme-tax", enabled=False)
    assert TAX not in tools.names(scope)


def test_what_is_closed_loads_nothing_more(installation: Installation, tmp_path: Path) -> None:
    """A thread that heard of the installation may come late."""
    install(installation, scaffold(tmp_path, "node"), rights=True)
    plugins = installation.steward.plugins
    plugins.close()
    plugins.refresh()
    assert "shout" not in NODES


def test_a_damaged_wheel_does_not_keep_the_server_from_starting(
    installation: Installation, tmp_path: Path, shared_sandbox: Any
) -> None:
    content = scaffold(tmp_path, "node")
    install(installation, content, rights=True)
    steward = installation.steward
    steward.blobs.delete(read_wheel(content).sha256)
    installation.steward.plugins.close()
    assert "shout" not in NODES
    again = open_steward(
        steward.settings,
        clock=installation.clock,
        passwords=fast_passwords(),
        provider=shared_sandbox,
    )
    try:
        [found] = again.plugins.listed(installation.owner.access)
        assert found.problem
        assert "shout" not in NODES
    finally:
        again.close()


def test_a_kind_of_connection_comes_and_goes_with_its_plugin(
    installation: Installation, tmp_path: Path
) -> None:
    owner = installation.owner
    below = f"/api/v1/projects/{owner.access.scope.project_id}"

    def kinds() -> set[str]:
        return {
            each["kind"] for each in owner.client.get(f"{below}/connection-kinds").json()["items"]
        }

    assert "web_shop" not in kinds()
    install(installation, scaffold(tmp_path, "connector"), rights=True)
    assert "web_shop" in kinds()
    body = {
        "name": "shop",
        "kind": "web_shop",
        "settings": {"base_url": "https://shop.example.com/api"},
        "values": {"token": "a-token-of-the-shop"},
    }
    made = owner.client.post(f"{below}/connections", json=body)
    assert made.status_code == 201, made.text
    assert made.json()["place"] == "https://shop.example.com/api"
    installation.steward.plugins.remove(owner.access, "acme-tax")
    assert "web_shop" not in kinds()
    # The connection waits for its kind to come back.
    assert owner.client.get(f"{below}/connections").json()["items"] == []
    install(installation, scaffold(tmp_path / "again", "connector"), rights=True)
    (back,) = owner.client.get(f"{below}/connections").json()["items"]
    assert back["name"] == "shop"


def test_a_connector_of_another_kind_than_its_entry_point_is_refused(
    installation: Installation, tmp_path: Path
) -> None:
    scaffold(tmp_path, "connector")
    text = (tmp_path / "acme-tax/acme_tax/web_shop.py").read_text()
    other = text.replace('kind="web_shop"', 'kind="http_api"')
    with pytest.raises(Invalid, match="not a Connector of the kind 'web_shop'"):
        install(installation, scaffold(tmp_path / "two", "connector", web_shop=other), rights=True)
