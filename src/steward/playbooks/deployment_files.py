"""Deployments as files beside those of playbooks: Git shows what a deployment pins, and an import deploys the same."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from steward.core import Invalid, StewardError
from steward.identity import Access
from steward.playbooks.cards import Card, State
from steward.playbooks.deployer import Deployer
from steward.playbooks.exchange import Change, Exchange, Imported, read_bytes, write_private
from steward.playbooks.library import Library

ENDING: Final = ".deployed.json"
_LARGEST: Final = 1_000_000
_PAGE: Final = 100


class DeploymentFiles:
    def __init__(self, library: Library, deploying: Deployer, exchange: Exchange) -> None:
        self._library = library
        self._deploying = deploying
        self._exchange = exchange

    def write(self, access: Access, folder: Path) -> list[Path]:
        """Beside the file of each deployed playbook: which version, and every part that it pins."""
        written = []
        for card in self._exchange.everything(access):
            if card.state is not State.active or card.deployment is None:
                continue
            found, _ = self._deploying.look(access, card.id, card.deployment)
            pins = [
                {"kind": pin.kind, "name": pin.name, "version": pin.version, "hash": pin.hash}
                for pin in sorted(found.pins, key=lambda pin: (pin.kind, pin.name))
            ]
            graph = next(pin["hash"] for pin in pins if pin["kind"] == "graph")
            document = {"format": 1, "playbook": card.slug, "graph": graph, "pins": pins}
            text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
            path = folder.joinpath(*card.folder.split("/")) / f"{card.slug}{ENDING}"
            write_private(path, text.encode())
            written.append(path)
        return written

    def read(self, access: Access, folder: Path, done: Sequence[Imported]) -> list[Imported]:
        """Deploys what the files of a folder say; nothing where its playbooks were not taken in."""
        if any(each.change is Change.refused for each in done):
            return []
        return [
            self._deployed(access, path, str(path.relative_to(folder)))
            for path in sorted(folder.rglob(f"*{ENDING}"))
        ]

    def _deployed(self, access: Access, path: Path, name: str) -> Imported:
        try:
            slug, graph = _read(path)
            card = self._library.get(access, slug)
            number = self._number(access, card, graph)
            if card.state is State.active and card.deployed == number:
                return Imported(name, Change.unchanged, card)
            made = self._deploying.deploy(access, card.id, number, f"Imported from {name}"[:400])
            return Imported(name, Change.changed, made)
        except StewardError as problem:
            return Imported(name, Change.refused, reason=problem.message)

    def _number(self, access: Access, card: Card, graph: str) -> int:
        for revision in self._revisions(access, card):
            if revision[1] == graph:
                return revision[0]
        raise Invalid(
            f"{card.slug} has no version with the hash {graph[:12]}…; import its file as well."
        )

    def _revisions(self, access: Access, card: Card) -> Iterator[tuple[int, str]]:
        before: int | None = None
        while page := self._library.revisions(access, card.id, before=before, limit=_PAGE):
            yield from ((each.number, each.hash) for each in page)
            before = page[-1].number


def _read(path: Path) -> tuple[str, str]:
    try:
        document = json.loads(read_bytes(path, _LARGEST))
        slug, graph = document["playbook"], document["graph"]
    except (ValueError, KeyError, TypeError):
        raise Invalid(f"{path.name} is not a file that 'export --deployed' wrote.") from None
    if not isinstance(slug, str) or not isinstance(graph, str):
        raise Invalid(f"{path.name} does not say which playbook and which version it means.")
    return slug, graph
