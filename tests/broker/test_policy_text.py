"""Faults of policy texts are found before they are saved, with line and column."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.broker import _cedar
from steward.broker.policy_text import parse, remarks
from steward.broker.presets import BUILT_IN, PRESETS, faults, preset, refuse_faults, schema_text
from steward.broker.tool import Risk
from steward.core.errors import Invalid, TooLarge

TOOLS = {"send_email": Risk.external_send, "preview": Risk.read}
GOOD = '@id("good")\npermit(principal, action, resource);\n'


@pytest.mark.parametrize("text", [*PRESETS.values(), BUILT_IN], ids=[*PRESETS, "built-in"])
def test_what_steward_brings_is_valid(text: str) -> None:
    assert faults(text, TOOLS) == []
    assert remarks(text) == []


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('@id("b")\npermit(principal, action resource);', 2, 26, "unexpected token `resource`"),
        ('@id("b") permit(principal, action, resource) when { 1 + };', 1, 58, "unexpected token"),
        ('@id("b") permit(principal, action, resource)', 1, 45, "not finished"),
        ('@id("b") permit(principal, action, resource);;', 1, 46, "unexpected token `;`"),
        ('@id("b") permit(princ, action, resource);', 1, 17, "princ"),
        ('@id("b")\npermit(principal, action, resource)\nwhen { context.risk.up("x") };', 3, 21, "`up`"),
        ('@id("b") permit(principal, action, resource) when { context.risk == "x };', 1, 69, "invalid token"),
        ('@id("b") permit(principal, action == Action::"send_mail", resource);', 1, 46, "send_mail"),
        ('@id("b") permit(principal == Usr::"a", action, resource);', 1, 30, "Usr"),
        ('@id("b") permit(principal, action, resource) when { context.amount };', 1, 61, "amount"),
        ('@id("b") permit(principal, action, resource) when { context.amounts.rows > 3 };', 1, 69, "optional"),
        ('permit(principal, action, resource);', 1, 1, "needs a name"),
        ('@id("good") permit(principal, action, resource);', 1, 5, 'called "good"'),
        ('@id("b") @outcme("ask") permit(principal, action, resource);', 1, 11, "`@outcme`"),
        ('@id("b") @outcome("maybe") permit(principal, action, resource);', 1, 11, '"maybe"'),
        ('@id("b") @outcome permit(principal, action, resource);', 1, 11, "unknown @outcome"),
        ('@id("b") @outcome("ask") forbid(principal, action, resource);', 1, 11, "forbid rule denies"),
        ('@id("b") @approvers("ops") permit(principal, action, resource);', 1, 11, "@approvers needs"),
        ('@id("b") permit(principal == ?principal, action, resource);', 1, 1, "templates"),
    ],
)  # fmt: skip
def test_faults_have_a_place(text: str, line: int, column: int, message: str) -> None:
    """Each behind a rule that is fine and a comment with a semicolon, which must not shift anything."""
    before = GOOD + "// a comment; with one\n"
    found = faults(before + text, TOOLS)
    assert (found[0].line - 3, found[0].column) == (line, column)
    assert message in found[0].message
    with pytest.raises(Invalid, match=rf"line {line + 3}, column {column}") as refused:
        refuse_faults(before + text, TOOLS)
    assert refused.value.problems


def test_the_first_wrong_token_is_the_place() -> None:
    tokens = '@id ( "b" ) permit ( principal , action , resource ) when { context . risk == "x" } ;'
    words = tokens.split(" ")
    for number in range(len(words)):
        before = " ".join(words[:number])
        text = " ".join([*words[:number], "~", *words[number:]])
        (found,) = faults(text, TOOLS)
        assert (found.line, found.column) == (1, len(before) + (2 if before else 1))


def test_one_mistake_is_told_once() -> None:
    text = '@id("b") permit(principal, action, resource) when { context.amount };'
    assert len(faults(text, TOOLS)) == 1


def test_a_text_without_permits_gets_a_remark() -> None:
    (remark,) = remarks('@id("b") forbid(principal, action, resource);')
    assert "denies every call" in remark


def test_a_text_has_bounds() -> None:
    with pytest.raises(TooLarge):
        parse(" " * 200_000)


def test_tools_are_known_by_name() -> None:
    assert 'action "send_email" in ["external_send"]' in schema_text(TOOLS)
    with pytest.raises(Invalid):
        schema_text({"admin": Risk.read})
    with pytest.raises(Invalid, match="supervised"):
        preset("superviced")


@given(st.text(max_size=60), st.integers(0, len(PRESETS["supervised"])))
def test_any_text_gives_faults_or_rules(noise: str, at: int) -> None:
    text = PRESETS["supervised"]
    broken = text[:at] + noise + text[at:]
    lines = broken.split("\n")
    for fault in faults(broken, TOOLS):
        assert 1 <= fault.line <= len(lines)
        assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1


def _when(condition: str) -> str:
    return f'@id("a") permit (principal, action, resource) when {{ {condition} }};'


TOO_MUCH = {
    "parentheses": "(" * 700 + "true" + ")" * 700,
    "lists": "[" * 5_000 + "]" * 5_000 + " == []",
    "conditions": "if true then true else " * 4_000 + "true",
    "links": " && ".join(["true"] * 12_000),
    "members": "context" + ".a" * 20_000,
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_a_text_that_would_end_the_process_is_a_fault(name: str) -> None:
    """The engine's parser recurses: each of these ended a server that read it in its own process."""
    text = _when(TOO_MUCH[name])
    (fault,) = faults(text)
    assert fault.line == 1
    assert "nested more than 30 deep" in fault.message or "too complex" in fault.message
    with pytest.raises(Invalid, match=r"nested more than 30 deep|too complex"):
        parse(text)


def test_after_a_text_that_ended_the_engine_others_are_read() -> None:
    assert faults(_when(TOO_MUCH["links"]))
    assert faults(_when("true")) == []
    assert faults(_when("context.unknown")) != []


def test_a_text_is_stopped_for_the_processor_time_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _cedar._PROGRAM.read_text(encoding="utf-8")
    endless = program.replace("_PROCESSOR_SECONDS = 5", "_PROCESSOR_SECONDS = 0")
    endless = endless.replace("    try:\n", "    while True:\n        pass\n    try:\n", 1)
    path = tmp_path / "endless.py"
    path.write_text(endless, encoding="utf-8")
    monkeypatch.setattr(_cedar, "_PROGRAM", path)
    engine = _cedar.Engine()
    with pytest.raises(_cedar.Overwhelmed):
        engine.read(_when("true"))


def test_brackets_in_strings_and_comments_do_not_count() -> None:
    text = _when('context.risk == "' + "(" * 100 + '"') + "\n// " + "[" * 100
    assert faults(text) == []
