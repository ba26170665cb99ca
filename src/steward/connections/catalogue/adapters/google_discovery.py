"""Google's discovery documents: every Google API, as its own client libraries know it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from steward.connections.catalogue.names import MOST_OPERATIONS, named, slug, too_many
from steward.connections.catalogue.record import (
    LeftOut,
    Operation,
    Pagination,
    Parameter,
    Scheme,
    Service,
    risk_of_verb,
)
from steward.connections.catalogue.schemas import SchemaCopy
from steward.connections.mcp.definitions import disarmed
from steward.core import Invalid

_AUTHORIZE: Final = "https://accounts.google.com/o/oauth2/v2/auth"
_TOKEN: Final = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
_DEVICE: Final = "https://oauth2.googleapis.com/device/code"
_SCHEME: Final = "google"
_VERBS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
_Document = Mapping[str, Any]


def describe(
    document: _Document,
    sha256: str,
    id: str = "",  # noqa: A002
    *,
    outline: bool = False,
) -> Service:
    """The service; with `outline` its operations come without schemas, which is far quicker."""
    if document.get("kind") != "discovery#restDescription":
        raise Invalid("This is not a Google discovery document.", code="not-discovery")
    base = f"{document.get('rootUrl') or ''}{document.get('servicePath') or ''}"
    if not base.startswith("https://"):
        raise Invalid("The discovery document has no https address.", code="not-discovery")
    scopes = _mapping(_mapping(_mapping(document.get("auth")).get("oauth2")).get("scopes"))
    scheme = Scheme(
        _SCHEME,
        "google",
        authorization_url=_AUTHORIZE,
        token_url=_TOKEN,
        device_url=_DEVICE,
        scopes=tuple(str(each) for each in list(scopes)[:200]),
    )
    operations, left_out = _operations(document, outline=outline)
    name = str(document.get("name") or "api")
    return Service(
        id=id or slug(f"google-{name}"),
        title=disarmed(str(document.get("title") or name), 100),
        description=disarmed(str(document.get("description") or ""), 500),
        vendor="Google",
        adapter="google_discovery",
        version=disarmed(str(document.get("version") or ""), 40),
        licence="Apache-2.0",
        sha256=sha256,
        base_url=base.rstrip("/"),
        schemes=(scheme, Scheme("api_key", "api_key", "query", "key")),
        operations=tuple(operations),
        left_out=tuple(left_out),
    )


def _operations(document: _Document, *, outline: bool) -> tuple[list[Operation], list[LeftOut]]:
    taken: set[str] = set()
    found: list[Operation] = []
    left_out: list[LeftOut] = []
    prefix = f"{document.get('name')}."
    for key, told in _methods(document, 0):
        if len(found) + len(left_out) >= MOST_OPERATIONS:
            raise too_many()
        full = str(told.get("id") or key).removeprefix(prefix)
        name = named(full, key, taken)
        verb = str(told.get("httpMethod") or "").upper()
        path = str(told.get("path") or told.get("flatPath") or "")
        if name is None or verb not in _VERBS:
            why = "another operation has the same name" if name is None else "its verb is not known"
            left_out.append(LeftOut(disarmed(full, 200), why))
            continue
        taken.add(name)
        if outline:
            text = disarmed(str(told.get("description") or ""), 160)
            risk = risk_of_verb(verb)
            found.append(Operation(name, _title(name), text, verb, path, {}, risk=risk))
        else:
            found.append(_operation(document, name, verb, path, told))
    return found, left_out


def _methods(node: _Document, depth: int) -> Iterator[tuple[str, _Document]]:
    for name, told in _mapping(node.get("methods")).items():
        if isinstance(told, Mapping):
            yield str(name), told
    if depth < 20:
        for name, inner in _mapping(node.get("resources")).items():
            for key, told in _methods(_mapping(inner), depth + 1):
                yield f"{name}.{key}", told


def _operation(document: _Document, name: str, verb: str, path: str, told: _Document) -> Operation:
    schemas = _mapping(document.get("schemas"))

    def resolve(ref: str) -> Any:
        found = schemas.get(ref)
        return found if isinstance(found, Mapping) else None

    copy = SchemaCopy(resolve)
    fields: dict[str, Any] = {}
    needed: list[str] = []
    parameters: list[Parameter] = []
    for key, each in _mapping(told.get("parameters")).items():
        place = _mapping(each).get("location")
        if place not in {"path", "query"}:
            continue
        required = each.get("required") is True
        # `{+name}` takes slashes as they are.
        whole = f"{{+{key}}}" in path
        parameters.append(Parameter(key, key, place, required, "reserved" if whole else ""))
        kind = {word: value for word, value in each.items() if word != "required"}
        schema = copy.take(kind)
        fields[key] = {"type": "array", "items": schema} if each.get("repeated") is True else schema
        if required:
            needed.append(key)
    wanted = _mapping(told.get("request")).get("$ref")
    if isinstance(wanted, str):
        body = "body" if "body" not in fields else "request_body"
        parameters.append(Parameter(body, "body", "body"))
        fields[body] = copy.take({"$ref": wanted})
    arguments: dict[str, Any] = {
        "type": "object",
        "properties": fields,
        "additionalProperties": False,
    }
    if needed:
        arguments["required"] = needed
    answer = _answer(resolve, _mapping(told.get("response")).get("$ref"))
    scopes = _narrowest_first([str(each) for each in told.get("scopes") or ()])
    return Operation(
        name=name,
        title=_title(name),
        description=disarmed(str(told.get("description") or ""), 500),
        verb=verb,
        path="/" + path.replace("{+", "{").lstrip("/"),
        arguments=copy.finish(arguments),
        parameters=tuple(parameters),
        body="application/json" if isinstance(wanted, str) else "",
        auth=((_SCHEME,),) if scopes else (("api_key",), (_SCHEME,)),
        scopes=scopes,
        risk=risk_of_verb(verb),
        pagination=_pagination(fields, answer) if verb == "GET" else None,
        answer=answer,
        deprecated=told.get("deprecated") is True,
    )


def _answer(resolve: Any, ref: Any) -> dict[str, Any] | None:
    if not isinstance(ref, str):
        return None
    copy = SchemaCopy(resolve, inbound=False)
    return copy.finish(copy.take({"$ref": ref})) or None


def _pagination(fields: Mapping[str, Any], answer: Mapping[str, Any] | None) -> Pagination | None:
    if answer is None or "pageToken" not in fields:
        return None
    name = str(answer.get("$ref", "")).removeprefix("#/$defs/")
    given = _mapping(_mapping(_mapping(answer.get("$defs")).get(name)).get("properties"))
    lists = [key for key, each in given.items() if _mapping(each).get("type") == "array"]
    if "nextPageToken" not in given:
        return None
    return Pagination("token", "pageToken", "nextPageToken", lists[0] if len(lists) == 1 else "")


def _narrowest_first(scopes: list[str]) -> tuple[str, ...]:
    """Read-only scopes first, then the most specific: a scope that another one begins with is wider."""
    return tuple(sorted(scopes, key=lambda each: (not each.endswith("readonly"), -len(each), each)))


def _title(name: str) -> str:
    *where, what = name.split(".")
    spaced = "".join(f" {c.lower()}" if c.isupper() else c for c in what)
    return f"{' › '.join(where)}: {spaced}" if where else spaced


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
