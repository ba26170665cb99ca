"""Skills: the registry of a project, versions with their differences, archives in and out, files to look at."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Query, Request, Response, status
from pydantic import Field, StringConstraints

from steward.agents.skills import (
    MOST_ARCHIVE_BYTES,
    SKILL_FILE,
    Checked,
    Listed,
    Origin,
    Skill,
    text_of,
)
from steward.api.bodies import bytes_of
from steward.api.context import steward_of
from steward.api.documents import (
    IfMatch,
    Input,
    Output,
    Page,
    attachment,
    revision_from,
    set_etag,
)
from steward.api.guards import AsEditor, AsViewer
from steward.api.routing import Router
from steward.broker import Risk
from steward.core import NotFound

router = Router(prefix="/projects/{project_id}/skills", tags=["skills"])

SkillName = Annotated[
    str,
    Path(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64, examples=["entity-resolution"]),
]
VersionNumber = Annotated[int, Query(ge=0, le=10**6, description="0: the built-in one.")]
FilePath = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=False)]
Text = Annotated[str, StringConstraints(max_length=1 << 20, strip_whitespace=False)]
MOST_PREVIEW = 200_000


class SkillOut(Output):
    name: str
    description: str
    origin: Origin
    version: int
    enabled: bool
    shadows: bool = Field(description="Whether it stands in front of a built-in skill.")
    revision: int
    updated_at: datetime | None
    updated_by: str | None
    deleted_at: datetime | None


class SkillFaultOut(Output):
    path: str
    line: int | None
    message: str


class ScriptOut(Output):
    file: str
    tool: str
    risk: Risk
    description: str
    arguments: dict[str, Any]


class SkillFileOut(Output):
    path: str
    size: int


class SkillDetail(SkillOut):
    shown_version: int = Field(description="The version that is shown, in force or not.")
    digest: str
    skill_md: str
    body: str
    licence: str | None
    compatibility: str | None
    metadata: dict[str, str]
    allowed_tools: list[str] | None
    scripts: list[ScriptOut]
    files: list[SkillFileOut]
    warnings: list[SkillFaultOut]


class SkillIn(Input):
    """What changes: SKILL.md, and files beside it; a file that is null is taken away, others stay."""

    skill_md: Text
    files: dict[FilePath, Text | None] = Field(default_factory=dict, max_length=200)
    message: str = Field("", max_length=400, description="Why it changes.")


class SkillDraft(Input):
    name: str | None = Field(None, max_length=64, description="The skill it changes, if one.")
    skill_md: Text
    files: dict[FilePath, Text | None] = Field(default_factory=dict, max_length=200)


class CheckedSkill(Output):
    valid: bool
    faults: list[SkillFaultOut]
    warnings: list[SkillFaultOut]


class SkillSwitch(Input):
    enabled: bool


class SkillVersionOut(Output):
    version: int
    digest: str
    description: str
    message: str
    author: str
    created_at: datetime
    files: list[SkillFileOut]


class FileChangeOut(Output):
    path: str
    kind: str
    lines: list[str]
    cut: bool


class SkillFilePreview(Output):
    path: str
    size: int
    text: str | None = Field(description="None where the file is no text.")
    cut: bool


@router.get("")
def list_skills(request: Request, access: AsViewer, deleted: bool = False) -> Page[SkillOut]:
    """Every skill of the project, built-in ones included; or the deleted ones, which can be restored."""
    found = steward_of(request).skills.listed(access.scope, deleted=deleted)
    return Page(items=[SkillOut.model_validate(each) for each in found], next_cursor=None)


@router.post("/check")
def check_skill(request: Request, access: AsViewer, body: SkillDraft) -> CheckedSkill:
    """Everything wrong or odd about a skill while it is being written, by file and line."""
    skills = steward_of(request).skills
    kept: dict[str, bytes] = {}
    if body.name is not None:
        try:
            kept = dict(skills.get(access.scope, body.name).files)
        except NotFound:
            kept = {}
    files = _changed(kept, body.skill_md, body.files)
    return _checked_out(skills.check(access.scope, files, body.name))


@router.post(
    "/import",
    status_code=status.HTTP_201_CREATED,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
def import_skills(
    request: Request,
    access: AsEditor,
    replace: Annotated[bool, Query(description="Make new versions of skills that exist.")] = False,
    message: Annotated[str, Query(max_length=400, pattern=r"^[^\x00-\x1f]*$")] = "",
) -> Page[SkillOut]:
    """The skills of a zip archive, all or none."""
    found = steward_of(request).skills.bring(
        access, bytes_of(request, MOST_ARCHIVE_BYTES), message, replace=replace
    )
    return Page(items=[SkillOut.model_validate(each) for each in found], next_cursor=None)


@router.get("/{name}")
def read_skill(
    request: Request,
    access: AsViewer,
    name: SkillName,
    response: Response,
    version: VersionNumber | None = None,
) -> SkillDetail:
    skills = steward_of(request).skills
    listed = skills.one(access.scope, name)
    skill = skills.get(access.scope, name, version)
    set_etag(response, listed.revision)
    return _detail(listed, skill, skills.check(access.scope, skill.files, name))


@router.put("/{name}")
def save_skill(
    request: Request,
    access: AsEditor,
    name: SkillName,
    body: SkillIn,
    response: Response,
    if_match: IfMatch = None,
) -> SkillOut:
    """A new version; without If-Match only where the project has no such skill of its own."""
    skills = steward_of(request).skills
    try:
        kept = dict(skills.get(access.scope, name).files)
    except NotFound:
        kept = {}
    revision = None if if_match is None else revision_from(if_match)
    files = _changed(kept, body.skill_md, body.files)
    saved = skills.save(access, name, files, revision, body.message)
    set_etag(response, saved.revision)
    return SkillOut.model_validate(saved)


@router.patch("/{name}")
def switch_skill(
    request: Request,
    access: AsEditor,
    name: SkillName,
    body: SkillSwitch,
    response: Response,
    if_match: IfMatch = None,
) -> SkillOut:
    """Switches a skill on or off; a built-in one for this project alone."""
    revision = None if if_match is None else revision_from(if_match)
    changed = steward_of(request).skills.switch(access, name, revision, enabled=body.enabled)
    set_etag(response, changed.revision)
    return SkillOut.model_validate(changed)


@router.delete("/{name}", status_code=status.HTTP_204_NO_CONTENT)
def delete_skill(request: Request, access: AsEditor, name: SkillName) -> None:
    """Takes the project's own skill away; it can be restored."""
    steward_of(request).skills.delete(access, name)


@router.post("/{name}/restore")
def restore_skill(request: Request, access: AsEditor, name: SkillName) -> SkillOut:
    """Brings a deleted skill back."""
    return SkillOut.model_validate(steward_of(request).skills.restore(access, name))


@router.get("/{name}/versions")
def list_skill_versions(
    request: Request, access: AsViewer, name: SkillName
) -> Page[SkillVersionOut]:
    """Newest first; empty for a built-in skill that the project never changed."""
    found = steward_of(request).skills.versions(access.scope, name)
    return Page(items=[SkillVersionOut.model_validate(each) for each in found], next_cursor=None)


@router.post("/{name}/versions/{version}/restore")
def restore_skill_version(
    request: Request,
    access: AsEditor,
    name: SkillName,
    version: Annotated[int, Path(ge=0, le=10**6)],
    response: Response,
    if_match: IfMatch = None,
) -> SkillOut:
    """The content of an earlier version as a new one."""
    saved = steward_of(request).skills.restore_version(
        access, name, version, revision_from(if_match)
    )
    set_etag(response, saved.revision)
    return SkillOut.model_validate(saved)


@router.get("/{name}/diff")
def diff_skill(
    request: Request,
    access: AsViewer,
    name: SkillName,
    before: VersionNumber,
    after: VersionNumber,
) -> Page[FileChangeOut]:
    """What changed from one version to another, file by file."""
    found = steward_of(request).skills.diff(access.scope, name, before, after)
    return Page(items=[FileChangeOut.model_validate(each) for each in found], next_cursor=None)


@router.get("/{name}/file")
def read_skill_file(
    request: Request,
    access: AsViewer,
    name: SkillName,
    path: Annotated[str, Query(min_length=1, max_length=200)],
    version: VersionNumber | None = None,
) -> SkillFilePreview:
    """A file of a skill as text, cut where it is very long."""
    skill = steward_of(request).skills.get(access.scope, name, version)
    content = skill.files.get(path)
    if content is None:
        raise NotFound(f"The skill {name!r} has no such file.")
    text = text_of(content)
    cut = text is not None and len(text) > MOST_PREVIEW
    return SkillFilePreview(
        path=path, size=len(content), text=text[:MOST_PREVIEW] if text else text, cut=cut
    )


@router.get(
    "/{name}/export",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}}},
)
def export_skill(
    request: Request, access: AsViewer, name: SkillName, version: VersionNumber | None = None
) -> Response:
    """The skill's folder as a zip; the same bytes for the same version."""
    content = steward_of(request).skills.export(access.scope, name, version)
    headers = attachment(f"{name}.zip", len(content))
    return Response(content, media_type="application/zip", headers=headers)


def _changed(
    kept: dict[str, bytes], skill_md: str, files: dict[str, str | None]
) -> dict[str, bytes]:
    changed = {path: text.encode() for path, text in files.items() if text is not None}
    rest = {path: content for path, content in kept.items() if path not in files}
    return {**rest, **changed, SKILL_FILE: skill_md.encode()}


def _detail(listed: Listed, skill: Skill, checked: Checked) -> SkillDetail:
    document = skill.document
    return SkillDetail(
        **SkillOut.model_validate(listed).model_dump(),
        shown_version=skill.version,
        digest=skill.digest,
        skill_md=text_of(skill.files[SKILL_FILE]) or "",
        body=skill.body,
        licence=document.licence,
        compatibility=document.compatibility,
        metadata=dict(document.metadata),
        allowed_tools=None if document.allowed_tools is None else list(document.allowed_tools),
        scripts=[
            ScriptOut(
                file=script.file,
                tool=script.tool(skill.name),
                risk=script.risk,
                description=script.description,
                arguments=dict(script.arguments),
            )
            for script in document.scripts
        ],
        files=[SkillFileOut(path=path, size=len(content)) for path, content in skill.files.items()],
        warnings=[SkillFaultOut.model_validate(each) for each in checked.warnings],
    )


def _checked_out(checked: Checked) -> CheckedSkill:
    return CheckedSkill(
        valid=not checked.faults,
        faults=[SkillFaultOut.model_validate(each) for each in checked.faults],
        warnings=[SkillFaultOut.model_validate(each) for each in checked.warnings],
    )
