"""OpenAPI 3.0 to 3.2 and Swagger 2.0: any API that describes itself in the usual way."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from steward.connections.catalogue.names import (
    MOST_OPERATIONS,
    named,
    slug,
    too_many,
)
from steward.connections.catalogue.record import (
    ConnectionField,
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

_VERBS: Final = ("get", "head", "post", "put", "patch", "delete", "options")
_FORM: Final = "application/x-www-form-urlencoded"
_MULTIPART: Final = "multipart/form-data"
_JSON: Final = "application/json"
_PLACES: Final = frozenset({"path", "query", "header", "cookie"})
# The client says these itself, and OpenAPI says to ignore them.
_OWN_HEADERS: Final = frozenset(
    {"accept", "content-type", "authorization", "content-length", "host"}
)
_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
_Document = Mapping[str, Any]


class _LeftOut(Exception):
    """The operation is not offered, and why."""


def describe(document: _Document, sha256: str, address: str = "", id: str = "") -> Service:  # noqa: A002
    """The service that a document describes; `address` is where it was fetched from."""
    version = document.get("openapi") or document.get("swagger")
    if not isinstance(version, str) or not version.startswith(("2.", "3.")):
        raise Invalid(
            "This is not an OpenAPI 3 or Swagger 2 description: it has no field `openapi` or `swagger`.",
            code="not-openapi",
        )
    return _Reading(document, version.startswith("2."), sha256, address, id).service()


class _Reading:
    def __init__(
        self, document: _Document, swagger: bool, sha256: str, address: str, service_id: str
    ) -> None:
        self._document = document
        self._swagger = swagger
        self._sha256 = sha256
        self._address = address
        self._id = service_id

    def service(self) -> Service:
        info = _mapping(self._document.get("info"))
        base, fields = self._base(self._document)
        schemes = tuple(self._schemes())
        operations, left_out = self._operations({each.id for each in schemes})
        title = disarmed(str(info.get("title") or "API"), 100)
        host = urlsplit(base).hostname or str(info.get("x-providerName") or "")
        licence = _mapping(info.get("license"))
        tags = info.get("x-apisguru-categories")
        return Service(
            id=self._id or slug(title),
            title=title,
            description=disarmed(str(info.get("description") or ""), 500),
            vendor=disarmed(str(info.get("x-providerName") or _domain(host) or title), 100),
            adapter="openapi",
            version=disarmed(str(info.get("version") or ""), 40),
            licence=disarmed(str(licence.get("name") or licence.get("identifier") or ""), 100),
            sha256=self._sha256,
            base_url=base,
            schemes=schemes,
            fields=fields,
            categories=tuple(disarmed(str(each), 40) for each in tags[:5])
            if isinstance(tags, list)
            else (),
            operations=tuple(operations),
            left_out=tuple(left_out),
        )

    def _operations(self, schemes: set[str]) -> tuple[list[Operation], list[LeftOut]]:
        taken: set[str] = set()
        found: list[Operation] = []
        left_out: list[LeftOut] = []
        for path, verb, shared, told in self._places():
            if len(found) + len(left_out) >= MOST_OPERATIONS:
                raise too_many()
            name = named(str(told.get("operationId") or ""), f"{verb}_{path}", taken)
            shown = f"{verb.upper()} {disarmed(path, 200)}"
            if name is None:
                left_out.append(LeftOut(shown, "another operation has the same name"))
                continue
            try:
                found.append(self._operation(name, verb, path, shared, told, schemes))
                taken.add(name)
            except _LeftOut as why:
                left_out.append(LeftOut(shown, str(why)))
        return found, left_out

    def _places(self) -> Iterator[tuple[str, str, _Document, _Document]]:
        for path, item in _mapping(self._document.get("paths")).items():
            known = self._resolved(item)
            if not isinstance(known, Mapping):
                continue
            for verb in _VERBS:
                told = known.get(verb)
                if isinstance(told, Mapping):
                    yield str(path), verb, known, told

    def _operation(
        self,
        name: str,
        verb: str,
        path: str,
        shared: _Document,
        told: _Document,
        schemes: set[str],
    ) -> Operation:
        if not path.startswith("/") or len(path) > 1_000:
            raise _LeftOut("its path does not start with /")
        copy = SchemaCopy(self._schema)
        fields: dict[str, Any] = {}
        needed: list[str] = []
        parameters: list[Parameter] = []
        body = ""
        for each in self._parameters(shared, told):
            place = each["in"]
            if self._swagger and place in {"body", "formData"}:
                continue
            parameter = self._parameter(each, fields)
            parameters.append(parameter)
            fields[parameter.name] = self._parameter_schema(copy, each)
            if parameter.required:
                needed.append(parameter.name)
        where = path.partition("#")[0]
        for variable in _VARIABLE.findall(where):
            if not any(each.place == "path" and each.sent_as == variable for each in parameters):
                parameter = Parameter(_free(variable, fields), variable, "path", True)
                parameters.append(parameter)
                fields[parameter.name] = {"type": "string"}
                needed.append(parameter.name)
        media, schema, required = self._body(copy, shared, told)
        if media:
            body = media
            inside = _free("body", fields)
            parameters.append(Parameter(inside, "body", "body", required))
            fields[inside] = schema
            if required:
                needed.append(inside)
        base, _ = (
            self._base(told)
            if "servers" in told
            else self._base(shared)
            if "servers" in shared
            else ("", ())
        )
        arguments: dict[str, Any] = {
            "type": "object",
            "properties": fields,
            "additionalProperties": False,
        }
        if needed:
            arguments["required"] = needed
        answer = self._answer(told)
        auth, scopes = self._auth(told, schemes)
        # A fragment in a path tells apart operations of one address; it is not sent.
        return Operation(
            name=name,
            title=disarmed(str(told.get("summary") or _spaced(name)), 100),
            description=disarmed(str(told.get("description") or told.get("summary") or ""), 500),
            verb=verb.upper(),
            path=where,
            arguments=copy.finish(arguments),
            parameters=tuple(parameters),
            body=body,
            base_url=base,
            auth=auth,
            scopes=scopes,
            risk=risk_of_verb(verb),
            pagination=_pagination(parameters, fields, answer) if verb == "get" else None,
            answer=answer,
            tags=tuple(disarmed(str(each), 40) for each in _listed(told.get("tags"))[:5]),
            deprecated=told.get("deprecated") is True,
        )

    # ---- parameters and bodies

    def _parameters(self, shared: _Document, told: _Document) -> list[dict[str, Any]]:
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for each in [*_listed(shared.get("parameters")), *_listed(told.get("parameters"))]:
            known = self._resolved(each)
            if not isinstance(known, Mapping):
                raise _LeftOut("one of its parameters refers to something outside this document")
            name, place = str(known.get("name") or ""), str(known.get("in") or "")
            if place == "body":
                name = name or "body"
            if not name or len(name) > 200:
                raise _LeftOut("one of its parameters has no usable name")
            if place == "header" and name.lower() in _OWN_HEADERS:
                continue
            if place not in _PLACES | {"body", "formData"}:
                raise _LeftOut(f"a parameter is sent in a way that is not known: {place[:40]}")
            found[name, place] = {**known, "name": name, "in": place}
        return list(found.values())

    def _parameter(self, told: Mapping[str, Any], fields: Mapping[str, Any]) -> Parameter:
        place = told["in"]
        style = str(told.get("style") or "")
        explode = told.get("explode")
        if self._swagger:
            form = str(told.get("collectionFormat") or "csv")
            style = {"ssv": "spaceDelimited", "pipes": "pipeDelimited"}.get(form, "")
            explode = form == "multi"
        if not isinstance(explode, bool):
            explode = style in {"", "form", "deepObject"} and place in {"query", "cookie"}
        return Parameter(
            name=_free(told["name"], fields),
            sent_as=told["name"],
            place=place,
            required=told.get("required") is True or place == "path",
            style=style,
            explode=explode,
        )

    def _parameter_schema(self, copy: SchemaCopy, told: Mapping[str, Any]) -> dict[str, Any]:
        schema = told.get("schema")
        if schema is None and not self._swagger:
            content = _mapping(told.get("content"))
            schema = _mapping(next(iter(content.values()), None)).get("schema")
        elif schema is None:
            schema = {
                key: value for key, value in told.items() if key not in {"required", "description"}
            }
        found = copy.take(schema)
        text = told.get("description")
        if isinstance(text, str) and "$ref" not in found:
            found["description"] = disarmed(text, 300)
        return found

    def _body(
        self, copy: SchemaCopy, shared: _Document, told: _Document
    ) -> tuple[str, dict[str, Any], bool]:
        """Media type, schema, and whether it must be there; no media type where there is no body."""
        if self._swagger:
            return self._swagger_body(copy, shared, told)
        given = told.get("requestBody")
        if given is None:
            return "", {}, False
        known = self._resolved(given)
        if not isinstance(known, Mapping):
            raise _LeftOut("its body refers to something outside this document")
        content = _mapping(known.get("content"))
        if not content:
            return "", {}, False
        media = _best(list(content))
        schema = _mapping(content.get(media)).get("schema")
        return (
            media.partition(";")[0].strip().lower(),
            copy.take(schema),
            known.get("required") is True,
        )

    def _swagger_body(
        self, copy: SchemaCopy, shared: _Document, told: _Document
    ) -> tuple[str, dict[str, Any], bool]:
        given = self._parameters(shared, told)
        takes = _listed(told.get("consumes") or self._document.get("consumes"))
        media = _best([str(each) for each in takes]) if takes else ""
        whole = next((each for each in given if each["in"] == "body"), None)
        if whole is not None:
            chosen = media if media not in {"", _FORM, _MULTIPART} else _JSON
            return chosen, copy.take(whole.get("schema")), whole.get("required") is True
        form = [each for each in given if each["in"] == "formData"]
        if not form:
            return "", {}, False
        fields = {each["name"]: self._parameter_schema(copy, each) for each in form}
        needed = [each["name"] for each in form if each.get("required") is True]
        has_file = any(each.get("type") == "file" for each in form)
        schema: dict[str, Any] = {"type": "object", "properties": fields}
        if needed:
            schema["required"] = needed
        chosen = _MULTIPART if has_file or (_MULTIPART in takes and _FORM not in takes) else _FORM
        return chosen, schema, bool(needed)

    def _answer(self, told: _Document) -> dict[str, Any] | None:
        """The schema of the first successful answer in JSON."""
        answers = _mapping(told.get("responses"))
        good = sorted(str(each) for each in answers if str(each).startswith("2"))
        for status in [*good, "default"]:
            known = _mapping(self._resolved(answers.get(status) or answers.get(_number(status))))
            schema = known.get("schema")
            for media, each in _mapping(known.get("content")).items():
                if "json" in str(media):
                    schema = _mapping(each).get("schema")
                    break
            if isinstance(schema, Mapping):
                copy = SchemaCopy(self._schema, inbound=False)
                return copy.finish(copy.take(schema)) or None
        return None

    # ---- who calls, and where

    def _schemes(self) -> Iterator[Scheme]:
        where = self._document if self._swagger else _mapping(self._document.get("components"))
        key = "securityDefinitions" if self._swagger else "securitySchemes"
        for name, given in list(_mapping(where.get(key)).items())[:50]:
            known = self._resolved(given)
            if isinstance(known, Mapping):
                yield _scheme(str(name)[:100], known)

    def _auth(
        self, told: _Document, schemes: set[str]
    ) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
        given = told.get("security", self._document.get("security"))
        ways: list[tuple[str, ...]] = []
        scopes: list[str] = []
        for each in _listed(given)[:20]:
            if not isinstance(each, Mapping):
                continue
            ways.append(tuple(sorted(str(name) for name in each if str(name) in schemes)))
            for wanted in each.values():
                scopes += [str(scope)[:200] for scope in _listed(wanted)]
        return tuple(dict.fromkeys(ways)), tuple(dict.fromkeys(scopes))[:50]

    def _base(self, told: _Document) -> tuple[str, tuple[ConnectionField, ...]]:
        """The base address, with what a connection has to say to complete it."""
        if self._swagger:
            host = str(self._document.get("host") or urlsplit(self._address).netloc or "")
            schemes = [str(each) for each in _listed(self._document.get("schemes"))]
            scheme = "https" if not schemes or "https" in schemes else schemes[0]
            path = "/" + str(self._document.get("basePath") or "").strip("/")
            return (f"{scheme}://{host}{path}".rstrip("/") if host else ""), ()
        servers = [each for each in _listed(told.get("servers")) if isinstance(each, Mapping)]
        if not servers:
            return "", ()
        chosen = next((s for s in servers if str(s.get("url")).startswith("https:")), servers[0])
        url = str(chosen.get("url") or "")
        fields = []
        variables = _mapping(chosen.get("variables"))
        for name in dict.fromkeys(_VARIABLE.findall(url)):
            known = _mapping(variables.get(name))
            default = str(known.get("default") or "")
            choices = tuple(str(each) for each in _listed(known.get("enum"))[:50])
            title = disarmed(str(known.get("description") or name), 100)
            fields.append(ConnectionField(name[:60], title, not default, False, default, choices))
        if not urlsplit(url).scheme and self._address:
            url = urljoin(self._address, url)
        if url.startswith("//"):
            url = f"https:{url}"
        return (url.rstrip("/") if url.startswith(("https://", "http://")) else ""), tuple(fields)

    # ---- references

    def _schema(self, ref: str) -> Any:
        found = self._pointed(ref)
        return found if isinstance(found, Mapping) else None

    def _resolved(self, value: Any) -> Any:
        for _ in range(20):
            if not (isinstance(value, Mapping) and isinstance(value.get("$ref"), str)):
                return value
            value = self._pointed(value["$ref"])
        return None

    def _pointed(self, ref: str) -> Any:
        """What a reference within this document names; files and addresses are never opened."""
        if not ref.startswith("#/"):
            return None
        found: Any = self._document
        for part in ref[2:].split("/"):
            name = (
                part.replace("~1", "/").replace("~0", "~").replace("%7B", "{").replace("%7D", "}")
            )
            if isinstance(found, Mapping):
                found = found.get(name)
            elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
                found = found[int(name)]
            else:
                return None
        return found


def _scheme(name: str, told: Mapping[str, Any]) -> Scheme:
    kind = str(told.get("type") or "")
    way = str(told.get("scheme") or "").lower()
    if kind == "apiKey":
        place = str(told.get("in") or "header")
        where = place if place in {"header", "query", "cookie"} else "header"
        return Scheme(name, "api_key", where, str(told.get("name") or "")[:100])  # type: ignore[arg-type]
    if kind == "basic" or (kind == "http" and way == "basic"):
        return Scheme(name, "basic")
    if kind == "http" and way == "bearer":
        return Scheme(name, "bearer")
    if kind == "oauth2":
        flows = list(_mapping(told.get("flows")).values()) or [told]
        known = [each for each in flows if isinstance(each, Mapping)]
        return Scheme(
            name,
            "oauth2",
            authorization_url=_first(known, "authorizationUrl"),
            token_url=_first(known, "tokenUrl"),
            device_url=_first(known, "deviceAuthorizationUrl"),
            scopes=tuple(
                dict.fromkeys(str(s)[:200] for each in known for s in _mapping(each.get("scopes")))
            )[:500],
        )
    if kind == "openIdConnect":
        return Scheme(name, "oauth2")
    return Scheme(name, "mutual_tls" if kind == "mutualTLS" else "other")


def _first(flows: list[Mapping[str, Any]], key: str) -> str:
    return next((str(each[key])[:500] for each in flows if each.get(key)), "")


def _pagination(
    parameters: list[Parameter], fields: Mapping[str, Any], answer: Mapping[str, Any] | None
) -> Pagination | None:
    """A page's token is a parameter whose name comes back in the answer, by itself or after “next”."""
    asked = [each for each in parameters if each.place == "query"]
    given = list(_answer_fields(answer)) if answer else []
    for parameter in asked:
        plain = _plain(parameter.sent_as)
        for path, schema in given:
            name = _plain(path.rpartition(".")[2])
            texts = "string" in str(schema.get("type", "string"))
            if texts and (name == f"next{plain}" or (name == "next" and "cursor" in plain)):
                return Pagination("token", parameter.name, path, _items(answer))
    for parameter in asked:
        kind = str(fields.get(parameter.name, {}).get("type", ""))
        if kind in {"integer", "number"} and _plain(parameter.sent_as) in {"page", "offset"}:
            return Pagination(_plain(parameter.sent_as), parameter.name, "", _items(answer))  # type: ignore[arg-type]
    return None


def _answer_fields(answer: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Fields of an answer and of the objects directly in it."""

    def fields(schema: Any) -> Mapping[str, Any]:
        ref = str(_mapping(schema).get("$ref") or "")
        known = _mapping(answer.get("$defs")).get(ref.removeprefix("#/$defs/")) if ref else schema
        return _mapping(_mapping(known).get("properties"))

    for name, schema in fields(answer).items():
        yield name, _mapping(schema)
        for inner, each in fields(schema).items():
            yield f"{name}.{inner}", _mapping(each)


def _items(answer: Mapping[str, Any] | None) -> str:
    lists = [path for path, each in _answer_fields(answer or {}) if each.get("type") == "array"]
    return lists[0] if len(lists) == 1 else ""


def _best(media: list[str]) -> str:
    """The media type that can be filled in best: JSON, a form, files, then text."""
    plain = {each: each.partition(";")[0].strip().lower() for each in media}

    def rank(each: str) -> int:
        kind = plain[each]
        fits = (
            kind == _JSON,
            kind.endswith("+json"),
            kind == _FORM,
            kind == _MULTIPART,
            kind == "*/*",
            kind.startswith("text/"),
            True,
        )
        return fits.index(True)

    return min(media, key=rank, default="")


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """A name for an argument that no other has: a path and a query may both have an `id`."""
    base = name[:100]
    found, number = base, 2
    while found in taken:
        found, number = f"{base}_{number}", number + 1
    return found


def _domain(host: str) -> str:
    parts = host.split(".")
    return ".".join(parts[-2:]) if len(parts) >= 2 else host


def _spaced(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ")
    return words[:1].upper() + words[1:].replace("/", " ")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _number(text: str) -> Any:
    return int(text) if text.isdigit() else text


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
