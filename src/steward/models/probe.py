"""Asks every configured model something small, for `steward doctor`."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal

from steward.core import Misconfigured, ModelChoice, Settings
from steward.models.answer import ModelAnswer
from steward.models.backend import Backend, Delta, Failed
from steward.models.lineup import Chosen, ConfiguredModels, Role
from steward.models.messages import Request, ToolSpec, User
from steward.models.provided import load, name_of

_LIMIT: Final = timedelta(seconds=60)
_TOOL: Final = ToolSpec(
    "report_ready",
    "Reports that you are ready. Call it once.",
    {
        "type": "object",
        "properties": {"word": {"type": "string", "description": "The word 'ready'."}},
        "required": ["word"],
    },
)
_QUESTION: Final = User("Call the tool report_ready with the word 'ready'. Say nothing else.")
_WORDS: Final = User("Answer with the word 'ready' and nothing else.")
_STATES: Final = ("ok", "info", "warning", "failed")


@dataclass(frozen=True)
class ModelFinding:
    """Has the fields of the doctor's findings."""

    subject: str
    state: Literal["ok", "info", "warning", "failed"]
    message: str
    remedy: str = ""


def probe(settings: Settings) -> ModelFinding:
    """One finding about all models of the settings; asks each of them once, at their price."""
    try:
        models = ConfiguredModels(settings.models)
    except Misconfigured as problem:
        return ModelFinding("model", "failed", problem.message, _REMEDY)
    asked: dict[tuple[str, str | None], _Asked] = {}
    for role in Role:
        for number, chosen in enumerate(models.choices(None, role)):
            choice = chosen.choice
            found = asked.setdefault((name_of(choice), choice.base_url), _Asked(choice))
            found.roles.append(role.value if number == 0 else f"fallback of {role.value}")
            found.acts |= role is Role.operator
    if not asked:
        return ModelFinding(
            "model",
            "info",
            "no model in the settings; those that were added on the page Models are tested there",
            "Add a model on the page Models, or with 'steward models add'.",
        )
    return _joined(asyncio.run(_all(models, list(asked.values()))))


@dataclass
class _Asked:
    """A model of the settings and what it is there for."""

    choice: ModelChoice
    roles: list[str] = field(default_factory=list)
    acts: bool = False
    """Whether it must call tools; a plan and an explanation are words."""

    @property
    def name(self) -> str:
        every = {role.value for role in Role} <= set(self.roles)
        return (
            name_of(self.choice) if every else f"{name_of(self.choice)} ({', '.join(self.roles)})"
        )


async def _all(models: ConfiguredModels, asked: Sequence[_Asked]) -> list[ModelFinding]:
    return list(await asyncio.gather(*(_one(models, each) for each in asked)))


async def _one(models: ConfiguredModels, asked: _Asked) -> ModelFinding:
    choice, name = asked.choice, asked.name
    if choice.api_key_secret is not None:
        told = f"{name} not asked: its key is the secret {choice.api_key_secret!r} of each project"
        return ModelFinding("model", "info", told)
    hurried = choice.model_copy(
        update={"timeout": min(choice.timeout, _LIMIT), "stall": min(choice.stall, _LIMIT)}
    )
    return await _answered(models.backend(Chosen(hurried)), asked)


async def _answered(backend: Backend, asked: _Asked) -> ModelFinding:
    request = (
        Request(Role.operator.value, (_QUESTION,), (_TOOL,))
        if asked.acts
        else Request(Role.explainer.value, (_WORDS,))
    )
    try:
        # Loading libraries takes seconds that are not the model's.
        await asyncio.to_thread(load, asked.choice)
        began = time.perf_counter()
        answer = await backend.answer(request, _unseen)
    except Failed as failure:
        told = f"{', '.join(asked.roles)}: {failure.error.message}"
        return ModelFinding("model", "failed", told, _REMEDY)
    return _judged(asked, answer, time.perf_counter() - began)


def _judged(asked: _Asked, answer: ModelAnswer, seconds: float) -> ModelFinding:
    price = "price unknown" if answer.usage.cost is None else "price known"
    calls = any(call.tool == _TOOL.name and call.broken is None for call in answer.calls)
    if calls or (answer.text.strip() and not asked.acts):
        able = " and calls tools" if asked.acts else ""
        told = f"{asked.name} answers{able} ({seconds:.1f} s, {price})"
        return ModelFinding("model", "ok", told)
    if answer.parts:
        return ModelFinding(
            "model",
            "warning",
            f"{asked.name} answers, but did not call the tool it was asked to call",
            "Choose a model that calls tools as operator; the others need not.",
        )
    return ModelFinding("model", "failed", f"{asked.name} gave an empty answer", _REMEDY)


_REMEDY: Final = "Check provider, name, base_url and key under [models] in the settings."


async def _unseen(_: Delta) -> None:
    """Nobody watches the doctor's question."""


def _joined(findings: Sequence[ModelFinding]) -> ModelFinding:
    worst = max(findings, key=lambda finding: _STATES.index(finding.state))
    message = "; ".join(finding.message for finding in findings)
    return ModelFinding("model", worst.state, message, worst.remedy)
