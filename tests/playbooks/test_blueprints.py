"""Blueprints: found, told apart, forked; every shipped one can be, and the small one runs to its end."""

import pytest

from steward.broker.presets import PRESETS
from steward.core.errors import Invalid
from steward.playbooks.blueprint import read_blueprint
from steward.runs import Status
from tests.playbooks.conftest import Room

SMALL = """\
format: 1
id: small
title: Small
category: Trying out
problem: None.
does: Asks.
impact: Little.
playbook: {format: 1, id: small, budget: {usd: 1}, steps: [{id: ask, question: Really}]}
"""


def test_every_shipped_blueprint_becomes_a_draft(room: Room) -> None:
    shelf = room.playbooks.blueprints.shelf()
    assert "profile-and-report" in shelf.blueprints
    assert shelf.broken == ()
    for blueprint in shelf.blueprints.values():
        card = room.playbooks.blueprints.fork(room.editor.access, blueprint.id)
        assert card.owner == room.editor.user.id
        assert blueprint.problem
        assert blueprint.does
        assert blueprint.impact


def test_files_of_the_home_folder_are_added(room: Room) -> None:
    folder = room.installation.steward.settings.home / "blueprints"
    folder.mkdir()
    (folder / "small.yaml").write_text(SMALL)
    (folder / "taken.yaml").write_text(
        SMALL.replace("id: small\ntitle", "id: profile-and-report\ntitle")
    )
    (folder / "broken.yaml").write_text(SMALL.replace("title: Small\n", ""))
    shelf = room.playbooks.blueprints.shelf()
    assert shelf.own == {"small"}
    assert {each.file for each in shelf.broken} == {"broken.yaml", "taken.yaml"}
    assert "line 1" in next(each.reason for each in shelf.broken if each.file == "broken.yaml")


def test_a_blueprint_that_is_none_says_where() -> None:
    with pytest.raises(Invalid, match=r"/playbook/budget .*line 8"):
        read_blueprint(SMALL.replace("budget: {usd: 1}, ", ""))


def test_profile_and_report_runs(room: Room) -> None:
    steward, owner, access = room.installation.steward, room.installation.owner, room.editor.access
    steward.governing.rulebook.save(owner.access, "project", PRESETS["trusted"], 0)
    blueprint = room.playbooks.blueprints.get("profile-and-report")
    for sample in blueprint.sample.datasets:
        _load(room, sample.name, sample.csv)
    card = room.playbooks.blueprints.fork(access, blueprint.id)
    run = room.playbooks.running.start(access, card.id, blueprint.sample.inputs)
    room.drive()
    ended = room.fresh(run)
    assert ended.status is Status.done, ended.reason
    files = steward.runs.outcome(access.scope, run.id)["output"]["files"]
    assert {name.rpartition(".")[2] for name in files} == {"html", "pdf"}


def _load(room: Room, name: str, csv: str) -> None:
    bringing, access = room.installation.steward.workbench.bringing, room.editor.access
    bringing.load_text(access.scope, access.user_id, f"{name}.csv", csv, name)
