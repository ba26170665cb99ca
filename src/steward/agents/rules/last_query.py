"""The last query of a conversation, as a plan's document and as a reading."""

from typing import Any

from steward.agents.asking.reading import Reading
from steward.agents.asking.reading_plans import read_plan
from steward.agents.asking.world import World
from steward.agents.planning.task import Last, Task
from steward.agents.rules.drawing import drawn_plan
from steward.core import Invalid
from steward.sandbox import QueryPlan


def last_document(last: Last | None) -> dict[str, Any] | None:
    """The last query as a plan's document; None when it was none, as with SQL."""
    if last is None:
        return None
    if last.tool == "execute_query_plan":
        given = last.arguments.get("plan")
    else:
        # The query and its chart run side by side; either may have ended last.
        given = drawn_plan(last.tool, last.arguments)
    try:
        if isinstance(given, str):
            plan = QueryPlan.parse(given)
        elif isinstance(given, dict):
            plan = QueryPlan.model_validate(given)
        else:
            return None
    except (Invalid, ValueError, RecursionError):
        return None
    found: dict[str, Any] = plan.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return found


def last_reading(task: Task, world: World) -> Reading | None:
    """What the last answer was a reading of: as it was recorded, else as its query reads."""
    if task.read is not None:
        return task.read
    document = last_document(task.last)
    if document is not None:
        reading = read_plan(document, world)
        if reading is not None:
            return reading
    acted = task.acted
    if acted is not None and acted.dataset in world.datasets:
        # "How many are there?" after work on a dataset.
        return Reading(table=acted.dataset)
    if task.last is not None and task.last.tool == "preview":
        name = task.last.arguments.get("dataset")
        return Reading(table=name) if name in world.datasets else None
    return None
