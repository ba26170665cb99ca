"""The plan contract: what a planner hands over, whoever or whatever it is, and what is enforced afterwards."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from steward.agents.asking.reading import Asked

FORMAT: Final = 1
MOST_AGENTS: Final = 4
MOST_STEPS: Final = 12
MadeBy = Literal["model", "rules", "fallback", "person"]


def _step_id(text: str) -> str:
    if not text.isascii() or not text.islower() or not text.replace("_", "a").isalnum():
        raise ValueError("an id has small letters, digits and _ only")
    if not text[0].isalpha():
        raise ValueError("an id starts with a letter")
    return text


StepId = Annotated[str, Field(min_length=1, max_length=30), AfterValidator(_step_id)]
Name = Annotated[str, Field(min_length=1, max_length=120)]


class Contract(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class StepBudget(Contract):
    """The most that a step may use; the run's budget holds besides."""

    usd: Decimal | None = Field(None, ge=0, le=1_000)
    tokens: int | None = Field(None, ge=1, le=10_000_000)
    calls: int = Field(8, ge=1, le=50, description="Calls of tools, failed ones included.")


class PlanStep(Contract):
    """One piece of work of one agent."""

    id: StepId
    title: str = Field(min_length=1, max_length=200, description="What is done, for people.")
    agent: Name = Field(description="Who does it.")
    tools: list[Name] = Field(
        default=[], max_length=8, description="What it may call, the first one first."
    )
    fallback_tools: list[Name] = Field(
        default=[], max_length=8, description="What it may call once a primary tool has failed."
    )
    arguments: dict[str, Any] = Field(
        default_factory=dict,
        max_length=50,
        description="Arguments of the first tool, as far as they are known.",
    )
    open: dict[Name, list[StepId]] = Field(
        default_factory=dict,
        max_length=50,
        description="Arguments that are found on the way, each with the steps in whose results it is; "
        "none: in those of any step that it needs. What stands neither here nor in `arguments`, and is not "
        "required, stays empty where it says where something goes, how much, how often or how far.",
    )
    needs: list[StepId] = Field(
        default=[], max_length=MOST_STEPS, description="Steps whose results it works on."
    )
    skill: Name | None = Field(None, description="A skill whose instructions it follows.")
    reason: str = Field("", max_length=1_000, description="Why this step, with these tools.")
    confidence: float = Field(0.5, ge=0, le=1)
    budget: StepBudget = StepBudget()

    @property
    def allowed(self) -> tuple[str, ...]:
        """Everything it may call, primaries first, each once."""
        return tuple(dict.fromkeys([*self.tools, *self.fallback_tools]))


def _opens_what_it_may(step: PlanStep) -> None:
    for name, sources in step.open.items():
        if name in step.arguments:
            raise ValueError(f"step {step.id!r} gives {name!r} and leaves it open: do one of both")
        other = [source for source in sources if source not in step.needs]
        if other:
            raise ValueError(
                f"step {step.id!r} finds {name!r} in {other[0]!r}, which it does not need: add it to `needs`"
            )


class Plan(Contract):
    """Ordered steps; those that need nothing of one another may run at the same time."""

    format: Literal[1] = FORMAT
    goal: str = Field(min_length=1, max_length=2_000, description="What the person wants.")
    steps: list[PlanStep] = Field(min_length=1, max_length=MOST_STEPS)
    notes: str = Field("", max_length=2_000, description="What the person should know about it.")

    @model_validator(mode="after")
    def _hangs_together(self) -> "Plan":
        seen: set[str] = set()
        for step in self.steps:
            if step.id in seen:
                raise ValueError(f"two steps are called {step.id!r}")
            unknown = [need for need in step.needs if need not in seen]
            if unknown:
                raise ValueError(
                    f"step {step.id!r} needs {unknown[0]!r}, which is no step before it"
                )
            _opens_what_it_may(step)
            seen.add(step.id)
        if len(self.agents) > MOST_AGENTS:
            raise ValueError(
                f"a plan has at most {MOST_AGENTS} agents; this one has {len(self.agents)}"
            )
        return self

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.agent for step in self.steps))

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tool for step in self.steps for tool in step.allowed))

    def step(self, step_id: str) -> PlanStep:
        return next(step for step in self.steps if step.id == step_id)

    def __iter__(self) -> Iterator[PlanStep]:  # type: ignore[override]
        return iter(self.steps)

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


class Planned(Contract):
    """A plan with how it came about: part of the record."""

    plan: Plan
    made_by: MadeBy
    model: str | None = None
    problems: list[str] = Field(
        default=[], description="What was wrong with what a model proposed, in order."
    )
    repaired: bool = Field(False, description="Whether it took a second try.")
    said: str = Field("", description="What the person is told about planning, if anything.")
    asked: Asked | None = Field(
        None, description="What a question about tables was taken to ask; none for other work."
    )

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")
