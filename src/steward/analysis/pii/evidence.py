"""Counts what sampled values speak for which kind, and decides when that is enough."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from steward.analysis.pii.hints import announces
from steward.analysis.pii.kinds import PREFILTER, Kind, all_kinds
from steward.analysis.pii.masks import mask

CHECKS = 500
"""Values of one kind put to its check; telephone numbers and e-mail addresses take time."""

EXAMPLES = 3

_PREFILTER = re.compile(PREFILTER)


@dataclass
class Evidence:
    """What was seen of one kind at one place (whole value or inside text)."""

    kind: Kind
    inside: bool
    hinted: bool
    rows: int = 0
    texts: set[str] = field(default_factory=set)
    checked: int = 0
    valid: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, text: str, rows: int) -> bool:
        """Notes one value; True when it was checked and found valid."""
        self.rows += rows
        self.texts.add(text)
        if self.checked >= CHECKS:
            return False
        self.checked += 1
        if not self.kind.valid(text):
            return False
        self.valid += 1
        masked = mask(text, self.kind.name)
        if len(self.examples) < EXAMPLES and masked not in self.examples:
            self.examples.append(masked)
        return True

    def convincing(self) -> bool:
        """Whether chance is a worse explanation than the kind."""
        if self.valid == 0:
            return False
        share = self.valid / self.checked
        chance = self.kind.chance
        if chance is None:
            return share >= 0.5 or (self.inside and self.kind.name == "email")
        if self.hinted:
            return share >= min(0.5, 3 * chance)
        return share >= 3 * chance and _tail(self.checked, self.valid, chance) <= 0.05


def _tail(trials: int, successes: int, chance: float) -> float:
    """Probability of at least that many successes by chance alone."""
    below = sum(
        math.exp(
            math.lgamma(trials + 1)
            - math.lgamma(hits + 1)
            - math.lgamma(trials - hits + 1)
            + hits * math.log(chance)
            + (trials - hits) * math.log1p(-chance)
        )
        for hits in range(successes)
    )
    return max(0.0, 1.0 - below)


@dataclass(frozen=True)
class Candidates:
    """The kinds worth trying on a column, with whether its name announces them."""

    kinds: tuple[tuple[Kind, bool], ...]

    @classmethod
    def of(cls, column: str, *, numeric: bool, personal_only: bool = True) -> "Candidates":
        chosen = []
        version = announces(column, ("version", "release"))
        for kind in all_kinds():
            hinted = announces(column, kind.hints)
            if personal_only and not kind.personal:
                continue
            if kind.needs_hint and not hinted:
                continue
            if (kind.name == "ip" and version) or (numeric and kind.name in {"email", "ip", "mac"}):
                continue
            chosen.append((kind, hinted))
        return cls(tuple(chosen))


def weigh_whole(
    values: Iterable[tuple[str, int]], candidates: Candidates
) -> tuple[list[Evidence], list[tuple[str, int]]]:
    """Evidence that values are of a kind as a whole, and the values that fit none of these."""
    tried = [
        (kind.regex(hinted), Evidence(kind, inside=False, hinted=hinted))
        for kind, hinted in candidates.kinds
    ]
    rest = []
    matched: dict[int, list[tuple[str, int]]] = {}
    for text, rows in values:
        if not _PREFILTER.search(text):
            continue
        hits = [place for place, (regex, _) in enumerate(tried) if regex.fullmatch(text)]
        if not hits:
            rest.append((text, rows))
        for place in hits:
            matched.setdefault(place, []).append((text, rows))
    for place, texts in matched.items():
        for text, rows in _spread(texts):
            tried[place][1].add(text, rows)
    convincing = [evidence for _, evidence in tried if evidence.convincing()]
    return _without_rivals(convincing), rest


def weigh_inside(values: Sequence[tuple[str, int]], candidates: Candidates) -> list[Evidence]:
    """Evidence of kinds within longer text, such as an address in a comment."""
    found = []
    for kind, _ in candidates.kinds:
        if not kind.inside:
            continue
        evidence = Evidence(kind, inside=True, hinted=False)
        for text, rows in values:
            passages = kind.inside_regex.findall(text)
            if not passages:
                continue
            # A value counts once; the first passage that passes the check speaks for it.
            best = next((passage for passage in passages[:5] if kind.valid(passage)), passages[0])
            evidence.add(best, rows)
        if evidence.convincing():
            found.append(evidence)
    return _without_rivals(found)


def _spread(values: list[tuple[str, int]]) -> Iterable[tuple[str, int]]:
    """The values in an order in which the first few hundred stand for all of them."""
    stride = max(1, len(values) // CHECKS)
    for start in range(stride):
        yield from values[start::stride]


def _without_rivals(found: list[Evidence]) -> list[Evidence]:
    """Digits may pass for several kinds at once: the best supported reading of the same values stays.

    Telephone numbers of ten digits, for example, may also have the check digit of NHS numbers.
    """
    kept: list[Evidence] = []
    for evidence in sorted(
        found, key=lambda one: (not one.hinted, -one.valid / one.checked, one.kind.name)
    ):
        shared = (len(evidence.texts & other.texts) for other in kept)
        if all(count < 0.8 * len(evidence.texts) for count in shared):
            kept.append(evidence)
    order = {kind.name: place for place, kind in enumerate(all_kinds())}
    return sorted(kept, key=lambda one: order[one.kind.name])
