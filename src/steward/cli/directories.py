"""`steward directory`: identity providers that bring people by SCIM, from the terminal of the machine Steward runs on."""

from typing import Annotated, Any

import typer
from pydantic import ValidationError

from steward.cli.projects import Group, Here
from steward.core import Invalid, NotFound
from steward.identity import Directory, GroupRule

app = Group()
Id = Annotated[str, typer.Argument(help="Id or name of the directory.")]
Rules = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        help="As in finance:prj_…:viewer: group, id or name of the project, role. Can be repeated.",
    ),
]
_ONCE = "Enter this token at the identity provider. It is shown once:"


@app.in_project("list")
def list_directories(here: Here) -> None:
    """List the directories of the organisation."""
    found = here.steward.identity.directories.listed(here.access)
    here.show_table(
        [_document(each) for each in found],
        ["Id", "Name", "Rules", "Token expires", "Last used"],
        [
            (each.id, each.name, len(each.rules), each.expires_at, each.last_used_at)
            for each in found
        ],
        empty="No directories.",
    )


@app.in_project("add")
def add_directory(
    here: Here,
    name: Annotated[str, typer.Argument(help="Name of the directory.")],
    rule: Rules = None,
) -> None:
    """Add a directory and print its token, which is shown once."""
    rules = [_rule(here, text) for text in rule or ()]
    made, token = here.steward.identity.directories.create(here.access, name, rules)
    here.show(
        {**_document(made), "token": token},
        lambda: f"Added {made.name} ({made.id}). {_ONCE}\n{token}",
    )


@app.in_project("rules")
def change_rules(here: Here, directory: Id, rule: Rules = None) -> None:
    """Replace all rules; the roles of everyone in the directory follow at once."""
    found, identity = _find(here, directory), here.steward.identity
    rules = [_rule(here, text) for text in rule or ()]
    done = identity.directories.change_rules(here.access, found.id, rules)
    identity.directory_people.settle_everyone(done)
    here.show(_document(done), lambda: f"{done.name} has {len(done.rules)} rules.")


@app.in_project("renew-token")
def renew_token(here: Here, directory: Id) -> None:
    """Print a new token; the one before it ends at once."""
    found = _find(here, directory)
    done, token = here.steward.identity.directories.renew_token(here.access, found.id)
    here.show({**_document(done), "token": token}, lambda: f"{_ONCE}\n{token}")


@app.in_project("remove")
def remove_directory(here: Here, directory: Id) -> None:
    """Remove a directory that has brought nobody."""
    found = _find(here, directory)
    here.steward.identity.directories.delete(here.access, found.id)
    here.show({"id": found.id}, lambda: f"Removed {found.name}.")


def _rule(here: Here, text: str) -> GroupRule:
    head, _, role = text.rpartition(":")
    known = here.steward.identity.projects.page(here.access.principal)
    # Names of projects may hold colons themselves.
    found = {
        (each.id, head.removesuffix(f":{name}"))
        for each in known
        for name in (each.id, each.name)
        if head.endswith(f":{name}")
    }
    if len(found) == 1:
        project_id, group = found.pop()
        try:
            return GroupRule.model_validate(
                {"group": group, "project_id": project_id, "role": role}
            )
        except ValidationError:
            pass
    raise Invalid(
        f"{text!r} is no rule, or its project is not known. Write one as finance:PROJECT:viewer."
    )


def _find(here: Here, wanted: str) -> Directory:
    listed = here.steward.identity.directories.listed(here.access)
    found = [each for each in listed if wanted in {each.id, each.name}]
    if len(found) != 1:
        raise NotFound(
            f"There is no directory {wanted!r}, or more than one. 'steward directory list' shows them."
        )
    return found[0]


def _document(directory: Directory) -> dict[str, Any]:
    return {
        "id": directory.id,
        "name": directory.name,
        "rules": [rule.model_dump() for rule in directory.rules],
        "expires_at": directory.expires_at.isoformat(),
        "last_used_at": directory.last_used_at and directory.last_used_at.isoformat(),
    }
