"""A call that a model wants to make in a step, and what of it neither the plan nor a person gave."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from functools import cached_property
from typing import Any

from steward.agents.operating.provenance import ADDRESS, FORM, FROM, MADE_UP
from steward.agents.operating.quotations import Form, as_form
from steward.agents.operating.records import Record, records_of
from steward.agents.planning.plan import PlanStep
from steward.broker import Labels, Part, Risk


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

    def records(self, step: PlanStep, part: Part) -> list[Record]:
        return [each for value in self._of(step, part, self.found) for each in records_of(value)]

    def words(self, step: PlanStep, part: Part) -> list[str]:
        return [str(text) for text in self._of(step, part, self.texts)]

    def _of(self, step: PlanStep, part: Part, where: Mapping[str, Any] | None) -> Iterator[Any]:
        known = where or {}
        yield from (known[source] for source in sources_of(step, part) if source in known)


@dataclass(frozen=True)
class Wanted:
    """The call, with everything that it is held against."""

    step: PlanStep
    tool: str
    risk: Risk
    arguments: Mapping[str, Any]
    parts: Sequence[Part]
    """The same arguments by their roles."""
    labels: Mapping[str, Labels]
    """Where each part comes from, by its path."""
    spends: bool = False
    only_reads: bool = False
    """It says of itself that it only fetches something."""
    earlier: Sequence[Made] = ()
    """What other steps of the plan did."""
    known: Known | None = None

    @cached_property
    def holes(self) -> tuple[Part, ...]:
        """Parts that neither the plan nor a person gave."""
        return tuple(
            part
            for part in self.parts
            if part.argument not in self.step.arguments
            and part.path in self.labels
            and (not self.labels[part.path].trusted or self.is_made_up(part))
            and not (FORM in self.labels[part.path].sources and not self.is_made_up(part))
        )

    @cached_property
    def targets(self) -> tuple[Part, ...]:
        """Holes that say where something goes or to what something happens."""
        return tuple(part for part in self.holes if part.role.names_something)

    @property
    def fixed(self) -> tuple[Part, ...]:
        """Parts that a person or the plan gave."""
        return tuple(part for part in self.parts if part not in self.holes)

    def is_made_up(self, part: Part) -> bool:
        """Whether it stands nowhere."""
        return MADE_UP in self.labels[part.path].sources

    def is_bound(self, part: Part) -> bool:
        """Whether it stands whole in the result of a step that the plan names as its source."""
        return not self.is_made_up(part) and any(
            f"{FROM}{source}" in self.labels[part.path].sources
            for source in sources_of(self.step, part)
        )

    @property
    def passing_on(self) -> list[Part]:
        """Parts whose text carries an address that nobody named."""
        return [
            part
            for part in self.parts
            if part.path in self.labels
            and ADDRESS in self.labels[part.path].sources
            and not part.role.names_something
            and not is_same(self.step.arguments.get(part.argument), self.arguments[part.argument])
        ]

    def without_plan(self) -> "Wanted":
        """The same, where the plan is a model's and speaks for nobody."""
        return self.within(self.step.model_copy(update={"arguments": {}, "needs": [], "open": {}}))

    def within(self, step: PlanStep) -> "Wanted":
        return replace(self, step=step)


def sources_of(step: PlanStep, part: Part) -> list[str]:
    """Steps in whose results the plan says that an argument is found."""
    return step.open.get(part.argument) or step.needs


def is_wide(part: Part) -> bool:
    """Whether it has room for a message."""
    return part.role.is_free or not is_narrow(part.value)


def is_narrow(value: Any) -> bool:
    """Whether a value has no room for a message: a truth value, a number, a date or a time."""
    match value:
        case None | bool() | int() | float():
            return True
        case str():
            return len(value) <= 40 and _is_moment(value)
        case list():
            return len(value) <= 8 and all(is_narrow(item) for item in value)
    return False


def form_of(planned: Any, risk: Risk) -> Form | None:
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


def _is_moment(text: str) -> bool:
    for kind in (datetime, date, time):
        try:
            kind.fromisoformat(text)
        except ValueError:
            continue
        return True
    return False
