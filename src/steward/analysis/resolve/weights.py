"""Weights without labels: usual values per kind of field, and what the compared pairs teach.

The method is expectation maximisation over all compared pairs at once. A pair's posterior does not
depend on which block produced it, so summing over the union of the blocks avoids the bias of
training on one block at a time. Every estimate is drawn towards the usual value by a number of
imagined pairs, so that little data changes little and no data changes nothing.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steward.analysis.resolve.comparing import usage_of
from steward.analysis.resolve.rules import Comparison, Role, Rules, Test

Floats = npt.NDArray[np.float64]

IMAGINED_MATCHES = 15.0
IMAGINED_OTHERS = 50.0
ROUNDS = 60
SETTLED = 1e-5
SMALLEST = 1e-7
# However much of an agreement among random pairs is due to matches, this much is chance.
LEAST_LEFT = 0.02

# What data without labels gets wrong: companies of one group share most of their name, their mail
# domain and their town, so agreement would keep proving itself. A whole extra word (Service,
# Holding, Export) speaks for another company; only other evidence may outweigh it.
_MOST: dict[tuple[Role, Test], float] = {("company", "words_within"): -3.0}


@dataclass(frozen=True)
class Patterns:
    """The compared pairs by what they agree on: levels counted from the top, -1 for missing."""

    levels: npt.NDArray[np.int64]
    """One line per pattern, one column per comparison."""
    counts: Floats


@dataclass(frozen=True)
class Possible:
    """How many pairs there could be at all, and per comparison with a value on both sides."""

    pairs: float
    filled: tuple[float, ...]


@dataclass(frozen=True)
class Learned:
    m: tuple[Floats, ...]
    u: tuple[Floats, ...]
    prior: float
    matches: float
    """Pairs expected to be matches."""


def usual(comparison: Comparison, role: Role) -> tuple[Floats, Floats]:
    """Sound shares of matches and non-matches per level, for when the data cannot tell."""
    exact_m, exact_u = usage_of(role).usual
    between = len(comparison.levels) - 2
    # Lesser agreement: each degree rarer among matches and commoner among strangers.
    falling = np.array([0.6**place for place in range(between)])
    near_m = (1 - exact_m) * (0.6 if between else 0.0) * falling / max(falling.sum(), 1.0)
    near_u = np.minimum(0.1, exact_u * 2.0 ** np.arange(between))
    m = np.concatenate([[exact_m], near_m, [1 - exact_m - near_m.sum()]])
    u = np.concatenate([[exact_u], near_u, [1 - exact_u - near_u.sum()]])
    return m, u


def starting_prior(parties: int) -> float:
    """Before looking: about one party in ten has a twin."""
    return float(min(0.05, 0.2 / max(1, parties - 1)))


def smoothed_u(
    sampled: list[float | None], pairs: float, counted: dict[int, float], expected: Floats
) -> Floats:
    """Shares among random pairs; what the sample never showed is rare, not impossible.

    `counted` holds the levels whose share is known from counting all values, not from the sample.
    """
    seen = np.array([0.0 if share is None else share for share in sampled])
    if seen.sum() <= 0.0:
        return expected
    mixed = (seen / seen.sum() * pairs + expected * IMAGINED_OTHERS) / (pairs + IMAGINED_OTHERS)
    for level, share in counted.items():
        mixed[level] = share
    mixed[-1] = max(SMALLEST, 1.0 - mixed[:-1].sum())
    return _shares(mixed)


def learn(
    patterns: Patterns,
    m: tuple[Floats, ...],
    u: tuple[Floats, ...],
    prior: float,
    possible: Possible,
    most: tuple[Floats, ...],
) -> Learned:
    """Improves m, u and the prior until they settle.

    `m` is where to start and what to fall back to, `u` what random pairs show, `most` the evidence
    each level may reach, in bits.
    """
    expected_m, observed_u = m, u
    start, matches = prior, 0.0
    for _ in range(ROUNDS):
        posterior = _posterior(patterns, m, u, prior)
        weighted = posterior * patterns.counts
        matches = float(weighted.sum())
        updated = tuple(
            _share_of_levels(patterns.levels[:, place], weighted, expected)
            for place, expected in enumerate(expected_m)
        )
        new_prior = (matches + 2.0) / (possible.pairs + 2.0 / start)
        moved = max(
            (float(np.abs(new - old).max()) for new, old in zip(updated, m, strict=True)),
            default=0.0,
        )
        m, prior = updated, min(0.5, new_prior)
        # Random pairs hold a few matches; without them the share among strangers is smaller.
        u = tuple(
            _strangers(seen, agreed, patterns.levels[:, place], weighted, possible.filled[place])
            for place, (seen, agreed) in enumerate(zip(observed_u, m, strict=True))
        )
        m = tuple(
            np.minimum(agreed, strange * np.exp2(limit))
            for agreed, strange, limit in zip(m, u, most, strict=True)
        )
        if moved < SETTLED:
            break
    return Learned(m, u, prior, matches)


def learn_near(
    patterns: Patterns,
    misses: Patterns,
    m: tuple[Floats, ...],
    u: tuple[Floats, ...],
    matches: float,
) -> Learned:
    """Weights that tell matches from near misses.

    What random pairs look like says nothing about near misses, so their shares come from the `misses`: pairs beside
    which their parties have a better one. `m` and `u` are usual values: where to start and what to lean on.
    """
    strange = tuple(
        _share_of_levels(misses.levels[:, place], misses.counts, expected)
        for place, expected in enumerate(u)
    )
    bits = _bits(patterns, m, u, 0.5)
    order = np.argsort(-bits, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(patterns.counts[order])[:-1]])
    posterior = np.zeros(len(bits))
    posterior[order] = np.where(before < matches, 0.9, 0.05)
    usual_m, total = m, float(patterns.counts.sum())
    prior = matches / max(1.0, total)
    for _ in range(ROUNDS):
        weighted = posterior * patterns.counts
        new = tuple(
            _share_of_levels(patterns.levels[:, place], weighted, expected)
            for place, expected in enumerate(usual_m)
        )
        new = tuple(_never_rising(one, other) for one, other in zip(new, strange, strict=True))
        moved = max(float(np.abs(one - old).max()) for one, old in zip(new, m, strict=True))
        m = new
        prior = min(0.9, max(1.0, float(weighted.sum())) / max(2.0, total))
        posterior = _posterior(patterns, m, strange, prior)
        if moved < SETTLED:
            break
    return Learned(m, strange, prior, float((posterior * patterns.counts).sum()))


def _never_rising(agreed: Floats, strange: Floats) -> Floats:
    """Fuller agreement is never weaker evidence than lesser, however rarely it was seen."""
    ratio = np.maximum.accumulate((agreed / strange)[::-1])[::-1]
    return np.asarray(np.clip(ratio * strange, SMALLEST, 1 - SMALLEST), dtype=np.float64)


def _strangers(
    seen: Floats, agreed: Floats, levels: npt.NDArray[np.int64], weighted: Floats, filled: float
) -> Floats:
    matched = min(0.5, float(weighted[levels >= 0].sum()) / max(1.0, filled))
    left = _shares(np.maximum(seen - matched * agreed, seen * LEAST_LEFT) / (1 - matched))
    # Nothing is stronger evidence than the first level, however rarely a small sample showed it.
    left[1:-1] = np.maximum(left[1:-1], agreed[1:-1] * left[0] / agreed[0])
    left[-1] = max(SMALLEST, 1.0 - float(left[:-1].sum()))
    return _shares(left)


def most_evidence(comparison: Comparison, role: Role) -> Floats:
    """The evidence each level may reach at most, whatever the data seems to say."""
    return np.array([_MOST.get((role, level.test), 60.0) for level in comparison.levels])


def with_weights(rules: Rules, learned: Learned) -> Rules:
    """The rules with m, u and prior filled in, rounded so that they read and repeat well."""
    comparisons = tuple(
        comparison.model_copy(
            update={
                "levels": tuple(
                    level.model_copy(update={"m": _rounded(m), "u": _rounded(u)})
                    for level, m, u in zip(comparison.levels, ms, us, strict=True)
                )
            }
        )
        for comparison, ms, us in zip(rules.comparisons, learned.m, learned.u, strict=True)
    )
    return rules.model_copy(update={"comparisons": comparisons, "prior": _rounded(learned.prior)})


def _posterior(
    patterns: Patterns, m: tuple[Floats, ...], u: tuple[Floats, ...], prior: float
) -> Floats:
    bits = _bits(patterns, m, u, prior)
    posterior: Floats = 1.0 / (1.0 + np.exp2(-np.clip(bits, -200, 200)))
    return posterior


def _bits(patterns: Patterns, m: tuple[Floats, ...], u: tuple[Floats, ...], prior: float) -> Floats:
    bits = np.full(len(patterns.counts), math.log2(prior / (1 - prior)))
    for place, (agreed, strange) in enumerate(zip(m, u, strict=True)):
        # The last entry stands for a missing value (-1) and says nothing.
        table = np.append(np.log2(agreed / strange), 0.0)
        bits += table[patterns.levels[:, place]]
    return bits


def _share_of_levels(levels: npt.NDArray[np.int64], weighted: Floats, expected: Floats) -> Floats:
    present = levels >= 0
    sums = np.bincount(levels[present], weights=weighted[present], minlength=len(expected))
    return _shares((sums + expected * IMAGINED_MATCHES) / (float(sums.sum()) + IMAGINED_MATCHES))


def _shares(values: Floats) -> Floats:
    kept = np.clip(values, SMALLEST, 1 - SMALLEST)
    shares: Floats = kept / kept.sum()
    return shares


def _rounded(value: float) -> float:
    return float(f"{min(max(float(value), SMALLEST), 0.999999):.4g}")
