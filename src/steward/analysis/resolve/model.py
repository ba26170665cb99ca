"""Splink behind one door: settings from the rules, training of weights, scoring of pairs."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from steward.analysis.resolve.levels import column, condition, in_words, null_condition
from steward.analysis.resolve.rules import Block, BlockPart, Comparison, Rules
from steward.analysis.resolve.words import PARTIES_TABLE, pair_column
from steward.tables import literal, quote

if TYPE_CHECKING:
    from splink import Linker

SEED = 20


def part_sql(part: BlockPart, side: str) -> str:
    """The value of one blocking part on one side of a pair."""
    if part.nearest is not None:
        return f"{side}.{quote(pair_column(part))}"
    value = f'{side}."{column(part.field)}"'
    if part.start is not None:
        return f"left({value}, {part.start})"
    if part.end is not None:
        return f"right({value}, {part.end})"
    return value


def block_sql(block: Block, rules: Rules) -> str:
    """The condition under which two parties are compared because of this block."""
    equal = [f"{part_sql(part, 'l')} = {part_sql(part, 'r')}" for part in block.parts]
    return " AND ".join([*equal, *_sources_condition(rules)])


def _sources_condition(rules: Rules) -> list[str]:
    """Pairs inside a source that holds every entity once are never compared."""
    clean = [str(index) for index, source in enumerate(rules.sources) if not source.duplicates]
    if not clean:
        return []
    return [f'NOT (l."source" = r."source" AND l."source" IN ({", ".join(clean)}))']


@contextmanager
def quiet(notes: list[str]) -> Iterator[None]:
    """Splink's warnings become notes; nothing reaches the console or the log."""
    logger = logging.getLogger("splink")
    handler = _Notes(notes)
    before = (logger.propagate, logger.level)
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.removeHandler(handler)
        logger.propagate, level = before
        logger.setLevel(level)


class _Notes(logging.Handler):
    def __init__(self, notes: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._notes = notes

    def emit(self, record: logging.LogRecord) -> None:
        text = " ".join(record.getMessage().replace("WARNING", "").strip(" :-\n").split())
        if text and text not in self._notes:
            self._notes.append(text)


def linker(connection: duckdb.DuckDBPyConnection, rules: Rules) -> "Linker":
    """A Splink linker over the parties, which must be a table named `parties`."""
    from splink import DuckDBAPI, Linker, SettingsCreator

    settings = SettingsCreator(
        link_type="dedupe_only",
        unique_id_column_name="party",
        probability_two_random_records_match=rules.prior,
        comparisons=[_comparison(comparison) for comparison in rules.comparisons],
        blocking_rules_to_generate_predictions=[
            _blocking_rule(block, rules) for block in rules.blocking
        ],
        retain_matching_columns=False,
        retain_intermediate_calculation_columns=True,
        linker_uid="steward",
    )
    frame = DuckDBAPI(connection).register(PARTIES_TABLE)
    return Linker(frame, settings, log_level=None, validate_settings=False)


def _blocking_rule(block: Block, rules: Rules) -> dict[str, Any]:
    rule: dict[str, Any] = {"blocking_rule": block_sql(block, rules), "sql_dialect": "duckdb"}
    lists = [pair_column(part) for part in block.parts if part.nearest is not None]
    return rule | {"arrays_to_explode": lists} if lists else rule


def _comparison(comparison: Comparison) -> dict[str, Any]:
    levels: list[dict[str, Any]] = [
        {
            "sql_condition": null_condition(comparison.field),
            "label_for_charts": "missing",
            "is_null_level": True,
        }
    ]
    for level in comparison.levels:
        entry: dict[str, Any] = {
            "sql_condition": condition(comparison, level),
            "label_for_charts": in_words(level),
        }
        if level.m is not None and level.u is not None:
            entry |= {"m_probability": level.m, "u_probability": level.u}
        if comparison.rare_values_count_more and level.test == "same":
            entry |= {
                "tf_adjustment_column": column(level.field or comparison.field),
                "tf_adjustment_weight": 1.0,
                "disable_tf_exact_match_detection": level.field is not None,
            }
        levels.append(entry)
    return {"output_column_name": comparison.field, "comparison_levels": levels}


def random_shares(
    connection: duckdb.DuckDBPyConnection, rules: Rules, max_pairs: float
) -> list[list[float | None]]:
    """Per comparison and level, how often random pairs agree that much; None: never seen."""
    trainee = linker(connection, rules)
    # Without early stopping the sample, and with it the result, is the same every time.
    trainee.training.estimate_u_using_random_sampling(
        max_pairs=max_pairs, seed=SEED, min_count_per_level=None, num_chunks=1
    )
    shares: list[list[float | None]] = []
    for comparison in trainee.misc.save_model_to_json()["comparisons"]:
        levels = [
            level for level in comparison["comparison_levels"] if not level.get("is_null_level")
        ]
        shares.append([_share(level.get("u_probability")) for level in levels])
    return shares


def compare(connection: duckdb.DuckDBPyConnection, rules: Rules, path: Path) -> int:
    """Blocks and compares the parties; writes a line per pair and returns how many there are.

    Columns: `l` and `r` (parties, l < r); `level_0`, `level_1` … per comparison, from 0 for the
    best level, -1 where a value is missing; `rarity_0` … the frequency of the value both share,
    for comparisons in which rare values count more.
    """
    result = linker(connection, _spelling_levels(rules)).inference.predict(warning_mode="never")
    columns = ["least(party_l, party_r) AS l", "greatest(party_l, party_r) AS r"]
    for place, comparison in enumerate(rules.comparisons):
        columns.append(f"{_level(comparison)} AS level_{place}")
        if comparison.rare_values_count_more:
            columns.append(f"{_rarity(comparison)} AS rarity_{place}")
    written = connection.execute(
        f"""COPY (SELECT {", ".join(columns)} FROM {result.physical_name}{_telling(rules)} ORDER BY l, r)
            TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd)"""
    ).fetchone()
    result.drop_table_from_database_and_remove_from_cache()
    return int(written[0]) if written is not None else 0


def _telling(rules: Rules) -> str:
    """A WHERE that leaves out pairs in which every telling field is missing on a side."""
    said = [f"{_level(one)} >= 0" for one in rules.comparisons if one.field in rules.telling]
    return f" WHERE {' OR '.join(said)}" if said else ""


def _spelling_levels(rules: Rules) -> Rules:
    """Weights of -1, -2, -3 … for the levels, so that a weight tells its level.

    Splink hands out levels only together with both parties' values, which costs most of the
    memory; weights come alone.
    """
    comparisons = tuple(
        one.model_copy(
            update={
                "levels": tuple(
                    level.model_copy(update={"m": 0.5 / 2 ** (place + 1), "u": 0.5})
                    for place, level in enumerate(one.levels)
                )
            }
        )
        for one in rules.comparisons
    )
    return rules.model_copy(update={"comparisons": comparisons})


def _level(comparison: Comparison) -> str:
    return f'(-round("mw_{comparison.field}") - 1)::TINYINT'


def _rarity(comparison: Comparison) -> str:
    """How frequent the shared value is; a level that does not ask for sameness has none."""
    cases = ""
    for place, level in enumerate(comparison.levels):
        if level.test == "same":
            tf = f"tf_{column(level.field or comparison.field)}"
            cases += f' WHEN {place} THEN greatest("{tf}_l", "{tf}_r")'
    return f"(CASE {_level(comparison)}{cases} END)"


def _share(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
