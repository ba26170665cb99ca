"""Tables of database servers: looked at and loaded; connection URLs come in and never go out."""

from typing import Self

from fastapi import Request, status
from pydantic import Field, SecretStr, model_validator

from steward.api.context import steward_of
from steward.api.documents import Input
from steward.api.guards import AsEditor
from steward.api.routes.uploads import LOAD, InspectionOut
from steward.api.routing import Router
from steward.api.run_documents import RunOut
from steward.api.types import NewDatasetName
from steward.core import Bug, reaching_for
from steward.flows import DirectCall
from steward.identity import Access, Role
from steward.tools import FileOptions, keep_address, server_name

router = Router(prefix="/projects/{project_id}/servers", tags=["servers"])


class ServerIn(Input):
    """Where the data is: a connection URL, or the name of a secret that holds one."""

    url: SecretStr | None = Field(
        None,
        min_length=1,
        max_length=2_000,
        description="`postgresql://user:password@host:port/database?sslmode=…`, or the same with mysql. A "
        "load keeps it encrypted until it is over, and nowhere else.",
    )
    secret: str | None = Field(
        None,
        pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,99}$",
        description="A secret of the project whose value is such a URL.",
        examples=["warehouse_url"],
    )
    options: FileOptions = FileOptions()

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.url is None) == (self.secret is None):
            raise ValueError("give either url or secret")
        return self


class ServerIngestIn(ServerIn):
    dataset: NewDatasetName
    branch: str = Field("main", max_length=100)


@router.post("/inspect")
def inspect_server(request: Request, access: AsEditor, body: ServerIn) -> InspectionOut:
    """The server's tables, and how one of them (`options.table`, or the first) would be read.

    Servers on private addresses are open to admins of the project alone.
    """
    url = _url(request, access, body)
    with reaching_for(access.scope):
        found = steward_of(request).workbench.bringing.inspect_server(
            url, body.options.options(), private=_may_go_inside(access)
        )
    return InspectionOut(inspection=found.as_dict())


@router.post("/ingest", status_code=status.HTTP_202_ACCEPTED)
def ingest_server(request: Request, access: AsEditor, body: ServerIngestIn) -> RunOut:
    """Loads one table as a dataset, in one commit with its rejects: a run that any worker makes."""
    steward = steward_of(request)
    url = _url(request, access, body)
    place = server_name(url)
    secret = body.secret or keep_address(steward.secrets, access, url)
    arguments = {
        "server": place,
        "secret": secret,
        "dataset": body.dataset,
        "reading": body.options.model_dump(exclude_unset=True),
    }
    call = DirectCall(
        "load_from_server", arguments, f"Load from {place}", body.branch, seen=True, subject=LOAD
    )
    return RunOut.model_validate(steward.governing.direct_calls.start(access, call))


def _url(request: Request, access: Access, body: ServerIn) -> str:
    if body.url is not None:
        return body.url.get_secret_value()
    if body.secret is None:
        raise Bug("A request without url and secret was let through.")
    return steward_of(request).secrets.get(access.scope, body.secret)


def _may_go_inside(access: Access) -> bool:
    return access.role >= Role.admin
