"""AWS services, as botocore describes them; botocore also writes and signs the requests."""

import re
from collections.abc import Mapping
from typing import Any, Final

from steward.connections.catalogue.names import MOST_OPERATIONS, slug, too_many
from steward.connections.catalogue.record import (
    DESTROY,
    READ,
    SEND,
    ConnectionField,
    LeftOut,
    Operation,
    Pagination,
    Scheme,
    Service,
)
from steward.connections.catalogue.schemas import SchemaCopy
from steward.connections.mcp.definitions import disarmed
from steward.core import Invalid

_SCHEME: Final = "sigv4"
# HTTP's verbs mean nothing here (two thirds are POST); the names of operations follow a convention that does.
_READS: Final = ("List", "Get", "Describe", "BatchGet", "Head", "Search", "Query", "Scan", "Lookup")
_DESTROYS: Final = (
    "Delete", "Terminate", "Purge", "Remove", "Destroy", "Deregister", "Revoke", "BatchDelete", "Cancel",
    "Disable", "Stop", "Reset", "Release", "Reboot",
)  # fmt: skip
_KINDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "string": {"type": "string"},
    "character": {"type": "string"},
    "integer": {"type": "integer"},
    "long": {"type": "integer"},
    "short": {"type": "integer"},
    "byte": {"type": "integer"},
    "float": {"type": "number"},
    "double": {"type": "number"},
    "bigdecimal": {"type": "number"},
    "biginteger": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "timestamp": {"type": "string", "format": "date-time"},
    "blob": {"type": "string", "format": "byte"},
}
_Document = Mapping[str, Any]


def describe(
    document: _Document,
    sha256: str,
    name: str,
    paginators: _Document | None = None,
    *,
    outline: bool = False,
) -> Service:
    """`name` is botocore's for the service; with `outline` its operations come without schemas."""
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping) or "shapes" not in document:
        raise Invalid("This is not an AWS service description.", code="not-aws")
    told = document.get("operations") or {}
    if len(told) > MOST_OPERATIONS:
        raise too_many()
    pages = (paginators or {}).get("pagination") or {}
    operations: list[Operation] = []
    left_out: list[LeftOut] = []
    for key, each in told.items():
        if each.get("eventstream"):
            left_out.append(LeftOut(key, "it streams events in both directions"))
            continue
        if outline:
            text = disarmed(_text(each.get("documentation")), 160)
            verb = str(each.get("http", {}).get("method") or "POST")
            risk = risk_of(key, each)
            operations.append(Operation(key[:64], _spaced(key), text, verb, "/", {}, risk=risk))
        else:
            operations.append(_operation(document, key, each, pages.get(key)))
    title = str(metadata.get("serviceFullName") or metadata.get("serviceId") or name)
    return Service(
        id=slug(f"aws-{name}"),
        title=disarmed(title, 100),
        description=disarmed(_text(document.get("documentation")), 500),
        vendor="Amazon Web Services",
        adapter="aws",
        version=str(metadata.get("apiVersion") or ""),
        licence="Apache-2.0",
        sha256=sha256,
        schemes=(Scheme(_SCHEME, "sigv4"),),
        fields=(
            ConnectionField("region", "Region, such as eu-central-1", True, False, "us-east-1"),
        ),
        operations=tuple(operations),
        left_out=tuple(left_out),
        extra={"service": name},
    )


def _operation(
    document: _Document, key: str, told: Mapping[str, Any], pages: Mapping[str, Any] | None
) -> Operation:
    shapes = document["shapes"]

    def resolve(ref: str) -> Any:
        return _schema(shapes, ref)

    copy = SchemaCopy(resolve)
    wanted = told.get("input", {}).get("shape")
    whole = resolve(wanted) if wanted else {}
    fields = {name: copy.take(each) for name, each in (whole.get("properties") or {}).items()}
    arguments: dict[str, Any] = {
        "type": "object",
        "properties": fields,
        "additionalProperties": False,
    }
    if whole.get("required"):
        arguments["required"] = list(whole["required"])
    given = told.get("output", {}).get("shape")
    answer = None
    if given:
        back = SchemaCopy(resolve, inbound=False)
        answer = back.finish(back.take({"$ref": given})) or None
    needs_none = told.get("authtype") == "none" or told.get("auth") == ["smithy.api#noAuth"]
    return Operation(
        name=key[:64],
        title=_spaced(key),
        description=disarmed(_text(told.get("documentation")), 500),
        verb=str(told.get("http", {}).get("method") or "POST"),
        path=str(told.get("http", {}).get("requestUri") or "/").partition("?")[0],
        arguments=copy.finish(arguments),
        auth=() if needs_none else ((_SCHEME,),),
        risk=risk_of(key, told),
        pagination=_pagination(pages, fields),
        answer=answer,
        deprecated=bool(told.get("deprecated")),
    )


def risk_of(name: str, told: Mapping[str, Any]) -> str:
    """From the read-only trait and the first word of the name; what neither says may change something."""
    first = re.match(r"[A-Z][a-z]+(?:Get|Delete)?", name)
    word = first.group() if first else name
    if word.startswith(_DESTROYS):
        return DESTROY
    verb = str(told.get("http", {}).get("method") or "POST")
    if verb == "DELETE":
        return DESTROY
    if told.get("readonly") is True:
        return READ
    reads = name.startswith(_READS) and verb in {"GET", "HEAD", "POST"}
    return READ if reads else SEND


def _schema(shapes: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    shape = shapes.get(name)
    if shape is None:
        return None
    kind = shape.get("type")
    found: dict[str, Any]
    if kind == "structure":
        found = {
            "type": "object",
            "properties": {
                key: _member(shapes, member) for key, member in shape.get("members", {}).items()
            },
            "required": list(shape.get("required", ())),
        }
    elif kind == "list":
        found = {"type": "array", "items": _member(shapes, shape.get("member", {}))}
    elif kind == "map":
        found = {"type": "object", "additionalProperties": _member(shapes, shape.get("value", {}))}
    else:
        found = {**_KINDS.get(kind, {}), **({"enum": shape["enum"]} if shape.get("enum") else {})}
    if shape.get("document"):
        found = {}
    if shape.get("sensitive"):
        found["format"] = "password"
    text = _text(shape.get("documentation"))
    return {**found, **({"description": text} if text else {})}


def _member(shapes: Mapping[str, Any], member: Mapping[str, Any]) -> dict[str, Any]:
    name = str(member.get("shape") or "")
    shape = shapes.get(name, {})
    if shape.get("type") in {"structure", "list", "map"}:
        return {"$ref": name}
    text = _text(member.get("documentation"))
    return {**(_schema(shapes, name) or {}), **({"description": text} if text else {})}


def _pagination(pages: Mapping[str, Any] | None, fields: Mapping[str, Any]) -> Pagination | None:
    if not pages:
        return None
    token, back, items = (
        pages.get("input_token"),
        pages.get("output_token"),
        pages.get("result_key"),
    )
    if not isinstance(token, str) or not isinstance(back, str) or token not in fields:
        return None
    first = items[0] if isinstance(items, list) and items else items
    plain = re.compile(r"[A-Za-z0-9_.]+")
    # Some tokens are expressions over the answer; those pages are asked for one by one.
    if not plain.fullmatch(back):
        return None
    shown = first if isinstance(first, str) and plain.fullmatch(first) else ""
    return Pagination("token", token, back, shown)


def _text(html: Any) -> str:
    return re.sub(r"<[^>]*>", " ", str(html or ""))[:2_000]


def _spaced(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).split()
    return (
        " ".join([words[0], *(w if w.isupper() else w.lower() for w in words[1:])])
        if words
        else name
    )
