"""Descriptions that installed packages carry: found without a network, read one at a time."""

import gzip
import hashlib
import importlib.util
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from steward.connections.catalogue.adapters import aws, google_discovery, notify
from steward.connections.catalogue.names import slug
from steward.connections.catalogue.record import Adapter, Service
from steward.connections.catalogue.texts import read_text
from steward.core import NotFound

_PACKAGES: Final[Mapping[Adapter, tuple[str, str]]] = {
    "aws": ("botocore", "botocore"),
    "google_discovery": ("googleapiclient", "google-api-python-client"),
    "notify": ("apprise", "apprise"),
}
_STABLE: Final = re.compile(r"(?P<major>\d+)(?:p\d+)?(?P<rest>.*)")


@dataclass(frozen=True)
class Packaged:
    """A description in a package: what it is called there, and where it lies."""

    id: str
    adapter: Adapter
    name: str
    path: Path | None = None


def versions() -> dict[str, str]:
    """The installed packages that carry descriptions, with their versions."""
    found = {}
    for module, package in _PACKAGES.values():
        if importlib.util.find_spec(module) is not None:
            found[package] = metadata.version(package)
    return found


def missing() -> list[str]:
    """Packages that would bring more."""
    return sorted({package for _, package in _PACKAGES.values()} - versions().keys())


@cache
def packaged() -> Mapping[str, Packaged]:
    """All descriptions by id: one version of each service."""
    found = {each.id: each for source in (_aws, _google, _notify) for each in source()}
    return dict(sorted(found.items()))


def describe(service_id: str) -> Service:
    """The record of one service; NotFound where no installed package carries it."""
    try:
        known = packaged()[service_id]
    except KeyError:
        raise NotFound(
            f"No installed package describes a service {service_id[:80]!r}.", code="no-such-service"
        ) from None
    return described(known)


def described(known: Packaged, *, outline: bool = False) -> Service:
    if known.adapter == "notify":
        return _notify_services()[known.id]
    assert known.path is not None  # noqa: S101
    content = known.path.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    if known.adapter == "google_discovery":
        return google_discovery.describe(read_text(content), sha256, known.id, outline=outline)
    pages = None if outline else _unpacked(known.path.parent, "paginators-1")
    document = _json(content, known.path)
    return aws.describe(document, sha256, known.name, pages, outline=outline)


def _aws() -> Iterator[Packaged]:
    data = _folder("botocore", "data")
    if data is None:
        return
    for service in sorted(data.iterdir()):
        dated = (
            sorted(each for each in service.iterdir() if each.is_dir()) if service.is_dir() else []
        )
        for folder in reversed(dated):
            path = _file(folder, "service-2")
            if path is not None:
                yield Packaged(slug(f"aws-{service.name}"), "aws", service.name, path)
                break


def _google() -> Iterator[Packaged]:
    documents = _folder("googleapiclient", "discovery_cache", "documents")
    if documents is None:
        return
    best: dict[str, tuple[tuple[bool, int, str], Path]] = {}
    for path in documents.glob("*.json"):
        name, _, version = path.stem.partition(".")
        if version and name != "index":
            rank = _rank(version)
            if name not in best or rank > best[name][0]:
                best[name] = (rank, path)
    for name, (_, path) in sorted(best.items()):
        yield Packaged(slug(f"google-{name}"), "google_discovery", name, path)


def _rank(version: str) -> tuple[bool, int, str]:
    """Stable before alpha and beta, then the highest number."""
    found = _STABLE.search(version)
    rest = found["rest"] if found else version
    return (not re.search(r"alpha|beta", rest), int(found["major"]) if found else 0, version)


def _notify() -> Iterator[Packaged]:
    if importlib.util.find_spec("apprise") is None:
        return
    for service_id in _notify_services():
        yield Packaged(service_id, "notify", service_id)


@cache
def _notify_services() -> Mapping[str, Service]:
    with warnings.catch_warnings():
        # Some of its plug-ins load modules that Python is about to drop.
        warnings.simplefilter("ignore", DeprecationWarning)
        from apprise import Apprise

        details = Apprise().details()
    found: dict[str, Service] = {}
    for each in notify.describe_all(details, lambda text: hashlib.sha256(text).hexdigest()):
        found.setdefault(each.id, each)
    return found


def _folder(module: str, *parts: str) -> Path | None:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent.joinpath(*parts)
    return folder if folder.is_dir() else None


def _file(folder: Path, stem: str) -> Path | None:
    for name in (f"{stem}.json.gz", f"{stem}.json"):
        if (folder / name).is_file():
            return folder / name
    return None


def _unpacked(folder: Path, stem: str) -> Mapping[str, Any] | None:
    path = _file(folder, stem)
    return None if path is None else _json(path.read_bytes(), path)


def _json(content: bytes, path: Path) -> Mapping[str, Any]:
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    found: Mapping[str, Any] = json.loads(text)
    return found
