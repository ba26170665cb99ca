"""The command tree."""

import platform
from typing import Final

import typer

from steward import __version__
from steward.cli.lazy import Listed, group_of
from steward.cli.output import AsJson, command, say, show

COMMANDS: Final[Listed] = {
    "up": ("up:up", "Start Steward and print a link that signs the first user in."),
    "chat": (
        "chat:chat",
        "Ask Steward something and print the answer; without a model, rules plan.",
    ),
    "demo": (
        "demo:demo",
        "Clean up the demo data: profile, propose rules, review, build on a branch, check, promote, report.",
    ),
    "inbox": ("inbox:inbox", "List what waits for your answer, what ends soonest first."),
    "approve": (
        "inbox:approve",
        "Approve an action, a gate or a plan, with changes from a file where it can be edited.",
    ),
    "reject": ("inbox:reject", "Reject an action, a gate or a plan."),
    "answer": (
        "inbox:answer",
        "Answer a question, a request for more budget or an effect in doubt.",
    ),
    "undo": (
        "undo:undo",
        "Take back all that a run changed, or one commit. What cannot be undone is listed.",
    ),
    "export": (
        "project_code:export",
        "Write the project as files for Git: no ids, no secrets; a second time changes nothing.",
    ),
    "apply": (
        "project_code:apply",
        "Make the project what a folder says: all of it or nothing, as one action that can be undone.",
    ),
    "worker": (
        "worker:worker",
        "Drive runs until stopped; what is under way then goes on with another worker.",
    ),
    "mcp": (
        "mcp:mcp",
        "Serve MCP on standard input and output, for a desktop agent that starts this command.",
    ),
    "doctor": (
        "doctor:doctor",
        "Check machine, disk, database, bus, blob store, workers, keys, secrets, sandbox and model.",
    ),
    "eval": ("eval:run_suites", "Play suites of cases; ends with 1 when a case failed."),
    "audit": ("audit:app", "The event log: export for other systems, check exported files."),
    "network": ("network:app", "The network policy: which places may be called."),
    "retention": ("retention:app", "How long records are kept; legal holds."),
    "user": ("users:app", "People of this installation."),
    "sign-on": ("sign_on:app", "Single sign-on: OpenID providers and roles by group."),
    "directory": ("directories:app", "Directories that bring people and groups by SCIM."),
    "token": ("tokens:app", "Personal API tokens."),
    "links": ("links:app", "Links for people without an account: fetch a file, send a file."),
    "data": ("data:app", "Datasets: load, look, compare, undo, export."),
    "definitions": ("definitions:app", "What words mean: show, confirm, set."),
    "catalogue": (
        "catalogue:app",
        "Services that describe themselves: find, install, remove.",
    ),
    "connections": ("connections:app", "Connections: find, add, test, remove."),
    "runs": ("runs:app", "Runs: start, look, replay, fork, undo, export."),
    "plugin": ("plugins:app", "Plug-ins: write, check, install, remove."),
    "playbooks": ("playbooks:app", "Playbooks: look, run, deploy, import, export."),
    "triggers": ("triggers:app", "Triggers: look, replay and drop events."),
    "blueprints": ("playbooks:blueprints", "Blueprints: look, fork."),
    "agents": ("agents:app", "Agents of a project: list, show, apply, export, try."),
    "models": ("models:app", "Models: list, add, test, choose, remove, fetch."),
    "observe": ("observe:app", "Figures: what was spent; alerts; count again."),
    "planner": ("planner:app", "The planner: measures, shadow runs."),
    "policy": ("policies:app", "Policy: which rule decides, and why."),
    "skills": ("skills:app", "Skills: what agents know how to do."),
    "test": ("tests:app", "Runs as regression tests."),
    "verify": (
        "verify:verify",
        "Check entries, files, approvals, titles, authors and status of runs against their signatures.",
    ),
    "keys": ("keys:app", "The keys that encrypt secrets: rotate."),
    "backup": (
        "backups:backup_command",
        "Write one file with everything: rows, blobs and (unless left out) the keys of the secrets.",
    ),
    "restore": (
        "backups:restore_command",
        "Load a backup into an empty STEWARD_HOME (and database), then check it again.",
    ),
    "downgrade": (
        "backups:downgrade_command",
        "Take the database back to the schema of an older version; a backup is made first.",
    ),
}

app = typer.Typer(
    name="steward",
    cls=group_of(COMMANDS),
    help="Steward: data work by agents that people can trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _steward() -> None:
    """Steward: data work by agents that people can trust."""


@app.command()
@command
def version(*, as_json: AsJson = False) -> None:
    """Print the version."""
    if not as_json:
        say(f"steward {__version__}")
        return
    # The store knows the database driver, and takes a while to load.
    from steward.store import sqlite_version

    document = {
        "steward": __version__,
        "python": platform.python_version(),
        "sqlite": sqlite_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
    show(document, as_json=True, text=str)


def main() -> None:
    app()
