"""What went wrong at a provider, in Steward's words: what to do, and whether trying again could help.

Imported when a model is used, not before.
"""

import re
from dataclasses import dataclass
from typing import Final

from pydantic_ai import exceptions as sdk

from steward.core import Denied, Invalid, Misconfigured, StewardError, TooLarge, Unavailable
from steward.models.backend import SAID, Failed
from steward.trace import redact_text

_LONGEST_DETAIL: Final = 300
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class _Cause:
    """What a kind of error means; `again` where waiting may help."""

    kinds: tuple[type[BaseException], ...]
    code: str
    message: str
    error: type[StewardError] = Unavailable
    again: bool = False
    asked: bool = False
    """Whether the way in which it was asked may be the cause."""


_BROKEN: Final = _Cause(
    (BaseException,),
    "model-answer-broken",
    "{model} sent something that is not an answer.",
    again=True,
)
_CAUSES: Final = (
    # The order matters: the SDK's classes overlap, and the more special ones come first.
    _Cause(
        (sdk.ModelAuthenticationError,),
        "model-key-refused",
        "{model} refused the key. Check the key in the settings of models.",
        Misconfigured,
    ),
    _Cause(
        (sdk.ModelNotFoundError,),
        "model-not-found",
        "{model} does not exist at its provider. Check name and base_url.",
        Misconfigured,
    ),
    _Cause(
        (sdk.ModelContextWindowExceededError,),
        "model-context-exceeded",
        "The request is longer than {model} can read at once. Give its server a larger context, or choose another "
        "model.",
        TooLarge,
    ),
    _Cause(
        (sdk.ModelQuotaExceededError,),
        "model-quota-exceeded",
        "The account at the provider of {model} has no credit left.",
        Misconfigured,
    ),
    _Cause(
        (sdk.ModelRateLimitError,),
        "model-rate-limited",
        "{model} takes no more requests just now.",
        again=True,
    ),
    _Cause(
        (sdk.ModelUnavailableError,),
        "model-unavailable",
        "{model} is down or busy.",
        again=True,
    ),
    _Cause(
        (sdk.ModelServerError,),
        "model-unavailable",
        "{model} is down or busy.",
        again=True,
        asked=True,
    ),
    _Cause(
        (sdk.ModelTimeoutError, sdk.ModelRequestTimeout, TimeoutError),
        "model-stalled",
        "{model} did not answer in time.",
        again=True,
    ),
    _Cause(
        (sdk.ModelConnectionError,),
        "model-unreachable",
        "{model} cannot be reached, or the line broke. Is its server running?",
        again=True,
    ),
    _Cause(
        (sdk.ContentFilterError,),
        "model-content-filtered",
        "The provider of {model} refused to answer this.",
        Denied,
    ),
    _Cause(
        (sdk.ModelRequestRejectedError, sdk.ModelHTTPError),
        "model-request-rejected",
        "{model} rejected the request.",
        Invalid,
        asked=True,
    ),
    _Cause(
        (sdk.UserError, ImportError),
        "model-misconfigured",
        "{model} is not set up right.",
        Misconfigured,
        asked=True,
    ),
)


def failed(problem: BaseException, model: str, secret: str | None) -> Failed:
    """The failure behind an error of the SDK."""
    cause = next((cause for cause in _CAUSES if isinstance(problem, cause.kinds)), _BROKEN)
    said = "" if isinstance(problem, TimeoutError) else _detail(problem, secret)
    error = cause.error(cause.message.format(model=model) + said, code=cause.code)
    after = problem.retry_after if isinstance(problem, sdk.ModelAPIError) else None
    return Failed(error, again=cause.again, after=after, asked=cause.asked)


def _detail(problem: BaseException, secret: str | None) -> str:
    """What the provider said, short and without the key: some repeat it in their errors."""
    said = _said(problem)
    if secret:
        said = said.replace(secret, "[key]")
    said = _BLANKS.sub(" ", redact_text(said)).strip()
    return f"{SAID}{said[:_LONGEST_DETAIL]}" if said else ""


def _said(problem: BaseException) -> str:
    body = getattr(problem, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        message = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(message, str):
            return message
    return getattr(problem, "message", None) or str(problem)
