"""Rules over journals: what failed first, calls that were repeated, what changed since the last good run."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from steward.observe.analysis.finding import Finding, SpanRef
from steward.observe.trace_tree import Trace, TraceRow
from steward.runs import Entry, EntryType, Json, RunRequest, canonical
from steward.trace import genai, redact, redact_text

_REPEATED: Final = 4
"""Equal calls that look like a loop."""
_MOST_NAMED: Final = 5
_MOST_REFERENCES: Final = 20
_LONGEST_VALUE: Final = 80
_LONGEST_QUOTE: Final = 600
_OVER_BUDGET: Final = frozenset({"budget-exceeded", "too-many-steps"})
_LAID_OUT: Final = frozenset({"position", "layout", "x", "y"})


def failed_rows(trace: Trace) -> list[TraceRow]:
    """Spans that failed and have no failed span below them, in the order in which they ended."""
    failed = [row for row in trace.rows if row.span.error is not None]
    positions = [row.position for row in failed]
    leaves = []
    for index, row in enumerate(failed):
        following = positions[index + 1] if index + 1 < len(failed) else len(trace.rows)
        if following > row.position + row.size and row.operation != genai.ATTEMPT:
            leaves.append(row)
    # Attempts that were made again count only where nothing else is known to have failed.
    found = leaves or failed
    return sorted(found, key=lambda row: (row.span.end, row.position))


def first_error(rows: Sequence[TraceRow], at: str, message: str, *, has_failed: bool) -> Finding:
    """The error that everything after it follows from, in a run that failed; else the first of some."""
    first = fault_of(rows, at)
    others = len(rows) - 1
    also = (
        f" {others} more {'span' if others == 1 else 'spans'} failed in the run." if others else ""
    )
    text = (
        f'The run failed at "{first.span.name}" with the error "{first.span.error}".{also}'
        if has_failed
        else f'The run went on after "{first.span.name}" failed with the error "{first.span.error}".{also}'
    )
    references = [first, *(row for row in rows if row is not first)][:_MOST_REFERENCES]
    return Finding(
        "budget" if first.span.error in _OVER_BUDGET else "error",
        "cause" if has_failed else "warning",
        text,
        redact_text(message)[:_LONGEST_QUOTE],
        tuple(SpanRef.of(row) for row in references),
    )


def fault_of(rows: Sequence[TraceRow], at: str) -> TraceRow:
    """The first failed span within the step that the run says it failed at; the first at all where there is none."""
    within = (row for row in rows if at and (row.about == at or row.about.startswith(f"{at}/")))
    return next(within, rows[0])


def message_of(entries: Iterable[Entry], about: str) -> str:
    """The words of the last error among the entries about a key; of the end of the run where there is no key."""
    found = ""
    for entry in entries:
        error = entry.data.get("error")
        is_meant = entry.of == about if about else entry.type == EntryType.run_failed
        if is_meant and isinstance(error, Mapping) and error.get("message"):
            found = str(error["message"])
    return found


def repeated_calls(entries: Sequence[Entry], rows: Mapping[str, TraceRow]) -> Iterator[Finding]:
    """Tools that were called with the same arguments again and again."""
    calls: defaultdict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.type == EntryType.call_done and "request" in entry.data:
            asked = entry.data["request"]
            calls[str(asked["tool"]), canonical(asked.get("arguments"))].append(entry)
    for (tool, _), equal in sorted(calls.items(), key=lambda each: -len(each[1])):
        if len(equal) < _REPEATED:
            return
        found = [rows[entry.key] for entry in equal if entry.key in rows]
        yield Finding(
            "repeats",
            "warning",
            f'"{tool}" was called {len(equal)} times with the same arguments.',
            spans=tuple(SpanRef.of(row) for row in found[:_MOST_REFERENCES]),
        )


def changes(now: RunRequest, good: RunRequest, trace: Trace) -> Iterator[Finding]:
    """What is different from the last good run of the same flow: version, steps, inputs."""
    revisions = [_revision(each) for each in (now, good)]
    if revisions[0] != revisions[1] and None not in revisions:
        yield Finding(
            "change",
            "warning",
            f"This run used revision {revisions[0]}. The last good run used revision {revisions[1]}.",
        )
    yield from _changed_steps(_nodes(now.document), _nodes(good.document), trace)
    yield from _changed_inputs(now.inputs, good.inputs)


def _changed_steps(
    now: Mapping[str, Json], good: Mapping[str, Json], trace: Trace
) -> Iterator[Finding]:
    for name in [each for each in now if each in good and now[each] != good[each]][:_MOST_NAMED]:
        fields = sorted(_different(now[name], good[name]))
        if fields:
            listed = ", ".join(f'"{each}"' for each in fields)
            text = f'Step "{name}" changed since the last good run: {listed}.'
            yield Finding("change", "warning", text, spans=_spans_of_node(name, trace))
    added = [each for each in now if each not in good]
    for name in added[:_MOST_NAMED]:
        text = f'Step "{name}" is new since the last good run.'
        yield Finding("change", "warning", text, spans=_spans_of_node(name, trace))
    removed = [each for each in good if each not in now]
    if removed:
        listed = ", ".join(f'"{each}"' for each in removed[:_MOST_NAMED])
        yield Finding("change", "warning", f"The last good run also had the steps {listed}.")


def _changed_inputs(now: Json, good: Json) -> Iterator[Finding]:
    if not isinstance(now, Mapping) or not isinstance(good, Mapping):
        return
    names = sorted(name for name in {*now, *good} if now.get(name) != good.get(name))[:_MOST_NAMED]
    if names:
        listed = ", ".join(f'"{name}"' for name in names)
        told = "; ".join(
            f"{name}: {_shown(name, good.get(name))} → {_shown(name, now.get(name))}"
            for name in names
        )
        yield Finding(
            "change",
            "warning",
            f"Inputs differ from the last good run: {listed}.",
            told[:_LONGEST_QUOTE],
        )


def changed_models(now: Trace, good: Trace) -> Iterator[Finding]:
    """Models that were asked now and not then."""
    before = {
        row.span.attributes.get(genai.MODEL) for row in good.rows if row.operation == genai.CHAT
    }
    if not before:
        return
    new: dict[str, TraceRow] = {}
    for row in now.rows:
        model = row.span.attributes.get(genai.MODEL)
        if row.operation == genai.CHAT and model and model not in before:
            new.setdefault(str(model), row)
    for model, row in new.items():
        text = f'The model "{model}" was not used in the last good run.'
        yield Finding("change", "warning", text, spans=(SpanRef.of(row),))


def _spans_of_node(name: str, trace: Trace) -> tuple[SpanRef, ...]:
    root = trace.rows[0].run_id if trace.rows else ""
    found = (row for row in trace.rows if row.run_id == root and _node_name(row.about) == name)
    return tuple(SpanRef.of(row) for row, _ in zip(found, range(_MOST_NAMED), strict=False))


def _node_name(key: str) -> str:
    """The outermost node of a key; what follows says which item, round or try."""
    first = key.partition("/")[0].partition(":")[0]
    for mark in "[#~":
        first = first.partition(mark)[0]
    return first


def _revision(request: RunRequest) -> int | None:
    found = request.grant.get("revision") if isinstance(request.grant, Mapping) else None
    return found if isinstance(found, int) else None


def _nodes(document: Json) -> dict[str, Json]:
    if not isinstance(document, Mapping):
        return {}
    graph: Any = document.get("graph", document)
    nodes = graph.get("nodes") if isinstance(graph, Mapping) else None
    if not isinstance(nodes, list):
        return {}
    return {str(each["id"]): each for each in nodes if isinstance(each, Mapping) and "id" in each}


def _different(now: Json, good: Json) -> Iterator[str]:
    if isinstance(now, Mapping) and isinstance(good, Mapping):
        for name in {*now, *good} - _LAID_OUT:
            if now.get(name) != good.get(name):
                yield str(name)


def _shown(name: str, value: Json) -> str:
    text = canonical(redact(value, name)) if value is not None else "none"
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
