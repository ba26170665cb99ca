"""`steward catalogue`: services that can be installed, those that are, and their operations."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from steward.cli.output import table
from steward.cli.projects import Group, Here
from steward.connections import InstalledService, fetch_description
from steward.core import Invalid, reaching_for

app = Group()
ServiceArgument = Annotated[str, typer.Argument(help="Id or name of the service.")]


@app.in_project("search")
def search_services(
    here: Here,
    words: Annotated[list[str] | None, typer.Argument(help="Words to look for.")] = None,
    *,
    limit: Annotated[int, typer.Option(help="At most this many.")] = 30,
) -> None:
    """Search the services that can be installed without a network."""
    shelf = here.steward.connections.services.shelf
    found = shelf.search(" ".join(words or ()), limit=limit)
    counts = shelf.counts()
    documents = [
        {
            "id": each.service.id,
            "title": each.service.title,
            "vendor": each.service.vendor,
            "operations": len(each.service.operations),
            "found": [operation.name for operation in each.operations],
        }
        for each in found
    ]
    rows = [
        (
            each.service.id,
            each.service.title,
            len(each.service.operations),
            ", ".join(operation.name for operation in each.operations) or None,
        )
        for each in found
    ]
    here.show(
        {"counts": counts, "services": documents},
        lambda: (
            table(["Id", "Service", "Operations", "Found"], rows, empty="No service fits.")
            + f"\n{counts['services']:,} services of {counts['vendors']:,} vendors with "
            f"{counts['operations']:,} operations can be installed."
        ),
    )


@app.in_project("list")
def list_services(here: Here) -> None:
    """List the services that the project has installed."""
    found = here.steward.connections.services.listed(here.scope)
    rows = [
        (each.name, each.title, each.operations, each.state, each.sha256[:12]) for each in found
    ]
    here.show_table(
        [_document(each) for each in found],
        ["Name", "Service", "Operations", "State", "SHA-256"],
        rows,
        empty="No services. 'steward catalogue search' shows what can be installed.",
    )


@app.in_project("install")
def install_service(
    here: Here,
    service: ServiceArgument,
    *,
    file: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="A description in a file.")
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            help="Address of a description, a GraphQL API or a gRPC server (grpcs://host:port)."
        ),
    ] = None,
) -> None:
    """Install a service of the catalogue, or one from a description in a file or at an address."""
    services = here.steward.connections.services
    if file is not None and url is not None:
        raise Invalid("Give a file or an address, not both.")
    if url is not None:
        with reaching_for(here.scope):
            content = asyncio.run(fetch_description(here.steward.connections.around.http, url))
        made = services.install_text(here.access, service, content, url, url)
    elif file is None:
        made = services.install_packaged(here.access, service)
    else:
        made = services.install_text(here.access, service, file.read_bytes(), f"file {file.name}")
    here.show(
        _document(made),
        lambda: (
            f"Installed {made.title} with {made.operations:,} operations (SHA-256 {made.sha256})."
        ),
    )


@app.in_project("operations")
def search_operations(
    here: Here,
    service: ServiceArgument,
    words: Annotated[list[str] | None, typer.Argument(help="Words to look for.")] = None,
) -> None:
    """Search the operations of an installed service."""
    record = here.steward.connections.services.record(here.scope, service)
    found = record.search(" ".join(words or ()), 50)
    here.show_table(
        [
            {"name": each.name, "title": each.title, "verb": each.verb, "risk": each.risk}
            for each in found
        ],
        ["Operation", "Title", "Verb", "Risk"],
        [(each.name, each.title, each.verb, each.risk) for each in found],
        empty="No operation fits.",
    )


@app.in_project("remove")
def remove_service(here: Here, service: ServiceArgument) -> None:
    """Remove a service from the project. Nothing can call it any more."""
    here.steward.connections.services.remove(here.access, service)
    here.show({"name": service, "removed": True}, lambda: f"Removed {service}.")


def _document(service: InstalledService) -> dict[str, object]:
    return {
        "name": service.name,
        "title": service.title,
        "vendor": service.vendor,
        "adapter": service.adapter,
        "version": service.version,
        "source": service.source,
        "sha256": service.sha256,
        "operations": service.operations,
        "state": service.state,
    }
