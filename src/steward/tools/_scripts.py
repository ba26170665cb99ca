"""Tools whose code is a script: of a skill, of a plug-in. It runs in the sandbox, over its arguments and the datasets they name."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from steward.broker import Arguments, Cost, Effects, Outcome, Risk, Tool, ToolContext, arguments_of
from steward.runs import Json
from steward.tools._installation import WORKBENCH
from steward.tools.execute_python import ExecutePython
from steward.tools.execute_python import run as run_python

DATASET: Final = "dataset"
"""The format of a text argument that names a dataset."""
_MOST_ROWS: Final = 1_000


def sandboxed_tool(
    *,
    name: str,
    title: str,
    description: str,
    arguments: Mapping[str, Any],
    risk: Risk,
    code: str,
    summary: str,
    source: str,
    pin: Json,
    function: str = "main",
) -> Tool[Any]:
    """A tool that calls `function(arguments, con)` of a script; `source` says where its results come from."""
    inputs = dataset_fields(arguments)

    async def run(context: ToolContext, given: Arguments) -> Outcome:
        values = given.model_dump(mode="json")
        asked = ExecutePython(
            code=code + call_of(function),
            parameters={"arguments": json.dumps(values)},
            limit=_MOST_ROWS,
        )
        names = _named(values, inputs)
        # No datasets means none here, and not all of the branch.
        done = await run_python(context, asked.model_copy(update={"datasets": names}))
        return replace(
            done,
            value=done.value["result"],
            summary=summary,
            sources=(*done.sources, source),
            # It says no more than the arguments did, unless it read rows.
            trusted=not names,
        )

    return Tool(
        name=name,
        title=title,
        description=description,
        arguments=arguments_of(arguments, name),
        risk=risk,
        run=run,
        effects=Effects(reads=bool(inputs)),
        # A sandbox leaves nothing behind, so that a second time is as good as the first.
        idempotent=True,
        timeout=timedelta(minutes=10),
        attempts=2,
        estimate=lambda context, given: _cost(context, given, inputs),
        pin=pin,
    )


def call_of(function: str) -> str:
    """What stands after the script, so that its lines keep their numbers."""
    return f'\n\nimport json\nresult = {function}(json.loads(parameters["arguments"]), con)\n'


def dataset_fields(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments that name datasets: texts of format `dataset`, or lists of them."""
    fields = schema.get("properties", {})
    return tuple(name for name, each in fields.items() if _is_dataset(each))


def _is_dataset(field: Any) -> bool:
    if not isinstance(field, Mapping):
        return False
    return field.get("format") == DATASET or _is_dataset(field.get("items"))


def _named(given: Mapping[str, Any], fields: Iterable[str]) -> list[str]:
    names: dict[str, None] = {}
    for field in fields:
        value = given.get(field)
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str):
                names[name] = None
    return list(names)


def _cost(context: ToolContext, arguments: Arguments, fields: tuple[str, ...]) -> Cost:
    names = set(_named(arguments.model_dump(mode="json"), fields))
    place = context.services.use(WORKBENCH).datasets.workspace(
        context.scope, context.author, context.run_id
    )
    known = [each for each in place.datasets(context.branch) if each.name in names]
    return Cost(bytes=sum(each.bytes for each in known))
