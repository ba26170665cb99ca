"""The pages of the reference that are made from the code: API, nodes, tools, connectors, expressions."""

import html
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from steward.connections import load_connectors
from steward.flows.drawing import expression_rules, node_types
from steward.tools import load_tools

_MADE: Final = "Made from the code by `make fmt`."
_RISKS: Final = {
    "read": "Reads inside Steward or a connected source.",
    "compute": "Calculates; changes nothing that exists.",
    "write": "Changes data or documents inside Steward. Can be undone.",
    "external_send": "Sends something out of Steward.",
    "destructive": "Deletes something for good.",
    "admin": "Changes who may do what.",
    "secret": "Reads or changes secrets.",
}
_SHARED: Final = ("title", "start", "on_error", "retries")
_ACCESS: Final = {"public": "anyone", "user": "signed in"}


def reference_pages(openapi: Mapping[str, Any]) -> dict[str, str]:
    """Text by file name."""
    return {
        "api.md": _api_page(openapi),
        "nodes.md": _nodes_page(),
        "tools.md": _tools_page(),
        "connectors.md": _connectors_page(),
        "expressions.md": _expressions_page(),
    }


def _page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", *(part.strip() for part in parts if part.strip())]) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_row(head), "|" + "---|" * len(head), *(_row(row) for row in rows)]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    """Safe in a table: readers of Markdown differ about a bar in code, so that one is written as HTML."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        return html.escape("`".join(parts), quote=False).replace("|", "&#124;")
    for place, part in enumerate(parts):
        if place % 2 == 0:
            parts[place] = html.escape(part, quote=False).replace("|", "&#124;")
        elif "|" in part:
            inside = html.escape(part, quote=False).replace("|", "&#124;")
            parts[place] = f"<code>{inside}</code>"
        else:
            parts[place] = f"`{part}`"
    return "".join(parts)


def _api_page(openapi: Mapping[str, Any]) -> str:
    groups: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for path, operations in openapi["paths"].items():
        for method, each in operations.items():
            tag = (each.get("tags") or ["other"])[0]
            told = each.get("description") or each.get("summary", "")
            first = told.strip().split("\n\n")[0]
            groups[tag].append(
                (f"`{method.upper()}`", f"`{path}`", _access(each), first.rstrip(".") + ".")
            )
    sections = [
        f"## {tag.replace('_', ' ').capitalize()}\n\n"
        + _table(("method", "path", "who", "what it does"), groups[tag])
        for tag in sorted(groups)
    ]
    return _page(
        "HTTP API",
        f"{_MADE} The full description, with every field, is at `/api/v1/openapi.json` of your installation. Programs send\n"
        "an API token as `Authorization: Bearer …`. Errors are `application/problem+json` with `code`, `detail` and the place\n"
        "of the mistake. The column *who* names the lowest role that may call it.",
        *sections,
    )


def _access(operation: Mapping[str, Any]) -> str:
    told = operation.get("x-steward-access", "")
    name = told.get("role", told.get("kind", "")) if isinstance(told, Mapping) else str(told)
    return _ACCESS.get(name, name)


def _nodes_page() -> str:
    sections = []
    for each in node_types():
        parts = [f"## `{each.type}`", each.description]
        if each.exits:
            ways = ", ".join(f"`{way}`" for way in each.exits if not way.startswith("/"))
            own = "one for each case" if any(way.startswith("/") for way in each.exits) else ""
            parts.append(f"Exits: {', '.join(way for way in (own, ways) if way)}.")
        parts.append(_fields(each.schema, hidden=_SHARED))
        if each.graphs or each.flows:
            inside = ", ".join(
                f"`{p.strip('/').split('/')[0]}`" for p in (*each.graphs, *each.flows)
            )
            parts.append(f"Contains steps of its own in {inside}.")
        sections.append("\n\n".join(part for part in parts if part))
    first = node_types()[0].schema
    shared = {
        "properties": {name: first["properties"][name] for name in _SHARED},
        "$defs": first.get("$defs", {}),
    }
    return _page(
        "Node types",
        f"{_MADE} Every node has an `id`, a `type` and `needs`, the nodes before it. See the [guide to flows](../guides/flows.md).",
        "## Fields of every node\n\n" + _fields(shared),
        *sections,
    )


def _tools_page() -> str:
    found = [tool for _, tool in load_tools() if tool.run.__module__.startswith("steward.tools.")]
    risks = "\n".join(f"- `{name}`: {words}" for name, words in _RISKS.items())
    overview = _table(
        ("tool", "what it does", "risk"),
        [(f"[`{each.name}`](#{each.name})", each.title, f"`{each.risk.value}`") for each in found],
    )
    return _page(
        "Tools",
        f"{_MADE} The broker checks every call: arguments, policy, budget, approval. See the [guide to runs](../guides/runs.md).\n"
        "The role of an argument says what it is for; see [roles of arguments](../guides/hostile.md#roles-of-arguments).",
        "## Risk classes\n\n" + risks,
        "## All tools\n\n" + overview,
        *(_tool_section(each) for each in found),
    )


def _tool_section(tool: Any) -> str:
    marks = [f"Risk: `{tool.risk.value}`."]
    if tool.dry_run is not None:
        marks.append("Shows its effect in a dry run first.")
    if tool.undo_is_compensation:
        marks.append("Undo sends a correction.")
    elif tool.undo is not None:
        marks.append("Has its own undo.")
    if tool.direct_only:
        marks.append("Only people can call it; agents and flows cannot.")
    if tool.memory_only:
        marks.append("Only agents with a memory can call it.")
    parts = [f"## `{tool.name}` {{ #{tool.name} }}", f"{tool.title}. {tool.description.strip()}"]
    return "\n\n".join([*parts, " ".join(marks), _fields(tool.schema(), roles=True)]).strip()


def _connectors_page() -> str:
    sections = []
    for _, each in load_connectors():
        if not each.check.__module__.startswith("steward."):
            continue
        parts = [f"## {each.title}", f"Kind: `{each.kind}`. {each.description}"]
        parts.append(_fields(each.schema()))
        if each.secrets:
            rows = [
                (
                    f"`{s.name}`",
                    "yes" if s.required else "no",
                    f"{s.title}. {s.description}".strip(),
                )
                for s in each.secrets
            ]
            parts.append("Secrets:\n\n" + _table(("name", "required", "meaning"), rows))
        sections.append("\n\n".join(part for part in parts if part))
    return _page(
        "Connectors",
        f"{_MADE} These are the built-in kinds of connections. Services that describe themselves by OpenAPI, GraphQL or gRPC come\n"
        "from the catalogue. See the [guide to connections](../guides/connections.md).",
        *sections,
    )


def _expressions_page() -> str:
    rules = expression_rules()
    named: dict[bool, list[tuple[str, str]]] = {True: [], False: []}
    for name, signatures in rules.signatures.items():
        operator = "_" in name
        shown = name.replace("_", " ").strip() if operator else name
        shown = {"[ ]": "a[b]"}.get(shown, shown)
        named[operator].append(
            (f"`{shown}`", "; ".join(_signature(s, rules.words) for s in signatures))
        )
    return _page(
        "Expressions",
        f"{_MADE} Conditions and values of flows, playbooks and triggers are [CEL](https://cel.dev) over JSON values.\n"
        "`${ … }` inside a text is replaced by its value. A text that is nothing but one `${ … }` becomes the value itself, of any\n"
        "type. `$${` writes `${`.",
        f"An expression has at most {rules.longest:,} characters and {rules.deepest} nested levels.",
        "## Names\n\n"
        + ", ".join(f"`{each}`" for each in rules.roots)
        + ". The output of a node is `nodes.<id>.output`.",
        "## Operators\n\n" + _table(("operator", "takes → gives"), named[True]),
        "## Functions\n\nWrite a function as `f(x)`, and also as `x.f()` unless the list below excludes it.\n\n"
        + _table(("function", "takes → gives"), named[False]),
        "Only as `f(x)`: "
        + ", ".join(f"`{each}`" for each in rules.no_methods if each in rules.signatures)
        + ".",
        "## Macros\n\nOver a list, with a name for the item: "
        + ", ".join(f"`list.{each}(item, …)`" for each in rules.macros)
        + ".",
    )


def _signature(types: Sequence[str], words: Mapping[str, str]) -> str:
    told = [words.get(each, each) for each in types]
    return f"{', '.join(told[:-1])} → {told[-1]}"


def _fields(schema: Mapping[str, Any], *, hidden: Iterable[str] = (), roles: bool = False) -> str:
    required = set(schema.get("required", ()))
    definitions = schema.get("$defs", {})
    rows = []
    for name, field in schema.get("properties", {}).items():
        if name in hidden:
            continue
        cells = [f"`{name}`", _type(field, definitions), _default(name, field, required)]
        if roles:
            cells.append(_role(field, definitions))
        rows.append([*cells, str(field.get("description", "")).split("\n\n")[0]])
    head = ["field", "type", "default", *(["role"] if roles else []), "meaning"]
    return _table(head, rows) if rows else ("Takes no arguments." if roles else "")


def _default(name: str, field: Mapping[str, Any], required: set[str]) -> str:
    if name in required:
        return "required"
    value = field.get("default")
    if value is None or value in ("", [], {}):
        return "–"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _role(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    for each in _alternatives(field, definitions):
        found = each.get("x-role") or each.get("items", {}).get("x-role")
        if found:
            return f"`{found}`"
    return ""


def _alternatives(
    field: Mapping[str, Any], definitions: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    found = [field, *field.get("anyOf", ()), *field.get("oneOf", ()), *field.get("allOf", ())]
    named = [definitions.get(str(each.get("$ref", "")).rpartition("/")[2], {}) for each in found]
    return [each for each in (*found, *named) if each]


def _type(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """In the words people use; the value that is no value is left out, as optional fields show it by their default."""
    if "$ref" in field:
        return _type(definitions.get(str(field["$ref"]).rpartition("/")[2], {}), definitions)
    if "enum" in field:
        return ", ".join(f"`{each}`" for each in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    several = field.get("anyOf") or field.get("oneOf")
    if several:
        told = [_type(each, definitions) for each in several if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(told))
    kind = field.get("type")
    if kind == "array":
        return f"list of {_type(field.get('items', {}), definitions)}"
    words = {"string": "text", "integer": "whole number", "boolean": "true or false"}
    return words.get(str(kind), str(kind) if kind else "any value")
