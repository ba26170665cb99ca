"""Checks a plan against everything that is known before it runs: contract, agents, tools, policy and data."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from pydantic import ValidationError

from steward.agents.asking.lexicon import Lexicon
from steward.agents.asking.world import FoundValue, World
from steward.agents.operating.roster import Roster
from steward.agents.planning.bounds import too_much
from steward.agents.planning.data_checks import Known, data_problems
from steward.agents.planning.plan import Plan, PlanStep
from steward.broker import Arguments, Risk, Tool, problems_of
from steward.core import Invalid, Problem, mistakes
from steward.definitions import (
    ColumnFacts,
    DatasetFacts,
    Definitions,
    Relation,
    facts_from,
    propose_definitions,
    relations_from,
)

__all__ = [
    "Catalogue",
    "ColumnFacts",
    "DatasetFacts",
    "PlanRefused",
    "Relation",
    "ToolFacts",
    "check_plan",
    "facts_from",
    "is_complete",
    "relations_from",
]

MOST_PROBLEMS: Final = 40
_LONGEST_MESSAGE: Final = 400
_NAMED: Final = 30


@dataclass(frozen=True)
class ToolFacts:
    """A tool as planning knows it."""

    title: str
    description: str
    risk: Risk
    schema: Mapping[str, Any]
    model: type[Arguments] | None = None
    """Checks what a schema cannot say, once all required arguments are there."""

    @classmethod
    def of(cls, tool: Tool[Any]) -> "ToolFacts":
        return cls(tool.title, tool.description, tool.risk, tool.schema(), tool.arguments)


@dataclass(frozen=True)
class Catalogue:
    """Everything that a plan may name: closed lists."""

    tools: Mapping[str, ToolFacts]
    agents: Roster
    datasets: Mapping[str, DatasetFacts] = field(default_factory=dict)
    skills: Mapping[str, str] = field(default_factory=dict)
    """Name → what it is for."""
    forbidden: frozenset[str] = frozenset()
    """Tools that the policy denies outright, whoever asks."""
    highest_risk: Risk = Risk.external_send
    relations: tuple[Relation, ...] = ()
    """Keys that were found between datasets, where that was computed."""
    definitions: Definitions | None = None
    """What words mean in the project; unset: what the datasets suggest."""
    found: tuple[FoundValue, ...] = ()
    """Values of data that words of the message are."""
    title: str = ""
    """What people named the project."""

    @cached_property
    def world(self) -> World:
        """What questions can be about."""
        known = self.definitions
        if known is None:
            known = propose_definitions(self.datasets, self.relations)
        return World(self.datasets, known, self.found, self.title)

    @cached_property
    def lexicon(self) -> Lexicon:
        return Lexicon(self.world)

    def usable(self, tool: str) -> bool:
        """Whether anybody in this project may be given the tool."""
        facts = self.tools.get(tool)
        return (
            facts is not None
            and tool not in self.forbidden
            and facts.risk.at_most(self.highest_risk)
            and any(agent.may_call(tool, facts.risk) for agent in self.agents)
        )

    def agent_for(self, tool: str, preferred: Sequence[str] = ()) -> str | None:
        """An agent whose policy has the tool: a preferred one, else the first."""
        facts = self.tools.get(tool)
        if facts is None or not self.usable(tool):
            return None
        able = [agent.name for agent in self.agents if agent.may_call(tool, facts.risk)]
        return next((name for name in preferred if name in able), able[0])


class PlanRefused(Invalid):
    """A plan that cannot stand, with every reason."""

    code = "plan-refused"
    title = "The plan cannot be carried out"

    def __init__(self, problems: Sequence[Problem]) -> None:
        kept = [
            Problem(each.pointer[:200], each.message[:_LONGEST_MESSAGE])
            for each in problems[:MOST_PROBLEMS]
        ]
        said = "; ".join(f"{each.pointer or '/'}: {each.message}" for each in kept[:5])
        more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
        super().__init__(f"The plan is refused: {said}{more}", problems=kept)


def check_plan(document: Any, catalogue: Catalogue) -> Plan:
    """The plan, if nothing is wrong with it; PlanRefused with every mistake otherwise, and nothing else."""
    excess = too_much(document)
    if excess is not None:
        raise PlanRefused([Problem("", excess)])
    if not isinstance(document, Mapping):
        raise PlanRefused([Problem("", "a plan is a JSON object with `goal` and `steps`")])
    plan, problems = _parsed(document)
    steps = plan.steps if plan is not None else _readable(document)
    # Whatever is readable is looked at too: one round of repair should be enough for everything.
    problems += _semantic(steps, catalogue)
    if plan is None or problems:
        raise PlanRefused(problems)
    return plan


def is_complete(step: PlanStep, catalogue: Catalogue) -> bool:
    """Whether the first tool can be called as the step stands, without a model."""
    facts = catalogue.tools.get(step.tools[0]) if step.tools else None
    if facts is None or any(
        each not in step.arguments for each in facts.schema.get("required", ())
    ):
        return False
    return not _against_model(step, facts, "")


def _parsed(document: Mapping[str, Any]) -> tuple[Plan | None, list[Problem]]:
    try:
        return Plan.model_validate(document), []
    except ValidationError as error:
        return None, mistakes(error)


def _readable(document: Mapping[str, Any]) -> list[PlanStep | None]:
    """The steps of a broken plan that can be read; None for the others, so that places stay right."""
    steps = document.get("steps")
    found: list[PlanStep | None] = []
    for step in steps[:50] if isinstance(steps, list) else ():
        try:
            found.append(PlanStep.model_validate(step))
        except ValidationError:
            found.append(None)
    return found


def _semantic(steps: Sequence[PlanStep | None], catalogue: Catalogue) -> list[Problem]:
    problems: list[Problem] = []
    known = Known.of(catalogue.datasets)
    for number, step in enumerate(steps):
        if step is None:
            continue
        where = f"/steps/{number}"
        problems += _who_and_what(step, catalogue, where)
        problems += _arguments(step, catalogue, where)
        problems += _open(step, catalogue, where)
        if step.tools:
            problems += data_problems(step, known, f"{where}/arguments")
        known = known.after(step)
    return problems


def _who_and_what(step: PlanStep, catalogue: Catalogue, where: str) -> Iterator[Problem]:
    if step.agent not in catalogue.agents:
        names = [agent.name for agent in catalogue.agents]
        yield Problem(
            f"{where}/agent", f"there is no agent {step.agent!r}; {_known(step.agent, names)}"
        )
    else:
        agent = catalogue.agents.get(step.agent)
        if agent.tools and not step.tools:
            yield Problem(f"{where}/tools", f"{agent.name} works with tools; name at least one")
    for name in ("tools", "fallback_tools"):
        for number, tool in enumerate(getattr(step, name)):
            yield from _tool(tool, step, catalogue, f"{where}/{name}/{number}")
    if step.skill is not None and step.skill not in catalogue.skills:
        said = _known(step.skill, catalogue.skills)
        yield Problem(f"{where}/skill", f"there is no skill {step.skill!r}; {said}")


def _tool(tool: str, step: PlanStep, catalogue: Catalogue, where: str) -> Iterator[Problem]:
    facts = catalogue.tools.get(tool)
    if facts is None:
        yield Problem(where, f"there is no tool {tool!r}; {_known(tool, catalogue.tools)}")
        return
    if tool in catalogue.forbidden:
        yield Problem(where, f"the project's policy does not allow {tool}")
    if not facts.risk.at_most(catalogue.highest_risk):
        yield Problem(
            where, f"{tool} is {facts.risk}, above {catalogue.highest_risk}, the most allowed here"
        )
    if step.agent in catalogue.agents and not catalogue.agents.get(step.agent).may_call(
        tool, facts.risk
    ):
        able = [agent.name for agent in catalogue.agents if agent.may_call(tool, facts.risk)]
        instead = f"give the step to {' or '.join(able[:3])}" if able else "no agent may"
        yield Problem(where, f"{step.agent} may not call {tool}; {instead}")


def _arguments(step: PlanStep, catalogue: Catalogue, where: str) -> list[Problem]:
    if not step.arguments:
        return []
    if not step.tools:
        return [Problem(f"{where}/arguments", "there are arguments but no tool to give them to")]
    facts = catalogue.tools.get(step.tools[0])
    if facts is None:
        return []
    partial = {key: value for key, value in facts.schema.items() if key != "required"}
    problems = problems_of(partial, dict(step.arguments), f"{where}/arguments")
    if problems or any(each not in step.arguments for each in facts.schema.get("required", ())):
        return problems
    return _against_model(step, facts, f"{where}/arguments")


def _open(step: PlanStep, catalogue: Catalogue, where: str) -> Iterator[Problem]:
    known = [catalogue.tools[tool] for tool in step.allowed if tool in catalogue.tools]
    names = list(
        dict.fromkeys(each for facts in known for each in facts.schema.get("properties", {}))
    )
    for name in step.open:
        if known and name not in names:
            said = _known(name, names)
            yield Problem(f"{where}/open/{name}", f"no tool of the step takes {name!r}; {said}")


def _against_model(step: PlanStep, facts: ToolFacts, where: str) -> list[Problem]:
    if facts.model is None:
        return problems_of(facts.schema, dict(step.arguments), where)
    try:
        facts.model.model_validate(dict(step.arguments))
    except ValidationError as error:
        return mistakes(error, where)
    return []


def _known(wrong: str, names: Iterable[str]) -> str:
    """What there is instead: what is spelled alike, else the list."""
    there = list(names)
    alike = difflib.get_close_matches(wrong[:100], there, n=3, cutoff=0.6)
    if alike:
        return f"do you mean {' or '.join(alike)}?"
    return f"there are: {', '.join(sorted(there)[:_NAMED]) or 'none'}"
