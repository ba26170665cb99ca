"""Projects as code: the project as files, what files would change, and making the project what they say."""

from typing import Annotated, Any, Literal

from fastapi import Request, status
from pydantic import Field

from steward.api.context import context_of, steward_of
from steward.api.documents import Input, Output
from steward.api.guards import AsEditor
from steward.api.routing import Router
from steward.flows import DirectCall
from steward.identity import Access
from steward.projects import LARGEST_FILE, MOST_FILES, Plan, Values

router = Router(prefix="/projects/{project_id}/code", tags=["project code"])
FilePath = Annotated[str, Field(max_length=300)]
FileText = Annotated[str, Field(max_length=LARGEST_FILE)]
Since = Literal["folder", "project", "both"]


class ProjectFiles(Output):
    files: dict[str, str] = Field(description="Texts of files by their paths in a folder.")


class ProjectCodeIn(Input):
    files: dict[FilePath, FileText] = Field(
        max_length=MOST_FILES,
        description="Texts of files by their paths, with `steward.yaml` among them.",
        examples=[{"steward.yaml": "format: 1\n"}],
    )
    values: Values = Field(default_factory=Values, description="What differs in this project.")
    prune: bool = Field(False, description="Also remove what the files do not have.")


class CodeFieldOut(Output):
    field: str
    before: Any
    after: Any
    lines: list[str] = Field(description="Of longer texts, as `diff -u` has them.")


class CodeChangeOut(Output):
    action: Literal["create", "change", "remove"]
    kind: str
    name: str
    path: str
    since: Since | None = Field(
        description="Where it changed since the last apply; null where it was not applied before."
    )
    fields: list[CodeFieldOut]


class OnlyHereOut(Output):
    kind: str
    name: str
    since: Since | None


class LastApplyOut(Output):
    number: int
    by: str
    at: str


class ProjectPlanOut(Output):
    changes: list[CodeChangeOut]
    unchanged: int
    only_here: list[OnlyHereOut] = Field(description="What the project has and the files do not.")
    notes: list[str]
    differs: bool
    last_apply: LastApplyOut | None


class ProjectAppliedOut(ProjectPlanOut):
    run_id: str | None = Field(
        description="The run that applied it; undoing it takes it back. Null: nothing was to do."
    )


@router.get("")
async def export_project_code(request: Request, access: AsEditor) -> ProjectFiles:
    """The project as files that Git can hold: no ids of this installation and no secrets."""
    code = steward_of(request).project_code
    return ProjectFiles(files=await context_of(request).in_turn(access, code.files, access))


@router.post("/plan")
async def plan_project_code(
    request: Request, access: AsEditor, body: ProjectCodeIn
) -> ProjectPlanOut:
    """What applying the files would do, field by field. Nothing is written."""
    found = await _plan(request, access, body)
    return ProjectPlanOut(**found.to_json())


@router.post("/apply", status_code=status.HTTP_201_CREATED)
async def apply_project_code(
    request: Request, access: AsEditor, body: ProjectCodeIn
) -> ProjectAppliedOut:
    """Makes the project what the files say: all of it or nothing, as one action that can be undone."""
    found = await _plan(request, access, body)
    if not found.is_new:
        return ProjectAppliedOut(**found.to_json(), run_id=None)
    call = DirectCall(
        "apply_project",
        found.arguments(),
        title="Apply a project",
        subject=found.subject,
        once=True,
    )
    done = await steward_of(request).governing.direct_calls.run(access, call)
    return ProjectAppliedOut(**found.to_json(), run_id=done.run.id)


async def _plan(request: Request, access: Access, body: ProjectCodeIn) -> Plan:
    code = steward_of(request).project_code
    return await context_of(request).in_turn(
        access, code.plan, access, body.files, body.values, prune=body.prune
    )
