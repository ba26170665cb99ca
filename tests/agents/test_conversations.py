"""Every shipped conversation as the rules plan it, and what a thread remembers between its turns."""

from dataclasses import replace
from typing import Any

import pytest

from steward.agents.asking.languages import languages
from steward.agents.chat.context import _acted, _changes
from steward.agents.planning.plan import Plan, Planned
from steward.agents.planning.suggestions import next_messages
from steward.agents.planning.task import Acted, Exchange, Last, Task
from steward.agents.rules.deciding import RulePlanner
from steward.agents.rules.request import Ask
from steward.definitions import effective
from steward.definitions.facts import plain_facts
from steward.evaluation import load_suites
from steward.evaluation.kinds.conversation import ConversationCase, problems_of
from steward.runs.projection import Call
from tests.agents.planning_kit import TODAY, catalogue
from tests.agents.test_rules import Demo, demo  # noqa: F401 - a fixture

LOOKING = {"execute_query_plan", "preview", "get_dataset_schema", "profile", "list_datasets"}
CASES = [
    case
    for case in load_suites(["conversations"])[0].cases
    if isinstance(case, ConversationCase)
    # What changes data changes what comes after it; those are played for real.
    and all(turn.tool is None or turn.tool in LOOKING for turn in case.turns)
]
QUERY = "execute_query_plan"


DEFINITIONS = load_suites(["conversations"])[0].head.definitions


class Thread:
    """Turns one after another, as far as planning goes."""

    def __init__(self, known: Demo) -> None:
        proposed = known.catalogue.world.definitions
        defined = replace(known.catalogue, definitions=effective(DEFINITIONS, proposed))
        self.known = Demo(defined, known.connection)
        self.more: dict[str, Any] = {}

    def say(self, message: str) -> Planned:
        plan, said, asked = RulePlanner().plan(
            Task(message, TODAY.replace(month=3, day=1), "", **self.more), self.known.catalogue
        )
        if asked is None or asked.status == "fact":
            self._remember(message, plan)
            self.more["read"] = None if asked is None else asked.reading
        return Planned(plan=plan, made_by="rules", said=said, asked=asked)

    def _remember(self, message: str, plan: Plan) -> None:
        step = plan.steps[0]
        steps = tuple((each.title, each.reason, "") for each in plan)
        history = (*self.more.get("history", ()), Exchange(message, "", steps))
        self.more["history"] = history
        document = step.arguments.get("plan")
        name = step.arguments.get("dataset") or (document or {}).get("source")
        if name is not None:
            self.more["acted"] = Acted(step.tools[0], step.arguments, name)
        if step.tools[0] in {QUERY, "preview"}:
            rows = tuple(self.known.rows(document)) if document else ()
            columns = tuple(_columns(document)) if document else ()
            kept = rows if len(rows) <= 10 else ()
            self.more["last"] = Last(step.tools[0], step.arguments, columns, None, None, kept)


def _columns(document: dict[str, Any]) -> list[str]:
    named = [each["name"] for each in document.get("aggregate", ())]
    return [*document.get("group", ()), *named]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_conversation_is_planned_as_it_should(demo: Demo, case: ConversationCase) -> None:  # noqa: F811
    thread = Thread(demo)
    for turn in case.turns:
        assert problems_of(turn, thread.say(turn.say), None) == [], turn.say


def test_there_are_many_conversations_and_some_in_german() -> None:
    cases = load_suites(["conversations"])[0].cases
    assert len(cases) >= 60
    assert len(CASES) >= 60
    said = " ".join(turn.say for case in CASES for turn in case.turns)
    assert all(word in said for word in ("Umsatz", "nur Deutschland", "als Kreisdiagramm"))


# What a thread remembers


def _call(tool: str, arguments: dict[str, Any], *commits: str, state: str = "done") -> Any:
    return "run", Call("key", tool=tool, state=state, arguments=arguments, commits=list(commits))


def test_undo_and_redo_are_about_what_is_left() -> None:
    calls = [_call("clean", {"dataset": "a"}, "c1"), _call("clean", {"dataset": "b"}, "c2")]
    assert (_changes(calls).there, _changes(calls).redo) == (["c1", "c2"], None)
    calls.append(_call("undo", {"commit": "c2"}, "u1"))
    assert (_changes(calls).there, _changes(calls).redo) == (["c1"], "u1")
    calls.append(_call("undo", {"commit": "u1"}, "r1"))
    assert (_changes(calls).there, _changes(calls).redo) == (["c1", "c2"], None)
    calls += [_call("undo", {"commit": "c2"}, "u2"), _call("undo", {"commit": "c1"}, "u3")]
    assert (_changes(calls).there, _changes(calls).redo) == ([], "u3")
    calls.append(_call("clean", {"dataset": "a"}, "c3"))
    assert (_changes(calls).there, _changes(calls).redo) == (["c3"], None)
    calls.append(_call("undo", {"commit": "c3"}, state="failed"))
    assert _changes(calls).there == ["c3"], "what failed took nothing back"


def test_it_is_what_was_worked_on_last() -> None:
    calls = [
        _call("profile", {"dataset": "a"}),
        _call("join", {"datasets": ["a", "b"], "target": "both"}),
        _call("undo", {"commit": "c1"}),
        _call("profile", {"dataset": "c"}, state="failed"),
    ]
    assert _acted(calls)["dataset"] == "both"
    assert _acted([]) is None


# Other languages


def test_names_of_the_data_are_not_translated() -> None:
    facts = plain_facts("umsatz", 3, [("kunde", "VARCHAR"), ("betrag", "DOUBLE")])
    known = catalogue(datasets={"umsatz": facts})
    plan, _, _ = RulePlanner().plan(Task("Summe betrag nach kunde", TODAY, ""), known)
    document = plan.steps[0].arguments["plan"]
    assert (document["group"], document["aggregate"][0]["column"]) == (["kunde"], "betrag")


def test_english_is_not_taken_for_another_language() -> None:
    known = catalogue()
    for message in (
        "show me the man who was in the land",
        "total amount by country for the client",
    ):
        words = [token.text for token in Ask.of(Task(message, TODAY, ""), known).tokens]
        assert words == message.split()
    assert {language.code for language in languages()} == {"de", "fr"}


# What could be said next


def test_suggestions_lead_somewhere(demo: Demo) -> None:  # noqa: F811
    task = Task("how many invoices per country", TODAY, "")
    plan, _, _ = RulePlanner().plan(task, demo.catalogue)
    told = [each["message"] for each in next_messages(task, demo.catalogue, plan)]
    assert "share in %" in told
    lost = Task("sing me a song", TODAY, "")
    plan, said, _ = RulePlanner().plan(lost, demo.catalogue)
    assert "could not tell" in said
    offered = next_messages(lost, demo.catalogue, plan)
    assert offered
    for each in offered:
        assert RulePlanner().plan(Task(each["message"], TODAY, ""), demo.catalogue).understood, each


def test_words_that_mean_nothing_here_are_named(demo: Demo) -> None:  # noqa: F811
    thread = Thread(demo)
    thread.say("total net by country")
    planned = thread.say("and the weather?")
    assert planned.asked is not None
    assert planned.asked.status != "fact"
    assert "weather" in [each.word for each in planned.asked.unused]
