"""Who is asking, and what they may do in one project."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from steward.core import Denied
from steward.identity.roles import Role
from steward.store import Scope


class Via(Enum):
    session = "session"
    token = "token"  # noqa: S105


@dataclass(frozen=True)
class TokenLimits:
    """A token acts for its user within one project and with at most one role."""

    token_id: str
    project_id: str
    role: Role
    audience: str | None = None
    """The one door that the token opens; None: all of them."""


@dataclass(frozen=True)
class Principal:
    user_id: str
    email: str
    name: str
    via: Via
    csrf_token: str | None = None
    session_id: str | None = None
    session_expires_at: datetime | None = None
    limits: TokenLimits | None = None
    owes_second_step: bool = False
    """Their organisation requires one: until it is set up, nothing else is open to the session."""

    @property
    def id(self) -> str:
        """What logs and rate limits know the caller by."""
        return self.limits.token_id if self.limits else self.user_id


@dataclass(frozen=True)
class Access:
    """A principal inside one project: whose data, as whom, with which role."""

    principal: Principal
    scope: Scope
    role: Role

    @property
    def user_id(self) -> str:
        return self.principal.user_id

    def require(self, role: Role) -> None:
        if self.role < role:
            raise Denied(
                f"This needs the role {role.name}; yours here is {self.role.name}. "
                "Ask an admin of the project."
            )

    def require_acting(self) -> None:
        """For starting and answering runs; which of them are a runner's own is looked at where they are named."""
        if not self.role.acts:
            self.require(Role.operator)

    def may_grant(self, role: Role) -> None:
        if role > self.role or (role.acts and not self.role.acts):
            raise Denied(f"You can give roles up to your own ({self.role.name}), not {role.name}.")
