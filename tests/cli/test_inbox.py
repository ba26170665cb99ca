"""`steward inbox`, `approve`, `reject` and `answer`: no run stops at a gate that only a browser can open."""

import subprocess
import sys

from tests.cli.terminal import Terminal

QUESTION = """
format: 1
id: asks
inputs: {type: object, properties: {}}
nodes:
  - {id: colour, type: question, question: Which colour?}
  - {id: end, type: output, needs: [colour], value: {painted: "${nodes.colour.output}"}}
"""
GATE = """
format: 1
id: gated
inputs: {type: object, properties: {}}
nodes:
  - id: gate
    type: approval
    message: Paint it?
    payload: {colour: green}
    edit: {type: object, properties: {colour: {type: string}}, required: [colour]}
  - {id: end, type: output, needs: [gate.approved], value: {painted: "${nodes.gate.output.payload.colour}"}}
"""
HELP = """
import sys
from steward.cli.main import app
try:
    app(["--help"])
except SystemExit:
    pass
print("HEAVY", sorted({"duckdb", "sqlalchemy", "pydantic", "polars"} & set(sys.modules)))
"""


def _started(filled: Terminal, flow: str) -> str:
    file = filled.folder / "flow.yaml"
    file.write_text(flow)
    return str(filled.run("runs", "start", str(file), "--drive", "--json").json()["id"])


def test_a_question_is_answered(filled: Terminal) -> None:
    run_id = _started(filled, QUESTION)
    assert run_id in filled.run("inbox").out
    wrong = filled.run("approve", run_id, code=1).err
    assert "A question is not approved or rejected. Use 'steward answer'." in wrong
    code = filled.run("inbox", "--json").json()[0]["code"]
    shown = filled.run("inbox", code).out
    assert "Which colour?" in shown
    assert f"steward answer {code}" in shown
    assert "has changed" in filled.run("answer", "00000000", "green", code=1).err
    done = filled.run("answer", code, "green", "--drive", "--json").json()
    assert (done["done"], done["status"]) == ("answered", "done")


def test_a_gate_is_approved_with_edits_from_a_file(filled: Terminal) -> None:
    run_id = _started(filled, GATE)
    shown = filled.run("inbox", run_id).out
    assert "What is approved: colour: green" in shown
    edits = filled.folder / "edits.yaml"
    edits.write_text("colour: blue\n")
    done = filled.run("approve", run_id, "--file", str(edits), "--drive", "--json").json()
    assert done["status"] == "done"
    shown = filled.run("runs", "show", run_id, "--json").json()
    assert "blue" in str(shown["outcome"])


def test_a_gate_is_rejected_with_a_reason(filled: Terminal) -> None:
    run_id = _started(filled, GATE)
    done = filled.run("reject", run_id, "--reason", "Not green.", "--drive", "--json").json()
    assert done["done"] == "rejected"
    assert done["status"] != "waiting"


def test_help_and_version_import_no_engine() -> None:
    said = subprocess.run(
        [sys.executable, "-c", HELP], capture_output=True, text=True, check=True
    ).stdout
    assert "HEAVY []" in said
    assert "List what waits for your answer" in said


def test_the_list_says_what_each_command_says_of_itself() -> None:
    from typer.main import get_command

    from steward.cli.main import COMMANDS, app

    loaded = get_command(app).commands  # type: ignore[attr-defined]
    for name, (_, said) in COMMANDS.items():
        assert " ".join(loaded[name].help.strip().split("\n\n")[0].split()) == said, name
