"""A project as files: written, planned, applied all or not at all, compared, taken back."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steward.broker import Verdict, Whole
from steward.connections import Draft
from steward.core.errors import Conflict, Denied, Invalid, Stale, TooLarge
from steward.flows import DirectCall
from steward.flows.direct_calls import NotDoneYet
from steward.identity import Access, Role
from steward.playbooks import State
from steward.projects import Plan
from steward.testing import Installation
from tests.projects.scene import HELPER, NIGHTLY, POLICY, fill, plan, put, texts

FILES = [
    "agents/helper.yaml",
    "budgets/flow-playbook%3Anightly-day.yaml",
    "budgets/project-month.yaml",
    "connections/warehouse-dev.yaml",
    "definitions/metrics.yaml",
    "definitions/tables/people.yaml",
    "playbooks/Finance/Daily/nightly.layout.json",
    "playbooks/Finance/Daily/nightly.yaml",
    "playbooks/weekly.yaml",
    "policies/playbooks/nightly.cedar",
    "policies/project.cedar",
    "settings/tools.yaml",
    "steward.yaml",
]
PRODUCTION = {
    "connections": {"warehouse-dev": "warehouse"},
    "settings": {"warehouse": {"host": "db.example.com"}},
}


@pytest.fixture
def development(installation: Installation, tmp_path: Path) -> Path:
    """The folder of a project with one of everything."""
    access = installation.owner.access
    fill(installation.steward, access)
    installation.steward.project_code.write(access, tmp_path / "repo", prune=False)
    return tmp_path / "repo"


@pytest.fixture
def production(installation: Installation) -> Access:
    """A second, empty project of the same owner."""
    made = installation.project("Production")
    return installation.steward.identity.projects.enter(installation.owner.access.principal, made)


def apply(installation: Installation, access: Access, found: Plan) -> str:
    call = DirectCall("apply_project", found.arguments(), subject=found.subject, once=True)
    return asyncio.run(installation.steward.governing.direct_calls.run(access, call)).run.id


def undo(installation: Installation, access: Access, run_id: str) -> Any:
    undoing = installation.steward.governing.undoing
    return asyncio.run(undoing.undo(access, run_id, "call"))


def test_an_export_has_a_file_for_each_thing_and_a_second_one_writes_nothing(
    installation: Installation, development: Path
) -> None:
    found = texts(development)
    assert sorted(found) == FILES
    everything = "\n".join(found.values())
    assert "passphrase" not in everything
    ids = [
        each.id for each in installation.steward.playbooks.library.listed(installation.owner.access)
    ]
    assert not any(each in everything for each in [*ids, installation.owner.access.user_id])
    assert "# Monday is enough." in found["playbooks/Finance/Daily/nightly.yaml"]
    assert found["steward.yaml"] == "format: 1\ndeploy:\n- nightly\n- weekly\n"
    stamps = {path: path.stat().st_mtime_ns for path in development.rglob("*")}
    code = installation.steward.project_code
    assert code.write(installation.owner.access, development, prune=True) == ([], [])
    assert {path: path.stat().st_mtime_ns for path in development.rglob("*")} == stamps


def test_an_export_keeps_what_somebody_wrote_by_hand_and_says_what_is_gone(
    installation: Installation, development: Path
) -> None:
    access, code = installation.owner.access, installation.steward.project_code
    (development / "agents/helper.yaml").rename(development / "agents/mine.yml")
    put(development, "agents/mine.yml", f"# mine\n{(development / 'agents/mine.yml').read_text()}")
    put(development, "agents/old.yaml", {**HELPER, "name": "old"})
    put(development, "README.md", "Mine.")
    assert code.write(access, development, prune=False) == ([], ["agents/old.yaml"])
    assert code.write(access, development, prune=True) == ([], ["agents/old.yaml"])
    assert not (development / "agents/old.yaml").exists()
    assert not (development / "agents/helper.yaml").exists()
    assert (development / "agents/mine.yml").read_text().startswith("# mine\n")
    assert (development / "README.md").exists()


def test_the_folder_of_a_project_makes_another_one_the_same(
    installation: Installation, development: Path, production: Access, tmp_path: Path
) -> None:
    steward = installation.steward
    found = plan(steward, production, development, PRODUCTION)
    assert {each.action for each in found.changes} == {"create"}
    assert any('"connection.warehouse.password"' in note for note in found.notes)
    assert any('over "people"' in note for note in found.notes)
    apply(installation, production, found)

    again = plan(steward, production, development, PRODUCTION)
    assert (again.changes, again.only_here, again.is_new) == ((), (), False)
    assert again.unchanged == len(found.changes)
    card = steward.playbooks.library.get(production, "nightly")
    assert (card.state, card.deployed, card.folder) == (State.active, 1, "Finance/Daily")
    (armed,) = steward.playbooks.deploying.triggers(production, "nightly")
    assert armed.trigger.details()["cron"] == "0 6 * * 1"
    revision = steward.playbooks.library.revision(production, "nightly")
    assert revision.playbook.connections == ["warehouse"]
    assert revision.layout is not None
    assert revision.layout["places"] == {"count": {"x": 10, "y": 20}}
    made = steward.connections.documents.named(production.scope, "warehouse")
    assert made.settings["host"] == "db.example.com"
    assert made.secrets == {"password": "connection.warehouse.password"}
    assert steward.governing.rulebook.settings(production.scope).tools == {
        "send_email": {"connection": "warehouse"}
    }
    assert steward.governing.rulebook.current(production.scope, "project").text == POLICY
    steward.project_code.write(production, tmp_path / "other", prune=False)
    other = plan(steward, installation.owner.access, tmp_path / "other")
    assert {(each.kind, each.name) for each in other.changes} == {
        ("connection", "warehouse"),
        ("playbook", "nightly"),
        ("settings", "tools"),
    }


def test_applying_is_one_action_that_can_be_undone(
    installation: Installation, development: Path, production: Access
) -> None:
    steward = installation.steward
    made = apply(installation, production, plan(steward, production, development))
    put(development, "agents/helper.yaml", {**HELPER, "instructions": "Help more."})
    (development / "playbooks/weekly.yaml").unlink()
    put(development, "steward.yaml", {"format": 1, "deploy": ["nightly"]})
    found = plan(steward, production, development, prune=True)
    assert [(each.action, each.name) for each in found.changes] == [
        ("change", "helper"),
        ("remove", "weekly"),
    ]
    second = apply(installation, production, found)
    assert steward.playbooks.library.get(production, "weekly").state is State.archived

    undo(installation, production, second)
    assert steward.agents.find(production.scope, "helper").instructions == HELPER["instructions"]
    weekly = steward.playbooks.library.get(production, "weekly")
    assert (weekly.state, weekly.deployed) == (State.active, weekly.head)
    undo(installation, production, made)
    assert steward.project_code.present(production) == {}
    # What was undone does not count as applied.
    assert plan(steward, production, development).last is None


def test_an_apply_that_others_built_upon_is_not_undone(
    installation: Installation, development: Path, production: Access
) -> None:
    steward = installation.steward
    made = apply(installation, production, plan(steward, production, development))
    steward.agents.change(
        production.scope,
        production.user_id,
        "helper",
        {**HELPER, "title": "Other"},
        message="",
        call="",
        expected=None,
    )
    with pytest.raises(Stale, match="agent helper has changed since"):
        undo(installation, production, made)
    assert steward.playbooks.library.get(production, "nightly").state is State.active


def test_a_plan_says_what_was_changed_by_hand_since_the_last_apply(
    installation: Installation, development: Path
) -> None:
    steward, access = installation.steward, installation.owner.access
    first = plan(steward, access, development)
    assert (first.changes, first.is_new) == ((), True)
    apply(installation, access, first)
    assert not plan(steward, access, development).is_new

    card = steward.playbooks.library.get(access, "nightly")
    wanted = {"type": "cron", "cron": "0 7 * * 1", "time_zone": "Europe/Berlin"}
    steward.playbooks.deploying.schedule(access, card.id, card.version, "schedule", wanted)
    put(development, "agents/helper.yaml", {**HELPER, "title": "Better"})
    steward.connections.documents.create(
        access, Draft("extra", "postgresql", {"host": "x.example", "database": "y", "user": "z"})
    )
    found = plan(steward, access, development)
    assert [(each.name, each.since) for each in found.changes] == [
        ("helper", "folder"),
        ("nightly", "project"),
    ]
    assert [(each.name, each.since) for each in found.only_here] == [("extra", None)]
    (field,) = found.changes[1].fields
    assert (field.field, field.before, field.after) == (
        "/triggers/0/cron",
        "0 7 * * 1",
        "0 6 * * 1",
    )


def test_a_change_after_the_plan_holds_the_apply_up(
    installation: Installation, development: Path, production: Access
) -> None:
    steward = installation.steward
    found = plan(steward, production, development)
    other = {**HELPER, "title": "Mine"}
    steward.agents.change(
        production.scope, production.user_id, "helper", other, message="", call="", expected=0
    )
    with pytest.raises(Stale, match="agent helper has changed since the plan was made"):
        apply(installation, production, found)
    assert [each.name for each in steward.project_code.present(production).values()] == ["helper"]


def test_what_fails_on_the_way_is_put_back(
    installation: Installation,
    development: Path,
    production: Access,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steward = installation.steward

    def refused(*_: Any, **__: Any) -> None:
        raise Conflict("Not deployed: 1 of 1 kept test gave another result.")

    found = plan(steward, production, development)
    with monkeypatch.context() as broken:
        broken.setattr(steward.playbooks.deploying, "deploy", refused)
        with pytest.raises(Conflict, match=r"another result\. Everything is as it was before"):
            apply(installation, production, found)
    assert steward.project_code.present(production) == {}
    apply(installation, production, plan(steward, production, development))


def test_what_cannot_be_put_back_is_named_and_the_rest_is_put_back(
    installation: Installation,
    development: Path,
    production: Access,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steward = installation.steward

    def refused(*_: Any, **__: Any) -> None:
        raise Conflict("The server is gone.")

    found = plan(steward, production, development)
    with monkeypatch.context() as broken:
        broken.setattr(steward.playbooks.deploying, "deploy", refused)
        broken.setattr(steward.connections.documents, "delete", refused)
        with pytest.raises(
            Conflict, match=r"Look at: connection warehouse-dev \(The server is gone\)\. All else"
        ):
            apply(installation, production, found)
    assert [each[0] for each in steward.project_code.present(production)] == ["connection"]


def test_safe_mode_parks_an_apply_and_an_approval_carries_it_out(
    installation: Installation, development: Path, production: Access
) -> None:
    steward = installation.steward
    steward.governing.rulebook.change_settings(production, 0, safe_mode=True)
    with pytest.raises(NotDoneYet, match="waits in the inbox"):
        apply(installation, production, plan(steward, production, development))
    assert steward.project_code.present(production) == {}
    with pytest.raises(NotDoneYet, match="waits in the inbox"):
        apply(installation, production, plan(steward, production, development))
    (asked,) = steward.governing.inbox.waiting(production)
    assert asked.approval is not None
    verdict = Verdict(True, asked.approval.body_hash)
    asyncio.run(steward.governing.deciding.decide(production, asked.approval.id, verdict))
    steward.runs.drive_until_idle()
    assert not plan(steward, production, development).changes


def save(installation: Installation, access: Access, content: Any) -> str:
    arguments = {"name": content["name"], "document": content}
    call = DirectCall("change_agent", arguments)
    return asyncio.run(installation.steward.governing.direct_calls.run(access, call)).run.id


def take_back(installation: Installation, access: Access, run_id: str) -> Any:
    undoing = installation.steward.governing.undoing
    return asyncio.run(undoing.take_back(access, Whole(run_id)))


@pytest.mark.parametrize("back", [undo, take_back])
def test_undo_is_no_way_around_a_role_or_a_rule(
    installation: Installation, development: Path, back: Callable[..., Any]
) -> None:
    steward, owner = installation.steward, installation.owner.access
    done = save(installation, owner, {**HELPER, "description": "Less than before."})
    operator = installation.person(Role.operator).access
    with pytest.raises(Denied, match="needs the role editor"):
        back(installation, operator, done)
    frozen = '@id("frozen") forbid (principal, action == Action::"change_agent", resource);\n'
    steward.governing.rulebook.save(owner, "project", POLICY + frozen, 1)
    editor = installation.person(Role.editor).access
    with pytest.raises(Denied, match="frozen"):
        back(installation, editor, done)
    steward.governing.rulebook.save(owner, "project", POLICY, 2)
    back(installation, editor, done)
    assert plan(steward, owner, development).changes == ()


def test_what_was_done_by_hand_is_not_forked_with_other_arguments(
    installation: Installation, development: Path
) -> None:
    """Routes look at roles and at hidden runs in the arguments of such calls; a fork would go past them."""
    steward, owner = installation.steward, installation.owner.access
    done = save(installation, owner, {**HELPER, "description": "Less than before."})
    editor = installation.person(Role.editor).access
    for changes in ({}, {"/document/arguments/name": "other"}):
        with pytest.raises(Conflict, match="by hand"):
            steward.governing.forking.fork(editor, done, at=None, changes=changes)


@pytest.mark.parametrize("back", [undo, take_back])
def test_undo_with_a_token_gives_no_more_than_the_token(
    installation: Installation, development: Path, back: Callable[..., Any]
) -> None:
    steward, owner = installation.steward, installation.owner.access
    put(development, "policies/project.cedar", f"// stricter\n{POLICY}")
    done = apply(installation, owner, plan(steward, owner, development))
    _, text = steward.identity.tokens.create(owner, "ci", Role.editor, 1)
    principal = steward.identity.tokens.resolve(text)
    token = steward.identity.projects.enter(principal, owner.scope.project_id)
    with pytest.raises(Denied, match="needs the role admin"):
        back(installation, token, done)
    assert "stricter" in steward.governing.rulebook.current(owner.scope, "project").text
    back(installation, owner, done)


@pytest.mark.parametrize(
    ("tool", "name", "content"),
    [
        ("change_agent", "agents/second.yaml", {**HELPER, "name": "second"}),
        (
            "change_definitions",
            "definitions/metrics.yaml",
            {
                "format": 1,
                "entries": {"/metrics/heads": {"over": "people", "formula": "count(city)"}},
            },
        ),
    ],
)
def test_a_folder_is_no_way_around_a_rule_about_what_it_changes(
    installation: Installation, development: Path, tool: str, name: str, content: Any
) -> None:
    steward, owner = installation.steward, installation.owner.access
    forbidden = f'@id("frozen") forbid (principal, action == Action::"{tool}", resource);\n'
    steward.governing.rulebook.save(owner, "project", POLICY + forbidden, 1)
    put(development, "policies/project.cedar", POLICY + forbidden)
    put(development, name, content)
    editor = installation.person(Role.editor).access
    found = plan(steward, editor, development)
    assert len(found.changes) == 1
    with pytest.raises(Denied):
        apply(installation, editor, found)
    assert plan(steward, editor, development).changes
    steward.governing.rulebook.save(owner, "project", POLICY, 2)
    put(development, "policies/project.cedar", POLICY)
    apply(installation, editor, plan(steward, editor, development))


def test_an_editor_applies_what_an_editor_may_change(
    installation: Installation, development: Path
) -> None:
    steward = installation.steward
    editor = installation.person(Role.editor).access
    put(development, "agents/second.yaml", {**HELPER, "name": "second"})
    apply(installation, editor, plan(steward, editor, development))
    assert steward.agents.find(editor.scope, "second").title == "Helper"
    put(development, "policies/project.cedar", POLICY + "\n// looser\n")
    with pytest.raises(Denied, match="needs the role admin"):
        plan(steward, editor, development)
    viewer = installation.person(Role.viewer).access
    with pytest.raises(Denied):
        plan(steward, viewer, development)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("agents/bad.yaml", "name: [", "agents/bad.yaml: .*line 1"),
        ("agents/bad.yaml", "a: &a [x]\nb: [*a, *a]", "anchors"),
        (
            "agents/bad.yaml",
            {**HELPER, "name": "helper"},
            "agents/bad.yaml is the same agent helper|same agent",
        ),
        (
            "agents/bad.yaml",
            {**HELPER, "name": "x", "tools": ["nothing"]},
            "agents/bad.yaml: .*nothing",
        ),
        ("agents/bad.txt", "x", "ends with .yaml"),
        ("policies/project.cedar", "permit (", "policies/project.cedar: .*line 1"),
        ("policies/other.cedar", POLICY, "policies/project.cedar or"),
        ("policies/playbooks/nobody.cedar", POLICY, "'nobody', which is not there"),
        ("connections/bad.yaml", {"name": "b", "kind": "nothing"}, "no kind of connection"),
        (
            "connections/bad.yaml",
            {"name": "b", "kind": "postgresql", "password": "x"},
            "no field 'password'",
        ),
        (
            "playbooks/bad.yaml",
            NIGHTLY.replace("id: nightly", "id: ../x"),
            "playbooks/bad.yaml: .*/id",
        ),
        (
            "playbooks/bad.yaml",
            NIGHTLY,
            "playbooks/bad.yaml: .*Finance/Daily/nightly.yaml is the same|same playbook nightly",
        ),
        ("playbooks/weekly.layout.json", "[]", "is not a drawing"),
        ("playbooks/none.layout.json", "{}", "not beside it"),
        (
            "budgets/bad.yaml",
            {"kind": "person", "name": "usr_x", "period": "day", "usd": 1},
            "Budgets of people",
        ),
        ("definitions/bad.yaml", {"format": 1, "entries": {"/nothing/x": {}}}, "no kind of entry"),
        ("settings/tools.yaml", "tools: 1", "one field `tools`"),
        ("steward.yaml", "format: 1\ndeploy: [nobody]", "'nobody', which has no file"),
        ("steward.yaml", "format: 2", "steward.yaml: It has `format: 1`"),
    ],
)
def test_a_bad_file_is_named_and_nothing_changes(
    installation: Installation,
    development: Path,
    production: Access,
    name: str,
    content: Any,
    said: str,
) -> None:
    put(development, name, content)
    with pytest.raises(Invalid, match=said):
        plan(installation.steward, production, development)
    assert installation.steward.project_code.present(production) == {}


def _link(folder: Path) -> None:
    (folder / "agents/link.yaml").symlink_to("/etc/passwd")


def _linked_folder(folder: Path) -> None:
    (folder / "connections/more").symlink_to("/etc")


def _linked_main(folder: Path) -> None:
    (folder / "steward.yaml").unlink()
    (folder / "steward.yaml").symlink_to("/etc/hostname")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "agents/pipe.yaml")


def _huge(folder: Path) -> None:
    with (folder / "agents/huge.yaml").open("wb") as file:
        file.truncate(10**10)


def _many(folder: Path) -> None:
    for number in range(4_100):
        (folder / f"agents/a{number}.yaml").touch()


def _deep(folder: Path) -> None:
    put(folder, "agents/deep.yaml", "[" * 50_000)


def _binary(folder: Path) -> None:
    (folder / "agents/binary.yaml").write_bytes(b"\xff\xfe\x00")


def _without_main(folder: Path) -> None:
    (folder / "steward.yaml").unlink()


@pytest.mark.parametrize(
    ("hostile", "said"),
    [
        (_link, "agents/link.yaml is a link"),
        (_linked_folder, "connections/more is a link"),
        (_linked_main, "steward.yaml is a link"),
        (_pipe, "pipe.yaml is not a file"),
        (_huge, "agents/huge.yaml is too large"),
        (_many, "4,000 files"),
        (_deep, "agents/deep.yaml: "),
        (_binary, "agents/binary.yaml: .*UTF-8"),
        (_without_main, "steward.yaml is missing"),
    ],
)
def test_hostile_folders_are_refused(
    installation: Installation,
    development: Path,
    production: Access,
    hostile: Callable[[Path], None],
    said: str,
) -> None:
    hostile(development)
    with pytest.raises((Invalid, TooLarge), match=said):
        plan(installation.steward, production, development)


@pytest.mark.parametrize(
    "path",
    [
        "../agents/x.yaml",
        "agents/../../x.yaml",
        "/agents/x.yaml",
        "agents//x.yaml",
        "agents\\x.yaml",
        "etc/x.yaml",
    ],
)
def test_paths_that_lead_elsewhere_are_refused(installation: Installation, path: str) -> None:
    access, code = installation.owner.access, installation.steward.project_code
    from steward.projects import Values

    with pytest.raises(Invalid, match="Nothing was changed"):
        code.plan(access, {"steward.yaml": "format: 1", path: "x: 1"}, Values())


def test_an_export_never_writes_through_a_link(installation: Installation, tmp_path: Path) -> None:
    fill(installation.steward, installation.owner.access)
    (tmp_path / "outside").mkdir()
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo/agents").symlink_to(tmp_path / "outside")
    with pytest.raises(Invalid, match="agents is a link"):
        installation.steward.project_code.write(
            installation.owner.access, tmp_path / "repo", prune=True
        )
    assert texts(tmp_path / "outside") == {}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"connections": {"nobody": "x"}}, "'nobody', which the folder does not use"),
        ({"settings": {"nobody": {"host": "x"}}}, "'nobody', which the folder does not use"),
        ({"connections": {"warehouse-dev": "second"}}, "make .* the same connection second"),
    ],
)
def test_values_that_fit_nothing_are_refused(
    installation: Installation,
    development: Path,
    production: Access,
    values: dict[str, Any],
    said: str,
) -> None:
    settings = {"host": "x.example", "database": "y", "user": "z"}
    second = {"name": "second", "kind": "postgresql", "settings": settings}
    put(development, "connections/second.yaml", second)
    with pytest.raises(Invalid, match=said):
        plan(installation.steward, production, development, values)


def test_files_that_an_environment_leaves_out_do_not_count(
    installation: Installation, development: Path, production: Access
) -> None:
    values = {"leave_out": ["policies/*", "budgets/*"]}
    rulebook = installation.steward.governing.rulebook
    rulebook.save(production, "project", POLICY + "// production's own\n", 0)
    found = plan(installation.steward, production, development, values, prune=True)
    assert {each.kind for each in found.changes} == {
        "agent",
        "connection",
        "definitions",
        "playbook",
        "settings",
    }
    apply(installation, production, found)
    assert "production's own" in rulebook.current(production.scope, "project").text


def test_a_hidden_playbook_is_neither_shown_nor_replaced(
    installation: Installation, development: Path
) -> None:
    access = installation.owner.access
    hidden = NIGHTLY.replace("nightly", "hidden").replace("allowed: {everyone: true}\n", "")
    installation.steward.playbooks.library.create(access, hidden)
    editor = installation.person(Role.editor).access
    assert "playbook hidden" not in str(plan(installation.steward, editor, development).to_json())
    put(development, "playbooks/hidden.yaml", hidden)
    with pytest.raises(Invalid, match="'hidden' is taken"):
        plan(installation.steward, editor, development)
