"""What a step found is said in chat, not only that it was looked for."""

from steward.agents.explaining.explainer import Work, in_words
from steward.agents.operating.job import Done
from steward.agents.planning.plan import Plan
from steward.broker import NONE, Labelled
from steward.runs import Json

PLAN = Plan.model_validate(
    {
        "goal": "What goes together",
        "steps": [{"id": "a", "title": "Correlate", "agent": "analyst", "tools": ["correlate"]}],
    }
)
FOUND: Json = {
    "associations": [
        {"first": "wt", "second": "mpg", "summary": "mpg falls with wt (strong; pearson -0.87)."},
        {"first": "hp", "second": "cyl", "summary": "cyl rises with hp (strong; pearson 0.83)."},
    ]
}


def said(message: str, value: Json = FOUND) -> str:
    labelled = Labelled(value, NONE, "Correlated mtcars: 32 rows, 12 columns")
    return in_words(Work(message, PLAN, [("a", Done(results=[("a", "correlate", labelled)]))]))


def test_findings_are_told_one_by_one() -> None:
    assert said("what goes together?").splitlines()[2:] == [
        "- mpg falls with wt (strong; pearson -0.87).",
        "- cyl rises with hp (strong; pearson 0.83).",
    ]


def test_of_a_pair_that_is_named_only_its_finding_is_told() -> None:
    told = said("is there a correlation between wt and mpg?")
    assert "mpg falls with wt" in told
    assert "cyl" not in told


def test_values_without_sentences_are_told_by_their_summary_alone() -> None:
    assert said("what goes together?", {"associations": [{"first": "a"}]}) == (
        "Correlated mtcars: 32 rows, 12 columns."
    )
