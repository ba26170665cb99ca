"""Ids of another project: every route that takes one answers as if there were nothing, and changes nothing there.

Routes and the forms of their ids come from the OpenAPI document. Each table of projects gets a row in the first project for
each form of id, so that a route that forgot to look at the project would find something.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from steward.identity import Role
from steward.store import Scope
from steward.store.tables import Moment, metadata
from steward.testing import Installation
from tests.api.leaks import Bodies
from tests.api.routes import METHODS, openapi_document

pytestmark = pytest.mark.timeout(300)
_PREFIXED: Final = re.compile(r"([a-z]+)_\[0-9a-")
_DIGITS: Final = "0123456789abcdefghjkmnpqrs"
THEIRS: Final = _DIGITS
ABSENT: Final = _DIGITS[::-1]
PEOPLE: Final = frozenset({"usr", "idp", "ses"})
"""Forms of ids of what belongs to no project."""
NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)


def _prefix(schema: dict[str, Any]) -> str | None:
    """How ids of a parameter begin."""
    found = _PREFIXED.search(str(schema.get("pattern", "")))
    for each in schema.get("anyOf", []):
        found = found or _PREFIXED.search(str(each.get("pattern", "")))
    return found[1] if found and found[1] not in PEOPLE else None


def _operations() -> Iterator[tuple[str, str, dict[str, Any], dict[str, str]]]:
    """Those of projects that take an id, with the beginnings of the ids that they take."""
    for path, item in openapi_document()["paths"].items():
        for method in sorted(METHODS & item.keys()):
            parameters = item[method].get("parameters", [])
            known = {each["name"]: _prefix(each["schema"]) for each in parameters}
            taken = {name: prefix for name, prefix in known.items() if prefix is not None}
            if taken and item[method]["x-steward-access"]["kind"] == "project":
                yield method.upper(), path, item[method], taken


OPERATIONS: Final = list(_operations())
PREFIXES: Final = sorted({prefix for each in OPERATIONS for prefix in each[3].values()})


def _owned() -> list[sa.Table]:
    return [
        table
        for table in metadata.sorted_tables
        if {"project_id", "id"} <= set(table.c.keys()) and isinstance(table.c.id.type, sa.String)
    ]


def _value(column: sa.Column[Any], row_id: str, number: int, scope: Scope) -> Any:
    known = {"id": row_id, "project_id": scope.project_id, "org_id": scope.org_id}
    if column.name in known:
        return known[column.name]
    if column.nullable:
        return None
    kind = column.type
    if isinstance(kind, Moment):
        return NOW
    if isinstance(kind, sa.types.TypeDecorator):
        kind = kind.impl_instance
    match kind.python_type:
        case python if python in {int, float}:
            return 1_000_000 + number
        case python if python is bool:
            return True
        case python if python is bytes:
            return b"x"
        case python if python is str:
            return row_id[: getattr(kind, "length", None) or 40]
        case _:
            return {}


def _fill(installation: Installation) -> int:
    """A row for each form of id in each table; nothing ever reads them, so what they hold does not matter."""
    scope, count = installation.scope, 0
    # A connection of its own, which does not ask whether what rows refer to is there.
    engine = sa.create_engine(f"sqlite:///{installation.steward.settings.home / 'steward.db'}")
    with engine.connect() as connection:
        for table in _owned():
            for prefix in PREFIXES:
                row_id = f"{prefix}_{THEIRS}"
                row = {each.name: _value(each, row_id, count, scope) for each in table.c}
                connection.execute(sa.insert(table).values(row))
                count += 1
        connection.commit()
    engine.dispose()
    return count


def _kept(installation: Installation) -> dict[str, list[Any]]:
    """All rows of the first project."""
    project_id = installation.scope.project_id
    with installation.steward.database.raw_writer() as connection:
        return {
            table.name: sorted(
                map(
                    repr,
                    connection.execute(
                        sa.select(sa.text("*"))
                        .select_from(table)
                        .where(table.c.project_id == project_id)
                    ),
                )
            )
            for table in metadata.sorted_tables
            if "project_id" in table.c
        }


def _call(
    client: TestClient,
    project_id: str,
    operation: tuple[str, str, dict[str, Any], dict[str, str]],
    digits: str,
) -> tuple[int, str, str]:
    method, path, described, taken = operation
    ids = {name: f"{prefix}_{digits}" for name, prefix in taken.items()}
    path, query = path.replace("{project_id}", project_id), {}
    for each in described.get("parameters", []):
        name, schema = each["name"], each["schema"]
        value = ids.get(name) or str(schema.get("enum", schema.get("examples", ["1"]))[0])
        if each["in"] == "path":
            path = re.sub(rf"\{{{name}(:path)?\}}", value, path)
        elif each["in"] == "query" and (name in ids or each.get("required")):
            query[name] = value
    sent = Bodies({name: [value] for name, value in ids.items()}).of(described)
    headers = {"If-Match": '"1"', "Upload-Offset": "0", **sent.pop("headers", {})}
    answer = client.request(method, path, params=query, headers=headers, **sent)
    code = answer.json().get("type", "") if answer.status_code >= 400 else ""
    return answer.status_code, code, answer.text


def test_ids_of_another_project_open_and_change_nothing(installation: Installation) -> None:
    assert len(OPERATIONS) > 120
    assert _fill(installation) > len(PREFIXES) * 10
    second = installation.project("Second")
    elsewhere = installation.person(Role.owner, "elsewhere", second)
    before = _kept(installation)
    wrong = []
    for operation in OPERATIONS:
        found = []
        for digits in (THEIRS, ABSENT):
            installation.clock.advance(seconds=1)
            status, code, text = _call(elsewhere.client, second, operation, digits)
            assert status < 500, (operation[:2], text)
            found.append((status, code))
            assert digits == ABSENT or status >= 400 or digits not in text, operation[:2]
        if found[0] != found[1] or (found[0][0] < 400 and "{" in _taken_in(operation)):
            wrong.append((operation[:2], found))
    assert wrong == []
    after = _kept(installation)
    assert [name for name in before if before[name] != after[name]] == []


def _taken_in(operation: tuple[str, str, dict[str, Any], dict[str, str]]) -> str:
    """The part of the address that has ids; empty where only filters take them."""
    _, path, _, taken = operation
    return "".join(f"{{{name}}}" for name in taken if f"{{{name}}}" in path)
