"""Grants: what a run was started with permission for, and the token it shows at every call."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from steward.broker.tokens import LONGEST, Claims, RunTokens, Wanted, narrow
from steward.broker.tool import Risk
from steward.core.clock import Clock
from steward.core.errors import Denied
from steward.identity import Access, Role
from steward.runs import Execution, Json, Run, RunRequest

_KEPT: Final = 2_000
DIRECT_PROGRAM: Final = "call"
"""What drives the runs of one call that people make by hand."""


@dataclass(frozen=True)
class Grant:
    """The most that a run may do; written into the first entry of its journal."""

    tools: frozenset[str]
    highest_risk: Risk
    branch: str = "main"
    playbook: str | None = None
    parent_run: str | None = None
    revision: int | None = None
    """Which revision of the playbook it runs."""
    deployment: int | None = None
    """Which deployment of the playbook it belongs to: its parts are pinned there."""
    policies: tuple[str, ...] = ()
    """Policies that came with what is run: each must permit a call, beside those in force."""
    role: Role | None = None
    """The role of whoever started it, where that was less than the person's own: a token's."""
    token: str | None = None
    """The API token that started it: once that is revoked, the run may only look."""
    authors: tuple[str, ...] = ()
    """Who wrote what is run, such as the revisions of a playbook: they ask for what it does, too."""
    test: Json = None
    """How a test run is kept from having effects, as `Rehearsal` reads it; None for runs that do what they say."""
    direct: bool = False
    """Whether a person, or a token of theirs, makes this one call themselves."""

    def to_json(self) -> Json:
        return {
            "tools": sorted(self.tools),
            "risk": self.highest_risk.value,
            "branch": self.branch,
            "playbook": self.playbook,
            "parent": self.parent_run,
            **({"revision": self.revision} if self.revision is not None else {}),
            **({"deployment": self.deployment} if self.deployment is not None else {}),
            **({"policies": list(self.policies)} if self.policies else {}),
            **({"role": self.role.name} if self.role is not None else {}),
            **({"token": self.token} if self.token is not None else {}),
            **({"authors": list(self.authors)} if self.authors else {}),
            **({"test": self.test} if self.test is not None else {}),
            **({"direct": True} if self.direct else {}),
        }

    @classmethod
    def from_json(cls, data: Json) -> "Grant":
        return cls(
            tools=frozenset(data.get("tools", ())),
            # What was not granted is not allowed: a run without a grant may call nothing.
            highest_risk=Risk(data.get("risk", Risk.read.value)),
            branch=data.get("branch", "main"),
            playbook=data.get("playbook"),
            parent_run=data.get("parent"),
            revision=data.get("revision"),
            deployment=data.get("deployment"),
            policies=tuple(data.get("policies", ())),
            role=Role[data["role"]] if "role" in data else None,
            token=data.get("token"),
            authors=tuple(data.get("authors", ())),
            test=data.get("test"),
            direct=data.get("direct") is True,
        )

    def started_by(self, access: Access, *, lasting: bool = False) -> "Grant":
        """The grant as this person or token uses it: a token gets no more than its role.

        `lasting` for what goes on starting runs after a token has been replaced, such as a schedule.
        """
        limits = access.principal.limits
        token = limits.token_id if limits is not None and not lasting else None
        return replace(self, role=token_role(access), token=token)

    def like(self, other: "Grant") -> "Grant":
        """The grant within the limits under which another one was given."""
        return replace(self, role=other.role, token=other.token)


def token_role(access: Access) -> Role | None:
    """The role to which a run that an API token starts is bound; None for a person, whose own role counts."""
    return access.role if access.principal.limits is not None else None


def bound_to(access: Access, request: RunRequest, *, lasting: bool = False) -> RunRequest:
    """The request as this person or token starts it; see `Grant.started_by`."""
    grant = Grant.from_json(request.grant).started_by(access, lasting=lasting)
    return replace(request, grant=grant.to_json())


class TokenDesk:
    """Hands each run its token while it is driven, and takes none but valid ones."""

    def __init__(self, tokens: RunTokens, clock: Clock, lifetime: timedelta = LONGEST) -> None:
        self._tokens = tokens
        self._clock = clock
        self._lifetime = lifetime
        self._issued: OrderedDict[str, str] = OrderedDict()

    def current(self, execution: Execution) -> Claims:
        """What the run may do, as its verified token says."""
        run = execution.run
        token = self._issued.get(run.id)
        if token is not None:
            try:
                return self._tokens.verify(token, run_id=run.id, scope=run.scope)
            except Denied as problem:
                if problem.specific_code != "token-expired":
                    raise
        token = self._tokens.issue(self._claims(run, execution.request.grant))
        self._issued[run.id] = token
        while len(self._issued) > _KEPT:
            self._issued.popitem(last=False)
        return self._tokens.verify(token, run_id=run.id, scope=run.scope)

    def narrowed(
        self, execution: Execution, tools: Iterable[str] | None = None, risk: Risk | None = None
    ) -> Grant:
        """The grant of a sub-run: at most what this run has."""
        wanted = Wanted(
            run_id="",
            tools=frozenset(tools) if tools is not None else None,
            highest_risk=risk,
        )
        claims = narrow(self.current(execution), wanted)
        mine = Grant.from_json(execution.request.grant)
        return Grant(
            claims.tools,
            claims.highest_risk,
            claims.branch,
            claims.playbook,
            execution.run.id,
            revision=mine.revision,
            deployment=mine.deployment,
            policies=mine.policies,
            role=mine.role,
            token=mine.token,
            authors=mine.authors,
            test=mine.test,
        )

    def _claims(self, run: Run, grant: Json) -> Claims:
        given = Grant.from_json(grant)
        return Claims(
            scope=run.scope,
            user_id=run.created_by,
            run_id=run.id,
            tools=given.tools,
            highest_risk=given.highest_risk,
            branch=given.branch,
            expires_at=self._clock.now() + self._lifetime,
            playbook=given.playbook,
            parent_run=given.parent_run,
        )
