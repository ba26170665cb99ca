"""Definitions to and from Apache Ossie and dbt, with every loss told."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from steward.core.documents import read_yaml
from steward.core.errors import Invalid
from steward.definitions import Definitions
from steward.definitions.formats import Format, export_definitions, import_definitions

# Apache-2.0, from https://github.com/apache/ossie at the tag osi-0.1.1-rc1.
SCHEMA = json.loads((Path(__file__).parent / "ossie-0.1.1.schema.json").read_text())

DOCUMENT = Definitions.model_validate(
    {
        "tables": {
            "lines": {
                "row": "order line",
                "key": ["line_id"],
                "default_time": "sold_at",
                "state": "confirmed",
                "default_filters": [
                    {"where": "cancelled = false", "say": "without cancelled lines"}
                ],
                "segments": {"large": {"where": "quantity > 10", "synonyms": ["big"]}},
                "columns": {
                    "line_id": {"role": "identifier", "additive": "never"},
                    "buyer": {"role": "identifier", "state": "rejected", "by": "Ann"},
                    "sold_at": {"role": "time", "zone": "Europe/Vienna"},
                    "cancelled": {"role": "dimension"},
                    "quantity": {"role": "measure", "total": "sum"},
                    "stock": {"role": "measure", "total": "sum", "additive": "not over time"},
                    "unit price": {
                        "role": "measure",
                        "total": "avg",
                        "additive": "never",
                        "unit": "EUR",
                    },
                },
            },
            "buyers": {
                "key": ["id"],
                "columns": {
                    "id": {"role": "identifier"},
                    "country": {
                        "role": "dimension",
                        "synonyms": ["market"],
                        "values": {"Germany": ["DE"]},
                    },
                },
            },
        },
        "metrics": {
            "revenue": {
                "formula": 'sum("unit price" * quantity)',
                "over": "lines",
                "unit": "EUR",
                "synonyms": ["turnover"],
            },
            "size": {"formula": "sum(quantity) / count(*)", "over": "lines"},
        },
        "relationships": [
            {
                "from_table": "lines",
                "from_columns": ["buyer"],
                "to_table": "buyers",
                "to_columns": ["id"],
            }
        ],
        "questions": [{"ask": "monthly revenue", "reading": {"table": "lines"}}],
    }
)


@pytest.mark.parametrize("kind", ["steward", "ossie", "dbt"])
def test_what_is_exported_is_imported_as_it_was(kind: Format) -> None:
    exported = export_definitions(DOCUMENT, kind)

    imported = import_definitions(exported.text)

    assert imported.definitions == DOCUMENT
    assert (imported.format, imported.losses) == (kind, [])


def test_an_ossie_export_keeps_to_its_schema_and_tells_what_it_cannot_say() -> None:
    exported = export_definitions(DOCUMENT, "ossie")

    Draft202012Validator(SCHEMA).validate(read_yaml(exported.text))
    for missing in ("default filters", "units", "time zones", "confirmed questions", "values"):
        assert any(missing in each for each in exported.losses), missing


def _plain(kind: Format) -> dict[str, Any]:
    """An export as another program would write it: without what only Steward reads."""
    found: dict[str, Any] = read_yaml(export_definitions(DOCUMENT, kind).text)
    if kind == "ossie":
        del found["semantic_model"][0]["custom_extensions"]
    else:
        del found["semantic_models"][0]["config"]
    return found


def test_foreign_ossie_is_read_in_every_shape() -> None:
    nested = _plain("ossie")
    flat = {"version": "0.2.0.dev0", **nested["semantic_model"][0]}
    draft = {**nested, "version": "0.2.0.dev0"}

    found = [import_definitions(json.dumps(each)).definitions for each in (nested, flat, draft)]

    assert found[0] == found[1] == found[2]
    lines = found[0].tables["lines"]
    assert (lines.key, lines.columns["line_id"].role) == (["line_id"], "identifier")
    assert lines.columns["sold_at"].role == "time"
    assert found[0].metrics["revenue"].over == "lines"
    assert found[0].metrics["revenue"].synonyms == ["turnover"]
    assert found[0].relationships[0].to_table == "buyers"


def test_a_dbt_manifest_is_read_with_its_metrics() -> None:
    manifest = _plain("dbt")
    for model in manifest["semantic_models"]:
        model["node_relation"] = {"alias": model["name"], "schema_name": "main"}
        del model["model"]
    manifest["metrics"] += [
        {
            "name": "share",
            "type": "ratio",
            "type_params": {"numerator": {"name": "revenue"}, "denominator": {"name": "size_1"}},
        },
        {"name": "so far", "type": "cumulative", "type_params": {"measure": {"name": "revenue"}}},
    ]

    found = import_definitions(json.dumps(manifest))

    metrics = found.definitions.metrics
    assert metrics["revenue"].formula == 'sum("unit price" * quantity)'
    assert metrics["size"].formula.replace(" ", "") == "(SUM(quantity))/(COUNT(*))"
    assert metrics["share"].formula.startswith("(sum(")
    assert found.losses == [
        'The metric "so far" (cumulative) is left out: Steward cannot say it yet.'
    ]
    table = found.definitions.tables["lines"]
    assert table.default_time == "sold_at"
    assert table.columns["stock"].additive == "not over time"
    assert found.definitions.relationships[0].from_columns == ["buyer"]


def test_what_foreign_files_say_beyond_definitions_is_told() -> None:
    model = {
        "name": "m",
        "datasets": [
            {
                "name": "t",
                "source": "t",
                "fields": [
                    {
                        "name": "full",
                        "expression": {
                            "dialects": [{"dialect": "ANSI_SQL", "expression": "a || b"}]
                        },
                    },
                    {
                        "name": "x",
                        "expression": {"dialects": [{"dialect": "MDX", "expression": "[x]"}]},
                    },
                ],
            }
        ],
        "metrics": [
            {
                "name": "n",
                "expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": "count(*)"}]},
            }
        ],
    }

    found = import_definitions(json.dumps({"version": "0.1.0", "semantic_model": [model]}))

    assert any("is computed" in each for each in found.losses)
    assert any("MDX" in each for each in found.losses)
    assert any('"n" is left out' in each for each in found.losses)


@pytest.mark.parametrize("text", ["[]", "a: 1", "{", "format: 1\nentries: 3", "- x"])
def test_other_files_are_refused(text: str) -> None:
    with pytest.raises(Invalid):
        import_definitions(text)
