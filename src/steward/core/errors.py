"""Every error Steward raises on purpose, by cause; one place in `api` maps them to HTTP.

StewardError
├── Invalid               the request is wrong: fix it and try again          (422)
│   └── TooLarge          a size, row or length limit was exceeded            (413)
├── Unauthenticated       we do not know who is asking                        (401)
├── Denied                we know, and the answer is no                       (403)
├── NotFound              no such thing, or none that the caller may see      (404)
├── Conflict              true a moment ago, no longer                        (409)
│   ├── Stale             the document changed since the caller read it       (412)
│   └── RevisionRequired  the caller did not say which revision it read       (428)
├── TooSlow               the request did not arrive in time                  (408)
├── RateLimited           too many requests; says when to come back           (429)
├── Unavailable           a part is down or busy; trying again may help       (503)
├── Misconfigured         the installation is wrong: an administrator acts    (500)
└── Bug                   Steward broke one of its own rules                  (500)

An error carries a stable `code` for programs and a message for people that says what was wrong,
where, and what to do. Messages never contain secret values or rows of data.
Suspension and cancellation of runs are not errors: they derive from BaseException.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Final


@dataclass(frozen=True)
class Problem:
    """One thing wrong at one place of the input; `pointer` is a JSON pointer."""

    pointer: str
    message: str


class StewardError(Exception):
    code: ClassVar[str] = "error"
    title: ClassVar[str] = "Something went wrong"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.specific_code = code or self.code


class Invalid(StewardError):
    code = "invalid"
    title = "The request is not valid"

    def __init__(
        self, message: str, *, code: str | None = None, problems: Sequence[Problem] = ()
    ) -> None:
        super().__init__(message, code=code)
        self.problems = tuple(problems)


class TooLarge(Invalid):
    code = "too-large"
    title = "A limit was exceeded"


class Unauthenticated(StewardError):
    code = "unauthenticated"
    title = "Sign in first"


class Denied(StewardError):
    code = "denied"
    title = "Not allowed"


class NotFound(StewardError):
    code = "not-found"
    title = "Not found"


class Conflict(StewardError):
    code = "conflict"
    title = "Conflict with the current state"


class Stale(Conflict):
    code = "stale"
    title = "The document has changed"


class RevisionRequired(Conflict):
    code = "revision-required"
    title = "Say which revision you read"


class TooSlow(StewardError):
    code = "too-slow"
    title = "The request took too long to arrive"


class RateLimited(StewardError):
    code = "rate-limited"
    title = "Too many requests"

    def __init__(self, message: str, *, retry_after_seconds: int, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(StewardError):
    code = "unavailable"
    title = "Temporarily unavailable"


class Misconfigured(StewardError):
    code = "misconfigured"
    title = "Steward is not set up correctly"


class Bug(StewardError):
    code = "bug"
    title = "An unexpected error"


_CAUSES: Final = (
    Invalid,
    TooLarge,
    Unauthenticated,
    Denied,
    NotFound,
    Conflict,
    Stale,
    RevisionRequired,
    Unavailable,
    Misconfigured,
    Bug,
)
_BY_CODE: Final[Mapping[str, type[StewardError]]] = {kind.code: kind for kind in _CAUSES}


def error_to_json(error: StewardError) -> dict[str, Any]:
    """An error as data that a journal keeps; `error_from_json` raises the same again."""
    found: dict[str, Any] = {"code": error.specific_code, "message": error.message}
    cause = next((kind.code for kind in type(error).__mro__ if kind in _CAUSES), None)
    if cause is not None and cause != error.specific_code:
        found["cause"] = cause
    problems = [asdict(each) for each in getattr(error, "problems", ())]
    if problems:
        found["problems"] = problems
    return found


def error_from_json(data: Mapping[str, Any]) -> StewardError:
    """The error that `error_to_json` described; one of unknown cause is a conflict with the state of things."""
    code, message = str(data["code"]), str(data["message"])
    kind = _BY_CODE.get(str(data.get("cause", code)), Conflict)
    if issubclass(kind, Invalid):
        problems = [Problem(**each) for each in data.get("problems", ())]
        return kind(message, code=code, problems=problems)
    return kind(message, code=code)
