"""Finds things of a project by words: datasets, columns, playbooks, runs, conversations, people, agents, connections."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from steward.app.compose import Steward
from steward.identity import Access, Role
from steward.workbench import DatasetCard

Kind = Literal[
    "dataset", "column", "playbook", "run", "conversation", "agent", "connection", "person"
]
SHORTEST: Final = 2
_EACH: Final = 5
"""Of one kind."""
_LOOKED_AT: Final = 50
"""Of one kind, among which those with all words are looked for."""
_MEMBERS: Final = 1_000


@dataclass(frozen=True)
class Hit:
    kind: Kind
    id: str
    """What its address ends with; of a column, the dataset."""
    title: str
    detail: str = ""


def search_project(steward: Steward, access: Access, text: str) -> list[Hit]:
    """What has all the words in its name or, of some kinds, in what it says; at most a few of each kind."""
    words = text.casefold().split()
    if len(text.strip()) < SHORTEST:
        return []
    sources = _FOR_RUNNERS if access.role is Role.runner else _FOR_VIEWERS
    return [hit for source in sources for hit in source(steward, access, words)]


def _data(steward: Steward, access: Access, words: list[str]) -> Iterator[Hit]:
    cards = steward.workbench.datasets.page(access.scope, access.user_id, "main")
    yield from islice(_datasets(cards, words), _EACH)
    yield from islice(_columns(cards, words), _EACH)


def _datasets(cards: Iterable[DatasetCard], words: list[str]) -> Iterator[Hit]:
    for card in cards:
        if _has(words, card.name):
            columns = ", ".join(column.name for column in card.columns[:6])
            yield Hit("dataset", card.name, card.name, f"{card.rows:,} rows: {columns}")


def _columns(cards: Iterable[DatasetCard], words: list[str]) -> Iterator[Hit]:
    for card in cards:
        for column in card.columns:
            # The name of its dataset helps to find it, and is not enough.
            is_meant = any(word in column.name.casefold() for word in words)
            if is_meant and _has(words, column.name, card.name):
                yield Hit("column", card.name, column.name, f"in {card.name}")


def _playbooks(steward: Steward, access: Access, words: list[str]) -> Iterator[Hit]:
    for card in steward.playbooks.library.listed(access, text=_rarest(words), limit=_LOOKED_AT):
        if _has(words, card.name, card.slug, card.goal, card.folder, *card.tags):
            yield Hit("playbook", card.id, card.title, card.folder or card.goal)


def _runs(steward: Steward, access: Access, words: list[str]) -> Iterator[Hit]:
    listed = steward.runs.records.listed(
        access.scope,
        author=access.user_id if access.role is Role.runner else None,
        text=_rarest(words),
        limit=_LOOKED_AT,
        among=steward.playbooks.people.sight(access).among,
    )
    for run in listed:
        if _has(words, run.title):
            yield Hit("run", run.id, run.title, f"{run.status.value}, {run.created_at:%Y-%m-%d}")


def _conversations(steward: Steward, access: Access, words: list[str]) -> Iterator[Hit]:
    for thread in steward.threads.listed(access.scope, text=" ".join(words), limit=_EACH):
        yield Hit("conversation", thread.id, thread.title or "Conversation")


def _agents(steward: Steward, access: Access, words: list[str]) -> Iterator[Hit]:
    for listed in steward.agents.listed(access.scope):
        if _has(words, listed.agent.name, listed.agent.title, listed.agent.description):
            title = listed.agent.title or listed.agent.name
            yield Hit("agent", listed.agent.name, title, listed.agent.description)


def _connections(steward: Steward, access: Access, words: list[str]) -> Iterator[Hit]:
    for each in steward.connections.documents.listed(access.scope, None, _MEMBERS):
        if _has(words, each.name, each.kind):
            yield Hit("connection", each.id, each.name, each.kind)


def _people(steward: Steward, access: Access, words: list[str]) -> Iterator[Hit]:
    for member in steward.identity.members.page(access, limit=_MEMBERS):
        if _has(words, member.name, member.email):
            title = member.name or member.email
            yield Hit("person", member.user_id, title, f"{member.email}, {member.role.name}")


Source = Callable[[Steward, Access, list[str]], Iterable[Hit]]


def _few(source: Source) -> Source:
    return lambda steward, access, words: islice(source(steward, access, words), _EACH)


_FOR_RUNNERS: Final = (_few(_playbooks), _few(_runs))
_FOR_VIEWERS: Final = (
    *(_data, *_FOR_RUNNERS, _conversations),
    *(_few(_agents), _few(_connections), _few(_people)),
)


def _has(words: Iterable[str], *texts: str) -> bool:
    whole = "\n".join(texts).casefold()
    return all(word in whole for word in words)


def _rarest(words: list[str]) -> str:
    """The word that the database looks for; the longest is in fewest names."""
    return max(words, key=len)
