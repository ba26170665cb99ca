"""Checks of the machine and the installation, each with the remedy when something is wrong."""

import ctypes
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from steward.app.compose import key_file, open_database
from steward.core import Settings
from steward.core.errors import StewardError
from steward.core.settings import minimal_environment
from steward.store import Keyring, latest_revision, schema_revision, sqlite_version

State = Literal["ok", "info", "warning", "failed"]
_GIB = 1 << 30
_LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture
_NEW_USER_NAMESPACE = 0x10000000


@dataclass(frozen=True)
class Finding:
    subject: str
    state: State
    message: str
    remedy: str = ""


def diagnose(settings: Settings) -> list[Finding]:
    """Everything that can be found out without changing anything."""
    checks: tuple[Callable[[Settings], Finding], ...] = (
        _machine,
        _sqlite,
        _home,
        _disk,
        _database,
        _keys,
        _port,
        _web,
        _sandbox,
        _model,
    )
    return [check(settings) for check in checks]


def _machine(_: Settings) -> Finding:
    described = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if platform.system() not in {"Linux", "Darwin"}:
        return Finding("machine", "warning", described, "Linux and macOS are supported.")
    return Finding("machine", "ok", f"{described}, {os.cpu_count()} processors")


def _sqlite(_: Settings) -> Finding:
    version = sqlite_version()
    if tuple(int(part) for part in version.split(".")) < (3, 37):
        return Finding(
            "sqlite", "failed", f"SQLite {version}", "Use a Python with SQLite 3.37 or newer."
        )
    return Finding("sqlite", "ok", f"SQLite {version}")


def _home(settings: Settings) -> Finding:
    home = settings.home
    existing = next(folder for folder in (home, *home.resolve().parents) if folder.exists())
    if not os.access(existing, os.W_OK):
        return Finding(
            "home", "failed", f"{home} cannot be written", "Set STEWARD_HOME to a folder of yours."
        )
    if home.exists() and home.stat().st_mode & 0o077:
        return Finding("home", "warning", f"{home} is readable by other users", f"chmod 700 {home}")
    return Finding("home", "ok", str(home.resolve()))


def _disk(settings: Settings) -> Finding:
    home = settings.home.resolve()
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    message = f"{free / _GIB:.1f} GiB free"
    if free < _GIB:
        return Finding("disk", "failed", message, "Free at least 1 GiB, or move STEWARD_HOME.")
    return Finding("disk", "ok" if free > 5 * _GIB else "warning", message)


def _database(settings: Settings) -> Finding:
    if settings.database.url is None and not (settings.home / "steward.db").exists():
        return Finding("database", "info", "none yet; the first start creates it")
    try:
        database = open_database(settings)
        try:
            revision = schema_revision(database)
        finally:
            database.close()
    except StewardError as error:
        return Finding("database", "failed", error.message, "Check STEWARD_DATABASE__URL.")
    kind = "SQLite" if settings.database.url is None else "PostgreSQL"
    if revision != latest_revision():
        return Finding(
            "database",
            "warning",
            f"{kind}, schema {revision}",
            "The next start migrates it; back up first.",
        )
    return Finding("database", "ok", f"{kind}, schema {revision}")


def _keys(settings: Settings) -> Finding:
    path = key_file(settings)
    if not path.exists():
        return Finding("keys", "info", "none yet; the first start creates them")
    try:
        Keyring.load(path)
    except StewardError as error:
        return Finding("keys", "failed", error.message, "Restore the key file from a backup.")
    if path.stat().st_mode & 0o077:
        return Finding("keys", "failed", "the key file is readable by others", f"chmod 600 {path}")
    return Finding("keys", "ok", "key file readable by its owner only")


def _port(settings: Settings) -> Finding:
    http = settings.http
    with socket.socket(socket.AF_INET6 if ":" in http.host else socket.AF_INET) as probe:
        probe.settimeout(1)
        if probe.connect_ex((http.host, http.port)) == 0:
            return Finding(
                "port",
                "info",
                f"something answers on {http.host}:{http.port} (perhaps Steward itself)",
            )
    return Finding("port", "ok", f"{http.host}:{http.port} is free")


def _web(_: Settings) -> Finding:
    built = Path(__file__).parent.parent / "api" / "web" / "index.html"
    if built.exists():
        return Finding("web app", "ok", "built")
    return Finding("web app", "warning", "not built", "Run 'make up' in the checkout.")


def _sandbox(_: Settings) -> Finding:
    if platform.system() != "Linux":
        return Finding(
            "sandbox", "warning", "needs Linux", "Code written by agents runs on Linux hosts only."
        )
    walls = {
        "user namespaces": _user_namespaces(),
        "Landlock": _landlock() > 0,
        "seccomp": _seccomp(),
    }
    standing = [name for name, stands in walls.items() if stands]
    missing = [name for name, stands in walls.items() if not stands]
    message = f"this kernel offers {', '.join(standing) or 'nothing'}"
    if missing:
        message += f"; not {', '.join(missing)}"
    if walls["Landlock"] and walls["seccomp"]:
        return Finding("sandbox", "ok", message)
    return Finding("sandbox", "warning", message, "Linux 5.13 or newer with Landlock is needed.")


def _landlock() -> int:
    """The Landlock version of the kernel, 0 when it has none."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, 1)))


def _seccomp() -> bool:
    return "Seccomp:" in Path("/proc/self/status").read_text()


def _user_namespaces() -> bool:
    """Tried in a throw-away process: settings alone do not tell."""
    attempt = f"import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare({_NEW_USER_NAMESPACE}) != 0)"
    done = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-I", "-c", attempt],
        env=minimal_environment(),
        check=False,
        timeout=20,
        capture_output=True,
    )
    return done.returncode == 0


def _model(_: Settings) -> Finding:
    return Finding("model", "info", "this version uses no model; nothing to set up")
