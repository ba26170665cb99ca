"""Writes the files that are made from the code: OpenAPI document, settings and command references."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from steward.api import create_routes
from steward.cli.main import app
from steward.core.settings import settings_reference

ROOT = Path(__file__).resolve().parent.parent


def commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its whole name."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name in inner:
        yield from commands(inner[name], f"{path} {name}")


def command_reference() -> str:
    lines = [
        "# Commands",
        "",
        "Made from the code by `make fmt`. Every command takes `--json` and `--help`; errors are one line on the",
        "error stream and exit code 1. `steward --install-completion` sets up the shell's completion.",
        "",
    ]
    for path, command in commands(get_command(app), "steward"):
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        options = [p for p in command.params if p.param_type_name == "option"]
        words = [p.name.upper() if p.required else f"[{p.name.upper()}]" for p in arguments]
        lines += [f"## `{' '.join([path, *words])}`", "", (command.help or "").strip(), ""]
        described = [(p.name.upper(), p) for p in arguments]
        described += [(p.opts[0], p) for p in options if "--json" not in p.opts]
        lines += [f"- `{name}` {parameter.help}" for name, parameter in described if parameter.help]
        if lines[-1]:
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def generated() -> dict[Path, str]:
    document = json.dumps(create_routes().openapi(), indent=2, sort_keys=True, ensure_ascii=False)
    return {
        ROOT / "web/openapi.json": document + "\n",
        ROOT / "docs/reference/settings.md": settings_reference(),
        ROOT / "docs/reference/commands.md": command_reference(),
    }


def main() -> None:
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            sys.stdout.write(f"wrote {path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
