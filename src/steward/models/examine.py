"""Finds out what a server and its model can do, with a few short requests, and has it remembered."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from steward.core import Invalid, ModelChoice, StewardError, read_json
from steward.models.abilities import Abilities
from steward.models.answer import ModelAnswer
from steward.models.backend import Backend, Delta, Failed
from steward.models.lineup import Chosen, ConfiguredModels
from steward.models.messages import Asking, Request, ToolSpec, User
from steward.models.provided import address_of, load, name_of
from steward.models.providers import known_provider
from steward.models.telling_servers import told_by

_WORD: Final = "marigold"
_SCHEMA: Final = {
    "type": "object",
    "properties": {"flower": {"enum": [_WORD]}},
    "required": ["flower"],
    "additionalProperties": False,
}
_AS_SCHEMA: Final = Request(
    "planner",
    (User("Name a flower as JSON, in the field flower."),),
    asking=Asking(temperature=0.0, max_tokens=40, output_schema=_SCHEMA),
)
_TOOL: Final = ToolSpec(
    "report_ready",
    "Reports that you are ready. Call it once.",
    {
        "type": "object",
        "properties": {"word": {"type": "string", "description": "The word 'ready'."}},
        "required": ["word"],
    },
)
_CALL: Final = Request(
    "operator",
    (User("Call the tool report_ready with the word 'ready'. Say nothing else."),),
    (_TOOL,),
    Asking(temperature=0.0, max_tokens=80),
)
_WORDS: Final = Request(
    "explainer",
    (User("Answer with the word 'ready' and nothing else."),),
    asking=Asking(temperature=0.0, max_tokens=10),
)


@dataclass(frozen=True)
class Examined:
    """What a test of a model found."""

    worked: bool
    words: str
    seconds: float = 0.0
    code: str = ""
    abilities: Abilities = field(default_factory=Abilities)


async def examine(models: ConfiguredModels, chosen: Chosen) -> Examined:
    """Asks the model four short things, at its price; raises nothing that a provider can cause."""
    choice = chosen.choice
    backend = models.backend(chosen)
    try:
        provider = known_provider(choice)
        if provider is not None and provider.open is not None:
            await asyncio.to_thread(load, choice)
        began = time.perf_counter()
        pieces, plain = await _heard(backend, _WORDS)
        seconds = time.perf_counter() - began
        if not plain.parts:
            return Examined(
                False, f"{name_of(choice)} gave an empty answer.", seconds, "model-empty"
            )
        found: dict[str, Any] = {"streams": pieces > 0} if choice.stream else {}
        # Forgotten first, so that the answer is of today's server.
        await asyncio.to_thread(lambda: models.memory.learn(choice, tools=None, way=None))
        found |= await _of_schema(backend, models, choice)
        found |= await _of_tools(backend)
        found |= await _of_two_at_once(backend)
    except Failed as failure:
        return Examined(False, failure.error.message, code=failure.error.specific_code)
    line = await models.line(chosen)
    found |= await told_by(choice, address_of(choice), models.key(chosen), line)
    known = await asyncio.to_thread(lambda: models.memory.learn(choice, **found))
    return Examined(True, _words(choice, known, seconds), seconds, "", known)


async def _heard(backend: Backend, request: Request) -> tuple[int, ModelAnswer]:
    pieces = 0

    async def count(delta: Delta) -> None:
        nonlocal pieces
        pieces += delta.kind == "text"

    return pieces, await backend.answer(request, count)


async def _of_schema(
    backend: Backend, models: ConfiguredModels, choice: ModelChoice
) -> dict[str, Any]:
    """The way that worked; a server that takes a schema and does not hold to it is asked in words."""
    _, answer = await _heard(backend, _AS_SCHEMA)
    way = (await asyncio.to_thread(models.memory.known, choice)).way
    if way in {"json_schema", "json_object_schema"} and not _follows(answer.text):
        return {"way": "json_object"}
    return {"way": way}


def _follows(text: str) -> bool:
    try:
        found = read_json(text.strip())
    except Invalid:
        return False
    return isinstance(found, Mapping) and found.get("flower") == _WORD


async def _of_tools(backend: Backend) -> dict[str, Any]:
    try:
        _, answer = await _heard(backend, _CALL)
    except Failed as failure:
        if not failure.asked:
            raise
        return {"tools": False}
    called = [call for call in answer.calls if call.tool == _TOOL.name and call.broken is None]
    # A call that the model had to write into its text is none that the server makes.
    return {"tools": bool(called) and not called[0].id.startswith("spoken-")}


async def _of_two_at_once(backend: Backend) -> dict[str, Any]:
    both = await asyncio.gather(
        _heard(backend, _WORDS), _heard(backend, _WORDS), return_exceptions=True
    )
    for each in both:
        if isinstance(each, BaseException) and not isinstance(each, Failed | StewardError):
            raise each
    return {"parallel": not any(isinstance(each, BaseException) for each in both)}


def _words(choice: ModelChoice, known: Abilities, seconds: float) -> str:
    schema = {
        "json_schema": "answers in a given JSON Schema",
        "json_object_schema": "answers in a given JSON Schema",
        "json_object": "answers in JSON, not in a given schema",
        "text": "cannot be held to JSON; Steward asks for it in words",
        None: "was not asked for JSON",
    }[known.way]
    tools = "calls tools" if known.tools else "does not call tools; Steward has it write calls"
    many = "answers several requests at once" if known.parallel else "answers one at a time"
    room = f", reads {known.context:,} tokens" if known.context else ""
    way = "in short stages" if known.plans_in_stages(choice) else "all at once"
    return (
        f"{name_of(choice)} answered in {seconds:.1f} s. It {schema}, {tools} and {many}{room}. "
        f"Plans are asked for {way}."
    )


def hurried(chosen: Chosen, limit: Any) -> Chosen:
    """The same model with less patience, for a person who waits."""
    choice = chosen.choice
    changes = {"timeout": min(choice.timeout, limit), "stall": min(choice.stall, limit)}
    return replace(chosen, choice=choice.model_copy(update=changes))
