"""Errors in the protocol's shape: what was wrong and what to do, never a stack trace."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from steward.core import Bug, Invalid, Misconfigured, NotFound, StewardError
from steward.trace import get_logger, redact_text

R = TypeVar("R")
Handler = Callable[[Any, Any], Awaitable[R]]
_logger = get_logger("steward.mcp")
_OURS = (Bug, Misconfigured)


def answered(handler: Handler[R]) -> Handler[R]:
    """The handler with each of our errors, and each bug, as an error of the protocol."""

    @wraps(handler)
    async def handle(context: Any, params: Any) -> R:
        try:
            return await handler(context, params)
        except MCPError:
            raise
        except StewardError as problem:
            raise protocol_error(problem) from None
        except Exception:
            _logger.exception("mcp request failed", method=context.method)
            raise MCPError(
                code=INTERNAL_ERROR,
                message="Something broke inside Steward. The log of the server says where.",
            ) from None

    return handle


def protocol_error(problem: StewardError) -> MCPError:
    if isinstance(problem, _OURS):
        _logger.error("mcp request failed", code=problem.specific_code, exc_info=problem)
    code = INTERNAL_ERROR if isinstance(problem, _OURS) else INVALID_PARAMS
    return MCPError(code=code, message=told(problem), data={"code": problem.specific_code})


def told(problem: StewardError) -> str:
    """The message with the places that are wrong."""
    items = problem.problems if isinstance(problem, Invalid) else ()
    places = [f"{each.pointer or 'the whole'}: {each.message}" for each in items[:20]]
    further = "".join(f"\n- {place}" for place in places if place not in problem.message)
    return redact_text(problem.message + further)


def no_such(what: str, name: str) -> NotFound:
    return NotFound(f"There is no {what} {name[:200]!r} here, or it is not open to this token.")
