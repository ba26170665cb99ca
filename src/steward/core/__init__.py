"""Ground floor: ids, clock, errors, settings, events and plug-ins; does no I/O beyond reading settings."""

from steward.core.clock import Clock, MovableClock, SystemClock
from steward.core.events import Event
from steward.core.ids import Ids
from steward.core.plugins import Registry
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
