"""Suites as text: what is wrong is told by place and line; recorded runs are suites too."""

import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from steward.core.documents import read_yaml
from steward.core.errors import Invalid, NotFound
from steward.evaluation import load_suites, shipped, suite_schema
from steward.evaluation.suite import read_suite

SUITE = """format: 1
name: mine
cases:
  - id: one
    kind: plan
    say: Hello
"""


def test_everything_wrong_is_told_with_its_line() -> None:
    text = (
        SUITE
        + "    tool: [clean]\n  - {id: one, kind: policy, tool: x, verdict: maybe}\n  - {id: c, kind: riddle}\n"
    )
    with pytest.raises(Invalid) as refused:
        read_suite(text)
    told = {each.pointer: each.message for each in refused.value.problems}
    assert told["/cases/0/tool"] == "is not known here (line 7)"
    assert "line 8" in told["/cases/1/verdict"]
    assert told["/cases/2"].startswith("needs a kind, one of answer, ")
    assert "line 9" in told["/cases/2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "A suite is YAML"),
        ("name: a\ncases: []", "1 to 1,000 cases"),
        (SUITE + SUITE.partition("cases:\n")[2], "'one' is there twice (line 7)"),
        (
            SUITE + "    script: {recorded: a.zip, planner: [b]}\n",
            "either recorded or written here",
        ),
        (SUITE.replace("kind: plan", "kind: undo").replace("    say: Hello\n", ""), "calls, or a"),
        (SUITE.replace("say: Hello", "say: &a Hello"), "anchors"),
    ],
)
def test_what_is_no_suite_is_refused(text: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_suite(text)
    assert said in str([refused.value.message, refused.value.problems])


def test_suites_are_found_by_name_file_and_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(SUITE)
    (tmp_path / "Run 7.steward-test.zip").write_bytes(b"not looked at yet")
    found = load_suites([str(tmp_path), "defence"])
    assert [suite.name for suite in found] == ["run-7", "mine", "defence"]
    assert found[0].cases[0].kind == "replay"
    with pytest.raises(NotFound, match=r"none of answers, conversations, defence"):
        load_suites(["nothing"])
    with pytest.raises(Invalid, match="Two suites are called mine"):
        load_suites([str(tmp_path / "mine.yaml"), str(tmp_path)])
    (tmp_path / "broken.yaml").write_text("name: 3")
    with pytest.raises(Invalid, match=r"broken\.yaml"):
        load_suites([str(tmp_path / "broken.yaml")])


def test_the_schema_fits_the_suites() -> None:
    schema = suite_schema()
    Draft202012Validator.check_schema(schema)
    folder = Path(load_suites.__code__.co_filename).parent / "suites"
    for name in shipped():
        value = read_yaml((folder / f"{name}.yaml").read_text())
        assert list(Draft202012Validator(schema).iter_errors(value)) == []
    assert list(Draft202012Validator(schema).iter_errors({"name": "a", "cases": [{"kind": "x"}]}))


def test_the_suites_of_the_guide_are_suites() -> None:
    guide = Path(__file__).parents[2] / "docs/guides/evaluation.md"
    suite, script = re.findall(r"```yaml\n(.*?)```", guide.read_text(), re.DOTALL)
    assert [case.kind for case in read_suite(suite).cases] == ["answer"]
    assert read_suite(suite + script).cases[0].script is not None
