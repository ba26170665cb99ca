"""A run's journal as spans: the run, its plans, its agents, their requests to models and their calls of tools."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from steward.broker import ASK_HUMAN, PolicyVerdict
from steward.observe.facts import connector_of
from steward.observe.growing_rows import Placed
from steward.runs import Entry, EntryType, Json, Kind, Run
from steward.trace import Span, Value, genai, redact

_RUN = "run"
Payload = Callable[[Json], Json]


def spans_of(
    run: Run,
    root: str,
    entries: Iterable[Entry],
    payload: Payload,
    *,
    content: bool = False,
    detail: bool = False,
) -> list[Span]:
    """All spans of one run; `root` names the run that the trace belongs to.

    Content goes along only where asked for; so do steps, waits and failed attempts, and what is under way, by `detail`.
    """
    reader = SpanReader(run, root, payload, content=content, detail=detail)
    reader.read(entries)
    found, _ = reader.changed(run)
    if not detail:
        return [each.span for each in found]
    # What was under way when it was read, and is over by now, is there twice.
    return list({each.span.key: each.span for each in found}.values())


class SpanReader:
    """Makes spans from entries as they come: a run that goes on is read from where it was read to."""

    def __init__(
        self, run: Run, root: str, payload: Payload, *, content: bool = False, detail: bool = False
    ) -> None:
        self._run = run
        self._root = root
        self._payload = payload
        self._content = content
        self._detail_too = detail
        self._agents: dict[str, str] = {}
        self._working: dict[str, Entry] = {}
        """Agents that have begun and not finished, each with the latest entry below it."""
        self._failures: dict[str, str] = {}
        """How the latest of these failed, by agent."""
        self._violated: set[str] = set()
        """Agents in whose step none of the plan's tools worked."""
        self._began: dict[str, datetime] = {}
        self._waits: dict[str, Entry] = {}
        self._opened: dict[str, int] = {}
        self._calls: set[str] = set()
        self._gone: set[str] = set()
        self._found: list[Placed] = []
        self._first: datetime | None = None
        self._last: Entry | None = None

    @property
    def seq(self) -> int:
        """The last entry that was read."""
        return 0 if self._last is None else self._last.seq

    def read(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if self._first is None:
                self._first = _moment(entry.at)
            # It began at its own first entry, or where the run stood just before.
            if entry.of not in self._began:
                before = self._last or entry
                self._began[entry.of] = _moment(before.at)
            self._last = entry
            if entry.type == EntryType.step_started:
                self._agents[entry.of] = str(entry.data["request"]["agent"])
                self._working[entry.of] = entry
            elif self._working:
                self._note_work(entry)
            span = self._span(entry)
            if span is not None:
                self._add(entry, span)
            if self._detail_too:
                self._note_detail(entry)
                self._note_open(entry)

    def changed(self, run: Run) -> tuple[list[Placed], set[str]]:
        """Spans that are new or different since they were asked for last, each after the one above it, and keys that
        are gone; `run` is as it stands now. None before the first entry.
        """
        if self._first is None or self._last is None:
            return [], set()
        self._run = run
        whole = Placed(run.id, 0, self._whole(self._first, self._last))
        found, self._found = [whole, *self._found], []
        if run.status.is_final:
            found += self._stopped(str(whole.span.error or ""))
            # A call that was planned and never made is not under way once the run is over.
            self._gone |= self._calls
            self._calls = set()
        gone, self._gone = self._gone, set()
        return [each for each in found if each.span.key not in gone], gone

    def _note_work(self, entry: Entry) -> None:
        if entry.type == EntryType.step_finished:
            self._working.pop(entry.of, None)
            return
        agent = self._above(entry.key)
        if agent in self._working:
            self._working[agent] = entry
            error = entry.data.get("error")
            if isinstance(error, Mapping):
                self._failures[agent] = str(error.get("code"))
            if entry.type == EntryType.step_deviated and entry.data.get("kind") == "violation":
                self._violated.add(agent)

    def _stopped(self, failure: str) -> list[Placed]:
        """Agents whose work ended without a result: it ended with the last thing that they did, and as that did."""
        found: list[Placed] = []
        for agent, last in self._working.items():
            judged = {"adhered": False} if agent in self._violated else {}
            span = self._agent(last._replace(key=agent, of=agent, data=judged))
            code = self._failures.get(agent) or failure
            if code:
                attributes = {**span.attributes, genai.ERROR: code}
                span = replace(span, attributes=attributes, error=code)
            seq = self._opened.pop(span.key, last.seq)
            found.append(Placed(self._run.id, seq, span))
        self._working = {}
        return found

    def _add(self, entry: Entry, span: Span) -> None:
        """What was shown while it was under way keeps its place."""
        self._calls.discard(span.key)
        self._gone.discard(span.key)
        seq = self._opened.pop(span.key, entry.seq)
        self._found.append(Placed(self._run.id, seq, span))

    def _add_open(self, entry: Entry, span: Span) -> None:
        seq = self._opened.setdefault(span.key, entry.seq)
        self._gone.discard(span.key)
        attributes = {**span.attributes, genai.UNDER_WAY: True}
        self._found.append(Placed(self._run.id, seq, replace(span, attributes=attributes)))

    def _span(self, entry: Entry) -> Span | None:
        match entry.type:
            case EntryType.step_finished if entry.of in self._agents:
                return self._agent(entry)
            case EntryType.plan_made:
                return self._made(entry, genai.PLAN, genai.PLAN, "CHAIN", self._plan(entry))
            case EntryType.model_asked:
                return self._model(entry, entry.data["request"])
            case EntryType.call_done:
                return self._tool(entry, entry.data["request"])
            case EntryType.call_planned if "error" in entry.data:
                # A call that was refused when it was planned.
                return self._tool(entry, entry.data["request"])
            case _:
                return None

    def _note_detail(self, entry: Entry) -> None:
        """What else took time: steps of a flow, waits for people, attempts that failed."""
        match entry.type:
            case EntryType.wait_opened:
                self._waits[entry.key] = entry
                self._add_open(entry, self._detail(entry, genai.WAIT, entry.key, entry.at))
            case EntryType.wait_closed if entry.key in self._waits:
                opened = self._waits.pop(entry.key)
                self._add(entry, self._detail(entry, genai.WAIT, entry.key, opened.at))
            case EntryType.attempt_failed:
                key = f"{entry.key}#{entry.seq}"
                self._add(entry, self._detail(entry, genai.ATTEMPT, key))
            case EntryType.outcome_recorded:
                self._add(entry, self._detail(entry, genai.STEP, entry.key))
            case _:
                pass

    def _note_open(self, entry: Entry) -> None:
        """What has begun and is not over: agents at work, and calls that were allowed and have no result yet."""
        match entry.type:
            case EntryType.step_started:
                self._add_open(entry, self._agent(entry))
            case EntryType.call_planned | EntryType.call_intended if tool := _tool_begun(entry):
                about: dict[str, Value] = {genai.TOOL: tool, genai.CALL: entry.of}
                name = f"{genai.EXECUTE_TOOL} {tool}"
                span = self._made(entry, genai.EXECUTE_TOOL, name, "TOOL", about, entry.of)
                self._calls.add(span.key)
                self._add_open(entry, span)
            case EntryType.budget_released:
                # It was refused or given up.
                key = f"{self._run.id}:{entry.of}"
                if key in self._calls:
                    self._calls.remove(key)
                    self._gone.add(key)
            case _:
                pass

    def _detail(self, entry: Entry, operation: str, key: str, began: str | None = None) -> Span:
        made = self._made(entry, operation, f"{operation} {entry.of}", "CHAIN", {}, key)
        error = "attempt-failed" if operation == genai.ATTEMPT else made.error
        start = made.start if began is None else _moment(began)
        own = f"{self._run.id}:{key}:{operation}"
        return replace(made, key=own, start=start, error=error)

    def _whole(self, first: datetime, last: Entry) -> Span:
        run = self._run
        attributes: dict[str, Value] = {
            genai.OPERATION: genai.INVOKE_WORKFLOW,
            genai.KIND: "AGENT" if run.program == "chat" else "CHAIN",
            "steward.run.id": run.id,
            "steward.run.status": run.status.value,
            "steward.program": run.program,
            "steward.project.id": run.scope.project_id,
        }
        if run.started_at is not None:
            queued = (run.started_at - run.created_at).total_seconds() * 1000
            attributes[genai.QUEUED] = round(queued, 3)
        if run.subject is not None and run.subject.startswith("thread:"):
            thread = run.subject.removeprefix("thread:")
            attributes |= {genai.CONVERSATION: thread, genai.SESSION: thread}
        failed = last.data.get("error") if last.kind == Kind.failed else None
        above = None if run.id == self._root else f"{run.parent_id}:{_RUN}"
        return Span(
            self._root,
            f"{run.id}:{_RUN}",
            f"{genai.INVOKE_WORKFLOW} {run.program}",
            first,
            _moment(last.at),
            above,
            attributes,
            str(failed["code"]) if isinstance(failed, Mapping) else None,
        )

    def _agent(self, entry: Entry) -> Span:
        name = self._agents[entry.of]
        about: dict[str, Value] = {genai.AGENT: name}
        if isinstance(adhered := entry.data.get("adhered"), bool):
            about[genai.ADHERED] = adhered
        title = f"{genai.INVOKE_AGENT} {name}"
        return self._made(entry, genai.INVOKE_AGENT, title, "AGENT", about, entry.of)

    def _plan(self, entry: Entry) -> dict[str, Value]:
        planned = self._result(entry)
        if not isinstance(planned, Mapping):
            return {}
        return {
            "steward.plan.made_by": str(planned.get("made_by")),
            "steward.plan.repaired": bool(planned.get("repaired")),
            "steward.plan.problems": len(planned.get("problems") or ()),
            "steward.plan.steps": len(planned.get("plan", {}).get("steps") or ()),
        }

    def _model(self, entry: Entry, request: Mapping[str, Any]) -> Span:
        answer = self._result(entry)
        known: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {}
        provider, _, model = str(known.get("model", "")).partition(":")
        usage = known.get("usage") or {}
        cached = usage.get("cache_read_tokens", 0)
        about: dict[str, Value] = {genai.MODEL: model, genai.PROVIDER: provider}
        read, written = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
        about |= {genai.INPUT_TOKENS: read, genai.OUTPUT_TOKENS: written}
        about |= {genai.PROMPT_COUNT: read, genai.COMPLETION_COUNT: written}
        if cached:
            about[genai.CACHE_READ_TOKENS] = cached
        if usage.get("cost") is not None:
            about[genai.COST] = float(usage["cost"])
        if self._content:
            about[genai.INPUT] = _spelled(request["messages"])
            about[genai.OUTPUT] = _spelled(known.get("parts"))
        about["steward.role"] = str(request["role"])
        return self._made(entry, genai.CHAT, f"{genai.CHAT} {model}".strip(), "LLM", about)

    def _tool(self, entry: Entry, request: Mapping[str, Any]) -> Span:
        tool = str(request["tool"])
        about: dict[str, Value] = {genai.TOOL: tool, genai.CALL: entry.key}
        if connector := connector_of(tool, request.get("arguments")):
            about[genai.CONNECTION] = connector
        result = self._result(entry)
        cost = _cost(result)
        if cost:
            about[genai.COST] = cost
        if _changed(result):
            about[genai.CHANGES] = 1
        refused = _refusal(tool, result)
        if refused:
            about[genai.STATUS] = refused
        if self._content:
            about[genai.ARGUMENTS] = _spelled(request["arguments"])
            about[genai.RESULT] = _spelled(result)
        name = f"{genai.EXECUTE_TOOL} {tool}"
        made = self._made(entry, genai.EXECUTE_TOOL, name, "TOOL", about)
        code = f"http-{refused}" if refused else _failure(result).get("code")
        if code is None or made.error is not None:
            return made
        return replace(made, error=code, attributes={**made.attributes, genai.ERROR: code})

    def _made(
        self,
        entry: Entry,
        operation: str,
        name: str,
        kind: str,
        about: Mapping[str, Value],
        key: str | None = None,
    ) -> Span:
        key = key or entry.key
        error = entry.data.get("error")
        code = str(error.get("code")) if isinstance(error, Mapping) else None
        attributes: dict[str, Value] = {genai.OPERATION: operation, genai.KIND: kind, **about}
        attributes[genai.ABOUT] = entry.of
        if code is not None:
            attributes[genai.ERROR] = code
        start = self._began.get(entry.of, _moment(entry.at))
        return Span(
            self._root,
            f"{self._run.id}:{key}",
            name,
            min(start, _moment(entry.at)),
            _moment(entry.at),
            f"{self._run.id}:{self._above(key)}",
            attributes,
            code,
        )

    def _above(self, key: str) -> str:
        """The agent in whose step it happened, else the run."""
        parts = key.split("/")
        for size in range(len(parts) - 1, 0, -1):
            above = "/".join(parts[:size])
            if above in self._agents:
                return above
        return _RUN

    def _result(self, entry: Entry) -> Json:
        return self._payload(entry.data["result"]) if "result" in entry.data else None


def _tool_begun(entry: Entry) -> str | None:
    """The tool of a call that was allowed or has begun; None where it waits for a person or was refused."""
    request, planned = entry.data.get("request"), entry.data.get("result")
    if not isinstance(request, Mapping) or not isinstance(request.get("tool"), str):
        return None
    if entry.type == EntryType.call_planned:
        decision = planned.get("decision") if isinstance(planned, Mapping) else None
        if (
            not isinstance(decision, Mapping)
            or decision.get("outcome") != PolicyVerdict.allow.value
        ):
            return None
    return None if request["tool"] == ASK_HUMAN else str(request["tool"])


def _cost(result: Json) -> float:
    """Dollars of a call, by its own account."""
    cost = result.get("cost") if isinstance(result, Mapping) else None
    return float(cost.get("usd") or 0) if isinstance(cost, Mapping) else 0.0


def _changed(result: Json) -> bool:
    """Whether a call changed something that can be undone."""
    return isinstance(result, Mapping) and bool(
        result.get("commits") or result.get("inverse") is not None
    )


def _refusal(tool: str, result: Json) -> int:
    """The status with which a service outside refused a call or failed; 0 where it did not."""
    if (failure := _failure(result)) and failure["status"]:
        return int(failure["status"])
    value = result.get("value") if isinstance(result, Mapping) and connector_of(tool) else None
    if not isinstance(value, Mapping) or value.get("failed") is not True:
        return 0
    status = value.get("status")
    return status if isinstance(status, int) else 0


def _failure(result: Json) -> Mapping[str, Any]:
    """What the record says of a call whose service answered with an error; journals of earlier releases do not."""
    return result.get("failure") or {} if isinstance(result, Mapping) else {}


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _spelled(value: Json) -> str:
    return json.dumps(redact(value), ensure_ascii=False)
