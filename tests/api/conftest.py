"""Every answer that any of these tests gets has a status that the OpenAPI document names for its route."""

from collections.abc import Iterator
from functools import cache

import pytest
from starlette.types import Scope

from steward.api.middleware import RequestFrame
from tests.api.routes import openapi_document


@cache
def _documented() -> dict[tuple[str, str], frozenset[int]]:
    return {
        (method.upper(), path): frozenset(int(status) for status in operation["responses"])
        for path, item in openapi_document()["paths"].items()
        for method, operation in item.items()
        if isinstance(operation, dict) and "responses" in operation
    }


@pytest.fixture(autouse=True)
def documented_statuses(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    answered: set[tuple[str, str, int]] = set()
    record = RequestFrame._record

    def noting(self: RequestFrame, scope: Scope, status: int, seconds: float) -> None:
        route = scope.get("route")
        path = getattr(route, "path_format", None)
        if path is not None and status:
            prefix = "" if path.startswith("/api/") else "/api/v1"
            answered.add((scope["method"], prefix + path, status))
        record(self, scope, status, seconds)

    monkeypatch.setattr(RequestFrame, "_record", noting)
    yield
    known = _documented() if answered else {}
    unnamed = [
        each
        for each in sorted(answered)
        if each[:2] in known and each[2] not in known[each[:2]] and each[2] != 500
    ]
    assert not unnamed, f"answers that the OpenAPI document does not name: {unnamed}"
