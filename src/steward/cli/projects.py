"""Which project and person a command of the terminal acts for."""

import inspect
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cached_property, wraps
from typing import Annotated, Any, Concatenate, ParamSpec

import typer

from steward.app import Steward
from steward.cli.output import AsJson, command, installation, show, show_table
from steward.core import Invalid, NotFound
from steward.identity import Access, Principal, User, Via
from steward.store import Scope

ProjectOption = Annotated[
    str | None, typer.Option("--project", help="Id or name of the project; unset: the only one.")
]
UserOption = Annotated[
    str | None, typer.Option("--user", help="E-mail address to act for; unset: the owner.")
]

P = ParamSpec("P")


class Here:
    """The installation and the project that one command works in; opened when it is first needed."""

    def __init__(
        self, stack: ExitStack, user: str | None, project: str | None, *, as_json: bool
    ) -> None:
        self._stack = stack
        self._user = user
        self._project = project
        self.as_json = as_json

    @cached_property
    def steward(self) -> Steward:
        return self._stack.enter_context(installation())

    @cached_property
    def access(self) -> Access:
        return enter(self.steward, self._user, self._project)

    @property
    def scope(self) -> Scope:
        return self.access.scope

    def show(self, document: Any, text: Callable[[], str]) -> None:
        show(document, as_json=self.as_json, text=text)

    def show_table(
        self, document: Any, headings: Sequence[str], rows: Sequence[Sequence[Any]], *, empty: str
    ) -> None:
        show_table(document, headings, rows, empty=empty, as_json=self.as_json)


def in_project(function: Callable[Concatenate[Here, P], None]) -> Callable[..., None]:
    """A command that gets a Here; its options `--project`, `--user` and `--json` need not be written down."""
    written = inspect.signature(function)
    _, *own = written.parameters.values()
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, default, kind in (
            ("project", None, ProjectOption),
            ("user", None, UserOption),
            ("as_json", False, AsJson),
        )
    ]

    @command
    @wraps(function)
    def run(*args: Any, project: str | None, user: str | None, as_json: bool, **given: Any) -> None:
        with ExitStack() as stack:
            function(Here(stack, user, project, as_json=as_json), *args, **given)

    # The terminal reads both: which parameters there are, and of which type.
    shown = written.replace(parameters=[*own, *options])
    run.__signature__ = shown  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in shown.parameters.values()}
    return run


class Group(typer.Typer):
    """Commands under one word of the terminal."""

    def __init__(self, *, no_args_is_help: bool = True, **options: Any) -> None:
        super().__init__(no_args_is_help=no_args_is_help, **options)

    def in_project(
        self, name: str
    ) -> Callable[[Callable[Concatenate[Here, P], None]], Callable[..., None]]:
        """Adds a command that works in a project: see `in_project`."""
        return lambda function: self.command(name)(in_project(function))

    def on_machine(self, name: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
        """Adds a command that works on the installation of this machine."""
        return lambda function: self.command(name)(command(function))


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
    if user is None and email is None:
        raise NotFound(
            "This home has no owner yet. Start 'steward up' once: it creates the owner and the first project. "
            "If you have used Steward before, check STEWARD_HOME."
        )
    if user is None:
        raise NotFound(f"There is no user {email}. 'steward user list' shows everyone.")
    return user
