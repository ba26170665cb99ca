"""The skills that Steward brings along: folders of `steward.skills`, checked like everybody's."""

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from steward.agents.skills.archives import pack
from steward.agents.skills.check import check
from steward.agents.skills.model import Origin, Skill
from steward.agents.skills.paths import is_junk, safe_files
from steward.core import Bug


@cache
def builtin_skills() -> Mapping[str, Skill]:
    """By name; read once."""
    folders = sorted(
        (item for item in files("steward.skills").iterdir() if item.is_dir()),
        key=lambda item: item.name,
    )
    return {item.name: _skill(item) for item in folders if not is_junk(f"{item.name}/x")}


def _skill(folder: Traversable) -> Skill:
    inside = safe_files(dict(_files(folder, "")))
    found = check(inside, folder.name)
    if found.document is None:
        raise Bug(f"The built-in skill {folder.name} is broken: {found.faults[0]}")
    return Skill(folder.name, 0, content_digest(inside), Origin.builtin, found.document, inside)


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for item in sorted(folder.iterdir(), key=lambda each: each.name):
        path = prefix + item.name
        if is_junk(f"{path}/x" if item.is_dir() else path):
            continue
        if item.is_dir():
            yield from _files(item, f"{path}/")
        else:
            yield path, item.read_bytes()


def content_digest(inside: Mapping[str, bytes]) -> str:
    """Names the content of a skill, wherever it is kept."""
    return sha256(pack(inside)).hexdigest()
