"""A call that a model wants to make in a step, and what of it neither the plan nor a person gave."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from steward.agents.naming import is_free_text, is_narrow, is_target
from steward.agents.plan import PlanStep
from steward.agents.provenance import ADDRESS, FORM, FROM, MADE_UP
from steward.agents.quoting import as_form
from steward.agents.records import Record, records_of
from steward.broker.labels import Labels
from steward.broker.tool import Risk


@dataclass(frozen=True)
class Made:
    """A call that was made before."""

    tool: str
    arguments: Mapping[str, Any]
    failed: bool = False
    """It was tried, and did not work; or a person rejected it."""
    why: str = ""
    refused: bool = False
    """It was not even tried: something here said no."""

    @property
    def was_tried(self) -> bool:
        return not self.refused


@dataclass(frozen=True)
class Known:
    """What is known when a call is weighed."""

    said: Sequence[str] = ()
    """What people wrote or approved."""
    found: Mapping[str, Any] | None = None
    """Results of the steps that the plan names as sources, by step."""
    texts: Mapping[str, str] | None = None
    """The same as text."""

    def records(self, step: PlanStep, name: str) -> list[Record]:
        return [each for value in self._of(step, name, self.found) for each in records_of(value)]

    def words(self, step: PlanStep, name: str) -> list[str]:
        return [str(text) for text in self._of(step, name, self.texts)]

    def _of(self, step: PlanStep, name: str, where: Mapping[str, Any] | None) -> Iterator[Any]:
        known = where or {}
        yield from (known[source] for source in sources_of(step, name) if source in known)


@dataclass(frozen=True)
class Wanted:
    """The call, with everything that it is held against."""

    step: PlanStep
    tool: str
    risk: Risk
    arguments: Mapping[str, Any]
    labels: Mapping[str, Labels]
    spends: bool = False
    optional: Collection[str] = ()
    """Arguments that the tool works without."""
    earlier: Sequence[Made] = ()
    """What other steps of the plan did."""
    known: Known | None = None

    @cached_property
    def holes(self) -> tuple[str, ...]:
        """Arguments that neither the plan nor a person gave."""
        return tuple(
            name
            for name in self.arguments
            if name not in self.step.arguments
            and name in self.labels
            and (not self.labels[name].trusted or self.is_made_up(name))
            and not self._fills_a_form(name)
        )

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """Holes that say where something goes or to what something happens."""
        return tuple(name for name in self.holes if is_target(name))

    def is_made_up(self, name: str) -> bool:
        """Whether it stands nowhere."""
        return MADE_UP in self.labels[name].sources

    def is_bound(self, name: str) -> bool:
        """Whether it stands whole in the result of a step that the plan names as its source."""
        return not self.is_made_up(name) and any(
            f"{FROM}{source}" in self.labels[name].sources for source in sources_of(self.step, name)
        )

    def is_wide(self, name: str) -> bool:
        """Whether it has room for a message."""
        return is_free_text(name) or not is_narrow(self.arguments[name])

    @property
    def passing_on(self) -> list[str]:
        """Arguments whose text carries an address that nobody named."""
        return [
            name
            for name in self.arguments
            if name in self.labels
            and ADDRESS in self.labels[name].sources
            and not is_target(name)
            and not is_same(self.step.arguments.get(name), self.arguments[name])
        ]

    def without_plan(self) -> "Wanted":
        """The same, where the plan is a model's and speaks for nobody."""
        return self.within(self.step.model_copy(update={"arguments": {}, "needs": [], "open": {}}))

    def within(self, step: PlanStep) -> "Wanted":
        return replace(self, step=step)

    def with_usual(self, arguments: Mapping[str, Any]) -> "Wanted":
        """With what the tool takes where nothing is given."""
        return replace(self, arguments={**arguments, **self.arguments})

    def _fills_a_form(self, name: str) -> bool:
        return FORM in self.labels[name].sources and not self.is_made_up(name)


def sources_of(step: PlanStep, name: str) -> list[str]:
    """Steps in whose results the plan says that an argument is found."""
    return step.open.get(name) or step.needs


def form_of(planned: Any, risk: Risk) -> re.Pattern[str] | None:
    """A planned text with named holes; only of what is sent, where braces are no code."""
    if risk.at_most(Risk.write) or not isinstance(planned, str):
        return None
    return as_form(planned)


def is_same(planned: Any, given: Any) -> bool:
    match planned, given:
        case bool(), _:
            return isinstance(given, bool) and planned == given
        case _, bool():
            return False
        case dict(), dict():
            return planned.keys() == given.keys() and all(
                is_same(planned[key], given[key]) for key in planned
            )
        case list(), list():
            return len(planned) == len(given) and all(map(is_same, planned, given))
    return bool(planned == given)
