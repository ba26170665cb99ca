"""The decision dossier of a run, from its journal alone: what was planned, tried, approved, found, and what came of it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from steward.runs import Call, Entry, Json, MadePlan, Payload, Run, project

FORMAT: Final = 1
_LONGEST_VALUE: Final = 300


def dossier(run: Run, entries: Sequence[Entry], payload: Payload) -> dict[str, Any]:
    """The same journal gives the same document, byte for byte."""
    found = project(entries, payload)
    calls = [call for call in found.calls.values() if call.tool is not None]
    steps = [
        {"step": each.key, "at": each.at, **each.data}
        for each in found.finished
        if "adhered" in each.data
    ]
    document = found.asked.get("document")
    told = document if isinstance(document, Mapping) else {}
    output = found.answer if isinstance(found.answer, Mapping) else {}
    return {
        "format": FORMAT,
        "run": {
            "id": run.id,
            "title": run.title,
            "program": run.program,
            "status": run.status.value,
            "by": run.created_by,
            "began_at": entries[0].at if entries else None,
            "ended_at": entries[-1].at if run.status.is_final and entries else None,
            "journal": entries[-1].hash if entries else None,
        },
        "asked": told.get("message") or found.asked.get("title"),
        "plans": [_plan(found.plans[branch]) for branch in sorted(found.plans)],
        "tried": [_tried(call) for call in calls],
        "evidence": list(_evidence(calls)),
        "approvals": [
            {"call": call.key, "tool": call.tool, **approval}
            for call in calls
            for approval in call.approvals
        ],
        "deviations": [{"step": each.key, "at": each.at, **each.data} for each in found.deviations],
        "steps": steps,
        "adherence": output.get("adherence", _adherence(steps)),
        "answer": output.get("answer"),
        "figures": output.get("figures", []),
        "cost": _cost(calls, [each.cost for each in found.spent]),
        "outcome": found.outcome,
    }


def _plan(plan: MadePlan) -> dict[str, Any]:
    planned = plan.planned
    return {
        "branch": plan.branch,
        "at": plan.at,
        **{name: planned[name] for name in ("made_by", "model", "problems", "repaired", "plan")},
        "reviews": [
            {
                "at": review.answered_at,
                **{name: review.answer.get(name) for name in ("decision", "by", "skip", "expired")},
            }
            for review in plan.reviews
            if review.answered_at is not None
        ],
        "failed": plan.failed,
    }


def _tried(call: Call) -> dict[str, Any]:
    return {
        "call": call.key,
        "tool": call.tool,
        "arguments": call.arguments,
        "decision": call.decision,
        "provenance": call.provenance,
        "state": call.state,
        "began_at": call.began_at,
        "ended_at": call.ended_at,
        "error": call.error,
        "undone": call.undone,
    }


def _evidence(calls: Iterable[Call]) -> Iterator[dict[str, Any]]:
    for call in calls:
        if call.state == "done":
            yield {
                "call": call.key,
                "tool": call.tool,
                "summary": call.summary,
                "commits": call.commits,
                "artifacts": [
                    {name: item[name] for name in ("name", "digest", "size") if name in item}
                    for item in call.artifacts
                ],
                "rows": _rows(call.value),
            }


def _rows(value: Json) -> int | None:
    rows = value.get("rows") if isinstance(value, Mapping) else None
    return len(rows) if isinstance(rows, list) else None


def _adherence(steps: Sequence[Mapping[str, Any]]) -> float | None:
    judged = [step["adhered"] for step in steps if step["adhered"] is not None]
    return round(sum(judged) / len(judged), 4) if judged else None


def _cost(calls: Iterable[Call], spent: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    costs = [*(call.cost for call in calls if call.cost), *spent]
    usd = sum((Decimal(cost["usd"]) for cost in costs), Decimal(0))
    return {"usd": format(usd, "f"), "tokens": sum(int(cost["tokens"]) for cost in costs)}


def as_markdown(document: Mapping[str, Any]) -> str:
    """The dossier for people."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    run = document["run"]
    yield f"# Dossier of {_inline(run['title'])}"
    yield ""
    yield f"- Run `{run['id']}`, {run['program']}, {run['status']}"
    yield f"- Asked: {_inline(document['asked'])}"
    yield f"- Began {run['began_at']}, ended {run['ended_at'] or 'not yet'}"
    yield f"- Cost: {document['cost']['usd']} USD, {document['cost']['tokens']:,} tokens"
    if document["adherence"] is not None:
        yield f"- Adherence to the plan: {document['adherence']:.0%}"
    for plan in document["plans"]:
        yield from _plan_lines(plan)
    yield from _section("What was tried", [_tried_line(each) for each in document["tried"]])
    yield from _section("Doubts", [*_doubt_lines(document["tried"])])
    yield from _section("Evidence", [_evidence_line(each) for each in document["evidence"]])
    yield from _section(
        "Approvals",
        [
            f"`{each['call']}` {_inline(each['tool'])}: {_inline(each.get('decision'))} by "
            f"{_inline(each.get('by'))}, {each['at']}"
            for each in document["approvals"]
        ],
    )
    yield from _section(
        "Deviations",
        [
            f"`{each['step']}` {each['kind']}"
            f"{' of ' + _inline(each['tool']) if each.get('tool') else ''}: {_inline(each['why'])}"
            for each in document["deviations"]
        ],
    )
    yield from _section(
        "Figures",
        [
            f"{_inline(each['text'])}: "
            f"{'from `' + each['source'] + '`' if each['source'] else 'no source'}"
            for each in document["figures"]
        ],
    )
    yield ""
    yield "## Outcome"
    yield ""
    error = document["outcome"].get("error")
    yield f"{document['outcome']['status']}" + (f": {_inline(error['message'])}" if error else "")
    if document["answer"]:
        yield ""
        yield from (f"> {line}" for line in str(document["answer"]).splitlines())


def _plan_lines(plan: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"## Plan {plan['branch']}"
    yield ""
    by = f"{plan['made_by']}{' (' + plan['model'] + ')' if plan['model'] else ''}"
    yield f"{_inline(plan['plan']['goal'])} — made by {by}{', repaired' if plan['repaired'] else ''}."
    yield ""
    for number, step in enumerate(plan["plan"]["steps"], 1):
        fallback = step.get("fallback_tools") or []
        otherwise = f", else {', '.join(fallback)}" if fallback else ""
        yield (
            f"{number}. {_inline(step['title'])} — {step['agent']}, "
            f"{', '.join(step['tools']) or 'no tools'}{otherwise}"
        )
    for problem in plan["problems"]:
        yield f"- Not valid at first: {_inline(problem)}"
    for review in plan["reviews"]:
        yield f"- Reviewed: {_inline(review['decision'])} by {_inline(review['by'])}, {review['at']}"
    if plan["failed"]:
        yield f"- It failed: {_inline(plan['failed']['message'])}"


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield f"## {title}"
        yield ""
        yield from (f"- {line}" for line in lines)


def _tried_line(tried: Mapping[str, Any]) -> str:
    decision = (tried["decision"] or {}).get("outcome", "")
    error = f": {_inline(tried['error']['message'])}" if tried["error"] else ""
    undone = ", taken back" if tried["undone"] else ""
    return f"`{tried['call']}` {tried['tool']}: {decision or 'checked'}, {tried['state']}{undone}{error}"


def _doubt_lines(tried: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What whoever was asked was told to look at."""
    for each in tried:
        for doubt in (each["provenance"] or {}).get("doubts", ()):
            yield f"`{each['call']}` {_inline(each['tool'])}: {_inline(doubt)}"


def _evidence_line(item: Mapping[str, Any]) -> str:
    parts = [f"`{item['call']}` {_inline(item['summary'])}"]
    parts.extend(f"commit `{commit}`" for commit in item["commits"])
    parts.extend(f"file {_inline(file['name'])}" for file in item["artifacts"])
    return ", ".join(parts)


def _inline(value: Json) -> str:
    """One line that is no markup: what people and models wrote stays text."""
    text = " ".join(str("" if value is None else value).split())[:_LONGEST_VALUE]
    return re.sub(r"([\\`*_\[\]<>|#!])", r"\\\1", text)
