"""Rehearsals: runs that test a flow. Nothing leaves, nothing is spent, nothing is changed but a branch of the data."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from steward.broker.labels import Labels
from steward.broker.plans import Plan, cost_to_json
from steward.broker.policy_text import PolicyVerdict
from steward.broker.tool import Cost, Risk, Tool
from steward.runs import Json

_COUNTS: Final = re.compile(r"\[\d+\]|#\d+|~\d+")
SOURCE: Final = "a test"


@dataclass(frozen=True)
class Rehearsal:
    """What a test run does instead of the real thing; part of its grant, so that the broker enforces it."""

    mocks: Mapping[str, Json] = field(default_factory=dict)
    """Outputs by node, written by hand: they always stand in for the node."""
    recorded: Mapping[str, Json] = field(default_factory=dict)
    """Outputs by node from a past run: they stand in where a test does nothing real."""
    breakpoints: frozenset[str] = frozenset()
    """Nodes before which the run pauses."""
    spend: bool = False
    """Whether agents may ask models."""
    ask: bool = False
    """Whether people are asked; otherwise the test answers for them."""

    def to_json(self) -> Json:
        return {
            "mocks": dict(self.mocks),
            "recorded": dict(self.recorded),
            "breakpoints": sorted(self.breakpoints),
            "spend": self.spend,
            "ask": self.ask,
        }

    @classmethod
    def of(cls, grant: Json) -> "Rehearsal | None":
        given = grant.get("test") if isinstance(grant, dict) else None
        if not isinstance(given, dict):
            return None
        return cls(
            mocks=given.get("mocks", {}),
            recorded=given.get("recorded", {}),
            breakpoints=frozenset(given.get("breakpoints", ())),
            spend=given.get("spend") is True,
            ask=given.get("ask") is True,
        )

    @classmethod
    def answer(cls, grant: Json, key: str) -> tuple[bool, Json]:
        """Whether a past run knows what somebody answered at the node of this key, and what."""
        found = cls.of(grant)
        return (False, None) if found is None else found.record(key)

    def mock(self, key: str) -> tuple[bool, Json]:
        """Whether somebody wrote an output for the node of this key, and which."""
        return _found(self.mocks, key)

    def record(self, key: str) -> tuple[bool, Json]:
        """Whether a past run knows an output of the node of this key, and which."""
        return _found(self.recorded, key)

    def pauses_before(self, key: str) -> bool:
        return plain_path(key) in self.breakpoints


def plain_path(key: str) -> str:
    """The node of a key, whichever item, turn or try it was: `each[3]/send~2` is `each/send`."""
    return _COUNTS.sub("", key)


def _found(where: Mapping[str, Json], key: str) -> tuple[bool, Json]:
    for name in (key, plain_path(key)):
        if name in where:
            return True, where[name]
    return False, None


def happens(tool: Tool[Any], plan: Plan) -> bool:
    """Whether a test makes the call for real: it reads, or changes nothing but the branch of the test."""
    if plan.decision["outcome"] == PolicyVerdict.ask.value or tool.direct_only:
        return False
    if tool.beyond_data or tool.undo is not None:
        return False
    effects = tool.effects
    return tool.risk.at_most(Risk.write) and not effects.network and not effects.spends


def stood_in(tool: Tool[Any], plan: Plan, value: Json) -> Json:
    """The outcome of a call that a test did not make."""
    preview = plan.preview.get("summary") if isinstance(plan.preview, dict) else None
    return {
        "value": value,
        "summary": f"Not done in a test: {preview or tool.title}",
        "artifacts": [],
        "commits": [],
        "inverse": None,
        "labels": Labels((SOURCE,)).to_json(),
        "cost": cost_to_json(Cost()),
    }
