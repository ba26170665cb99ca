"""Asks every configured model something small, for `steward doctor`."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from steward.core.settings import ModelChoice, Settings
from steward.models.answer import ModelAnswer
from steward.models.backend import Backend, Delta, Failed
from steward.models.lineup import ConfiguredModels, Role
from steward.models.messages import Request, ToolSpec, User
from steward.models.provided import name_of

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
    models = ConfiguredModels(settings.models)
    choices = {
        (name_of(choice), choice.base_url): choice
        for role in Role
        for choice in models.choices(role)
    }
    if not choices:
        return ModelFinding(
            "model",
            "info",
            "no model is configured; Steward plans by rules, and recipes and playbooks work",
            "Set STEWARD_MODELS__DEFAULT__PROVIDER and STEWARD_MODELS__DEFAULT__NAME to add one.",
        )
    return _joined(asyncio.run(_all(models, list(choices.values()))))


async def _all(models: ConfiguredModels, choices: Sequence[ModelChoice]) -> list[ModelFinding]:
    return list(await asyncio.gather(*(_one(models, choice) for choice in choices)))


async def _one(models: ConfiguredModels, choice: ModelChoice) -> ModelFinding:
    name = name_of(choice)
    if choice.api_key_secret is not None:
        told = f"{name} not asked: its key is the secret {choice.api_key_secret!r} of each project"
        return ModelFinding("model", "info", told)
    hurried = choice.model_copy(
        update={"timeout": min(choice.timeout, _LIMIT), "stall": min(choice.stall, _LIMIT)}
    )
    return await _asked(models.backend(None, hurried))


async def _asked(backend: Backend) -> ModelFinding:
    request = Request(Role.operator.value, (_QUESTION,), (_TOOL,))
    try:
        answer = await backend.answer(request, _unseen)
    except Failed as failure:
        return ModelFinding("model", "failed", failure.error.message, _REMEDY)
    return _judged(backend.model, answer)


def _judged(model: str, answer: ModelAnswer) -> ModelFinding:
    if any(call.tool == _TOOL.name and call.broken is None for call in answer.calls):
        cost = answer.usage.cost
        price = "price unknown" if cost is None else "price known"
        return ModelFinding("model", "ok", f"{model} answers and calls tools ({price})")
    if answer.parts:
        return ModelFinding(
            "model",
            "warning",
            f"{model} answers, but did not call the tool it was asked to call",
            "Choose a model that calls tools for planner and operator.",
        )
    return ModelFinding("model", "failed", f"{model} gave an empty answer", _REMEDY)


_REMEDY: Final = "Check provider, name, base_url and key under [models] in the settings."


async def _unseen(_: Delta) -> None:
    """Nobody watches the doctor's question."""


def _joined(findings: Sequence[ModelFinding]) -> ModelFinding:
    worst = max(findings, key=lambda finding: _STATES.index(finding.state))
    message = "; ".join(finding.message for finding in findings)
    return ModelFinding("model", worst.state, message, worst.remedy)
