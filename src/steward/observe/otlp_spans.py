"""Reads spans that other programs send by OTLP over HTTP, in protobuf or JSON. Nothing in them is trusted."""

import base64
import binascii
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from steward.core import Invalid, Misconfigured, TooLarge
from steward.observe.received_spans import ReceivedSpan
from steward.trace import Value, redact, redact_text

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
_MOST_BYTES: Final = 16 << 20
_MOST_SPANS: Final = 10_000
_MOST_ATTRIBUTES: Final = 64
_LONGEST: Final = 200
_LONGEST_VALUE: Final = 1_000
_ID: Final = re.compile(r"[0-9a-f]+")
_FAILED: Final = {"2", "STATUS_CODE_ERROR"}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = 4_102_444_800 * 10**9
"""Nanoseconds until 2100."""
_SCALARS: Final = ("stringValue", "boolValue", "intValue", "doubleValue")


def spans_of_request(media_type: str, encoding: str, body: bytes) -> tuple[list[ReceivedSpan], int]:
    """The spans of a request, and how many of them are none: without ids or times."""
    content = _unpacked(encoding, body)
    document = (
        _from_protobuf(content) if media_type == PROTOBUF else _from_json(media_type, content)
    )
    to_digits = _from_base64 if media_type == PROTOBUF else _from_digits
    found, wrong = [], 0
    for count, (service, item) in enumerate(_spans(document)):
        if count >= _MOST_SPANS:
            raise TooLarge(f"A request may have {_MOST_SPANS:,} spans. Send smaller batches.")
        span = _span(service, item, to_digits)
        if span is None:
            wrong += 1
        else:
            found.append(span)
    return found, wrong


def answer_to(media_type: str, refused: int, why: str) -> bytes:
    """What OTLP wants to hear: nothing, or how many spans were not kept."""
    if media_type == PROTOBUF:
        _, answer = _messages()
        if refused:
            answer.partial_success.rejected_spans = refused
            answer.partial_success.error_message = why
        content: bytes = answer.SerializeToString()
        return content
    told = {"partialSuccess": {"rejectedSpans": str(refused), "errorMessage": why}}
    return json.dumps(told if refused else {}).encode()


def _unpacked(encoding: str, body: bytes) -> bytes:
    match encoding.strip().lower():
        case "" | "identity":
            return body
        case "gzip":
            return _unzipped(body)
        case _:
            raise Invalid("Send spans as they are or packed by gzip.", code="encoding")


def _unzipped(body: bytes) -> bytes:
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        content = unpacker.decompress(body, _MOST_BYTES)
    except zlib.error:
        raise Invalid("The body is not packed by gzip, as its header says.") from None
    if unpacker.unconsumed_tail:
        raise TooLarge(f"Unpacked, a request may have {_MOST_BYTES >> 20} MB.")
    if not unpacker.eof:
        raise Invalid("The packed body ends too early.")
    return content


def _messages() -> tuple[Any, Any]:
    try:
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service
    except ModuleNotFoundError:
        raise Misconfigured(
            "Spans in protobuf need Steward's 'otel' extra. Install it, or send JSON (OTEL_EXPORTER_OTLP_PROTOCOL=http/json)."
        ) from None
    return service.ExportTraceServiceRequest(), service.ExportTraceServiceResponse()


def _from_protobuf(content: bytes) -> Any:
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError

    request, _ = _messages()
    try:
        request.ParseFromString(content)
        return MessageToDict(request)
    except (DecodeError, ValueError):
        raise Invalid("The body is no export request of OTLP in protobuf.") from None


def _from_json(media_type: str, content: bytes) -> Any:
    if media_type != JSON:
        raise Invalid(f"Send spans as {PROTOBUF} or {JSON}.", code="media-type")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise Invalid("The body is no export request of OTLP in JSON.") from None


def _spans(document: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each span with the name of its service."""
    for resource in _objects(document, "resourceSpans"):
        described = resource.get("resource")
        about = _attributes(described if isinstance(described, Mapping) else {})
        service = _text(about.get("service.name", ""), _LONGEST)
        for scope in _objects(resource, "scopeSpans"):
            for span in _objects(scope, "spans"):
                yield service, span


def _objects(value: Any, name: str) -> Iterator[Mapping[str, Any]]:
    items = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(items, Sequence) and not isinstance(items, str):
        yield from (each for each in items if isinstance(each, Mapping))


def _span(service: str, item: Mapping[str, Any], to_digits: Any) -> ReceivedSpan | None:
    trace, own = to_digits(item.get("traceId"), 32), to_digits(item.get("spanId"), 16)
    start, end = _moment(item.get("startTimeUnixNano")), _moment(item.get("endTimeUnixNano"))
    if trace is None or own is None or start is None or end is None:
        return None
    attributes = _attributes(item)
    if service:
        attributes["service.name"] = service
    return ReceivedSpan(
        trace,
        own,
        to_digits(item.get("parentSpanId"), 16) or "",
        _text(item.get("name") or "span", _LONGEST),
        start,
        max(start, end),
        _error(item, attributes),
        attributes,
    )


def _error(item: Mapping[str, Any], attributes: Mapping[str, Value]) -> str | None:
    status = item.get("status")
    if not isinstance(status, Mapping) or str(status.get("code")) not in _FAILED:
        return None
    return _text(attributes.get("error.type") or status.get("message") or "failed", _LONGEST)


def _attributes(item: Mapping[str, Any]) -> dict[str, Value]:
    """Scalars alone; texts are cut, and what looks like a secret is masked."""
    found: dict[str, Value] = {}
    for each in _objects(item, "attributes"):
        name, value = each.get("key"), each.get("value")
        if len(found) >= _MOST_ATTRIBUTES or not isinstance(name, str):
            continue
        scalar = _scalar(value) if isinstance(value, Mapping) else None
        if scalar is not None:
            masked = redact(scalar, name)
            found[_text(name, _LONGEST)] = (
                _text(masked, _LONGEST_VALUE) if isinstance(masked, str) else masked
            )
    return found


def _text(value: Any, longest: int) -> str:
    """Only what databases can keep: no zero character and no half of a pair."""
    kept = str(value)[: longest * 2].replace("\0", "").encode(errors="replace").decode()
    return redact_text(kept)[:longest]


def _scalar(value: Mapping[str, Any]) -> Value | None:
    kind = next((each for each in _SCALARS if each in value), None)
    given = value.get(kind) if kind else None
    if isinstance(given, str) and kind == "intValue":
        # JSON has 64-bit numbers as texts.
        return int(given) if re.fullmatch(r"-?[0-9]{1,19}", given) else None
    if isinstance(given, float) and not math.isfinite(given):
        return str(given)
    # Larger ones are not from OTLP, which has 64 bits.
    is_large = isinstance(given, int) and given.bit_length() > 64
    return given if isinstance(given, str | bool | int | float) and not is_large else None


def _moment(nanoseconds: Any) -> datetime | None:
    text = str(nanoseconds) if isinstance(nanoseconds, str | int) else ""
    if not re.fullmatch(r"[0-9]{1,19}", text) or not 0 < int(text) < _LATEST:
        return None
    return _EPOCH + timedelta(microseconds=int(text) // 1000)


def _from_digits(value: Any, length: int) -> str | None:
    text = value.lower() if isinstance(value, str) else ""
    is_id = len(text) == length and _ID.fullmatch(text) and text.strip("0")
    return text if is_id else None


def _from_base64(value: Any, length: int) -> str | None:
    try:
        return _from_digits(base64.b64decode(value or "", validate=True).hex(), length)
    except (binascii.Error, TypeError, ValueError):
        return None
