"""`steward runs`, `steward policy` and `steward test`, as processes."""

from pathlib import Path
from typing import Any

from tests.cli.terminal import Terminal

FLOW = """
format: 1
id: one_text
inputs:
  type: object
  properties: {text: {type: string}}
nodes:
  - {id: write, type: tool, tool: edit_file, arguments: {path: one.txt, old: "", new: "${inputs.text}"}}
  - {id: end, type: output, needs: [write], value: {said: "${inputs.text}"}}
"""


def _started(filled: Terminal) -> dict[str, Any]:
    file = filled.folder / "flow.yaml"
    file.write_text(FLOW)
    run: dict[str, Any] = filled.run(
        *("runs", "start", str(file), "--inputs", '{"text": "hello"}', "--drive", "--json")
    ).json()
    return run


def test_a_run_is_started_told_replayed_and_taken_back(filled: Terminal) -> None:
    run = _started(filled)
    assert run["status"] == "done"
    run_id = run["id"]
    assert run_id in filled.run("runs", "ls").out
    assert filled.run("runs", "ls", "--status", "failed").out.startswith("No runs yet.")
    told = filled.run("runs", "show", run_id).out
    assert told.startswith(f"one_text ({run_id}): done")
    assert "edit_file" in told
    assert filled.run("runs", "replay", run_id).out.startswith("No difference in ")
    assert filled.run("verify").out.startswith("1 runs: 1 verified.\n")
    assert filled.run("verify", run_id).out == "1 runs: 1 verified.\n"
    assert filled.run("runs", "dossier", run_id).out.startswith("# ")
    undone = filled.run("runs", "undo", run_id).out
    assert undone.startswith("Undone: ")
    assert "nothing left to take back" in filled.run("runs", "undo", run_id, code=1).err
    assert filled.run("runs", "undo", run_id, "--redo").out == undone.replace("Undone", "Redone")
    assert "nothing left to put back" in filled.run("runs", "undo", run_id, "--redo", code=1).err


def test_a_run_is_forked_compared_and_ended(filled: Terminal) -> None:
    run_id = _started(filled)["id"]
    fork = filled.run(
        *("runs", "fork", run_id, "--at", "write", "--set", "/inputs/text=bye", "--json")
    ).json()
    assert "write" in filled.run("runs", "diff", run_id, fork["id"]).out
    assert filled.run("runs", "pause", fork["id"]).out.endswith(" pauses before its next step.\n")
    assert filled.run("runs", "resume", fork["id"]).out == f"{fork['id']} goes on.\n"
    assert filled.run("runs", "cancel", fork["id"]).out.endswith(" ends before its next step.\n")
    said = filled.run("runs", "fork", run_id, "--set", "text", code=1).err
    assert "'text' is not a change; write /inputs/name=value." in said


def test_a_run_leaves_as_a_capsule_and_as_a_test(filled: Terminal) -> None:
    run_id = _started(filled)["id"]
    capsule = filled.folder / "run.zip"
    assert filled.run("runs", "export", run_id, str(capsule)).out.startswith(f"Wrote {capsule} (")
    assert filled.run("runs", "import", str(capsule)).out.endswith("  one_text\n")
    filled.run("test", "record", run_id)
    assert "passed" in filled.run("test").out


def test_a_mistake_is_told_before_anything_is_opened(terminal: Terminal) -> None:
    file = terminal.folder / "flow.yaml"
    file.write_text(FLOW)
    for inputs, said in (("{", "--inputs is not JSON"), ("[]", "--inputs is one JSON object")):
        err = terminal.run("runs", "start", str(file), "--inputs", inputs, code=1).err
        assert said in err
    assert not terminal.home.exists()


def test_a_person_and_a_project_are_chosen_for_every_command(filled: Terminal) -> None:
    said = filled.run("runs", "ls", "--user", "nobody@example.org", code=1).err
    assert "There is no user nobody@example.org" in said
    told = filled.run("runs", "ls", "--project", "elsewhere", "--json", code=1).json()
    assert told["error"]["message"].startswith("Say which project with --project.")


def test_a_policy_is_shown_tried_and_saved(filled: Terminal, tmp_path: Path) -> None:
    assert filled.run("policy", "check", "send_email").out.startswith("ask")
    policy = tmp_path / "policy.cedar"
    policy.write_text('@id("no-mail") forbid(principal, action, resource);')
    assert filled.run("policy", "simulate", str(policy)).out.startswith("No past call ")
    saved = filled.run("policy", "save", str(policy), "--message", "No mail", "--json").json()
    assert filled.run("policy", "show").out.strip() == policy.read_text()
    assert filled.run("policy", "show", "--json").json()["revision"] == saved["revision"]


def test_runs_are_verified_away_from_home_with_the_public_key(filled: Terminal) -> None:
    run_id = _started(filled)["id"]
    key, capsule, kept = (
        str(filled.folder / name) for name in ("key.pem", "run.zip", "all.tar.gz")
    )
    Path(key).write_text(filled.run("verify", "--show-key").out)
    filled.run("runs", "export", run_id, capsule)
    filled.run("backup", "--without-keys", kept)
    assert filled.run("verify", "--file", capsule, "--key", key).out == "1 runs: 1 verified.\n"
    said = filled.run("verify", "--file", kept, "--key", key).out
    assert said.startswith("1 runs: 1 verified.\n")
    assert "1 signed heads, the last one is 1:" in said
    assert "Say with --key" in filled.run("verify", "--file", kept, code=1).err
    assert "not a public key" in filled.run("verify", "--file", kept, "--key", kept, code=1).err


def test_a_log_that_lost_a_kept_head_fails_the_check(filled: Terminal) -> None:
    _started(filled)
    document = filled.run("verify", "--json").json()
    kept = f"{document['logs'][0]['lines']}:{document['logs'][0]['hash']}"
    assert filled.run("verify", "--kept", kept, "--json").json()["logs"][0]["kept"] == [kept]
    other = "1:" + "0" * 64
    said = filled.run("verify", "--kept", kept, "--kept", other, code=1).out
    assert f"No log contains the signed head {other}." in said
    assert kept not in said.splitlines()[0]
    assert "is not a signed head" in filled.run("verify", "--kept", "1", code=1).err


def test_figures_are_listed_and_counted_again(filled: Terminal) -> None:
    _started(filled)
    [line] = filled.run("observe", "costs", "--by", "tool", "--json").json()
    assert (line["tool"], line["count"]) == ("edit_file", 1)
    assert filled.run("observe", "rebuild").out == "Counted 1 runs again.\n"
    assert "--by is one of" in filled.run("observe", "costs", "--by", "colour", code=1).err
