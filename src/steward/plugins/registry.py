"""The plug-ins of an installation: shown first, agreed to by a person, pinned by their hash, switched off, removed.

What is installed is in the database and the wheels are blobs, so that every server and worker has the same. A process
imports code that runs with its rights when it first hears of it; the code of sandboxed tools it never imports.
"""

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256 as hash_of
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from steward.agents import AGENTS, GUARDRAILS
from steward.connections import CONNECTORS, Keepers
from steward.core import (
    Clock,
    Conflict,
    Denied,
    Invalid,
    Misconfigured,
    NotFound,
    StewardError,
    copied,
)
from steward.flows import NODES
from steward.identity import Access
from steward.playbooks import TRIGGERS
from steward.plugins import code
from steward.plugins._tables import plugins as table
from steward.plugins.wheel import MOST_BYTES, Part, Wheel, read_wheel
from steward.store import EVERYWHERE, BlobStore, Bus, Database, EventLog, Transaction
from steward.trace import get_logger

TOPIC: Final = "plugins"
ON: Final = "on"
OFF: Final = "off"
SUPERSEDED: Final = "superseded"
REMOVED: Final = "removed"
_WATCHED: Final = (NODES, TRIGGERS, CONNECTORS, GUARDRAILS, AGENTS)
_log = get_logger(__name__)


@dataclass(frozen=True)
class Plugin:
    """A wheel that was installed."""

    name: str
    version: str
    sha256: str
    state: str
    rights: bool
    declared: Mapping[str, Any]
    installed_by: str
    installed_at: datetime
    changed_by: str
    changed_at: datetime
    wheel_digest: str | None
    problem: str | None = None
    """Why this process could not load it."""

    @property
    def enabled(self) -> bool:
        return self.state == ON

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(Part(**part) for part in self.declared["parts"])


class Plugins:
    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        events: EventLog,
        bus: Bus,
        clock: Clock,
        keepers: Keepers,
        home: Path,
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._events = events
        self._bus = bus
        self._clock = clock
        self._keepers = keepers
        self._home = home
        self._wheels: dict[str, Wheel] = {}
        self._problems: dict[str, str] = {}
        self._closed = False
        self._open = ExitStack()
        self._open.enter_context(bus.listening(TOPIC, self._heard))
        for registry in _WATCHED:
            registry.on_missing.append(self._refresh_quietly)
        self.refresh()

    def close(self) -> None:
        """Lets go of all code that this installation had loaded."""
        self._open.close()
        for registry in _WATCHED:
            if self._refresh_quietly in registry.on_missing:
                registry.on_missing.remove(self._refresh_quietly)
        with code.LOCK:
            # A thread that heard of a change before may still be on its way to load it.
            self._closed = True
            for each in code.held_by(id(self)):
                code.unload(each.name, id(self))

    # Looking

    def inspect(self, access: Access, content: bytes) -> Wheel:
        """What a wheel declares; nothing of it is kept or run."""
        self._keepers.require(access, "look into plug-ins")
        if len(content) > MOST_BYTES:
            raise Invalid(f"A plug-in has at most {MOST_BYTES:,} bytes.", code="wheel")
        return read_wheel(content)

    def listed(self, access: Access, *, removed: bool = False) -> list[Plugin]:
        """Those that are installed, by name; or those that were removed, newest first."""
        self._keepers.require(access, "see its plug-ins")
        wanted = [REMOVED] if removed else [ON, OFF]
        statement = sa.select(table).where(table.c.state.in_(wanted))
        with self._database.read(access.scope) as tx:
            found = [self._plugin(row) for row in tx.rows(statement)]
        if removed:
            return sorted(found, key=lambda each: each.changed_at, reverse=True)
        return sorted(found, key=lambda each: each.name)

    def get(self, access: Access, name: str) -> Plugin:
        found = next((each for each in self.listed(access) if each.name == name), None)
        if found is None:
            raise NotFound(f"There is no plug-in called {name!r}.")
        return found

    # Changing

    def install(
        self, access: Access, content: bytes, sha256: str, *, rights: bool = False
    ) -> Plugin:
        """Installs exactly the wheel that was shown. `rights`: a person agrees that its code runs with the server's."""
        self._keepers.require(access, "install plug-ins")
        wheel = self.inspect(access, content)
        if wheel.sha256 != sha256:
            raise Conflict(
                "This is not the file that was shown: its SHA-256 differs. Look at it again.",
                code="plugin-changed",
            )
        wheel.refuse_problems()
        if wheel.needs_rights and not rights:
            names = ", ".join(f"{p.kind} {p.name}" for p in wheel.parts if p.runs == "server")
            raise Denied(
                f"{wheel.name} has code that runs with the server's rights: {names}. Agree to that to install it: "
                "with the switch on the page, or with --rights in the terminal.",
                code="plugin-rights",
            )
        if wheel.needs_rights:
            # Tried here first, so that what does not load is never installed.
            code.load(wheel, self._home, id(self))
        digest = self._blobs.put([content]).digest
        now = self._clock.now()
        with self._database.write(access.scope) as tx:
            tx.execute(
                sa.update(table)
                .where(table.c.name == wheel.name, table.c.state.in_([ON, OFF]))
                .values(state=SUPERSEDED, changed_by=access.user_id, changed_at=now)
            )
            tx.execute(sa.delete(table).where(table.c.sha256 == wheel.sha256))
            tx.execute(
                sa.insert(table).values(
                    sha256=wheel.sha256,
                    name=wheel.name,
                    version=wheel.version,
                    wheel_digest=digest,
                    state=ON,
                    declared=declaration(wheel),
                    rights=int(wheel.needs_rights),
                    installed_by=access.user_id,
                    installed_at=now,
                    changed_by=access.user_id,
                    changed_at=now,
                )
            )
            self._tell(
                tx, access, "installed", wheel.name, version=wheel.version, sha256=wheel.sha256
            )
        self.refresh()
        return self.get(access, wheel.name)

    def switch(self, access: Access, name: str, *, enabled: bool) -> Plugin:
        """On or off, on all servers and workers; what runs already ends with what it began with."""
        self._keepers.require(access, "switch plug-ins")
        if enabled:
            found = self.get(access, name)
            if found.rights:
                code.load(self.wheel(found), self._home, id(self))
        self._set(access, name, "enabled" if enabled else "disabled", state=ON if enabled else OFF)
        return self.get(access, name)

    def remove(self, access: Access, name: str) -> None:
        """Takes a plug-in and its earlier versions away; journals of runs that used it stay readable."""
        self._keepers.require(access, "remove plug-ins")
        self._set(access, name, "removed", state=REMOVED, wheel_digest=None)

    def _set(self, access: Access, name: str, word: str, **values: Any) -> None:
        found = self.get(access, name)
        states = [ON, OFF, SUPERSEDED] if values["state"] == REMOVED else [ON, OFF]
        with self._database.write(access.scope) as tx:
            tx.execute(
                sa.update(table)
                .where(table.c.name == name, table.c.state.in_(states))
                .values(changed_by=access.user_id, changed_at=self._clock.now(), **values)
            )
            self._tell(tx, access, word, name, version=found.version)
        self.refresh()

    def _tell(self, tx: Transaction, access: Access, word: str, name: str, **more: Any) -> None:
        self._events.append(
            tx, f"plugin.{word}", name, {"name": name, "by": access.user_id, **more}
        )
        self._bus.ring(tx, TOPIC)

    # For the broker and for deployments

    def active(self) -> list[Plugin]:
        """Those that are switched on."""
        with self._database.read(EVERYWHERE) as tx:
            found = [self._plugin(row) for row in tx.rows(_ACTIVE)]
        return sorted(found, key=lambda each: each.name)

    def find(self, name: str, sha256: str | None = None) -> Plugin:
        """The plug-in that is switched on, or exactly one wheel of it while it is; the error says what became of it."""
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(sa.select(table).where(table.c.name == name))
        found = {row.sha256: self._plugin(row) for row in rows}
        current = next((each for each in found.values() if each.state in {ON, OFF}), None)
        if current is None:
            gone = max(found.values(), key=lambda each: each.changed_at, default=None)
            if gone is None:
                raise NotFound(f"There is no plug-in called {name!r}.")
            raise Conflict(
                f"The plug-in {name} {gone.version} was removed on {gone.changed_at:%Y-%m-%d} (UTC). "
                f"Install it again to use it. Its SHA-256 was {gone.sha256}.",
                code="plugin-removed",
            )
        if not current.enabled:
            raise Conflict(
                f"The plug-in {name} is disabled. An owner can enable it under Plug-ins.",
                code="plugin-disabled",
            )
        if sha256 is None:
            return current
        if sha256 not in found or found[sha256].wheel_digest is None:
            raise Conflict(
                f"The version of the plug-in {name} that this call was planned with is gone. Start the run again.",
                code="tool-changed",
            )
        return found[sha256]

    def wheel(self, plugin: Plugin) -> Wheel:
        """The wheel of a plug-in from the blob store; what is not what was agreed to is refused."""
        known = self._wheels.get(plugin.sha256)
        if known is not None:
            return known
        content = b"".join(self._blobs.read(plugin.wheel_digest or plugin.sha256))
        if hash_of(content).hexdigest() != plugin.sha256:
            raise Misconfigured(
                f"The stored wheel of the plug-in {plugin.name} is damaged: its SHA-256 differs."
            )
        return self._wheels.setdefault(plugin.sha256, read_wheel(content))

    def part(self, plugin: Plugin, kind: str, name: str) -> Any:
        """An object that this process has loaded from a plug-in."""
        found = code.loaded(plugin.name, plugin.sha256)
        if found is None:
            self.refresh()
            found = code.loaded(plugin.name, plugin.sha256)
        item = None if found is None else found.parts.get((kind, name))
        if item is None:
            why = self._problems.get(plugin.sha256)
            raise Conflict(
                f"The plug-in {plugin.name} {plugin.version} is not loaded here"
                + (f": {why}" if why else "; it was replaced by another version.")
                + " Start the run again.",
                code="tool-changed",
            )
        return item

    def refresh(self) -> None:
        """Loads what was installed elsewhere, and lets go of what was switched off or removed."""
        wanted = {each.name: each for each in self.active() if each.rights}
        with code.LOCK:
            if self._closed:
                return
            for held in code.held_by(id(self)):
                keep = wanted.get(held.name)
                if keep is None or keep.sha256 != held.sha256:
                    code.unload(held.name, id(self))
            for each in wanted.values():
                self._load(each)

    def _load(self, plugin: Plugin) -> None:
        """A plug-in that does not load here must not keep the server from starting."""
        try:
            wheel = self.wheel(plugin)
            wheel.refuse_problems()
            code.load(wheel, self._home, id(self))
        except StewardError as problem:
            if self._problems.get(plugin.sha256) != problem.message:
                _log.warning("plugin_not_loaded", plugin=plugin.name, error=problem.message)
            self._problems[plugin.sha256] = problem.message
        else:
            self._problems.pop(plugin.sha256, None)

    def _heard(self) -> None:
        # Whoever rings must not wait for imports.
        threading.Thread(target=self._refresh_quietly, name="steward-plugins", daemon=True).start()

    def _refresh_quietly(self) -> None:
        try:
            self.refresh()
        except StewardError as problem:
            _log.warning("plugins_not_read", error=problem.message)

    def _plugin(self, row: Any) -> Plugin:
        return copied(Plugin, row, rights=bool(row.rights), problem=self._problems.get(row.sha256))


_ACTIVE: Final = sa.select(table).where(table.c.state == ON)


def declaration(wheel: Wheel) -> dict[str, Any]:
    """What a person agrees to, as JSON."""
    return {
        "summary": wheel.summary,
        "licence": wheel.licence,
        "requires_python": wheel.requires_python,
        "requirements": [asdict(each) for each in wheel.requirements],
        "parts": [_part(each) for each in wheel.parts],
        "files": [{"path": path, "size": len(text)} for path, text in wheel.files.items()],
        "size": wheel.size,
    }


def _part(part: Part) -> dict[str, Any]:
    left_out = ("", None, ())
    return {name: value for name, value in asdict(part).items() if value not in left_out}
