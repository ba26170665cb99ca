"""From an operation and its arguments to the request that is sent: addresses, queries, headers and bodies."""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlencode
from uuid import uuid4

from steward.connections.catalogue.record import Operation, Parameter
from steward.core import Invalid, Problem

_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
_FORM: Final = "application/x-www-form-urlencoded"
_MULTIPART: Final = "multipart/form-data"
_DELIMITERS: Final = {"spaceDelimited": " ", "pipeDelimited": "|"}


@dataclass(frozen=True)
class WireRequest:
    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


def completed(base_url: str, fields: Mapping[str, str]) -> str:
    """A base address with its variables filled in; refused when one is missing or leads elsewhere."""

    def value(match: re.Match[str]) -> str:
        given = fields.get(match.group(1), "")
        if not re.fullmatch(r"[A-Za-z0-9_.:-]{1,200}", given) or ".." in given:
            raise Invalid(
                f"The base address needs a value for {match.group(1)[:60]!r}: letters, digits and . - _ only.",
                problems=[Problem(f"/settings/fields/{match.group(1)[:60]}", "is needed")],
            )
        return given

    return _VARIABLE.sub(value, base_url)


def write_request(operation: Operation, arguments: Mapping[str, Any], base_url: str) -> WireRequest:
    """The request for arguments that fit the operation's schema."""
    given: dict[str, list[tuple[Parameter, Any]]] = {}
    for parameter in operation.parameters:
        value = arguments.get(parameter.name)
        if parameter.name in arguments and (value is not None or parameter.place == "body"):
            given.setdefault(parameter.place, []).append((parameter, value))
    paths = {each.sent_as: _in_path(each, value) for each, value in given.get("path", ())}
    query = [pair for each, value in given.get("query", ()) for pair in _in_query(each, value)]
    headers = {each.sent_as: _joined(value, ",") for each, value in given.get("header", ())}
    cookies = [
        f"{each.sent_as}={quote(_joined(value, ','), safe='')}"
        for each, value in given.get("cookie", ())
    ]
    if cookies:
        headers["Cookie"] = "; ".join(cookies)
    body = b""
    for _, value in given.get("body", ()):
        body, headers["Content-Type"] = _in_body(operation, value)
    return WireRequest(operation.verb, _address(operation, base_url, paths, query), headers, body)


def _address(
    operation: Operation, base_url: str, paths: Mapping[str, str], query: list[tuple[str, str]]
) -> str:
    where, _, fixed = operation.path.partition("?")

    def segment(match: re.Match[str]) -> str:
        if match.group(1) not in paths:
            raise Invalid(f"The path needs a value for {match.group(1)[:60]!r}.")
        return paths[match.group(1)]

    path = _VARIABLE.sub(segment, where)
    # What the path itself says after a question mark belongs to the operation.
    asked = "&".join(each for each in (fixed, urlencode(query, quote_via=quote)) if each)
    url = base_url.rstrip("/") + "/" + path.lstrip("/") if path.strip("/") else base_url
    return f"{url}?{asked}" if asked else url


def _in_path(parameter: Parameter, value: Any) -> str:
    text = _joined(value, ",")
    if not text:
        raise Invalid(f"{parameter.name!r} is part of the address and cannot be empty.")
    # `{+name}` takes slashes as they are; a step upwards it does not.
    kept = "/" if parameter.style == "reserved" else ""
    if any(part in {".", ".."} for part in text.split("/")):
        raise Invalid(f"{parameter.name!r} would lead out of the API's address.")
    return quote(text, safe=kept + "~")


def _in_query(parameter: Parameter, value: Any) -> Iterator[tuple[str, str]]:
    name = parameter.sent_as
    if isinstance(value, Mapping):
        if parameter.style == "deepObject" or not parameter.explode:
            yield from _nested(name, value)
        else:
            yield from ((str(key), _text(each)) for key, each in value.items())
    elif isinstance(value, list):
        delimiter = _DELIMITERS.get(parameter.style)
        if delimiter is None and parameter.explode:
            yield from ((name, _text(each)) for each in value)
        else:
            yield name, (delimiter or ",").join(_text(each) for each in value)
    else:
        yield name, _text(value)


def _in_body(operation: Operation, value: Any) -> tuple[bytes, str]:
    media = operation.body
    if media == _FORM and isinstance(value, Mapping):
        pairs = [pair for key, each in value.items() for pair in _nested(str(key), each)]
        return urlencode(pairs, quote_via=quote).encode(), media
    if media == _MULTIPART and isinstance(value, Mapping):
        return _multipart(operation, value)
    if isinstance(value, str) and not _is_json(media):
        binary = _is_binary(_body_schema(operation))
        return (_decoded(value) if binary or _is_octets(media) else value.encode()), media
    return json.dumps(value, ensure_ascii=False).encode(), media if _is_json(
        media
    ) else "application/json"


def _multipart(operation: Operation, value: Mapping[str, Any]) -> tuple[bytes, str]:
    boundary = uuid4().hex
    known = _body_schema(operation).get("properties", {})
    parts: list[bytes] = []
    for key, each in value.items():
        name = re.sub(r'[\r\n"\\]', "_", str(key))
        binary = _is_binary(known.get(key, {}))
        named = f'; filename="{name}"' if binary else ""
        content = _decoded(each) if binary and isinstance(each, str) else _text(each).encode()
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'
        parts.append(head.encode() + content + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"{_MULTIPART}; boundary={boundary}"


def _body_schema(operation: Operation) -> Mapping[str, Any]:
    name = next((each.name for each in operation.parameters if each.place == "body"), "")
    schema = operation.arguments.get("properties", {}).get(name, {})
    ref = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    found: Mapping[str, Any] = operation.arguments.get("$defs", {}).get(ref, schema)
    return found


def _nested(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _nested(f"{name}[{key}]", each)
    elif isinstance(value, list):
        for each in value:
            yield from _nested(f"{name}[]" if isinstance(each, Mapping | list) else name, each)
    elif value is not None:
        yield name, _text(value)


def _joined(value: Any, delimiter: str) -> str:
    if isinstance(value, list):
        return delimiter.join(_text(each) for each in value)
    if isinstance(value, Mapping):
        return delimiter.join(f"{key}{delimiter}{_text(each)}" for key, each in value.items())
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Invalid("A file is given as base64 text.") from None


def _is_json(media: str) -> bool:
    return media in {"", "*/*", "application/json"} or media.endswith("+json")


def _is_octets(media: str) -> bool:
    return media.startswith(("image/", "audio/", "video/")) or media in {
        "application/octet-stream", "application/zip", "application/gzip", "application/pdf",
    }  # fmt: skip


def _is_binary(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("format") in {"binary", "byte"}
