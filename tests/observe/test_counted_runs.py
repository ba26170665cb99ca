"""From any figure to the list of what it counts: the same runs that the journals tell of."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any

import pytest

from steward.identity import Role
from steward.testing import Installation
from tests.observe.random_runs import Noted, noted, play
from tests.observe.test_details import FLOW, call
from tests.observe.test_figures import API

pytestmark = pytest.mark.every_database


def _listed(installation: Installation, client: Any = None, **query: Any) -> set[str]:
    address = f"{API}/projects/{installation.scope.project_id}/runs"
    answer = (client or installation.owner.client).get(address, params={"limit": 200, **query})
    assert answer.status_code == 200, answer.text
    items = answer.json()["items"]
    assert answer.json()["next_cursor"] is None
    return {run["id"] for run in items}


def test_a_list_has_the_runs_that_a_figure_counts(installation: Installation) -> None:
    play(installation, Random(16), 30, 40)
    project = f"{API}/projects/{installation.scope.project_id}"
    overview = installation.owner.client.get(f"{project}/overview", params={"hours": 24}).json()
    first = int(datetime.fromisoformat(overview["since"]).timestamp()) // 3600
    told = [each for each in noted(installation) if each.hour >= first]

    def check(which: Callable[[Noted], bool], **query: Any) -> int:
        expected = {each.run_id for each in told if which(each)}
        assert _listed(installation, since=overview["since"], **query) == expected, query
        failed = {each.run_id for each in told if which(each) and each.error}
        assert _listed(installation, since=overview["since"], failed=True, **query) == failed
        return len(expected)

    def is_root(each: Noted) -> bool:
        return each.kind == "run" and each.is_root

    assert check(is_root) == overview["now"]["runs"] > 0
    for row in overview["ranked"]:
        kind, name = row["kind"], row["name"]
        if kind == "flow":
            check(_is(is_root, flow=name), flow=name)
            count = check(_is(_is_run, flow=name), used="run", flow=name)
            assert count == row["count"]
        else:
            check(partial(_used, kind, name), used=kind, name=name)
    used = {(each.kind, each.name, each.agent) for each in told if each.agent}
    for kind, name, agent in used:
        which = _is(partial(_used, kind, name), agent=agent)
        check(which, used=kind, name=name, agent=agent)
    for cell in overview["heat"]:
        hour = int(datetime.fromisoformat(cell["hour"]).timestamp()) // 3600
        ended = {
            each.run_id
            for each in told
            if is_root(each) and each.hour == hour and each.flow == cell["flow"]
        }
        until = datetime.fromtimestamp((hour + 1) * 3600, UTC).isoformat()
        assert _listed(installation, since=cell["hour"], until=until, flow=cell["flow"]) == ended
    for revision in (0, 1, 2):
        check(_is(is_root, revision=revision), revision=revision)
    for code in {each.error for each in told if is_root(each) and each.error}:
        check(_is(is_root, error=code), code=code)


def _is(which: Callable[[Noted], bool], **wanted: object) -> Callable[[Noted], bool]:
    return lambda each: which(each) and all(getattr(each, k) == v for k, v in wanted.items())


def _is_run(each: Noted) -> bool:
    return each.kind == "run"


def _used(kind: str, name: str, each: Noted) -> bool:
    if kind == "connector":
        return each.connector == name
    return (each.kind, each.name) == (kind, name) or (kind == "agent" and each.agent == name)


def test_a_list_has_what_its_reader_may_see(installation: Installation) -> None:
    seen = call(installation, 200)
    installation.owner.client.get(
        f"{API}/projects/{installation.scope.project_id}/overview", params={"hours": 24}
    )
    ways: list[dict[str, Any]] = [{"flow": FLOW}, {"used": "connector", "name": "crm"}]
    viewer = installation.person(Role.viewer, "viewer")
    for way in ways:
        assert _listed(installation, **way) == {seen}
        assert _listed(installation, viewer.client, **way) == set()
        assert _listed(installation, created_by="usr_other", **way) == set()
        assert _listed(installation, created_by=installation.owner.user.id, **way) == {seen}
