"""The rules document: what it accepts, refuses and remembers."""

import json
from typing import Any

import duckdb
import pytest

from steward.analysis.resolve import Rules, from_yaml, to_yaml
from steward.analysis.resolve.rules import parse_rules
from steward.analysis.resolve.scored import compare_hash
from steward.analysis.resolve.staging import match_tables
from steward.core.errors import Invalid, TooLarge
from steward.tables.table import Column, Table


def document() -> dict[str, Any]:
    return {
        "schema_version": 1,
        "entity": "person",
        "sources": [
            {"table": "people", "row_key": "id"},
            {"table": "orders", "party_key": ["mail"], "duplicates": False},
        ],
        "fields": [
            {
                "name": "name",
                "role": "person_name",
                "columns": {"people": [["first", "last"]], "orders": ["buyer", "payer"]},
                "clean": ["fold", "words"],
                "ignore": ["test user"],
            },
            {"name": "mail", "role": "email", "columns": {"people": ["mail"], "orders": ["mail"]}},
        ],
        "blocking": [{"parts": [{"field": "name", "start": 3}, {"field": "mail"}], "pairs": 7}],
        "comparisons": [
            {
                "field": "name",
                "rare_values_count_more": True,
                "levels": [
                    {"test": "same", "m": 0.8, "u": 0.001},
                    {"test": "similar", "at_least": 0.9, "m": 0.1, "u": 0.01},
                    {"test": "otherwise", "m": 0.1, "u": 0.989},
                ],
            },
            {"field": "mail", "levels": [{"test": "same"}, {"test": "otherwise"}]},
        ],
        "survivorship": [{"fields": ["name", "mail"], "rule": "most_complete"}],
        "decisions": [
            {
                "left": {"table": "people", "row": "1"},
                "right": {"table": "orders", "row": "4"},
                "same": False,
                "note": "Father: and son # really",
            }
        ],
        "notes": ["read: this"],
    }


def refused(change: dict[str, Any]) -> Invalid:
    with pytest.raises(Invalid) as caught:
        parse_rules({**document(), **change})
    return caught.value


def test_yaml_round_trip_keeps_every_value() -> None:
    rules = parse_rules(document())
    text = to_yaml(rules)
    assert from_yaml(text) == rules
    assert to_yaml(from_yaml(text)) == text
    assert rules.hash() == from_yaml(text).hash()


def test_yaml_says_what_weights_mean() -> None:
    text = to_yaml(parse_rules(document()))
    assert "- {test: same, m: 0.8, u: 0.001}  # +9.6 strong evidence for" in text
    assert "- {test: otherwise, m: 0.1, u: 0.989}  # -3.3 evidence against" in text
    assert "match: 0.9" in text, "thresholds are written out even when untouched"


def test_json_round_trip() -> None:
    rules = parse_rules(document())
    assert parse_rules(json.loads(rules.model_dump_json())) == rules


@pytest.mark.parametrize(
    ("change", "pointer", "words"),
    [
        ({"schema_version": 2}, "/schema_version", "1"),
        ({"suvivorship": []}, "/suvivorship", "not permitted"),
        ({"prior": 0}, "/prior", "greater than 0"),
        ({"prior": float("nan")}, "/prior", "finite"),
        ({"thresholds": {"match": 0.3, "review_from": 0.5}}, "/thresholds", "review_from"),
        ({"thresholds": {"match": 0.001}}, "/thresholds/match", "greater than"),
        ({"sources": []}, "/sources", "at least 1"),
        (
            {"comparisons": [{"field": "name", "levels": [{"test": "same"}, {"test": "same"}]}]},
            "/comparisons/0",
            "otherwise",
        ),
        (
            {
                "comparisons": [
                    {"field": "name", "levels": [{"test": "similar"}, {"test": "otherwise"}]}
                ]
            },
            "/comparisons/0/levels/0",
            "at_least",
        ),
        (
            {
                "comparisons": [
                    {"field": "name", "levels": [{"test": "same", "m": 0.5}, {"test": "otherwise"}]}
                ]
            },
            "/comparisons/0/levels/0",
            "both",
        ),
        (
            {
                "comparisons": [
                    {"field": "nmae", "levels": [{"test": "same"}, {"test": "otherwise"}]}
                ]
            },
            "",
            "'nmae'",
        ),
        (
            {"blocking": [{"parts": [{"field": "name", "start": 2, "end": 2}]}]},
            "/blocking/0/parts/0",
            "not several",
        ),
        (
            {"survivorship": [{"fields": ["name"], "rule": "loudest"}]},
            "/survivorship/0/rule",
            "most_frequent",
        ),
        (
            {
                "fields": [
                    {"name": "Name; DROP TABLE", "role": "other", "columns": {"people": ["x"]}}
                ]
            },
            "/fields/0/name",
            "pattern",
        ),
    ],
)
def test_mistakes_are_named_with_their_place(
    change: dict[str, Any], pointer: str, words: str
) -> None:
    error = refused(change)
    assert error.specific_code == "invalid-rules"
    assert error.problems[0].pointer == pointer
    assert words in " ".join(problem.message for problem in error.problems)


def test_yaml_that_is_not_yaml_is_refused_with_its_line() -> None:
    with pytest.raises(Invalid, match="line 2"):
        from_yaml("schema_version: 1\nsources: [")


def test_yaml_aliases_and_huge_documents_are_refused() -> None:
    with pytest.raises(Invalid, match="anchors"):
        from_yaml("a: &x [1, 2]\nb: [*x, *x]")
    with pytest.raises(TooLarge):
        from_yaml("notes: [" + "x," * 300_000 + "]")


def test_hashes_tell_what_must_be_computed_again() -> None:
    rules = parse_rules(document())
    moved = Rules.model_validate({**document(), "thresholds": {"match": 0.7}})
    assert moved.hash() != rules.hash()
    assert moved.scoring_hash() == rules.scoring_hash()
    weights = document()
    weights["comparisons"][0]["levels"][0]["m"] = 0.7
    heavier = parse_rules(weights)
    assert heavier.scoring_hash() != rules.scoring_hash()
    assert compare_hash(heavier) == compare_hash(rules)
    blocked = parse_rules({**document(), "blocking": [{"parts": [{"field": "mail"}]}]})
    assert compare_hash(blocked) != compare_hash(rules)


def test_rules_must_fit_the_tables() -> None:
    people = Table("people", "people", (Column("id", "INTEGER"), Column("mail", "VARCHAR")))
    with pytest.raises(Invalid) as caught:
        match_tables([people], parse_rules(document()))
    said = {problem.pointer: problem.message for problem in caught.value.problems}
    assert "first" in said["/fields/0/columns/people"] or "last" in said["/fields/0/columns/people"]
    assert "orders" in said["/sources/1/table"]
    extra = Table("extra", "extra", (Column("id", "INTEGER"),))
    with pytest.raises(Invalid, match="first"):
        match_tables([people, extra], parse_rules(document()))


def test_a_row_key_that_repeats_is_refused() -> None:
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from steward.analysis.resolve.staging import stage

    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT * FROM (VALUES (1, 'a'), (1, 'b')) AS v(id, name)")
    table = Table("t", "t", (Column("id", "INTEGER"), Column("name", "VARCHAR")))
    rules = parse_rules({"sources": [{"table": "t", "row_key": "id"}]})
    with TemporaryDirectory() as folder, pytest.raises(Invalid, match="1 repeat"):
        stage(connection, [table], rules, Path(folder))
    connection.close()
