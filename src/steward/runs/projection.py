"""One projection of journals: everything that is shown of a run comes from here, and from the types of entries alone.

Chat, run page, dossier, gallery, traces, figures and evaluation read a `Projection`: the calls of a run with what was
asked, decided, approved, done and undone; its plans and how people reviewed them; the steps of plans and how they went;
what was spent; the answer and the end. It can be fed entry by entry, as they are written.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from steward.runs.canonical import Json
from steward.runs.entries import Entry
from steward.runs.entry_types import EntryType

Payload = Callable[[Json], Json]
"""Fetches what was too large for the journal; everything else as it is."""

_ENDS: Final = {
    EntryType.run_done: "done",
    EntryType.run_failed: "failed",
    EntryType.run_cancelled: "cancelled",
}
_UNTOLD: Final = frozenset(
    {EntryType.run_created, EntryType.run_controlled, EntryType.run_checked, EntryType.step_skipped}
).union(_ENDS)
PLAN_REVIEW: Final = "plan"
"""The kind of wait in which a person looks at a plan."""


def plan_prefix(branch: int) -> str:
    """How the keys begin of everything that a plan does; the first plan of a turn is 1."""
    return f"p{branch}/"


def is_within(key: str, outer: str) -> bool:
    """Whether something is the outer thing or a part of it: keys are paths."""
    return key == outer or key.startswith(f"{outer}/")


@dataclass
class Call:
    """One call of a tool, or one wait or step of a flow, from its first entry to its last."""

    key: str
    tool: str | None = None
    state: str = "running"
    began_at: str = ""
    ended_at: str | None = None
    arguments: Json = None
    decision: Json = None
    preview: Json = None
    provenance: Json = None
    approvals: list[Json] = field(default_factory=list)
    waits: list[Json] = field(default_factory=list)
    retries: int = 0
    summary: str = ""
    value: Json = None
    artifacts: list[Json] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    cost: Json = None
    error: Json = None
    undone: bool = False


@dataclass
class Review:
    """A look at a plan by a person: asked for, and answered once `answer` is there."""

    key: str
    at: str
    answer: Json = None
    answered_at: str | None = None


@dataclass
class MadePlan:
    branch: int
    key: str
    at: str
    planned: dict[str, Any]
    reviews: list[Review] = field(default_factory=list)
    failed: Json = None


@dataclass
class PlanStep:
    """A step of a plan and how it went."""

    branch: int
    id: str
    key: str
    title: str
    agent: str
    state: str | None = None
    """Not begun while None; then running, waiting, skipped, or what it ended as."""
    summary: str = ""


@dataclass(frozen=True)
class About:
    """Something that is told of a step: that it ended, or that it left its plan."""

    key: str
    at: str
    step: PlanStep | None
    """The step of a plan; None for an agent that a flow names by itself."""
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Spent:
    """What something took that is no call of a tool, such as a request to a model."""

    cost: dict[str, Any]
    answer: Json
    """What the model answered, if it did."""


class Projection:
    def __init__(self, payload: Payload) -> None:
        self.payload = payload
        self.calls: dict[str, Call] = {}
        """Calls, waits and steps by their keys, in the order in which they began."""
        self.plans: dict[int, MadePlan] = {}
        self.steps: dict[str, PlanStep] = {}
        """The steps of all plans by their keys."""
        self.deviations: list[About] = []
        self.finished: list[About] = []
        self.spent: list[Spent] = []
        self.asked: Mapping[str, Any] = {}
        """The request that the run was started with."""
        self.answer: Json = None
        self.error: Json = None
        self.outcome: dict[str, Any] = {"status": "under way"}
        self._reviews: dict[str, Review] = {}
        self._answers: dict[str, Json] = {}

    def take(self, entry: Entry) -> None:
        """The next entry of the journal."""
        self._take_step(entry)
        self._take_turn(entry)
        match entry.type:
            case EntryType.run_created:
                self.asked = entry.data["request"]
            case EntryType.model_asked:
                self._answers[entry.of] = entry.data.get("result")
            case EntryType.budget_settled:
                cost = entry.data["request"]["cost"]
                self.spent.append(Spent(cost, self._answers.get(entry.of)))
            case EntryType.wait_opened | EntryType.wait_closed:
                self._take_review(entry)
            case EntryType.run_done | EntryType.run_failed | EntryType.run_cancelled:
                self._take_end(entry)
            case _:
                pass
        if entry.type not in _UNTOLD:
            call = self.calls.setdefault(entry.of, Call(entry.of, began_at=entry.at))
            _tell(call, entry, self.payload)

    def _take_turn(self, entry: Entry) -> None:
        """What agents plan, do and say."""
        match entry.type:
            case EntryType.plan_made if "result" in entry.data:
                self._take_plan(entry)
            case EntryType.plan_failed:
                self._latest_plan().failed = entry.data
            case EntryType.step_deviated:
                self.deviations.append(self._about(entry))
            case EntryType.step_finished:
                self.finished.append(self._about(entry))
            case EntryType.answer_given:
                self.answer = self.result(entry)
            case _:
                pass

    def step_of(self, key: str) -> PlanStep | None:
        """The step of a plan in which something happened."""
        while key:
            if key in self.steps:
                return self.steps[key]
            key = key.rpartition("/")[0]
        return None

    def result(self, entry: Entry) -> Json:
        return self.payload(entry.data["result"]) if "result" in entry.data else None

    def _latest_plan(self) -> MadePlan:
        return self.plans[max(self.plans)]

    def _take_plan(self, entry: Entry) -> None:
        branch, planned = int(entry.data["request"]["branch"]), self.result(entry)
        self.plans[branch] = MadePlan(branch, entry.key, entry.at, planned)
        self._take_steps(branch, planned["plan"])

    def _take_steps(self, branch: int, plan: Mapping[str, Any]) -> None:
        for step in plan["steps"]:
            key = f"{plan_prefix(branch)}{step['id']}"
            made = PlanStep(branch, step["id"], key, step["title"], step["agent"])
            self.steps.setdefault(key, made)

    def _take_review(self, entry: Entry) -> None:
        if entry.type == EntryType.wait_closed:
            if (review := self._reviews.get(entry.key)) is not None:
                review.answer, review.answered_at = entry.data["answer"], entry.at
                changed = review.answer.get("plan")
                if review.answer.get("decision") == "change" and isinstance(changed, Mapping):
                    self._take_steps(max(self.plans), changed)
            return
        request = entry.data["request"]
        if isinstance(request, Mapping) and request.get("kind") == PLAN_REVIEW and self.plans:
            review = self._reviews[entry.key] = Review(entry.key, entry.at)
            self._latest_plan().reviews.append(review)

    def _take_step(self, entry: Entry) -> None:
        step = self.step_of(entry.of)
        if step is None or entry.type == EntryType.step_deviated:
            return
        if entry.type == EntryType.step_finished and entry.of == step.key:
            step.state = entry.data.get("status", "done")
            step.summary = entry.data.get("summary", "")
        elif entry.type == EntryType.step_skipped:
            step.state = "skipped"
        elif entry.type == EntryType.wait_opened:
            step.state = "waiting"
        elif step.state in {None, "waiting"}:
            step.state = "running"

    def _take_end(self, entry: Entry) -> None:
        self.outcome = {"status": _ENDS[EntryType(entry.type)], "at": entry.at}
        if entry.type == EntryType.run_failed:
            self.error = self.outcome["error"] = entry.data["error"]
        elif entry.type == EntryType.run_cancelled:
            self.outcome["by"] = entry.data.get("by")

    def _about(self, entry: Entry) -> About:
        return About(entry.of, entry.at, self.step_of(entry.of), entry.data)


def project(entries: Iterable[Entry], payload: Payload) -> Projection:
    """What a whole journal says."""
    found = Projection(payload)
    for entry in entries:
        found.take(entry)
    return found


def calls_of(entries: Iterable[Entry], payload: Payload) -> list[Call]:
    """The calls of a run in the order in which they began."""
    return list(project(entries, payload).calls.values())


def _tell(call: Call, entry: Entry, payload: Payload) -> None:
    data = entry.data
    match entry.type:
        case EntryType.call_planned:
            _tell_plan(call, entry, payload)
        case EntryType.attempt_failed:
            call.retries = data["attempt"]
        case EntryType.wait_opened:
            call.state = "waiting"
            call.waits.append({"key": entry.key, "request": data["request"], "at": entry.at})
        case EntryType.wait_closed:
            call.state = "running"
            _tell_answer(call, entry)
        case EntryType.call_undone:
            call.undone = True
        case EntryType.call_redone:
            call.undone = False
        case EntryType.step_finished:
            call.state, call.ended_at = data.get("status", "done"), entry.at
            call.summary = data.get("summary", "")
        case _ if entry.key == call.key and ("result" in data or "error" in data):
            _tell_outcome(call, entry, payload)
        case _ if "error" in data:
            call.error, call.state, call.ended_at = data["error"], "failed", entry.at
        case _:
            pass


def _tell_plan(call: Call, entry: Entry, payload: Payload) -> None:
    asked = entry.data["request"]
    call.tool, call.arguments = asked["tool"], asked["arguments"]
    if "error" in entry.data:
        call.error, call.state, call.ended_at = entry.data["error"], "failed", entry.at
        return
    plan: dict[str, Any] = payload(entry.data["result"])
    call.decision, call.preview = plan["decision"], plan["preview"]
    call.provenance, call.arguments = plan["provenance"], plan["arguments"]
    if plan["decision"]["outcome"] == "deny":
        call.state, call.ended_at = "denied", entry.at
        call.error = {"code": "denied", "message": plan["decision"]["reason"]}


def _tell_outcome(call: Call, entry: Entry, payload: Payload) -> None:
    call.ended_at = entry.at
    if "error" in entry.data:
        call.error, call.state = entry.data["error"], "failed"
        return
    call.state = "done"
    outcome = payload(entry.data["result"])
    if isinstance(outcome, dict) and {"value", "labels", "cost"} <= outcome.keys():
        call.summary, call.value = outcome["summary"], outcome["value"]
        call.artifacts, call.commits = outcome["artifacts"], outcome["commits"]
        call.cost = outcome["cost"]
        if failure := outcome.get("failure"):
            call.error, call.state = failure, "failed"
    else:
        call.value = outcome


def _tell_answer(call: Call, entry: Entry) -> None:
    answer = entry.data["answer"]
    kind = "wait"
    for wait in call.waits:
        if wait["key"] == entry.key:
            wait["answer"], wait["answered_at"] = answer, entry.at
            kind = wait["request"].get("kind", kind) if isinstance(wait["request"], dict) else kind
    if isinstance(answer, dict) and "approval_id" in answer:
        call.approvals.append({**answer, "at": entry.at})
    if entry.key == call.key or (kind == "question" and call.tool is not None):
        call.state, call.ended_at, call.value = "done", entry.at, answer
    elif isinstance(answer, dict) and (
        answer.get("expired") or answer.get("decision") in {"rejected", "undone"}
    ):
        sent = answer.get("expired") and kind == "undo_window"
        if not sent:
            call.state, call.ended_at = "refused", entry.at
