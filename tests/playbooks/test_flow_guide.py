"""The flow in the guide to flows has tools that a real server has, and runs there."""

import re
from pathlib import Path
from typing import Any

from steward.flows import Flow
from steward.flows.model import load_yaml
from steward.flows.validate import validate
from steward.playbooks.rehearsals import Wish
from steward.runs import Json
from tests.playbooks.conftest import Room
from tests.playbooks.test_blueprints_samples import output

GUIDE = Path(__file__).parents[2] / "docs/guides/flows.md"
CUSTOMERS = [
    {"name": "Ann", "email": "ann@example.com"},
    {"name": "Bob", "email": "bob@example.com"},
]


def example() -> Flow:
    (found,) = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    return load_yaml(found)


def result_of(room: Room, made: str, customers: list[Any]) -> Json:
    wish = Wish(inputs={"customers": customers})
    run = room.playbooks.rehearsals.start(room.editor.access, made, wish)
    room.drive()
    return output(room, room.fresh(run))


def test_the_example_of_the_guide_names_what_is_there(room: Room) -> None:
    flow = example()
    launcher = room.installation.steward.governing.launcher
    assert validate(flow, launcher.catalogue(room.editor.access.scope, flow)) == []


def test_the_example_of_the_guide_runs(room: Room) -> None:
    steward, owner = room.installation.steward, room.installation.owner
    mail = {"host": "mail.example.com", "sender": "we@example.com"}
    domains = {"allow_domains": ["example.com"]}
    steward.governing.rulebook.change_settings(
        owner.access, 0, tools={"send_email": {**mail, **domains}}
    )
    flow = example().model_dump(mode="json", exclude_defaults=True)
    playbook = {
        "format": 1,
        "id": "overdue-reminders",
        "name": flow["name"],
        "budget": {"usd": 1},
        "inputs": flow["inputs"],
        "graph": {"nodes": flow["nodes"]},
    }
    made = room.playbooks.library.create(room.editor.access, playbook).id
    note = "Reminded ann@example.com and bob@example.com."
    assert result_of(room, made, CUSTOMERS) == {"sent": 2, "note": note}
    assert result_of(room, made, []) == {"sent": 0, "note": "Nobody owes anything."}
