"""Blueprints: stories with a playbook to start from, as YAML files in the package and in the home folder."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from steward.core import Invalid, NotFound, StewardError, dump_yaml, mistakes
from steward.flows import NotDoneYet
from steward.identity import Access, Role
from steward.playbooks.cards import Card
from steward.playbooks.documents import as_json, decoded, lined, refusal
from steward.playbooks.exchange import read_file
from steward.playbooks.library import Library
from steward.playbooks.model import Document, Playbook, Prose, Slug, Title
from steward.playbooks.needs import Datasets
from steward.versions import MAIN

_MOST_FILES: Final = 500


class SampleDataset(Document):
    """A small table to try the blueprint on."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_ -]{0,99}$")]
    csv: str = Field(max_length=200_000, description="Its rows, with a line of headings.")


class Sample(Document):
    datasets: list[SampleDataset] = Field([], max_length=20)
    demo: list[Title] = Field([], max_length=20, description="Tables of the demo data it works on.")
    inputs: dict[str, Any] = Field({}, description="What to enter in the form.")


class Blueprint(Document):
    format: Literal[1] = Field(description="Version of this schema.")
    id: Slug
    title: Title
    category: Title = Field(description="Under which heading the catalogue shows it.")
    problem: Prose = Field(description="What people suffer from.")
    does: Prose = Field(description="What it does about it, step by step.")
    impact: Prose = Field(description="What can be expected; no promises that nobody measured.")
    systems: list[Title] = Field([], max_length=50, description="Where the data usually lies.")
    sample: Sample = Sample()
    playbook: Playbook

    @property
    def yaml(self) -> str:
        return dump_yaml(as_json(self.playbook))


@dataclass(frozen=True)
class Broken:
    """A file that is not a blueprint, for whoever put it there."""

    file: str
    reason: str


@dataclass(frozen=True)
class Shelf:
    blueprints: Mapping[str, Blueprint]
    broken: tuple[Broken, ...]
    own: frozenset[str]
    """Ids of those from the home folder."""


Bring = Callable[[Access, str, str], Awaitable[None]]
"""Loads a dataset of this name from CSV, through the broker."""


class Blueprints:
    def __init__(self, home: Path, library: Library, datasets: Datasets, bring: Bring) -> None:
        self._home = home
        self._library = library
        self._datasets = datasets
        self._bring = bring

    def shelf(self) -> Shelf:
        """All blueprints by id; shipped ones cannot be replaced by files of the same id."""
        found: dict[str, Blueprint] = {}
        broken: list[Broken] = []
        own: set[str] = set()
        for _, text in _shipped():
            blueprint = read_blueprint(text)
            if blueprint.id in found:
                raise Invalid(f"Two shipped blueprints are called {blueprint.id!r}.")
            found[blueprint.id] = blueprint
        for path in sorted((self._home / "blueprints").glob("*.yaml"))[:_MOST_FILES]:
            try:
                blueprint = read_blueprint(read_file(path))
            except StewardError as problem:
                broken.append(Broken(path.name, problem.message))
                continue
            if blueprint.id in found:
                broken.append(Broken(path.name, f"there is a blueprint {blueprint.id!r} already"))
                continue
            found[blueprint.id] = blueprint
            own.add(blueprint.id)
        return Shelf(found, tuple(broken), frozenset(own))

    def get(self, blueprint_id: str) -> Blueprint:
        shelf = self.shelf()
        if blueprint_id not in shelf.blueprints:
            known = ", ".join(sorted(shelf.blueprints)) or "none"
            raise NotFound(f"There is no blueprint {blueprint_id[:60]!r}. Known: {known}.")
        return shelf.blueprints[blueprint_id]

    def fork(self, access: Access, blueprint_id: str) -> Card:
        """A draft playbook of the caller's own, from the blueprint's template."""
        access.require(Role.editor)
        blueprint = self.get(blueprint_id)
        slug = self._library.free_slug(access, blueprint.playbook.id)
        template = blueprint.playbook.model_copy(
            update={"id": slug, "owner": None, "allowed": None}
        )
        return self._library.create(
            access, as_json(template), message=f"Forked from the blueprint {blueprint.title}"
        )

    async def load_sample(self, access: Access, blueprint_id: str) -> dict[str, bool]:
        """Loads the datasets of the sample by their names; False for one that is there already, and stays as it is.

        Where somebody must approve the loads first, NotDoneYet is raised once all of them are asked for.
        """
        access.require(Role.editor)
        found = await asyncio.to_thread(self._datasets, access.scope, MAIN)
        there = {each.name for each in found}
        samples = (await asyncio.to_thread(self.get, blueprint_id)).sample.datasets
        if not samples:
            raise NotFound("This blueprint has no sample data.")
        waiting: NotDoneYet | None = None
        for each in samples:
            if each.name not in there:
                try:
                    await self._bring(access, each.name, each.csv)
                except NotDoneYet as problem:
                    waiting = waiting or problem
        if waiting is not None:
            raise waiting
        return {each.name: each.name not in there for each in samples}


def read_blueprint(text: str) -> Blueprint:
    document = lined(text, "blueprint")
    try:
        return Blueprint.model_validate(document.value)
    except ValidationError as problem:
        raise refusal("This is not a blueprint", mistakes(problem), document) from None


def _shipped() -> Iterator[tuple[str, str]]:
    folder = files("steward.playbooks") / "blueprints"
    for item in sorted(folder.iterdir(), key=lambda each: each.name):
        if item.name.endswith(".yaml"):
            yield item.name, decoded(item.read_bytes(), "blueprint")
