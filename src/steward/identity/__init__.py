"""Who may do what: organisations, projects, users, roles, sessions, tokens, invitations."""

from steward.core import Clock, IdentitySettings, Ids
from steward.identity.client_documents import ClientDocuments
from steward.identity.client_grants import (
    MCP,
    Client,
    ClientGrants,
    Issued,
    checked_challenge,
)
from steward.identity.credentials import Passwords
from steward.identity.directories.documents import GROUP, USER
from steward.identity.directories.filters import attribute_name, read_filter, simple_equality
from steward.identity.directories.groups import Groups
from steward.identity.directories.patches import patched
from steward.identity.directories.people import People, Record
from steward.identity.directories.registry import Directories, Directory, GroupRule
from steward.identity.erasure import ERASABLE, Eraser, Erasure
from steward.identity.guesses import Guesses
from steward.identity.invitations import Invitation, Invitations, Share
from steward.identity.links import Link, Links
from steward.identity.members import Member, Members
from steward.identity.notifications import Level, Notification, Notifications
from steward.identity.passkeys import Passkeys, RelyingParty, relying_party
from steward.identity.principals import Access, Principal, TokenLimits, Via
from steward.identity.projects import Project, Projects
from steward.identity.push_devices import PushAddress, PushDevice, PushDevices
from steward.identity.retention import Periods, Retention, RetentionRule
from steward.identity.roles import Role, parse_role
from steward.identity.second_step import SecondStep, SecondStepRule
from steward.identity.sessions import NewSession, OpenSession, Origin, Sessions
from steward.identity.sign_on.admission import Admission
from steward.identity.tokens import Token, Tokens
from steward.identity.two_step import Enrolment, TwoStep
from steward.identity.users import User, Users
from steward.store import Database, EventLog, Keyring

__all__ = [
    "ERASABLE",
    "GROUP",
    "MCP",
    "USER",
    "Access",
    "Client",
    "ClientDocuments",
    "Directory",
    "Enrolment",
    "Erasure",
    "GroupRule",
    "Identity",
    "Invitation",
    "Issued",
    "Level",
    "Link",
    "Links",
    "Member",
    "Members",
    "NewSession",
    "Notification",
    "Notifications",
    "OpenSession",
    "Origin",
    "Passwords",
    "Periods",
    "Principal",
    "Project",
    "PushAddress",
    "PushDevice",
    "Record",
    "RelyingParty",
    "Retention",
    "RetentionRule",
    "Role",
    "SecondStepRule",
    "Token",
    "TokenLimits",
    "User",
    "Via",
    "attribute_name",
    "checked_challenge",
    "parse_role",
    "patched",
    "read_filter",
    "relying_party",
    "simple_equality",
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
        keyring: Keyring,
        passwords: Passwords | None = None,
        share: Share | None = None,
    ) -> None:
        passwords = passwords or Passwords()
        guesses = Guesses(database, clock, settings)
        self.users = Users(database, clock, ids, passwords, guesses)
        self.eraser = Eraser(database, self.users)
        self.two_step = TwoStep(database, clock, keyring, guesses, self.users)
        self.sessions = Sessions(database, clock, ids, passwords, settings, guesses, self.two_step)
        self.passkeys = Passkeys(database, clock, ids, events, self.users, self.sessions)
        self.push_devices = PushDevices(database, clock, ids)
        self.projects = Projects(database, clock, ids, events)
        self.retention = Retention(database, clock, ids, events)
        self.members = Members(database, clock, events)
        self.second_step = SecondStep(database, clock, events, self.members)
        self.tokens = Tokens(database, clock, ids, events, settings)
        self.links = Links(database, clock, ids, events, keyring, settings)
        self.client_grants = ClientGrants(database, clock, ids, events)
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
            share,
        )
        admission = Admission(
            database, clock, events, self.users, self.sessions, self.members, self.invitations
        )
        self.directories = Directories(database, clock, ids, events, self.members)
        self.directory_people = People(database, clock, ids, events, self.users, admission)
        self.directory_groups = Groups(database, clock, ids, self.directory_people)

    def is_signed_in(self, principal: Principal) -> bool:
        """Whether a session or token still counts, for what lasts longer than the request that named it."""
        if principal.limits is not None:
            return self.tokens.is_valid(principal.limits.token_id)
        return principal.session_id is not None and self.sessions.is_open(principal.session_id)
