"""A chat turn as a run: context, plan, review, steps, answer; every request and every call is a step of its journal."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from steward.agents.asking.reading import Asked
from steward.agents.asking.results import checked_result
from steward.agents.asking.wording import Words
from steward.agents.chat.context import Contexts
from steward.agents.chat.threads import CHAT_PROGRAM
from steward.agents.explaining.amounts import amounts_of
from steward.agents.explaining.explainer import Answer, Explainer, Work
from steward.agents.explaining.written_values import Writing
from steward.agents.operating.agent_nodes import Around, Hands
from steward.agents.operating.job import Done
from steward.agents.operating.model_requests import PaidDesk
from steward.agents.operating.operator import VIOLATION
from steward.agents.operating.result_views import without_values
from steward.agents.planning.plan import Plan, Planned
from steward.agents.planning.plan_checks import Catalogue, PlanRefused, check_plan
from steward.agents.planning.plan_flow import as_flow, changes_something, without
from steward.agents.planning.plan_measures import Turned
from steward.agents.planning.planner import Planner, Task
from steward.agents.planning.question_check import asked_of_plan, is_unchecked
from steward.agents.planning.suggestions import after_a_model, next_messages
from steward.broker import Broker, Labelled, Risk, nonce_for, untrusted
from steward.definitions import Definitions
from steward.runs import EntryType, Execution, Json, Runs, Status, StepFailed, plan_prefix

MOST_PLANS: Final = 2
"""A plan that fails is made again once, knowing what went wrong."""
_FINAL: Final = frozenset(
    {
        *("rejected", "expired", "given-up", "withdrawn", "budget-exceeded", "too-many-steps"),
        *("denied", "no-model", "plan-rejected", "guardrail"),
    }
)
"""Another plan would end the same way, or somebody decided against it."""
_MODEL_FAILED: Final = "model-"
"""How codes of failures begin that a model or its server is the cause of."""
_SCHEMA: Final = "schema of the datasets"

RunGraph = Callable[[Execution, Json, str, Callable[..., Awaitable[Labelled]]], Awaitable[Any]]
"""Runs a flow's document inside a run: execution, document, prefix of its keys, what runs its agents."""


class Turns:
    """The program `chat`."""

    def __init__(
        self,
        broker: Broker,
        contexts: Contexts,
        planner: Planner,
        hands: Hands,
        explainer: Explainer,
        desk: PaidDesk,
        run_graph: RunGraph,
        nonce_key: bytes,
        count: Callable[[Turned], None] = lambda _: None,
    ) -> None:
        """`count` is told of each turn that ends, once."""
        self._broker = broker
        self._contexts = contexts
        self._planner = planner
        self._hands = hands
        self._explainer = explainer
        self._desk = desk
        self._run_graph = run_graph
        self._nonce_key = nonce_key
        self._count = count

    def register(self, runs: Runs) -> None:
        runs.programs[CHAT_PROGRAM] = self.program

    async def program(self, execution: Execution) -> Json:
        await self._broker.begin(execution)
        turn = await self._begun(execution)
        try:
            output = await self._carried_out(turn)
        finally:
            await self._desk.forget(execution)
        if turn.failure is not None:
            raise turn.failure
        return output

    async def _begun(self, execution: Execution) -> "_Turn":
        document, grant = execution.request.document, execution.request.grant
        now = await execution.now("moment")

        async def gather() -> Json:
            found = await asyncio.to_thread(self._contexts.gather, execution.run, document, grant)
            # Recorded, so that a journal replays where other keys are.
            nonce = nonce_for(execution.run.id, self._nonce_key)
            return {**found, "nonce": nonce, "marks_errors": True}

        asked = {"parent": document.get("parent"), "mentions": document.get("mentions", [])}
        context = await execution.step(
            "context", asked, gather, type=EntryType.context_gathered, interruptible=True
        )
        return _Turn(
            execution=execution,
            document=document,
            models=context["models"],
            marks_errors=context.get("marks_errors", False),
            catalogue=self._contexts.catalogue(context, grant),
            task=Task.of(document, context, today=now.date(), nonce=context["nonce"]),
            messages=tuple(said["message"] for said in context["history"]),
            # Recorded turns from before definitions have none.
            definitions=Definitions.model_validate(context.get("definitions") or {}),
        )

    async def _carried_out(self, turn: "_Turn") -> Json:
        for branch in range(1, MOST_PLANS + 1):
            turn.branch, turn.done = branch, {}
            planned = await self._planned(turn)
            if planned.asked is not None and planned.asked.status != "fact":
                # There is a question back; nothing runs that could be taken for an answer.
                turn.plan, turn.failure = planned.plan, None
                break
            try:
                turn.plan = await self._reviewed(turn, planned)
                await self._run_graph(
                    turn.execution,
                    as_flow(turn.plan, turn.risks),
                    plan_prefix(branch),
                    self._agents_of(turn),
                )
            except StepFailed as failure:
                turn.failure = failure
                if failure.code in _FINAL or branch == MOST_PLANS:
                    break
                turn.began = bool(turn.done)
                turn.task = replace(turn.task, failed=_what_failed(turn, failure))
                await turn.execution.note(
                    f"plan/{branch}/failed",
                    {"code": failure.code, "message": failure.message},
                    type=EntryType.plan_failed,
                    of=f"plan/{branch}",
                )
            else:
                turn.failure = None
                break
        return await self._answered(turn)

    # The plan

    async def _planned(self, turn: "_Turn") -> Planned:
        key = f"plan/{turn.branch}"
        began = time.perf_counter()
        found = await self._without_models(turn) or await self._planner.plan(
            turn.execution, key, turn.task, turn.catalogue, use_model=turn.models["planner"]
        )
        repeats = turn.branch > 1 and found.plan.steps == turn.planned[-1].plan.steps
        if repeats and found.made_by == "model":
            # What failed would fail again the same way.
            told = "The model proposed the plan that had just failed."
            found = await self._planner.instead(turn.task, turn.catalogue, told) or found

        if found.asked is None and found.made_by == "model":
            compared = await asyncio.to_thread(asked_of_plan, turn.task, found.plan, turn.catalogue)
            found = found.model_copy(update={"asked": compared})

        async def made() -> Json:
            turn.seconds.append(time.perf_counter() - began)
            return found.to_json()

        asked = {"branch": turn.branch}
        recorded = await turn.execution.step(key, asked, made, type=EntryType.plan_made)
        planned = Planned.model_validate(recorded)
        turn.planned.append(planned)
        return planned

    async def _without_models(self, turn: "_Turn") -> Planned | None:
        """Where a step failed because its model did not answer, and nothing was done yet: rules may do without."""
        failure = turn.failure
        if failure is None or turn.began or not failure.code.startswith(_MODEL_FAILED):
            return None
        return await self._planner.instead(turn.task, turn.catalogue, failure.message)

    async def _reviewed(self, turn: "_Turn", planned: Planned) -> Plan:
        """The plan as a person lets it run; StepFailed when they do not."""
        plan, problems = planned.plan, [""]
        turn.plan = plan
        turn.trusted_plan = planned.made_by != "model"
        if not _needs_review(turn.document.get("review", "changes"), plan, turn.risks):
            return plan
        for attempt in range(1, 20):
            key = f"plan/{turn.branch}/review"
            answer = await turn.execution.wait(
                key if attempt == 1 else f"{key}/{attempt}",
                {
                    "kind": "plan",
                    "plan": plan.to_json(),
                    "reason": _review_reason(plan, turn.risks),
                    "problems": [each for each in problems if each],
                },
                status=Status.waiting_for_approval,
                reason=f"Look at the plan: {plan.goal}"[:200],
            )
            chosen, problems = _chosen(answer, plan, turn.catalogue)
            if chosen is not None:
                turn.trusted_plan = True
                return chosen
            if not problems:
                break
        raise StepFailed(f"plan/{turn.branch}", "plan-rejected", "The plan was not approved.")

    # Its steps

    def _agents_of(self, turn: "_Turn") -> Callable[..., Awaitable[Labelled]]:
        around = Around(
            trusted=(turn.task.message, *turn.messages, *_plan_words(turn)),
            names=_names(turn.catalogue),
            arguments_trusted=turn.trusted_plan,
            suspect=((" ".join(_names(turn.catalogue)), untrusted(_SCHEMA)),),
            allow_rows=turn.task.may_see_rows,
            task=f"The person asked: {turn.task.message}\nThe plan's goal: {turn.plan.goal}",
            earlier=lambda: [made for done in turn.done.values() for made in done.made],
        )

        async def run(
            execution: Execution, key: str, asked: Json, labels: Mapping[str, Any]
        ) -> Labelled:
            done = await self._hands.work(execution, key, asked, labels, around)
            turn.done[key.rpartition("/")[2]] = done
            value = {"summary": done.to_json()["summary"], "text": done.text, "value": done.value}
            if len(done.results) > 1:
                # Who works on this step's result works on all that it found, not on what it found last.
                value["earlier"] = [found.value for _, _, found in done.results[:-1]]
            return Labelled(value, done.labels, value["summary"], key=key)

        return run

    # The answer

    async def _answered(self, turn: "_Turn") -> Json:
        plan = turn.plan
        work = Work(
            message=turn.task.message,
            plan=plan,
            done=[(step.title, turn.done[step.id]) for step in plan if step.id in turn.done],
            planned_by_model=turn.planned[-1].made_by == "model",
            problem=turn.failure.message if turn.failure is not None else "",
            marks_problem=turn.marks_errors,
            writing=Writing(turn.task.locale, amounts_of(plan, turn.catalogue)),
            asked=turn.asked,
            definitions=turn.definitions,
            datasets=tuple(turn.catalogue.datasets.values()),
            spellings=_spellings(turn),
            is_unchecked=turn.asked is None
            and turn.planned[-1].made_by == "model"
            and is_unchecked(plan),
        )
        turn.looked_at = checked_result(turn.asked, work.answered, turn.catalogue.world)
        work = replace(work, asked=turn.looked_at)
        answer = await self._explainer.explain(
            turn.execution,
            work,
            turn.task.nonce,
            has_model=turn.models["explainer"] and _is_worth_asking(turn),
            allow_rows=turn.task.may_see_rows,
        )
        output = _output(turn, answer)

        async def made() -> Json:
            self._count(_turned(turn, output))
            return {**output, "suggestions": await asyncio.to_thread(_suggested, turn)}

        # Recorded by itself: a turn that failed has an answer too.
        return await turn.execution.step("answer", {}, made, type=EntryType.answer_given)


@dataclass
class _Turn:
    """One turn on its way."""

    execution: Execution
    document: Mapping[str, Json]
    models: Mapping[str, bool]
    marks_errors: bool
    """Whether the explainer is shown errors as what others may have written, as this journal began."""
    catalogue: Catalogue
    task: Task
    messages: tuple[str, ...]
    branch: int = 0
    plan: Plan = field(init=False)
    trusted_plan: bool = False
    planned: list[Planned] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """What planning took, as far as it was done in this pass."""
    done: dict[str, Done] = field(default_factory=dict)
    began: bool = False
    """Whether the plan that failed had done something."""
    failure: StepFailed | None = None
    looked_at: Asked | None = None
    """What the question was taken to ask, with what the rows of the result show to be wrong."""
    definitions: Definitions = field(default_factory=Definitions)

    @property
    def asked(self) -> Asked | None:
        """What the question was taken to ask, as the plan that counts says."""
        return self.planned[-1].asked

    @property
    def risks(self) -> Mapping[str, Risk]:
        return {name: facts.risk for name, facts in self.catalogue.tools.items()}


def _needs_review(review: str, plan: Plan, risks: Mapping[str, Risk]) -> bool:
    if review == "always":
        return True
    return review == "changes" and any(changes_something(step, risks) for step in plan)


def _review_reason(plan: Plan, risks: Mapping[str, Risk]) -> str:
    changing = [step.title for step in plan if changes_something(step, risks)]
    if not changing:
        return "Every plan of this thread is looked at before it runs."
    return f"It would change or send something: {'; '.join(changing)}."


def _chosen(answer: Json, plan: Plan, catalogue: Catalogue) -> tuple[Plan | None, list[str]]:
    """The plan that a person decided for, or what is wrong with their own; neither when they declined."""
    match answer.get("decision"):
        case "approve":
            return without(plan, [str(each) for each in answer.get("skip") or ()]), []
        case "change":
            try:
                return check_plan(answer.get("plan"), catalogue), []
            except PlanRefused as refused:
                return None, [f"{each.pointer or '/'}: {each.message}" for each in refused.problems]
        case _:
            return None, []


def _plan_words(turn: _Turn) -> tuple[str, ...]:
    """What a person approved counts as their own words."""
    if not turn.trusted_plan:
        return ()
    return tuple(str(value) for step in turn.plan for value in step.arguments.values())


def _names(catalogue: Catalogue) -> tuple[str, ...]:
    """What a planner was shown besides the person's words: names that others gave."""
    return tuple(
        name for facts in catalogue.datasets.values() for name in (facts.name, *facts.names)
    )


def _what_failed(turn: _Turn, failure: StepFailed) -> str:
    told = [
        f"{step.id} ({', '.join(step.allowed)}): done" for step in turn.plan if step.id in turn.done
    ]
    missing = [
        f"{step.id} ({', '.join(step.allowed)}): not done"
        for step in turn.plan
        if step.id not in turn.done
    ]
    why = failure.message if turn.task.may_see_rows else without_values(failure.message)
    return "; ".join([*told, *missing, f"error: {why}"])


def _is_worth_asking(turn: _Turn) -> bool:
    """A budget that is used up, or a plan that somebody declined, needs no model to tell of it.

    And where nothing was found there is nothing to tell: a model would tell of results all the same.
    """
    stopped = {"budget-exceeded", "too-many-steps", "plan-rejected"}
    if turn.failure is None:
        return True
    return turn.failure.code not in stopped and any(done.results for done in turn.done.values())


def _turned(turn: _Turn, output: Json) -> Turned:
    return Turned(
        planner_seconds=tuple(turn.seconds),
        plans=len(turn.planned),
        by_model=sum(each.made_by == "model" for each in turn.planned),
        repaired=sum(each.repaired for each in turn.planned),
        fallback=sum(each.made_by == "fallback" for each in turn.planned),
        problems=sum(bool(each.problems) for each in turn.planned),
        deviations=tuple(each["kind"] for each in output["deviations"]),
        adherence=output["adherence"],
        completed=turn.failure is None,
        figures=len(output["figures"]),
        unsourced=sum(each["source"] is None for each in output["figures"]),
    )


def _suggested(turn: _Turn) -> Json:
    """What could be said next, from what was done and from the statistics of the datasets, whoever planned this."""
    if turn.failure is not None or (turn.asked is not None and turn.asked.status != "fact"):
        return []
    if turn.planned[-1].made_by != "model":
        return next_messages(turn.task, turn.catalogue, turn.plan)
    return after_a_model(
        turn.task,
        turn.catalogue,
        turn.plan,
        " ".join(_worked_on(turn)),
        changed=any(done.made for done in turn.done.values()),
    )


def _worked_on(turn: _Turn) -> Iterator[str]:
    """Where the names of the datasets stand that a plan of a model worked on."""
    yield from turn.document.get("mentions", ())
    for step in turn.plan:
        yield str(step.arguments)
    for done in turn.done.values():
        yield from (str(made.arguments) for made in done.made)
        yield from (str(found.labels) for _, _, found in done.results)


def _output(turn: _Turn, answer: Answer) -> Json:
    deviations = [
        {"step": name, **deviation}
        for name, done in turn.done.items()
        for deviation in done.deviations
    ]
    judged = [done.adhered for done in turn.done.values() if done.adhered is not None]
    if turn.failure is not None and turn.failure.code == VIOLATION:
        judged.append(False)
    results = [result for done in turn.done.values() for result in done.results]
    return {
        "answer": answer.text,
        "figures": [figure.to_json() for figure in answer.figures],
        "by_model": answer.by_model,
        "plan": turn.planned[-1].to_json(),
        "plans": len(turn.planned),
        "steps": [_step_output(turn, step.id) for step in turn.plan],
        "deviations": deviations,
        "adherence": round(sum(judged) / len(judged), 4) if judged else None,
        "artifacts": [item for _, _, found in results for item in found.artifacts],
        "model": any(turn.models.values()),
        "reading": _told_reading(turn),
        "chart": answer.chart,
    }


def _told_reading(turn: _Turn) -> Json:
    asked = turn.looked_at or turn.asked
    if asked is None:
        return None
    words = Words(turn.definitions, Writing(turn.task.locale))
    return words.told(asked).model_dump(mode="json")


def _spellings(turn: _Turn) -> dict[str, int]:
    reading = turn.asked.reading if turn.asked is not None else None
    facts = turn.catalogue.datasets.get(reading.table) if reading is not None else None
    return {each.name: each.spellings for each in facts.columns} if facts is not None else {}


def _step_output(turn: _Turn, step_id: str) -> Json:
    step, done = turn.plan.step(step_id), turn.done.get(step_id)
    told: dict[str, Any] = done.to_json() if done is not None else {}
    return {
        "id": step.id,
        "title": step.title,
        "agent": step.agent,
        "status": "done" if done is not None else "failed" if turn.failure else "skipped",
        "summary": told.get("summary", ""),
        "calls": told.get("calls", []),
        "adhered": told.get("adhered"),
    }
