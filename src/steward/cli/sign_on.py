"""`steward sign-on`: OpenID providers of the organisation, from the terminal of the machine Steward runs on."""

import asyncio
import sys
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from steward.cli.projects import Group, Here
from steward.core import Invalid, NotFound, in_words, mistakes
from steward.identity.sign_on import Provider, ProviderDocument

app = Group()
Id = Annotated[str, typer.Argument(help="Id or name of the provider.")]
SecretStdin = Annotated[
    bool, typer.Option("--secret-stdin", help="Read the client secret from standard input.")
]
Rules = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        help="As in groups=finance:prj_…:viewer: claim, value, id or name of the project, role. Can be repeated.",
    ),
]
OnlyInvited = Annotated[
    bool | None,
    typer.Option(
        "--invited-only/--just-in-time",
        help="Whether new people need an invitation, or get an account when a rule matches.",
    ),
]
Join = Annotated[
    bool | None,
    typer.Option(
        "--join-verified-email/--no-join",
        help="Whether a verified address may join an account that exists.",
    ),
]
Hours = Annotated[int | None, typer.Option(help="Hours after which people sign in again.")]
Scopes = Annotated[str | None, typer.Option(help="Scopes to ask for, separated by spaces.")]


@app.in_project("list")
def list_providers(here: Here) -> None:
    """List the providers of the organisation."""
    found = here.steward.sign_on.providers.listed(here.access)
    here.show_table(
        [_document(each) for each in found],
        ["Id", "Name", "Issuer", "Secret", "On", "Rules"],
        [
            (
                each.id,
                each.document.name,
                each.issuer,
                each.has_secret,
                each.document.enabled,
                len(each.document.rules),
            )
            for each in found
        ],
        empty="No providers.",
    )


@app.in_project("add")
def add_provider(
    here: Here,
    name: Annotated[str, typer.Argument(help="Name that the sign-in page shows.")],
    *,
    issuer: Annotated[str, typer.Option(help="The provider's issuer address.")],
    client_id: Annotated[str, typer.Option(help="Steward's id at the provider.")],
    secret_stdin: SecretStdin = False,
    rule: Rules = None,
    scopes: Scopes = None,
    invited_only: OnlyInvited = None,
    join_verified_email: Join = None,
    session_hours: Hours = None,
) -> None:
    """Add a provider and print the redirect address to enter there."""
    given = {"name": name, "issuer": issuer, "client_id": client_id}
    given |= _options(here, rule, scopes, invited_only, join_verified_email, session_hours)
    secret = _read_secret() if secret_stdin else None
    made = here.steward.sign_on.providers.create(here.access, _parsed(given), secret)
    address = f"{here.steward.settings.http.address}/api/v1/sign-on/{made.id}/callback"
    here.show(
        {**_document(made), "redirect_uri": address},
        lambda: (
            f"Added {name} ({made.id}). Enter this redirect address at the provider:\n{address}"
        ),
    )


@app.in_project("change")
def change_provider(
    here: Here,
    provider: Id,
    *,
    secret_stdin: SecretStdin = False,
    rule: Rules = None,
    scopes: Scopes = None,
    invited_only: OnlyInvited = None,
    join_verified_email: Join = None,
    session_hours: Hours = None,
    on: Annotated[
        bool | None, typer.Option("--on/--off", help="Whether the sign-in page offers it.")
    ] = None,
) -> None:
    """Change a provider; rules that are given replace all that it has."""
    found = _find(here, provider)
    changes = _options(here, rule, scopes, invited_only, join_verified_email, session_hours)
    if on is not None:
        changes["enabled"] = on
    document = _parsed({**found.document.model_dump(), **changes})
    secret = _read_secret() if secret_stdin else None
    done = here.steward.sign_on.providers.change(
        here.access, found.id, found.revision, document, secret
    )
    here.show(_document(done), lambda: f"Changed {done.document.name}.")


@app.in_project("check")
def check_provider(here: Here, provider: Id) -> None:
    """Ask a provider for its description and its keys."""
    found = _find(here, provider)
    told = asyncio.run(here.steward.sign_on.check(found))
    here.show(
        {"issuer": told.issuer, "algorithms": list(told.algorithms)},
        lambda: f"{found.document.name} answers and signs with {', '.join(told.algorithms)}.",
    )


@app.in_project("remove")
def remove_provider(here: Here, provider: Id) -> None:
    """Remove a provider and sign out everyone who signed in with it; they stay members."""
    found = _find(here, provider)
    here.steward.sign_on.providers.delete(here.access, found.id)
    here.show({"id": found.id}, lambda: f"Removed {found.document.name}.")


def _options(
    here: Here,
    rules: list[str] | None,
    scopes: str | None,
    invited_only: bool | None,
    join: bool | None,
    hours: int | None,
) -> dict[str, Any]:
    """What was given on the command line, and nothing else."""
    given = {
        "rules": None if rules is None else [_rule(here, text) for text in rules],
        "scopes": None if scopes is None else scopes.split(),
        "just_in_time": None if invited_only is None else not invited_only,
        "join_verified_email": join,
        "session_hours": hours,
    }
    return {name: value for name, value in given.items() if value is not None}


def _rule(here: Here, text: str) -> dict[str, str]:
    head, _, role = text.rpartition(":")
    claim, _, rest = head.partition("=")
    known = here.steward.identity.projects.page(here.access.principal)
    # Names of projects may hold colons themselves.
    found = {
        (each.id, rest.removesuffix(f":{name}"))
        for each in known
        for name in (each.id, each.name)
        if rest.endswith(f":{name}")
    }
    if not (claim and role) or len(found) != 1:
        raise Invalid(
            f"{text!r} is no rule, or its project is not known. Write one as groups=finance:PROJECT:viewer."
        )
    project_id, value = found.pop()
    return {"claim": claim, "value": value, "project_id": project_id, "role": role}


def _parsed(given: dict[str, Any]) -> ProviderDocument:
    try:
        return ProviderDocument.model_validate(given)
    except ValidationError as error:
        found = mistakes(error)
        raise Invalid(f"The provider is not valid: {in_words(found)}.", problems=found) from None


def _find(here: Here, wanted: str) -> Provider:
    listed = here.steward.sign_on.providers.listed(here.access)
    found = [each for each in listed if wanted in {each.id, each.document.name}]
    if len(found) != 1:
        raise NotFound(
            f"There is no provider {wanted!r}, or more than one. 'steward sign-on list' shows them."
        )
    return found[0]


def _document(provider: Provider) -> dict[str, Any]:
    return {
        "id": provider.id,
        **provider.document.model_dump(mode="json"),
        "has_secret": provider.has_secret,
        "source": "settings" if provider.from_settings else "organisation",
        "revision": provider.revision,
    }


def _read_secret() -> str:
    return sys.stdin.readline().rstrip("\n")
