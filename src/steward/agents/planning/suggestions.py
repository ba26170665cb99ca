"""What could be done next, from the statistics of the datasets; only what rules can carry out is suggested."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from steward.agents.asking.examples import example_questions
from steward.agents.planning.plan import Plan
from steward.agents.planning.plan_checks import Catalogue
from steward.agents.planning.task import Last, Task
from steward.agents.rules.deciding import RulePlanner
from steward.agents.rules.naming import link
from steward.broker import Risk
from steward.definitions import ColumnFacts, DatasetFacts

MOST: Final = 6
_MOST_OF_A_KIND: Final = 2
_MOST_NEXT: Final = 4
_CHANGES: Final = (
    "by month",
    "share in %",
    "show me the rows",
    "how many are those?",
    "export that",
    "as a bar chart",
)
_OF_ROWS: Final = ("how many are those?", "export that")
_AFTER_A_CHANGE: Final = ("undo that", "what did you do?")
_NAME: Final = re.compile(r"\w+")
_PERSONS: Final = frozenset({"email", "phone", "person_name", "address"})
_DERIVED: Final = (" resolved", " mapping", " pairs", " (rejects)")


@dataclass(frozen=True)
class Suggestion:
    title: str
    message: str
    """What a person would say; the planner by rules understands it."""
    reason: str
    dataset: str
    tool: str


def suggestions(
    catalogue: Catalogue, today: date, *, dataset: str | None = None, most: int = MOST
) -> list[Suggestion]:
    """The most useful first, of one dataset or of all, few of a kind."""
    chosen: list[Suggestion] = []
    for proposal in _proposals(catalogue, dataset):
        alike = [each for each in chosen if each.tool == proposal.tool]
        if len(alike) >= _MOST_OF_A_KIND or any(
            each.message == proposal.message for each in chosen
        ):
            continue
        if _understood(proposal, catalogue, today):
            chosen.append(proposal)
        if len(chosen) == most:
            break
    return chosen


def questions_to_try(catalogue: Catalogue, today: date, most: int = _MOST_NEXT) -> list[Suggestion]:
    """Questions about the datasets, of several rather than of one; chat answers each of them as it is."""
    found = []
    for message in example_questions(catalogue.world, catalogue.lexicon, today, most):
        asked = RulePlanner().plan(Task(message, today, ""), catalogue).asked
        if asked is not None and asked.status == "fact" and asked.reading is not None:
            title = message[:1].upper() + message[1:]
            why, table = "All of its words are understood.", asked.reading.table
            found.append(Suggestion(title, title, why, table, "execute_query_plan"))
    return found


def next_messages(task: Task, catalogue: Catalogue, plan: Plan) -> list[dict[str, str]]:
    """What the person could say next; each is understood by the rules as things are after the plan."""
    first = plan.steps[0]
    if first.id == "look":
        begun = [each.message for each in suggestions(catalogue, task.today, most=_MOST_NEXT)]
        return _understood_messages(
            [*(_CHANGES[:2] if task.last is not None else ()), *begun], task, catalogue
        )
    query = next((step for step in plan if step.tools[:1] == ["execute_query_plan"]), None)
    if first.tools[:1] == ["undo"]:
        return _understood_messages(("redo", "what did you do?"), task, catalogue)
    if query is None:
        changes = any(_changes_data(step.tools, catalogue) for step in plan)
        return _understood_messages(_AFTER_A_CHANGE if changes else (), task, catalogue)
    last = Last(query.tools[0], query.arguments)
    document = query.arguments["plan"]
    said = task.message.casefold()
    wanted = [each for each in _CHANGES if each not in said and _adds(each, document)]
    return _understood_messages(
        wanted, replace(task, last=last, acted=None, read=None, reading=None), catalogue
    )


def after_a_model(
    task: Task, catalogue: Catalogue, plan: Plan, about: str, *, changed: bool
) -> list[dict[str, str]]:
    """The same after a plan of a model: changes of its query where it is one, then what the statistics suggest.

    `about` is text in which the datasets that it worked on are named; where none is, all of them count.
    """
    if changed:
        begun = _understood_messages(_AFTER_A_CHANGE, task, catalogue)
    else:
        query = next((step for step in plan if step.tools[:1] == ["execute_query_plan"]), None)
        document = query.arguments.get("plan") if query is not None else None
        begun = []
        if query is not None and isinstance(document, Mapping):
            wanted = [each for each in _CHANGES[:2] if _adds(each, document)]
            last = Last(query.tools[0], query.arguments)
            begun = _understood_messages(
                wanted, replace(task, last=last, acted=None, read=None, reading=None), catalogue
            )
    done = {tool for step in plan for tool in step.tools}
    words = set(_NAME.findall(f"{task.message} {about}"))
    named: list[str | None] = [name for name in catalogue.datasets if name in words]
    found = [
        each
        for name in (named[:_MOST_OF_A_KIND] or [None])
        for each in suggestions(catalogue, task.today, dataset=name)
        # What was just done is no news.
        if each.tool not in done or each.tool == "execute_query_plan"
    ]
    further = [{"title": each.title, "message": each.message} for each in found]
    return [*begun, *further][:_MOST_NEXT]


def _understood_messages(
    messages: Iterable[str], task: Task, catalogue: Catalogue
) -> list[dict[str, str]]:
    chosen: list[dict[str, str]] = []
    for message in dict.fromkeys(messages):
        ruled = RulePlanner().plan(replace(task, message=message, mentions=()), catalogue)
        if ruled.understood and len(chosen) < _MOST_NEXT:
            chosen.append({"title": message[:1].upper() + message[1:], "message": message})
    return chosen


def _adds(message: str, document: Any) -> bool:
    """Whether a change makes another query of it."""
    if not isinstance(document, Mapping) or not document.get("aggregate"):
        return message in _OF_ROWS
    times = {each["name"] for each in document.get("derive", ())} & set(document.get("group", ()))
    if message == "by month":
        return not times
    if message in {"as a bar chart", "share in %"}:
        return bool(document.get("group")) and "window" not in document
    return message not in _OF_ROWS or message == "export that"


def _changes_data(tools: Sequence[str], catalogue: Catalogue) -> bool:
    return any(
        tool in catalogue.tools and not catalogue.tools[tool].risk.at_most(Risk.compute)
        for tool in tools
    )


def _understood(proposal: Suggestion, catalogue: Catalogue, today: date) -> bool:
    """Whether the message leads to the tool and the data that it is meant for."""
    ruled = RulePlanner().plan(Task(proposal.message, today, ""), catalogue)
    first = ruled.plan.steps[0]
    return (
        ruled.understood
        and proposal.tool in first.tools
        and proposal.dataset in str(first.arguments)
    )


def _proposals(catalogue: Catalogue, only: str | None) -> Iterator[Suggestion]:
    named = [each for each in catalogue.datasets.values() if only is None or each.name == only]
    plain = [each for each in named if not each.name.endswith(_DERIVED) and each.rows]
    for look in (_unprofiled, _doubles, _repeats, _dates, _numbers):
        for each in plain:
            yield from look(each)
    for each in plain:
        yield from _joins(each, catalogue)
    for look in (_spellings, _over_time, _by_category, _personal):
        for each in plain:
            yield from look(each)


def _unprofiled(dataset: DatasetFacts) -> Iterator[Suggestion]:
    if not dataset.profiled:
        yield Suggestion(
            f"Profile {dataset.name}",
            f"profile {dataset.name}",
            "It was never profiled.",
            dataset.name,
            "profile",
        )


def _doubles(dataset: DatasetFacts) -> Iterator[Suggestion]:
    persons = [each for each in dataset.columns if _PERSONS & set(each.meanings)]
    repeated = any(
        each.distinct is not None and each.distinct < dataset.rows - (each.nulls or 0)
        for each in persons
    )
    # One row per person or company: where there are many per person, rows are events.
    per_row = [each for each in persons if each.distinct and each.distinct > dataset.rows * 0.7]
    if len(per_row) >= 2 and repeated:
        yield Suggestion(
            f"Find duplicates in {dataset.name}",
            f"find duplicate records in {dataset.name}",
            f"{per_row[0].name} and {per_row[1].name} repeat in some rows.",
            dataset.name,
            "resolve_entities",
        )


def _repeats(dataset: DatasetFacts) -> Iterator[Suggestion]:
    if dataset.duplicate_rows:
        yield Suggestion(
            f"Remove {dataset.duplicate_rows:,} repeated rows of {dataset.name}",
            f"remove duplicate rows from {dataset.name}",
            "They repeat another row in full.",
            dataset.name,
            "clean",
        )


def _dates(dataset: DatasetFacts) -> Iterator[Suggestion]:
    texts = [each.name for each in dataset.columns if each.is_date_text]
    if texts:
        yield Suggestion(
            f"Make real dates in {dataset.name}",
            f"clean the dates in {dataset.name}",
            f"{', '.join(texts[:3])} {'are' if len(texts) > 1 else 'is'} written as text.",
            dataset.name,
            "clean",
        )


def _numbers(dataset: DatasetFacts) -> Iterator[Suggestion]:
    for column in dataset.columns:
        if column.is_number_text:
            yield Suggestion(
                f"Read {column.name} as numbers",
                f"read {column.name} of {dataset.name} as numbers",
                "It is text, so nobody can add it up.",
                dataset.name,
                "clean",
            )
            return


def _spellings(dataset: DatasetFacts) -> Iterator[Suggestion]:
    for column in dataset.columns:
        if column.spellings and "category" in column.meanings:
            yield Suggestion(
                f"Unify {column.name} of {dataset.name}",
                f"unify the spelling of {column.name} in {dataset.name}",
                f"{column.spellings} of its values are spellings of others.",
                dataset.name,
                "clean",
            )
            return


def _joins(dataset: DatasetFacts, catalogue: Catalogue) -> Iterator[Suggestion]:
    for other in catalogue.datasets.values():
        found = None if other.name == dataset.name else link(catalogue, dataset, other)
        if found is not None and not other.name.endswith(_DERIVED):
            yield Suggestion(
                f"Join {dataset.name} with {other.name}",
                f"join {dataset.name} and {other.name}",
                f"{found.left} refers to {found.right}.",
                dataset.name,
                "join",
            )


def _over_time(dataset: DatasetFacts) -> Iterator[Suggestion]:
    measure = _measure(dataset)
    time = any(each.is_time or each.is_date_text for each in dataset.columns)
    if time and measure is not None:
        yield Suggestion(
            f"{measure.name} by month",
            f"total {measure.name} by month in {dataset.name}",
            "It has amounts and dates.",
            dataset.name,
            "execute_query_plan",
        )


def _by_category(dataset: DatasetFacts) -> Iterator[Suggestion]:
    for column in dataset.columns:
        few = column.distinct is not None and 2 < column.distinct <= 20
        if few and column.kind == "text" and "category" in column.meanings:
            yield Suggestion(
                f"{dataset.name} by {column.name}",
                f"how many rows of {dataset.name} by {column.name}",
                f"{column.name} has {column.distinct} values.",
                dataset.name,
                "execute_query_plan",
            )
            return


def _personal(dataset: DatasetFacts) -> Iterator[Suggestion]:
    personal = [each.name for each in dataset.columns if each.personal]
    if personal:
        yield Suggestion(
            f"Mask personal data of {dataset.name}",
            f"mask the personal data of {dataset.name}",
            f"{', '.join(personal[:3])} {'are' if len(personal) > 1 else 'is'} personal.",
            dataset.name,
            "redact",
        )
        yield Suggestion(
            f"Encrypt personal data of {dataset.name}",
            f"encrypt the columns {', '.join(personal[:3])} of {dataset.name}",
            "Only people who may decrypt see encrypted values.",
            dataset.name,
            "encrypt_columns",
        )


def _measure(dataset: DatasetFacts) -> ColumnFacts | None:
    numbers = [
        each
        for each in dataset.columns
        if each.kind == "number"
        and not each.is_reference
        and not each.constant
        # Whole numbers count things at one moment; amounts add up over time.
        and ("money" in each.meanings or each.type.startswith(("DECIMAL", "DOUBLE", "FLOAT")))
    ]
    return next((each for each in numbers if (each.distinct or 0) > 12), None)
