"""Models of the settings that speak to the wire-format server, and desks in front of them."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import SecretStr

from steward.core.settings import ModelChoice, ModelsSettings
from steward.models import ConfiguredModels, Delta, ModelDesk
from tests.models.openai_server import KEY, Asked, OpenAiServer, Reply

Replies = Sequence[Reply] | Callable[[Asked], Reply]
Serve = Callable[[Replies], OpenAiServer]


def choice(server: OpenAiServer, **changes: Any) -> ModelChoice:
    given: dict[str, Any] = {
        "provider": "compatible",
        "name": "small",
        "base_url": server.url,
        "api_key": SecretStr(KEY),
        "stall": 5,
        **changes,
    }
    return ModelChoice.model_validate(given)


class Pauses:
    """Waits that take no time, and are counted."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


class Watcher:
    def __init__(self) -> None:
        self.deltas: list[Delta] = []

    async def __call__(self, delta: Delta) -> None:
        self.deltas.append(delta)


def desk(first: ModelChoice, pauses: Pauses | None = None, **settings: Any) -> ModelDesk:
    models = ModelsSettings(default=first, **settings)
    return ModelDesk(ConfiguredModels(models), pause=pauses or Pauses())
