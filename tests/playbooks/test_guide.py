"""The documents in the guide are playbooks and blueprints."""

import re
from pathlib import Path

from steward.playbooks.blueprint import read_blueprint
from tests.playbooks.conftest import Room

GUIDE = Path(__file__).parents[2] / "docs/guides/playbooks.md"


def test_the_examples_of_the_guide_are_taken_in(room: Room) -> None:
    example, blueprint = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    steward, owner = room.installation.steward, room.installation.owner
    steward.governing.groups.put(owner.access, "controllers", [room.controller.user.id])
    made = room.playbooks.library.create(room.editor.access, example)
    assert room.playbooks.deploying.deploy(room.editor.access, made.id).deployed == 1
    assert read_blueprint(blueprint).playbook.id == "month-end"
