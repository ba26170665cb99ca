"""A request that changes the last query: "those again but by month", "only 2024", "the same for tickets"."""

from dataclasses import replace
from typing import Any, Final

from steward.agents.rules.asking import Ask, name_words
from steward.agents.rules.changing import Changed, changed
from steward.agents.rules.describing import in_words
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.drawing import add_chart, kind_in
from steward.agents.rules.frames import Frame, frame_of
from steward.agents.rules.leftovers import mixed_money, remark
from steward.agents.rules.naming import datasets_in, query_dataset
from steward.agents.rules.periods import period_in
from steward.agents.rules.querying import function_in, query_in, ranking_in
from steward.agents.rules.transferring import carried
from steward.agents.rules.windows import windows_in
from steward.definitions import DatasetFacts

_AGAIN: Final = ("again", "those", "same", "instead", "them", "that", "it", "these", "also", "what about", "how about",
                 "but", "now", "too", "additionally", "the result", "this", "their", "they",
                 "of which", "both")  # fmt: skip
_STARTS: Final = frozenset(
    {*("and", "only", "just", "by", "per", "as", "sorted", "sort", "order", "with", "without", "in"),
     *("for", "then", "make", "except", "excluding", "draw", "plot", "chart", "group", "limit"),
     *("since", "monthly", "split", "ok", "or", "compare", "compared", "versus", "drill", "remove")}
)  # fmt: skip
_SAME: Final = (
    "same",
    "again",
    "what about",
    "how about",
    "instead",
    "also",
    "likewise",
    "and for",
    "and the",
)
_SHORT: Final = 4
_LONGEST_SWITCH: Final = 9
_TOOLS: Final = {
    # How the last call would be asked for, about another dataset.
    "profile": "profile {}",
    "get_dataset_schema": "columns of {}",
    "preview": "show {}",
    "report": "report about {}",
    "render_xlsx": "export {}",
    "correlate": "correlate {}",
    "resolve_entities": "find duplicates in {}",
    "clean": "clean {}",
    "redact": "mask {}",
    "list_changes": "who changed {}",
}


def plan(ask: Ask) -> Draft | None:
    frame = frame_of(ask)
    if frame is None or not ask.tokens:
        return None
    other = _other(ask, frame)
    if other is not None:
        return _elsewhere(ask, frame, other)
    if not _refers(ask, frame):
        return None
    result = changed(ask, frame)
    kind = kind_in(ask)
    again = ask.says("again", "same", "as a table", "as table") and not frame.is_bare
    if result is None and not again and (kind is None or not frame.counts):
        return None
    made = result or Changed(frame.document, "The same again", frozenset())
    return _drafted(ask, made, frame.dataset, kind)


def _drafted(
    ask: Ask, made: Changed, dataset: DatasetFacts, kind: str | None, said: str = ""
) -> Draft | None:
    missed = remark(ask, dataset, made.used)
    notes = " ".join(each for each in (made.words, mixed_money(dataset, made.document)) if each)
    draft = Draft(goal_of(ask), notes=notes, said=" ".join(e for e in (said, missed) if e))
    if not draft.add(
        ask,
        "query",
        f"The last query, changed: {made.said[0].lower()}{made.said[1:]}"[:200],
        "execute_query_plan",
        {"plan": made.document},
        reason="A follow-up changes the last query and keeps the rest of it",
        confidence=0.75 - 0.3 * bool(missed),
    ):
        return None
    if kind is not None or _over_time(made.document):
        add_chart(ask, draft, dataset, made.document, kind or "auto")
    return draft


# Another dataset


def _other(ask: Ask, frame: Frame) -> DatasetFacts | None:
    """The dataset that the last request is to be asked of, where this one says no more than that."""
    named = datasets_in(ask)
    if not named or named[0].name == frame.dataset.name or len(ask.tokens) > _LONGEST_SWITCH:
        return None
    if any(each.name == frame.dataset.name for each in named):
        return None
    if not ask.says(*_SAME) and ask.words[0] not in {"and", "for", "now"}:
        return None
    function, _ = function_in(ask, ranking_in(ask))
    return named[0] if function is None or ask.says("same") else None


def _elsewhere(ask: Ask, frame: Frame, other: DatasetFacts) -> Draft | None:
    acted = ask.task.acted
    if acted is not None and acted.tool in _TOOLS:
        return _asked_anew(ask, _TOOLS[acted.tool].format(other.name))
    moved = carried(ask, frame, other)
    result = changed(ask, moved.frame)
    document = moved.frame.document if result is None else result.document
    own = {n for n, word in enumerate(ask.words) if word in name_words(other.name)}
    used = own | (set() if result is None else set(result.used))
    # Groups that the request names itself take the place of those that have no match.
    own_groups = set(document.get("group", ())) != set(moved.frame.document.get("group", ()))
    gone = set(frame.document.get("group", ())) if own_groups else set()
    left = [name for name in moved.left if name not in gone]
    said = ""
    if left:
        there = ", ".join(each.name for each in other.columns if each.kind == "text")[:200]
        said = (
            f"{other.name} has nothing for {', '.join(left)}, so that was left out. "
            f"It has, for instance: {there}."
        )
    made = Changed(document, f"the same for {other.name}", frozenset(used))
    return _drafted(ask, made, other, kind_in(ask), said)


def _asked_anew(ask: Ask, message: str) -> Draft | None:
    """The request that was meant, read as if it had been said in full."""
    from steward.agents.rules.deciding import intended

    full = Ask.of(replace(ask.task, message=message, last=None, acted=None), ask.catalogue)
    draft = intended(full, but=plan)
    if draft is not None:
        draft.goal = goal_of(ask)
    return draft


# Whether it is about the last query at all


def _refers(ask: Ask, frame: Frame) -> bool:
    named = datasets_in(ask)
    own = any(each.name == frame.dataset.name for each in named)
    if named and not own:
        return False
    if ask.words[0] in _STARTS or _points_back(ask):
        return True
    if _is_complete(ask):
        return False
    if frame.counts and (windows_in(ask, frame.document)[0] or (ranking_in(ask) and not named)):
        return True
    return len(ask.tokens) <= _SHORT and not named


def _points_back(ask: Ask) -> bool:
    """Words such as "those"; "this" of "this year" is none."""
    period = period_in(ask)
    inside = set() if period is None else set(range(period.first, period.last))
    return any(start not in inside for start, _ in ask.places(_AGAIN))


def _is_complete(ask: Ask) -> bool:
    """Whether it can be asked of anybody who heard nothing before: a figure, and of what."""
    dataset = query_dataset(ask)
    query = query_in(ask, dataset) if dataset is not None else None
    if query is None or query.measure is None:
        return False
    return bool(query.dimensions) or len(ask.tokens) >= _SHORT


def _over_time(document: dict[str, Any]) -> bool:
    derived = {each["name"] for each in document.get("derive", [])}
    return any(name in derived for name in document.get("group", []))


def last_in_words(ask: Ask) -> str:
    """The query that follow-ups are about, for people."""
    frame = frame_of(ask)
    return "" if frame is None or frame.is_bare else in_words(frame.document)
