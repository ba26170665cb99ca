"""Ollama on this machine: what it has, and pulls that it does itself."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from steward.core import Unavailable

ADDRESS: Final = "http://127.0.0.1:11434"
_LOOK_S: Final = 1.0
_STALL_S: Final = 120.0


@dataclass(frozen=True)
class OllamaModels:
    address: str
    names: tuple[str, ...]


async def find_ollama(address: str = ADDRESS) -> OllamaModels | None:
    """What a local Ollama offers; None where there is none."""
    import httpx2

    try:
        async with httpx2.AsyncClient(timeout=_LOOK_S, verify=False) as client:
            said = (await client.get(f"{address}/api/tags")).json()
    except (httpx2.HTTPError, ValueError):
        return None
    models = said.get("models") if isinstance(said, dict) else None
    if not isinstance(models, list):
        return None
    names = [str(each["name"]) for each in models if isinstance(each, dict) and each.get("name")]
    return OllamaModels(address, tuple(names))


async def pull_from_ollama(
    name: str,
    progress: Callable[[int, int | None], None] = lambda *_: None,
    address: str = ADDRESS,
) -> None:
    """Has Ollama fetch a model; it resumes and verifies by itself."""
    import httpx2

    try:
        async with (
            httpx2.AsyncClient(timeout=_STALL_S, verify=False) as client,
            client.stream("POST", f"{address}/api/pull", json={"model": name}) as answer,
        ):
            async for line in answer.aiter_lines():
                _report_progress(name, line, progress)
    except httpx2.HTTPError as problem:
        raise Unavailable(
            f"Ollama at {address} did not answer ({type(problem).__name__}). Is it running?"
        ) from None


def _report_progress(name: str, line: str, progress: Callable[[int, int | None], None]) -> None:
    if not line.strip():
        return
    said: Any = json.loads(line)
    if said.get("error"):
        raise Unavailable(f"Ollama could not fetch {name}: {said['error']}")
    if isinstance(said.get("completed"), int):
        progress(said["completed"], said.get("total"))
