"""A project goes from one home through a folder to another home, as a person at two terminals would take it there."""

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.fixtures import nursery
from tests.cli.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
COUNT = """format: 1
id: count-customers
connections: [warehouse-dev]
budget: {usd: 1}
steps:
  - id: count
    tool: query
    arguments: {sql: "SELECT count(*) AS n FROM crm_customers"}
"""


def _values() -> str:
    """The values that the guide shows."""
    guide = (ROOT / "docs/guides/projects-as-code.md").read_text()
    (shown,) = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    return str(shown)


def _policy() -> str:
    guide = (ROOT / "docs/guides/projects-as-code.md").read_text()
    (shown,) = re.findall(r"```cedar\n(.*?)```", guide, re.DOTALL)
    return str(shown)


def test_from_development_to_production(
    terminal: Terminal, started_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    production = Terminal(nursery(), tmp_path_factory.mktemp("production"))
    for each in (terminal, production):
        shutil.copytree(started_home, each.home)
    repository = terminal.folder / "sales"
    (terminal.folder / "count.yaml").write_text(COUNT)
    (terminal.folder / "production.yaml").write_text(_values())
    settings = ("--set", "host=db.dev.example", "--set", "database=sales", "--set", "user=reader")
    secret = ("--secret", "password=warehouse-password")
    terminal.run("connections", "add", "postgresql", "warehouse-dev", *settings, *secret)
    terminal.run("playbooks", "import", str(terminal.folder / "count.yaml"))
    terminal.run("playbooks", "deploy", "count-customers")
    written = terminal.run("export", str(repository), "--json").json()["written"]
    assert written == [
        "connections/warehouse-dev.yaml",
        "playbooks/count-customers.yaml",
        "steward.yaml",
    ]
    assert terminal.run("export", str(repository), "--json").json()["written"] == []

    values = ("--values", str(terminal.folder / "production.yaml"))
    applying = ("apply", str(repository), *values)
    plan = production.run(*applying, "--plan").out
    assert "+ connection warehouse\n+ playbook count-customers\n" in plan
    assert "2 to create, 0 to change, 0 to remove, 0 unchanged." in plan
    assert "Applied. To take it back: steward undo run_" in production.run(*applying).out
    assert "Nothing to change." in production.run(*applying).out
    production.run(*applying, "--check")
    runs = [
        each.run("playbooks", "run", "count-customers", "--drive", "--json").json()
        for each in (terminal, production)
    ]
    assert [each["status"] for each in runs] == ["done", "done"]
    shown = [
        each.run("runs", "show", run["id"], "--json").json()
        for each, run in zip((terminal, production), runs, strict=True)
    ]
    assert shown[0]["outcome"]["output"] == shown[1]["outcome"]["output"]

    production.run("playbooks", "schedule", "count-customers", "--cron", "0 7 * * 1")
    drift = production.run(*applying, "--check", code=3).out
    assert (
        "~ playbook count-customers  (changed by hand in the project since the last apply)" in drift
    )
    policy = production.run("policy", "show", "--json").json()["text"]
    (production.folder / "p.cedar").write_text(policy + _policy())
    production.run("policy", "save", str(production.folder / "p.cedar"))
    (terminal.folder / "production.yaml").write_text(_values() + "- policies/*\n")
    waits = production.run(*applying, code=1)
    assert "It waits in the inbox." in waits.err
    (asked,) = production.run("inbox", "--json").json()
    assert "count-customers" in str(asked)
