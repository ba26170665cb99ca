"""Which project and person a command of the terminal acts for."""

from typing import Annotated

import typer

from steward.app import Steward
from steward.core.errors import Invalid, NotFound
from steward.identity import Access, Principal, User, Via

ProjectOption = Annotated[
    str | None, typer.Option("--project", help="Id or name of the project; unset: the only one.")
]
UserOption = Annotated[
    str | None, typer.Option("--user", help="E-mail address to act for; unset: the owner.")
]


def enter(steward: Steward, email: str | None, project: str | None) -> Access:
    """The person's access to the project; whoever runs this holds the home folder anyway."""
    user = _user(steward, email)
    principal = Principal(user.id, user.email, user.name, Via.session)
    projects = steward.identity.projects.page(principal)
    chosen = [p for p in projects if project in {None, p.id, p.name}]
    if len(chosen) != 1:
        names = ", ".join(f"{p.name} ({p.id})" for p in projects) or "none"
        raise Invalid(f"Say which project with --project. {user.email} is in: {names}.")
    return steward.identity.projects.enter(principal, chosen[0].id)


def _user(steward: Steward, email: str | None) -> User:
    user = (
        steward.identity.users.first_owner()
        if email is None
        else steward.identity.users.find(email)
    )
    if user is None:
        who = email or "the owner"
        raise NotFound(f"There is no user {who}. 'steward user list' shows everyone.")
    return user
