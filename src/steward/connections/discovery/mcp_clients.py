"""MCP servers in the configuration of programs that are clients of them already."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from steward.connections.discovery.proposal import Proposal, slug
from steward.connections.discovery.reading import json_of

_FILES: Final = (
    ("Claude Desktop", ".config/Claude/claude_desktop_config.json"),
    ("Claude Desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
    ("Claude Code", ".claude.json"),
    ("VS Code", ".config/Code/User/mcp.json"),
    ("VS Code", "Library/Application Support/Code/User/mcp.json"),
    ("Cursor", ".cursor/mcp.json"),
    ("Windsurf", ".codeium/windsurf/mcp_config.json"),
    ("Gemini CLI", ".gemini/settings.json"),
    ("LM Studio", ".lmstudio/mcp.json"),
)
_MOST: Final = 50
_SECRET_ARGUMENT: Final = re.compile(
    r"://[^/\s:@]*:[^/\s@]+@|(?i:(api[-_]?key|token|secret|passw(or)?d|pat)\b)"
    r"|\b(sk|xox[a-z]|gh[a-z]|pat)[-_][A-Za-z0-9_-]{10,}"
)


def find(home: Path) -> Iterator[Proposal]:
    for program, file in _FILES:
        document = json_of(home / file)
        if not isinstance(document, dict):
            continue
        for servers, place in _listed(document, f"{program} (~/{file})"):
            for name, entry in list(servers.items())[:_MOST]:
                if isinstance(entry, dict):
                    found = _proposed(str(name), entry, place)
                    if found is not None:
                        yield found


def _listed(document: Mapping[str, Any], place: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The servers of a file: those for everything, and those that a client keeps for single folders."""
    servers = document.get("mcpServers", document.get("servers"))
    if isinstance(servers, dict):
        yield servers, place
    folders = document.get("projects")
    for folder, content in list(folders.items())[:_MOST] if isinstance(folders, dict) else ():
        inner = content.get("mcpServers") if isinstance(content, dict) else None
        if isinstance(inner, dict):
            yield inner, f"{place}, for {str(folder)[:100]}"


def _proposed(name: str, entry: Mapping[str, Any], found_in: str) -> Proposal | None:
    place = f"{found_in}, {name[:80]}"
    url = entry.get("url", entry.get("serverUrl", entry.get("httpUrl")))
    if isinstance(url, str):
        if entry.get("type") == "sse":
            return None
        values = {f"header.{key}": value for key, value in _texts(entry.get("headers")).items()}
        refused = _SECRET_ARGUMENT.search(url) is not None
        return Proposal(
            "mcp",
            slug(name, "mcp"),
            place,
            {"transport": "http", "url": _hidden(url)},
            values,
            refused=_SAID if refused else "",
        )
    command = entry.get("command")
    if not isinstance(command, str) or not command:
        return None
    given = entry.get("args")
    args = [str(each) for each in given] if isinstance(given, list) else []
    refused = any(_SECRET_ARGUMENT.search(each) for each in args)
    settings: dict[str, Any] = {
        "transport": "stdio",
        "command": command,
        "args": [_hidden(each) for each in args],
    }
    if isinstance(entry.get("cwd"), str):
        settings["cwd"] = entry["cwd"]
    return Proposal(
        "mcp",
        slug(name, "mcp"),
        place,
        settings,
        # Which variables are secrets cannot be told from outside: all are kept as such.
        {f"env.{key}": value for key, value in _texts(entry.get("env")).items()},
        note="Accepting it makes the connection; the program is started only after it, too, was accepted.",
        refused=_SAID if refused else "",
    )


_SAID: Final = (
    "Its address or arguments hold what looks like a secret. Add it by hand, with the secret as a variable or "
    "header."
)


def _hidden(text: str) -> str:
    return "••••••" if _SECRET_ARGUMENT.search(text) else text


def _texts(value: Any) -> dict[str, str]:
    """Plain values; what the program would ask for or look up is not known here."""
    if not isinstance(value, dict):
        return {}
    return {
        str(key): str(text)
        for key, text in value.items()
        if isinstance(text, str | int) and text != "" and "${" not in str(text)
    }
