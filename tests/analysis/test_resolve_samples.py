"""The demo data: customers across CRM, billing and support, against their known truth."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import duckdb
import pytest

from scripts.samples import SampleDataset, generate
from steward.analysis.resolve import propose, resolve
from steward.tables.engine import session
from steward.tables.table import Table, describe, literal, parquet_source, quote

CUSTOMERS = 160


def load(connection: duckdb.DuckDBPyConnection, sample: SampleDataset, folder: Path) -> Table:
    path = folder / sample.filename
    path.write_text(sample.content.decode(sample.encoding), encoding="utf-8", newline="")
    connection.execute(
        f"""CREATE TABLE {quote(sample.name)} AS SELECT * FROM read_csv({literal(str(path))},
            delim = {literal(sample.delimiter)}, header = true, all_varchar = true,
            quote = '"', escape = '"', parallel = false)"""
    )
    source = quote(sample.name)
    return Table(sample.name, source, describe(connection, source), sample.rows)


def pairs(groups: Iterable[object]) -> int:
    return sum(count * (count - 1) // 2 for count in Counter(groups).values())


@pytest.mark.parametrize("seed", [20260])
def test_customers_are_merged_as_they_are(seed: int, tmp_path: Path) -> None:
    samples = generate(seed=seed, customers=CUSTOMERS)
    truth = {(row.dataset, row.row_id): row.entity_id for row in samples.truth.rows}
    with session() as connection:
        tables = [load(connection, sample, tmp_path) for sample in samples.datasets]
        rules = propose(connection, tables, tmp_path / "work")
        resolution = resolve(connection, tables, rules, tmp_path / "work")
        mapped = connection.execute(
            f"""SELECT source_table, row_key, party, entity_id
                FROM {parquet_source([resolution.mapping.path])}"""
        ).fetchall()
    keys = {source.table: source.party_key for source in rules.sources}
    assert keys == {
        "crm_customers": (),
        "billing_invoices": ("account_no",),
        "support_tickets": ("requester_email",),
    }
    fields = {field.name: field.columns for field in rules.fields}
    assert fields["customer_id"] == {
        "crm_customers": ("customer_id",),
        "billing_invoices": ("crm_id",),
    }
    assert "owner" in fields, "carried along, not compared"
    assert "owner" not in {comparison.field for comparison in rules.comparisons}
    assert len(mapped) == len(truth)
    parties = {party: (entity, truth[table, key]) for table, key, party, entity in mapped}
    both = list(parties.values())
    right = pairs(both)
    precision = right / pairs(entity for entity, _ in both)
    recall = right / pairs(real for _, real in both)
    assert 2 * precision * recall / (precision + recall) >= 0.95
