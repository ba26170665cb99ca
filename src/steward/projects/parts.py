"""One thing of a project as code: its name, its file, what it means, and how two of them differ."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import unified_diff
from functools import cached_property
from hashlib import sha256
from typing import Any, Final

from steward.runs import Json

LEFT_ALONE: Final = ("drawing", "deployed")
"""Fields of a playbook that stay as they are where a folder does not mention them."""


@dataclass(frozen=True)
class Part:
    kind: str
    name: str
    path: str
    """Its file in a folder, with / between the names."""
    content: Json
    """All that is needed to put it in place."""
    meaning: Mapping[str, Any]
    """What is compared: the same meaning is the same thing, whatever the comments and the order of its file."""

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.name

    @property
    def label(self) -> str:
        return f"{self.kind} {self.name}"

    @cached_property
    def digest(self) -> str:
        text = json.dumps(self.meaning, sort_keys=True, ensure_ascii=False)
        return sha256(text.encode()).hexdigest()

    def beside(self, wanted: "Part") -> "Part":
        """The same, without what the wanted part leaves alone."""
        kept = {
            name: value
            for name, value in self.meaning.items()
            if name not in LEFT_ALONE or name in wanted.meaning
        }
        return replace(self, meaning=kept)


@dataclass(frozen=True)
class FieldDiff:
    field: str
    """A JSON pointer into the meaning."""
    before: Json
    after: Json
    lines: tuple[str, ...] = ()
    """For longer texts, as `diff -u` has them."""


def field_diffs(before: Json, after: Json, at: str = "") -> Iterator[FieldDiff]:
    """What differs, field by field; items of lists are told apart by their position."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            place = f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}"
            yield from field_diffs(before.get(name), after.get(name), place)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from field_diffs(one, other, f"{at}/{index}")
    elif before != after:
        yield FieldDiff(at or "/", before, after, _lines(before, after))


def _lines(before: Json, after: Json) -> tuple[str, ...]:
    texts = [each for each in (before, after) if isinstance(each, str)]
    if len(texts) < 2 or not any("\n" in each for each in texts):
        return ()
    found = unified_diff(texts[0].splitlines(), texts[1].splitlines(), lineterm="", n=1)
    return tuple(found)[2:]
