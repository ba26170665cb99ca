"""The most used operations of well-known services: data in `curated.yaml`, laid over descriptions that are installed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlsplit

from steward.connections.catalogue.texts import read_text

_VARIABLE: Final = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True)
class CuratedOperation:
    title: str
    order: int
    """Among those of its service."""
    risk: str | None = None
    """Where it is higher than what the verb says."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """Proposals by the path of an argument; a person confirms them."""


@dataclass(frozen=True)
class CuratedSet:
    name: str
    hosts: tuple[str, ...]
    service: str | None
    """Its id where an installed package describes it."""
    operations: Mapping[tuple[str, str], CuratedOperation]
    """By verb and path."""

    def find(self, verb: str, path: str) -> CuratedOperation | None:
        """By its whole path; what stands before the path of the set has no variables, such as `/api/v4`."""
        parts = _VARIABLE.sub("{}", path).split("/")
        for start in range(1, len(parts)):
            found = self.operations.get((verb, "/" + "/".join(parts[start:])))
            if found is not None:
                return found
            if "{}" in parts[start]:
                break
        return None


@cache
def curated_sets() -> tuple[CuratedSet, ...]:
    content = (files(__package__) / "curated.yaml").read_bytes()
    return tuple(_set(each) for each in read_text(content)["sets"])


def _set(told: Mapping[str, Any]) -> CuratedSet:
    operations = {}
    for order, each in enumerate(told["operations"]):
        verb, _, path = each["call"].partition(" ")
        operations[verb, path] = CuratedOperation(
            each["title"], order, each.get("risk"), each.get("roles", {})
        )
    return CuratedSet(told["name"], tuple(told["hosts"]), told.get("service"), operations)


@cache
def curated_services() -> frozenset[str]:
    """Ids of packaged services that have a set."""
    return frozenset(each.service for each in curated_sets() if each.service)


def curated_in(
    base_url: str, operations: Sequence[Mapping[str, Any]]
) -> dict[str, CuratedOperation]:
    """Those of a record's operations that are in a set, by name; in the order of the set."""
    found: dict[str, CuratedOperation] = {}
    for each in operations:
        where = urlsplit(str(each.get("base_url") or base_url))
        path = where.path.rstrip("/") + str(each["path"]).partition("?")[0]
        for known in _of_host(where.hostname or ""):
            curated = known.find(str(each["verb"]), path)
            if curated is not None:
                found[str(each["name"])] = curated
                break
    return dict(sorted(found.items(), key=lambda item: item[1].order))


@cache
def _of_host(host: str) -> tuple[CuratedSet, ...]:
    return tuple(each for each in curated_sets() if any(_fits(host, name) for name in each.hosts))


def _fits(host: str, pattern: str) -> bool:
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return host == pattern
