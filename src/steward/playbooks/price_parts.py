"""What a price is made of: what past runs used by step, and how often a step runs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from steward.broker import plain_path
from steward.flows import ExpressionError, expression
from steward.runs import Json

_ITEM: Final = re.compile(r"[^/]*\[\d+\]")
_TRY: Final = re.compile(r"~\d+")
MEASURES: Final = ("usd", "tokens", "seconds")


@dataclass(frozen=True)
class NodePrice:
    """What a step will use in a run: the average of past runs, or an estimate from the least to the most."""

    node: str
    """The ids on the way to it, as an editor names it: `each/write`."""
    usd: float | None
    """None where no price is known."""
    most_usd: float | None
    tokens: float
    most_tokens: float
    seconds: float
    rests_on: str
    """How the price is known, or why not, in words."""
    is_estimate: bool = False
    """Whether something in it never ran."""
    times: float | None = 1
    """How often it runs in a run, at least; None where a list around it has a length that only a run knows: what is
    said is for one item then."""
    most_times: float | None = 1
    each_usd: float | None = None
    """What one time costs, at least."""
    most_each_usd: float | None = None


@dataclass(frozen=True)
class Price:
    runs: int
    nodes: list[NodePrice]
    inner: list[NodePrice] = field(default_factory=list)
    """Steps inside others, in the order of the flow; what they cost is in the price of the step around them."""

    @property
    def usd(self) -> float | None:
        return self._sum([each.usd for each in self.nodes])

    @property
    def most_usd(self) -> float | None:
        return self._sum([each.most_usd for each in self.nodes])

    @property
    def unknown(self) -> list[str]:
        """Steps whose price is not known; the sums are without them."""
        return [each.node for each in self.nodes if each.usd is None]

    def _sum(self, amounts: Sequence[float | None]) -> float | None:
        known = [each for each in amounts if each is not None]
        return None if amounts and not known else float(sum(known))


@dataclass(frozen=True)
class Times:
    """How often something in a body runs."""

    least: float = 1
    most: float = 1
    for_one: str = ""
    """The list around it whose length is not known."""


@dataclass
class Past:
    """What past runs of one playbook used, by step."""

    runs: int = 0
    sums: dict[str, dict[str, float]] = field(default_factory=dict)
    items: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    passes: dict[str, set[tuple[str, str]]] = field(default_factory=dict)

    def add(self, run_id: str, key: str, cost: Mapping[str, Any]) -> None:
        parts = key.partition(":")[0].split("/")
        for size in range(1, len(parts) + 1):
            concrete = _TRY.sub("", "/".join(parts[:size]))
            path = plain_path(concrete)
            if _ITEM.fullmatch(parts[size - 1]):
                self.items.setdefault(path, set()).add((run_id, concrete))
            self.passes.setdefault(path, set()).add((run_id, concrete))
            held = self.sums.setdefault(path, dict.fromkeys(MEASURES, 0.0))
            for name in held:
                held[name] += float(cost.get(name) or 0)

    def average(self, path: str) -> Mapping[str, float] | None:
        held = self.sums.get(path)
        return None if held is None else {name: each / self.runs for name, each in held.items()}

    def times(self, path: str) -> float | None:
        """How many items a list had in a run."""
        found = self.items.get(path)
        return None if found is None else len(found) / self.runs

    def passed(self, path: str) -> float:
        """How often a step inside others ran in a run."""
        return len(self.passes.get(path, ())) / self.runs


@dataclass(frozen=True)
class Part:
    """What a step within a node adds to its past price."""

    usd: float | None
    most_usd: float | None
    tokens: float = 0
    most_tokens: float = 0
    rests_on: str = ""
    is_new: bool = True
    shares: Mapping[str, float] = field(default_factory=dict)
    """Which agents use it, each with how much of it."""


def multiplied(part: Part, times: Times) -> Part:
    told = part.rests_on
    if times.for_one and part.is_new:
        told += f" For one item: how many “{times.for_one}” has is known at the run."
    elif times.most > 1 and part.is_new:
        many = f"{times.most:,.0f}"
        told += f" For {many} items." if times.least == times.most else f" For 1 to {many} passes."
    return replace(
        part,
        usd=None if part.usd is None else part.usd * times.least,
        most_usd=None if part.most_usd is None else part.most_usd * times.most,
        tokens=part.tokens * times.least,
        most_tokens=part.most_tokens * times.most,
        rests_on=told,
    )


def written_length(over: str, inputs: Mapping[str, Any]) -> int | None:
    """The length of a list that is written in the flow, or that an input has unless something else is given."""

    def lookup(path: Any) -> Json:
        root, *names = path.names
        value: Any = {
            name: each["default"]
            for name, each in inputs.get("properties", {}).items()
            if isinstance(each, Mapping) and "default" in each
        }
        if root != "inputs":
            raise LookupError(root)
        for name in names:
            value = value[name]
        return value

    try:
        found = expression(over).value(lookup)
    except (ExpressionError, LookupError, TypeError):
        return None
    return len(found) if isinstance(found, list) else None


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
