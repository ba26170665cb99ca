"""Where the runner lives: one file per place, each behind the same small seam."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from steward.core import Registry
from steward.sandbox.contract import Envelope, Response
from steward.sandbox.walls import Walls

if TYPE_CHECKING:
    # Confined processes import this and read no settings.
    from steward.core import SandboxSettings


class Provider(Protocol):
    """Runs requests in confined processes. Everything here blocks and is called from threads."""

    def prove(self) -> Walls:
        """Raises the walls around a throw-away process and says which ones stood."""

    def run(self, envelope: Envelope, cancelled: int) -> Response:
        """One execution; `cancelled` is a descriptor that becomes readable to call it off."""

    def close(self) -> None:
        """Ends every process."""


@dataclass(frozen=True)
class Place:
    """What a provider is opened with."""

    settings: "SandboxSettings"
    home: Path
    data: Sequence[Path]
    """Folders that hold the data which code may read."""

    @property
    def start_seconds(self) -> float:
        return self.settings.start.total_seconds()


@dataclass(frozen=True)
class ProviderKind:
    """A provider as settings name it."""

    open: Callable[[Place], Provider]
    remedy: str
    """What to do where it raises no walls."""


PROVIDERS: Registry[ProviderKind] = Registry("sandbox")


def add_provider(name: str, *, remedy: str) -> Callable[[Callable[[Place], Provider]], None]:
    """Adds a kind of provider; decorates what opens it."""

    def add(opens: Callable[[Place], Provider]) -> None:
        PROVIDERS.add(name, ProviderKind(opens, remedy), origin=opens.__module__)

    return add


@cache
def load_providers() -> Registry[ProviderKind]:
    """All kinds: the built-in ones and those of installed packages."""
    PROVIDERS.load_package(__name__)
    PROVIDERS.load_entry_points()
    return PROVIDERS
