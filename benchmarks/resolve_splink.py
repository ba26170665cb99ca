"""Splink set up by hand for sets that others made: what somebody who knows both Splink and the data would write.

Each setup tidies the columns, names the comparisons and says which records are compared. Two files without
duplicates of their own are linked by mutual best links; one file is clustered at a threshold.
"""

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

Compare = Callable[[Any], Any]
RARE = {"term_frequency_adjustments": True}


@dataclass(frozen=True)
class Setup:
    columns: Mapping[str, tuple[str, ...]]
    """SQL of each tidied column: one for all files, or one for each."""
    comparisons: Sequence[Compare]
    """Each takes Splink's comparison library."""
    blocking: Sequence[str]
    """Tidied columns, with commas between those that must agree together."""
    training: Sequence[str]
    sure: Sequence[str]
    """Columns that only real matches share, and how many of those they find."""
    recall: float = 0.7
    threshold: float = 0.9


def _words(column: str) -> str:
    return f"nullif(lower(trim(regexp_replace({column}, '[^A-Za-z0-9]+', ' ', 'g'))), '')"


def _listed(column: str) -> str:
    return f"string_split({_words(column)}, ' ')"


def _near(column: str, *levels: float, rare: bool = False) -> Compare:
    return lambda c: c.JaroWinklerAtThresholds(column, list(levels)).configure(
        **(RARE if rare else {})
    )


def _same(column: str, *, rare: bool = True) -> Compare:
    return lambda c: c.ExactMatch(column).configure(**(RARE if rare else {}))


def _tokens(column: str) -> Compare:
    """The share of words that two lists have in common; Splink's own Jaccard compares letters."""
    levels: Any = importlib.import_module("splink.comparison_level_library")
    both = f"list_distinct(list_concat({column}_l, {column}_r))"
    share = f"len(list_intersect({column}_l, {column}_r)) / len({both})"
    return lambda c: c.CustomComparison(
        [
            levels.NullLevel(column),
            *(
                levels.CustomLevel(f"{share} >= {least}", f"{least}")
                for least in (0.9, 0.7, 0.5, 0.3)
            ),
            levels.ElseLevel(),
        ],
        output_column_name=column,
    )


_FIRST = "http://www.okkam.org/ontology_restaurant1.owl#"
_SECOND = "http://www.okkam.org/ontology_restaurant2.owl#"


def _both(name: str) -> tuple[str, ...]:
    return tuple(_words(f'"{prefix}{name}"') for prefix in (_FIRST, _SECOND))


_RESTAURANT: dict[str, Any] = {
    "comparisons": (_near("name", 0.95, 0.85, rare=True), _same("phone"), _near("street", 0.9, 0.75)),
    "blocking": ("phone", "name", "start", "street"),
    "training": ("phone", "name"),
    "sure": ("phone", "name,street"),
    "recall": 0.8,
    "threshold": 0.5,
}  # fmt: skip

BY_HAND: Mapping[str, Setup] = {
    "restaurants": Setup(
        {
            "name": _both("name"),
            "phone": tuple(f"nullif(replace({sql}, ' ', ''), '')" for sql in _both("phone_number")),
            "street": _both("street"),
            "start": tuple(f"{sql}[:6]" for sql in _both("name")),
        },
        **_RESTAURANT,
    ),
    "fodors_zagats": Setup(
        {
            "name": (_words("name"),),
            "phone": ("nullif(regexp_replace(phone, '[^0-9]', '', 'g'), '')",),
            "street": (_words("addr"),),
            "start": (f"{_words('name')}[:6]",),
        },
        **_RESTAURANT,
    ),
    "dblp_acm": Setup(
        {
            "title": (_words("title"),),
            "authors": (_words("authors"),),
            "people": (_listed("authors"),),
            "venue": (_words("venue"),),
            "year": ("TRY_CAST(year AS DOUBLE)::INT",),
            "start": (f"{_words('title')}[:12]",),
            "ending": (f"right({_words('title')}, 12)",),
            "author": (f"split_part({_words('authors')}, ' ', 1)",),
        },
        (_near("title", 0.97, 0.9, 0.8, rare=True), _tokens("people"), _same("year"), _same("venue")),
        ("start,year", "ending,year", "authors", "author,year"),
        ("start", "authors"),
        ("title,year",),
        threshold=0.5,
    ),
    "abt_buy": Setup(
        {
            "words": (_listed("name"),),
            "code": (r"nullif(upper(regexp_extract(name, '(\S*[0-9]\S*)\s*$', 1)), '')",),
            "brand": (f"split_part({_words('name')}, ' ', 1)",),
            "price": ("TRY_CAST(regexp_replace(price, '[^0-9.]', '', 'g') AS DOUBLE)",),
        },
        (_tokens("words"), _near("code", 0.95, 0.85), _same("brand"), _same("price")),
        ("code", "brand"),
        ("code", "brand,price"),
        ("code",),
        threshold=0.5,
    ),
    "amazon_google": Setup(
        {
            "title": (_words("title"),),
            "words": (_listed("title"),),
            "maker": (f"split_part({_words('manufacturer')}, ' ', 1)",),
            "price": ("TRY_CAST(price AS DOUBLE)",),
            "first": (f"split_part({_words('title')}, ' ', 1)",),
            "second": (f"split_part({_words('title')}, ' ', 2)",),
        },
        (_tokens("words"), _same("maker"), _same("price")),
        ("first", "second", "title"),
        ("first", "second"),
        ("title",),
        recall=0.3,
        threshold=0.5,
    ),
    "walmart_amazon": Setup(
        {
            "words": (_listed("title"),),
            "model": ("nullif(upper(regexp_replace(modelno, '[^A-Za-z0-9]', '', 'g')), '')",),
            "brand": (_words("brand"),),
            "price": ("TRY_CAST(price AS DOUBLE)",),
            "start": (f"{_words('title')}[:12]",),
        },
        (_tokens("words"), _near("model", 0.95, 0.85), _same("brand"), _same("price")),
        ("model", "start", "brand,price"),
        ("model", "start"),
        ("model,brand",),
        recall=0.6,
        threshold=0.5,
    ),
    "fake_1000": Setup(
        {name: (f'"{name}"',) for name in ("first_name", "surname", "dob", "city", "email")},
        (
            lambda c: c.ForenameSurnameComparison("first_name", "surname"),
            lambda c: c.DateOfBirthComparison("dob", input_is_string=True),
            _same("city"),
            lambda c: c.EmailComparison("email"),
        ),
        ("first_name,city", "surname", "dob", "email", "first_name,surname"),
        ("first_name,surname", "dob"),
        ("first_name,surname,dob", "email"),
    ),
    "historical_50k": Setup(
        {
            **{
                name: (f'"{name}"',)
                for name in ("first_name", "surname", "dob", "birth_place", "postcode_fake", "occupation")
            },
            "initials": ("first_name[:2] || surname[:3]",),
            "year": ("dob[:4]",),
        },
        (
            lambda c: c.ForenameSurnameComparison("first_name", "surname"),
            lambda c: c.DateOfBirthComparison("dob", input_is_string=True),
            lambda c: c.PostcodeComparison("postcode_fake"),
            _same("birth_place"),
            _same("occupation"),
        ),
        (
            "initials,year", "postcode_fake,first_name", "postcode_fake,surname", "first_name,dob",
            "surname,dob", "first_name,surname,birth_place",
        ),
        ("first_name,surname", "dob"),
        ("first_name,surname,dob", "initials,dob,postcode_fake"),
        recall=0.6,
    ),
}  # fmt: skip


def linked(
    connection: duckdb.DuckDBPyConnection, files: Sequence[str], setup: Setup
) -> tuple[dict[tuple[str, int], str], float]:
    """The cluster of every row by file and row number, and the CPU seconds it took; `files` are tables in order."""
    splink: Any = importlib.import_module("splink")
    library: Any = importlib.import_module("splink.comparison_library")
    started = time.process_time()
    for place, name in enumerate(files):
        made = ", ".join(
            f'{sql[min(place, len(sql) - 1)]} AS "{column}"'
            for column, sql in setup.columns.items()
        )
        connection.execute(
            f'CREATE TABLE by_hand_{place} AS SELECT row_number() OVER () AS unique_id, {made} FROM "{name}"'
        )
    api = splink.DuckDBAPI(connection)
    labels = [f"by_hand_{place}" for place in range(len(files))]
    frames = [api.register(label, dataset_display_name=label) for label in labels]

    def blocks(columns: str) -> Any:
        return splink.block_on(*columns.split(","))

    settings = splink.SettingsCreator(
        link_type="dedupe_only" if len(frames) == 1 else "link_only",
        comparisons=[make(library) for make in setup.comparisons],
        blocking_rules_to_generate_predictions=[blocks(columns) for columns in setup.blocking],
    )
    linker = splink.Linker(frames if len(frames) > 1 else frames[0], settings, log_level=None)
    training = linker.training
    training.estimate_probability_two_random_records_match(
        [blocks(columns) for columns in setup.sure], recall=setup.recall
    )
    training.estimate_u_using_random_sampling(max_pairs=2e6, seed=1)
    for columns in setup.training:
        training.estimate_parameters_using_expectation_maximisation(blocks(columns))
    predicted = linker.inference.predict(threshold_match_probability=0.01)
    if len(frames) > 1:
        clusters = linker.clustering.cluster_using_single_best_links(
            predicted, duplicate_free_datasets=labels, threshold_match_probability=setup.threshold
        )
    else:
        clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(
            predicted, threshold_match_probability=setup.threshold
        )
    cpu = time.process_time() - started
    dataset = "source_dataset" if len(frames) > 1 else "'by_hand_0'"
    rows = connection.execute(
        f"SELECT {dataset}, unique_id, cluster_id FROM {clusters.physical_name}"
    ).fetchall()
    names = dict(zip(labels, files, strict=True))
    return {(names[label], int(number)): str(cluster) for label, number, cluster in rows}, cpu
