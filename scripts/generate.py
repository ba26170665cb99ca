"""Writes the files that are made from the code: OpenAPI document, references, graphs for the canvas's tests."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from typer.main import get_command

from steward.api import create_routes
from steward.cli.main import app
from steward.core.settings import settings_reference
from steward.flows import load_yaml
from steward.flows.drawing import drawing, expression_rules, node_types
from steward.playbooks import TELLING, as_yaml, read
from steward.playbooks.blueprint import read_blueprint
from steward.playbooks.compiling import compiled

ROOT = Path(__file__).resolve().parent.parent
# The tests import this as a module, people run it as a file.
sys.path.insert(0, str(ROOT))

from scripts.expression_cases import cases_document  # noqa: E402
from scripts.reference import reference_pages  # noqa: E402


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


def flow_vectors() -> str:
    """The graph of every blueprint and example as the server compiles it, for the tests of the web app's canvas."""
    texts = [
        (each.stem, as_yaml(read_blueprint(each.read_text()).playbook), True)
        for each in sorted((ROOT / "src/steward/playbooks/blueprints").glob("*.yaml"))
    ]
    texts += [
        (each.stem, each.read_text(), False)
        for each in sorted((ROOT / "examples/flows").glob("*.yaml"))
    ]
    found = []
    for name, text, is_playbook in texts:
        flow = compiled(read(text)[0]) if is_playbook else load_yaml(text)
        nodes, edges = drawing(flow)
        found.append(
            {"name": name, "text": text, "nodes": nodes, "edges": [asdict(each) for each in edges]}
        )
    types = [
        {name: getattr(each, name) for name in ("type", "exits", "graphs", "flows", "expressions")}
        for each in node_types()
    ]
    rules = asdict(expression_rules())
    vectors = {"types": types, "telling": TELLING, "expressions": rules, "flows": found}
    return json.dumps(vectors, indent=1, ensure_ascii=False) + "\n"


def generated() -> dict[Path, str]:
    names = json.loads((ROOT / "web/tests/flows/expressions.json").read_text())["names"]
    openapi = create_routes().openapi()
    document = json.dumps(openapi, indent=2, sort_keys=True, ensure_ascii=False)
    pages = reference_pages(openapi).items()
    return {
        ROOT / "web/openapi.json": document + "\n",
        ROOT / "web/tests/flows/vectors.json": flow_vectors(),
        ROOT / "web/tests/flows/random-expressions.json": cases_document(names),
        ROOT / "docs/reference/settings.md": settings_reference(),
        ROOT / "docs/reference/commands.md": command_reference(),
        **{ROOT / "docs/reference" / name: text for name, text in pages},
    }


def main() -> None:
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            sys.stdout.write(f"wrote {path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
