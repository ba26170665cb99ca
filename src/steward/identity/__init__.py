"""Who may do what: organisations, projects, users, roles, sessions, tokens, invitations."""

from steward.core.clock import Clock
from steward.core.ids import Ids
from steward.core.settings import IdentitySettings
from steward.identity.credentials import Passwords
from steward.identity.invitations import Invitation, InvitationPreview, Invitations
from steward.identity.members import Member, Members
from steward.identity.notifications import Level, Notification, Notifications
from steward.identity.principals import Access, Principal, TokenLimits, Via
from steward.identity.projects import Organisation, Project, Projects
from steward.identity.roles import Role, parse_role
from steward.identity.sessions import NewSession, OpenSession, Origin, Sessions
from steward.identity.tokens import Token, Tokens
from steward.identity.users import User, Users
from steward.store import Database, EventLog

__all__ = [
    "Access",
    "Identity",
    "Invitation",
    "InvitationPreview",
    "Level",
    "Member",
    "NewSession",
    "Notification",
    "OpenSession",
    "Organisation",
    "Origin",
    "Passwords",
    "Principal",
    "Project",
    "Role",
    "Token",
    "TokenLimits",
    "User",
    "Via",
    "parse_role",
]


class Identity:
    """The room's door: one attribute per noun."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        ids: Ids,
        events: EventLog,
        settings: IdentitySettings,
        passwords: Passwords | None = None,
    ) -> None:
        passwords = passwords or Passwords()
        self.users = Users(database, clock, ids, passwords)
        self.sessions = Sessions(database, clock, ids, passwords, settings)
        self.projects = Projects(database, clock, ids, events)
        self.members = Members(database, clock, events)
        self.tokens = Tokens(database, clock, ids, events, settings)
        self.notifications = Notifications(database, clock, ids, events)
        self.invitations = Invitations(
            database,
            clock,
            ids,
            events,
            self.users,
            self.sessions,
            self.members,
            self.notifications,
        )

    def is_signed_in(self, principal: Principal) -> bool:
        """Whether a session or token still counts, for what lasts longer than the request that named it."""
        if principal.limits is not None:
            return self.tokens.is_valid(principal.limits.token_id)
        return principal.session_id is not None and self.sessions.is_open(principal.session_id)
