"""Sends notifications: apprise writes the requests in a process of its own, and they go out through our HTTP."""

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any, Final

from steward.connections.catalogue import _notify_process as process
from steward.connections.catalogue.record import Service
from steward.connections.http import Http, HttpLimits
from steward.core import Invalid, Misconfigured, StewardError, Unavailable, minimal_environment
from steward.isolation import program_command

_SECONDS: Final = 60
_MOST_REQUESTS: Final = 60
_LINE: Final = 16 << 20
_LIMITS: Final = HttpLimits(response_bytes=1 << 20)
_OWN_HEADERS: Final = frozenset({"host", "content-length", "connection", "transfer-encoding"})


async def call_notify(
    http: Http,
    service: Service,
    fields: Mapping[str, str],
    secrets: Mapping[str, str],
    arguments: Mapping[str, Any],
) -> bool:
    """Whether the service took the message."""
    names: Mapping[str, str] = service.extra["tokens"]
    known = {**fields, **{k.removeprefix("field."): v for k, v in secrets.items()}}
    settings: dict[str, Any] = {"schema": service.extra["schema"]}
    targets = list(arguments.get("targets") or ())
    for name, value in known.items():
        where = names.get(name)
        if where is None:
            raise Misconfigured(f"{service.title} has no field {name[:60]!r}.")
        if where == "targets":
            targets = targets or value.replace(",", " ").split()
        else:
            settings[where] = int(value) if where == "port" and value.isdigit() else value
    if targets:
        settings["targets"] = targets
    message = str(arguments.get("body", ""))
    request = {
        "settings": settings,
        "body": message,
        "title": str(arguments.get("title") or ""),
        "kind": str(arguments.get("kind") or "info"),
    }
    if not message.strip():
        raise Invalid("The message is empty.")
    try:
        async with asyncio.timeout(_SECONDS):
            return await _conversed(http, request)
    except TimeoutError:
        raise Unavailable(
            f"{service.title} took longer than {_SECONDS} seconds; whether the message arrived is not known.",
            code="uncertain",
        ) from None


async def _conversed(http: Http, request: Mapping[str, Any]) -> bool:
    child = await asyncio.create_subprocess_exec(
        *program_command(process.__name__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=minimal_environment(),
        limit=_LINE,
    )
    assert child.stdin is not None  # noqa: S101
    assert child.stdout is not None  # noqa: S101
    try:
        child.stdin.write(json.dumps(request).encode() + b"\n")
        for _ in range(_MOST_REQUESTS):
            await child.stdin.drain()
            line = await child.stdout.readline()
            if not line:
                break
            told = json.loads(line)
            if "done" in told:
                if told["unfit"]:
                    raise Misconfigured(
                        "The values of the connection do not fit this service. Check its fields and secrets.",
                        code="notify-settings",
                    )
                return bool(told["done"])
            child.stdin.write(json.dumps(await _sent(http, told)).encode() + b"\n")
        raise Unavailable("The message could not be sent.", code="notify-failed")
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


async def _sent(http: Http, told: Mapping[str, Any]) -> dict[str, Any]:
    headers = {k: v for k, v in told["headers"].items() if k.lower() not in _OWN_HEADERS}
    try:
        answer = await http.request(
            told["method"],
            told["url"],
            secret_headers={**headers, "Accept-Encoding": "identity"},
            body=base64.b64decode(told["body"]),
            follow=False,
            limits=_LIMITS,
        )
    except StewardError as problem:
        return {"refused": problem.message}
    return {
        "status": answer.status,
        "headers": dict(answer.headers),
        "body": base64.b64encode(answer.body).decode(),
    }
