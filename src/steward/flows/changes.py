"""What differs between two versions of a flow, in lines that people read."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from steward.flows.expressions import escaped
from steward.flows.model import Flow, dump_flow
from steward.runs import Json

_LONGEST: Final = 80


def diff(before: Flow, after: Flow) -> list[str]:
    """One line for each thing that differs; nothing for flows that run the same but are drawn otherwise."""
    old, new = dump_flow(before), dump_flow(after)
    old.pop("layout", None)
    new.pop("layout", None)
    return list(_document(old, new, ""))


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The same for any two documents."""
    return list(_document(old, new, ""))


def _document(old: Mapping[str, Any], new: Mapping[str, Any], at: str) -> Iterator[str]:
    for name in dict.fromkeys([*old, *new]):
        where = f"{at} {escaped(name)}".strip()
        if name == "nodes" and isinstance(old.get(name), list) and isinstance(new.get(name), list):
            yield from _nodes(old[name], new[name], at)
        else:
            yield from _value(old.get(name), new.get(name), where, name in old, name in new)


def _value(old: Json, new: Json, at: str, was: bool, is_now: bool) -> Iterator[str]:
    if was and is_now and isinstance(old, dict) and isinstance(new, dict):
        yield from _document(old, new, at)
    elif not was:
        yield f"{at}: added {_short(new)}"
    elif not is_now:
        yield f"{at}: removed {_short(old)}"
    elif old != new:
        yield f"{at}: {_short(old)} → {_short(new)}"


def _nodes(old: list[Any], new: list[Any], at: str) -> Iterator[str]:
    before = {node["id"]: node for node in old}
    after = {node["id"]: node for node in new}
    inside = f"{at}: " if at else ""
    for name, node in before.items():
        if name not in after:
            yield f"{inside}node {name} ({node['type']}): removed"
    for name, node in after.items():
        if name not in before:
            yield f"{inside}node {name} ({node['type']}): added"
        else:
            yield from _document(before[name], node, f"{inside}node {name}:")
    kept = [name for name in before if name in after]
    if kept != [name for name in after if name in before]:
        yield f"{inside}nodes: in another order"


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
