"""The format: what is refused, at which file and line, and that the reference validator agrees."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skills_ref.validator import validate  # type: ignore[import-untyped]

from steward.agents.skills import check, skill_text
from steward.agents.skills.archives import pack, read_folder
from steward.agents.skills.builtin import builtin_skills
from steward.agents.skills.model import refused
from steward.agents.skills.prompts import tools_for
from steward.broker.tool import Risk
from steward.core.errors import Invalid
from steward.tools import load_tools
from tests.agents.skills.folders import SKILL, greeting, plain


def said(files: dict[str, bytes], folder: str | None = None) -> list[str]:
    return [str(fault) for fault in check(files, folder).faults]


def one(text: str, folder: str | None = None) -> list[str]:
    return said({"SKILL.md": text.encode()}, folder)


def test_a_skill_is_read_whole() -> None:
    found = check(greeting(), "greeting")
    assert found.faults == found.warnings == ()
    assert found.document is not None
    assert found.document.licence == "MIT"
    assert found.document.metadata["author"] == "the house"
    assert found.document.allowed_tools is None
    assert found.document.body.startswith("# Greeting")
    (script,) = found.document.scripts
    assert script.tool("greeting") == "skill.greeting.greet"
    assert script.risk is Risk.compute
    assert script.arguments["properties"]["times"] == {"type": "integer", "default": 1}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("# No head\n", "SKILL.md:1: the file must start with a line ---"),
        ("\ufeff---\nname: a\n---\n", "SKILL.md:1: the file starts with a byte order mark"),
        ("---\nname: a\n", "SKILL.md:3: the fields are not closed by a line ---"),
        ("---\n- a\n---\n", "SKILL.md:2: the fields must be lines of `name: value`"),
        ("---\nname: a\ndescription: b\nname: c\n---\n", "SKILL.md:4: 'name' is there twice"),
        ("---\nname: a\ndescription: &x b\n---\n", "SKILL.md:3: anchors (&, *)"),
        ("---\nname: a\ndescription: !!str b\n---\n", "SKILL.md:3: tags (!)"),
        ("---\nname: a\ndescription: b\nmetadata: {a: b}\n---\n", "SKILL.md:4: lists and mappings"),
        ("---\nname: a\n\tdescription: b\n---\n", "SKILL.md:3: found a tab character"),
        (
            "---\nname: a\ndescription: b\nx: \x07\n---\n",
            "SKILL.md:4: this character is not allowed",
        ),
        ("---\nname: a\n---\n", "SKILL.md:1: the field 'description' is missing"),
        ("---\nname: a\ndescription: ' '\n---\n", "SKILL.md:3: description is empty"),
        (plain("Plain"), "SKILL.md:2: a name has small letters"),
        (plain("a--b"), "SKILL.md:2: a name has small letters"),
        (plain("-a"), "SKILL.md:2: a name has small letters"),
        (plain("a" * 65), "SKILL.md:2: name has 65 characters; at most 64 fit"),
        (plain(description="x" * 1025), "SKILL.md:3: description has 1,025 characters"),
        (
            plain(more=f"compatibility: {'x' * 501}\n"),
            "SKILL.md:4: compatibility has 501 characters",
        ),
        (plain(more="version: 3\n"), "SKILL.md:4: there is no field 'version'"),
        (plain(more="metadata: x\n"), "SKILL.md:4: metadata must be lines"),
        (plain(more="description2:\n"), "SKILL.md:4: there is no field 'description2'"),
    ],
)
def test_a_fault_names_file_and_line(text: str, fault: str) -> None:
    assert any(each.startswith(fault) for each in one(text)), one(text)


def test_the_folder_has_the_skill_s_name() -> None:
    assert one(plain("one"), "two") == [
        "SKILL.md:2: the name is 'one' and the folder 'two'; make them equal"
    ]


def test_text_that_is_no_text() -> None:
    assert said({"SKILL.md": b"---\nname: a\n\xff\n---\n"})[0].startswith("SKILL.md:3:")
    assert "no SKILL.md" in said({"README.md": b"x"})[0]
    assert "rename skill.md" in said({"skill.md": b"x"})[0]


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("risk: compute", "risk: grave", "SKILL.md:9: greet.py: the risk is one of read"),
        ("greet.py:", "Greet.sh:", "SKILL.md:8: 'Greet.sh' is not the name of a script"),
        ("greet.py:", "other.py:", "SKILL.md:8: scripts/other.py is declared and not there"),
        ("description: Greets by name.", "descr: x", "SKILL.md:10: greet.py: there is no field"),
        ("type: object\n", "type: thing\n", "SKILL.md:11: greet.py: not a JSON Schema"),
        ("type: object\n", "type: string\n", "SKILL.md:11: greet.py: the arguments must be of"),
        ("name: {type: string}", "name: {type: string", "SKILL.md:16: did not find expected"),
    ],
)
def test_declarations_of_scripts_are_checked(before: str, after: str, fault: str) -> None:
    faults = said(greeting(SKILL_dot_md=SKILL.replace(before, after, 1)))
    assert any(each.startswith(fault) for each in faults), faults


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("def main(arguments, con):\n    return (\n", "scripts/greet.py:2: This is not Python"),
        ("x = 1\n", "scripts/greet.py:1: a script defines one function main"),
        ("\n\ndef main():\n    return 1\n", "scripts/greet.py:3: a script defines one function"),
        ("import os\n\n\ndef main(a, con):\n    return 1\n", "scripts/greet.py:1:"),
        ("def main(a, con):\n    return eval('1')\n", "scripts/greet.py:2: eval is not available"),
    ],
)
def test_scripts_that_the_sandbox_would_refuse_are_told_before(code: str, fault: str) -> None:
    faults = said(greeting(scripts__greet_dot_py=code))
    assert any(each.startswith(fault) for each in faults), faults


def test_declarations_may_be_nested_fields_too() -> None:
    nested = plain(
        "greeting",
        more="metadata:\n  steward.scripts:\n    greet.py:\n      description: Greets.\n"
        "      risk: read\n      arguments:\n        type: object\n        properties:\n"
        "          name:\n            type: string\n          times:\n            minimum: 2\n",
    )
    found = check(greeting(SKILL_dot_md=nested), "greeting")
    assert found.document is not None, found.faults
    (script,) = found.document.scripts
    assert script.risk is Risk.read
    assert script.arguments["properties"]["times"] == {"minimum": 2}


def test_what_is_odd_is_a_warning() -> None:
    text = plain(
        "greeting",
        more="allowed-tools: preview no_such Bash(git:*)\n",
        body="See `references/no.md`.\n" + "x\n" * 501,
    )
    found = check(greeting(SKILL_dot_md=text), "greeting", ["preview"])
    assert found.faults == ()
    assert [str(each) for each in found.warnings] == [
        "SKILL.md:6: 502 lines of instructions; move what is rarely needed to references/",
        "SKILL.md:6: references/no.md is mentioned and not there",
        "scripts/greet.py: not declared in metadata steward.scripts, so it can be read and not called",
        "SKILL.md:4: there is no tool 'no_such' here",
        "SKILL.md:4: there is no tool 'Bash(git:*)' here",
    ]


def test_an_error_carries_every_fault_with_its_file() -> None:
    problem = refused(check({"SKILL.md": plain("A", more="x: y\n").encode()}).faults)
    assert isinstance(problem, Invalid)
    assert [(each.pointer, each.message[:6]) for each in problem.problems] == [
        ("/SKILL.md", "line 4"),
        ("/SKILL.md", "line 2"),
    ]


# The reference validator as a peer

GOOD = {
    "plain": plain(),
    "quoted": plain("quoted", description='"a: b # c"'),
    "folded": "---\nname: folded\ndescription: >\n  two\n  lines\n---\n",
    "all-fields": plain(
        "all-fields",
        more="license: MIT\ncompatibility: Python 3\nallowed-tools: a b\nmetadata:\n  a: b\n  c: '1'\n",
    ),
    "empty-body": plain("empty-body", body=""),
    "digits-123": plain("digits-123"),
    "crlf": plain("crlf").replace("\n", "\r\n"),
    "long-name-" + "a" * 54: plain("long-name-" + "a" * 54),
    "full": plain("full", description="x" * 1024),
    "rule": plain("rule", body="a\n\n---\n\nb"),
}
BAD = {
    "no-head": "hello",
    "open": "---\nname: open\ndescription: x\n",
    "no-name": "---\ndescription: x\n---\n",
    "no-description": "---\nname: no-description\n---\n",
    "empty-description": plain("empty-description", description=""),
    "Upper": plain("Upper"),
    "two--hyphens": plain("two--hyphens"),
    "under_score": plain("under_score"),
    "dot.name": plain("dot.name"),
    "space name": plain("space name"),
    "other": plain("another"),
    "unknown": plain("unknown", more="version: 1\n"),
    "long": plain("long", description="x" * 1025),
    "compat": plain("compat", more=f"compatibility: {'x' * 501}\n"),
    "n" * 65: plain("n" * 65),
    "flow": plain("flow", more="metadata: {a: b}\n"),
    "twice": plain("twice", more="name: twice\n"),
    "anchor": plain("anchor", more="license: &a x\n"),
    "broken": plain("broken", more="license: 'x\n"),
    "list": "---\n- a\n---\n",
    "bom": "\ufeff" + plain("bom"),
}
STRICTER = {
    # A name of our tools is plain ASCII, and metadata is a mapping by the specification.
    "größe": plain("größe"),
    "meta": plain("meta", more="metadata: text\n"),
}


def verdicts(name: str, text: str, folder: Path) -> tuple[bool, bool]:
    """Ours and the peer's: whether the folder is a skill."""
    home = folder / name
    home.mkdir()
    # Bytes, so that line ends and marks stay as they are.
    (home / "SKILL.md").write_bytes(text.encode())
    ours = not check({"SKILL.md": text.encode()}, name).faults
    return ours, not validate(home)


@pytest.mark.parametrize("name", GOOD)
def test_what_the_peer_takes_we_take(name: str, tmp_path: Path) -> None:
    assert verdicts(name, GOOD[name], tmp_path) == (True, True)


@pytest.mark.parametrize("name", BAD)
def test_what_the_peer_refuses_we_refuse(name: str, tmp_path: Path) -> None:
    assert verdicts(name, BAD[name], tmp_path) == (False, False)


@pytest.mark.parametrize("name", STRICTER)
def test_where_we_are_stricter_than_the_peer(name: str, tmp_path: Path) -> None:
    assert verdicts(name, STRICTER[name], tmp_path) == (False, True)


_WORDS = st.text("ab-1 A_é", max_size=12)
_FIELDS = st.sampled_from(
    ["name", "description", "license", "compatibility", "version", "allowed-tools"]
)


@given(
    fields=st.lists(st.tuples(_FIELDS, _WORDS), max_size=5),
    name=st.sampled_from(["a", "a-b", "ab1"]),
)
def test_no_skill_that_we_take_is_refused_by_the_peer(
    fields: list[tuple[str, str]], name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    head = "".join(f"{key}: {value}\n" for key, value in fields)
    ours, peers = verdicts(name, f"---\n{head}---\nbody\n", tmp_path_factory.mktemp("peer"))
    assert peers or not ours


# The built-in ones


def folders() -> list[Path]:
    root = Path(check.__code__.co_filename).parents[2] / "skills"
    return sorted(path for path in root.iterdir() if (path / "SKILL.md").exists())


@pytest.mark.parametrize("folder", folders(), ids=lambda path: path.name)
def test_a_built_in_skill_is_valid_for_us_and_for_the_peer(folder: Path) -> None:
    assert validate(folder) == []
    ((name, files),) = read_folder(folder)
    tools = [*(tool for tool, _ in load_tools()), "skill.read"]
    found = check(files, name, tools)
    assert (found.faults, found.warnings) == ((), ())
    assert found.document is not None
    assert any(path.startswith("references/") for path in files)
    assert found.document.allowed_tools
    assert pack(files) == pack(builtin_skills()[folder.name].files)


def test_the_built_in_skills_are_these() -> None:
    assert list(builtin_skills()) == [
        "chart-choice",
        "data-quality-profiling",
        "entity-resolution",
        "pii-redaction",
        "report-writing",
        "schema-normalisation",
        "variance-analysis",
    ]


def test_a_skill_narrows_tools_and_never_widens() -> None:
    skill = builtin_skills()["variance-analysis"]
    own = "skill.variance-analysis.decompose"
    given_tools = [
        "chart",
        "send_email",
        own,
        "skill.pii-redaction.singling_out",
        "redact",
        "chart",
    ]
    assert tools_for(skill, given_tools) == ("chart", own)
    assert tools_for(skill, ["send_email"]) == ()
    assert own in skill_text(skill)
    assert "references/methods.md" in skill_text(skill)
