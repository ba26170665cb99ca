"""A service that is its own description: arguments that fit an operation, and a server that reads the request back by it."""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import httpx2

from steward.connections.catalogue.record import Operation

_DEEPEST = 8


def example(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Any:
    """The smallest value that fits a schema."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return "x"
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix("#/$defs/")
        return example(root.get("$defs", {}).get(name, {}), root, depth + 1)
    if "const" in schema or schema.get("enum"):
        return schema["const"] if "const" in schema else schema["enum"][0]
    if schema.get("allOf"):
        parts = [example(each, root, depth + 1) for each in schema["allOf"]]
        whole = {k: v for part in parts if isinstance(part, dict) for k, v in part.items()}
        return whole or parts[0]
    options = schema.get("anyOf") or schema.get("oneOf")
    return example(options[0], root, depth + 1) if options else _plain(schema, root, depth)


def _plain(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            fields = schema.get("properties", {})
            return {
                name: example(fields.get(name, {}), root, depth + 1)
                for name in schema.get("required", ())
            }
        case "array":
            return [example(schema.get("items", {}), root, depth + 1)] * schema.get("minItems", 1)
        case "integer" | "number":
            return max(schema.get("minimum", 1), schema.get("exclusiveMinimum", 0) + 1)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            text = "x" * max(1, schema.get("minLength", 1))
            pattern = schema.get("pattern")
            return text if pattern is None else _fitting(pattern, text)


def _fitting(pattern: str, text: str) -> str:
    """A text for the patterns that name resources, such as `^projects/[^/]+$`; of others the text as it is."""
    found = re.sub(r"\[\^/\]\+|\.[*+]", "x", pattern.removeprefix("^").removesuffix("$"))
    return found if re.fullmatch(pattern, found) else text


def arguments_for(operation: Operation) -> dict[str, Any]:
    """Required arguments, and the body where there is one."""
    found: dict[str, Any] = example(operation.arguments, operation.arguments)
    for each in operation.parameters:
        if each.place == "body" and each.name not in found:
            fields = operation.arguments["properties"]
            found[each.name] = example(fields[each.name], operation.arguments)
    return found


class Mock:
    """Reads a request by the description and answers 200, or says what is wrong with it."""

    def __init__(self) -> None:
        self.operation: Operation | None = None
        self.given: dict[str, Any] = {}

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        operation = self.operation
        assert operation is not None
        wrong = self._wrong(operation, request)
        return httpx2.Response(400 if wrong else 200, json={"wrong": wrong})

    def _wrong(self, operation: Operation, request: httpx2.Request) -> str:
        if request.method != operation.verb:
            return "verb"
        path = urlsplit(str(request.url)).path
        pattern = re.sub(r"\\\{[^{}]*\\\}", "(.+)", re.escape(operation.path.partition("?")[0]))
        matched = re.search(pattern + "$", path)
        if matched is None:
            return f"path {path}"
        names = re.findall(r"\{([^{}]*)\}", operation.path)
        heard: dict[str, list[str]] = {
            name: [unquote(value)] for name, value in zip(names, matched.groups(), strict=False)
        }
        asked = parse_qs(urlsplit(str(request.url)).query, keep_blank_values=True)
        for each in operation.parameters:
            if each.name not in self.given:
                continue
            if each.place == "path" and each.sent_as not in heard:
                return f"path lacks {each.sent_as}"
            if each.place == "query" and each.sent_as not in asked:
                return f"query lacks {each.sent_as}"
            if each.place == "header" and each.sent_as not in request.headers:
                return f"headers lack {each.sent_as}"
            if each.place == "body":
                sent = json.loads(request.content or b"null")
                if sent != self.given[each.name]:
                    return "body"
        return ""
