"""`steward token`: API tokens, made at the terminal for scripts."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from steward.cli.output import AsJson, installation, show, show_table
from steward.cli.projects import Group, ProjectOption, enter
from steward.identity import Token, parse_role

app = Group()
TokenUser = Annotated[str, typer.Option("--user", help="E-mail address of the token's user.")]


@app.on_machine("create")
def create_token(
    name: Annotated[str, typer.Argument(help="What the token is for.")],
    *,
    user: TokenUser,
    project: ProjectOption = None,
    role: Annotated[str, typer.Option(help="The most the token may do.")] = "viewer",
    days: Annotated[int, typer.Option(help="Days until it expires.")] = 90,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it, once."""
    with installation() as steward:
        access = enter(steward, user, project)
        token, text = steward.identity.tokens.create(access, name, parse_role(role), days)
    show({**_document(token), "token": text}, as_json=as_json, text=lambda: text)


@app.on_machine("list")
def list_tokens(*, user: TokenUser, project: ProjectOption = None, as_json: AsJson = False) -> None:
    """List a user's tokens in a project."""
    with installation() as steward:
        tokens = steward.identity.tokens.page(enter(steward, user, project))
    show_table(
        [_document(token) for token in tokens],
        ["Id", "Name", "Role", "Expires", "Last used", "Revoked"],
        [
            (t.id, t.name, t.role.name, t.expires_at.date(), t.last_used_at, t.revoked_at)
            for t in tokens
        ],
        empty="No tokens. Make one with 'steward token create NAME --user EMAIL'.",
        as_json=as_json,
    )


@app.on_machine("revoke")
def revoke_token(
    token_id: Annotated[str, typer.Argument(help="Id of the token.")],
    *,
    user: TokenUser,
    project: ProjectOption = None,
    as_json: AsJson = False,
) -> None:
    """Revoke a token."""
    with installation() as steward:
        steward.identity.tokens.revoke(enter(steward, user, project), token_id)
    show({"id": token_id, "revoked": True}, as_json=as_json, text=lambda: f"Revoked {token_id}.")


def _document(token: Token) -> dict[str, Any]:
    return {**asdict(token), "role": token.role.name}
