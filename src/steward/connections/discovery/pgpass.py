"""Databases in the password file of PostgreSQL's own programs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steward.connections.discovery.environment import server
from steward.connections.discovery.proposal import Proposal
from steward.connections.discovery.reading import text_of

_MOST = 50


def find(home: Path) -> Iterator[Proposal]:
    # Like libpq: a password file that others may read is not read.
    text = text_of(home / ".pgpass", private=True)
    for number, line in enumerate((text or "").splitlines()[:_MOST], start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = _fields(line)
        if len(fields) != 5 or fields[0] == "*":
            continue
        host, port, database, user, password = fields
        settings: dict[str, Any] = {
            "host": host,
            "database": "" if database == "*" else database,
            "user": "" if user == "*" else user,
        }
        if port.isdigit():
            settings["port"] = int(port)
        yield server("postgresql", settings, password, f"~/.pgpass, line {number}")


def _fields(line: str) -> list[str]:
    """Split at colons; a backslash takes the next character as it is."""
    fields: list[str] = []
    current, escaped = "", False
    for character in line:
        if escaped or character not in ":\\":
            current += character
            escaped = False
        elif character == "\\":
            escaped = True
        elif len(fields) == 4:
            current += character
        else:
            fields.append(current)
            current = ""
    return [*fields, current]
