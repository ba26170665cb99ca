"""Ground floor: ids, clock, errors, settings, events and plug-ins; does no I/O beyond reading settings."""

from typing import TYPE_CHECKING, Any

from steward.core.clock import Clock, MovableClock, SystemClock
from steward.core.events import Event
from steward.core.ids import Ids
from steward.core.plugins import Registry

if TYPE_CHECKING:
    from steward.core.settings import Settings, load_settings

__all__ = [
    "Clock",
    "Event",
    "Ids",
    "MovableClock",
    "Registry",
    "Settings",
    "SystemClock",
    "load_settings",
]


def __getattr__(name: str) -> Any:
    """Settings load when somebody asks for them: pydantic costs more than most commands of the terminal."""
    if name in {"Settings", "load_settings"}:
        from steward.core import settings

        return getattr(settings, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
