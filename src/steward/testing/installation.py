"""An installation for one test, with people in it and clients that speak as them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from argon2 import PasswordHasher
from starlette.testclient import TestClient

from steward.api import create_api
from steward.app import Steward
from steward.core import MovableClock
from steward.identity import Access, Passwords, Principal, Role, User, Via
from steward.store import Scope

BASE_URL = "http://127.0.0.1:8400"
PASSWORD = "correct horse battery"  # noqa: S105


def fast_passwords() -> Passwords:
    """Argon2 with the least it accepts: tests sign in often."""
    return Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@dataclass(frozen=True)
class Person:
    user: User
    access: Access
    _sign_in: Callable[[User], TestClient]

    @cached_property
    def client(self) -> TestClient:
        """Signed in by cookie, CSRF header set; made when first asked for, as most tests need none."""
        return self._sign_in(self.user)


@dataclass
class Installation:
    steward: Steward
    clock: MovableClock
    _clients: list[TestClient] = field(default_factory=list)

    @cached_property
    def api(self) -> Any:
        return create_api(self.steward)

    @cached_property
    def owner(self) -> Person:
        """Somebody who owns the organisation and its first project."""
        user = self.steward.identity.users.create("owner@example.com", "Olga Owner", PASSWORD)
        organisation = self.steward.identity.projects.create_organisation("Example", user.id)
        project_id = self.steward.identity.projects.create(organisation.id, "First", user.id)
        return self._person(user, project_id)

    @property
    def scope(self) -> Scope:
        return self.owner.access.scope

    def person(self, role: Role, name: str | None = None, project_id: str | None = None) -> Person:
        """A new member of a project (the owner's first one) with the given role."""
        name = name or f"the-{role.name}"
        user = self.steward.identity.users.create(
            f"{name}@example.com", name.replace("-", " ").title(), PASSWORD
        )
        inside = Scope(self.scope.org_id, project_id or self.scope.project_id)
        with self.steward.database.write(inside) as tx:
            self.steward.identity.members.add_within(tx, user.id, role)
        return self._person(user, inside.project_id)

    def returning(self, name: str) -> Person:
        """Somebody who was in the home before it was opened, in the first project they see."""
        user = self.steward.identity.users.find(f"{name}@example.com")
        assert user is not None, f"nobody called {name} is in this home"
        principal = Principal(user.id, user.email, user.name, Via.session)
        first = self.steward.identity.projects.page(principal, limit=1)[0]
        return self._person(user, first.id)

    def project(self, name: str) -> str:
        """A further project of the owner's organisation."""
        owner = self.owner
        return self.steward.identity.projects.create(owner.access.scope.org_id, name, owner.user.id)

    def anonymous(self) -> TestClient:
        client = TestClient(self.api, base_url=BASE_URL, raise_server_exceptions=False)
        self._clients.append(client)
        return client

    def by_token(self, person: Person, role: Role) -> TestClient:
        """A client that sends an API token of the person with at most this role."""
        _, text = self.steward.identity.tokens.create(person.access, "test", role, 1)
        client = self.anonymous()
        client.headers["Authorization"] = f"Bearer {text}"
        return client

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self.steward.close()

    def _person(self, user: User, project_id: str) -> Person:
        principal = Principal(user.id, user.email, user.name, Via.session)
        access = self.steward.identity.projects.enter(principal, project_id)
        return Person(user, access, self._signed_in)

    def _signed_in(self, user: User) -> TestClient:
        client = self.anonymous()
        answer = client.post("/api/v1/session", json={"email": user.email, "password": PASSWORD})
        answer.raise_for_status()
        client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
        return client
