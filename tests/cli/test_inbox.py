"""`steward inbox`, `approve`, `reject` and `answer`: no run stops at a gate that only a browser can open."""

import subprocess
import sys

from tests.cli.terminal import Terminal

FLOW = """
format: 1
id: asks
inputs: {type: object, properties: {}}
nodes:
  - {id: colour, type: question, question: Which colour?}
  - id: gate
    type: approval
    needs: [colour]
    message: Paint it?
    payload: {colour: "${nodes.colour.output}"}
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


def test_a_run_is_answered_and_approved_with_edits_from_a_file(filled: Terminal) -> None:
    assert filled.run("inbox").out == "Nothing waits for you.\n"
    file = filled.folder / "flow.yaml"
    file.write_text(FLOW)
    run_id = filled.run("runs", "start", str(file), "--drive", "--json").json()["id"]
    assert run_id in filled.run("inbox").out
    wrong = filled.run("approve", run_id, code=1).err
    assert "A question is not approved or rejected. Use 'steward answer'." in wrong
    assert "Give the answer as text or with --file" in filled.run("answer", "1", code=1).err
    filled.run("answer", "1", "green", "--drive")
    edits = filled.folder / "edits.yaml"
    edits.write_text("colour: blue\n")
    done = filled.run("approve", run_id, "--file", str(edits), "--drive", "--json").json()
    assert done["status"] == "done"
    shown = filled.run("runs", "show", run_id, "--json").json()
    assert shown["outcome"]["value"] == {"painted": "blue"}
    assert "Nothing waits under '7'" in filled.run("reject", "7", code=1).err


def test_a_gate_is_rejected_with_a_reason(filled: Terminal) -> None:
    file = filled.folder / "flow.yaml"
    file.write_text(FLOW)
    run_id = filled.run("runs", "start", str(file), "--drive", "--json").json()["id"]
    filled.run("answer", run_id, "red", "--drive")
    done = filled.run("reject", run_id, "--reason", "Not red.", "--drive", "--json").json()
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
