"""What a person should look at although the plan allows it: values that only foreign words chose.

The plan says where to look, not what is there. Where what is there are records, a value is taken from a field; where it
is one of several, or more than anything that the records show, nobody has said that it is meant.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steward.agents.plan import PlanStep
from steward.agents.provenance import (
    is_amount,
    is_link,
    is_narrow,
    is_reach,
    is_switch,
    is_target,
    stands_in,
)
from steward.agents.records import (
    Record,
    as_number,
    is_another,
    is_beside_records,
    is_one_of_several,
    limit_said,
    most_of,
    records_of,
)


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
        yield from (
            known[source] for source in step.open.get(name) or step.needs if source in known
        )


def above_limit(step: PlanStep, arguments: Mapping[str, Any], known: Known) -> str | None:
    """Why an amount is refused: a person said how much it is at most."""
    for name, value in arguments.items():
        number = as_number(value) if is_amount(name) and name not in step.arguments else None
        limit = limit_said(known.said) if number is not None else None
        if number is not None and limit is not None and number > limit:
            return f"The person said at most {limit}, and {name} is {number}."
    return None


def doubt(
    step: PlanStep,
    arguments: Mapping[str, Any],
    holes: Sequence[str],
    known: Known,
    *,
    carries_words: bool,
    spends: bool,
) -> str | None:
    """Why a person should look at it; None when what is open was found where the plan says, and only there."""
    # Where more is open, the record that a person named may be where the rest comes from.
    alone = sum(is_target(name) or not is_narrow(arguments[name]) for name in holes) == 1
    for name in holes:
        if is_switch(name) or is_reach(name):
            return f"Nobody said that {name} is {arguments[name]!r}."
        if is_target(name) and (carries_words or not is_link(name)):
            why = _target(step, name, arguments[name], known, alone=alone)
            if why is not None:
                return why
    if not spends:
        return None
    about = [
        value for name, value in arguments.items() if name not in holes and isinstance(value, str)
    ]
    return next(
        (
            f"{name} is more than anything in the records that it is found in."
            for name, value in arguments.items()
            if is_amount(name)
            and name not in step.arguments
            and not stands_in(value, known.said)
            and _is_too_much(step, name, value, about, known)
        ),
        None,
    )


def _target(step: PlanStep, name: str, value: Any, known: Known, *, alone: bool) -> str | None:
    records, words = known.records(step, name), known.words(step, name)
    for leaf in _leaves(value):
        if stands_in(leaf, known.said):
            continue
        if is_beside_records(name, leaf, records):
            return f"{name} stands in words that somebody wrote, not in a field of the records."
        if alone and is_another(leaf, records, known.said):
            return f"{name} is of another record than the one that the person named."
        if not any(each.has(leaf) for each in records) and is_one_of_several(leaf, words):
            return f"{name} is one of several that were found."
    return None


def _is_too_much(step: PlanStep, name: str, value: Any, about: Sequence[str], known: Known) -> bool:
    number = as_number(value)
    most = most_of(known.records(step, name), about)
    return number is not None and (most is None or number > most)


def _leaves(value: Any) -> Iterator[Any]:
    match value:
        case dict():
            for inner in value.values():
                yield from _leaves(inner)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case None | bool():
            return
        case _:
            yield value
