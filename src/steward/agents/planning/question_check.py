"""What a model's plan answers of the question: the check between what was said and what is planned."""

from collections.abc import Mapping
from typing import Any, Final

from steward.agents.asking.comparing import compare
from steward.agents.asking.reading import Asked
from steward.agents.planning.plan import Plan
from steward.agents.planning.plan_checks import Catalogue
from steward.agents.planning.task import Task

_SQL: Final = {"execute_sql": "sql", "query": "sql"}
_CODE: Final = "execute_python"
_DRAWING: Final = frozenset({"chart", _CODE})
_PLAN: Final = "execute_query_plan"


def is_unchecked(plan: Plan) -> bool:
    """Whether a plan answers with code, of which nobody can say what it asks of the data."""
    return any(step.tools and step.tools[0] == _CODE for step in plan)


def asked_of_plan(task: Task, plan: Plan, catalogue: Catalogue) -> Asked | None:
    """None for work that is no question about tables. A follow-up is compared with what was said before, too."""
    documents: list[Mapping[str, Any]] = []
    texts: list[str] = []
    chart: str | None = None
    for step in plan:
        tool = step.tools[0] if step.tools else ""
        document = step.arguments.get("plan")
        text = step.arguments.get(_SQL.get(tool, ""))
        if tool == _PLAN and isinstance(document, Mapping):
            documents.append(document)
        elif isinstance(text, str):
            texts.append(text)
        elif tool in _DRAWING and (documents or texts):
            given = step.arguments.get("chart")
            chart = str(given.get("kind")) if isinstance(given, Mapping) else "auto"
        else:
            return None
    if not documents and not texts:
        return None
    return compare(
        task.message,
        documents,
        catalogue.world,
        catalogue.lexicon,
        task.today,
        texts=tuple(texts),
        chart=chart,
    )
