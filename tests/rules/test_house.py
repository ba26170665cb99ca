"""Rules of the house that no linter knows."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from scripts.generate import generated

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/steward"
MODULES = sorted(SOURCE.rglob("*.py"))


def _name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def _with(word: str) -> Iterator[tuple[Path, ast.AST]]:
    """The nodes of all modules in whose text the word is: reading a tree takes far longer than looking for a word."""
    for path in MODULES:
        if word in (text := path.read_text()):
            yield from ((path, node) for node in ast.walk(ast.parse(text)))


def test_every_module_says_its_job() -> None:
    """Its docstring comes first and starts with a sentence."""
    for path in MODULES:
        docstring = re.match(r'(?:#.*\n)*"""(.+?)"""', path.read_text(), re.DOTALL)
        assert docstring, f"{_name(path)} has no docstring"
        sentence = docstring[1].partition("\n\n")[0].rstrip()
        assert sentence.endswith((".", ":", "?", "…")), f"{_name(path)}: {sentence}"


def test_only_the_settings_read_the_environment() -> None:
    readers = {
        _name(path)
        for word in ("environ", "getenv")
        for path, node in _with(word)
        if isinstance(node, ast.Attribute)
        and node.attr in {"environ", "getenv", "environb"}
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    }
    assert readers == {"core/settings.py"}


def test_only_one_module_reads_yaml() -> None:
    """Others would read without its limits; rules of entity resolution are only written, descriptions have limits of their own."""
    importing = {
        _name(path)
        for path, node in _with("yaml")
        if isinstance(node, ast.Import) and any(each.name == "yaml" for each in node.names)
    }
    catalogue = "connections/catalogue/texts.py"
    assert importing == {"core/documents.py", "analysis/resolve/document.py", catalogue}
    text = (SOURCE / "analysis/resolve/document.py").read_text()
    assert not re.search(r"yaml\.(load|safe_load|parse|compose|scan)", text)


def test_work_across_projects_is_rare_and_known() -> None:
    """A new place that leaves the scope must be added here, where a reviewer sees it."""
    across = {
        _name(path)
        for path, node in _with("EVERYWHERE")
        if isinstance(node, ast.Call)
        and any(isinstance(arg, ast.Name) and arg.id == "EVERYWHERE" for arg in node.args)
    }
    assert across <= {
        "agents/chat/live_text.py",  # text of all projects is written in one go
        "identity/client_grants.py",  # a program shows a code or token before its project is known
        "identity/directories/people.py",  # a directory is of an organisation, not of one project
        "identity/directories/groups.py",
        "identity/directories/registry.py",
        "identity/links.py",  # an address is shown before its project is known
        "identity/erasure.py",  # nor is what they leave behind
        "identity/invitations.py",  # the link comes before the project is known
        "identity/members.py",
        "identity/passkeys.py",  # people are not of one project
        "identity/projects.py",
        "identity/guesses.py",
        "identity/second_step.py",  # of a whole organisation
        "identity/sessions.py",
        "identity/two_step.py",  # people are not of one project
        "identity/sign_on/admission.py",  # a person comes before the projects they may enter
        "identity/sign_on/logouts.py",
        "identity/sign_on/providers.py",  # the sign-in page knows no project
        "identity/tokens.py",
        "identity/users.py",
        "store/secrets.py",  # key checks, purge
        "versions/_sweep.py",
        "workbench/uploads.py",  # what rests too long goes, in all projects
        "store/bus.py",  # rings carry no data
        "store/eventlog.py",  # the highest cursor of all
        "observe/audit_streams.py",  # workers send on the events of all projects
        "runs/_commit.py",  # appends of many runs share a transaction
        "runs/records.py",  # the terminal verifies all projects
        "models/abilities.py",  # what a server can do is the same for all
        "runs/_leases.py",  # workers serve all projects
        "runs/presence.py",
        "runs/schedules.py",
        "broker/period_budgets.py",  # what ended runs had set aside is freed, in all projects
        "observe/alert_rounds.py",  # workers look at the alert rules of all projects
        "observe/costs.py",  # a person compares the projects that are open to them
        "observe/received_spans.py",  # workers remove old spans of all projects
        "observe/rollups.py",  # workers remove old figures of all projects
        "observe/span_trees.py",  # workers remove stored traces of all projects that are old
        "playbooks/dispatch.py",  # workers serve the triggers of all projects
        "playbooks/shadows.py",  # workers look for ended runs that get a shadow, in all projects
        "playbooks/subscriptions.py",  # an address comes before the project is known
        "playbooks/trigger_events.py",  # what is over for long goes, in all projects
        "playbooks/watch.py",
        "plugins/registry.py",  # what runs on the machine is the same for all
    }
    as_written = {
        _name(path)
        for path, node in _with("execute_as_written")
        if isinstance(node, ast.Attribute) and node.attr == "execute_as_written"
    }
    assert as_written <= {"identity/members.py", "store/bus.py", "store/eventlog.py"}
    raw = {
        _name(path)
        for path, node in _with("execute_raw")
        if isinstance(node, ast.Attribute) and node.attr == "execute_raw"
    }
    assert raw <= {"runs/_commit.py", "runs/heads.py", "runs/journal.py"}


def test_generated_files_are_current() -> None:
    stale = [path.name for path, text in generated().items() if path.read_text() != text]
    assert stale == [], "run `make fmt`"


def test_nothing_is_left_undone() -> None:
    marks = re.compile(r"\b(TODO|FIXME|HACK|NotImplementedError)\b")
    web = [p for p in (ROOT / "web/src").rglob("*.ts*") if not p.name.endswith(".d.ts")]
    left = [str(p.relative_to(ROOT)) for p in [*MODULES, *web] if marks.search(p.read_text())]
    assert left == []


def test_no_room_is_a_drawer() -> None:
    forbidden = {"utils", "helpers", "common", "misc", "manager"}
    assert [_name(path) for path in MODULES if path.stem in forbidden] == []


def test_rooms_have_a_door() -> None:
    for room in sorted(p for p in SOURCE.iterdir() if p.is_dir() and p.name != "__pycache__"):
        door = room / "__init__.py"
        assert door.exists(), f"{room.name} has no __init__.py"


def test_the_guide_for_contributors_names_every_room() -> None:
    table = (
        (ROOT / "CONTRIBUTING.md").read_text().partition("## The rooms")[2].partition("\n## ")[0]
    )
    named = re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]+)\|", table, re.MULTILINE)))
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert sorted(named) == sorted(rooms)
