"""A dataset, rows of it, or the result of the last query, as a workbook."""

from collections.abc import Mapping
from typing import Any, Final

from steward.agents.rules.describing import in_words
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.last_query import last_document
from steward.agents.rules.naming import best_dataset, datasets_in
from steward.agents.rules.request import Ask
from steward.agents.rules.selecting import keep_reading, keep_rows, rows_named

_THIS: Final = ("that", "those", "these", "this", "it", "them", "the result", "the list", "the table")  # fmt: skip
_ASKED: Final = ("export", "excel", "xlsx", "workbook", "spreadsheet", "download")
_WORDS: Final = (*_ASKED, "csv", "json", "parquet", "file", "save", "send", "as")


def plan(ask: Ask) -> Draft | None:
    if not ask.says(*_ASKED):
        return None
    document = last_document(ask.task.last)
    if document is not None and _is_selected(document) and _is_meant(ask):
        return _result(ask, document)
    dataset = best_dataset(ask)
    if dataset is None:
        return None
    said = ""
    if ask.says("csv", "json", "parquet"):
        said = "Rules can only make Excel workbooks; other formats are on the dataset's page."
    draft = Draft(goal_of(ask), said=said)
    rows = rows_named(ask, *_WORDS) if datasets_in(ask) else None
    if rows is None or rows.reading is None:
        draft.asked = rows
        return _workbook(ask, draft, dataset.name)
    draft.asked = rows if rows.status != "fact" else None
    kept = keep_reading(ask, draft, rows.reading)
    return None if kept is None else _workbook(ask, draft, kept, needs=["keep"])


def _is_selected(document: Mapping[str, Any]) -> bool:
    """Whether the last query is more than a page of a dataset."""
    return any(document.get(key) for key in ("filters", "aggregate", "select", "joins"))


def _is_meant(ask: Ask) -> bool:
    """Whether the result is to be exported: it is pointed at, or nothing else is named."""
    return ask.says(*_THIS) or not datasets_in(ask)


def _result(ask: Ask, document: Mapping[str, Any]) -> Draft | None:
    """The last query's result, kept as a dataset of its own and written as a workbook."""
    draft = Draft(goal_of(ask))
    target = keep_rows(ask, draft, document, _name(document))
    if target is None:
        return None
    draft.notes = f"{in_words(document)} It is kept as the dataset {target}; undo takes it back."
    return _workbook(ask, draft, target, needs=["keep"])


def _workbook(ask: Ask, draft: Draft, name: str, needs: list[str] | None = None) -> Draft | None:
    added = draft.add(
        ask, "workbook", f"Write {name} as an Excel workbook", "render_xlsx", {"dataset": name},
        reason="A workbook was asked for", needs=needs or (),
    )  # fmt: skip
    return draft if added else None


def _name(document: Mapping[str, Any]) -> str:
    figures = [each["name"].replace("_", " ") for each in document.get("aggregate", ())]
    if not figures:
        return f"{document['source']} selected"
    by = f" by {' and '.join(document['group'])}" if document.get("group") else ""
    return f"{' and '.join(figures)}{by} of {document['source']}"
