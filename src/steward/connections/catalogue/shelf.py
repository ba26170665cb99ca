"""What can be installed without a network: every service that installed packages describe, searched by words."""

import contextlib
import gzip
import hashlib
import json
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from steward.connections.catalogue import packages
from steward.connections.catalogue.conversion import outline_packages
from steward.connections.catalogue.curated import curated_services
from steward.connections.catalogue.record import RECORD_VERSION

_WORD: Final = re.compile(r"[a-z]+|\d+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class OutlinedOperation:
    name: str
    title: str
    description: str
    verb: str
    risk: str


@dataclass(frozen=True)
class Outlined:
    """A service that can be installed."""

    id: str
    title: str
    description: str
    vendor: str
    adapter: str
    version: str
    licence: str
    categories: tuple[str, ...]
    operations: tuple[OutlinedOperation, ...]


@dataclass(frozen=True)
class Found:
    service: Outlined
    operations: tuple[OutlinedOperation, ...]
    """Those that fit the words; empty where the service itself does."""


class Shelf:
    """Reads the packages once per set of versions, in a process of its own, and remembers it in the home folder."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "catalogue"
        self._lock = threading.Lock()
        self._services: dict[str, Outlined] | None = None
        self._texts: list[tuple[str, frozenset[str], list[frozenset[str]]]] = []

    def services(self) -> dict[str, Outlined]:
        with self._lock:
            if self._services is None:
                self._services = {each["id"]: _outlined(each) for each in self._outlines()}
                self._texts = [
                    (
                        each.id,
                        words(each.title, each.vendor, each.id),
                        [words(o.name, o.title) for o in each.operations],
                    )
                    for each in self._services.values()
                ]
            return self._services

    def counts(self) -> dict[str, int]:
        known = self.services().values()
        return {
            "services": len(known),
            "vendors": len({each.vendor for each in known}),
            "operations": sum(len(each.operations) for each in known),
        }

    def adapters(self) -> Counter[str]:
        return Counter(each.adapter for each in self.services().values())

    def search(self, text: str, adapter: str | None = None, limit: int = 30) -> list[Found]:
        """Services whose name or operations have all the words; names of services count most."""
        known = self.services()
        asked = _WORD.findall(text.lower())[:10]
        ranked: list[tuple[int, str, Found]] = []
        for service_id, about, operations in self._texts:
            service = known[service_id]
            if adapter is not None and service.adapter != adapter:
                continue
            left = [each for each in asked if not _has(about, each)]
            if not left:
                rank = 0 if asked or service_id in curated_services() else 1
                ranked.append((rank, service.title, Found(service, ())))
                continue
            fits = [
                operation
                for operation, has in zip(service.operations, operations, strict=True)
                if all(_has(has, each) for each in left)
            ]
            if fits:
                rank = 2 if len(left) < len(asked) else 3
                ranked.append((rank, service.title, Found(service, tuple(fits[:5]))))
        ranked.sort(key=lambda each: (each[0], each[1].lower()))
        return [found for _, _, found in ranked[:limit]]

    def _outlines(self) -> list[dict[str, Any]]:
        said = json.dumps([packages.versions(), RECORD_VERSION], sort_keys=True)
        name = f"{hashlib.sha256(said.encode()).hexdigest()[:16]}.json.gz"
        # Beside the packages where that can be written to, so that all homes of an environment share it.
        folders = (Path(sys.prefix) / "share" / "steward" / "catalogue", self._folder)
        for folder in folders:
            with contextlib.suppress(OSError, ValueError, EOFError):
                known: list[dict[str, Any]] = json.loads(
                    gzip.decompress((folder / name).read_bytes())
                )
                return known
        found = outline_packages() if packages.versions() else []
        for folder in folders:
            with contextlib.suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                beside = folder / f"{name}.{os.getpid()}.{threading.get_ident()}"
                beside.write_bytes(gzip.compress(json.dumps(found).encode(), 4))
                beside.replace(folder / name)
                break
        return found


def words(*texts: str) -> frozenset[str]:
    found: set[str] = set()
    for text in texts:
        found.update(_WORD.findall(_CAMEL.sub(" ", text).lower()))
        found.update(_WORD.findall(text.lower()))
    return frozenset(found)


def _has(known: Iterable[str], asked: str) -> bool:
    return any(each.startswith(asked) for each in known)


def _outlined(told: dict[str, Any]) -> Outlined:
    return Outlined(
        **{
            **told,
            "categories": tuple(told["categories"]),
            "operations": tuple(OutlinedOperation(*each) for each in told["operations"]),
        }
    )
