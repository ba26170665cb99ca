"""From levels to probabilities: the weights of the rules applied to compared pairs, in SQL.

This is Splink's own formula (the sum of log2(m/u) and the prior, with term frequencies), kept apart
from the comparing so that an edited weight, prior or threshold costs no new comparison.
"""

import math

from steward.analysis.resolve.rules import Comparison, Rules

# No value is so rare that agreeing on it proves everything.
RAREST = 1e-6


def weight_sql(comparison: Comparison, place: int, few: float, near: bool = False) -> str:
    """The evidence of one comparison in bits, rounded so that it reads and repeats well.

    A value that fewer than the share `few` of the parties have may belong to one entity only, so
    its frequency says little about chance; then the general share counts if it is smaller. Weights that tell matches
    from `near` misses are not about chance at all, so frequencies do not enter.
    """
    rare_matter = comparison.rare_values_count_more and not near
    cases = ""
    for number, level in enumerate(comparison.levels):
        m, u = level.m or 0.5, level.u or 0.5
        plain = f"{comparison.counts * math.log2(m / u):.6f}"
        if rare_matter and level.test == "same":
            often = f"CASE WHEN rarity_{place} > {few:.9f} THEN rarity_{place} ELSE least(rarity_{place}, {u}) END"
            rare = (
                f"{comparison.counts:g} * ({math.log2(m):.6f} - log2(greatest({often}, {RAREST})))"
            )
            cases += f" WHEN {number} THEN coalesce({rare}, {plain})"
        else:
            cases += f" WHEN {number} THEN {plain}"
    return f"round(CAST(CASE level_{place}{cases} ELSE 0.0 END AS DOUBLE), 4)"


def weighted_sql(rules: Rules, vectors: str, parties: int) -> str:
    """A SELECT of the pairs with `weight_0` … , their sum with the prior, and the probability."""
    prior = f"{math.log2(rules.prior / (1 - rules.prior)):.4f}"
    few = _few(rules, parties)
    weights = [
        weight_sql(one, place, few, rules.entity == "thing")
        for place, one in enumerate(rules.comparisons)
    ]
    named = "".join(f", {sql} AS weight_{place}" for place, sql in enumerate(weights))
    levels = "".join(f", level_{place}" for place in range(len(weights)))
    total = " + ".join([prior, *(f"weight_{place}" for place in range(len(weights)))])
    listed = "".join(f", weight_{place}" for place in range(len(weights)))
    return f"""
        SELECT l, r, round(1 / (1 + pow(2.0, -weight)), 8) AS probability, weight{levels}{listed}
        FROM (SELECT l, r{levels}{listed}, round({total}, 4) AS weight
              FROM (SELECT l, r{levels}{named} FROM {vectors}))
    """


def best_pairs_sql(weighed: str, parties: str, columns: str) -> str:
    """Of the weighed pairs, those that are the best of both their parties towards the other's source."""
    return f"""
        SELECT {columns}, l, r, probability FROM (
            SELECT w.*, weight = max(weight) OVER (PARTITION BY w.l, b.source)
                    AND weight = max(weight) OVER (PARTITION BY w.r, a.source) AS best
            FROM ({weighed}) w JOIN {parties} a ON a.party = w.l JOIN {parties} b ON b.party = w.r
        ) WHERE best"""


def runners_up_sql(weighed: str, parties: str) -> str:
    """Of the weighed pairs, those that are second best for one of their parties towards the other's source."""
    return f"""
        SELECT * FROM (
            SELECT w.*, rank() OVER (PARTITION BY w.l, b.source ORDER BY weight DESC) AS from_left,
                   rank() OVER (PARTITION BY w.r, a.source ORDER BY weight DESC) AS from_right
            FROM ({weighed}) w JOIN {parties} a ON a.party = w.l JOIN {parties} b ON b.party = w.r
        ) WHERE greatest(from_left, from_right) = 2"""


def _few(rules: Rules, parties: int) -> float:
    """Twice as many parties as a party's entity has on average, as a share of all."""
    partners = rules.prior * max(0, parties - 1)
    return 2 * (1 + partners) / max(1, parties)
