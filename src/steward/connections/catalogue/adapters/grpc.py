"""gRPC services, as their descriptors describe them: each method is an operation, with JSON as protobuf maps it."""

import base64
import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    MethodDescriptor,
)
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet, MethodOptions
from google.protobuf.descriptor_pool import Default, DescriptorPool
from google.protobuf.message import DecodeError

from steward.connections.catalogue.names import MOST_OPERATIONS, named, slug, too_many
from steward.connections.catalogue.record import (
    DESTROY,
    READ,
    SEND,
    LeftOut,
    Operation,
    Pagination,
    Scheme,
    Service,
)
from steward.connections.catalogue.schemas import SchemaCopy
from steward.connections.mcp.definitions import disarmed
from steward.core import Invalid, TooLarge

MOST_FILES: Final = 2_000
_INNER: Final = ("grpc.reflection.",)
# The names that APIs of this kind give to what only looks, by Google's convention.
_READS: Final = re.compile(
    r"(Get|List|Search|BatchGet|Describe|Lookup|Query|Count|Check|Watch)(?![a-z])"
)
_DESTROYS: Final = re.compile(
    r"(Batch)?(Delete|Remove|Destroy|Purge|Terminate|Revoke|Drop|Truncate|Cancel|Reset)(?![a-z])"
)
_TEXT: Final[Mapping[str, Any]] = {"type": "string"}
_WHOLE: Final[Mapping[str, Any]] = {"type": "integer"}
# As text: JSON's numbers lose the last digits of these.
_LONG: Final[Mapping[str, Any]] = {"type": "string", "pattern": "^-?[0-9]{1,20}$"}
_NUMBER: Final[Mapping[str, Any]] = {"type": "number"}
_BYTES: Final[Mapping[str, Any]] = {"type": "string", "format": "byte"}
_KINDS: Final[Mapping[int, Mapping[str, Any]]] = {
    FieldDescriptor.TYPE_DOUBLE: _NUMBER,
    FieldDescriptor.TYPE_FLOAT: _NUMBER,
    FieldDescriptor.TYPE_INT64: _LONG,
    FieldDescriptor.TYPE_UINT64: _LONG,
    FieldDescriptor.TYPE_SINT64: _LONG,
    FieldDescriptor.TYPE_FIXED64: _LONG,
    FieldDescriptor.TYPE_SFIXED64: _LONG,
    FieldDescriptor.TYPE_INT32: _WHOLE,
    FieldDescriptor.TYPE_UINT32: _WHOLE,
    FieldDescriptor.TYPE_SINT32: _WHOLE,
    FieldDescriptor.TYPE_FIXED32: _WHOLE,
    FieldDescriptor.TYPE_SFIXED32: _WHOLE,
    FieldDescriptor.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.TYPE_STRING: _TEXT,
    FieldDescriptor.TYPE_BYTES: _BYTES,
}
_KNOWN: Final[Mapping[str, Mapping[str, Any]]] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
    "google.protobuf.FieldMask": _TEXT,
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.Value": {},
    "google.protobuf.ListValue": {"type": "array"},
    "google.protobuf.Any": {"type": "object"},
    "google.protobuf.Empty": {"type": "object"},
    "google.protobuf.DoubleValue": _NUMBER,
    "google.protobuf.FloatValue": _NUMBER,
    "google.protobuf.Int64Value": _LONG,
    "google.protobuf.UInt64Value": _LONG,
    "google.protobuf.Int32Value": _WHOLE,
    "google.protobuf.UInt32Value": _WHOLE,
    "google.protobuf.BoolValue": {"type": "boolean"},
    "google.protobuf.StringValue": _TEXT,
    "google.protobuf.BytesValue": _BYTES,
}


@dataclass(frozen=True)
class Descriptors:
    files: tuple[FileDescriptorProto, ...]
    """What a file needs comes before it."""
    pool: DescriptorPool


def read_descriptors(content: bytes) -> Descriptors:
    """Files with all that they need, known to a pool of their own."""
    try:
        told = FileDescriptorSet.FromString(content)
        if len(told.file) > MOST_FILES:
            raise TooLarge(
                f"The description has more than {MOST_FILES:,} files.", code="description-too-large"
            )
        files = tuple(_in_order({each.name: each for each in told.file}))
        pool = DescriptorPool()
        for each in files:
            pool.AddSerializedFile(each.SerializeToString())
    except (DecodeError, TypeError, KeyError, ValueError, RecursionError) as problem:
        why = disarmed(str(problem).partition("\n")[0], 200).rstrip(". ")
        raise Invalid(
            f"The descriptors cannot be read: {why}.", code="description-unreadable"
        ) from None
    return Descriptors(files, pool)


def packed(descriptors: Descriptors) -> str:
    """For the record, so that calls need no other source."""
    whole = FileDescriptorSet(file=descriptors.files).SerializeToString(deterministic=True)
    return base64.b64encode(zlib.compress(whole)).decode()


def unpacked(text: str) -> Descriptors:
    return read_descriptors(zlib.decompress(base64.b64decode(text)))


def describe(descriptors: Descriptors, sha256: str, address: str = "", name: str = "") -> Service:
    operations, left_out = _operations(descriptors)
    if not operations:
        why = f" ({left_out[0].reason})" if left_out else ""
        raise Invalid(f"The description has no method that can be called{why}.", code="empty")
    title = disarmed(name.replace("-", " ").capitalize() or "gRPC API", 100)
    return Service(
        id=slug(name or "grpc"),
        title=title,
        description="",
        vendor=title,
        adapter="grpc",
        version="",
        licence="",
        sha256=sha256,
        base_url=address,
        schemes=(Scheme("bearer", "bearer"),),
        operations=tuple(operations),
        left_out=tuple(left_out),
        extra={"descriptors": packed(descriptors)},
    )


def risk_of(method: str, options: MethodOptions) -> str:
    """By the convention for names and the trait that says a method has no effects; everything else may change something."""
    if _DESTROYS.match(method):
        return DESTROY
    has_none = options.idempotency_level == MethodOptions.NO_SIDE_EFFECTS
    return READ if has_none or _READS.match(method) else SEND


def _operations(descriptors: Descriptors) -> tuple[list[Operation], list[LeftOut]]:
    taken: set[str] = set()
    found: list[Operation] = []
    left_out: list[LeftOut] = []
    closures = _Closures(descriptors)
    for method, text in _methods(descriptors):
        if len(found) + len(left_out) >= MOST_OPERATIONS:
            raise too_many()
        service = method.containing_service
        full = f"{service.name}.{method.name}"
        name = named(full, method.full_name, taken)
        if name is None:
            left_out.append(LeftOut(disarmed(full, 200), "another operation has the same name"))
        elif method.client_streaming:
            left_out.append(LeftOut(disarmed(full, 200), "it takes a stream of messages"))
        else:
            taken.add(name)
            digest = closures.digest(service.file.name)
            found.append(_operation(descriptors.pool, method, name, text, digest))
    return found, left_out


def _methods(descriptors: Descriptors) -> Iterator[tuple[MethodDescriptor, str]]:
    """With the comment above each, where the descriptors hold comments."""
    for file in descriptors.files:
        comments = {
            tuple(each.path): each.leading_comments
            for each in file.source_code_info.location
            if each.leading_comments
        }
        for number, told in enumerate(file.service):
            full = f"{file.package}.{told.name}" if file.package else told.name
            if full.startswith(_INNER):
                continue
            for at, each in enumerate(descriptors.pool.FindServiceByName(full).methods):
                yield each, comments.get((6, number, 2, at), "")


def _operation(
    pool: DescriptorPool, method: MethodDescriptor, name: str, text: str, definition: str
) -> Operation:
    copy = SchemaCopy(lambda ref: _message(pool, ref))
    whole = _object(method.input_type)
    arguments: dict[str, Any] = {
        "type": "object",
        "properties": {key: copy.take(each) for key, each in whole["properties"].items()},
        "additionalProperties": False,
    }
    if whole["required"]:
        arguments["required"] = whole["required"]
    back = SchemaCopy(lambda ref: _message(pool, ref), inbound=False)
    answer = back.finish(back.take({"$ref": method.output_type.full_name}))
    if method.server_streaming:
        messages = {"type": "array", "items": {k: v for k, v in answer.items() if k != "$defs"}}
        answer = {
            "type": "object",
            "properties": {"messages": messages, "is_cut": {"type": "boolean"}},
            **({"$defs": answer["$defs"]} if "$defs" in answer else {}),
        }
    path = f"/{method.containing_service.full_name}/{method.name}"
    options = method.GetOptions()
    return Operation(
        name=name,
        title=_title(method.name),
        description=disarmed(text, 500),
        verb="STREAM" if method.server_streaming else "CALL",
        path=path,
        arguments=copy.finish(arguments),
        risk=risk_of(method.name, options),
        pagination=None if method.server_streaming else _pagination(method),
        answer=answer or None,
        tags=(disarmed(method.containing_service.name, 100),),
        deprecated=options.deprecated,
        extra={
            "input": method.input_type.full_name,
            "output": method.output_type.full_name,
            "definition": definition,
        },
    )


def _pagination(method: MethodDescriptor) -> Pagination | None:
    """As Google's guidelines for APIs have it."""
    asked, given = method.input_type.fields_by_name, method.output_type.fields_by_name
    if "page_token" not in asked or "next_page_token" not in given:
        return None
    lists = [each.json_name for each in method.output_type.fields if each.is_repeated]
    return Pagination(
        "token",
        asked["page_token"].json_name,
        given["next_page_token"].json_name,
        lists[0] if len(lists) == 1 else "",
    )


def _message(pool: DescriptorPool, name: str) -> dict[str, Any] | None:
    if name in _KNOWN:
        return dict(_KNOWN[name])
    try:
        found = pool.FindMessageTypeByName(name)
    except KeyError:
        return None
    return _object(found)


def _object(message: Descriptor) -> dict[str, Any]:
    fields = {each.json_name: _field(each) for each in message.fields}
    needed = [each.json_name for each in message.fields if each.is_required]
    return {"type": "object", "properties": fields, "required": needed}


def _field(field: FieldDescriptor) -> dict[str, Any]:
    entry = field.message_type
    if field.is_repeated and entry is not None and entry.GetOptions().map_entry:
        return {"type": "object", "additionalProperties": _one(entry.fields_by_name["value"])}
    if field.is_repeated:
        return {"type": "array", "items": _one(field)}
    found = _one(field)
    choice = field.containing_oneof
    if choice is not None and len(choice.fields) > 1 and "$ref" not in found:
        others = ", ".join(each.json_name for each in choice.fields[:10])
        found["description"] = f"Give only one of {others}."
    return found


def _one(field: FieldDescriptor) -> dict[str, Any]:
    if field.message_type is not None:
        name = field.message_type.full_name
        return dict(_KNOWN[name]) if name in _KNOWN else {"$ref": name}
    if field.enum_type is not None:
        return _enum(field.enum_type)
    return dict(_KINDS[field.type])


def _enum(kind: EnumDescriptor) -> dict[str, Any]:
    if kind.full_name == "google.protobuf.NullValue":
        return {"type": "null"}
    return {"type": "string", "enum": [each.name for each in kind.values]}


class _Closures:
    """Hashes of files with all that they need: what a method means on the wire."""

    def __init__(self, descriptors: Descriptors) -> None:
        self._known: dict[str, str] = {}
        for each in descriptors.files:
            plain = FileDescriptorProto()
            plain.CopyFrom(each)
            plain.ClearField("source_code_info")
            parts = [self._known.get(name, name) for name in each.dependency]
            content = plain.SerializeToString(deterministic=True)
            self._known[each.name] = hashlib.sha256(
                "\n".join([*parts, hashlib.sha256(content).hexdigest()]).encode()
            ).hexdigest()

    def digest(self, name: str) -> str:
        return self._known[name]


def _in_order(files: Mapping[str, FileDescriptorProto]) -> Iterator[FileDescriptorProto]:
    """Each after those it needs; what everybody has is added where it is missing."""
    done: set[str] = set()
    known = dict(files)
    for first in sorted(files):
        waiting: list[tuple[str, bool]] = [(first, False)]
        above: set[str] = set()
        while waiting:
            name, is_left = waiting.pop()
            if is_left:
                above.discard(name)
                done.add(name)
                yield known[name]
                continue
            if name in done:
                continue
            if name in above:
                raise ValueError(f"{name} needs itself")
            if name not in known:
                known[name] = _standard(name)
            above.add(name)
            waiting.append((name, True))
            waiting.extend((each, False) for each in known[name].dependency if each not in done)


def _standard(name: str) -> FileDescriptorProto:
    if not name.startswith("google/protobuf/"):
        raise ValueError(
            f"the file {name} is missing; write the set with protoc's option --include_imports"
        )
    from google.protobuf import (  # noqa: F401 - registers what everybody has
        any_pb2,
        duration_pb2,
        empty_pb2,
        field_mask_pb2,
        struct_pb2,
        timestamp_pb2,
        wrappers_pb2,
    )

    found = FileDescriptorProto()
    Default().FindFileByName(name).CopyToProto(found)
    return found


def _title(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).split()
    return " ".join([words[0], *(each.lower() for each in words[1:])])
