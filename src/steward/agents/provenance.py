"""Where the arguments of a model's call come from: said by a person, quoted from what was read, or made up.

A value counts as said or quoted only when it stands there whole; what is put together is something new, and what is new
is the model's. So a text that tells a model what to write can be found again in what the model writes, and an address
that was built from pieces is known to be nobody's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from steward.agents.links import unnamed_address
from steward.agents.naming import is_amount, is_look, is_reach, is_switch, is_target, switches_in
from steward.agents.quoting import Text, hides_something, plain
from steward.broker.labels import Labels, joined
from steward.broker.tool import Risk
from steward.runs import Json

MADE_UP: Final = "model"
"""Source of what stands nowhere: a model's own words."""
FORM: Final = "form"
"""Source of what fills a form that a person gave, such as 'Dinner at {restaurant}'."""
ELSEWHERE: Final = "elsewhere"
"""Source of what also stands in a text that is no step's result, such as the names of the project's data."""
ADDRESS: Final = "address"
"""Source of text that carries an address which no person named, such as a link."""
STEP: Final = "step:"
"""Prefix of the source that names the step of the plan whose result a text is."""
FROM: Final = "from:"
"""Prefix of the source that names the step in whose result a value stands whole.

Another word than for texts: results inherit the labels of arguments, and must not pass for results of earlier steps.
"""

_SMALL: Final = 1_000


def result_of(step_id: str, labels: Labels) -> Labels:
    """Labels of a text that is this step's result, whatever the step itself worked on."""
    return Labels(
        (*(s for s in _bare(labels) if not s.startswith(STEP)), f"{STEP}{step_id}"), labels.trusted
    )


def trusted_for(risk: Risk, said: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """What counts as said by a person for a call of this risk.

    Names of the catalogue are good enough to look at something. What is changed or sent a person has to name.
    """
    return (*said, *names) if risk.at_most(Risk.compute) else tuple(said)


def label_arguments(
    arguments: Mapping[str, Json],
    trusted: Sequence[str],
    seen: Sequence[tuple[str, Labels]],
    *,
    schema: Mapping[str, Any] | None = None,
) -> dict[str, Labels]:
    """The labels of each argument of a call that a model makes.

    `trusted` are texts that people wrote or approved, `seen` the texts that were shown to the model. A value that stands
    whole in a trusted text, or is a harmless constant, carries no label. One that stands whole in texts that were seen
    has their labels, and so has what only fills a form from them that a person gave. Everything else is made up after
    all that was seen, and has the labels of all of it.
    """
    whole = schema or {}
    properties, shared = whole.get("properties", {}), whole.get("$defs", {})
    told = [Text(text) for text in trusted]
    shown = [(Text(text), _as_argument(labels)) for text, labels in seen]
    everything = joined(labels for _, labels in shown)
    return {
        name: _together(
            _label(name, leaf, told, shown, everything)
            for leaf in _parts(name, value, properties.get(name, {}), shared)
        )
        for name, value in arguments.items()
    }


def _together(leaves: Iterable[Labels]) -> Labels:
    """Labels of a value with parts: it is from a step only if every part that nobody named is from there."""
    found = [labels for labels in leaves if labels.sources or not labels.trusted]
    steps = [{s for s in labels.sources if s.startswith(FROM)} for labels in found]
    common = set.intersection(*steps) if steps else set()
    whole = joined(found)
    kept = (s for s in whole.sources if not s.startswith(FROM) or s in common)
    return Labels(tuple(kept), whole.trusted)


def _label(
    name: str,
    leaf: Json,
    told: Sequence[Text],
    shown: Sequence[tuple[Text, Labels]],
    everything: Labels,
) -> Labels:
    if isinstance(leaf, bool) and is_switch(name):
        return Labels() if leaf is _speaks_of(name, told) else everything.joined(Labels((MADE_UP,)))
    # A name or an address is one line; what is appended to one is a trick.
    is_odd = is_target(name) and isinstance(leaf, str) and bool(set(leaf) & set("\n\t"))
    if _is_harmless(name, leaf) or (not is_odd and any(text.holds(leaf) for text in told)):
        return Labels()
    marked = Labels((ADDRESS,)) if _carries_address(leaf, told) else Labels()
    quoted = [labels for text, labels in shown if not is_odd and text.holds(leaf)]
    if quoted:
        if any(not any(s.startswith(FROM) for s in labels.sources) for labels in quoted):
            marked = marked.joined(Labels((ELSEWHERE,)))
        return joined([*quoted, marked])
    filled = None if is_odd else _filled(leaf, told, shown)
    if filled is not None:
        return joined([filled, marked, Labels((FORM,))])
    return joined([everything, marked, Labels((MADE_UP,))])


def _speaks_of(name: str, told: Sequence[Text]) -> bool:
    return any(text.holds(word) for word in switches_in(name) for text in told)


def _carries_address(leaf: Json, told: Sequence[Text]) -> bool:
    return unnamed_address(leaf, [text.source for text in told]) is not None


def _as_argument(labels: Labels) -> Labels:
    """Labels of a text as a value has them that stands in it."""
    sources = (
        FROM + source.removeprefix(STEP) if source.startswith(STEP) else source
        for source in _bare(labels)
    )
    return Labels(tuple(sources), labels.trusted)


def _bare(labels: Labels) -> Iterator[str]:
    """Sources without what was found out about the arguments of an earlier call."""
    for source in labels.sources:
        if source not in {MADE_UP, FORM, ADDRESS, ELSEWHERE} and not source.startswith(FROM):
            yield source


def _filled(
    leaf: Json, told: Sequence[Text], shown: Sequence[tuple[Text, Labels]]
) -> Labels | None:
    """The labels of what fills a person's form, when each piece stands whole in what was seen."""
    if not isinstance(leaf, str) or hides_something(leaf):
        return None
    for form in (form for text in told for form in text.forms):
        match = form.fullmatch(plain(leaf))
        if match is None:
            continue
        found = [
            [labels for text, labels in shown if text.holds(piece)] for piece in match.groups()
        ]
        if all(found):
            return joined(labels for each in found for labels in each)
    return None


def _is_harmless(name: str, leaf: Json) -> bool:
    match leaf:
        case None | bool() | "":
            return True
        case int() | float():
            # A number says which one, or how much, where the argument is for that.
            return not is_target(name) and not is_amount(name) and abs(leaf) <= _SMALL
    return False


def _parts(
    name: str, value: Json, schema: Mapping[str, Any], shared: Mapping[str, Any]
) -> Iterator[Json]:
    """What somebody has to have said; which method changes something is no harmless choice."""
    if name == "method" and isinstance(value, str):
        if not is_look({name: value}):
            yield value
    elif is_reach(name):
        # How far something reaches is no harmless choice either, whatever the tool lists.
        yield from _leaves(value, {}, {})
    else:
        yield from _leaves(value, schema, shared)


def _leaves(value: Json, schema: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[Json]:
    """Every value inside, and every name that the tool did not declare: both can carry a message."""
    schema = _followed(schema, shared)
    match value:
        case dict():
            declared = schema.get("properties", {})
            for key, item in value.items():
                if key not in declared:
                    yield key
                yield from _leaves(item, declared.get(key, {}), shared)
        case list():
            items = schema.get("items", {})
            for item in value:
                yield from _leaves(item, items if isinstance(items, dict) else {}, shared)
        case _ if isinstance(value, str) and value in _choices(schema, shared):
            return
        case _:
            yield value


def _choices(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> list[Any]:
    """The values that a tool's author listed."""
    if "const" in schema:
        return [schema["const"]]
    parts = (_followed(part, shared) for part in schema.get("anyOf", ()))
    return [*schema.get("enum", ()), *(choice for part in parts for choice in _choices(part, {}))]


def _followed(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    found = shared.get(name, {}) if name else schema
    return found if isinstance(found, Mapping) else {}
