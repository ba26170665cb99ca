"""The rules document as YAML: stable, commented for readers, refused with places when wrong."""

from typing import Any

import yaml  # type: ignore[import-untyped]

from steward.analysis.resolve.levels import weight
from steward.analysis.resolve.rules import Rules, parse_rules
from steward.core import Invalid, Problem, TooLarge, Unreadable, read_yaml

MAX_BYTES = 500_000

_SECTIONS: dict[str, str] = {
    "schema_version": "Rules for entity resolution: which rows are the same, and what survives.",
    "sources": "The tables. Rows with an equal party_key are one party before anything is compared.",
    "fields": "What an entity has, the columns it is read from, and how values are made comparable.",
    "blocking": "Two parties are compared if they share all parts of one of these blocks.",
    "comparisons": "The first level that holds counts. m: share of matches, u: share of strangers.",
    "telling": "Two parties are compared only if both have one of these fields.",
    "prior": "The chance that two parties picked at random are the same.",
    "thresholds": "From `match` on, pairs are merged; between review_from and review_to, look.",
    "grouping": "Two groups join only if this share of the pairs between them agrees.",
    "survivorship": "Which value survives. Fields listed together come from one row.",
    "decisions": "What a person decided about two rows; it overrides every score.",
    "notes": "What the proposal wants the reader to know.",
}


_ONE_LINE = {"columns", "levels", "parts", "survivorship", "left", "right"}


class _Flow(dict[str, Any]):
    """A mapping written on one line."""


class _FlowList(list[Any]):
    """A list written on one line."""


# No anchors: a document that repeats itself is easier to edit than one that refers to itself.
_Plain: Any = type("_Plain", (yaml.SafeDumper,), {"ignore_aliases": lambda *_: True})
_Plain.add_representer(
    _Flow, lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data, True)
)
_Plain.add_representer(
    _FlowList, lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, True)
)


def to_yaml(rules: Rules) -> str:
    """The document; what equals its default inside a section is left out."""
    document = rules.model_dump(mode="json", exclude_defaults=True)
    document = {"schema_version": rules.schema_version, "prior": rules.prior, **document}
    whole = rules.model_dump(mode="json")
    parts = []
    for name in type(rules).model_fields:
        # Thresholds are there to be edited, so they are written even where nobody changed them.
        value = whole[name] if name in {"thresholds", "grouping"} else document.get(name)
        if value is None:
            continue
        lines = yaml.dump(
            {name: _flowing(value, name)},
            Dumper=_Plain,
            sort_keys=False,
            allow_unicode=True,
            width=10_000,
        )
        if name == "comparisons":
            lines = _with_weights(lines, rules)
        heading = f"# {_SECTIONS[name]}\n" if name in _SECTIONS else ""
        parts.append(heading + lines)
    return "\n".join(parts)


def from_yaml(text: str) -> Rules:
    """Rules from YAML; mistakes come with their line, or their place in the document."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise TooLarge(f"The rules document is larger than {MAX_BYTES // 1000} kB.")
    try:
        document = read_yaml(text, largest=MAX_BYTES)
    except Unreadable as error:
        raise Invalid(
            f"The rules document is not YAML: line {error.line}: {error.reason}.",
            code="invalid-rules",
            problems=[Problem(f"line {error.line}", error.reason)],
        ) from None
    return parse_rules(document)


def _flowing(value: Any, key: str = "") -> Any:
    """What is short goes on one line, so that a level or a block reads like a row of a table."""
    if isinstance(value, dict):
        entries = {name: _flowing(entry, name) for name, entry in value.items()}
        return _Flow(entries) if key in _ONE_LINE else entries
    if isinstance(value, list):
        items = [_flowing(item, key) for item in value]
        short = key in {"parts", "columns"} or not any(isinstance(item, dict) for item in items)
        return _FlowList(items) if short and key != "notes" else items
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _with_weights(lines: str, rules: Rules) -> str:
    """Each level's evidence as a comment beside it."""
    levels = iter([level for one in rules.comparisons for level in one.levels])
    written = []
    for line in lines.splitlines():
        bits = weight(next(levels)) if line.strip().startswith("- {test:") else None
        written.append(line if bits is None else f"{line}  # {bits:+.1f} {_said(bits)}")
    return "\n".join(written) + "\n"


def _said(bits: float) -> str:
    strength = "strong " if abs(bits) >= 8 else "weak " if abs(bits) < 2 else ""
    return f"{strength}evidence {'for' if bits > 0 else 'against'}"
