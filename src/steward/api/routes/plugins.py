"""Plug-ins: what a wheel declares, which are installed, and what becomes of them; for those who keep the machine."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request, status
from pydantic import Field

from steward.api.bodies import bytes_of
from steward.api.context import steward_of
from steward.api.documents import Output, Page
from steward.api.guards import AsAdmin, AsAdminInPerson
from steward.api.routing import Router
from steward.plugins import MOST_BYTES, Plugin, Wheel, declaration

router = Router(prefix="/projects/{project_id}/plugins", tags=["plugins"])

PluginName = Annotated[
    str, Path(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=64, examples=["acme-tax"])
]
_WHEEL: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class PluginPartOut(Output):
    kind: str
    name: str
    target: str
    runs: Literal["sandbox", "server"] = Field(
        description="Whether its code runs in the sandbox or with the server's rights."
    )
    title: str = ""
    description: str = ""
    arguments: dict[str, Any] | None = None
    risk: str | None = None


class PluginRequirementOut(Output):
    text: str
    installed: str | None
    satisfied: bool


class PluginFileOut(Output):
    path: str
    size: int


class PluginProblemOut(Output):
    pointer: str
    message: str


class _WheelOut(Output):
    name: str
    version: str
    sha256: str
    size: int
    summary: str
    licence: str
    requires_python: str
    requirements: list[PluginRequirementOut]
    parts: list[PluginPartOut]
    files: list[PluginFileOut]


class PluginDeclarationOut(_WheelOut):
    """What a wheel says of itself; read without running anything in it."""

    needs_rights: bool = Field(description="Whether code of it runs with the server's rights.")
    problems: list[PluginProblemOut] = Field(description="Why it cannot be installed here.")
    installed_version: str | None = Field(description="The version that it would replace.")


class PluginOut(_WheelOut):
    rights: bool
    enabled: bool
    problem: str | None = Field(description="Why this server could not load it.")
    installed_by: str
    installed_at: datetime
    changed_by: str
    changed_at: datetime


@router.get("")
def list_plugins(
    request: Request,
    access: AsAdmin,
    removed: Annotated[bool, Query(description="Those that were removed instead.")] = False,
) -> Page[PluginOut]:
    """The plug-ins of this installation, by name."""
    found = steward_of(request).plugins.listed(access, removed=removed)
    return Page(items=[_plugin_out(each) for each in found], next_cursor=None)


@router.post("/inspect", openapi_extra=_WHEEL)
def inspect_plugin(request: Request, access: AsAdminInPerson) -> PluginDeclarationOut:
    """What a wheel declares, before anyone agrees to it; nothing of it is kept or run."""
    plugins = steward_of(request).plugins
    wheel = plugins.inspect(access, bytes_of(request, MOST_BYTES))
    known = {each.name: each.version for each in plugins.listed(access)}
    return _declared_out(wheel, known.get(wheel.name))


@router.post("", status_code=status.HTTP_201_CREATED, openapi_extra=_WHEEL)
def install_plugin(
    request: Request,
    access: AsAdminInPerson,
    sha256: Annotated[
        str | None, Query(pattern=r"^[0-9a-f]{64}$", description="Of the wheel that was shown.")
    ] = None,
    rights: Annotated[
        bool, Query(description="Agree that its code runs with the server's rights.")
    ] = False,
) -> PluginOut:
    """Installs exactly the wheel that was shown, on all servers and workers."""
    plugins = steward_of(request).plugins
    return _plugin_out(
        plugins.install(access, bytes_of(request, MOST_BYTES), sha256 or "", rights=rights)
    )


@router.post("/{name}/enable")
def enable_plugin(request: Request, access: AsAdminInPerson, name: PluginName) -> PluginOut:
    """Enables a plug-in on all servers and workers."""
    return _plugin_out(steward_of(request).plugins.switch(access, name, enabled=True))


@router.post("/{name}/disable")
def disable_plugin(request: Request, access: AsAdminInPerson, name: PluginName) -> PluginOut:
    """Disables a plug-in on all servers and workers; its parts can no longer be found."""
    return _plugin_out(steward_of(request).plugins.switch(access, name, enabled=False))


@router.delete("/{name}", status_code=status.HTTP_204_NO_CONTENT)
def remove_plugin(request: Request, access: AsAdminInPerson, name: PluginName) -> None:
    """Removes a plug-in and its code; journals of runs that used it stay readable."""
    steward_of(request).plugins.remove(access, name)


def _plugin_out(plugin: Plugin) -> PluginOut:
    return PluginOut(
        name=plugin.name,
        version=plugin.version,
        sha256=plugin.sha256,
        rights=plugin.rights,
        enabled=plugin.enabled,
        problem=plugin.problem,
        installed_by=plugin.installed_by,
        installed_at=plugin.installed_at,
        changed_by=plugin.changed_by,
        changed_at=plugin.changed_at,
        **_shown(plugin.declared),
    )


def _declared_out(wheel: Wheel, installed: str | None) -> PluginDeclarationOut:
    return PluginDeclarationOut(
        name=wheel.name,
        version=wheel.version,
        sha256=wheel.sha256,
        needs_rights=wheel.needs_rights,
        problems=[PluginProblemOut(pointer=p.pointer, message=p.message) for p in wheel.problems],
        installed_version=installed,
        **_shown(declaration(wheel)),
    )


def _shown(declared: Any) -> dict[str, Any]:
    parts = [{k: v for k, v in part.items() if k != "examples"} for part in declared["parts"]]
    return {**declared, "parts": parts}
