"""What a person should look at although the plan allows it, each in words that they can check.

The plan says where to look, not what is there. Where what is there are records, a value is taken from a field; where it
is one of several, or more than anything that the records show, nobody has said that it is meant.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from steward.agents.links import unnamed_address
from steward.agents.naming import (
    is_amount,
    is_link,
    is_look,
    is_narrow,
    is_reach,
    is_recipient,
    is_switch,
    is_target,
)
from steward.agents.plan import PlanStep
from steward.agents.provenance import FROM
from steward.agents.quoting import stands_in
from steward.agents.records import (
    Record,
    as_number,
    is_another,
    is_beside_records,
    limit_said,
    most_of,
    others_beside,
)
from steward.agents.wanted import Known, Wanted, is_same, sources_of
from steward.broker.tool import Risk

_LONGEST: Final = 80
_MOST_NAMED: Final = 3
_MOST_DOUBTS: Final = 5


def doubts(wanted: Wanted, *, plan_is_trusted: bool) -> tuple[str, ...]:
    """Why a person should look at a call that was not refused; none where it does no more than a person wants.

    Either a person or the plan named where it goes: then what was read may be its content. Or the plan says whose
    result names where it goes: then nothing else in it may come from there, and no money goes to who is named there.
    A call of which neither said anything is nothing that anybody asked for, and links are not passed on unasked.
    A plan speaks for a person only when one approved it or rules made it; a model's plan is a model's word.
    """
    if not plan_is_trusted:
        wanted = wanted.without_plan()
    found = [
        *_passed_on(wanted),
        *found_otherwise(wanted),
        *_sent_before(wanted),
        *_left_to_others(wanted),
    ]
    return tuple(dict.fromkeys(found))[:_MOST_DOUBTS]


def is_asked_for(risk: Risk, found: Sequence[str]) -> bool:
    """Whether a call does what a person asked for and no more, given the doubts about it."""
    return risk.at_most(Risk.external_send) and not found


def above_limit(wanted: Wanted) -> str | None:
    """Why an amount is refused: a person said how much it is at most."""
    if wanted.known is None:
        return None
    for name, value in wanted.arguments.items():
        number = as_number(value) if is_amount(name) and name not in wanted.step.arguments else None
        limit = limit_said(wanted.known.said) if number is not None else None
        if number is not None and limit is not None and number > limit:
            return f"The person said at most {limit}, and {name} is {value}."
    return None


def found_otherwise(wanted: Wanted) -> Iterator[str]:
    """Values that were not found where the plan says, in fields and alone."""
    known = wanted.known
    if known is None:
        return
    # What nobody can have read, such as a new name for something new, is judged elsewhere.
    holes = [name for name in wanted.holes if not wanted.is_made_up(name) or not is_target(name)]
    has_words = any(not is_link(name) and wanted.is_wide(name) for name in wanted.arguments)
    # Where more is open, the record that a person named may be where the rest comes from.
    alone = sum(is_target(name) or not is_narrow(wanted.arguments[name]) for name in holes) == 1
    for name in holes:
        if is_switch(name) or is_reach(name):
            yield f"Nobody said that {name} is {_value(wanted.arguments[name])}."
        elif is_target(name) and (has_words or not is_link(name)):
            yield from _target(wanted.step, name, wanted.arguments[name], known, alone=alone)
    if wanted.spends:
        yield from _amounts(wanted, known, holes)


def _target(step: PlanStep, name: str, value: Any, known: Known, *, alone: bool) -> Iterator[str]:
    records, words = known.records(step, name), known.words(step, name)
    for leaf in _leaves(value):
        it = f"{_value(leaf)} ({name})"
        if stands_in(leaf, known.said):
            continue
        if is_beside_records(name, leaf, records):
            place = _place_among_words(leaf, records)
            yield f"{it} stands {place}, not in a field of what {_steps(step, name)} found."
        elif alone and is_another(leaf, records, known.said):
            own = _names(each for each in records if each.has(leaf))
            meant = _names(each for each in records if each.is_named_in(known.said))
            yield f"{it} is of {own or 'another record'}; the person named {meant or 'one'}."
        elif not any(each.has(leaf) for each in records):
            others = others_beside(leaf, words)
            if others:
                beside = ", ".join(map(_value, others[:_MOST_NAMED]))
                yield f"{it} is one of several that {_steps(step, name)} found, beside {beside}."


def _amounts(wanted: Wanted, known: Known, holes: Sequence[str]) -> Iterator[str]:
    about = [
        value
        for name, value in wanted.arguments.items()
        if name not in holes and isinstance(value, str)
    ]
    for name, value in wanted.arguments.items():
        number = as_number(value) if is_amount(name) and name not in wanted.step.arguments else None
        if number is None or stands_in(value, known.said):
            continue
        most = most_of(known.records(wanted.step, name), about)
        if most is None:
            yield f"{_value(value)} ({name}) is in no record, and nobody said how much it is."
        elif number > most:
            yield (
                f"{_value(value)} ({name}) is more than the records show from which it is taken: "
                f"{most.normalize():f} at most follows from them."
            )


def _passed_on(wanted: Wanted) -> Iterator[str]:
    said = wanted.known.said if wanted.known is not None else ()
    for name in wanted.passing_on:
        parts = _leaves(wanted.arguments[name])
        link = next((each for part in parts if (each := unnamed_address(part, said))), "an address")
        yield f"{name} passes on {_value(link)}, from a text that others wrote; nobody named it."


def _sent_before(wanted: Wanted) -> Iterator[str]:
    """Another step sent something to where this one would go, and the plan left that open."""
    targets = wanted.targets
    if not targets or any(is_link(name) for name in targets):
        return
    places = [name for name in wanted.arguments if is_target(name)]
    for made in wanted.earlier:
        if made.tool in wanted.step.allowed and all(
            is_same(made.arguments.get(name), wanted.arguments[name]) for name in places
        ):
            name = targets[0]
            yield (
                f"{made.tool} was called for {_value(wanted.arguments[name])} ({name}) in another step "
                "already, and the plan left open whom or what this one is for."
            )


def _left_to_others(wanted: Wanted) -> Iterator[str]:
    """More was left open than where one thing goes."""
    holes, targets = wanted.holes, wanted.targets
    wide = [name for name in holes if wanted.is_wide(name)]
    if is_look(wanted.arguments) and wide:
        # What is fetched needs no words along with it: those would only carry something out.
        yield f"{wide[0]} goes along with what is only fetched: {_origin(wanted, wide[0])}."
        return
    if not targets:
        given = [name for name in wanted.arguments if name not in holes]
        if holes and not any(is_target(n) or wanted.is_wide(n) for n in given):
            yield f"Nobody said what {wanted.tool} is given: {_origins(wanted, holes)}."
        return
    if wanted.spends and any(is_recipient(name) for name in targets):
        yield f"Money goes where nobody named: {_origins(wanted, targets)}."
        return
    wide = [name for name in holes if name in targets or wanted.is_wide(name)]
    if len(wide) > 1:
        yield f"Nobody said where it goes, nor all that it says: {_origins(wanted, wide)}."
    elif not wanted.is_bound(targets[0]):
        yield f"Nobody said where it goes: {_origin(wanted, targets[0])}."


# Words


def _origins(wanted: Wanted, names: Sequence[str]) -> str:
    told = "; ".join(_origin(wanted, name) for name in names[:_MOST_NAMED])
    return told + (" …" if len(names) > _MOST_NAMED else "")


def _origin(wanted: Wanted, name: str) -> str:
    """The value of an argument, and where it stands."""
    it = f"{_value(wanted.arguments[name])} ({name})"
    if wanted.is_made_up(name):
        return f"{it} is the model's own"
    sources = wanted.labels[name].sources
    steps = [each.removeprefix(FROM) for each in sources if each.startswith(FROM)]
    return f"{it} stands in {f'the result of {_joined(steps)}' if steps else 'what was read'}"


def _place_among_words(leaf: Any, records: Sequence[Record]) -> str:
    for record in records:
        field = record.field_with(leaf)
        if field is not None:
            return f"among the words of {field or 'a list'} of {_name(record)}"
    return "among words that somebody wrote"


def _names(records: Iterator[Record]) -> str:
    return ", ".join(list(dict.fromkeys(map(_name, records)))[:_MOST_NAMED])


def _name(record: Record) -> str:
    return "a record" if record.name is None else _value(record.name)


def _steps(step: PlanStep, name: str) -> str:
    return _joined(sources_of(step, name)) or "earlier steps"


def _joined(steps: Sequence[str]) -> str:
    return " or ".join(f"step {each}" for each in steps[:_MOST_NAMED])


def _value(value: Any) -> str:
    """A value on one line, in quotes, without what a screen or a terminal would not show as it is."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    clean = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    short = clean if len(clean) <= _LONGEST else f"{clean[:_LONGEST]}…"
    return f"“{short}”" if isinstance(value, str) else short


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
