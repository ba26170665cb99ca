"""The contract of triggers: what every type keeps, whoever wrote it."""

import json
from datetime import UTC, datetime

from steward.core import Problem
from steward.playbooks import Trigger

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def check_trigger(name: str, kind: type[Trigger]) -> None:
    """AssertionError says what a type of trigger does not keep."""
    assert kind.title, f"{name} has no title for editors"
    trigger = kind.model_validate({"type": name, **kind.starter})
    assert trigger.type == name, f"a new {name} says that it is a {trigger.type}"
    assert kind.model_validate(trigger.to_json()) == trigger, f"{name} is not what was stored of it"
    json.dumps([trigger.place(), trigger.details()])
    for found in trigger.problems(NOW):
        assert isinstance(found, Problem), f"{name} says something else than problems"
    first = trigger.first_look(NOW)
    assert first is None or first >= NOW, f"{name} looks before it is deployed"
    looks = type(trigger).source is not Trigger.source
    assert looks == (first is not None), f"{name} has a source or a first look, not both"
    assert trigger.is_subscribed or not looks, f"{name} looks for events that nobody keeps"
