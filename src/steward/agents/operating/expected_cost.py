"""What the work of an agent will cost before any run tells: from the size of what it is told and the price of its model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from steward.agents.operating.agent_nodes import Hands
from steward.agents.operating.equipment import Equipment, tools_and_skill
from steward.agents.operating.job import Job
from steward.agents.operating.model_requests import (
    CHARACTERS_PER_TOKEN,
    LONG_ANSWER,
    USUAL_ANSWER,
    tokens_read,
)
from steward.agents.operating.operator import opening
from steward.agents.skills import Skills
from steward.broker import MOST_BYTES, Toolbox
from steward.core import Invalid, NotFound
from steward.models import Asking, ModelDesk, Role
from steward.runs import Json
from steward.store import Scope

_RESULT: Final = MOST_BYTES // CHARACTERS_PER_TOKEN
"""Tokens of a result of a tool, or of a value that is put in, at most."""
_NONCE: Final = "0" * 16
_COMPUTED: Final = "${"


@dataclass(frozen=True)
class ExpectedCost:
    """What one piece of work uses: at least what one answer takes, at most what its limits allow."""

    tokens: int
    most_tokens: int
    usd: Decimal | None
    """None where no price is known."""
    most_usd: Decimal | None
    rests_on: str
    shares: Mapping[str, float] = field(default_factory=dict)
    """Which agents do it, each with how much of it they use."""


@dataclass(frozen=True)
class _Use:
    """Tokens that a model reads and writes."""

    read: int
    written: int

    @property
    def tokens(self) -> int:
        return self.read + self.written


class AgentCosts:
    def __init__(self, desk: ModelDesk, hands: Hands, tools: Toolbox, skills: Skills) -> None:
        self._desk = desk
        self._hands = hands
        self._tools = tools
        self._skills = skills

    def expected(self, scope: Scope, asked: Json) -> ExpectedCost | None:
        """Of what a node asks an agent; None where no model is asked, or nothing of it is known."""
        try:
            jobs = self._hands.jobs(scope, asked)
            found = [
                (self._of_job(scope, job, asked), job.agent.name, always) for job, always in jobs
            ]
        except (Invalid, NotFound):
            # What is wrong with it is said where the flow is checked.
            return None
        named = [(each, name, always) for each, name, always in found if each is not None]
        if not named:
            return None
        works = [(each, always) for each, _, always in named]
        first = works[0][0]
        unknown = next((each for each, _ in works if each.most_usd is None), None)
        return ExpectedCost(
            sum(each.tokens for each, always in works if always),
            sum(each.most_tokens for each, _ in works),
            None
            if unknown
            else sum(each.usd or 0 for each, always in works if always) + Decimal(0),
            None if unknown else sum(each.most_usd or 0 for each, _ in works) + Decimal(0),
            (unknown or first).rests_on,
            _shares(named),
        )

    def _of_job(self, scope: Scope, job: Job, asked: Json) -> ExpectedCost | None:
        found = tools_and_skill(scope, self._tools, self._skills, job)
        has = Equipment(**{**found, "model": True, "nonce": _NONCE})
        if job.must_call and has.is_ready(job.step, job.step.tools[0]):
            # The tool is called as it is written; no model is asked.
            return None
        specs = [has.spec(name) for name in job.step.tools if has.knows(name)]
        read = tokens_read(opening(job, has), specs)
        least, most = _uses(job, read, _put_in(asked))
        limit = job.limit
        models = self._quoted(scope, job, least, most)
        most_tokens = most.tokens
        if limit is not None and limit.tokens is not None:
            most_tokens = min(most_tokens, limit.tokens)
        least_tokens = min(least.tokens, most_tokens)
        if not models:
            told = "No model is set up for this step, so its price is not known."
            return ExpectedCost(least_tokens, most_tokens, None, None, told)
        name, usd, most_usd = models[0]
        if usd is None or most_usd is None:
            told = f"No price is known for the model {name}."
            return ExpectedCost(least_tokens, most_tokens, None, None, told)
        most_usd = max(each for _, _, each in models if each is not None)
        if limit is not None and limit.usd is not None:
            most_usd = min(most_usd, limit.usd)
        if most_tokens < most.tokens:
            most_usd = most_usd * most_tokens / most.tokens
        told = (
            "No runs yet. Estimated from the size of its instructions, inputs and tools, and the price of the model "
            f"{name}."
        )
        return ExpectedCost(least_tokens, most_tokens, min(usd, most_usd), most_usd, told)

    def _quoted(
        self, scope: Scope, job: Job, least: _Use, most: _Use
    ) -> Sequence[tuple[str, Decimal | None, Decimal | None]]:
        role, asking = Role(job.agent.role), Asking(model=job.agent.model)
        low = self._desk.quotes(scope, role, asking, least.read, least.written)
        high = self._desk.quotes(scope, role, asking, most.read, most.written)
        return [(name, usd, dear) for (name, usd), (_, dear) in zip(low, high, strict=True)]


def _uses(job: Job, read: int, put_in: int) -> tuple[_Use, _Use]:
    """Tokens at least and at most: a conversation is read again with every request, and every result makes it longer."""
    limit = job.limit.tokens if job.limit is not None else None
    longest = limit or job.step.budget.tokens
    usual = min(USUAL_ANSWER, longest or USUAL_ANSWER)
    written = min(longest or LONG_ANSWER, LONG_ANSWER) if job.step.tools else longest or LONG_ANSWER
    # One request for the call and one for the answer where a tool does the work.
    requests = 2 if job.must_call else 1
    least = _Use(requests * read + (requests - 1) * usual, requests * usual)
    calls = job.step.budget.calls if job.step.tools else 0
    longer = calls * (calls + 1) // 2 * (_RESULT + usual)
    most = _Use((calls + 1) * (read + put_in * _RESULT) + longer, (calls + 1) * written)
    return least, most


def _shares(works: Sequence[tuple[ExpectedCost, str, bool]]) -> dict[str, float]:
    """How much each agent uses: those to whom the work may go count for the half of their most."""
    sizes: dict[str, float] = {}
    for each, name, always in works:
        size = ((each.tokens if always else 0) + each.most_tokens) / 2
        sizes[name] = sizes.get(name, 0.0) + size
    total = sum(sizes.values())
    return {name: size / total for name, size in sizes.items()} if total else {}


def _put_in(asked: Json) -> int:
    """How many values are put into what the agent is told, whose size only a run knows."""
    return sum(str(asked.get(name)).count(_COMPUTED) for name in ("instructions", "context"))
