"""Questions about the geography of the United States (GeoQuery) with SQL by Iyer and others, from text2sql-data.

The data has no stated licence and stays outside of this repository. To get it, clone github.com/jkkummerfeld/text2sql-data
and give its folder `data`, which holds `geography.json` and `geography-db.added-in-2020.sqlite`.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.question_sets import Turn
from benchmarks.question_sets.outside import Case, Database, write_csv


def read_geography(folder: Path, scratch: Path) -> Database:
    source = f"file:{folder / 'geography-db.added-in-2020.sqlite'}?mode=ro"
    with closing(sqlite3.connect(source, uri=True)) as database:
        found = database.execute("select name from sqlite_master where type = 'table'").fetchall()
        files = {name: _export(database, name, scratch / f"{name}.csv") for (name,) in found}
        cases = []
        for question, queries in _questions(json.loads((folder / "geography.json").read_text())):
            answers = tuple(
                rows for query in queries if (rows := _rows(database, query)) is not None
            )
            if answers:
                cases.append(Case(Turn(ask=question), answers))
    return Database("geography", files, tuple(cases))


def _export(database: sqlite3.Connection, table: str, path: Path) -> Path:
    found = database.execute(f'select * from "{table}"')
    return write_csv(path, [column[0] for column in found.description], found.fetchall())


def _rows(database: sqlite3.Connection, query: str) -> list[tuple[Any, ...]] | None:
    """The result, or None where the query does not run in SQLite."""
    try:
        return database.execute(query).fetchall()
    except sqlite3.Error:
        return None


def _questions(document: list[dict[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    for each in document:
        for sentence in each["sentences"]:
            question, queries = sentence["text"], list(each["sql"])
            # The longest name first: `state_name10` begins with `state_name1`.
            for name in sorted(sentence["variables"], key=len, reverse=True):
                value = sentence["variables"][name]
                question = question.replace(name, value)
                queries = [query.replace(name, value) for query in queries]
            yield question, queries
