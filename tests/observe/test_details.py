"""Pages of one flow and one connector: a service that is away, the runs that failed meanwhile, and what was undone."""

from functools import partial
from typing import Any

import pytest

from steward.core.errors import Invalid
from steward.identity import Role
from steward.runs import EntryType, Execution, Json, Kind, RunRequest
from steward.testing import Installation
from tests.observe.test_figures import API

pytestmark = pytest.mark.every_database
FLOW = "playbook:pbk_calling"


async def _calling(execution: Execution) -> Json:
    """One call of the CRM, which answers with the status that the run was started with."""
    status = execution.request.inputs["status"]

    async def answer() -> Json:
        value = {"status": status, "failed": status >= 400}
        own = request["tool"] == "http_request" and status >= 400
        failure = {"failure": {"status": status, "code": f"http-{status}"}} if own else {}
        cost = {"usd": 0.5}
        return {"value": value, "commits": ["com_1"], "inverse": None, "cost": cost, **failure}

    request: dict[str, Json] = execution.request.inputs["asked"]
    await execution.step("look", request, answer, type=EntryType.call_done)
    if status >= 400:
        raise Invalid("The CRM did not help.", code="no-customer")
    return None


OWN_TOOL: Json = {"tool": "api.crm.find", "arguments": {}}


def call(
    installation: Installation,
    status: int,
    subject: str = FLOW,
    asked: Json = OWN_TOOL,
    *,
    pause: int = 120,
) -> str:
    runs = installation.steward.runs
    runs.programs["calling"] = _calling
    inputs = {"status": status, "asked": asked}
    request = RunRequest("Call", "calling", {}, inputs, subject=subject)
    run = runs.start(installation.scope, installation.owner.user.id, request)
    runs.drive_until_idle()
    installation.clock.advance(seconds=pause)
    return run.id


def _detail(installation: Installation, kind: str, name: str, client: Any = None) -> dict[str, Any]:
    address = f"{API}/projects/{installation.scope.project_id}/overview/detail"
    query: dict[str, Any] = {"kind": kind, "name": name}
    answer = (client or installation.owner.client).get(address, params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_service_that_is_away_is_named_with_the_runs_that_failed(
    installation: Installation,
) -> None:
    for status in (200, 503, 200):
        call(installation, status)
    assert _detail(installation, "connector", "crm")["outages"] == []
    since = installation.clock.now()
    ids = [call(installation, status) for status in (503, 503, 502)]
    for kind, name in (("connector", "crm"), ("flow", FLOW)):
        [outage] = _detail(installation, kind, name)["outages"]
        assert outage == {
            "connector": "crm",
            "code": "http-502",
            "since": since.isoformat().replace("+00:00", "Z"),
            "calls": 3,
            "failed_runs": 3,
            "last_run_id": ids[-1],
        }
    # It answers again, if only that there is no such customer.
    call(installation, 404)
    assert _detail(installation, "connector", "crm")["outages"] == []


def test_an_outage_begins_with_the_first_failure_after_the_last_answer(
    installation: Installation,
) -> None:
    """Also where both are in the same minute, which figures count as one."""
    clock = installation.clock
    clock.advance(seconds=60 - clock.now().second)
    for status in (503, 200, 503):
        since = clock.now()
        call(installation, status, pause=10)
    [outage] = _detail(installation, "connector", "crm")["outages"]
    assert outage["since"] == since.isoformat().replace("+00:00", "Z")
    assert (outage["calls"], outage["failed_runs"], outage["code"]) == (1, 1, "http-503")
    clock.advance(minutes=5)
    call(installation, 502)
    [outage] = _detail(installation, "connector", "crm")["outages"]
    assert outage["since"] == since.isoformat().replace("+00:00", "Z")
    assert (outage["calls"], outage["failed_runs"], outage["code"]) == (2, 2, "http-502")
    call(installation, 503, pause=10)
    call(installation, 200)
    assert _detail(installation, "connector", "crm")["outages"] == []


def test_requests_through_a_connection_count_as_its_calls(installation: Installation) -> None:
    """Also where nobody uses an operation of the service."""
    through: Json = {"tool": "http_request", "arguments": {"connection": "crm", "url": "/orders"}}
    past: Json = {"tool": "http_request", "arguments": {"url": "https://example.com/"}}
    search: Json = {"tool": "search_operations", "arguments": {"connection": "crm"}}
    for status in (200, 503, 503):
        call(installation, status, asked=through)
    for other in (past, search):
        call(installation, 200, asked=other)
    found = _detail(installation, "connector", "crm")
    assert (found["total"]["count"], found["total"]["errors"]) == (3, 2)
    [outage] = found["outages"]
    assert (outage["code"], outage["calls"], outage["failed_runs"]) == ("http-503", 2, 2)
    assert _detail(installation, "flow", FLOW)["outages"] == [outage]
    call(installation, 200)
    assert _detail(installation, "connector", "crm")["outages"] == []


def test_errors_are_listed_by_kind_and_place(installation: Installation) -> None:
    ids = [call(installation, status) for status in (200, 404, 503, 503)]
    found = _detail(installation, "flow", FLOW)
    assert [tuple(each.values()) for each in found["failures"]] == [
        ("", "no-customer", 3, ids[-1]),
        ("api.crm.find", "http-503", 2, ""),
        ("api.crm.find", "http-404", 1, ""),
    ]
    assert (found["total"]["count"], found["total"]["errors"]) == (4, 3)
    connector = _detail(installation, "connector", "crm")
    assert (connector["total"]["count"], connector["total"]["errors"]) == (4, 3)
    assert connector["total"]["usd"] == 2.0


def test_what_is_undone_now_counts(installation: Installation) -> None:
    journal = partial(_append, installation)
    first, second = (call(installation, 200) for _ in range(2))
    assert _detail(installation, "flow", FLOW)["latest"]["undone"] == 0
    journal(first, Kind.undone)
    journal(second, Kind.undone)
    journal(second, Kind.redone)
    latest = _detail(installation, "flow", FLOW)["latest"]
    assert (latest["runs"], latest["changes"], latest["undone"]) == (2, 2, 1)


def _append(installation: Installation, run_id: str, kind: Kind) -> None:
    data = {"by": "somebody", "commits": [], "way": "version"}
    installation.steward.runs.append_aside(installation.scope, run_id, kind, "look", data)


def test_figures_of_a_hidden_flow_are_hidden(installation: Installation) -> None:
    other = installation.project("Other")
    stranger = installation.person(Role.owner, "stranger", other)
    call(installation, 503)
    address = f"{API}/projects/{other}/overview/detail"
    for kind, name in (("flow", FLOW), ("connector", "crm")):
        answer = stranger.client.get(address, params={"kind": kind, "name": name})
        assert answer.json()["total"]["count"] == 0
        assert answer.json()["outages"] == answer.json()["failures"] == []
        here = f"{API}/projects/{installation.scope.project_id}/overview/detail"
        refused = stranger.client.get(here, params={"kind": kind, "name": name})
        assert refused.status_code == 404
    # A member to whom the playbook is not open sees none of it either.
    viewer = installation.person(Role.viewer, "viewer")
    for kind, name in (("flow", FLOW), ("connector", "crm")):
        seen = _detail(installation, kind, name, viewer.client)
        assert (seen["total"]["count"], seen["outages"]) == (0, [])
        assert (seen["latest"]["runs"], seen["latest"]["changes"]) == (0, 0)
