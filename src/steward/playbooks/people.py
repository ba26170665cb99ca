"""Who may see a playbook: its owner and maker, whom it is shared with, and the project's admins. To all others it is not there."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from steward.broker import Groups
from steward.core import NotFound, Problem
from steward.identity import Access, Member, Members, Role
from steward.observe import MESSAGES
from steward.playbooks import _tables as tables
from steward.playbooks.model import Allowed
from steward.runs import TESTS
from steward.store import Database, Scope, Transaction

SUBJECT: Final = "playbook:"
"""How the subject of a run or a schedule begins that belongs to a playbook."""
ANALYSES: Final = "analysis"
ALERTS_ABOUT_ALL: Final = f"{SUBJECT}:{MESSAGES}"
"""The subject of runs that send alerts about a whole project, for those from whom no playbook is hidden."""
_COLUMNS: Final = tables.playbooks.c


@dataclass(frozen=True)
class Viewer:
    """Somebody who looks at playbooks."""

    user_id: str
    role: Role
    groups: frozenset[str]

    def sees(self, row: Any) -> bool:
        """Whether a row of playbooks is there for this person."""
        if self.role is Role.runner and row.deployed is None:
            return False
        if self.role >= Role.admin or self.user_id in {row.owner, row.created_by}:
            return True
        allowed: Mapping[str, Any] = row.allowed
        return bool(
            allowed.get("everyone")
            or self.user_id in allowed.get("users", ())
            or self.groups & set(allowed.get("groups", ()))
        )


@dataclass(frozen=True)
class Sight:
    """What of runs and schedules somebody sees: all but those that belong to playbooks hidden from them."""

    everything: bool
    seen: frozenset[str] = frozenset()
    """Subjects of the playbooks they see, and of messages, analyses and tests of these."""
    hides_some: bool = False
    """Whether there are playbooks that they do not see."""

    def shows(self, subject: str | None) -> bool:
        if self.everything or subject is None or not subject.startswith(SUBJECT):
            return True
        return subject in self.seen

    @property
    def among(self) -> tuple[str, frozenset[str]] | None:
        """For lists: of the subjects that begin so, only these."""
        return None if self.everything else (SUBJECT, self.seen)


class People:
    def __init__(self, database: Database, members: Members, groups: Groups) -> None:
        self._database = database
        self._members = members
        self._groups = groups

    def viewer(self, access: Access) -> Viewer:
        return Viewer(access.user_id, access.role, self._groups.of(access.scope, access.user_id))

    def author(self, scope: Scope, user_id: str) -> Viewer:
        """The same for whoever started a run; somebody who left sees nothing."""
        role = self._groups.role(scope, user_id)
        if role is None:
            raise NotFound("Whoever started this run is not in the project any more.")
        return Viewer(user_id, role, self._groups.of(scope, user_id))

    def sight(self, access: Access) -> Sight:
        if access.role >= Role.admin:
            return Sight(everything=True)
        viewer = self.viewer(access)
        wanted = sa.select(
            _COLUMNS.id, _COLUMNS.owner, _COLUMNS.created_by, _COLUMNS.allowed, _COLUMNS.deployed
        )
        with self._database.read(access.scope) as tx:
            rows = tx.rows(wanted)
        seen = [subject_of(row.id) for row in rows if viewer.sees(row)]
        hides_some = len(seen) < len(rows)
        messages = [*map(alerts_about, seen), *([] if hides_some else [ALERTS_ABOUT_ALL])]
        analyses = map(analyses_about, seen)
        tests = map(tests_of, seen)
        return Sight(False, frozenset([*seen, *messages, *analyses, *tests]), hides_some)

    def resolve(
        self, access: Access, owner: str | None, allowed: Allowed | None
    ) -> tuple[str | None, dict[str, Any] | None, list[Problem]]:
        """People by id for the addresses of a document; a problem for each address of nobody here."""
        by_email = {each.email.casefold(): each.user_id for each in self._everybody(access)}
        problems = []
        owner_id = by_email.get(owner.casefold()) if owner else None
        if owner and owner_id is None:
            problems.append(Problem("/owner", _nobody(owner)))
        if allowed is None:
            return owner_id, None, problems
        known_groups = {group.name for group in self._groups.listed(access.scope)}
        for index, email in enumerate(allowed.users):
            if email.casefold() not in by_email:
                problems.append(Problem(f"/allowed/users/{index}", _nobody(email)))
        for index, name in enumerate(allowed.groups):
            if name not in known_groups:
                said = f"there is no group {name!r} in this project"
                problems.append(Problem(f"/allowed/groups/{index}", said))
        users = sorted(
            by_email[email.casefold()] for email in allowed.users if email.casefold() in by_email
        )
        shared = {"users": users, "groups": allowed.groups, "everyone": allowed.everyone}
        return owner_id, shared, problems

    def addresses(self, access: Access, user_ids: Collection[str]) -> dict[str, str]:
        """E-mail addresses of members; who left is left out."""
        return {
            each.user_id: each.email for each in self._everybody(access) if each.user_id in user_ids
        }

    def _everybody(self, access: Access) -> list[Member]:
        found: list[Member] = []
        while page := self._members.page(access, after=found[-1].user_id if found else None):
            found += page
        return found


def subject_of(playbook_id: str) -> str:
    return f"{SUBJECT}{playbook_id}"


def tests_of(subject: str) -> str:
    """The subject of tests and shadow runs of a playbook."""
    return f"{subject}:{TESTS}"


def playbook_of(subject: str | None) -> str | None:
    """The id of the playbook that a run is of, tests and shadow runs included."""
    if subject is None or not subject.startswith(SUBJECT):
        return None
    return subject.removeprefix(SUBJECT).removesuffix(f":{TESTS}")


def alerts_about(subject: str) -> str:
    """The subject of runs that send alerts about a playbook."""
    return f"{subject}:{MESSAGES}"


def analyses_about(subject: str) -> str:
    """The subject of runs that explain runs of a playbook."""
    return f"{subject}:{ANALYSES}"


def visible(tx: Transaction, viewer: Viewer, named: str, *, deleted: bool = False) -> sa.Row[Any]:
    """A playbook by its id or its slug; NotFound alike when there is none and when it is hidden."""
    by_id = sa.select(tables.playbooks).where((_COLUMNS.id == named) | (_COLUMNS.slug == named))
    row = tx.first(by_id)
    if row is None or not viewer.sees(row) or (row.deleted_at is not None) is not deleted:
        raise no_such_playbook(named)
    return row


def no_such_playbook(named: str) -> NotFound:
    return NotFound(
        f"There is no playbook {named[:60]!r} in this project, or it is not open to you."
    )


def _nobody(email: str) -> str:
    return f"nobody with the address {email[:80]!r} is in this project; invite them first"
