"""Holds a model to its plan: which calls it may not make at all, and which are what a person asked for.

A plan is made before foreign text is read. What it fixed stays fixed; what it left open may be filled from the results
of the steps it names, and only there. Pure functions: the operator asks them before it asks the broker.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from steward.agents.doubts import Known, above_limit, doubt
from steward.agents.plan import PlanStep
from steward.agents.provenance import (
    ADDRESS,
    ELSEWHERE,
    FORM,
    FROM,
    MADE_UP,
    as_form,
    can_be_new,
    is_free_text,
    is_link,
    is_look,
    is_narrow,
    is_recipient,
    is_target,
    is_weighty,
)
from steward.agents.roster import Agent
from steward.broker.labels import Labels
from steward.broker.tool import Risk

_MOST_FAILED: Final = 2
"""How often a call that leaves or removes something may fail before it is not tried again."""


@dataclass(frozen=True)
class Made:
    """A call that the step made before."""

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


def refusal(
    step: PlanStep,
    agent: Agent,
    tool: str,
    risk: Risk,
    arguments: Mapping[str, Any],
    made: Sequence[Made],
    labels: Mapping[str, Labels],
    *,
    spends: bool = False,
    optional: Collection[str] = (),
    earlier: Sequence[Made] = (),
    known: Known | None = None,
) -> str | None:
    """Why the call is not made, in words for the model and for people; None when the broker may decide.

    `optional` are arguments that the tool works without, `earlier` calls that other steps of the plan made.
    """
    return (
        _outside(step, agent, tool, risk, made)
        or _too_many(step, tool, risk, arguments, made)
        or _otherwise_than_planned(step, tool, risk, arguments)
        or _done_before(step, tool, risk, arguments, earlier)
        or _unspoken(step, tool, risk, arguments, labels, optional)
        or (
            above_limit(step, arguments, known)
            if known and not risk.at_most(Risk.compute)
            else None
        )
        or _somewhere_else(step, tool, risk, arguments, labels)
        or _all_foreign(step, tool, risk, arguments, labels, spends=spends)
        # Nobody is asked about changes inside, so what would need a look is not made.
        or (
            _doubt(step, arguments, labels, known, spends=spends)
            if known is not None and risk is Risk.write
            else None
        )
    )


def is_left_open(step: PlanStep, risk: Risk, takes: Collection[str], *, has_model: bool) -> bool:
    """Whether the first tool cannot be called as the plan stands, although nothing that it requires is missing.

    A form has holes that somebody fills, and so has what the plan names as open. And where a tool takes arguments, none is given, and the step works on the
    results of others, what it does is to be found there.
    """
    if any(_form(planned, risk) is not None for planned in step.arguments.values()):
        return True
    if has_model and any(name in takes for name in step.open):
        return True
    return has_model and bool(step.needs) and bool(takes) and not step.arguments


def is_asked_for(
    step: PlanStep,
    risk: Risk,
    arguments: Mapping[str, Any],
    labels: Mapping[str, Labels],
    *,
    plan_is_trusted: bool,
    spends: bool = False,
    earlier: Sequence[Made] = (),
    known: Known | None = None,
) -> bool:
    """Whether a call that was not refused does no more than what a person wants, whatever was read since.

    Either a person or the plan named where it goes: then what was read may be its content. Or the plan says whose
    result names where it goes: then nothing else in it may come from there, and no money goes to who is named there.
    A call of which neither said anything is nothing that anybody asked for, and links are not passed on unasked.
    A plan speaks for a person only when one approved it or rules made it; a model's plan is a model's word.
    """
    if not plan_is_trusted:
        step = step.model_copy(update={"arguments": {}, "needs": [], "open": {}})
    if not risk.at_most(Risk.external_send) or _passes_address_on(step, arguments, labels):
        return False
    holes = _holes(step, arguments, labels)
    if known is not None and _doubt(step, arguments, labels, known, spends=spends) is not None:
        return False
    targets = [name for name in holes if is_target(name)]
    if any(_goes_there(step, each, arguments, targets) for each in earlier):
        return False
    if is_look(arguments) and any(_is_wide(name, arguments[name]) for name in holes):
        # What is fetched needs no words along with it: those would only carry something out.
        return False
    if not targets:
        given = [name for name in arguments if name not in holes]
        return not holes or any(is_target(n) or _is_wide(n, arguments[n]) for n in given)
    if spends and any(is_recipient(name) for name in targets):
        return False
    wide = [name for name in holes if name in targets or _is_wide(name, arguments[name])]
    return len(wide) == 1 and _is_bound(step, targets[0], labels[targets[0]])


def _outside(
    step: PlanStep, agent: Agent, tool: str, risk: Risk, made: Sequence[Made]
) -> str | None:
    if tool not in step.allowed:
        known = ", ".join(step.allowed) or "none"
        return f"{tool} is not part of this step. Its tools are: {known}."
    if not agent.may_call(tool, risk):
        return f"{agent.title} may not call {tool}."
    if tool not in step.tools:
        # What was refused was not tried: a model cannot open the fallbacks by asking for nonsense.
        tried = {call.tool for call in made if call.was_tried}
        failed = any(call.failed and call.was_tried and call.tool in step.tools for call in made)
        if not failed and not set(step.tools) <= tried:
            return f"{tool} is a fallback: {step.tools[0]} comes first."
    return None


def _too_many(
    step: PlanStep, tool: str, risk: Risk, arguments: Mapping[str, Any], made: Sequence[Made]
) -> str | None:
    if len(made) >= step.budget.calls:
        return f"This step may make {step.budget.calls} calls, and they are made."
    if risk.at_most(Risk.compute):
        return None
    # What leaves or removes something happens as often as the plan names it, and no more; so does the very same change.
    planned = [*step.tools, *step.fallback_tools].count(tool)
    again = [each for each in made if each.tool == tool and _is_same(each.arguments, arguments)]
    if sum(not call.failed for call in again) >= planned:
        return f"{tool} was called with exactly this in this step, and that is done."
    if risk.at_most(Risk.write):
        return None
    same = [call for call in made if call.tool == tool and call.was_tried]
    if sum(not call.failed for call in same) >= planned:
        return f"The plan has {tool} {_times(planned)} in this step, and that is done."
    if sum(call.failed for call in same) >= _MOST_FAILED * planned:
        return f"{tool} failed before in this step and is not tried again."
    return None


def _done_before(
    step: PlanStep, tool: str, risk: Risk, arguments: Mapping[str, Any], earlier: Sequence[Made]
) -> str | None:
    """The very same in two steps happens twice only where the plan gives all of it in both."""
    given = _given(arguments)
    if risk.at_most(Risk.compute) or set(given) <= set(step.arguments):
        return None
    if any(each.tool == tool and _is_same(_given(each.arguments), given) for each in earlier):
        return f"{tool} was called with exactly this in another step, and that is done."
    return None


def _goes_there(
    step: PlanStep, made: Made, arguments: Mapping[str, Any], targets: Sequence[str]
) -> bool:
    """Whether another step sent something to where this one would go, and the plan left that open."""
    return (
        bool(targets)
        and made.tool in step.allowed
        and not any(is_link(name) for name in targets)
        and all(
            _is_same(made.arguments.get(name), arguments[name])
            for name in arguments
            if is_target(name)
        )
    )


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in arguments.items()
        if value is not False and value not in (None, "", [], {})
    }


def _unspoken(
    step: PlanStep,
    tool: str,
    risk: Risk,
    arguments: Mapping[str, Any],
    labels: Mapping[str, Labels],
    optional: Collection[str],
) -> str | None:
    """What neither the plan nor a person spoke of stays empty."""
    if risk.at_most(Risk.compute):
        return None
    for name in _holes(step, arguments, labels):
        if name not in optional or name in step.open or not is_weighty(name):
            continue
        if risk is Risk.write and can_be_new(name) and MADE_UP in labels[name].sources:
            continue  # A new name for something new.
        return f"Neither the person nor the plan speaks of {name} of {tool}: leave it out."
    return None


def _doubt(
    step: PlanStep,
    arguments: Mapping[str, Any],
    labels: Mapping[str, Labels],
    known: Known,
    *,
    spends: bool,
) -> str | None:
    holes = [
        name
        for name in _holes(step, arguments, labels)
        # What nobody can have read, such as a new name for something new, is judged elsewhere.
        if MADE_UP not in labels[name].sources or not is_target(name)
    ]
    wide = any(not is_link(name) and _is_wide(name, arguments[name]) for name in arguments)
    return doubt(step, arguments, holes, known, carries_words=wide, spends=spends)


def _otherwise_than_planned(
    step: PlanStep, tool: str, risk: Risk, arguments: Mapping[str, Any]
) -> str | None:
    is_first = tool == step.tools[0] if step.tools else False
    for name, planned in step.arguments.items():
        if name not in arguments:
            if is_first:
                return f"The plan gives {name}; give it as planned."
        elif _form(planned, risk) is not None:
            if not _is_filled(planned, arguments[name], risk):
                return f"The plan gives {name} as a form. Fill its holes and change nothing else."
        elif not _is_same(planned, arguments[name]):
            return f"The plan gives {name}, and this is something else. Give it as planned."
    return None


def _somewhere_else(
    step: PlanStep,
    tool: str,
    risk: Risk,
    arguments: Mapping[str, Any],
    labels: Mapping[str, Labels],
) -> str | None:
    if risk.at_most(Risk.compute):
        # Reading changes nothing, but an address that was put together carries out what was put into it.
        made_up = [
            name
            for name in _holes(step, arguments, labels)
            if is_link(name) and MADE_UP in labels[name].sources
        ]
        return f"{tool} would open {made_up[0]}, which stands nowhere." if made_up else None
    fixed = any(is_recipient(name) for name in step.arguments)
    for name in _holes(step, arguments, labels):
        # What exists is changed only where somebody named it: foreign text can name all there is.
        exists = risk is Risk.write and ELSEWHERE in labels[name].sources
        if not is_target(name) or (_is_bound(step, name, labels[name]) and not exists):
            if fixed and is_recipient(name):
                return f"The plan says where {tool} goes; {name} is not part of it."
            continue
        if risk is Risk.write and can_be_new(name) and MADE_UP in labels[name].sources:
            continue  # A new name for something new; what exists has been seen.
        return (
            f"Nobody named {name} of {tool}, and it is not from a step whose result this step works on. "
            "Only a person or the plan says where something goes."
        )
    return None


def _all_foreign(
    step: PlanStep,
    tool: str,
    risk: Risk,
    arguments: Mapping[str, Any],
    labels: Mapping[str, Labels],
    *,
    spends: bool,
) -> str | None:
    """Where nothing that matters in a call was said by anybody, there is nothing to ask a person about."""
    if risk.at_most(Risk.write):
        return None
    holes = [name for name in _holes(step, arguments, labels) if is_target(name)]
    if not any(is_recipient(name) for name in holes):
        return None
    if _passes_address_on(step, arguments, labels):
        return f"{tool} would pass on an address from foreign text to somebody whom nobody named."
    given = [name for name in arguments if is_target(name) and name not in holes]
    if spends and len(holes) > 1 and not given:
        return f"{tool} moves money, and nobody named {' or '.join(holes)}."
    words = [
        name
        for name in _holes(step, arguments, labels)
        if name not in holes
        and _is_wide(name, arguments[name])
        and not _is_bound(step, name, labels[name])
    ]
    if spends and words:
        return (
            f"Money goes to somebody whom nobody named: {' and '.join(words)} must stand word for word in the "
            "result that names them, or be left out."
        )
    return None


def _passes_address_on(
    step: PlanStep, arguments: Mapping[str, Any], labels: Mapping[str, Labels]
) -> bool:
    return any(
        ADDRESS in labels[name].sources
        and not is_target(name)
        and not _is_same(step.arguments.get(name), arguments[name])
        for name in arguments
        if name in labels
    )


def _is_wide(name: str, value: Any) -> bool:
    return is_free_text(name) or not is_narrow(value)


def _form(planned: Any, risk: Risk) -> re.Pattern[str] | None:
    """A planned text with named holes; only of what is sent, where braces are no code."""
    if risk.at_most(Risk.write) or not isinstance(planned, str):
        return None
    return as_form(planned)


def _is_filled(planned: Any, given: Any, risk: Risk) -> bool:
    form = _form(planned, risk)
    return form is not None and isinstance(given, str) and form.fullmatch(given) is not None


def _holes(step: PlanStep, arguments: Mapping[str, Any], labels: Mapping[str, Labels]) -> list[str]:
    """Arguments that neither the plan nor a person gave."""
    return [
        name
        for name in arguments
        if name not in step.arguments
        and name in labels
        and (not labels[name].trusted or MADE_UP in labels[name].sources)
        and not _fills_a_form(labels[name])
    ]


def _fills_a_form(labels: Labels) -> bool:
    return FORM in labels.sources and MADE_UP not in labels.sources


def _is_bound(step: PlanStep, name: str, labels: Labels) -> bool:
    """Whether a value stands whole in the result of a step that the plan names as its source."""
    if MADE_UP in labels.sources:
        return False
    return any(f"{FROM}{need}" in labels.sources for need in step.open.get(name) or step.needs)


def _is_same(planned: Any, given: Any) -> bool:
    match planned, given:
        case bool(), _:
            return isinstance(given, bool) and planned == given
        case _, bool():
            return False
        case dict(), dict():
            return planned.keys() == given.keys() and all(
                _is_same(planned[key], given[key]) for key in planned
            )
        case list(), list():
            return len(planned) == len(given) and all(map(_is_same, planned, given))
    return bool(planned == given)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
