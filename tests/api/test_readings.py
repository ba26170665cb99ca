"""The query builder over HTTP: tables, figures, values from the data, page by page."""

import json
from typing import Any

from steward.identity import Role
from steward.testing import Installation

CSV = "country,net\n" + "\n".join(f"Land {index % 30},{index}" for index in range(90)) + "\n"


def _ask(installation: Installation, **query: Any) -> Any:
    client = installation.by_token(installation.owner, Role.viewer)
    address = f"/api/v1/projects/{installation.scope.project_id}/readings/options"
    given = {name: value if isinstance(value, str) else json.dumps(value) for name, value in query.items()}  # fmt: skip
    return client.get(address, params=given)


def test_a_reading_is_built_by_choosing_and_values_are_searched_in_the_data(
    installation: Installation,
) -> None:
    scope, owner = installation.scope, installation.owner
    installation.steward.workbench.bringing.load_text(
        scope, owner.user.id, "sales.csv", CSV, "sales"
    )
    begun = _ask(installation, search="sales").json()
    assert begun["chips"] == []
    reading = begun["items"][0]["reading"]
    figures = _ask(installation, reading=reading, pointer="/measures/0").json()
    assert figures["chips"][0]["text"] == "sales"
    assert any(item["text"].endswith("of net") for item in figures["items"])
    column = {"column": "country"}
    page = _ask(
        installation, reading=reading, pointer="/filters/-", column=column, search="land 2", limit="5"
    ).json()  # fmt: skip
    assert page["items"][0]["text"] == "only Land 2"
    assert len(page["items"]) == 5
    rest = _ask(
        installation, reading=reading, pointer="/filters/-", column=column, search="land 2",
        limit="200", cursor=page["next_cursor"],
    ).json()  # fmt: skip
    assert len(rest["items"]) == 6, "Land 2 and Land 20 to 29"
    assert rest["next_cursor"] is None


def test_a_reading_that_is_none_is_refused_in_words(installation: Installation) -> None:
    refused = _ask(installation, reading='{"table": ""}')
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("The reading does not fit:")
    unknown = _ask(installation, reading={"table": "nowhere"}, pointer="/filters/-", column={"column": "x"})  # fmt: skip
    assert unknown.status_code == 200
