"""Prompts and completions are shown and compared line by line; what is untrusted, withheld or secret is marked."""

import hashlib
from typing import Any

import pytest

from steward.flows.launch import Start
from steward.identity import Role
from steward.runs import Run
from steward.testing import Installation
from steward.testing.models import ScriptedLineup, ScriptedModel, calls

pytestmark = pytest.mark.every_database

API = "/api/v1"
FLOW = {
    "format": 1,
    "id": "one",
    "nodes": [
        {
            "id": "agent",
            "type": "agent",
            "agent": "counter",
            "instructions": "Count. The key is sk-abcdefghijklmnopqrstuvwx.",
        }
    ],
}


@pytest.fixture
def run(installation: Installation, models: ScriptedLineup) -> Run:
    agents, access = installation.steward.agents, installation.owner.access
    document = {
        "name": "counter",
        "title": "Counter",
        "description": "Counts.",
        "instructions": "You count.",
        "tools": ["list_datasets", "execute_sql"],
    }
    agent = agents.checked(access.scope, document, "counter")
    agents.save(access.scope, access.user_id, "counter", agent, message="", call="counter")
    models.play(ScriptedModel([calls("list_datasets"), f"There are\nno datasets.\n{'x' * 5_000}z"]))
    return _driven(installation)


def _driven(installation: Installation) -> Run:
    steward, access = installation.steward, installation.owner.access
    made = steward.governing.launcher.start(access, Start(FLOW))
    steward.runs.drive_until_idle()
    return steward.runs.get(access.scope, made.id)


def _spans(installation: Installation, run: Run, operation: str) -> list[dict[str, Any]]:
    address = f"{API}/projects/{installation.scope.project_id}/runs/{run.id}/trace"
    found = installation.owner.client.get(address, params={"operation": operation}).json()
    spans: list[dict[str, Any]] = found["spans"]
    return spans


def _read(installation: Installation, run: Run, what: str, **query: str) -> dict[str, Any]:
    address = f"{API}/projects/{installation.scope.project_id}/runs/{run.id}/{what}"
    answer = installation.owner.client.get(address, params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_prompt_and_completion_with_tokens_and_the_request_before(
    installation: Installation, run: Run
) -> None:
    first, second = _spans(installation, run, "chat")
    found = _read(installation, run, "span-content", about=second["about"])
    assert found["kind"] == "model"
    assert found["before"] == first["about"]
    assert found["input_tokens"] is not None
    assert [line["text"] for line in found["answered"]][:2] == ["There are", "no datasets."]
    headings = [line["text"] for line in found["asked"] if line["is_heading"]]
    assert headings[0] == "Instructions"
    assert "Result of list_datasets" in headings
    secret = [line for line in found["asked"] if "[redacted]" in line["text"]]
    assert secret
    assert all(line["mark"] == "redacted" for line in secret)
    assert "sk-abcdefghij" not in str(found)


def test_the_request_before_is_compared(installation: Installation, run: Run) -> None:
    first, second = _spans(installation, run, "chat")
    found = _read(installation, run, "span-diff", about=second["about"], other_about=first["about"])
    assert (found["left"]["about"], found["right"]["about"]) == (first["about"], second["about"])
    changes = {line["change"] for line in found["asked"]}
    assert changes == {"same", "added"}
    added = [line["text"] for line in found["asked"] if line["change"] == "added"]
    assert "Result of list_datasets" in added
    assert {line["change"] for line in found["answered"]} == {"removed", "added"}


def test_another_run_is_compared_by_the_same_key(
    installation: Installation, run: Run, models: ScriptedLineup
) -> None:
    long = "x" * 5_000
    models.play(ScriptedModel([calls("list_datasets"), f"There are\nmany datasets.\n{long}y"]))
    other = _driven(installation)
    about = _spans(installation, run, "chat")[1]["about"]
    found = _read(installation, run, "span-diff", about=about, other=other.id)

    def cut(end: str) -> str:
        digest = hashlib.sha256(f"{long}{end}".encode()).hexdigest()[:12]
        return f"{long[:2_000]}… (5,001 characters, SHA-256 {digest})"

    assert [(line["change"], line["text"]) for line in found["answered"]] == [
        ("same", "There are"),
        ("removed", "many datasets."),
        ("removed", cut("y")),
        ("added", "no datasets."),
        ("added", cut("z")),
    ]
    # Each request has marks of its own for what others wrote: they are no difference.
    assert "removed" not in {line["change"] for line in found["asked"]}


def test_arguments_and_results_of_calls_are_shown(installation: Installation, run: Run) -> None:
    [span] = _spans(installation, run, "execute_tool")
    found = _read(installation, run, "span-content", about=span["about"])
    assert (found["kind"], found["name"]) == ("tool", "list_datasets")
    assert found["answered"]


def test_what_others_wrote_is_marked(installation: Installation) -> None:
    address = f"{API}/projects/{installation.scope.project_id}"
    body = {"query_type": "sql", "query": "SELECT * FROM there_is_no_such_table"}
    made = installation.owner.client.post(f"{address}/runs", json=body).json()
    installation.steward.runs.drive_until_idle()
    run = installation.steward.runs.get(installation.scope, made["id"])
    [span] = _spans(installation, run, "execute_tool")
    found = _read(installation, run, "span-content", about=span["about"])
    marked = [line["text"] for line in found["answered"] if line["mark"] == "untrusted"]
    assert any("there_is_no_such_table" in text for text in marked)


def test_spans_of_other_projects_are_not_there(installation: Installation, run: Run) -> None:
    about = _spans(installation, run, "chat")[0]["about"]
    other = installation.project("Other")
    stranger = installation.person(Role.owner, "stranger", other)
    address = f"{API}/projects/{other}/runs/{run.id}"
    for what in ("span-content", "span-diff"):
        answer = stranger.client.get(f"{address}/{what}", params={"about": about})
        assert answer.status_code == 404
    mine = f"{API}/projects/{installation.scope.project_id}/runs/{run.id}/span-content"
    unknown = installation.owner.client.get(mine, params={"about": "nothing"})
    assert unknown.status_code == 404
    assert "nothing" in unknown.json()["detail"]
