"""Lets other datasets and columns stand for those that a playbook's SQL names, without touching what is written."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from steward.playbooks.model import DataNeed
from steward.tables import quote

_SQL: Final = {"check_sql": "sql", "execute_sql": "sql", "transform": "code"}
"""Tools whose argument is SQL, and its name."""
_START: Final = re.compile(
    r"(?P<before>(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*)(?P<with>WITH\s+(?P<recursive>RECURSIVE\s+)?)?",
    re.IGNORECASE | re.DOTALL,
)


def standing_in(step: Mapping[str, Any], needs: Sequence[DataNeed]) -> dict[str, Any]:
    """The step as it runs: what it calls by a name of its own is read from the dataset that stands for it."""
    others = [need for need in needs if need.is_other]
    found = dict(step)
    if not others:
        return found
    if isinstance(found.get("body"), Mapping):
        nodes = [standing_in(node, others) for node in found["body"].get("nodes", [])]
        found["body"] = {**found["body"], "nodes": nodes}
    if found.get("language") == "sql" and isinstance(found.get("code"), str):
        found["code"] = _read_from(found["code"], others)
    given, place = found.get("arguments"), _SQL.get(str(found.get("tool")))
    if place is None or not isinstance(given, Mapping) or given.get("language", "sql") != "sql":
        return found
    changed = dict(given)
    if isinstance(changed.get(place), str):
        changed[place] = _read_from(changed[place], others)
    if isinstance(changed.get("datasets"), list):
        sources = {need.dataset: need.read_from for need in others}
        changed["datasets"] = list(
            dict.fromkeys(sources.get(str(each), each) for each in changed["datasets"])
        )
    return {**found, "arguments": changed}


def _read_from(sql: str, needs: Sequence[DataNeed]) -> str:
    used = [need for need in needs if re.search(rf"\b{re.escape(need.dataset)}\b", sql)]
    start = _START.match(sql)
    if not used or start is None:
        return sql
    views = ", ".join(_view(need) for need in used)
    rest = sql[start.end() :]
    recursive = start["recursive"] or ""
    return f"{start['before']}WITH {recursive}{views}{', ' if start['with'] else ' '}{rest}"


def _view(need: DataNeed) -> str:
    columns = ", ".join(f"{quote(need.column(name))} AS {quote(name)}" for name in need.columns)
    # Qualified, so that a dataset of the same name is meant and not this view of it.
    return f"{quote(need.dataset)} AS (SELECT {columns} FROM main.{quote(need.read_from)})"
