"""From levels to probabilities: the weights of the rules applied to compared pairs, in SQL.

This is Splink's own formula (the sum of log2(m/u) and the prior, with term frequencies), kept apart
from the comparing so that an edited weight, prior or threshold costs no new comparison.
"""

import math

from steward.data.resolve.rules import Comparison, Rules

# No value is so rare that agreeing on it proves everything.
RAREST = 1e-6


def weight_sql(comparison: Comparison, place: int) -> str:
    """The evidence of one comparison in bits, rounded so that it reads and repeats well."""
    cases = ""
    for number, level in enumerate(comparison.levels):
        m, u = level.m or 0.5, level.u or 0.5
        plain = f"{math.log2(m / u):.6f}"
        if comparison.rare_values_count_more and level.test == "same":
            rare = f"{math.log2(m):.6f} - log2(greatest(rarity_{place}, {RAREST}))"
            cases += f" WHEN {number} THEN coalesce({rare}, {plain})"
        else:
            cases += f" WHEN {number} THEN {plain}"
    return f"round(CASE level_{place}{cases} ELSE 0.0 END, 4)"


def weighted_sql(rules: Rules, vectors: str) -> str:
    """A SELECT of the pairs with `weight_0` … , their sum with the prior, and the probability."""
    prior = f"{math.log2(rules.prior / (1 - rules.prior)):.4f}"
    weights = [weight_sql(one, place) for place, one in enumerate(rules.comparisons)]
    named = "".join(f", {sql} AS weight_{place}" for place, sql in enumerate(weights))
    levels = "".join(f", level_{place}" for place in range(len(weights)))
    total = " + ".join([prior, *(f"weight_{place}" for place in range(len(weights)))])
    listed = "".join(f", weight_{place}" for place in range(len(weights)))
    return f"""
        SELECT l, r, round(1 / (1 + pow(2.0, -weight)), 8) AS probability, weight{levels}{listed}
        FROM (SELECT l, r{levels}{listed}, round({total}, 4) AS weight
              FROM (SELECT l, r{levels}{named} FROM {vectors}))
    """
