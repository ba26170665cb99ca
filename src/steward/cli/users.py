"""`steward user`: people, from the terminal of the machine Steward runs on."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated
from urllib.parse import urlencode

import typer

from steward.app import Steward
from steward.cli.output import AsJson, installation, say, show, show_table
from steward.cli.projects import Group, Here
from steward.core import Invalid, NotFound
from steward.identity import Erasure, SecondStepRule, User, parse_role

app = Group()
Email = Annotated[str, typer.Argument(help="E-mail address of the user.")]
PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input.")
]


@app.on_machine("list")
def list_users(*, as_json: AsJson = False) -> None:
    """List everyone."""
    with installation() as steward:
        users = steward.identity.users.all()
    show_table(
        [asdict(user) for user in users],
        ["E-mail", "Name", "Password", "Disabled"],
        [(u.email, u.name, u.has_password, u.disabled_at) for u in users],
        empty="Nobody yet. 'steward up' creates the first user.",
        as_json=as_json,
    )


@app.on_machine("add")
def add_user(
    email: Email,
    *,
    name: Annotated[str, typer.Option(help="Full name.")],
    role: Annotated[str | None, typer.Option(help="Role in the whole organisation.")] = None,
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Add a user; give a role to let them into every project of the organisation."""
    chosen = None if role is None else parse_role(role)
    password = _read_password(from_stdin=password_stdin)
    with installation() as steward:
        org_id = None if chosen is None else _organisation(steward)
        user = steward.identity.users.create(email, name, password)
        if chosen is not None and org_id is not None:
            steward.identity.members.set_organisation_role(org_id, user.id, chosen)
    show(asdict(user), as_json=as_json, text=lambda: f"Added {user.email}.")


@app.on_machine("password")
def set_password(
    email: Email, *, password_stdin: PasswordStdin = False, as_json: AsJson = False
) -> None:
    """Set a password; signs the user out everywhere."""
    password = _read_password(from_stdin=password_stdin)
    with installation() as steward:
        user = _find(steward, email)
        steward.identity.users.set_password(user.id, password)
    show({"email": user.email}, as_json=as_json, text=lambda: f"Password of {user.email} set.")


@app.on_machine("role")
def set_role(
    email: Email,
    role: Annotated[str, typer.Argument(help="runner, viewer, operator, editor, admin or owner.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Give a role in the whole organisation."""
    chosen = parse_role(role)
    with installation() as steward:
        user = _find(steward, email)
        steward.identity.members.set_organisation_role(_organisation(steward), user.id, chosen)
    show(
        {"email": user.email, "role": role},
        as_json=as_json,
        text=lambda: f"{user.email} is now {role} of the organisation.",
    )


@app.on_machine("link")
def new_link(email: Email, *, as_json: AsJson = False) -> None:
    """Print a one-time sign-in link."""
    with installation() as steward:
        user = _find(steward, email)
        base = steward.settings.http.address
        link = steward.identity.sessions.new_link(user.id)
    address = f"{base}/sign-in?{urlencode({'link': link})}"
    show({"sign_in": address}, as_json=as_json, text=lambda: address)


@app.on_machine("sign-out")
def sign_out(email: Email, *, as_json: AsJson = False) -> None:
    """End all sessions of a user; API tokens stay."""
    with installation() as steward:
        user = _find(steward, email)
        ended = steward.identity.sessions.end_all(user.id)
    show(
        {"email": user.email, "ended": ended},
        as_json=as_json,
        text=lambda: f"{user.email} is signed out everywhere. Sessions ended: {ended}.",
    )


@app.on_machine("two-step-off")
def turn_two_step_off(email: Email, *, as_json: AsJson = False) -> None:
    """Let a user sign in with the password alone, such as after a phone was lost."""
    with installation() as steward:
        user = _find(steward, email)
        steward.identity.two_step.remove(user.id)
    show(
        {"email": user.email, "two_step": False},
        as_json=as_json,
        text=lambda: (
            f"{user.email} signs in without a code now. They can set it up again in their profile."
        ),
    )


@app.on_machine("passkeys")
def list_passkeys(email: Email, *, as_json: AsJson = False) -> None:
    """List a user's passkeys."""
    with installation() as steward:
        found = steward.identity.passkeys.listed(_find(steward, email).id)
    show_table(
        [asdict(each) for each in found],
        ["Id", "Name", "Added", "Last used"],
        [(each.id, each.name, each.created_at, each.last_used_at) for each in found],
        empty="No passkeys. People add them in their profile.",
        as_json=as_json,
    )


@app.on_machine("remove-passkey")
def remove_passkey(
    email: Email,
    passkey: Annotated[str, typer.Argument(help="Id, as 'steward user passkeys' shows it.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Remove a passkey, such as after a device was lost; ends the sessions that began with it."""
    with installation() as steward:
        user = _find(steward, email)
        steward.identity.passkeys.remove(user.id, passkey)
    show(
        {"email": user.email, "removed": passkey},
        as_json=as_json,
        text=lambda: f"The passkey no longer signs {user.email} in.",
    )


@app.in_project("require-two-step")
def require_two_step(
    here: Here,
    *,
    on: Annotated[
        bool | None, typer.Option("--on/--off", help="Change it; without this, only show it.")
    ] = None,
) -> None:
    """Require two-step sign-in of everyone in the organisation who signs in with a password."""
    second_step = here.steward.identity.second_step
    found = (
        second_step.rule(here.access)
        if on is None
        else second_step.change(here.access, required=on)
    )
    here.show(asdict(found), lambda: "\n".join(_second_step_words(found)))


def _second_step_words(found: SecondStepRule) -> Iterator[str]:
    if found.since is None:
        yield "Two-step sign-in is not required: a password is enough."
    else:
        yield f"Two-step sign-in is required since {found.since:%Y-%m-%d %H:%M} UTC."
    if found.without:
        yield "People without a second step:"
        yield from (f"  {each.name} <{each.email}>" for each in found.without)
    else:
        yield "Everyone who signs in here has a second step."


@app.on_machine("disable")
def disable(email: Email, *, as_json: AsJson = False) -> None:
    """End a user's access at once; what they did stays on record."""
    with installation() as steward:
        user = _find(steward, email)
        steward.identity.users.disable(user.id)
    show(
        {"email": user.email, "disabled": True},
        as_json=as_json,
        text=lambda: f"{user.email} is disabled. Undo with 'steward user enable {user.email}'.",
    )


@app.on_machine("enable")
def enable(email: Email, *, as_json: AsJson = False) -> None:
    """Let a disabled user in again; their tokens stay revoked."""
    with installation() as steward:
        user = _find(steward, email)
        steward.identity.users.enable(user.id)
    show(
        {"email": user.email, "disabled": False},
        as_json=as_json,
        text=lambda: f"{user.email} may sign in again.",
    )


@app.on_machine("erase")
def erase(
    email: Email,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do it. Without this, only show what would happen.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a person's data for good; records of what they did stay, without name and address."""
    with installation() as steward:
        user = _find(steward, email)
        eraser = steward.identity.eraser
        found = eraser.erase(user.id) if yes else eraser.preview(user.id)
    show(
        {**asdict(found), "erased": yes},
        as_json=as_json,
        text=lambda: "\n".join(_erased(found, email, done=yes)),
    )


def _erased(found: Erasure, email: str, *, done: bool) -> Iterator[str]:
    yield f"{email} was erased." if done else f"This would erase {email}. It cannot be undone."
    yield ""
    yield "Deleted:" if done else "Would be deleted:"
    yield "  name, address, password, language"
    yield from _rows(found.removed)
    yield ""
    if found.kept:
        yield f"Kept, because it proves who did what; it names the person only as {found.user_id}:"
        yield from _rows(found.kept)
        yield ""
    if found.held:
        yield f"Kept, because of the legal hold {', '.join(map(repr, found.holds))}; erase again once it is lifted:"
        yield from _rows(found.held)
        yield ""
    yield "Steward cannot know where people wrote the name or the address themselves: in data, documents,"
    yield "chats and notes, in journals and the event log, which are signed, and in backups made before."
    if not done:
        yield ""
        yield f"To do it: steward user erase {email} --yes"


def _rows(counts: dict[str, int]) -> Iterator[str]:
    for place, count in counts.items():
        table, _, column = place.replace("_", " ").partition(".")
        yield f"  {table}{f' ({column})' if column else ''}: {count:,}"


def _find(steward: Steward, email: str) -> User:
    user = steward.identity.users.find(email)
    if user is None:
        raise NotFound(f"There is no user {email}. 'steward user list' shows everyone.")
    return user


def _organisation(steward: Steward) -> str:
    organisations = steward.identity.projects.organisations()
    if not organisations:
        raise NotFound("There is no organisation yet. Start Steward once with 'steward up'.")
    return organisations[0].id


def _read_password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    if not sys.stdin.isatty():
        raise Invalid("There is no terminal to ask for a password; use --password-stdin.")
    say("A few words make a good password.")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
