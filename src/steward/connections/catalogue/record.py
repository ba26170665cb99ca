"""What the catalogue knows of a service and its operations: one record, whatever the description was written in."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

Adapter = Literal["openapi", "google_discovery", "aws", "notify", "graphql", "grpc"]
SchemeKind = Literal[
    "api_key", "bearer", "basic", "oauth2", "sigv4", "google", "mutual_tls", "other"
]
Place = Literal["path", "query", "header", "cookie", "body"]
RECORD_VERSION: Final = 1

_ALWAYS: Final = frozenset({"name", "title", "description", "verb", "path"})
READ: Final = "read"
SEND: Final = "external_send"
DESTROY: Final = "destructive"
_RISKS: Final[Mapping[str, str]] = {
    "GET": READ,
    "HEAD": READ,
    "OPTIONS": READ,
    "DELETE": DESTROY,
}


def risk_of_verb(verb: str) -> str:
    """What a call can do at worst, by the meaning that HTTP gives its verb. Nothing else lowers it."""
    return _RISKS.get(verb.upper(), SEND)


@dataclass(frozen=True)
class Scheme:
    """A way to say who calls, as the description names it."""

    id: str
    kind: SchemeKind
    place: Literal["header", "query", "cookie", ""] = ""
    name: str = ""
    """Of the header, query parameter or cookie that holds an API key."""
    authorization_url: str = ""
    token_url: str = ""
    device_url: str = ""
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parameter:
    """Where one argument goes in the request."""

    name: str
    """Among the arguments."""
    sent_as: str
    place: Place
    required: bool = False
    style: str = ""
    explode: bool = True


@dataclass(frozen=True)
class Pagination:
    """How the next page is asked for."""

    kind: Literal["token", "page", "offset"]
    parameter: str
    """The argument that says which page."""
    next: str = ""
    """Where an answer holds the value for the next page, as names joined by dots."""
    items: str = ""
    """Where an answer holds its items; empty where the description does not say."""
    more: str = ""
    """Where an answer says whether there is a next page; empty where the value for it says so."""


@dataclass(frozen=True)
class Operation:
    name: str
    title: str
    description: str
    """Foreign text, disarmed: for people, and for models only with a label."""
    verb: str
    path: str
    arguments: Mapping[str, Any]
    """JSON Schema of an object, complete in itself; the roles of its fields are for a person to confirm."""
    parameters: tuple[Parameter, ...] = ()
    body: str = ""
    """Media type of the body; empty where there is none."""
    base_url: str = ""
    """Where the operation is, if that is not the service's own base address."""
    auth: tuple[tuple[str, ...], ...] = ()
    """Alternatives; each names the schemes that are needed together. None: nobody has to say who calls."""
    scopes: tuple[str, ...] = ()
    """OAuth scopes of which the first is the narrowest."""
    risk: str = SEND
    pagination: Pagination | None = None
    answer: Mapping[str, Any] | None = None
    tags: tuple[str, ...] = ()
    deprecated: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What the adapter needs when it calls."""

    @property
    def hash(self) -> str:
        """Of everything that says what a call does: plans and confirmed roles are bound to it."""
        return _digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        found = {
            key: value
            for key, value in asdict(self).items()
            if key in _ALWAYS or value not in (None, (), "")
        }
        # Hashes of operations that do without these stay what they were before there were any.
        if not self.extra:
            del found["extra"]
        if self.pagination is not None and not self.pagination.more:
            del found["pagination"]["more"]
        return found

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Operation":
        known = dict(document)
        page = known.pop("pagination", None)
        return cls(
            **{
                **known,
                "parameters": tuple(Parameter(**each) for each in known.get("parameters", ())),
                "auth": tuple(tuple(each) for each in known.get("auth", ())),
                "scopes": tuple(known.get("scopes", ())),
                "tags": tuple(known.get("tags", ())),
            },
            pagination=Pagination(**page) if page else None,
        )


@dataclass(frozen=True)
class ConnectionField:
    """What a connection to the service has to say, besides its credentials."""

    name: str
    title: str
    required: bool = False
    secret: bool = False
    default: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class LeftOut:
    """An operation that the description names and Steward does not offer."""

    operation: str
    reason: str


@dataclass(frozen=True)
class Service:
    id: str
    title: str
    description: str
    vendor: str
    adapter: Adapter
    version: str
    licence: str
    sha256: str
    """Of the description, byte for byte."""
    base_url: str = ""
    schemes: tuple[Scheme, ...] = ()
    fields: tuple[ConnectionField, ...] = ()
    categories: tuple[str, ...] = ()
    operations: tuple[Operation, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What the adapter needs when it calls: the name of the service in its library, and the like."""

    def header(self) -> dict[str, Any]:
        """Everything but the operations, as JSON."""
        return {
            **{key: getattr(self, key) for key in _PLAIN},
            "schemes": [asdict(each) for each in self.schemes],
            "fields": [asdict(each) for each in self.fields],
            "left_out": [asdict(each) for each in self.left_out],
            "categories": list(self.categories),
            "extra": dict(self.extra),
            "record": RECORD_VERSION,
        }

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every base address that a call may go to."""
        found = {self.base_url, *(each.base_url for each in self.operations)}
        return tuple(sorted(each for each in found if each))


_PLAIN: Final = (
    "id", "title", "description", "vendor", "adapter", "version", "licence", "sha256", "base_url",
)  # fmt: skip


def service_from_header(
    header: Mapping[str, Any], operations: tuple[Operation, ...] = ()
) -> Service:
    return Service(
        **{key: header[key] for key in _PLAIN},
        schemes=tuple(
            Scheme(**{**each, "scopes": tuple(each["scopes"])}) for each in header["schemes"]
        ),
        fields=tuple(
            ConnectionField(**{**each, "choices": tuple(each["choices"])})
            for each in header["fields"]
        ),
        left_out=tuple(LeftOut(**each) for each in header["left_out"]),
        categories=tuple(header["categories"]),
        extra=header["extra"],
        operations=operations,
    )


def _digest(document: Any) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
