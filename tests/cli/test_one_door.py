"""Every command that writes data, under policies that forbid it: what binds an agent binds the terminal.

A command that is added must be in the table, or be named as one that reads, starts a run or changes settings.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from steward.app import open_steward
from steward.broker.presets import preset
from steward.broker.tool import Notebook
from steward.cli.main import app
from steward.core import load_settings
from steward.core.documents import dump_yaml
from steward.identity import Principal, Via
from tests.cli.fixtures import nursery
from tests.cli.terminal import Terminal

READS = frozenset(
    """
    agents export | agents list | agents notes | agents show | audit export | audit verify | blueprints list | catalogue list | catalogue operations
    catalogue search | connections discover | connections kinds | connections list | connections tools
    data diff | data history | data inspect | data ls | data profile | data show | definitions export
    definitions history | definitions show | doctor | export | inbox | models list | observe analyse | observe alerts list
    observe alerts rules | observe budgets list | observe costs | observe summary | planner measures | playbooks compare
    playbooks comparisons | playbooks deployments | playbooks export | playbooks list | playbooks show | plugin build
    plugin check
    plugin list | plugin new | plugin show | policy check | policy show | policy simulate | runs diff
    retention holds | retention preview | retention show | network show | network try | runs dossier | runs export | runs ls | runs show | sign-on check | sign-on list | directory list | skills check | skills export
    skills list | skills show | links list | test record | token list | triggers events | triggers ls | user list | user passkeys | verify
    version
    """.replace("\n", "|").split("|")
)
STARTS_RUNS = frozenset(
    """
    agents try | answer | approve | chat | connections test | data register | eval | models pull | models test | planner shadow
    playbooks retry | playbooks run | playbooks test | reject | runs cancel | runs fork | runs pause | runs replay
    runs resume | runs start | triggers drop | triggers release | triggers replay
    """.replace("\n", "|").split("|")
)
"""Whatever these change, a run changes it: each of its calls meets the broker."""
SETTINGS = frozenset(
    """
    catalogue install | catalogue remove | connections accept | connections accept-tool | connections add
    connections remove | connections sign-in | connections sign-out | links revoke | models add | models remove | models undo
    models use | observe alerts ack | observe alerts mute | observe budgets add | observe budgets delete
    observe budgets set | playbooks archive | playbooks canary | playbooks delete | playbooks deploy
    playbooks import | playbooks restore | playbooks rollback | playbooks schedule | playbooks shadow | plugin disable
    plugin enable | plugin install | plugin remove | policy safe-mode | policy save | sign-on add | sign-on change
    directory add | directory rules | directory renew-token | directory remove | retention hold | retention lift | retention set
    sign-on remove | skills add | skills disable | skills enable | token create | token revoke | user add
    user disable | user enable | user erase | user link | user password | user remove-passkey
    user require-two-step | user role | user sign-out
    user two-step-off
    """.replace("\n", "|").split("|")
)
"""These change how a project works and no data; they are guarded by role."""
HOUSE = frozenset(
    {
        "backup",
        "data sweep",
        "demo",
        "downgrade",
        "keys rotate",
        "mcp",
        "observe rebuild",
        "restore",
        "runs import",
        "up",
        "worker",
    }
)
"""The installation as a whole: its processes, its copies, what can be made again, a project that is new."""
LOOK = '@id("look") @outcome("allow") permit (principal, action, resource);\n'
DENY = (
    '@id("no") @outcome("deny") permit (principal, action in Action::"write", resource);\n'
    '@id("no-files") @outcome("deny") permit (principal, action == Action::"export_dataset", resource);\n'
)
EDITOR = "ed@example.org"
NOTES = "agents notes summariser"


@dataclass(frozen=True)
class Scene:
    terminal: Terminal
    commit: str
    run: str

    @property
    def newest(self) -> str:
        return str(self.terminal.run("data", "history", "--json").json()[0]["id"])

    def state(self) -> Any:
        """All that a write could change."""
        read = ["data ls", "data history", "definitions history", "agents list", NOTES]
        read += ["network show", "links list"]
        return [self.terminal.run(*each.split(), "--json").json() for each in read]


Words = Callable[[Scene], list[str]]
WRITES: dict[str, Words] = {
    "data add": lambda scene: [str(scene.terminal.folder / "orders.csv")],
    "data undo": lambda _: [],
    "data redo": lambda _: [],
    "data restore": lambda scene: [scene.commit],
    "data export": lambda scene: ["orders", str(scene.terminal.folder / "out.csv")],
    "undo": lambda scene: [scene.newest],
    "runs undo": lambda scene: [scene.run],
    "definitions confirm": lambda _: ["/tables/orders"],
    "definitions reject": lambda _: ["/tables/orders"],
    "definitions set": lambda _: ["/tables/orders", '{"row": "order"}'],
    "definitions import": lambda scene: [str(scene.terminal.folder / "definitions.yaml")],
    "agents apply": lambda scene: [str(scene.terminal.folder / "helper.yaml")],
    "blueprints fork": lambda _: ["weekly-margin-cockpit", "--sample"],
    "apply": lambda scene: [str(scene.terminal.folder / "project")],
    "network set": lambda _: ["--deny", "*.example.net"],
    "links download": lambda _: ["originals/orders.csv"],
    "links upload": lambda _: ["orders"],
    "agents forget": lambda _: ["summariser", "--all"],
}


@pytest.fixture(scope="module")
def used_home(started_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A home with something to undo and something to redo, to copy."""
    terminal = Terminal(nursery(), tmp_path_factory.mktemp("used"))
    shutil.copytree(started_home, terminal.home)
    (terminal.folder / "items.csv").write_text("id\n1\n")
    terminal.run("data", "add", str(terminal.folder / "items.csv"))
    for rows in ("1\n", "1\n2\n", "1\n2\n3\n"):
        (terminal.folder / "orders.csv").write_text(f"id\n{rows}")
        terminal.run("data", "add", str(terminal.folder / "orders.csv"))
    terminal.run("data", "undo")
    named = ("--name", "Ed", "--role", "editor", "--password-stdin")
    terminal.run("user", "add", EDITOR, *named, stdin="a long passphrase 1")
    _note(terminal.home)
    return terminal


def _note(home: Path) -> None:
    """Something that an agent remembers; no command writes it."""
    with closing(open_steward(load_settings(home=home))) as steward:
        user = steward.identity.users.find(EDITOR)
        assert user is not None
        principal = Principal(user.id, user.email, user.name, Via.session)
        (project,) = steward.identity.projects.page(principal, limit=1)
        scope = steward.identity.projects.enter(principal, project.id).scope
        notebook = Notebook("summariser", "", 5)
        steward.agents.notes.write(scope, notebook, "Be short.", author=user.id, run_id="", call="")


@pytest.fixture
def scene(terminal: Terminal, used_home: Terminal) -> Scene:
    shutil.copytree(used_home.home, terminal.home)
    shutil.copy(used_home.folder / "orders.csv", terminal.folder)
    helper = {"title": "Helper", "description": "Helps.", "instructions": "Help."}
    (terminal.folder / "helper.yaml").write_text(dump_yaml({"name": "helper", **helper}))
    (terminal.folder / "definitions.yaml").write_text(
        "format: 1\nentries: {/tables/orders: {row: order}}"
    )
    project = terminal.folder / "project"
    (project / "agents").mkdir(parents=True)
    (project / "steward.yaml").write_text("format: 1\n")
    (project / "agents" / "second.yaml").write_text(dump_yaml({"name": "second", **helper}))
    commits = [
        commit["id"] for commit in terminal.run("data", "history", "orders", "--json").json()
    ]
    runs = [run["id"] for run in terminal.run("runs", "ls", "--json").json()]
    return Scene(terminal, commits[-1], runs[-1])


def _read_only(terminal: Terminal) -> None:
    _ruled(terminal, preset("read-only"))


def _denying(terminal: Terminal) -> None:
    _ruled(terminal, LOOK + DENY)


def _safe_mode(terminal: Terminal) -> None:
    assert terminal.run("policy", "safe-mode", "on").out == "Safe mode is on.\n"


def _ruled(terminal: Terminal, text: str) -> None:
    file = terminal.folder / "policy.cedar"
    file.write_text(text)
    terminal.run("policy", "save", str(file))


@pytest.mark.parametrize(
    "rule", [pytest.param(_read_only, marks=pytest.mark.battery), _denying, _safe_mode]
)
def test_no_command_writes_past_the_rules(scene: Scene, rule: Callable[[Terminal], None]) -> None:
    rule(scene.terminal)
    before = scene.state()
    wanted = "waits-for-approval" if rule is _safe_mode else "denied"
    # By the owner and by an editor, in turns.
    people = cycle([[], ["--user", EDITOR]])
    for (command, words), who in zip(WRITES.items(), people, strict=False):
        said = scene.terminal.run(*command.split(), *words(scene), *who, "--json", code=1).json()
        assert said["error"]["code"] == wanted, (command, who, said)
    assert scene.state() == before


def test_without_such_a_rule_each_of_them_writes(scene: Scene) -> None:
    """Or the test above would prove nothing."""
    before = scene.state()
    for command, words in WRITES.items():
        scene.terminal.run(*command.split(), *words(scene), "--json")
    after = scene.state()
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_the_table_lists_every_command() -> None:
    kinds = [READS, STARTS_RUNS, SETTINGS, HOUSE, frozenset(WRITES)]
    named = [name for kind in kinds for each in kind if (name := each.strip())]
    assert len(named) == len(set(named))
    assert set(named) == set(_names(get_command(app), []))


def _names(command: Any, path: list[str]) -> Iterator[str]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield " ".join(path)
        return
    for name in inner:
        yield from _names(inner[name], [*path, name])
