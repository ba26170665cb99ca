"""Grants: what a run was started with permission for, and the token it shows at every call."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

from steward.broker.tokens import LONGEST, Claims, RunTokens, Wanted, narrow
from steward.broker.tool import Risk
from steward.core import Clock, Conflict, Denied
from steward.identity import Access, Role
from steward.runs import Execution, Json, Run, RunRequest

_KEPT: Final = 2_000
PLUGIN_CHANGED: Final = "plugin-changed"
DIRECT_PROGRAM: Final = "call"
"""What drives the runs of one call that people make by hand."""


@dataclass(frozen=True)
class FixedParts:
    """What a deployment fixes for its runs, beside the flow itself; nothing where it was made before that was kept."""

    policies: tuple[str, ...] = ()
    """The policies in force at the deployment: each must permit a call, beside those of today."""
    models: Mapping[str, Json] = field(default_factory=dict)
    """Which models are asked, by role or by the name that an agent uses; as `Asking.pinned` has them."""
    code: Mapping[str, Json] = field(default_factory=dict)
    """The plug-ins that the flow uses, by name, each with its version and the SHA-256 of its wheel."""

    def to_json(self) -> Json:
        return {
            "policies": list(self.policies),
            "models": dict(self.models),
            "code": dict(self.code),
        }

    @classmethod
    def from_json(cls, data: Json) -> "FixedParts":
        return cls(
            tuple(data.get("policies", ())), data.get("models") or {}, data.get("code") or {}
        )

    def beside(self, caller: "FixedParts") -> "FixedParts":
        """These parts for a sub-run: what was fixed for its caller holds too, where nothing else is said."""
        return FixedParts(
            tuple(dict.fromkeys([*caller.policies, *self.policies])),
            {**caller.models, **self.models},
            {**caller.code, **self.code},
        )

    def code_problem(self, installed: Mapping[str, Any]) -> str | None:
        """Why code that is installed may not run in place of what was deployed; None where it is the same.

        `installed` has version and SHA-256 by the name of a plug-in.
        """
        for name, known in sorted(self.code.items()):
            found = installed.get(name)
            if found is not None and found["sha256"] == known["sha256"]:
                continue
            now = (
                "It is removed or disabled now"
                if found is None
                else f"Installed now is version {found['version']} with other code"
            )
            return (
                f"This was deployed with version {known['version']} of the plug-in {name} "
                f"(SHA-256 {known['sha256'][:12]}…). {now}. Install that version again, or deploy the playbook "
                "again with the plug-in as it is now."
            )
        return None

    def refuse_other_code(self, pin: Json) -> None:
        """Raises where a part of a plug-in is not of the wheel that was deployed; `pin` names the one at hand."""
        name: str = pin.get("plugin", "") if isinstance(pin, dict) else ""
        if name in self.code:
            problem = replace(self, code={name: self.code[name]}).code_problem({name: pin})
            if problem is not None:
                raise Conflict(problem, code=PLUGIN_CHANGED)


NOTHING_FIXED: Final = FixedParts()


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
    fixed: FixedParts = NOTHING_FIXED

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
            **({"fixed": self.fixed.to_json()} if self.fixed != NOTHING_FIXED else {}),
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
            fixed=FixedParts.from_json(data["fixed"]) if "fixed" in data else NOTHING_FIXED,
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
            fixed=mine.fixed,
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
