"""Calls to gRPC services: JSON becomes messages by their descriptors, and connections go to checked addresses alone."""

import asyncio
import importlib.util
import queue
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from steward.connections.addresses import Address, literal_address
from steward.connections.catalogue.credentials import Credentials
from steward.connections.catalogue.record import Operation, Service
from steward.connections.catalogue.texts import MOST_DESCRIPTION_BYTES
from steward.connections.client_certificate import ClientCertificate
from steward.connections.hosts import Place, grpc_place
from steward.connections.http import Http
from steward.connections.mcp.definitions import disarmed
from steward.core import Invalid, Misconfigured, Problem, TooLarge, Unavailable, current, in_thread

if TYPE_CHECKING:
    import grpc

    from steward.connections.catalogue.adapters.grpc import Descriptors

_NAME: Final = re.compile(r"[a-z0-9_.-]{1,200}")
_SECONDS: Final = 60.0
_PATIENCE: Final = 5.0
"""Seconds that a call has to end once it was cancelled."""
_CONNECT_SECONDS: Final = 15.0
_LARGEST_MESSAGE: Final = 10 << 20
_LARGEST_ANSWER: Final = 50 << 20
_MOST_MESSAGES: Final = 1_000
_DEEPEST: Final = 60
_MOST_REFLECTIONS: Final = 4_000
_REFLECTIONS: Final = ("v1", "v1alpha")
# What HTTP would say, as Google's APIs translate it.
_STATUSES: Final = {
    "CANCELLED": 499, "INVALID_ARGUMENT": 400, "NOT_FOUND": 404, "ALREADY_EXISTS": 409,
    "PERMISSION_DENIED": 403, "RESOURCE_EXHAUSTED": 429, "FAILED_PRECONDITION": 400, "ABORTED": 409,
    "OUT_OF_RANGE": 400, "UNIMPLEMENTED": 501, "UNAVAILABLE": 503, "UNAUTHENTICATED": 401,
}  # fmt: skip


@dataclass(frozen=True)
class GrpcAnswer:
    status: int
    value: Any
    size: int
    problems: tuple[str, ...] = ()


async def call_grpc(
    http: Http,
    service: Service,
    operation: Operation,
    arguments: Mapping[str, Any],
    *,
    url: str,
    who: Credentials,
) -> GrpcAnswer:
    """One call and its answer, or the first messages of its stream."""
    if who.query:
        raise Misconfigured("A gRPC server takes no key in its address; use a header or a token.")
    _require_library()
    place = grpc_place(url)
    addresses = await http.checked_addresses(place)
    trusted = await asyncio.to_thread(http.trusted_certificates) if _is_secure(place) else b""
    metadata = _metadata(who)
    line = _Line(place, addresses[0], trusted, who.certificate)
    job = partial(_called, line, service, operation, dict(arguments), metadata)
    return await in_thread(job, patience=_PATIENCE)


async def reflect(http: Http, url: str) -> bytes:
    """A set of descriptors, as the server's own reflection tells them."""
    _require_library()
    place = grpc_place(url)
    addresses = await http.checked_addresses(place)
    trusted = await asyncio.to_thread(http.trusted_certificates) if _is_secure(place) else b""
    return await asyncio.to_thread(_reflected, _Line(place, addresses[0], trusted, None))


async def check_grpc(http: Http, url: str, certificate: ClientCertificate | None) -> None:
    """Raises unless a gRPC server answers there."""
    _require_library()
    place = grpc_place(url)
    addresses = await http.checked_addresses(place)
    trusted = await asyncio.to_thread(http.trusted_certificates) if _is_secure(place) else b""
    await asyncio.to_thread(_connected, _Line(place, addresses[0], trusted, certificate))


@dataclass(frozen=True)
class _Line:
    """A way to one server: the address that was checked, in the name of the host."""

    place: Place
    address: Address
    trusted: bytes
    certificate: ClientCertificate | None

    @contextmanager
    def opened(self) -> Iterator["grpc.Channel"]:
        import grpc

        family = "ipv4" if self.address.version == 4 else "ipv6"
        shown = str(self.address) if self.address.version == 4 else f"[{self.address}]"
        options: list[tuple[str, Any]] = [
            ("grpc.default_authority", self.place.text),
            # Nothing from the environment, no name looked up again, nothing sent twice, nothing shared.
            ("grpc.enable_http_proxy", 0),
            ("grpc.service_config_disable_resolution", 1),
            ("grpc.enable_retries", 0),
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
            ("grpc.max_send_message_length", _LARGEST_MESSAGE),
            ("grpc.absolute_max_metadata_size", 64 << 10),
        ]
        target = f"{family}:{shown}:{self.place.port}"
        if not _is_secure(self.place):
            channel = grpc.insecure_channel(target, options)
        else:
            if literal_address(self.place.host) is None:
                options.append(("grpc.ssl_target_name_override", self.place.host))
            key, chain = self.certificate.parts() if self.certificate else (None, None)
            secure = grpc.ssl_channel_credentials(self.trusted, key, chain)
            channel = grpc.secure_channel(target, secure, options)
        try:
            with current().ended_by(channel.close):
                yield channel
        finally:
            channel.close()


def _called(
    line: _Line,
    service: Service,
    operation: Operation,
    arguments: dict[str, Any],
    metadata: tuple[tuple[str, str], ...],
) -> GrpcAnswer:
    import grpc

    known = _descriptors(str(service.extra["descriptors"]))
    request = _written(known, str(operation.extra["input"]), arguments)
    messages: list[bytes] = []
    size, is_cut = 0, False
    streams = operation.verb == "STREAM"
    try:
        with line.opened() as channel:
            if streams:
                for each in channel.unary_stream(operation.path)(
                    request, timeout=_SECONDS, metadata=metadata
                ):
                    messages.append(each)
                    size += len(each)
                    if len(messages) >= _MOST_MESSAGES or size >= _LARGEST_ANSWER:
                        is_cut = True
                        break
            else:
                messages.append(
                    channel.unary_unary(operation.path)(
                        request, timeout=_SECONDS, metadata=metadata
                    )
                )
    except grpc.RpcError as problem:
        # A stream that has no end is read for a while.
        if not (streams and messages and _code(problem) == "DEADLINE_EXCEEDED"):
            return _failed(line.place, problem)
        is_cut = True
    read = [_read(known, str(operation.extra["output"]), each) for each in messages]
    value = {"messages": read, "is_cut": is_cut} if streams else read[0]
    return GrpcAnswer(200, value, sum(len(each) for each in messages))


def _failed(place: Place, problem: "grpc.RpcError") -> GrpcAnswer:
    code, details = _code(problem), disarmed(str(problem.details() or ""), 300)
    if code == "DEADLINE_EXCEEDED":
        raise Unavailable(
            f"{place.text} took longer than {_SECONDS:g} seconds; whether the call was acted upon is not known.",
            code="uncertain",
        )
    if code == "UNAVAILABLE" and "failed to connect" in details.lower():
        raise Unavailable(f"No connection to {place.text} ({details}).", code="http-no-connection")
    told = f"{code}: {details}" if details else code
    return GrpcAnswer(_STATUSES.get(code, 500), None, 0, (told,))


def _written(known: "Descriptors", name: str, arguments: dict[str, Any]) -> bytes:
    from google.protobuf import json_format
    from google.protobuf.message import EncodeError
    from google.protobuf.message_factory import GetMessageClass

    message = GetMessageClass(known.pool.FindMessageTypeByName(name))()
    try:
        json_format.ParseDict(
            arguments, message, descriptor_pool=known.pool, max_recursion_depth=_DEEPEST
        )
        content: bytes = message.SerializeToString()
    except (json_format.ParseError, EncodeError, RecursionError) as problem:
        why = str(problem).partition("\n")[0][:300]
        raise Invalid(
            f"The arguments do not fit the message: {why}",
            code="grpc-message",
            problems=[Problem("", why)],
        ) from None
    if len(content) > _LARGEST_MESSAGE:
        raise TooLarge(f"The message has more than {_LARGEST_MESSAGE >> 20} MB.")
    return content


def _read(known: "Descriptors", name: str, content: bytes) -> Any:
    from google.protobuf import json_format
    from google.protobuf.message import DecodeError
    from google.protobuf.message_factory import GetMessageClass

    try:
        message = GetMessageClass(known.pool.FindMessageTypeByName(name)).FromString(content)
        # Zeros and empty texts too: a count of none is an answer.
        return json_format.MessageToDict(
            message, descriptor_pool=known.pool, always_print_fields_with_no_presence=True
        )
    except (DecodeError, json_format.SerializeToJsonError, ValueError, TypeError, RecursionError):
        raise Invalid(
            "The answer does not fit the description of the service. Look for an update of it.",
            code="grpc-message",
        ) from None


@lru_cache(maxsize=8)
def _descriptors(text: str) -> "Descriptors":
    from steward.connections.catalogue.adapters.grpc import unpacked

    return unpacked(text)


def _reflected(line: _Line) -> bytes:
    import grpc

    problem: grpc.RpcError | None = None
    for version in _REFLECTIONS:
        try:
            with line.opened() as channel:
                return _Reflection(channel, version).descriptors()
        except grpc.RpcError as raised:
            problem = raised
            if _code(raised) != "UNIMPLEMENTED":
                break
    assert problem is not None  # noqa: S101
    told = _failed(line.place, problem)
    if told.status == 501:
        raise Unavailable(
            "The server does not describe itself (it has no reflection). Write its descriptors to a file with protoc and "
            "install that."
        )
    raise Unavailable(f"The server does not describe itself: {told.problems[0]}")


class _Reflection:
    """A conversation with a server about what it is, one question at a time."""

    def __init__(self, channel: "grpc.Channel", version: str) -> None:
        from grpc_reflection.v1alpha import reflection_pb2

        self._pb = reflection_pb2
        self._questions: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._asked = 0
        self._answers = channel.stream_stream(
            f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
            request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
        )(iter(self._questions.get, None), timeout=_SECONDS)

    def descriptors(self) -> bytes:
        from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

        found: dict[str, FileDescriptorProto] = {}
        size = 0
        services = self._ask(list_services="*").list_services_response.service
        waiting = [
            {"file_containing_symbol": each.name}
            for each in services
            if not each.name.startswith("grpc.reflection.")
        ]
        while waiting:
            answer = self._ask(**waiting.pop())
            for content in answer.file_descriptor_response.file_descriptor_proto:
                size += len(content)
                if size > MOST_DESCRIPTION_BYTES:
                    raise TooLarge(
                        f"The server describes itself in more than {MOST_DESCRIPTION_BYTES >> 20} MB."
                    )
                file = FileDescriptorProto.FromString(content)
                found.setdefault(file.name, file)
            needed = {name for each in found.values() for name in each.dependency} - found.keys()
            asked = {each.get("file_by_filename") for each in waiting}
            waiting.extend({"file_by_filename": name} for name in sorted(needed - asked))
        self._questions.put(None)
        whole = FileDescriptorSet(file=[found[name] for name in sorted(found)])
        written: bytes = whole.SerializeToString(deterministic=True)
        return written

    def _ask(self, **question: str) -> Any:
        self._asked += 1
        if self._asked > _MOST_REFLECTIONS:
            raise TooLarge("The server describes itself in too many files.")
        self._questions.put(self._pb.ServerReflectionRequest(**question))
        answer = next(self._answers)
        if answer.HasField("error_response"):
            why = disarmed(answer.error_response.error_message, 200)
            raise Unavailable(
                f"The server does not describe {next(iter(question.values()))}: {why}"
            )
        return answer


def _connected(line: _Line) -> None:
    import grpc

    with line.opened() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=_CONNECT_SECONDS)
        except grpc.FutureTimeoutError:
            raise Unavailable(
                f"No gRPC server answers at {line.place.text}.", code="http-no-connection"
            ) from None


def _code(problem: Any) -> str:
    return str(problem.code().name)


def _metadata(who: Credentials) -> tuple[tuple[str, str], ...]:
    """The library's own complaint about a value would repeat it, and these are secrets."""
    found = tuple((name.lower(), value) for name, value in who.headers.items())
    for name, value in found:
        if not _NAME.fullmatch(name) or not (value.isascii() and value.isprintable()):
            raise Misconfigured(
                f"The credential for {name[:60]!r} holds characters that gRPC cannot send."
            )
    return found


def _is_secure(place: Place) -> bool:
    return place.scheme == "https"


def _require_library() -> None:
    if importlib.util.find_spec("grpc_reflection") is None:
        raise Misconfigured(
            "gRPC needs Steward's 'grpc' extra; install it first (pip install 'steward[grpc]')."
        )
