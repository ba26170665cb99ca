"""The query that is being changed, what was said about it, and the words that were read so far."""

import copy
import json
from typing import Any, Final

from steward.agents.rules.asking import Ask
from steward.agents.rules.frames import Frame, is_about
from steward.agents.rules.grouping import Dimension
from steward.agents.rules.querying import ordered

MOST_ROWS: Final = 100


class Work:
    """`made` is the query so far, `said` what people are told of it, `used` the tokens that need no other reading."""

    def __init__(self, ask: Ask, frame: Frame) -> None:
        self.ask = ask
        self.frame = frame
        self.dataset = frame.dataset
        self.made: dict[str, Any] = copy.deepcopy(frame.document)
        self.said: list[str] = []
        self.used: set[int] = set()

    def take(self, phrases: tuple[str, ...]) -> None:
        """Marks the words of these phrases as used."""
        self.used |= {n for start, end in self.ask.places(phrases) for n in range(start, end)}

    def no_filters_about(self, name: str) -> bool:
        """Drops the conditions on a column; says whether there were any."""
        before = list(self.made.get("filters", ()))
        left = [each for each in before if not is_about(each, name)]
        self.made.pop("filters", None)
        if left:
            self.made["filters"] = left
        return len(left) < len(before)

    def in_order(self) -> None:
        """Orders the groups anew: times as they run, figures by their size."""
        times = {each["name"] for each in self.made.get("derive", [])}
        any_column = self.dataset.columns[0]
        units = [Dimension(any_column, "day" if n in times else None) for n in self.made["group"]]
        ordered(self.made, units, None)

    def rename(self, before: str, after: str) -> None:
        """A figure has another name: so in the order and the conditions on groups."""
        for each in self.made.get("order", []):
            if each["column"] == before:
                each["column"] = after
        if self.made.get("having"):
            self.made["having"] = json.loads(
                json.dumps(self.made["having"]).replace(json.dumps(before), json.dumps(after))
            )
