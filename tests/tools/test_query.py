"""SQL of agents runs in the sandbox over the branch's datasets, and its failures say what to do."""

from typing import Any

import pytest

from steward.broker.tool import ToolContext
from steward.core.errors import Invalid, NotFound, StewardError, TooLarge, Unavailable
from steward.sandbox import Column, Request, Response, Sandbox
from steward.sandbox.providers.embedded import Embedded
from steward.store import FileBlobs
from steward.testing.tools import Trial, check_tool
from steward.tools import load_tools
from tests.tools.room import Room, run


class Scripted:
    """A sandbox that answers as told and keeps what it was asked."""

    def __init__(self, **answer: Any) -> None:
        self._answer = answer
        self.asked: list[Request] = []

    async def execute(self, request: Request) -> Response:
        self.asked.append(request)
        return Response(**{"status": "done", **self._answer})


def _with(room: Room, sandbox: Any) -> ToolContext:
    return room.context(sandbox=sandbox)


def test_the_sandbox_gets_the_parts_of_the_datasets_and_nothing_else(room: Room) -> None:
    sandbox = Scripted(
        columns=[Column(name="n", type="BIGINT")], rows=[[7]], tables=["crm_customers"]
    )
    trial = Trial(_with(room, sandbox), {"sql": "SELECT 7 AS n", "limit": 5})
    outcome = check_tool(load_tools().get("query"), trial)
    assert outcome is not None
    [request] = sandbox.asked
    assert (request.kind, request.limits.rows) == ("sql", 5)
    assert {each.name for each in request.datasets} == {
        "billing_invoices",
        "crm_customers",
        "support_tickets",
    }
    blobs = room.steward.blobs
    assert isinstance(blobs, FileBlobs)
    for each in request.datasets:
        assert each.files
        assert all(file.startswith(f"{blobs.root}/") for file in each.files)
        assert all(f"'{file}'" in each.source for file in each.files)
    version = room.workspace.dataset("crm_customers").version
    assert outcome.sources == (f"dataset:crm_customers@{version}",)
    assert (outcome.value["rows"], outcome.trusted) == ([[7]], False)


def test_only_the_named_datasets_are_readable_also_after_edits(room: Room) -> None:
    room.call("clean", {"dataset": "crm_customers", "operation": "trim"})
    sandbox = Scripted()
    room.call("query", {"sql": "SELECT 1", "datasets": ["crm_customers"]}, _with(room, sandbox))
    [dataset] = sandbox.asked[0].datasets
    assert dataset.name == "crm_customers"
    assert dataset.files
    with pytest.raises(NotFound):
        room.call("query", {"sql": "SELECT 1", "datasets": ["no"]}, _with(room, sandbox))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"status": "refused", "refusals": [{"what": "COPY", "message": "no"}]}, Invalid),
        ({"status": "failed", "message": "no such column"}, Invalid),
        ({"status": "timeout"}, TooLarge),
        ({"status": "out_of_memory"}, TooLarge),
        ({"status": "too_large"}, TooLarge),
        ({"status": "killed"}, Unavailable),
    ],
)
def test_what_the_sandbox_says_is_told(
    room: Room, answer: dict[str, Any], kind: type[StewardError]
) -> None:
    with pytest.raises(kind):
        room.call("query", {"sql": "SELECT 1"}, _with(room, Scripted(**answer)))


def test_too_many_rows_are_cut_and_said_to_be(room: Room) -> None:
    sandbox = Scripted(status="too_large", message="more", rows=[[1], [2]])
    outcome = room.call("query", {"sql": "SELECT 1", "limit": 2}, _with(room, sandbox))
    assert (outcome.value["rows"], outcome.value["truncated"]) == ([[1], [2]], "more")


def test_a_real_sandbox_answers(room: Room) -> None:
    blobs = room.steward.blobs
    assert isinstance(blobs, FileBlobs)

    async def work() -> None:
        provider = Embedded([blobs.root], ready=1)
        sandbox = Sandbox(provider)
        try:
            if (await sandbox.walls()).tier == "none":
                pytest.skip("no walls stand on this machine")
            context = _with(room, sandbox)
            sql = "SELECT count(*) AS n FROM crm_customers"
            outcome = await room.calling("query", {"sql": sql}, context)
            rows = room.workspace.dataset("crm_customers").rows
            assert [[str(value) for value in row] for row in outcome.value["rows"]] == [[str(rows)]]
            assert len(outcome.sources) == 1
            with pytest.raises(Invalid):
                await room.calling("query", {"sql": "COPY crm_customers TO '/tmp/x'"}, context)
            with pytest.raises(Invalid):
                await room.calling(
                    "query", {"sql": "SELECT * FROM read_csv('/etc/passwd')"}, context
                )
        finally:
            await sandbox.close()

    run(work())
