"""What people's answers teach: how much each comparison counts, and how likely a match is to begin with.

The weights stay what the data said; answers scale them. With few answers little moves: every factor is drawn towards
one, and the beginning towards what it was, so that ten answers shift the threshold and a hundred re-weigh the columns.
"""

import math
from collections.abc import Sequence

import duckdb
import numpy as np
import numpy.typing as npt

from steward.core.errors import Invalid, Problem
from steward.data.resolve.rules import Decision, RowRef, Rules
from steward.data.resolve.scoring import weighted_sql
from steward.data.resolve.staging import Staged

Floats = npt.NDArray[np.float64]

FEWEST = 10
# How far a factor may move from one, and the beginning from what it was (natural logarithm), at one deviation.
FREE_FACTOR = 0.5
FREE_START = 3.0
ROUNDS = 50


def taught(
    own: duckdb.DuckDBPyConnection,
    rules: Rules,
    vectors: str,
    parties: int,
    answers: Sequence[tuple[int, int, bool]],
) -> tuple[Rules, int]:
    """The rules with the factors and the prior that the answers teach, and from how many answers.

    Answers of one kind alone, or about pairs that were never compared, teach nothing.
    """
    if len(answers) < FEWEST or not rules.comparisons:
        return rules, 0
    listed = ", ".join(f"({left}, {right}, {same})" for left, right, same in answers)
    weights = ", ".join(f"weight_{place}" for place in range(len(rules.comparisons)))
    rows = own.execute(
        f"""SELECT {weights}, same FROM ({weighted_sql(rules, vectors, parties)}) w
            JOIN (VALUES {listed}) a(l, r, same) USING (l, r) ORDER BY l, r"""
    ).fetchall()
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(rules.comparisons) + 1)
    said = table[:, -1]
    if len(said) < FEWEST or not 0 < said.sum() < len(said):
        return rules, 0
    start = math.log(rules.prior / (1 - rules.prior))
    factors, start = _fit(table[:, :-1] * math.log(2), said, start)
    comparisons = tuple(
        one.model_copy(update={"counts": round(float(np.clip(one.counts * factor, 0, 5)), 3)})
        for one, factor in zip(rules.comparisons, factors, strict=True)
    )
    prior = float(f"{1 / (1 + math.exp(-float(np.clip(start, -30, 5)))):.4g}")
    return rules.model_copy(update={"comparisons": comparisons, "prior": prior}), len(said)


def answers_of(
    connection: duckdb.DuckDBPyConnection, rules: Rules, staged: Staged
) -> list[tuple[int, int, bool]]:
    """The decisions of people, in terms of parties."""
    return [
        (*parties_of(connection, rules, staged, decision, place), decision.same)
        for place, decision in enumerate(rules.decisions)
    ]


def parties_of(
    connection: duckdb.DuckDBPyConnection,
    rules: Rules,
    staged: Staged,
    decision: Decision,
    place: int,
) -> tuple[int, int]:
    """The two parties that a decision is about, the smaller number first."""
    found = [
        _party_of(connection, rules, staged, ref, f"/decisions/{place}/{side}")
        for side, ref in (("left", decision.left), ("right", decision.right))
    ]
    return min(found), max(found)


def _party_of(
    connection: duckdb.DuckDBPyConnection, rules: Rules, staged: Staged, ref: RowRef, pointer: str
) -> int:
    tables = [source.table for source in rules.sources]
    number = tables.index(ref.table)
    keyed = rules.sources[number].row_key is not None
    column = "row_key" if keyed else "CAST(row_id AS VARCHAR)"
    found = connection.execute(
        f"SELECT party FROM {staged.rows} WHERE source = ? AND {column} = ?", [number, ref.row]
    ).fetchone()
    if found is None:
        raise Invalid(
            f"A decision speaks of row {ref.row!r} of {ref.table!r}, which does not exist. "
            "Correct or withdraw the decision.",
            code="unknown-row",
            problems=[Problem(pointer, "no such row")],
        )
    return int(found[0])


def _fit(weights: Floats, said: Floats, start: float) -> tuple[Floats, float]:
    """Logistic regression that leans on factors of one and on the start it was given."""
    known = np.column_stack([np.ones(len(said)), weights])
    centre = np.concatenate([[start], np.ones(weights.shape[1])])
    stiffness = np.concatenate([[1 / FREE_START**2], np.full(weights.shape[1], 1 / FREE_FACTOR**2)])
    value = centre.copy()
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(known @ value, -30, 30)))
        slope = known.T @ (said - chance) - stiffness * (value - centre)
        curve = (known.T * np.maximum(chance * (1 - chance), 1e-6)) @ known + np.diag(stiffness)
        step = np.clip(np.linalg.solve(curve, slope), -2, 2)
        value = value + step
        if float(np.abs(step).max()) < 1e-6:
            break
    return np.maximum(value[1:], 0.0), float(value[0])
