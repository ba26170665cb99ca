"""A step of a plan as work: everything its agent is told, and what came of it."""

from dataclasses import dataclass, field

from steward.agents.operating.result_views import Shown
from steward.agents.operating.roster import Agent
from steward.agents.operating.wanted_calls import Made
from steward.agents.planning.plan import PlanStep, StepBudget
from steward.broker import NONE, Labelled, Labels
from steward.runs import Json


@dataclass(frozen=True)
class Job:
    """A step with everything its agent is told."""

    step: PlanStep
    agent: Agent
    task: str
    given: tuple[Shown, ...] = ()
    """What earlier steps found, or data that the task is about."""
    trusted: tuple[str, ...] = ()
    """Texts that people of the project wrote or approved."""
    names: tuple[str, ...] = ()
    """What the project's data is called."""
    arguments_trusted: bool = False
    """Whether the plan's arguments were written or approved by a person, or follow from rules."""
    suspect: tuple[tuple[str, Labels], ...] = ()
    """What whoever made the plan had seen."""
    earlier: tuple[Made, ...] = ()
    """What other steps of the plan did."""
    allow_rows: bool = True
    output: Json = None
    composed: bool = False
    """Whether a composed agent works by its own document: it calls its tools as it sees fit and must give an answer. In a
    step of a plan one of the step's tools does the work."""
    limit: StepBudget | None = None
    """The most that the agent may use for all of it."""
    said: str = ""
    """What it is told besides, such as to whom it may hand its work."""

    @property
    def must_call(self) -> bool:
        """Whether one of its tools does the work, rather than an answer."""
        return bool(self.step.tools) and not self.composed


@dataclass
class Done:
    """What came of a step."""

    text: str = ""
    value: Json = None
    labels: Labels = NONE
    results: list[tuple[str, str, Labelled]] = field(default_factory=list)
    """Key, tool and result of each call that worked."""
    deviations: list[Json] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    """Calls that worked and changed or sent something."""
    adhered: bool | None = None
    """Whether a primary tool did it; None for a step without tools."""

    def to_json(self) -> Json:
        return {
            "text": self.text,
            "calls": [key for key, _, _ in self.results],
            "tools": [tool for _, tool, _ in self.results],
            "summary": self.results[-1][2].summary if self.results else self.text[:200],
            "deviations": len(self.deviations),
            "adhered": self.adhered,
        }
