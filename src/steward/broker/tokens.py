"""Run tokens: short-lived signed statements of what a run may do at most; a sub-run's can only be narrower."""

import math
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import jwt

from steward.broker.tool import Risk
from steward.core import Clock, Denied, Misconfigured
from steward.store import Scope

ISSUER: Final = "steward"
AUDIENCE: Final = "steward:broker"
LONGEST: Final = timedelta(hours=1)
_ALGORITHM: Final = "HS256"
_LEAST_KEY_BYTES: Final = 32
_KEPT: Final = 2_000
_REQUIRED: Final = (
    *("iss", "aud", "sub", "jti", "iat", "nbf", "exp", "org", "project"),
    *("run", "playbook", "tools", "risk", "branch", "parent"),
)


@dataclass(frozen=True)
class Claims:
    """What a token says."""

    scope: Scope
    user_id: str
    run_id: str
    tools: frozenset[str]
    """The allow-list; a tool that is not in it does not exist for the run."""
    highest_risk: Risk
    branch: str
    expires_at: datetime
    playbook: str | None = None
    parent_run: str | None = None
    token_id: str = ""
    """Given when the token is issued."""

    def allows(self, tool: str) -> bool:
        return tool in self.tools

    def refuse_unless_covered(self, tool: str, risk: Risk) -> None:
        """The first question of every call."""
        if not self.allows(tool):
            raise Denied(
                f"This run may not use the tool {tool!r}. Add it to the playbook's tools.",
                code="tool-not-granted",
            )
        if not risk.at_most(self.highest_risk):
            raise Denied(
                f"The tool {tool!r} is of risk {risk.value!r}; this run may go up to "
                f"{self.highest_risk.value!r}.",
                code="risk-not-granted",
            )


@dataclass(frozen=True)
class Wanted:
    """What a sub-run asks for; None takes what the parent has."""

    run_id: str
    tools: frozenset[str] | None = None
    highest_risk: Risk | None = None
    branch: str | None = None
    expires_at: datetime | None = None
    playbook: str | None = None


def narrow(parent: Claims, wanted: Wanted) -> Claims:
    """The claims of a sub-run: never more tools, a higher risk, a later end or a foreign branch."""
    branch = wanted.branch or parent.branch
    if branch != parent.branch and not branch.startswith(f"{parent.branch}/"):
        raise Denied(
            f"A sub-run of a run on branch {parent.branch!r} works there or on a branch below it, "
            f"not on {branch!r}.",
            code="branch-not-granted",
        )
    risk = wanted.highest_risk or parent.highest_risk
    return replace(
        parent,
        run_id=wanted.run_id,
        parent_run=parent.run_id,
        tools=parent.tools if wanted.tools is None else parent.tools & wanted.tools,
        highest_risk=min(risk, parent.highest_risk, key=lambda each: each.rank),
        branch=branch,
        expires_at=min(wanted.expires_at or parent.expires_at, parent.expires_at),
        playbook=wanted.playbook or parent.playbook,
        token_id="",
    )


class RunTokens:
    """Issues and verifies the tokens of one installation; the key never leaves this object."""

    def __init__(self, key: bytes, clock: Clock) -> None:
        if len(key) < _LEAST_KEY_BYTES:
            raise Misconfigured(
                f"The key for run tokens has {len(key)} bytes; it needs {_LEAST_KEY_BYTES} at least."
            )
        self._key = key
        self._clock = clock
        self._bodies: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        """The same text under the same key says the same each time; only the time it is looked at differs."""

    def issue(self, claims: Claims) -> str:
        """A token that ends with its claims, or after an hour; a running run asks for the next one."""
        now = _whole_seconds(self._clock.now())
        # Whole seconds, rounded down: the text must not outlive the claims.
        expires = min(_whole_seconds(claims.expires_at), now + LONGEST)
        if expires <= now:
            raise Denied("The run's time has ended; it gets no token.", code="token-expired")
        body = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": claims.user_id,
            "jti": claims.token_id or uuid4().hex,
            "iat": int(now.timestamp()),
            "nbf": int(now.timestamp()),
            "exp": int(expires.timestamp()),
            "org": claims.scope.org_id,
            "project": claims.scope.project_id,
            "run": claims.run_id,
            # The library takes null for missing.
            "playbook": claims.playbook or "",
            "tools": sorted(claims.tools),
            "risk": claims.highest_risk.value,
            "branch": claims.branch,
            "parent": claims.parent_run or "",
        }
        token = jwt.encode(body, self._key, algorithm=_ALGORITHM)
        self._keep(token, body)
        return token

    def verify(
        self, token: str, *, run_id: str | None = None, scope: Scope | None = None
    ) -> Claims:
        """The claims of a token that is ours, whole and in time, and of this run where one is named."""
        body = self._bodies.get(token)
        if body is None:
            body = self._decoded(token)
            self._keep(token, body)
        now = self._clock.now().timestamp()
        if now >= _moment(body["exp"]):
            raise Denied(
                "The run token has expired; the run must be driven again to get a new one.",
                code="token-expired",
            )
        if now < _moment(body["nbf"]):
            raise Denied(
                "The run token is not valid yet; check the clocks of the machines.",
                code="token-early",
            )
        claims = _claims(body)
        if (run_id is not None and claims.run_id != run_id) or (
            scope is not None and claims.scope != scope
        ):
            raise Denied("The run token belongs to another run.", code="token-of-another-run")
        return claims

    def _keep(self, token: str, body: Mapping[str, Any]) -> None:
        self._bodies[token] = body
        while len(self._bodies) > _KEPT:
            with suppress(KeyError):
                self._bodies.popitem(last=False)

    def _decoded(self, token: str) -> Mapping[str, Any]:
        try:
            return jwt.decode(
                token,
                self._key,
                # Pinned: a token cannot choose "none" or another algorithm for itself.
                algorithms=[_ALGORITHM],
                audience=AUDIENCE,
                issuer=ISSUER,
                options={
                    "require": list(_REQUIRED),
                    "strict_aud": True,
                    # Time is checked with our clock, which tests can move.
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except jwt.InvalidAlgorithmError:
            raise _denied("is signed in a way that is not accepted", "token-algorithm") from None
        except jwt.InvalidSignatureError:
            raise _denied("was altered or signed with another key", "token-tampered") from None
        except (jwt.InvalidAudienceError, jwt.InvalidIssuerError):
            raise _denied("was made for another purpose", "token-audience") from None
        except jwt.MissingRequiredClaimError as error:
            raise _denied(f"lacks {error.claim!r}", "token-incomplete") from None
        except jwt.InvalidTokenError:
            raise _denied("cannot be read", "token-malformed") from None


def _denied(problem: str, code: str) -> Denied:
    return Denied(f"The run token {problem}. Start the run again.", code=code)


def _claims(body: Mapping[str, Any]) -> Claims:
    try:
        return Claims(
            scope=Scope(body["org"], body["project"]),
            user_id=body["sub"],
            run_id=body["run"],
            tools=frozenset(body["tools"]),
            highest_risk=Risk(body["risk"]),
            branch=body["branch"],
            expires_at=datetime.fromtimestamp(_moment(body["exp"]), UTC),
            playbook=body["playbook"] or None,
            parent_run=body["parent"] or None,
            token_id=body["jti"],
        )
    except (TypeError, ValueError):
        raise _denied("says something that is not understood", "token-malformed") from None


def _moment(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _denied("says something that is not understood", "token-malformed")
    return value


def _whole_seconds(moment: datetime) -> datetime:
    return datetime.fromtimestamp(math.floor(moment.timestamp()), UTC)
