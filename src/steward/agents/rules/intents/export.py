"""A dataset, or the result of the last query, as a workbook."""

from collections.abc import Mapping
from typing import Any, Final

from steward.agents.rules.asking import Ask
from steward.agents.rules.describing import in_words
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.frames import Frame, frame_of
from steward.agents.rules.naming import best_dataset, datasets_in
from steward.agents.rules.targets import free_name
from steward.core.errors import Invalid
from steward.sandbox.compile_plan import compile_plan
from steward.sandbox.query_plan import QueryPlan

_THIS: Final = (
    "that",
    "those",
    "these",
    "this",
    "it",
    "them",
    "the result",
    "the list",
    "the table",
)
_ASKED: Final = ("export", "excel", "xlsx", "workbook", "spreadsheet", "download")


def plan(ask: Ask) -> Draft | None:
    if not ask.says(*_ASKED):
        return None
    frame = frame_of(ask)
    if frame is not None and _is_selected(frame) and _is_meant(ask):
        return _result(ask, frame)
    dataset = best_dataset(ask)
    if dataset is None:
        return None
    said = ""
    if ask.says("csv", "json", "parquet"):
        said = "Rules can only make Excel workbooks; other formats are on the dataset's page."
    draft = Draft(goal_of(ask), said=said)
    added = draft.add(
        ask, "workbook", f"Write {dataset.name} as an Excel workbook", "render_xlsx", {"dataset": dataset.name},
        reason="A workbook was asked for", confidence=0.85,
    )  # fmt: skip
    return draft if added else None


def _is_selected(frame: Frame) -> bool:
    """Whether the last query is more than a page of a dataset."""
    return any(frame.document.get(key) for key in ("filters", "aggregate", "select", "joins"))


def _is_meant(ask: Ask) -> bool:
    """Whether the result is to be exported: it is pointed at, or nothing else is named."""
    return ask.says(*_THIS) or not datasets_in(ask)


def _result(ask: Ask, frame: Frame) -> Draft | None:
    """The last query's result, kept as a dataset of its own and written as a workbook."""
    schema = {name: facts.names for name, facts in ask.catalogue.datasets.items()}
    document = {key: each for key, each in frame.document.items() if key != "offset"}
    if not document.get("aggregate"):
        # A page was shown; all rows that match are exported.
        document.pop("limit", None)
    try:
        sql = compile_plan(QueryPlan.model_validate(document), schema)
    except (Invalid, ValueError):
        return None
    target = free_name(ask, _name(document))
    sources = [document["source"], *(each["dataset"] for each in document.get("joins", ()))]
    draft = Draft(
        goal_of(ask),
        notes=f"{in_words(document)} It is kept as the dataset {target}; undo takes it back.",
    )
    kept = draft.add(
        ask, "keep", f"Keep the result as {target}", "transform",
        {"datasets": sources, "target": target, "language": "sql", "code": sql},
        reason="A workbook is written of a dataset", confidence=0.8,
    )  # fmt: skip
    written = kept and draft.add(
        ask, "workbook", f"Write {target} as an Excel workbook", "render_xlsx", {"dataset": target},
        reason="The result was to be exported", needs=["keep"], confidence=0.8,
    )  # fmt: skip
    return draft if written else None


def _name(document: Mapping[str, Any]) -> str:
    figures = [each["name"].replace("_", " ") for each in document.get("aggregate", ())]
    if not figures:
        return f"{document['source']} selected"
    by = f" by {' and '.join(document['group'])}" if document.get("group") else ""
    return f"{' and '.join(figures)}{by} of {document['source']}"
