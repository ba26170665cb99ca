"""The one mapping from errors to HTTP: RFC 9457 problem documents, never a stack trace."""

from http import HTTPStatus
from typing import Any, Final, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from steward.api.bodies import Refused
from steward.core import errors
from steward.flows import NotDoneYet
from steward.trace import Metrics, get_logger, redact_text

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "https://steward.dev/problems/"
_MOST_ITEMS: Final = 100
"""Mistakes that one answer lists; a body can have thousands."""
_logger = get_logger("steward.api")

_STATUS: tuple[tuple[type[errors.StewardError], int], ...] = (
    (errors.TooLarge, 413),
    (errors.Invalid, 422),
    (errors.Unauthenticated, 401),
    (errors.Denied, 403),
    (errors.NotFound, 404),
    (errors.Stale, 412),
    (errors.RevisionRequired, 428),
    (errors.Conflict, 409),
    (errors.TooSlow, 408),
    (errors.RateLimited, 429),
    (errors.Unavailable, 503),
    (errors.StewardError, 500),
)


class ProblemItem(BaseModel):
    pointer: str = Field(
        description="JSON pointer to the place in the request.", examples=["/name"]
    )
    message: str


class ProblemDocument(BaseModel):
    """An error: what was wrong, where, what to do."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": TYPE_PREFIX + "not-found",
                "title": "Not found",
                "status": 404,
                "detail": "There is no such project, or it is not open to you.",
                "instance": "req_01jd2v6w4m8k3q5r7t9x0y1z2a",
                "code": "not-found",
            }
        }
    )

    type: str
    title: str
    status: int
    detail: str
    instance: str = Field(description="The request's id, as in the X-Request-ID header.")
    code: str = Field(description="Stable name of the error, for programs.")
    errors: list[ProblemItem] | None = None
    run_id: str | None = Field(
        None, description="The run that waits for approval, where that is why nothing happened yet."
    )


def status_of(error: errors.StewardError) -> int:
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def problem(
    request_id: str,
    status: int,
    code: str,
    title: str,
    detail: str,
    items: list[dict[str, str]] | None = None,
    headers: dict[str, str] | None = None,
    run_id: str | None = None,
) -> JSONResponse:
    body: dict[str, Any] = {
        "type": TYPE_PREFIX + code,
        "title": title,
        "status": status,
        "detail": redact_text(detail),
        "instance": request_id,
        "code": code,
    }
    if items:
        body["errors"] = items
    if run_id is not None:
        body["run_id"] = run_id
    return JSONResponse(body, status, media_type=MEDIA_TYPE, headers=headers)


def problem_of(request_id: str, error: errors.StewardError) -> JSONResponse:
    status = status_of(error)
    headers = {}
    if isinstance(error, errors.RateLimited):
        headers["Retry-After"] = str(error.retry_after_seconds)
    if isinstance(error, errors.TooSlow | errors.TooLarge):
        # What is still on its way would be taken for the next request.
        headers["Connection"] = "close"
    if isinstance(error, errors.Unauthenticated):
        headers["WWW-Authenticate"] = 'Bearer realm="steward"'
    items = None
    if isinstance(error, errors.Invalid):
        items = [{"pointer": p.pointer, "message": p.message} for p in error.problems[:_MOST_ITEMS]]
    run_id = error.run_id if isinstance(error, NotDoneYet) else None
    return problem(
        request_id, status, error.specific_code, error.title, error.message, items, headers, run_id
    )


def install(api: FastAPI, metrics: Metrics) -> None:
    """Answers every error of every route with a problem document."""

    @api.exception_handler(errors.StewardError)
    async def _ours(request: Request, error: Exception) -> JSONResponse:
        known = cast(errors.StewardError, error)
        status = status_of(known)
        metrics.refused.labels(known.specific_code).inc()
        if status >= 500:
            _logger.error("request failed", code=known.specific_code, exc_info=error)
        return problem_of(request.state.request_id, known)

    @api.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: Exception) -> JSONResponse:
        found = cast(RequestValidationError, error).errors()
        if found and found[0]["type"] == "json_invalid":
            reason = found[0].get("ctx", {}).get("error", "unreadable")
            detail = f"The body is not JSON: {reason} (at character {found[0]['loc'][-1]})."
            return problem(request.state.request_id, 400, "not-json", "Not JSON", detail)
        items = [
            {"pointer": _pointer(item["loc"]), "message": str(item["msg"])}
            for item in found[:_MOST_ITEMS]
        ]
        first = items[0] if items else {"pointer": "", "message": ""}
        place = first["pointer"] or "the request"
        detail = f"{place}: {first['message']}"
        if len(found) > 1:
            detail += f" (and {len(found) - 1:,} more)"
        return problem(
            request.state.request_id, 422, "invalid", errors.Invalid.title, detail, items
        )

    @api.exception_handler(HTTPException)
    async def _framework(request: Request, error: Exception) -> JSONResponse:
        if isinstance(error, Refused):
            return await _ours(request, error.error)
        raised = cast(HTTPException, error)
        status = raised.status_code
        phrase = HTTPStatus(status).phrase
        code = phrase.lower().replace(" ", "-")
        details = {
            404: f"There is nothing at {request.url.path}. The API is described at /api/v1/openapi.json.",
            405: f"{request.method} is not possible at {request.url.path}.",
        }
        detail = details.get(status, str(raised.detail))
        headers = dict(raised.headers or {})
        return problem(request.state.request_id, status, code, phrase, detail, headers=headers)

    @api.exception_handler(Exception)
    async def _unexpected(request: Request, error: Exception) -> JSONResponse:
        _logger.error("unexpected error", exc_info=error)
        return unexpected(request.state.request_id)


def unexpected(request_id: str) -> JSONResponse:
    return problem(
        request_id,
        500,
        errors.Bug.code,
        errors.Bug.title,
        f"Something broke inside Steward; nothing was half done. The log has it under {request_id}.",
    )


def _pointer(location: tuple[int | str, ...]) -> str:
    """FastAPI's ('body', 'a', 0) as a JSON pointer; other parts of the request keep their name."""
    kind, *rest = location or ("",)
    path = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in rest)
    return path if kind == "body" else f"/{kind}{path}"
