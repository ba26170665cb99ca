"""The questions of the benchmark are well formed, their split is fixed, and their answers can be computed."""

import asyncio
import hashlib
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from benchmarks.question_sets import Conversation, QuestionSet, read_sets
from benchmarks.question_sets.comparing import same_rows, same_value
from benchmarks.question_sets.recording import Recorder, Replayer, in_turns, recordings
from benchmarks.question_sets.studio import Said
from benchmarks.question_sets.tables import SOURCES, open_tables, write_file
from steward.definitions import Definitions
from steward.models import Delta, Failed, FixedModels, Lineup, Request, Role, User
from steward.testing import ScriptedModel
from steward.testing.models import fails

SETS = read_sets()
CONVERSATIONS = [each for one in SETS for each in one.conversations]
TURNS = [turn for each in CONVERSATIONS for turn in each.turns]
CHARTS = {"bar", "line", "pie", "scatter", "histogram", "box"}


@pytest.mark.parametrize(
    ("number", "questions", "follow_ups", "without_an_answer"),
    [
        (1, 240, 60, 31),
        (2, 157, 20, 30),
        (3, 98, 12, 8),
        (4, 95, 11, 9),
        (6, 136, 12, 15),
        (7, 95, 8, 14),
    ],
)
def test_the_rounds_have_follow_ups_and_questions_without_an_answer(
    number: int, questions: int, follow_ups: int, without_an_answer: int
) -> None:
    conversations = _of_round(number)
    turns = [turn for each in conversations for turn in each.turns]
    assert len(turns) == questions
    assert len(turns) - len(conversations) == follow_ups
    assert sum(turn.back is not None for turn in turns) == without_an_answer


def _of_round(number: int) -> list[Conversation]:
    return [each for one in SETS if one.round == number for each in one.conversations]


def test_identifiers_are_unique() -> None:
    assert len({each.id for each in CONVERSATIONS}) == len(CONVERSATIONS)


def test_every_turn_can_be_judged() -> None:
    for turn in TURNS:
        assert turn.answers or turn.back or turn.chart, turn.ask
        assert turn.chart is None or turn.chart in CHARTS, turn.ask


@pytest.mark.parametrize(
    ("number", "questions", "names"),
    [
        (1, 124, "d97614ce99ca91a5"),
        (2, 83, "9eb14a71a778512c"),
        (3, 98, "d789bf571a44ada2"),
        (4, 0, "e3b0c44298fc1c14"),
        (6, 71, "371c8125132d5b67"),
        (7, 49, "7e889edf63c51607"),
    ],
)
def test_the_questions_that_are_held_out_stay_so(number: int, questions: int, names: str) -> None:
    held_out = [each for each in _of_round(number) if each.held_out]
    assert sum(len(each.turns) for each in held_out) == questions
    joined = " ".join(sorted(each.id for each in held_out))
    # A new or renamed conversation may move others: say so in the figures when this changes.
    assert hashlib.sha256(joined.encode()).hexdigest().startswith(names)


def test_definitions_are_as_a_project_would_keep_them() -> None:
    for one in SETS:
        definitions = Definitions.model_validate(one.definitions)
        assert set(definitions.tables) <= set(one.tables)


def test_tables_of_every_set_have_a_source() -> None:
    for one in SETS:
        assert set(one.tables) <= set(SOURCES)


@pytest.fixture
def chinook() -> QuestionSet:
    return next(one for one in SETS if one.name == "chinook")


def test_answers_are_computed_from_the_files(chinook: QuestionSet, tmp_path: Path) -> None:
    tables = open_tables({name: write_file(name, tmp_path) for name in chinook.tables})
    for conversation in chinook.conversations:
        for turn in conversation.turns:
            for answer in turn.answers:
                assert tables.execute(answer).fetchall(), turn.ask


@pytest.mark.parametrize(
    ("expected", "shown"),
    [
        (3, "3"),
        (20.0835, 20.08),
        (2012, "2012-01-01"),
        (1, "January"),
        (date(2024, 4, 1), "2024-04-01T00:00:00"),
        (date(2024, 4, 1), "2024-Q2"),
        (date(2024, 4, 1), "2024-04"),
        (True, "Yes"),
        ("Gentoo", "gentoo"),
    ],
)
def test_the_same_value_may_be_shown_in_another_form(expected: Any, shown: Any) -> None:
    assert same_value(expected, shown)


@pytest.mark.parametrize(
    ("expected", "shown"),
    [(3, 4), (20.08, 20.2), (date(2024, 4, 1), "2024-05-01"), (0, None), ("Gentoo", "Adelie")],
)
def test_another_value_is_told_apart(expected: Any, shown: Any) -> None:
    assert not same_value(expected, shown)


def test_rows_may_come_in_any_order_with_further_columns() -> None:
    expected = [("a", 1), ("b", 2)]
    assert same_rows(expected, [[2, "x", "b"], [1, "y", "a"]], ordered=False)
    assert not same_rows(expected, [[2, "x", "b"], [1, "y", "a"]], ordered=True)
    assert not same_rows(expected, [[2, "a"], [1, "b"]], ordered=False)


def test_rows_too_many_or_too_few_are_not_the_answer() -> None:
    assert not same_rows([("a",)], [["a"], ["b"]], ordered=False)
    assert not same_rows([("a",), ("b",)], [["a"]], ordered=False)
    assert same_rows([("a",), ("b",)], [["a"]], in_all=2, ordered=False)
    assert not same_rows([("a",)], [], ordered=False)


def _turn(reading: dict[str, Any] | None, rows: list[list[Any]]) -> dict[str, Any]:
    value = {"columns": [{"name": "count"}], "rows": rows}
    call = {"state": "done", "value": value, "artifacts": []}
    return {
        "status": "done",
        "reading": reading,
        "answer": "108 cars.",
        "steps": [{"calls": [call] if rows else []}],
        "cost": {"seconds": 0.2},
    }


def test_an_answer_counts_as_a_fact_only_when_it_is_given_as_one() -> None:
    fact, proposal = {"status": "fact"}, {"status": "proposal"}
    assert Said("t", _turn(fact, [[108]]), None).reply.status == "fact"
    assert Said("t", _turn(proposal, [[108]]), None).reply.status == "asked"
    assert Said("t", _turn(None, []), None).reply.status == "refused"
    assert Said("t", _turn(None, [[108]]), None).reply.status == "fact"
    assert Said("t", {**_turn(None, []), "status": "failed"}, None).reply.status == "failed"


def test_what_a_model_said_is_kept_and_played_again(tmp_path: Path) -> None:
    model = ScriptedModel(["one", fails("model-rate-limited"), "two"])
    recorder = Recorder(FixedModels(model))

    def asked(models: Lineup, text: str) -> str:
        (backend,) = models.backends(None, Role.planner)
        request = Request("planner", (User(f"Today is 2026-11-16. {text} 0123456789abcdef"),))
        return asyncio.run(backend.answer(request, _unheard)).text

    assert asked(recorder, "first") == "one"
    recorder.end_turn()
    with pytest.raises(Failed):
        asked(recorder, "second")
    assert asked(recorder, "second") == "two"
    recorder.end_turn()
    recorder.recording().write(tmp_path / "a.json")

    replayer = Replayer()
    replayer.begin(recordings(tmp_path)["a"])
    replayer.begin_turn(0)
    assert asked(replayer, "first") == "one"
    assert (replayer.played, replayer.stale) == (1, 0)
    replayer.begin_turn(1)
    with pytest.raises(Failed):
        asked(replayer, "second")
    assert asked(replayer, "another now") == "two"
    assert (replayer.played, replayer.stale) == (3, 1)
    with pytest.raises(Failed, match="no answer"):
        asked(replayer, "more")


async def _unheard(_: Delta) -> None:
    return None


def test_a_small_sample_has_something_of_every_set() -> None:
    assert in_turns([["a1", "a2", "a3"], ["b1"], ["c1", "c2"]], 5) == ["a1", "b1", "c1", "a2", "c2"]
    assert in_turns([["a1"]], 5) == ["a1"]
