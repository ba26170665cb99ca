"""Where the arguments of a model's call come from: said by a person, quoted from what was read, or made up.

A value counts as said or quoted only when it stands there whole; what is put together is something new, and what is new
is the model's. So a text that tells a model what to write can be found again in what the model writes, and an address
that was built from pieces is known to be nobody's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from steward.agents.operating.links import unnamed_address
from steward.agents.operating.quotations import Text, hides_something, plain
from steward.broker import Labels, Part, Risk, Role, joined, resolved
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


def label_parts(
    parts: Sequence[Part], trusted: Sequence[str], seen: Sequence[tuple[str, Labels]]
) -> dict[str, Labels]:
    """The labels of each part of a call that a model makes, by its path.

    `trusted` are texts that people wrote or approved, `seen` the texts that were shown to the model. A value that stands
    whole in a trusted text, or is a harmless constant, carries no label. One that stands whole in texts that were seen
    has their labels, and so has what only fills a form from them that a person gave. Everything else is made up after
    all that was seen, and has the labels of all of it.
    """
    told = [Text(text) for text in trusted]
    shown = [(Text(text), _as_argument(labels)) for text, labels in seen]
    everything = joined(labels for _, labels in shown)
    return {
        part.path: _together(
            _label(part, leaf, told, shown, everything) for leaf in _to_be_said(part)
        )
        for part in parts
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
    part: Part,
    leaf: Json,
    told: Sequence[Text],
    shown: Sequence[tuple[Text, Labels]],
    everything: Labels,
) -> Labels:
    # A name or an address is one line; what is appended to one is a trick.
    is_odd = part.role.names_something and isinstance(leaf, str) and bool(set(leaf) & set("\n\t"))
    if not is_odd and any(text.holds(leaf) for text in told):
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
        pieces = form.pieces(plain(leaf))
        if pieces is None:
            continue
        found = [[labels for text, labels in shown if text.holds(piece)] for piece in pieces]
        if all(found):
            return joined(labels for each in found for labels in each)
    return None


def _to_be_said(part: Part) -> Iterator[Json]:
    """What somebody has to have said of a value: nothing where the tool works the same without it, or only reads with it."""
    if part.is_default or part.only_reads:
        return
    schema = _followed(part.schema, part.root)
    for leaf in _leaves(part.value, schema, part.root, chosen=part.role.is_weighty):
        if not _is_harmless(part, leaf):
            yield leaf


def _is_harmless(part: Part, leaf: Json) -> bool:
    match leaf:
        case None | "":
            return True
        case bool():
            # Off reaches nowhere, unless that is what the tool's author calls the exception.
            is_off = part.role is Role.reach and not leaf and "default" not in part.schema
            return is_off or part.role not in {Role.reach, Role.undeclared}
        case int() | float():
            # A number says which one, how much or how far, where the argument is for that.
            return not part.role.is_weighty and abs(leaf) <= _SMALL
    return False


def _leaves(
    value: Json, schema: Mapping[str, Any], root: Mapping[str, Any], *, chosen: bool
) -> Iterator[Json]:
    """Every value inside, and every name that the tool did not declare: both can carry a message.

    `chosen`: which of the listed values is taken counts too.
    """
    match value:
        case dict():
            declared = schema.get("properties", {})
            for key, item in value.items():
                if key not in declared:
                    yield key
                inner = _followed(declared.get(key, {}), root)
                yield from _leaves(item, inner, root, chosen=chosen)
        case list():
            items = _followed(schema.get("items", {}), root)
            for item in value:
                yield from _leaves(item, items, root, chosen=chosen)
        case str() if not chosen and value in _choices(schema, root):
            return
        case _:
            yield value


def _choices(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Any]:
    """The values that a tool's author listed."""
    if "const" in schema:
        return [schema["const"]]
    parts = (_followed(part, root) for part in schema.get("anyOf", ()))
    return [*schema.get("enum", ()), *(choice for part in parts for choice in _choices(part, {}))]


def _followed(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found = resolved(schema, root)
    return found if isinstance(found, Mapping) else {}
