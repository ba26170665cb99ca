"""The contract of plug-ins: reads a wheel, loads its parts and proves each with its kit.

python -m steward.testing.plugins WHEEL prints a line of JSON. It runs the code of the plug-in, so it is a process of
its own.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steward.broker import arguments_of, problems_of, with_defaults
from steward.core import StewardError
from steward.plugins import Part, Wheel, read_wheel
from steward.plugins import code as plugin_code
from steward.sandbox import Embedded, Request, Sandbox
from steward.testing.agents import check_package_agent
from steward.testing.connections import check_connector, example_settings
from steward.testing.guardrails import check_guardrail
from steward.testing.nodes import check_node
from steward.testing.tools import check_tool
from steward.testing.triggers import check_trigger
from steward.tools import call_of, dataset_fields


def check_plugin(content: bytes, home: Path) -> list[dict[str, Any]]:
    """What was proved and what not: a line for the wheel and for each part, with its problem if there is one."""
    try:
        wheel = read_wheel(content)
    except StewardError as problem:
        return [{"part": "wheel", "problem": problem.message}]
    results = [{"part": "wheel", "problem": each.message} for each in wheel.problems]
    if results:
        return results
    found: list[dict[str, Any]] = [{"part": f"{wheel.name} {wheel.version}", "problem": None}]
    try:
        loaded = plugin_code.load(wheel, home, 0) if wheel.needs_rights else None
    except StewardError as problem:
        return [*found, {"part": "code", "problem": problem.message}]
    sandbox = Sandbox(Embedded([]))
    try:
        for part in wheel.parts:
            items = loaded.parts if loaded is not None else {}
            said = "; ".join(_problems(wheel, part, items.get((part.kind, part.name)), sandbox))
            found.append({"part": f"{part.kind} {part.name}", "problem": said or None})
    finally:
        sandbox.shut()
        plugin_code.unload(wheel.name, 0)
    return found


def _problems(wheel: Wheel, part: Part, item: Any, sandbox: Sandbox) -> Iterator[str]:
    try:
        match part.kind:
            case "tool":
                check_tool(item)
            case "node":
                check_node(part.name, item)
            case "trigger":
                check_trigger(part.name, item)
            case "connector":
                check_connector(item, example_settings(item))
            case "guardrail":
                check_guardrail(part.name, item)
            case "agent":
                check_package_agent(item)
            case _:
                yield from _examples(wheel, part, sandbox)
    except AssertionError as problem:
        yield str(problem) or "a check failed without saying why"
    except Exception as problem:  # noqa: BLE001 - the code of others raises what it likes
        yield f"{type(problem).__name__}: {problem}"


def _examples(wheel: Wheel, part: Part, sandbox: Sandbox) -> Iterator[str]:
    schema = arguments_of(part.arguments or {}, part.name).model_json_schema()
    if not part.examples and not dataset_fields(schema):
        yield "TOOL has no examples; add one, so that the check can run the code"
    for number, example in enumerate(part.examples, 1):
        given = with_defaults(schema, example["arguments"])
        wrong = problems_of(schema, given)
        if wrong:
            yield f"example {number}: {wrong[0].pointer} {wrong[0].message}"
            continue
        request = Request(
            kind="python",
            code=wheel.source_of(part) + call_of(part.attribute),
            parameters={"arguments": json.dumps(given)},
        )
        answer = asyncio.run(sandbox.execute(request))
        if answer.status != "done":
            yield f"example {number} ended as {answer.status}: {answer.message}"
        elif answer.result != example["result"]:
            yield f"example {number} gave {json.dumps(answer.result)[:200]}"


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        results = check_plugin(Path(sys.argv[1]).read_bytes(), Path(home))
    sys.stdout.write(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()
