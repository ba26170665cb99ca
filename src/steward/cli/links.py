"""`steward links`: addresses by which people without an account fetch one file or send one."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from steward.cli.direct import call
from steward.cli.projects import Group, Here
from steward.core import NotFound
from steward.flows import DirectCall
from steward.identity import Link, Role

app = Group()
Minutes = Annotated[int, typer.Option(help="For how many minutes it is valid.")]


@app.in_project("download")
def make_download(
    here: Here,
    file: Annotated[str, typer.Argument(help="Path of the file, such as originals/sales.csv.")],
    *,
    minutes: Minutes = 24 * 60,
    once: Annotated[bool, typer.Option("--once", help="It works only once.")] = False,
) -> None:
    """Make a link by which anyone who has it can fetch a file, and print it."""
    _make(here, "share_file", {"file": file, "minutes": minutes, "single_use": once})


@app.in_project("upload")
def make_upload(
    here: Here,
    dataset: Annotated[str, typer.Argument(help="The dataset that the file becomes.")],
    *,
    minutes: Minutes = 24 * 60,
    megabytes: Annotated[int, typer.Option(min=1, help="The most the file may have.")] = 50,
) -> None:
    """Make a link by which anyone who has it can send one file, and print it."""
    most = here.steward.settings.http.max_upload_request_bytes
    size = min(megabytes * 1_000_000, most)
    _make(here, "request_file", {"dataset": dataset, "minutes": minutes, "max_bytes": size})


@app.in_project("list")
def list_links(here: Here) -> None:
    """List the links that still work; for admins, those of everybody."""
    here.access.require(Role.editor)
    found = here.steward.identity.links.page(here.access)
    rows = [
        (
            each.id,
            "fetch" if each.method == "GET" else "send",
            each.name,
            each.expires_at,
            each.uses,
        )
        for each in found
    ]
    headings = ["Id", "To", "Name", "Valid until", "Uses"]
    empty = "No links. Make one with 'steward links download FILE'."
    here.show_table([_document(each) for each in found], headings, rows, empty=empty)


@app.in_project("revoke")
def revoke_link(
    here: Here, link_id: Annotated[str, typer.Argument(help="Id of the link.")]
) -> None:
    """End a link at once."""
    access = here.access
    access.require(Role.editor)
    links = here.steward.identity.links
    links.revoke(here.scope, link_id, by=access.user_id, everybodys=access.role >= Role.admin)
    here.show({"id": link_id, "revoked": True}, lambda: f"Revoked {link_id}.")


def _make(here: Here, tool: str, arguments: dict[str, Any]) -> None:
    run = call(here, DirectCall(tool, arguments)).run
    made = here.steward.identity.links.made_by(here.scope, run.id)
    if made is None:
        raise NotFound("The link was revoked.")
    address = here.steward.identity.links.address(made, here.steward.settings.http.address)
    here.show({**_document(made), "address": address}, lambda: address)


def _document(link: Link) -> dict[str, Any]:
    told = asdict(link)
    return {name: value for name, value in told.items() if name not in ("scope", "digest")}
