"""The command tree."""

import platform

import typer

from steward import __version__
from steward.cli import (
    backups,
    catalogue,
    chat,
    connections,
    data,
    definitions,
    demo,
    doctor,
    models,
    observe,
    planner,
    playbooks,
    policies,
    runs,
    skills,
    tests,
    tokens,
    undo,
    up,
    users,
    verify,
    worker,
)
from steward.cli import (
    eval as evaluations,
)
from steward.cli.output import AsJson, command, show
from steward.store import sqlite_version

app = typer.Typer(
    name="steward",
    help="Steward: data work by agents that people can trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("up")(up.up)
app.command("chat")(chat.chat)
app.command("demo")(demo.demo)
app.command("undo")(undo.undo)
app.command("worker")(worker.worker)
app.command("doctor")(doctor.doctor)
app.command("eval")(evaluations.run_suites)
app.add_typer(users.app, name="user", help="People of this installation.")
app.add_typer(tokens.app, name="token", help="Personal API tokens.")
app.add_typer(data.app, name="data", help="Datasets: load, look, compare, undo, export.")
app.add_typer(definitions.app, name="definitions", help="What words mean: show, confirm, set.")
app.add_typer(
    catalogue.app,
    name="catalogue",
    help="Services that describe themselves: find, install, remove.",
)
app.add_typer(connections.app, name="connections", help="Connections: find, add, test, remove.")
app.add_typer(runs.app, name="runs", help="Runs: start, look, replay, fork, undo, export.")
app.add_typer(playbooks.app, name="playbooks", help="Playbooks: look, run, deploy, import, export.")
app.add_typer(playbooks.blueprints, name="blueprints", help="Blueprints: look, fork.")
app.add_typer(models.app, name="models", help="Models: list, add, test, choose, remove, fetch.")
app.add_typer(observe.app, name="observe", help="Figures: what was spent; count again.")
app.add_typer(planner.app, name="planner", help="The planner: measures, shadow runs.")
app.add_typer(policies.app, name="policy", help="Policy: which rule decides, and why.")
app.add_typer(skills.app, name="skills", help="Skills: what agents know how to do.")
app.add_typer(tests.app, name="test", help="Runs as regression tests.")
app.command("verify")(verify.verify)
app.command("backup")(backups.backup_command)
app.command("restore")(backups.restore_command)


@app.command()
@command
def version(*, as_json: AsJson = False) -> None:
    """Print the version."""
    document = {
        "steward": __version__,
        "python": platform.python_version(),
        "sqlite": sqlite_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
    show(document, as_json=as_json, text=lambda: f"steward {__version__}")


def main() -> None:
    app()
