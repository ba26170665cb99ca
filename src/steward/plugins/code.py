"""Code of plug-ins that runs with the server's rights: imported into this process, and forgotten again.

Registries belong to the process, so what is loaded does, too: several installations in one process share it, and it
goes with the last of them. Code that was imported cannot be unmade; what is unloaded is no longer found by anything.
"""

import importlib
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any, Final, get_args

from steward.agents import AGENTS, GUARDRAILS, Guardrail, load_guardrails, read_package_agent
from steward.broker import TOOLS, Tool
from steward.connections import CONNECTORS, Connector, load_connectors
from steward.core import Conflict, Invalid, Registry
from steward.flows import NODES, Node, build_flow_types
from steward.playbooks import TRIGGERS, Trigger, build_playbook_type
from steward.plugins.wheel import IN_PROCESS, Part, Wheel

_REGISTRIES: Final[Mapping[str, Registry[Any]]] = {
    "tool": TOOLS,
    "node": NODES,
    "trigger": TRIGGERS,
    "connector": CONNECTORS,
    "guardrail": GUARDRAILS,
    "agent": AGENTS,
}
_REBUILD: Final[Mapping[str, Callable[[], None]]] = {
    "node": build_flow_types,
    "trigger": build_playbook_type,
}
LOCK: Final = RLock()


@dataclass
class Loaded:
    """A plug-in whose code this process has imported."""

    name: str
    version: str
    sha256: str
    packages: tuple[str, ...]
    folder: Path
    parts: dict[tuple[str, str], Any] = field(default_factory=dict)
    holders: set[int] = field(default_factory=set)

    @property
    def pin(self) -> Mapping[str, str]:
        """Names exactly this code."""
        return {"plugin": self.name, "version": self.version, "sha256": self.sha256}


_LOADED: Final[dict[str, Loaded]] = {}


def loaded(name: str, sha256: str) -> Loaded | None:
    """What this process has of exactly this wheel."""
    found = _LOADED.get(name)
    return found if found is not None and found.sha256 == sha256 else None


def load(wheel: Wheel, home: Path, holder: int) -> Loaded:
    """Imports a wheel's parts and adds them to the registries; all or none. Invalid says why it does not work."""
    with LOCK:
        found = loaded(wheel.name, wheel.sha256)
        if found is None:
            refuse_taken_packages(wheel)
            before = _LOADED.get(wheel.name)
            if before is not None:
                _forget(before)
            folder = unpacked(wheel, home)
            found = Loaded(wheel.name, wheel.version, wheel.sha256, wheel.packages, folder)
            _bring_in(wheel, found)
            _LOADED[wheel.name] = found
        found.holders.add(holder)
        return found


def unload(name: str, holder: int) -> None:
    """Lets go of a plug-in; its parts go when no one in this process holds it."""
    with LOCK:
        found = _LOADED.get(name)
        if found is None:
            return
        found.holders.discard(holder)
        if not found.holders:
            _forget(found)


def held_by(holder: int) -> list[Loaded]:
    with LOCK:
        return [each for each in _LOADED.values() if holder in each.holders]


def unpacked(wheel: Wheel, home: Path) -> Path:
    """The folder with the wheel's code, as it is in the wheel: what was changed on disk is written again."""
    folder = home / "plugins" / wheel.sha256
    # Without its metadata, so that nothing but Steward finds its entry points.
    files = {path: text for path, text in wheel.files.items() if ".dist-info/" not in path}
    if folder.exists() and _same(folder, files):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = Path(tempfile.mkdtemp(dir=folder.parent))
    for path, content in files.items():
        target = made / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        made.rename(folder)
    except OSError:
        # Another process was first.
        shutil.rmtree(made, ignore_errors=True)
    return folder


def _same(folder: Path, files: Mapping[str, bytes]) -> bool:
    found = {
        str(path.relative_to(folder)): path
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return found.keys() == files.keys() and all(
        path.read_bytes() == files[name] for name, path in found.items()
    )


def refuse_taken_packages(wheel: Wheel) -> None:
    """A plug-in must not stand in front of another package, nor hide behind one."""
    own = _LOADED.get(wheel.name)
    for package in wheel.packages:
        if own is not None and package in own.packages:
            continue
        other = next((each for each in _LOADED.values() if package in each.packages), None)
        taken = package in sys.modules or importlib.util.find_spec(package) is not None
        if other is not None or taken:
            whose = f"the plug-in {other.name}" if other else "another package of this environment"
            raise Conflict(
                f"The code of {wheel.name} is called {package!r}, and {whose} has that name already. "
                "Rename the package.",
                code="plugin-package",
            )


def _bring_in(wheel: Wheel, into: Loaded) -> None:
    load_guardrails()
    load_connectors()
    before = {kind: {name for name, _ in _REGISTRIES[kind]} for kind in IN_PROCESS}
    sys.path.append(os.fspath(into.folder))
    importlib.invalidate_caches()
    try:
        for part in wheel.parts:
            if part.runs == "server":
                into.parts[part.kind, part.name] = _checked(part, _imported(part), into)
        _refuse_undeclared(wheel, before)
        for (kind, name), item in into.parts.items():
            # Tools are found through their plug-in, which knows whether it is switched on.
            if kind != "tool" and name not in _REGISTRIES[kind]:
                _REGISTRIES[kind].add(name, item, origin=f"the plug-in {wheel.name}")
        _rebuild(into)
    except BaseException:
        _remove_new(before)
        _forget(into)
        raise


def _imported(part: Part) -> Any:
    try:
        return getattr(importlib.import_module(part.module), part.attribute)
    except Exception as problem:
        said = str(problem).strip().split("\n")[0][:300]
        raise Invalid(
            f"{part.target} cannot be loaded: {type(problem).__name__}: {said}", code="plugin"
        ) from problem


def _checked(part: Part, item: Any, into: Loaded) -> Any:
    def refuse(wanted: str) -> Invalid:
        return Invalid(f"{part.target} is not {wanted}.", code="plugin")

    match part.kind:
        case "agent":
            return read_package_agent(part.name, into.pin, item)
        case "tool":
            if not isinstance(item, Tool) or item.name != part.name:
                raise refuse(f"a Tool with the name {part.name!r}")
        case "connector":
            if not isinstance(item, Connector) or item.kind != part.name:
                raise refuse(f"a Connector of the kind {part.name!r}")
        case _:
            _require_class(part, item, refuse)
    return item


def _require_class(part: Part, item: Any, refuse: Callable[[str], Invalid]) -> None:
    base: type[Any] = {"guardrail": Guardrail, "node": Node}.get(part.kind, Trigger)
    if not isinstance(item, type) or not issubclass(item, base):
        raise refuse(f"a subclass of {base.__name__}")
    if issubclass(item, Node | Trigger):
        named = get_args(item.model_fields["type"].annotation)
        if named != (part.name,):
            raise refuse(f'a {base.__name__} with `type: Literal["{part.name}"]`')


def _refuse_undeclared(wheel: Wheel, before: Mapping[str, set[str]]) -> None:
    declared = {(part.kind, part.name) for part in wheel.parts}
    for kind, known in before.items():
        for name in {name for name, _ in _REGISTRIES[kind]} - known:
            if (kind, name) not in declared:
                raise Invalid(
                    f"{wheel.name} registers the {kind} {name!r} and does not declare it as an entry point.",
                    code="plugin",
                )
        if kind == "tool":
            _remove_names(kind, {name for name, _ in _REGISTRIES[kind]} - known)


def _remove_new(before: Mapping[str, set[str]]) -> None:
    for kind, known in before.items():
        _remove_names(kind, {name for name, _ in _REGISTRIES[kind]} - known)


def _remove_names(kind: str, names: set[str]) -> None:
    for name in names:
        _REGISTRIES[kind].remove(name)


def _forget(found: Loaded) -> None:
    _LOADED.pop(found.name, None)
    for kind, name in found.parts:
        if kind != "tool":
            _REGISTRIES[kind].remove(name)
    _rebuild(found)
    path = os.fspath(found.folder)
    if path in sys.path:
        sys.path.remove(path)
    for module in list(sys.modules):
        if module.partition(".")[0] in found.packages:
            del sys.modules[module]
    importlib.invalidate_caches()


def _rebuild(found: Loaded) -> None:
    for kind in {kind for kind, _ in found.parts}:
        if kind in _REBUILD:
            _REBUILD[kind]()
