"""What a model said in conversations, kept as files, and played again on machines without one.

Kept is each answer of the model with a mark of what it was asked. Steward plans, checks and explains anew in every
replay, so the figures are of today's code. Where today's code asks for something else than was asked when the answer
was kept, the answer is played all the same and counted as stale: the model might say something else now.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from steward.core.errors import Misconfigured
from steward.models import Backend, Failed, Lineup, ModelAnswer, OnDelta, Patience, Request, Role
from steward.store import Scope

_NONCE = re.compile(r"[0-9a-f]{12,}")
_TODAY = re.compile(r"Today is [\d-]+")
Spoken = dict[str, Any]
"""One answer: its role, the mark of the request, and the answer or the failure."""


@dataclass(frozen=True)
class Recording:
    """A conversation: for each turn, what the model said, in order."""

    model: str
    in_stages: bool
    turns: list[list[Spoken]]

    @property
    def is_broken(self) -> bool:
        """Whether the model was not reached: then this says nothing about it."""
        failures = [
            each["failed"]["code"] for turn in self.turns for each in turn if "failed" in each
        ]
        return "model-unreachable" in failures

    @classmethod
    def read(cls, path: Path) -> "Recording":
        return cls(**json.loads(path.read_text()))

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(vars(self), ensure_ascii=False, indent=1) + "\n")


def recordings(folder: Path) -> dict[str, Recording]:
    """Those that are kept, by the id of the conversation."""
    return {path.stem: Recording.read(path) for path in sorted(folder.glob("*.json"))}


def mark_of(request: Request) -> str:
    """The same for requests that ask the same: without the run's own mark and the day."""
    text = json.dumps(request.to_json()["messages"], ensure_ascii=False)
    return hashlib.sha256(_TODAY.sub("", _NONCE.sub("", text)).encode()).hexdigest()[:16]


class Recorder:
    """Models whose answers are written down."""

    def __init__(self, models: Lineup) -> None:
        self._models = models
        self._heard: list[Spoken] = []
        self._turns: list[list[Spoken]] = []

    def names(self, scope: Scope | None, role: Role) -> Sequence[str]:
        return self._models.names(scope, role)

    def backends(self, scope: Scope | None, role: Role) -> Sequence[Backend]:
        return [_Heard(each, self._heard) for each in self._models.backends(scope, role)]

    def every(self, scope: Scope | None) -> Sequence[Backend]:
        return [_Heard(each, self._heard) for each in self._models.every(scope)]

    def end_turn(self) -> None:
        self._turns.append(list(self._heard))
        self._heard.clear()

    def recording(self) -> Recording:
        """All turns since the last recording."""
        (backend, *_) = self._models.backends(None, Role.planner)
        found = Recording(backend.model, backend.in_stages, self._turns)
        self._turns = []
        return found


class _Heard:
    """A model that is listened to."""

    def __init__(self, backend: Backend, heard: list[Spoken]) -> None:
        self._backend = backend
        self._heard = heard
        self.model = backend.model
        self.settings = backend.settings
        self.may_see_rows = backend.may_see_rows
        self.in_stages = backend.in_stages
        self.patience = backend.patience

    def quote(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        return self._backend.quote(input_tokens, output_tokens)

    async def answer(self, request: Request, on_delta: OnDelta) -> ModelAnswer:
        spoken: Spoken = {"role": request.role, "asked": mark_of(request)}
        try:
            answer = await self._backend.answer(request, on_delta)
        except Failed as failure:
            told = {"code": failure.error.specific_code, "message": failure.error.message}
            self._heard.append({**spoken, "failed": told})
            raise
        self._heard.append({**spoken, "answer": answer.to_json()})
        return answer


class Replayer:
    """Plays recordings: answers of the turn that is on, role by role in their order."""

    def __init__(self) -> None:
        self._recording = Recording("none", in_stages=True, turns=[])
        self._left: list[Spoken] = []
        self.played = 0
        self.stale = 0

    def begin(self, recording: Recording) -> None:
        self._recording = recording

    def begin_turn(self, number: int) -> None:
        self._left = list(self._recording.turns[number])

    def names(self, scope: Scope | None, role: Role) -> Sequence[str]:  # noqa: ARG002
        return [self._recording.model]

    def backends(self, scope: Scope | None, role: Role) -> Sequence[Backend]:  # noqa: ARG002
        return [_Played(self, self._recording)]

    def every(self, scope: Scope | None) -> Sequence[Backend]:  # noqa: ARG002
        return [_Played(self, self._recording)]

    def next(self, request: Request) -> Spoken:
        mark = mark_of(request)
        of_role = [each for each in self._left if each["role"] == request.role]
        same = [each for each in of_role if each["asked"] == mark]
        if not of_role:
            self.stale += 1
            return {"failed": {"code": "model-silent", "message": "The recording has no answer."}}
        found = (same or of_role)[0]
        self._left.remove(found)
        self.played += 1
        self.stale += not same
        return found


class _Played:
    settings = ""
    may_see_rows = True
    # Nothing gets better by asking a recording again.
    patience = Patience(attempts=1)

    def __init__(self, replayer: Replayer, recording: Recording) -> None:
        self._replayer = replayer
        self.model = recording.model
        self.in_stages = recording.in_stages

    def quote(self, input_tokens: int, output_tokens: int) -> Decimal | None:  # noqa: ARG002
        return None

    async def answer(self, request: Request, on_delta: OnDelta) -> ModelAnswer:  # noqa: ARG002
        spoken = self._replayer.next(request)
        if "failed" in spoken:
            raise Failed(Misconfigured(spoken["failed"]["message"], code=spoken["failed"]["code"]))
        return ModelAnswer.from_json(spoken["answer"])


def in_turns(sets: Iterable[Sequence[str]], most: int) -> list[str]:
    """The first ids of each set in turn, so that a small sample has something of every set."""
    queues = [list(each) for each in sets]
    found: list[str] = []
    while any(queues) and len(found) < most:
        found += [queue.pop(0) for queue in queues if queue][: most - len(found)]
    return found


def stale_part(replayer: Replayer) -> Mapping[str, float]:
    asked = max(replayer.played, 1)
    return {"model_requests": replayer.played, "model_stale": round(replayer.stale / asked, 3)}
