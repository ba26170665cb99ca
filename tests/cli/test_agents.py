"""`steward agents`: files in, files out, a try in the terminal."""

from pathlib import Path

from tests.cli.terminal import Terminal

HELPER = """format: 1
name: helper
title: Helper
description: Helps.
instructions: Help.
tools: [list_datasets]
"""


def test_an_agent_from_a_file_and_back(filled: Terminal, tmp_path: Path) -> None:
    source, target = tmp_path / "helper.yaml", tmp_path / "out.yaml"
    source.write_text(HELPER)
    assert filled.run("agents", "apply", str(source)).out == "helper: version 1\n"
    again = filled.run("agents", "apply", str(source)).out
    assert again == "helper: version 1, nothing to change\n"
    filled.run("agents", "export", "helper", str(target))
    assert filled.run("agents", "apply", str(target)).out == again
    source.write_text(HELPER.replace("Help.", "Help well."))
    assert filled.run("agents", "apply", str(source)).out == "helper: version 2\n"
    assert "Help." in filled.run("agents", "show", "helper@1").out
    listed = {each["name"]: each for each in filled.run("agents", "list", "--json").json()}
    assert (listed["helper"]["version"], listed["router"]["origin"]) == (2, "library")


def test_mistakes_and_a_missing_model_are_told(filled: Terminal, tmp_path: Path) -> None:
    source = tmp_path / "helper.yaml"
    source.write_text(HELPER.replace("list_datasets", "lost"))
    said = filled.run("agents", "apply", str(source), code=1).err
    assert "/tools/0: there is no tool 'lost'" in said
    failed = filled.run("agents", "try", "summariser", "Sum it up.", "--json", code=1).json()
    assert failed["error"]["code"] == "no-model"


def test_an_agent_that_remembers_nothing_says_so(filled: Terminal) -> None:
    assert filled.run("agents", "notes", "summariser").out == "It remembers nothing yet.\n"
    assert filled.run("agents", "notes", "summariser", "--json").json() == []
    assert "say --all" in filled.run("agents", "forget", "summariser", code=1).err
    gone = filled.run("agents", "forget", "summariser", "--all", "--json", code=1).json()
    assert gone["error"]["code"] == "not-found"
