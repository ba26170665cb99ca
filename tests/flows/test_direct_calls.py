"""What a person does by hand is a run of one call: governed, journaled, and answered like a function."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from steward.core.errors import Denied, Invalid, NotFound
from steward.core.shares import current_share
from steward.flows.direct_calls import Called, DirectCall, NotDoneYet
from steward.identity import Access, Role
from steward.identity.principals import TokenLimits
from steward.runs import Execution, Json, RunRequest, Status
from steward.testing.installation import Installation

CSV = "name,city\n Ann ,Wien\nBob, Graz \n"


@pytest.fixture
def people(installation: Installation) -> Installation:
    access = installation.owner.access
    bringing = installation.steward.workbench.bringing
    bringing.load_text(access.scope, access.user_id, "people.csv", CSV, "people")
    return installation


def call(installation: Installation, access: Access, tool: str, **arguments: Any) -> Called:
    calls = installation.steward.governing.direct_calls
    return asyncio.run(calls.run(access, DirectCall(tool, arguments)))


def trim(installation: Installation, access: Access) -> Called:
    columns = {"columns": ["name"]}
    return call(
        installation, access, "clean", dataset="people", operation="trim", arguments=columns
    )


def names(installation: Installation) -> list[str | None]:
    datasets = installation.steward.workbench.datasets
    access = installation.owner.access
    card = datasets.get(access.scope, access.user_id, "people")
    return [row[0] for row in datasets.rows(access.scope, card.version).rows]


def test_a_direct_call_changes_data_and_is_a_run_with_a_journal(people: Installation) -> None:
    access = people.person(Role.editor).access
    done = trim(people, access)
    assert names(people) == ["Ann", "Bob"]
    assert done.run.status is Status.done
    assert done.run.program == "call"
    assert done.run.created_by == access.user_id
    assert len(done.commits) == 1
    runs = people.steward.runs
    assert runs.verify(access.scope, done.run.id).is_intact
    report = asyncio.run(runs.replay(access.scope, done.run.id))
    assert report.is_same
    actions = people.steward.governing.undoing.actions(access.scope, done.run.id)
    assert [action.commits for action in actions] == [done.commits]


def test_errors_come_back_as_they_were_raised(people: Installation) -> None:
    access = people.owner.access
    with pytest.raises(NotFound, match="nobody_has_this"):
        call(people, access, "clean", dataset="nobody_has_this", operation="trim")
    with pytest.raises(Invalid) as wrong:
        call(people, access, "clean", dataset="people", operation="trim", colour="red")
    assert wrong.value.problems[0].pointer == "/colour"


def test_policy_binds_whoever_clicks(people: Installation) -> None:
    access, rulebook = people.owner.access, people.steward.governing.rulebook
    settings = rulebook.settings(access.scope)
    rulebook.change_settings(access, settings.revision, safe_mode=True)
    with pytest.raises(NotDoneYet) as waits:
        trim(people, access)
    assert names(people) == [" Ann ", "Bob"]
    waiting = people.steward.runs.get(access.scope, waits.value.run_id)
    assert waiting.status is Status.waiting_for_approval


def test_a_token_acts_with_its_own_role_and_not_with_that_of_its_person(
    people: Installation,
) -> None:
    owner = people.owner.access
    limits = TokenLimits("tok_1", owner.scope.project_id, Role.operator)
    token = Access(replace(owner.principal, limits=limits), owner.scope, Role.operator)
    rulebook = people.steward.governing.rulebook
    rulebook.save(
        owner,
        "project",
        '@id("editors") @outcome("allow") permit (principal in Role::"editor", action, resource);',
        revision=rulebook.current(owner.scope, "project").revision,
    )
    with pytest.raises(Denied):
        trim(people, token)
    assert trim(people, owner).commits


def test_what_is_driven_for_a_waiting_person_counts_against_their_share(
    installation: Installation,
) -> None:
    runs, access = installation.steward.runs, installation.owner.access

    async def whose(execution: Execution) -> Json:
        assert execution.run.created_by == access.user_id
        share = await asyncio.to_thread(current_share)
        return [share.project, share.person]

    runs.programs["whose"] = whose
    request = RunRequest("Whose", "whose", None)
    _, ended = asyncio.run(runs.start_and_drive(access.scope, access.user_id, request))
    assert ended == {"output": [access.scope.project_id, access.user_id]}
