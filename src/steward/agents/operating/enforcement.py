"""Holds a model to its plan: which calls it may not make at all.

A plan is made before foreign text is read. What it fixed stays fixed; what it left open may be filled from the results
of the steps it names, and only there. Pure functions: the operator asks them before it asks the broker.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from steward.agents.operating.doubts import found_otherwise
from steward.agents.operating.provenance import ELSEWHERE
from steward.agents.operating.roster import Agent
from steward.agents.operating.wanted_calls import Made, Wanted, form_of, is_same, is_wide
from steward.agents.planning.plan import PlanStep
from steward.broker import Part, Risk, Role

_MOST_FAILED: Final = 2
"""How often a call that leaves or removes something may fail before it is not tried again."""

_CHANGES: Final = frozenset({Risk.write, Risk.secret})
"""Risks of what changes something inside."""


def refusal(wanted: Wanted, agent: Agent, made: Sequence[Made]) -> str | None:
    """Why the call is not made, in words for the model and for people; None when the broker may decide.

    `made` are the calls that the step made before.
    """
    return (
        _outside(wanted, agent, made)
        or _too_many(wanted, made)
        or _otherwise_than_planned(wanted)
        or _done_before(wanted)
        or _unspoken(wanted)
        or _somewhere_else(wanted)
        or _all_foreign(wanted)
        # Nobody is asked about changes inside, so what would need a look is not made.
        or (next(found_otherwise(wanted), None) if wanted.risk is Risk.write else None)
    )


def is_left_open(step: PlanStep, risk: Risk, takes: Collection[str], *, has_model: bool) -> bool:
    """Whether the first tool cannot be called as the plan stands, although nothing that it requires is missing.

    A form has holes that somebody fills, and so has what the plan names as open. And where a tool takes arguments, none
    is given, and the step works on the results of others, what it does is to be found there.
    """
    if any(form_of(planned, risk) is not None for planned in step.arguments.values()):
        return True
    if has_model and any(name in takes for name in step.open):
        return True
    return has_model and bool(step.needs) and bool(takes) and not step.arguments


def _outside(wanted: Wanted, agent: Agent, made: Sequence[Made]) -> str | None:
    step, tool = wanted.step, wanted.tool
    if tool not in step.allowed:
        known = ", ".join(step.allowed) or "none"
        return f"{tool} is not part of this step. Its tools are: {known}."
    if not agent.may_call(tool, wanted.risk):
        return f"{agent.title} may not call {tool}."
    if tool not in step.tools:
        # What was refused was not tried: a model cannot open the fallbacks by asking for nonsense.
        tried = {call.tool for call in made if call.was_tried}
        failed = any(call.failed and call.was_tried and call.tool in step.tools for call in made)
        if not failed and not set(step.tools) <= tried:
            return f"{tool} is a fallback: {step.tools[0]} comes first."
    return None


def _too_many(wanted: Wanted, made: Sequence[Made]) -> str | None:
    step, tool = wanted.step, wanted.tool
    if len(made) >= step.budget.calls:
        return f"This step may make {step.budget.calls} calls, and they are made."
    if wanted.risk.at_most(Risk.compute):
        return None
    # What leaves or removes something happens as often as the plan names it, and no more; so does the very same change.
    planned = [*step.tools, *step.fallback_tools].count(tool)
    again = [each for each in made if _is_again(each, tool, wanted.arguments)]
    if sum(not call.failed for call in again) >= planned:
        return f"{tool} was called with exactly this in this step, and that is done."
    if wanted.risk.at_most(Risk.write):
        return None
    same = [call for call in made if call.tool == tool and call.was_tried]
    if sum(not call.failed for call in same) >= planned:
        return f"The plan has {tool} {_times(planned)} in this step, and that is done."
    if sum(call.failed for call in same) >= _MOST_FAILED * planned:
        return f"{tool} failed before in this step and is not tried again."
    return None


def _done_before(wanted: Wanted) -> str | None:
    """The very same in two steps happens twice only where the plan gives all of it in both."""
    given = _given(wanted.arguments)
    if wanted.risk.at_most(Risk.compute) or set(given) <= set(wanted.step.arguments):
        return None
    if any(
        each.tool == wanted.tool and is_same(_given(each.arguments), given)
        for each in wanted.earlier
    ):
        return f"{wanted.tool} was called with exactly this in another step, and that is done."
    return None


def _is_again(made: Made, tool: str, arguments: Mapping[str, Any]) -> bool:
    return made.tool == tool and is_same(made.arguments, arguments)


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in arguments.items()
        if value is not False and value not in (None, "", [], {})
    }


def _unspoken(wanted: Wanted) -> str | None:
    """What neither the plan nor a person spoke of stays empty."""
    if wanted.risk.at_most(Risk.compute):
        return None
    for part in wanted.holes:
        if not part.optional or part.argument in wanted.step.open or not part.role.is_weighty:
            continue
        if _is_new(wanted, part):
            continue
        return (
            f"Neither the person nor the plan mentions {part.path} of {wanted.tool}: leave it out."
        )
    return None


def _is_new(wanted: Wanted, part: Part) -> bool:
    """Whether it is a new name for something new; what exists has been seen."""
    return wanted.risk is Risk.write and part.may_be_new and wanted.is_made_up(part)


def _otherwise_than_planned(wanted: Wanted) -> str | None:
    step, arguments = wanted.step, wanted.arguments
    is_first = wanted.tool == step.tools[0] if step.tools else False
    for name, planned in step.arguments.items():
        form = form_of(planned, wanted.risk)
        if name not in arguments:
            if is_first:
                return f"The plan gives {name}; give it as planned."
        elif form is not None:
            given = arguments[name]
            if not isinstance(given, str) or form.pieces(given) is None:
                return f"The plan gives {name} as a form. Fill its holes and change nothing else."
        elif not is_same(planned, arguments[name]):
            return f"The plan gives {name}, and this is something else. Give it as planned."
    return None


def _somewhere_else(wanted: Wanted) -> str | None:
    tool = wanted.tool
    if wanted.risk.at_most(Risk.compute):
        # Reading changes nothing, but an address that was put together carries out what was put into it.
        made_up = [p.path for p in wanted.holes if p.role.is_address and wanted.is_made_up(p)]
        return f"{tool} would open {made_up[0]}, which stands nowhere." if made_up else None
    planned = [part for part in wanted.parts if part.argument in wanted.step.arguments]
    fixed = any(part.role.says_where for part in planned)
    for part in wanted.holes:
        if part.role is Role.undeclared:
            return (
                f"{tool} does not declare what {part.path} is for, so only a person or the plan gives it. "
                "Declare its role, or name the value in the request."
            )
        # What exists is changed only where somebody named it: foreign text can name all there is.
        exists = wanted.risk in _CHANGES and ELSEWHERE in wanted.labels[part.path].sources
        if not part.role.names_something or (wanted.is_bound(part) and not exists):
            if fixed and part.role.says_where:
                return f"The plan says where {tool} goes; {part.path} is not part of it."
            continue
        if _is_new(wanted, part):
            continue
        return (
            f"Nobody named {part.path} of {tool}, and it is not from a step whose result this step works on. "
            "Only a person or the plan says where something goes."
        )
    return None


def _all_foreign(wanted: Wanted) -> str | None:
    """Where nothing that matters in a call was said by anybody, there is nothing to ask a person about."""
    tool, targets = wanted.tool, wanted.targets
    if wanted.risk.at_most(Risk.write) or not any(part.role.says_where for part in targets):
        return None
    if wanted.passing_on:
        return f"{tool} would pass on an address from foreign text to somebody whom nobody named."
    given = [part for part in wanted.fixed if part.role.names_something]
    if wanted.spends and len(targets) > 1 and not given:
        return f"{tool} moves money, and nobody named {_listed(targets, ' or ')}."
    words = [
        part
        for part in wanted.holes
        if part not in targets and is_wide(part) and not wanted.is_bound(part)
    ]
    if wanted.spends and words:
        return (
            f"Money goes to somebody whom nobody named: {_listed(words, ' and ')} must stand word for word in the "
            "result that names them, or be left out."
        )
    return None


def _listed(parts: Sequence[Part], between: str) -> str:
    return between.join(part.path for part in parts)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
