"""A request as commands read it: words with their places, and what surrounds it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from steward.agents.asking.choosing import names_in
from steward.agents.asking.tokens import Token, name_words, readable, tokens_of
from steward.agents.planning.plan_checks import Catalogue
from steward.agents.planning.task import Task


@dataclass(frozen=True)
class Ask:
    task: Task
    catalogue: Catalogue
    text: str
    tokens: tuple[Token, ...] = field(default=())

    @classmethod
    def of(cls, task: Task, catalogue: Catalogue) -> "Ask":
        text = " ".join(readable(task.message).replace("_", " ").split())
        return cls(task, catalogue, text, tokens_of(text, names_in(catalogue.world)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(token.word for token in self.tokens)

    def says(self, *phrases: str) -> bool:
        """Whether one of the phrases is in the request, in whatever number."""
        return any(True for _ in self.places(phrases))

    def places(self, phrases: Iterable[str]) -> Iterator[tuple[int, int]]:
        """Where the phrases are, as ranges of tokens."""
        for phrase in phrases:
            yield from spans(self.words, name_words(phrase))

    def written(self, start: int, end: int) -> str:
        """The original text of a range of tokens."""
        if start >= end:
            return ""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]


def spans(words: Sequence[str], wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Every place where the wanted words follow one another."""
    size = len(wanted)
    for start in range(len(words) - size + 1) if size else ():
        if tuple(words[start : start + size]) == tuple(wanted):
            yield start, start + size
