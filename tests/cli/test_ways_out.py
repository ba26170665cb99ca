"""Every command that reads shows and writes what it reads without the values of stored secrets."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from steward.cli.main import app
from steward.testing import Installation
from tests.api.leaks import Crawl, lived_in, shown
from tests.cli.terminal import Terminal
from tests.cli.test_one_door import READS

pytestmark = [pytest.mark.timeout(300), pytest.mark.soak]
WORKED_AT_LEAST = {
    "audit export",
    "doctor",
    "observe alerts list",
    "observe analyse",
    "observe budgets list",
    "observe costs",
    "observe summary",
    "playbooks export",
    "runs dossier",
    "runs export",
    "runs ls",
    "runs show",
    "test record",
}
AT_ONCE = 4


def _commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    for each, found in getattr(command, "commands", {}).items():
        yield from _commands(found, f"{name} {each}".strip())
    if not hasattr(command, "commands"):
        yield name, command


def _arguments(command: Any, known: dict[str, str]) -> list[str]:
    """What it must be given, by the names of its parameters; JSON where it can write it."""
    found: list[str] = []
    for each in command.params:
        if each.param_type_name == "argument" and each.required:
            found.append(known.get(each.name, "x"))
        elif each.required:
            found += [each.opts[0], known.get(each.name, "x")]
        elif each.name in {"as_json", "out", "to"}:
            found += [each.opts[0]] if each.name == "as_json" else [each.opts[0], known["file"]]
    return found


def test_no_command_shows_a_secret(
    installation: Installation,
    terminal: Terminal,
    tmp_path: Path,
    effort: Callable[[int, int], int],
) -> None:
    """Those that read most; all of them with `--full`."""
    run = lived_in(installation)
    crawl = Crawl(installation.owner.client, installation, run)
    crawl.learn()
    known = {name: values[0] for name, values in crawl.known.items() if values}
    known |= {"run": run.id, "left": run.id, "right": run.id, "user": "owner@example.com"}
    known["name"] = "daily-count"
    installation.close()
    reads = [set(WORKED_AT_LEAST), {each.strip() for each in READS}][effort(0, 1)]
    waiting = [each for each in _commands(get_command(app)) if each[0] in reads]
    worked, leaks = set(), []
    for begin in range(0, len(waiting), AT_ONCE):
        started = {}
        for name, command in waiting[begin : begin + AT_ONCE]:
            folder = tmp_path / name.replace(" ", "-")
            own = {**known, "file": str(folder), "folder": str(folder)}
            started[name] = (terminal.start(*name.split(), *_arguments(command, own)), folder)
        for name, (process, folder) in started.items():
            code = process.wait()
            assert "Traceback" not in process.err, (name, process.err)
            if code == 0 or name == "doctor":
                worked.add(name)
            written = [folder] if folder.is_file() else sorted(folder.rglob("*"))
            texts = [each.read_bytes() for each in written if each.is_file()]
            if shown(b"".join([process.out.encode(), process.err.encode(), *texts])):
                leaks.append(name)
    assert leaks == []
    assert worked >= WORKED_AT_LEAST, WORKED_AT_LEAST - worked
