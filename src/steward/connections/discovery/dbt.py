"""Databases in the profiles of dbt."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from steward.connections.discovery.environment import server
from steward.connections.discovery.proposal import Proposal, slug
from steward.connections.discovery.reading import yaml_of

_SERVERS = {"postgres": "postgresql", "mysql": "mysql", "mysql5": "mysql", "mariadb": "mysql"}
_FILES = {"duckdb", "sqlite"}
_MOST = 50


def find(home: Path) -> Iterator[Proposal]:
    document = yaml_of(home / ".dbt" / "profiles.yml")
    if not isinstance(document, dict):
        return
    for profile, content in list(document.items())[:_MOST]:
        outputs = content.get("outputs") if isinstance(content, dict) else None
        if not isinstance(outputs, dict):
            continue
        for target, output in list(outputs.items())[:_MOST]:
            if isinstance(output, dict):
                place = f"~/.dbt/profiles.yml, {profile}.{target}"
                yield from _proposed(output, f"{profile}_{target}", place)


def _proposed(output: Mapping[str, Any], name: str, found_in: str) -> Iterator[Proposal]:
    kind = str(output.get("type", ""))
    if kind in _FILES and _text(output, "path"):
        path = _text(output, "path")
        if path.startswith("/"):
            yield Proposal("database_file", slug(name, "file"), found_in, {"path": path})
        return
    if kind not in _SERVERS:
        return
    settings: dict[str, Any] = {
        "host": _text(output, "host", "server"),
        "database": _text(output, "dbname", "database", "schema" if "mysql" in kind else "dbname"),
        "user": _text(output, "user", "username"),
    }
    port = str(output.get("port", ""))
    if port.isdigit():
        settings["port"] = int(port)
    if _text(output, "sslmode") in {"disable", "prefer", "require", "verify-ca", "verify-full"}:
        settings["tls"] = _text(output, "sslmode")
    found = server(_SERVERS[kind], settings, _text(output, "password", "pass"), found_in)
    yield Proposal(
        found.kind, slug(name, "database"), found_in, found.settings, found.values, found.missing
    )


def _text(output: Mapping[str, Any], *names: str) -> str:
    """A plain value; what dbt would compute with a template is not known here."""
    for name in names:
        value = output.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            text = str(value)
            if text and "{{" not in text:
                return text
    return ""
