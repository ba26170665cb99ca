"""What differs between two versions of an agent, field by field; long texts line by line."""

import difflib
from dataclasses import dataclass
from typing import Any, Final

from steward.agents.operating.roster import Agent
from steward.core import dump_yaml

_CONTEXT: Final = 3
MOST_LINES: Final = 2_000


@dataclass(frozen=True)
class FieldChange:
    """A field before and after; unset where it was left to its default."""

    field: str
    before: Any
    after: Any
    lines: tuple[str, ...]
    """As `diff -u` has them, without the names."""


def changes_between(before: Agent | None, after: Agent | None) -> list[FieldChange]:
    old, new = _given(before), _given(after)
    was, now = _whole(before), _whole(after)
    names = [name for name in Agent.model_fields if name in old or name in new]
    return [
        FieldChange(name, old.get(name), new.get(name), _lines(was.get(name), now.get(name)))
        for name in names
        if old.get(name) != new.get(name)
    ]


def _given(agent: Agent | None) -> dict[str, Any]:
    return {} if agent is None else agent.model_dump(mode="json", exclude_defaults=True)


def _whole(agent: Agent | None) -> dict[str, Any]:
    """With defaults, which people read as values like any other; what is empty is left out."""
    found = {} if agent is None else agent.model_dump(mode="json", exclude_none=True)
    return {name: value for name, value in found.items() if value != []}


def _lines(before: Any, after: Any) -> tuple[str, ...]:
    compared = difflib.unified_diff(_text(before), _text(after), lineterm="", n=_CONTEXT)
    return tuple(list(compared)[2 : 2 + MOST_LINES])


def _text(value: Any) -> list[str]:
    if value is None:
        return []
    text = value if isinstance(value, str) else dump_yaml(value)
    return text.splitlines()
