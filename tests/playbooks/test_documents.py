"""Documents: one text for one playbook, and nothing hostile taken in."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.core.errors import Invalid
from steward.playbooks import Playbook, as_json, as_yaml, playbook_schema, read
from steward.playbooks.compiling import compiled
from steward.playbooks.documents import decoded
from tests.playbooks.conftest import ASKING, Room
from tests.playbooks.hostile import GOOD, hostile

FULL = """\
format: 1
id: everything
name: Everything
folder: Finance/Monthly
goal: |
  All that a playbook can say.
  On two lines.
inputs:
  type: object
  properties:
    zebra: {type: string}
    apple: {type: integer, default: 3}
triggers:
  - type: manual
  - {type: cron, name: nightly, cron: 0 2 * * *, time_zone: Europe/Berlin, missed: skip}
agents: [analyst]
tools: [profile, report]
skills: [variance-analysis]
connections: [warehouse]
budget: {usd: 2.50, tokens: 100000, seconds: 60, on_breach: abort}
approval: {preset: supervised}
artifacts:
  - {path: reports/*.html, max_bytes: 1000}
  - {path: exports/x.xlsx, required: false, description: Only in months with data.}
steps:
  - {id: look, tool: profile, arguments: {dataset: "${inputs.zebra}"}}
  - {question: "Good enough?", form: {type: boolean}}
output: {fine: "${nodes.step_2.output}"}
"""


def test_there_are_two_hundred_hostile_documents() -> None:
    names = [name for name, _ in hostile()]
    assert len(names) >= 200
    assert len(set(names)) == len(names)


def test_every_hostile_document_is_refused_with_a_line(room: Room) -> None:
    library, access = room.playbooks.library, room.editor.access
    library.checked(access, GOOD)
    passed, without = [], []
    for name, content in hostile():
        try:
            text = content if isinstance(content, str) else decoded(content)
            library.checked(access, text)
        except Invalid as problem:
            said = " ".join([problem.message, *(each.message for each in problem.problems)])
            if not re.search(r"\bline \d+", said):
                without.append((name, said[:200]))
        else:
            passed.append(name)
    assert passed == []
    assert without == []


def test_the_text_of_a_playbook_is_always_the_same() -> None:
    playbook, _ = read(FULL)
    text = as_yaml(playbook)
    again, _ = read(text)
    assert again == playbook
    assert as_yaml(again) == text
    assert list(as_json(again)["inputs"]["properties"]) == ["zebra", "apple"]
    assert "usd: 2.5" in text
    # The order of the fields is ours, not the writer's.
    turned = "\n".join(reversed(GOOD.strip().split("\nbudget")))
    assert as_yaml(read("budget" + turned)[0]) == as_yaml(read(GOOD)[0])


_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(-1e300, 1e300) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(_VALUES)
def test_whatever_stands_in_arguments_survives_writing_and_reading(value: object) -> None:
    document = {
        **read(GOOD)[1].value,
        "steps": [{"id": "a", "tool": "x", "arguments": {"v": value}}],
    }
    playbook = Playbook.model_validate(document)
    again, _ = read(as_yaml(playbook))
    assert again.steps == playbook.steps
    assert as_yaml(again) == as_yaml(playbook)


def test_steps_become_a_flow() -> None:
    playbook, _ = read(FULL)
    flow = compiled(playbook)
    assert [(node.id, node.type, node.needs) for node in flow.nodes] == [
        ("look", "tool", []),
        ("step_2", "question", ["look"]),
        ("result", "output", ["step_2"]),
    ]
    assert [each.path for each in flow.artifacts] == ["reports/*.html", "exports/x.xlsx"]


def test_a_graph_says_where_it_is_wrong(room: Room) -> None:
    text = """\
format: 1
id: drawn
budget: {seconds: 60}
graph:
  nodes:
    - {id: one, type: question, question: Really}
    - {id: two, type: output, needs: [one], value: "${nodes.three.output}"}
"""
    with pytest.raises(Invalid) as refused:
        room.playbooks.library.checked(room.editor.access, text)
    problem = refused.value.problems[0]
    assert problem.pointer == "/graph/nodes/1/value"
    assert problem.message.endswith("(line 7)")
    fine = text.replace("three", "one")
    assert compiled(room.playbooks.library.checked(room.editor.access, fine)[0]).id == "drawn"


def test_names_of_other_rooms_are_checked_where_they_are_known(room: Room) -> None:
    text = ASKING + "skills: [entity-resolution]\n"
    room.playbooks.library.checked(room.editor.access, text)
    text = text.replace("entity-resolution", "alchemy")
    with pytest.raises(Invalid, match="no skill 'alchemy'"):
        room.playbooks.library.checked(room.editor.access, text)


def test_the_schema_describes_every_field() -> None:
    schema = playbook_schema()
    assert set(as_json(read(FULL)[0])) <= set(schema["properties"])
    assert "budget" in schema["required"]


def test_a_step_called_result_says_what_the_steps_give() -> None:
    text = """\
format: 1
id: look
budget: {usd: 1}
steps:
  - {id: first, type: tool, tool: list_datasets, arguments: {}}
  - {id: second, type: tool, tool: list_datasets, arguments: {}}
  - {id: result, type: output, needs: [first], value: "${nodes.first.output}"}
"""
    flow = compiled(read(text)[0])
    assert [(node.id, node.needs) for node in flow.nodes] == [
        ("first", []),
        ("second", ["first"]),
        ("result", ["first"]),
    ]
    with pytest.raises(Invalid) as raised:
        compiled(read(text + "output: 1\n")[0])
    assert raised.value.problems[0].pointer == "/output"
