"""What a chat turn waits for, answered at the prompt: plans, approvals, questions, budgets, effects in doubt."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from steward.app import Steward
from steward.broker import BUDGET, PLAN, QUESTION, UNCERTAIN, Approval, Budget, Verdict, Waiting
from steward.cli.output import plain
from steward.cli.terminal_questions import NobodyThere, agrees, filled, said
from steward.cli.waits import described
from steward.core import Invalid, StewardError
from steward.identity import Access

_UNITS: Final = {"usd": "dollars"}
_UNCERTAIN: Final = {"h": "happened", "r": "retry", "g": "give_up"}
_LONGEST: Final = 2_000


@dataclass
class Answers:
    """The person at the terminal."""

    steward: Steward
    access: Access
    tell: Callable[[str], None]
    yes: bool
    """Whether plans and approvals are agreed to beforehand; questions and money are not."""
    asks: bool
    """Whether somebody is there to be asked."""

    def answered(self, waiting: Waiting) -> bool:
        """Whether it was answered; not where nobody is there."""
        try:
            return self._answered(waiting)
        except NobodyThere:
            return False

    def _answered(self, waiting: Waiting) -> bool:
        if waiting.approval is not None:
            return self._approved(waiting, waiting.approval)
        given = self._given(waiting)
        if given is None:
            return False
        try:
            inbox = self.steward.governing.inbox
            inbox.answer(self.access, waiting.run_id, waiting.key, given[0])
        except StewardError as refused:
            # Somebody else was faster, or it was too late: the run says what comes next.
            self.tell(refused.message)
        return True

    def _given(self, waiting: Waiting) -> tuple[Any] | None:
        """The answer, in a tuple since it may be anything; None where nobody answers."""
        request = waiting.request
        if waiting.kind == PLAN:
            self.tell("\n".join([request["reason"], *request.get("problems", ())]))
            decided = self._agrees("Run this plan?")
            return None if decided is None else ({"decision": _word(decided)},)
        if waiting.kind == "gate":
            return self._gate(waiting)
        if not self.asks:
            return None
        if waiting.kind == QUESTION:
            self.tell("\n".join(part for part in _question(request) if part))
            return (filled(request.get("form") or request.get("answer") or {"type": "string"}),)
        if waiting.kind == BUDGET:
            return (self._budget(request["breach"]),)
        if waiting.kind == UNCERTAIN:
            return (self._uncertain(request),)
        return None

    def _gate(self, waiting: Waiting) -> tuple[Any] | None:
        self.tell(described(waiting))
        decided = self._agrees("Approve?")
        if decided is None:
            return None
        return ({"decision": _word(decided), "body_hash": waiting.request["body_hash"]},)

    def _approved(self, waiting: Waiting, approval: Approval) -> bool:
        self.tell(described(waiting))
        decided = self._agrees("Approve?")
        if decided is None:
            return False
        verdict = Verdict(decided, approval.body_hash, "" if decided else "Not approved.")
        try:
            asyncio.run(self.steward.governing.deciding.decide(self.access, approval.id, verdict))
        except StewardError as refused:
            self.tell(refused.message)
        return True

    def _budget(self, breach: dict[str, Any]) -> dict[str, Any]:
        """A limit above the present one, or an end."""
        self.tell(breach["message"])
        if "budget_id" in breach:
            again = said("Try again (Enter), or n ends it:")
            return {"decision": "abort" if again.casefold() in {"n", "no"} else "raise"}
        limit, total = breach["limit"], Decimal(breach["total"])
        more = total + (Decimal(breach["asked"]) or total or 1)
        unit = _UNITS.get(limit, limit)
        while True:
            answer = said(f"New limit in {unit} (Enter: {more.normalize():f}; n ends it):")
            if answer.casefold() in {"n", "no"}:
                return {"decision": "abort"}
            try:
                wanted = Decimal(answer.replace(",", "")) if answer else more
                if wanted > total:
                    Budget.parse({limit: f"{wanted:f}"})
                    return {"decision": "raise", "limits": {limit: f"{wanted:f}"}}
            except (InvalidOperation, ValueError, Invalid):
                pass
            self.tell(f"A number of {unit} above {total.normalize():f}, or n.")

    def _uncertain(self, request: dict[str, Any]) -> dict[str, Any]:
        self.tell(
            "Steward was interrupted while it did this and cannot find out whether it happened. Look at the other "
            f"side first.\n{str(request.get('request', ''))[:_LONGEST]}"
        )
        while True:
            answer = said("(h)appened, (r)etry, or (g)ive up:").casefold()[:1]
            if answer in _UNCERTAIN:
                return {"decision": _UNCERTAIN[answer]}

    def _agrees(self, question: str) -> bool | None:
        """None where nobody can be asked."""
        if self.yes:
            return True
        return agrees(question) if self.asks else None


def _word(decided: bool) -> str:
    return "approve" if decided else "reject"


def _question(request: dict[str, Any]) -> tuple[str, str, str]:
    wrong = f"The last answer did not fit: {request['wrong']}" if request.get("wrong") else ""
    return plain(str(request.get("question", ""))), str(request.get("details", "")), wrong
