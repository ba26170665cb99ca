"""Propose, estimate, review, resolve: the whole way on small tables with planted duplicates."""

import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.analysis.resolve import Rules, borderline, estimate, propose, resolve, score
from steward.analysis.resolve.model import compare, linker, quiet
from steward.analysis.resolve.resolution import Resolution
from steward.analysis.resolve.rules import Decision, RowRef, Thresholds, parse_rules
from steward.analysis.resolve.scored import Scored, open_scored
from steward.analysis.resolve.scoring import weighted_sql
from steward.analysis.resolve.words import PARTIES_TABLE
from steward.core.errors import Invalid
from steward.tables.engine import session
from steward.tables.table import Table, describe, literal, parquet_source, quote

GIVEN = [
    "Anna",
    "Bernd",
    "Clara",
    "David",
    "Elif",
    "Frida",
    "Georg",
    "Hanna",
    "Igor",
    "Jutta",
    "Karim",
    "Lena",
]
FAMILY = [
    "Abel",
    "Brandt",
    "Castro",
    "Dietz",
    "Eriksen",
    "Fontaine",
    "Gruber",
    "Hoffmann",
    "Ivanov",
    "Jansen",
]
STREETS = [
    "Marktweg",
    "Lindenallee",
    "Hafenstrasse",
    "Bergring",
    "Seeufer",
    "Parkgasse",
    "Waldpfad",
]
TOWNS = ["Bremen", "Dresden", "Erfurt", "Freiburg", "Hamburg", "Kassel"]

Row = tuple[str | None, ...]
COLUMNS = (
    "person_no",
    "first_name",
    "last_name",
    "birth_date",
    "email",
    "street",
    "city",
    "updated_at",
)


def people(count: int = 90) -> tuple[list[Row], list[tuple[str, str]]]:
    """Rows of which every third has a misspelt twin, and the pairs that are the same."""
    rows: list[Row] = []
    same = []
    for number in range(count):
        first, last = GIVEN[number * 7 % len(GIVEN)], FAMILY[number * 3 % len(FAMILY)]
        street = f"{STREETS[number * 5 % len(STREETS)]} {number % 40 + 1}"
        town = TOWNS[number % len(TOWNS)]
        born = f"19{50 + number % 45}-{number % 12 + 1:02d}-{number % 28 + 1:02d}"
        mail = f"{first}.{last}{number}@mail{number % 9}.example".lower()
        rows.append((f"P{number:03d}", first, last, born, mail, street, town, "2024-01-05"))
        if number % 3 == 0:
            slip = last[:2] + last[3:]
            new = mail.upper() if number % 2 else None
            rows.append(
                (f"Q{number:03d}", first, slip, born, new, street + " ", town, "2025-06-07")
            )
            same.append((f"P{number:03d}", f"Q{number:03d}"))
    return rows, same


def make_table(
    connection: duckdb.DuckDBPyConnection, name: str, columns: tuple[str, ...], rows: list[Row]
) -> Table:
    declared = ", ".join(f"{quote(column)} VARCHAR" for column in columns)
    source = quote(name)
    connection.execute(f"CREATE OR REPLACE TABLE {source} ({declared})")
    if rows:
        insert = f"INSERT INTO {source} VALUES ({', '.join('?' for _ in columns)})"
        connection.executemany(insert, [list(row) for row in rows])
    return Table(name, source, describe(connection, source), len(rows))


@dataclass(frozen=True)
class Case:
    connection: duckdb.DuckDBPyConnection
    table: Table
    same: list[tuple[str, str]]
    rules: Rules
    scored: Scored
    folder: Path


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    """One proposal on one table; the tests only read it."""
    rows, same = people()
    folder = tmp_path_factory.mktemp("resolve")
    with session() as connection:
        table = make_table(connection, "people", COLUMNS, rows)
        rules = propose(connection, [table], folder)
        yield Case(connection, table, same, rules, open_scored(folder), folder)


def entities(connection: duckdb.DuckDBPyConnection, resolution: Resolution) -> dict[str, str]:
    rows = connection.execute(
        f"SELECT row_key, entity_id FROM {parquet_source([resolution.mapping.path])}"
    ).fetchall()
    return dict(rows)


def with_threshold(rules: Rules, match: float) -> Rules:
    return rules.model_copy(
        update={"thresholds": Thresholds(match=match, review_from=min(0.1, match), review_to=0.999)}
    )


def test_roles_are_read_from_names_and_values(case: Case) -> None:
    roles = {field.name: field.role for field in case.rules.fields}
    assert roles == {
        "email": "email",
        "birth_date": "birth_date",
        "first_name": "given_name",
        "last_name": "family_name",
        "street": "street",
        "city": "city",
        "updated_at": "other",
    }
    source = case.rules.sources[0]
    assert (source.row_key, source.party_key, source.updated) == ("person_no", (), "updated_at")
    assert case.rules.entity == "person"
    assert all(block.pairs for block in case.rules.blocking)
    assert case.rules.weighted


def test_planted_duplicates_are_found_and_nothing_else(case: Case) -> None:
    resolution = resolve(case.connection, [case.table], case.rules, case.folder)
    entity = entities(case.connection, resolution)
    assert all(entity[a] == entity[b] for a, b in case.same)
    assert resolution.entities == len(entity) - len(case.same)
    assert all(check.passed for check in resolution.checks)


def test_the_same_input_gives_the_same_bytes(case: Case, tmp_path: Path) -> None:
    first = resolve(case.connection, [case.table], case.rules, case.folder)
    again = propose(case.connection, [case.table])
    assert again == case.rules
    second = resolve(case.connection, [case.table], again, tmp_path)
    assert second.hash == first.hash
    assert second.as_dict()["golden"]["sha256"] == first.golden.sha256


def test_entity_ids_stay_when_an_unrelated_row_appears(case: Case, tmp_path: Path) -> None:
    before = entities(
        case.connection, resolve(case.connection, [case.table], case.rules, case.folder)
    )
    rows, _ = people()
    stranger = ("Z1", "Zoe", "Quist", "1999-09-09", "zoe@q.example", "Nordend 1", "Ulm", None)
    table = make_table(case.connection, "more", COLUMNS, [*rows, stranger])
    renamed = Table("people", table.source, table.columns, table.rows)
    after = entities(case.connection, resolve(case.connection, [renamed], case.rules, tmp_path))
    assert {key: after[key] for key in before} == before
    assert after["Z1"] not in before.values()


def doubtful(case: Case) -> Rules:
    """The rules with a prior so low that half of the matches fall below even odds."""
    found = case.connection.execute(
        f"SELECT median(weight) FROM {case.scored.pairs} WHERE probability > 0.9"
    ).fetchone()
    assert found is not None
    odds = case.rules.prior / (1 - case.rules.prior) / 2 ** float(found[0])
    return case.rules.model_copy(update={"prior": odds / (1 + odds)})


def test_a_higher_threshold_never_merges_more(case: Case) -> None:
    counts = []
    rules = doubtful(case)
    for match in (0.2, 0.5, 0.8, 0.95, 0.999):
        found = estimate(case.connection, [case.table], with_threshold(rules, match), case.scored)
        counts.append((found.entities, -found.matches))
        steps = [(step.entities, -step.matches) for step in found.steps]
        assert steps == sorted(steps)
    assert counts == sorted(counts)
    assert counts[0] < counts[-1], "the threshold does something"


def test_estimates_tie_out(case: Case) -> None:
    found = estimate(case.connection, [case.table], case.rules, case.scored)
    assert found.rows == found.parties == case.table.rows
    assert found.pairs_possible == found.parties * (found.parties - 1) // 2
    assert found.matches <= found.pairs_compared <= found.pairs_possible
    assert found.entities == found.parties - len(case.same)
    assert found.merged_parties == 2 * len(case.same)
    assert found.sources[0].entities == found.entities
    assert estimate(case.connection, [case.table], case.rules) == found, "without scored pairs too"


def test_new_weights_are_applied_without_comparing_again(case: Case) -> None:
    blind = case.rules.model_copy(update={"prior": 1e-9})
    vectors = (case.folder / "vectors.parquet").stat().st_mtime_ns
    found = estimate(case.connection, [case.table], blind, case.scored)
    assert (
        found.entities > estimate(case.connection, [case.table], case.rules, case.scored).entities
    )
    assert (case.folder / "vectors.parquet").stat().st_mtime_ns == vectors


def test_scored_pairs_of_other_data_are_not_reused(case: Case, tmp_path: Path) -> None:
    rows, _ = people(30)
    small = make_table(case.connection, "small", COLUMNS, rows)
    scored = score(
        case.connection, [Table("people", small.source, small.columns)], case.rules, tmp_path
    )
    assert scored.sources[0].rows == len(rows)
    full = score(case.connection, [case.table], case.rules, tmp_path)
    assert full.sources[0].rows == case.table.rows
    assert open_scored(tmp_path).inputs_hash == full.inputs_hash
    with pytest.raises(Invalid, match="Score the tables first"):
        open_scored(tmp_path / "nowhere")


def test_weights_follow_splinks_formula(case: Case) -> None:
    """Our SQL over levels must give the weight that Splink itself would predict."""
    plain = tuple(
        one.model_copy(update={"rare_values_count_more": False}) for one in case.rules.comparisons
    )
    rules = case.rules.model_copy(update={"comparisons": plain})
    path = case.folder / "formula.parquet"
    notes: list[str] = []
    with session() as own, quiet(notes):
        own.execute(f"CREATE TABLE {PARTIES_TABLE} AS SELECT * FROM {case.scored.staged.parties}")
        count = compare(own, rules, path)
        predicted = linker(own, rules).inference.predict().physical_name
        far = own.execute(
            f"""SELECT count(*), max(abs(o.weight - s.match_weight))
                FROM ({weighted_sql(rules, parquet_source([path]), 120)}) o
                JOIN {predicted} s ON o.l = least(s.party_l, s.party_r)
                                  AND o.r = greatest(s.party_l, s.party_r)"""
        ).fetchone()
    assert far is not None
    assert far[0] == count > 0
    assert far[1] < 0.001


def test_people_have_the_last_word(case: Case, tmp_path: Path) -> None:
    (a, b), (c, d) = case.same[:2]
    decisions = (
        Decision(
            left=RowRef(table="people", row=a), right=RowRef(table="people", row=b), same=False
        ),
        Decision(
            left=RowRef(table="people", row=a), right=RowRef(table="people", row=c), same=True
        ),
    )
    rules = case.rules.model_copy(update={"decisions": decisions})
    resolution = resolve(case.connection, [case.table], rules, tmp_path)
    entity = entities(case.connection, resolution)
    assert entity[a] != entity[b]
    assert entity[a] == entity[c] == entity[d]
    assert rules.hash() == case.rules.decided(decisions[0]).decided(decisions[1]).hash()
    changed = rules.decided(decisions[0].model_copy(update={"same": True}))
    assert [one.same for one in changed.decisions] == [True, True], "the later word counts"
    shown = estimate(case.connection, [case.table], rules, case.scored).borderline
    wide = rules.revised(thresholds={"match": 0.9, "review_from": 0.01, "review_to": 1.0})
    page = borderline(case.connection, wide, case.scored, limit=200)
    assert (a, b) not in {(pair.left.row, pair.right.row) for pair in page}, "decided is decided"
    assert shown <= estimate(case.connection, [case.table], case.rules, case.scored).borderline
    outcomes = case.connection.execute(
        f"""SELECT outcome, probability IS NULL OR probability < 0.1
            FROM {parquet_source([resolution.pairs.path])}
            WHERE outcome LIKE 'decided%' ORDER BY outcome"""
    ).fetchall()
    assert outcomes == [("decided: different", False), ("decided: the same", True)]


def test_a_decision_about_a_row_that_is_not_there_is_refused(case: Case) -> None:
    ref = RowRef(table="people", row="nobody")
    wrong = Decision(left=ref, right=RowRef(table="people", row="P000"), same=True)
    rules = case.rules.model_copy(update={"decisions": (wrong,)})
    with pytest.raises(Invalid, match="does not exist") as caught:
        estimate(case.connection, [case.table], rules, case.scored)
    assert caught.value.problems[0].pointer == "/decisions/0/left"


def test_borderline_pairs_lie_side_by_side(case: Case) -> None:
    rules = doubtful(case).model_copy(
        update={"thresholds": Thresholds(match=0.9, review_from=0.01, review_to=1.0)}
    )
    page = borderline(case.connection, rules, case.scored, limit=5)
    assert len(page) == 5
    distances = [abs(pair.probability - 0.9) for pair in page]
    assert distances == sorted(distances)
    first = page[0]
    assert {one.field for one in first.evidence} == {one.field for one in case.rules.comparisons}
    assert sum(one.weight for one in first.evidence) == pytest.approx(
        first.weight - _prior_bits(rules), abs=0.1
    )
    second_page = borderline(case.connection, rules, case.scored, limit=4, offset=1)
    assert second_page == page[1:5]
    masked = borderline(case.connection, rules, case.scored, limit=1, masked=True)[0]
    name = first.left.values["first_name"]
    assert name
    assert masked.left.values["first_name"] == name[0] + "•" * (len(name) - 1)
    with pytest.raises(Invalid):
        borderline(case.connection, rules, case.scored, limit=0)


def _prior_bits(rules: Rules) -> float:
    from math import log2

    return log2(rules.prior / (1 - rules.prior))


def test_evidence_is_written_in_words_without_values(case: Case) -> None:
    resolution = resolve(case.connection, [case.table], case.rules, case.folder)
    texts = [
        row[0]
        for row in case.connection.execute(
            f"SELECT evidence FROM {parquet_source([resolution.pairs.path])}"
        ).fetchall()
    ]
    assert any("birth date: the same (+" in text for text in texts)
    assert not any(name in text for text in texts for name in (*FAMILY, *TOWNS))


def test_survivors_follow_their_rules(case: Case, tmp_path: Path) -> None:
    document = case.rules.model_dump(mode="json")
    document["survivorship"] = [
        {"fields": ["last_name"], "rule": "newest"},
        {"fields": ["street"], "rule": "longest"},
        {"fields": ["first_name", "email"], "rule": "most_complete"},
        {"fields": ["updated_at"], "rule": "oldest"},
    ]
    resolution = resolve(case.connection, [case.table], parse_rules(document), tmp_path)
    a, b = case.same[1]
    entity = entities(case.connection, resolution)[a]
    golden = case.connection.execute(
        f"""SELECT last_name, street, email, updated_at, records
            FROM {parquet_source([resolution.golden.path])} WHERE entity_id = ?""",
        [entity],
    ).fetchone()
    rows = {row[0]: row for row in people()[0]}
    assert golden == (rows[b][2], rows[b][5], rows[a][4], "2024-01-05", 2)
    survives = dict(
        case.connection.execute(
            f"""SELECT row_key, survives_in FROM {parquet_source([resolution.mapping.path])}
                WHERE entity_id = ?""",
            [entity],
        ).fetchall()
    )
    assert survives[b] == "last_name, street"
    assert set(survives[a].split(", ")) == {
        *("first_name", "email", "updated_at", "birth_date", "city"),
    }


def test_splink_stays_quiet(
    case: Case, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    before = logging.getLogger("splink").level
    rows, _ = people(12)
    table = make_table(case.connection, "quiet", COLUMNS, rows)
    propose(case.connection, [table])
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("", "")
    notes: list[str] = []
    with quiet(notes):
        logging.getLogger("splink.internals.somewhere").warning("WARNING:\nLevel not\nobserved")
        warnings.warn("from Splink", UserWarning, stacklevel=1)
    assert notes == ["Level not observed"]
    assert not [record for record in caplog.records if record.name.startswith("splink")]
    assert logging.getLogger("splink").level == before


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([], id="no rows"),
        pytest.param(
            [("1", "Ann", "Lee", "1990-01-01", "a@b.example", "X 1", "Y", None)], id="one row"
        ),
        pytest.param([(str(n), *[None] * 7) for n in range(5)], id="all missing"),
        pytest.param(
            [("1", "Ann", "Lee", *[None] * 5), ("2", "Ann", "Lee", *[None] * 5)], id="two rows"
        ),
    ],
)
def test_little_data_is_no_trouble(rows: list[Row], tmp_path: Path) -> None:
    with session() as connection:
        table = make_table(connection, "few", COLUMNS, rows)
        rules = propose(connection, [table], tmp_path)
        found = estimate(connection, [table], rules, open_scored(tmp_path))
        resolution = resolve(connection, [table], rules, tmp_path)
    assert rules.notes, "the proposal says that it had little to go by"
    assert resolution.rows == found.rows == len(rows)
    assert 0 <= resolution.entities <= len(rows)


def test_two_clean_files_are_linked_one_to_one(tmp_path: Path) -> None:
    rows, same = people()
    with session() as connection:
        tables = [
            make_table(connection, "old", COLUMNS, [row for row in rows if str(row[0])[0] == "P"]),
            make_table(connection, "new", COLUMNS, [row for row in rows if str(row[0])[0] == "Q"]),
        ]
        rules = propose(connection, tables, tmp_path)
        resolution = resolve(connection, tables, rules, tmp_path)
        entity = entities(connection, resolution)
    assert [source.duplicates for source in rules.sources] == [False, False]
    assert all(entity[a] == entity[b] for a, b in same)
    assert resolution.entities == len(rows) - len(same)
    assert resolution.largest_entity == 2


def test_no_tables_is_the_callers_mistake() -> None:
    with session() as connection, pytest.raises(Invalid, match="at least one table"):
        propose(connection, [])


def test_hostile_names_and_values_do_no_harm(tmp_path: Path) -> None:
    columns = (
        "row_id",
        "source",
        "x",
        "y",
        "party",
        "records",
        "entity_id",
        "rows_from_odd",
        "v_x",
        'na"me',
        "email",
    )
    rows: list[Row] = [
        (
            f"k{n}",
            "s'; DROP TABLE odd --",
            "x",
            None,
            "p",
            "9",
            "e",
            "3",
            "v",
            f'O\'Hara "{n // 2}"',
            f"a{n // 2}@b.example",
        )
        for n in range(8)
    ]
    with session() as connection:
        table = make_table(connection, "od'd\"", columns, rows)
        rules = propose(connection, [table], tmp_path)
        resolution = resolve(connection, [table], rules, tmp_path)
        golden = describe(connection, parquet_source([resolution.golden.path]))
        numbers = connection.execute(
            f"SELECT row_number, row_key FROM {parquet_source([resolution.mapping.path])}"
        ).fetchall()
    assert numbers == [(n + 1, f"k{n}") for n in range(8)]
    assert rules.sources[0].row_key == "row_id"
    assert resolution.rows == 8
    assert resolution.entities == 4
    names = [column.name for column in golden]
    assert len(names) == len(set(names))
    assert {"entity_id", "records", "column_records", "column_entity_id"} <= set(names)


def test_columns_without_meaning_are_said_to_have_none(tmp_path: Path) -> None:
    with session() as connection:
        table = make_table(
            connection, "odd", ("a b", 'q"uo', "naïve"), [("1", "x", "y"), ("1", "x", "y")]
        )
        rules = propose(connection, [table])
        resolution = resolve(connection, [table], rules, tmp_path)
    assert not rules.comparisons
    assert any("by hand" in note for note in rules.notes)
    assert resolution.entities == 2


HAND = parse_rules(
    {
        "sources": [
            {"table": "left"},
            {"table": "right", "party_key": ["mail"], "duplicates": False},
        ],
        "fields": [
            {
                "name": "name",
                "role": "person_name",
                "columns": {"left": ["name"], "right": ["name"]},
                "clean": ["fold", "words"],
            },
            {"name": "mail", "role": "email", "columns": {"left": ["mail"], "right": ["mail"]}},
        ],
        "blocking": [{"parts": [{"field": "name", "start": 1}]}, {"parts": [{"field": "mail"}]}],
        "comparisons": [
            {
                "field": "name",
                "levels": [
                    {"test": "same", "m": 0.8, "u": 0.01},
                    {"test": "edits", "at_most": 1, "m": 0.1, "u": 0.01},
                    {"test": "otherwise", "m": 0.1, "u": 0.98},
                ],
            },
            {
                "field": "mail",
                "levels": [
                    {"test": "same", "m": 0.8, "u": 0.001},
                    {"test": "otherwise", "m": 0.2, "u": 0.999},
                ],
            },
        ],
        "prior": 0.05,
        "thresholds": {"match": 0.6},
    }
)
VALUE = st.sampled_from([None, "", "anna", "Anna", "ana", "bert", "bret", "ß'\"; --", "日本"])


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(VALUE, VALUE), max_size=8),
    st.lists(st.tuples(VALUE, VALUE), max_size=8),
)
def test_no_row_is_ever_lost(left: list[Row], right: list[Row]) -> None:
    from tempfile import TemporaryDirectory

    with session() as connection, TemporaryDirectory() as folder:
        tables = [
            make_table(connection, "left", ("name", "mail"), left),
            make_table(connection, "right", ("name", "mail"), right),
        ]
        resolution = resolve(connection, tables, HAND, Path(folder))
        assert all(check.passed for check in resolution.checks)
        mapped = connection.execute(
            f"""SELECT source_table, list(row_number ORDER BY row_number)
                FROM {parquet_source([resolution.mapping.path])} GROUP BY ALL ORDER BY ALL"""
        ).fetchall()
        expected = [("left", left), ("right", right)]
        assert mapped == [(name, list(range(1, len(rows) + 1))) for name, rows in expected if rows]
        records = connection.execute(
            f"""SELECT coalesce(sum(records), 0), coalesce(sum(rows_from_left + rows_from_right), 0)
                FROM read_parquet({literal(str(resolution.golden.path))})"""
        ).fetchone()
        assert records == (len(left) + len(right), len(left) + len(right))
