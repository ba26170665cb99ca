"""Calls to AWS: botocore writes and signs the request and reads the answer; the request goes out through our HTTP."""

import asyncio
import io
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from steward.connections.http import Http, HttpAnswer, HttpLimits
from steward.core import Invalid, Misconfigured, StewardError, Unavailable

Send = Callable[[str, str, Mapping[str, str], bytes], HttpAnswer]
# Everything that botocore would look up on the machine; a connection says all of it.
_UNSET: Final = (None, None, None, None)
_NOTHING: Final = {
    "profile": _UNSET,
    "region": _UNSET,
    "ca_bundle": _UNSET,
    "config_file": (None, None, "/dev/null", None),
    "credentials_file": (None, None, "/dev/null", None),
}
_OWN_HEADERS: Final = frozenset(
    {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "upgrade",
        "te",
        "expect",
        "trailer",
    }
)


async def call_aws(
    http: Http,
    service: str,
    operation: str,
    arguments: Mapping[str, Any],
    *,
    region: str,
    secrets: Mapping[str, str],
    base_url: str,
    limits: HttpLimits,
) -> tuple[int, Any, int]:
    """Status, the parsed answer, and how many bytes it had."""
    loop = asyncio.get_running_loop()

    def send(method: str, url: str, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        coming = http.request(
            method, url, secret_headers=headers, body=body, follow=False, limits=limits
        )
        return asyncio.run_coroutine_threadsafe(coming, loop).result()

    return await asyncio.to_thread(
        _called, send, service, operation, dict(arguments), region, secrets, base_url
    )


def _called(
    send: Send,
    service: str,
    operation: str,
    arguments: dict[str, Any],
    region: str,
    secrets: Mapping[str, str],
    base_url: str,
) -> tuple[int, Any, int]:
    try:
        import botocore.exceptions
        import botocore.parsers
        import botocore.session
        from botocore import xform_name
        from botocore.awsrequest import AWSResponse
        from botocore.config import Config
    except ModuleNotFoundError:
        raise Misconfigured("AWS needs Steward's 'connectors' extra; install it first.") from None
    if not secrets.get("access_key_id") or not secrets.get("secret_access_key"):
        raise Misconfigured(
            "The connection needs the secrets “access_key_id” and “secret_access_key”."
        )
    sent = status = 0

    def before_send(request: Any, **_: Any) -> Any:
        nonlocal sent, status
        body = request.body
        content = body.read() if hasattr(body, "read") else body or b""
        headers = {
            name: value.decode() if isinstance(value, bytes) else str(value)
            for name, value in request.headers.items()
            if name.lower() not in _OWN_HEADERS
        }
        whole = content.encode() if isinstance(content, str) else bytes(content)
        answer = send(request.method, request.url, headers, whole)
        sent, status = sent + len(answer.body), answer.status
        return AWSResponse(request.url, answer.status, dict(answer.headers), _Raw(answer.body))

    session = botocore.session.Session(session_vars=_NOTHING)
    try:
        client = session.create_client(
            service,
            region_name=region,
            endpoint_url=base_url or None,
            aws_access_key_id=secrets["access_key_id"],
            aws_secret_access_key=secrets["secret_access_key"],
            aws_session_token=secrets.get("session_token") or None,
            config=Config(
                retries={"total_max_attempts": 1},
                ignore_configured_endpoint_urls=True,
                s3={"addressing_style": "path"} if base_url else None,
            ),
        )
        client.meta.events.register("before-send", before_send)
        method = getattr(client, xform_name(operation), None)
        if method is None:
            raise Invalid(f"The installed botocore has no operation {operation[:64]!r}.")
        answer = method(
            **_with_bytes(
                client.meta.service_model.operation_model(operation).input_shape, arguments
            )
        )
    except botocore.exceptions.ClientError as problem:
        told = problem.response
        status = int(told.get("ResponseMetadata", {}).get("HTTPStatusCode", 400))
        return status, {"error": _plain(told.get("Error", {}))}, sent
    except StewardError:
        raise
    except botocore.parsers.ResponseParserError:
        if status >= 400:
            return (
                status,
                {"error": {"Message": "The answer is not in the service's format."}},
                sent,
            )
        raise Unavailable("AWS answered with something that is not in its format.") from None
    except (botocore.exceptions.BotoCoreError, ValueError) as problem:
        raise Invalid(f"AWS cannot be called like this: {str(problem)[:300]}", code="aws") from None
    about = answer.pop("ResponseMetadata", {}) if isinstance(answer, dict) else {}
    return int(about.get("HTTPStatusCode", 200)), _plain(answer), sent


class _Raw(io.BytesIO):
    """A body that botocore can also read as a stream."""

    def stream(self, amount: int = 65_536, decode_content: Any = None) -> Any:  # noqa: ARG002
        while piece := self.read(amount):
            yield piece


def _with_bytes(shape: Any, value: Any) -> Any:
    """Base64 text as bytes where the service takes bytes."""
    if shape is None:
        return value
    match shape.type_name:
        case "structure" if isinstance(value, dict):
            return {k: _with_bytes(shape.members.get(k), each) for k, each in value.items()}
        case "list" if isinstance(value, list):
            return [_with_bytes(shape.member, each) for each in value]
        case "map" if isinstance(value, dict):
            return {k: _with_bytes(shape.value, each) for k, each in value.items()}
        case "blob" if isinstance(value, str):
            import base64
            import binascii

            try:
                return base64.b64decode(value, validate=True)
            except (binascii.Error, ValueError):
                raise Invalid("Bytes are given as base64 text.") from None
        case _:
            return value


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "read"):
        value = value.read()
    if isinstance(value, bytes):
        import base64

        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    return value
