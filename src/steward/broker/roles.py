"""What an argument is for: declared in the tool's schema, read here and nowhere else.

A tool's author declares the role of each argument with the keyword `x-role` of its JSON Schema. A role covers everything
inside the argument, unless a field inside declares its own. Enforcement, policies and approval cards act on roles and
never on names; an argument without a role counts as the strictest one.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from steward.broker.schemas import NAMED, VALUES, Schema, resolved
from steward.core import Invalid
from steward.runs import Json

KEYWORD: Final = "x-role"
NEW: Final = "x-may-be-new"
ONLY_READS: Final = "x-only-reads"
CODE: Final = "x-code"
"""What a text is written in: `sql`, `python`, or `{"field": …}` with the name of the argument that says it."""
_KEYWORDS: Final = frozenset({KEYWORD, NEW, ONLY_READS, CODE})
_MOST_FIELDS: Final = 2_000
"""Fields that are looked at, the outer ones first; further ones count as undeclared."""


class Role(StrEnum):
    """What an argument is for. The order is the order in which people see arguments."""

    recipient = "recipient"
    """Who gets something: a person, an address, an account, a channel."""
    destination = "destination"
    """The address or system that is opened or that data goes to: a URL, a host, an endpoint."""
    amount = "amount"
    """How much: money, a quantity, a price."""
    target = "target"
    """What the call works on or takes along: a dataset, a file, an attachment, a record's number."""
    reach = "reach"
    """How far or how often it takes effect: a permission, who can see it, whether it repeats, an HTTP method."""
    secret = "secret"  # noqa: S105
    """A credential, or the name of one."""
    undeclared = "undeclared"
    """Nobody said. Treated as recipient, destination and amount at once; cannot be declared."""
    content = "content"
    """Words or data that are sent or kept for somebody to read."""
    selector = "selector"
    """Which part of the data: columns, filters, a query, code that runs in the sandbox."""
    plain = "plain"
    """None of these: limits, formats, dates, options without consequences outside the call."""

    @property
    def says_where(self) -> bool:
        """Whether the value decides who or what receives something."""
        return self in {Role.recipient, Role.destination, Role.undeclared}

    @property
    def is_address(self) -> bool:
        """Whether the value is opened."""
        return self in {Role.destination, Role.undeclared}

    @property
    def names_something(self) -> bool:
        """Whether the value names where something goes, or what it happens to: only people and plans do that."""
        return self.says_where or self in {Role.target, Role.secret}

    @property
    def is_amount(self) -> bool:
        return self in {Role.amount, Role.undeclared}

    @property
    def is_weighty(self) -> bool:
        """Whether the argument stays empty unless a person or the plan mentions it."""
        return self not in {Role.content, Role.selector, Role.plain}

    @property
    def is_free(self) -> bool:
        """Whether the argument has room for a message by its purpose, whatever it holds now."""
        return self in {Role.content, Role.undeclared}


DECLARABLE: Final = tuple(role for role in Role if role is not Role.undeclared)


@dataclass(frozen=True)
class HasRole:
    """Declares a role on a field of a tool's arguments: `to: Annotated[list[str], RECIPIENT]`."""

    role: Role
    may_be_new: bool = False
    """The value may name something that does not exist yet; everything that exists was shown before."""
    only_reads: tuple[str, ...] = ()
    """Values with which a call fetches something and changes nothing, such as GET."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = dict(handler(core))
        schema[KEYWORD] = self.role.value
        if self.may_be_new:
            schema[NEW] = True
        if self.only_reads:
            schema[ONLY_READS] = list(self.only_reads)
        return schema


RECIPIENT: Final = HasRole(Role.recipient)
DESTINATION: Final = HasRole(Role.destination)
AMOUNT: Final = HasRole(Role.amount)
TARGET: Final = HasRole(Role.target)
NEW_TARGET: Final = HasRole(Role.target, may_be_new=True)
REACH: Final = HasRole(Role.reach)
CONTENT: Final = HasRole(Role.content)
SECRET: Final = HasRole(Role.secret)
SELECTOR: Final = HasRole(Role.selector)
PLAIN: Final = HasRole(Role.plain)


@dataclass(frozen=True)
class Part:
    """An argument of a call, or a field inside one that has a role of its own."""

    path: str
    """`to`; `message.to` for a field; `people[].email` for a field of every item, with all their values as a list."""
    argument: str
    """The argument that it is, or is inside of."""
    value: Json
    role: Role
    schema: Schema
    root: Schema
    optional: bool = False
    """The tool works without it."""

    @property
    def may_be_new(self) -> bool:
        return bool(self.schema.get(NEW))

    @property
    def only_reads(self) -> bool:
        return self.value in self.schema.get(ONLY_READS, ())

    @property
    def is_default(self) -> bool:
        """Whether it is given as the tool takes it when nothing is given."""
        default = self.schema.get("default", ...)
        return type(default) is type(self.value) and bool(default == self.value)


class PartsReader:
    """Reads the arguments of calls by their roles; the schema, which must not change, is looked through once."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._fields = _fields(schema)

    def read(self, arguments: Mapping[str, Json]) -> tuple[Part, ...]:
        """What the schema does not know is undeclared."""
        found: dict[str, Part] = {}
        fields, schema = self._fields, self._schema

        def walk(path: str, argument: str, value: Json, role: Role | None, optional: bool) -> None:
            field = fields.get(path, _UNKNOWN)
            role = field.role or role
            optional = optional or not field.required
            is_split = isinstance(value, dict | list) and any(
                inner.role and _is_inside(each, path) for each, inner in fields.items()
            )
            if not is_split:
                part = Part(path, argument, value, role or Role.undeclared, field.schema, schema, optional)  # fmt: skip
                found[path] = _merged(found[path], part) if path in found else part
            elif isinstance(value, list):
                for item in value:
                    walk(f"{path}[]", argument, item, role, optional)
            else:
                for key, item in value.items():
                    inside = f"{path}.{_escaped(key)}"
                    if inside in fields:
                        walk(inside, argument, item, role, optional)
                    else:
                        # The caller made up the name, so it counts as part of the value.
                        walk(f"{path}.*", argument, [key, item], role, optional)

        for name, value in arguments.items():
            walk(_escaped(name), name, value, None, False)
        return tuple(found.values())


def read_parts(schema: Schema, arguments: Mapping[str, Json]) -> tuple[Part, ...]:
    """The arguments of one call by their roles."""
    return PartsReader(schema).read(arguments)


def only_reads(schema: Schema, arguments: Mapping[str, Json]) -> bool:
    """Whether a call says of itself that it only fetches something, by a value that is given or usual."""
    return any(
        arguments.get(name, field.get("default")) in field.get(ONLY_READS, ())
        for name, field in schema.get("properties", {}).items()
        if isinstance(field, Mapping)
    )


def values_with(parts: Iterable[Part], *roles: Role) -> list[Any]:
    """Every text and number in a call that has one of the roles, each once."""
    chosen = (part for part in parts if part.role in roles)
    return list(dict.fromkeys(leaf for part in chosen for leaf in leaves_of(part.value)))


def leaves_of(value: Json) -> Iterator[Any]:
    """Every text and number inside a value."""
    match value:
        case dict():
            for inner in value.values():
                yield from leaves_of(inner)
        case list():
            for inner in value:
                yield from leaves_of(inner)
        case None | bool() | "":
            return
        case _:
            yield value


def roles_of(schema: Schema) -> dict[str, Role]:
    """The role of every innermost field of a schema, by its path; undeclared where there is none."""
    fields = _fields(schema)
    return {path: _inherited(path, fields) for path in _innermost(fields)}


def fields_of(schema: Schema) -> dict[str, Schema]:
    """The schema of every innermost field, by its path."""
    fields = _fields(schema)
    return {path: fields[path].schema for path in _innermost(fields)}


def with_roles(schema: Schema, roles: Mapping[str, str]) -> dict[str, Any]:
    """The schema with exactly these roles, by path; what its author declared does not count."""
    root = without_roles(schema)
    unknown = sorted(set(roles) - set(_fields(root)))
    if unknown:
        raise Invalid(f"The tool has no argument {unknown[0]!r}.")
    wrong = [role for role in roles.values() if role not in list(DECLARABLE)]
    if wrong:
        raise Invalid(f"{wrong[0]!r} is not a role. Choose one of {', '.join(DECLARABLE)}.")

    def built(node: Any, path: str) -> Any:
        known = _with_reference(node, root)
        if not isinstance(known, Mapping) or not any(
            each == path or not path or _is_inside(each, path) for each in roles
        ):
            return node
        made = {**known, **({KEYWORD: str(roles[path])} if path in roles else {})}
        for step, word in (("", "anyOf"), ("", "oneOf")):
            if word in made:
                made[word] = [built(each, path + step) for each in made[word]]
        if "properties" in made:
            made["properties"] = {
                name: built(field, f"{path}.{_escaped(name)}" if path else _escaped(name))
                for name, field in made["properties"].items()
            }
        for step, word in (("[]", "items"), (".*", "additionalProperties")):
            if isinstance(made.get(word), Mapping):
                made[word] = built(made[word], path + step)
        return made

    found: dict[str, Any] = _without_defaults(built(root, ""))
    return found


def _without_defaults(root: Schema) -> dict[str, Any]:
    """The schema without defaults that say who, where, how much or on what: only people and plans say that.

    What is left out is not sent, and the other side takes what is usual there.
    """
    grave = [
        path for path, role in roles_of(root).items() if role.is_weighty and role is not Role.reach
    ]
    places = {path[: match.start()] for path in grave for match in re.finditer(r"[.\[]|$", path)}
    harmless, harmful = set[int](), set[int]()
    for path, node, _, _ in _nodes(root):
        known = harmful if not path or path in places else harmless
        known |= {id(node), id(resolved(node, root))}
    # What several fields refer to keeps its default only if that is harmless for all of them.
    kept = harmless - harmful

    def built(node: Any) -> Any:
        if isinstance(node, Mapping):
            return {
                key: {name: built(inner) for name, inner in value.items()}
                if key in NAMED and isinstance(value, Mapping)
                else value
                if key in VALUES
                else built(value)
                for key, value in node.items()
                if key != "default" or id(node) in kept
            }
        return [built(each) for each in node] if isinstance(node, list) else node

    found: dict[str, Any] = built(root)
    return found


def without_roles(schema: Any) -> Any:
    """The schema without what is declared about roles: for models, and where the author is not trusted."""
    if isinstance(schema, Mapping):
        return {
            key: {name: without_roles(inner) for name, inner in value.items()}
            if key in NAMED and isinstance(value, Mapping)
            else value
            if key in VALUES
            else without_roles(value)
            for key, value in schema.items()
            if key not in _KEYWORDS
        }
    return [without_roles(each) for each in schema] if isinstance(schema, list) else schema


def role_problem(schema: Any) -> str | None:
    """What is wrong with the roles that a schema declares."""
    inner: Iterable[Any] = ()
    if isinstance(schema, Mapping):
        role = schema.get(KEYWORD, Role.plain)
        if not isinstance(role, Mapping) and role not in list(DECLARABLE):
            return f"`{KEYWORD}: {role}` is not a role; roles are {', '.join(DECLARABLE)}"
        inner = (value for key, value in schema.items() if key not in VALUES)
    elif isinstance(schema, list):
        inner = schema
    return next((problem for each in inner if (problem := role_problem(each))), None)


@dataclass(frozen=True)
class _Field:
    schema: Schema = field(default_factory=dict)
    role: Role | None = None
    """What it declares itself; the role of what it is inside of holds where this is None."""
    required: bool = True


_UNKNOWN: Final = _Field()


def _fields(schema: Schema) -> dict[str, _Field]:
    """Every named field of a schema by its path, and what lists and maps hold where that declares a role."""
    found: dict[str, _Field] = {}
    for path, _, known, required in _nodes(schema):
        role = _own(known)
        if path and (role is not None or path.endswith(("[]", ".*")) is False or path in found):
            found[path] = _joined(found.get(path), _Field(known, role, required))
    return found


def _nodes(schema: Schema) -> Iterator[tuple[str, Any, Schema, bool]]:
    """Everything in a schema that describes values, outer ones first: path, as written, with its reference, required."""
    waiting: deque[tuple[str, Any, bool]] = deque([("", schema, True)])
    looked = 0
    while waiting and looked < _MOST_FIELDS:
        path, node, required = waiting.popleft()
        looked += 1
        known = _with_reference(node, schema)
        if not isinstance(known, Mapping):
            continue
        yield path, node, known, required
        for word in ("anyOf", "oneOf"):
            waiting.extend((path, option, required) for option in known.get(word, ()))
        always = known.get("required", ())
        for name, inner in known.get("properties", {}).items():
            inside = f"{path}.{_escaped(name)}" if path else _escaped(name)
            waiting.append((inside, inner, name in always))
        if path:
            waiting.append((f"{path}[]", known.get("items"), True))
            waiting.append((f"{path}.*", known.get("additionalProperties"), True))


def _joined(before: _Field | None, field: _Field) -> _Field:
    """A field that several options describe; where they disagree about its role, nobody said what it is for."""
    if before is None:
        return field
    disagree = before.role and field.role and before.role is not field.role
    role = Role.undeclared if disagree else before.role or field.role
    return _Field(before.schema, role, before.required and field.required)


def _innermost(fields: Mapping[str, _Field]) -> Iterator[str]:
    around = {path[: match.start()] for path in fields for match in re.finditer(r"[.\[]", path)}
    yield from (path for path in fields if path not in around)


def _inherited(path: str, fields: Mapping[str, _Field]) -> Role:
    ends = (match.start() for match in re.finditer(r"[.\[]|$", path))
    around = (fields[path[:end]].role for end in ends if path[:end] in fields)
    declared = [role for role in around if role]
    return declared[-1] if declared else Role.undeclared


def _is_inside(path: str, other: str) -> bool:
    return path.startswith((f"{other}.", f"{other}["))


def _merged(one: Part, other: Part) -> Part:
    """The same field of several items."""
    return replace(one, value=[one.value, other.value] if not isinstance(one.value, list) else [*one.value, other.value])  # fmt: skip


def _own(schema: Schema) -> Role | None:
    found = schema.get(KEYWORD)
    return Role(found) if found in list(DECLARABLE) else None


def _escaped(name: str) -> str:
    """A name as a step of a path: nobody can spell a path into a name."""
    return re.sub(r"[~.\[\]*]", lambda match: f"~{ord(match.group()):x}", name)


def _with_reference(schema: Any, root: Schema) -> Any:
    """What a reference refers to, with what stands beside the reference."""
    if not (isinstance(schema, Mapping) and "$ref" in schema):
        return schema
    found = resolved(schema, root)
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    return {**found, **beside} if isinstance(found, Mapping) else beside
