"""What a person should look at although the plan allows it, each in words that they can check.

The plan says where to look, not what is there. Where what is there are records, a value is taken from a field; where it
is one of several, or more than anything that the records show, nobody has said that it is meant.
"""

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from steward.agents.operating.links import unnamed_address
from steward.agents.operating.provenance import FROM
from steward.agents.operating.quotations import stands_in
from steward.agents.operating.records import (
    Record,
    is_another,
    is_beside_records,
    is_supported,
    least_said,
    others_beside,
)
from steward.agents.operating.wanted_calls import (
    Known,
    Wanted,
    is_narrow,
    is_same,
    is_wide,
    sources_of,
)
from steward.agents.planning.plan import PlanStep
from steward.broker import Part, Risk, Role, as_number, leaves_of

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
        *_more_than_said(wanted),
        *_sent_before(wanted),
        *_left_to_others(wanted),
    ]
    return tuple(dict.fromkeys(found))[:_MOST_DOUBTS]


def is_asked_for(risk: Risk, found: Sequence[str]) -> bool:
    """Whether a call does what a person asked for and no more, given the doubts about it."""
    return risk.at_most(Risk.external_send) and not found


def found_otherwise(wanted: Wanted) -> Iterator[str]:
    """Values that were not found where the plan says, in fields and alone."""
    for part in wanted.holes:
        if part.role is Role.reach:
            yield f"You did not ask for this: {part.path} is {_value(part.value)}."
    known = wanted.known
    if known is None:
        return
    # What nobody can have read, such as a new name for something new, is judged elsewhere.
    holes = [p for p in wanted.holes if not (p.role.names_something and wanted.is_made_up(p))]
    has_words = any(part.role is not Role.destination and is_wide(part) for part in wanted.parts)
    # Where more is open, the record that a person named may be where the rest comes from.
    alone = sum(p.role.names_something or not is_narrow(p.value) for p in holes) == 1
    for part in holes:
        if part.role.names_something and (has_words or part.role is not Role.destination):
            yield from _target(wanted.step, part, known, alone=alone)
    if wanted.spends:
        yield from _amounts(wanted, known)


def _target(step: PlanStep, part: Part, known: Known, *, alone: bool) -> Iterator[str]:
    records, words = known.records(step, part), known.words(step, part)
    for leaf in leaves_of(part.value):
        it = f"{_value(leaf)} ({part.path})"
        if stands_in(leaf, known.said):
            continue
        if is_beside_records(leaf, records):
            place = _place_among_words(leaf, records)
            yield f"{it} comes from {place}, not from a field of the result of {_steps(step, part)}. Check it before you approve."
        elif alone and is_another(leaf, records, known.said):
            own = _names(each for each in records if each.has(leaf))
            meant = _names(each for each in records if each.is_named_in(known.said))
            yield f"{it} belongs to {own or 'another record'}. You named {meant or 'one'}."
        elif not any(each.has(leaf) for each in records):
            others = others_beside(leaf, words)
            if others:
                beside = ", ".join(map(_value, others[:_MOST_NAMED]))
                yield f"{it} is one of several values in the result of {_steps(step, part)}. Others are {beside}."


def _amounts(wanted: Wanted, known: Known) -> Iterator[str]:
    about = [part.value for part in wanted.fixed if isinstance(part.value, str)]
    for part, value, number in _open_amounts(wanted):
        if stands_in(value, known.said):
            continue
        follows = is_supported(number, known.records(wanted.step, part), about)
        if follows is None:
            yield f"{_value(value)} ({part.path}) is not in your records, and you did not name an amount."
        elif not follows:
            yield (
                f"{_value(value)} ({part.path}) does not follow from your records: it is no figure, sum or difference in "
                "them. Check it before you approve."
            )


def _more_than_said(wanted: Wanted) -> Iterator[str]:
    """Amounts above a number that a person wrote, be it a limit or a price, in whatever language."""
    known = wanted.known
    least = least_said(known.said) if known is not None else None
    if known is None or least is None:
        return
    for part, value, number in _open_amounts(wanted):
        if number > least and not stands_in(value, known.said):
            yield f"You named {least}, and {part.path} is {_value(value)}."


def _open_amounts(wanted: Wanted) -> Iterator[tuple[Part, Any, Decimal]]:
    """Amounts that the plan does not give; of what nobody declared, whatever is a number."""
    for part in wanted.parts:
        if not part.role.is_amount or part.argument in wanted.step.arguments:
            continue
        for leaf in leaves_of(part.value):
            number = as_number(leaf)
            if number is not None and (part.role is Role.amount or number.is_finite()):
                yield part, leaf, number


def _passed_on(wanted: Wanted) -> Iterator[str]:
    said = wanted.known.said if wanted.known is not None else ()
    for part in wanted.passing_on:
        texts = leaves_of(part.value)
        link = next((each for text in texts if (each := unnamed_address(text, said))), "an address")
        yield f"{part.path} contains {_value(link)} from a text that someone else wrote. You did not name it."


def _sent_before(wanted: Wanted) -> Iterator[str]:
    """Another step sent something to where this one would go, and the plan left that open."""
    targets = wanted.targets
    if not targets or any(part.role is Role.destination for part in targets):
        return
    places = {part.argument for part in wanted.parts if part.role.names_something}
    for made in wanted.earlier:
        if made.tool in wanted.step.allowed and all(
            is_same(made.arguments.get(name), wanted.arguments[name]) for name in places
        ):
            yield (
                f"Another step has already called {made.tool} for {_value(targets[0].value)} ({targets[0].path}). "
                "The plan does not say who or what this call is for."
            )


def _left_to_others(wanted: Wanted) -> Iterator[str]:
    """More was left open than where one thing goes."""
    holes, targets = wanted.holes, wanted.targets
    wide = [part for part in holes if is_wide(part)]
    if wanted.only_reads and wide:
        # What is fetched needs no words along with it: those would only carry something out.
        yield f"This call only fetches data, but it would also send {wide[0].path}: {_origin(wanted, wide[0])}."
        return
    if not targets:
        if holes and not any(p.role.names_something or is_wide(p) for p in wanted.fixed):
            yield f"You did not say what to give to {wanted.tool}: {_origins(wanted, holes)}."
        return
    if wanted.spends and any(part.role.says_where for part in targets):
        yield f"You did not name this recipient: {_origins(wanted, targets)}."
        return
    wide = [part for part in holes if part in targets or is_wide(part)]
    if len(wide) > 1:
        yield f"You did not name the recipient, nor all of the content: {_origins(wanted, wide)}."
    elif not wanted.is_bound(targets[0]):
        yield f"You did not name this recipient: {_origin(wanted, targets[0])}."


# Words


def _origins(wanted: Wanted, parts: Sequence[Part]) -> str:
    told = "; ".join(_origin(wanted, part) for part in parts[:_MOST_NAMED])
    return told + (" …" if len(parts) > _MOST_NAMED else "")


def _origin(wanted: Wanted, part: Part) -> str:
    """The value of an argument, and where it stands."""
    it = f"{_value(part.value)} ({part.path})"
    if wanted.is_made_up(part):
        return f"the model wrote {it}"
    sources = wanted.labels[part.path].sources
    steps = [each.removeprefix(FROM) for each in sources if each.startswith(FROM)]
    return f"{it} comes from {f'the result of {_joined(steps)}' if steps else 'what was read'}"


def _place_among_words(leaf: Any, records: Sequence[Record]) -> str:
    for record in records:
        field = record.field_with(leaf)
        if field is not None:
            # Words that hold the value are not what people call the record.
            name = "a record" if stands_in(leaf, [record.name or ""]) else _name(record)
            return f"the text of {field or 'a list'} of {name}"
    return "a text that someone wrote"


def _names(records: Iterator[Record]) -> str:
    return ", ".join(list(dict.fromkeys(map(_name, records)))[:_MOST_NAMED])


def _name(record: Record) -> str:
    return "a record" if record.name is None else _value(record.name)


def _steps(step: PlanStep, part: Part) -> str:
    return _joined(sources_of(step, part)) or "earlier steps"


def _joined(steps: Sequence[str]) -> str:
    return " or ".join(f"step {each}" for each in steps[:_MOST_NAMED])


def _value(value: Any) -> str:
    """A value on one line, in quotes, without what a screen or a terminal would not show as it is."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    clean = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    short = clean if len(clean) <= _LONGEST else f"{clean[:_LONGEST]}…"
    return f"“{short}”" if isinstance(value, str) else short
