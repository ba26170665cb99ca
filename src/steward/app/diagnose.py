"""Checks of the machine and the installation, each with the remedy when something is wrong."""

import asyncio
import os
import platform
import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from steward.app.diagnose_cluster import check_blobs, check_bus, check_workers
from steward.app.findings import Finding
from steward.app.foundation import (
    data_folders,
    key_file,
    open_database,
    open_sandbox,
    open_sources,
)
from steward.core import Settings, StewardError, SystemClock
from steward.models import probe
from steward.sandbox import Walls, load_providers
from steward.store import (
    Keyring,
    knows_revision,
    latest_revision,
    schema_revision,
    secrets_elsewhere,
    sqlite_version,
)

_GIB = 1 << 30


def diagnose(settings: Settings) -> list[Finding]:
    """Everything that can be found out; what a check makes to prove something, it removes again."""
    checks: tuple[Callable[[Settings], Finding], ...] = (
        _machine,
        _sqlite,
        _home,
        _disk,
        _database,
        check_bus,
        check_blobs,
        check_workers,
        _keys,
        check_secrets,
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
    if not knows_revision(revision):
        return Finding(
            "database",
            "failed",
            f"{kind}, schema {revision}: a newer version of Steward wrote it",
            "Install that version again, or restore a backup that this version made.",
        )
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
    found = path.stat()
    # Kubernetes hands a mounted secret to a group of the pod: root owns it, and the group reads.
    allowed = 0o040 if found.st_uid != os.geteuid() else 0
    if found.st_mode & 0o077 & ~allowed:
        return Finding("keys", "failed", "the key file is readable by others", f"chmod 600 {path}")
    return Finding("keys", "ok", "key file readable by no one else")


def check_secrets(settings: Settings) -> Finding:
    """Reads what secrets of projects refer to in other places, and shows none of it."""
    name = "secrets"
    has_database = settings.database.url is not None or (settings.home / "steward.db").exists()
    if not settings.secrets.sources or not has_database:
        return Finding(name, "ok", "in Steward's own store")
    try:
        database = open_database(settings)
        try:
            is_current = schema_revision(database) == latest_revision()
            kept = secrets_elsewhere(database) if is_current else []
        finally:
            database.close()
    except StewardError as error:
        return Finding(name, "info", f"not read: {error.message}")
    sources, failed = open_sources(settings, SystemClock()), {}
    for scope, source, reference in kept:
        # A source that does not answer is asked once.
        if source not in failed:
            try:
                sources.read(scope, source, reference)
            except StewardError as error:
                failed[source] = f"{source}: {error.message}"
    if failed:
        remedy = "Check the source under [secrets.sources] in steward.toml, and what its sign-in may read."
        return Finding(name, "failed", "; ".join(failed.values()), remedy)
    return Finding(name, "ok", f"{len(kept)} read from {', '.join(settings.secrets.sources)}")


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


def _sandbox(settings: Settings) -> Finding:
    """Raises the walls around a throw-away process that tries to get out, and takes them down."""
    minimum = settings.sandbox.minimum
    with tempfile.TemporaryDirectory(prefix="steward-doctor-") as folder:
        if not all(each.is_dir() for each in data_folders(settings)):
            # What is not there yet stays away: an empty home stands in for it.
            settings = settings.model_copy(update={"home": Path(folder)})
            for each in data_folders(settings):
                each.mkdir()
        try:
            sandbox = open_sandbox(settings)
        except StewardError as error:
            return Finding("sandbox", "failed", error.message, _remedy(settings))
        try:
            walls = asyncio.run(sandbox.walls())
        finally:
            sandbox.shut()
    reasons = "; ".join(walls.reasons)
    if not walls.reaches(minimum):
        wanted = f"{settings.sandbox.provider} reaches {walls.tier!r}, {minimum!r} is asked for"
        message = (
            f"no code is run: {wanted} ({reasons})" if reasons else f"no code is run: {wanted}"
        )
        return Finding("sandbox", "failed", message, _remedy(settings, walls))
    if walls.tier == "none":
        message = f"no wall stands and none is asked for ({reasons})"
        return Finding("sandbox", "warning", message, _remedy(settings, walls))
    held = f"{sum(walls.tried.values())} of {len(walls.tried)} attempts to get out were held"
    message = f"{settings.sandbox.provider}, tier {walls.tier}: {', '.join(walls.stood)}; {held}"
    if reasons:
        message += f"; not stronger because of {reasons}"
    return Finding("sandbox", "ok", message)


def _remedy(settings: Settings, walls: Walls | None = None) -> str:
    if walls is not None and walls.tier != "none":
        variable = "STEWARD_SANDBOX__MINIMUM"
        return f"Set {variable}={walls.tier} to accept these walls, or choose another provider."
    kind = settings.sandbox.provider
    known = load_providers()
    return known.get(kind).remedy if kind in known else "Check STEWARD_SANDBOX__PROVIDER."


def _model(settings: Settings) -> Finding:
    found = probe(settings)
    return Finding(found.subject, found.state, found.message, found.remedy)
