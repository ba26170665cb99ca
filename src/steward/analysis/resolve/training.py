"""Fills in the weights that rules leave open, from the data or, where it is too little, by habit."""

from pathlib import Path

import duckdb
import numpy as np

from steward.analysis.resolve.blocks import filled_pairs, possible_pairs, same_share
from steward.analysis.resolve.model import quiet, random_shares
from steward.analysis.resolve.rules import BlockPart, Comparison, Rules
from steward.analysis.resolve.scoring import best_pairs_sql, runners_up_sql, weighted_sql
from steward.analysis.resolve.staging import Staged
from steward.analysis.resolve.weights import (
    IMAGINED_OTHERS,
    SMALLEST,
    Floats,
    Learned,
    Patterns,
    Possible,
    learn,
    learn_near,
    most_evidence,
    smoothed_u,
    starting_prior,
    usual,
    with_weights,
)
from steward.analysis.resolve.words import PARTIES_TABLE
from steward.tables import parquet_source

SAMPLED_PAIRS = 100_000
FEW_MATCHES = 20


def train(
    own: duckdb.DuckDBPyConnection,
    staged: Staged,
    rules: Rules,
    vectors: Path,
    notes: list[str],
) -> Rules:
    """The rules with every weight and the prior set; weights already given stay.

    `own` holds the parties as a table, and `vectors` the compared pairs.
    """
    habit = _habit(rules, staged.party_count)
    if rules.entity == "thing":
        return _train_near(own, staged, rules, vectors, habit, notes)
    possible = float(
        possible_pairs(
            [source.parties for source in staged.sources],
            [source.duplicates for source in rules.sources],
        )
    )
    patterns = _patterns(own, parquet_source([vectors]), rules)
    if not len(patterns.counts):
        notes.append("No pairs could be compared, so the weights are usual values.")
        return _keep_given(with_weights(rules, habit), rules)
    shares = _random_shares(own, rules, notes)
    if shares is None:
        return _keep_given(with_weights(rules, habit), rules)
    sampled = min(possible, float(SAMPLED_PAIRS))
    strangers = tuple(
        smoothed_u(seen, sampled, _counted(own, comparison, float(expected[0])), expected)
        for comparison, seen, expected in zip(rules.comparisons, shares, habit.u, strict=True)
    )
    most = tuple(most_evidence(one, rules.field(one.field).role) for one in rules.comparisons)
    filled = tuple(filled_pairs(own, PARTIES_TABLE, one.field) for one in rules.comparisons)
    learned = learn(patterns, habit.m, strangers, habit.prior, Possible(possible, filled), most)
    notes.append(_summary(learned, patterns))
    return _keep_given(with_weights(rules, learned), rules)


def _train_near(
    own: duckdb.DuckDBPyConnection,
    staged: Staged,
    rules: Rules,
    vectors: Path,
    habit: Learned,
    notes: list[str],
) -> Rules:
    """Things of all kinds: the nearest pairs teach what tells a match from a near miss."""
    guess = with_weights(rules, habit)
    weighed = weighted_sql(guess, parquet_source([vectors]), staged.party_count)
    levels = ", ".join(f"level_{place}" for place in range(len(rules.comparisons)))
    several = len(rules.sources) > 1
    near = best_pairs_sql(weighed, staged.parties, levels) if several else weighed
    patterns = _patterns(own, f"({near})", rules)
    if not len(patterns.counts):
        notes.append("No pairs could be compared, so the weights are usual values.")
        return _keep_given(guess, rules)
    sizes = sorted(source.parties for source in staged.sources)
    expected = 0.5 * (sizes[0] if len(sizes) > 1 else 0.2 * sizes[0])
    expected = min(expected, 0.5 * float(patterns.counts.sum()))
    misses = _patterns(own, f"({runners_up_sql(weighed, staged.parties)})", rules)
    learned = learn_near(
        patterns, misses if several else patterns, habit.m, habit.u, max(1.0, expected)
    )
    notes.append(_summary(learned, patterns))
    return _keep_given(with_weights(rules, learned), rules)


def _habit(rules: Rules, parties: int) -> Learned:
    known = [usual(one, rules.field(one.field).role) for one in rules.comparisons]
    m: tuple[Floats, ...] = tuple(pair[0] for pair in known)
    u: tuple[Floats, ...] = tuple(pair[1] for pair in known)
    return Learned(m, u, prior=starting_prior(parties), matches=0.0)


def _random_shares(
    own: duckdb.DuckDBPyConnection, rules: Rules, notes: list[str]
) -> list[list[float | None]] | None:
    from splink.internals.exceptions import SplinkException

    found: list[str] = []
    try:
        with quiet(found):
            return random_shares(own, _unweighted(rules), float(SAMPLED_PAIRS))
    except (SplinkException, duckdb.Error, ValueError, ZeroDivisionError) as error:
        # Splink's messages carry the whole statement; its last line says what was wrong.
        reason = str(error).strip().splitlines()[-1][:200]
        notes.append(f"Splink could not estimate weights, so they are usual values: {reason}")
        return None


def _counted(
    own: duckdb.DuckDBPyConnection, comparison: Comparison, expected: float
) -> dict[int, float]:
    """The share of random pairs with the same value, for the levels that ask just that."""
    counted: dict[int, float] = {}
    reached = 0.0
    for place, level in enumerate(comparison.levels):
        if level.test != "same":
            continue
        part = BlockPart(field=level.field or comparison.field)
        pairs = filled_pairs(own, PARTIES_TABLE, part.field)
        share = same_share(own, PARTIES_TABLE, part)
        share = (share * pairs + expected * IMAGINED_OTHERS) / (pairs + IMAGINED_OTHERS)
        # Levels further down ask for less: what the stricter ones took is not theirs.
        counted[place] = max(share - reached, share * 0.01, SMALLEST)
        reached = max(reached, share)
    return counted


def _unweighted(rules: Rules) -> Rules:
    """Splink reports a level it never saw as such only where it was given nothing before."""
    bare = {"m": None, "u": None}
    comparisons = tuple(
        one.model_copy(
            update={"levels": tuple(level.model_copy(update=bare) for level in one.levels)}
        )
        for one in rules.comparisons
    )
    return rules.model_copy(update={"comparisons": comparisons})


def _keep_given(trained: Rules, given: Rules) -> Rules:
    comparisons = tuple(
        old if old.weighted else new
        for new, old in zip(trained.comparisons, given.comparisons, strict=True)
    )
    return trained.model_copy(update={"comparisons": comparisons})


def _summary(learned: Learned, patterns: Patterns) -> str:
    compared = int(patterns.counts.sum())
    if learned.matches < FEW_MATCHES:
        return (
            f"Only about {learned.matches:.0f} of {compared} compared pairs look like matches: the "
            "weights are mostly usual values, not learnt from this data."
        )
    return (
        f"Weights were learnt from {compared} compared pairs, about {learned.matches:.0f} matches."
    )


def _patterns(own: duckdb.DuckDBPyConnection, vectors: str, rules: Rules) -> Patterns:
    names = ", ".join(f"level_{place}" for place in range(len(rules.comparisons)))
    if not names:
        return Patterns(np.zeros((0, 0), dtype=np.int64), np.zeros(0))
    rows = own.execute(
        f"""SELECT {names}, count(*) FROM {vectors}
            GROUP BY {names} ORDER BY {names}"""
    ).fetchall()
    width = len(rules.comparisons)
    table = np.array(rows, dtype=np.int64).reshape(len(rows), width + 1)
    return Patterns(levels=table[:, :width], counts=table[:, width].astype(np.float64))
