"""Blueprints: stories with a playbook to start from."""

from typing import Annotated, Any

from fastapi import Path, Request, Response, status
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Output, Page, set_etag
from steward.api.guards import AsEditor, AsViewer
from steward.api.playbook_documents import PlaybookOut
from steward.api.routing import Router
from steward.playbooks import Blueprint, as_yaml, compiled

router = Router(prefix="/projects/{project_id}/blueprints", tags=["playbooks"])

BlueprintName = Annotated[
    str, Path(pattern=r"^[a-z][a-z0-9-]{0,59}$", examples=["profile-and-report"])
]


class StepOut(Output):
    """A step of the flow, for a drawing of it."""

    id: str
    title: str
    type: str
    after: list[str] = Field(description="Ids of the steps before it.")


class BlueprintOut(Output):
    id: str
    title: str
    category: str
    goal: str = Field(description="What comes out of it, in one sentence.")
    asks_for: list[str] = Field(description="Titles of what a person enters before a run.")
    steps: list[StepOut]
    problem: str
    does: str
    impact: str
    systems: list[str]
    sample: bool
    """Whether it has sample data to load."""
    own: bool
    """Whether it comes from the installation's own folder."""


class BlueprintDetail(BlueprintOut):
    inputs: dict[str, Any]
    sample_data: dict[str, Any]
    yaml: str


class BrokenOut(Output):
    file: str
    reason: str


class BlueprintPage(Page[BlueprintOut]):
    broken: list[BrokenOut]


def _fields(blueprint: Blueprint, *, own: bool) -> dict[str, Any]:
    names = ("id", "title", "category", "problem", "does", "impact", "systems")
    fields = {name: getattr(blueprint, name) for name in names}
    playbook = blueprint.playbook
    properties: dict[str, Any] = playbook.inputs.get("properties", {})
    return {
        **fields,
        "own": own,
        "sample": bool(blueprint.sample.datasets),
        "goal": playbook.goal,
        "asks_for": [each.get("title") or name for name, each in properties.items()],
        "steps": [
            StepOut(
                id=node.id,
                title=node.title or node.id,
                type=node.type,
                after=[need.partition(".")[0] for need in node.needs],
            )
            for node in compiled(playbook).nodes
            if node.type != "output"
        ],
    }


@router.get("")
def list_blueprints(request: Request, _access: AsViewer) -> BlueprintPage:
    """All of them by category and title, and files of the folder that are none."""
    shelf = steward_of(request).playbooks.blueprints.shelf()
    ordered = sorted(shelf.blueprints.values(), key=lambda each: (each.category, each.title))
    return BlueprintPage(
        items=[BlueprintOut(**_fields(each, own=each.id in shelf.own)) for each in ordered],
        next_cursor=None,
        broken=[BrokenOut.model_validate(each) for each in shelf.broken],
    )


@router.get("/{blueprint}")
def read_blueprint(
    request: Request, _access: AsViewer, blueprint: BlueprintName
) -> BlueprintDetail:
    blueprints = steward_of(request).playbooks.blueprints
    found = blueprints.get(blueprint)
    return BlueprintDetail(
        **_fields(found, own=found.id in blueprints.shelf().own),
        inputs=found.playbook.inputs,
        sample_data=found.sample.model_dump(mode="json"),
        yaml=as_yaml(found.playbook),
    )


@router.post("/{blueprint}/fork", status_code=status.HTTP_201_CREATED)
def fork_blueprint(
    request: Request, access: AsEditor, blueprint: BlueprintName, response: Response
) -> PlaybookOut:
    """A draft playbook of the caller's own."""
    made = steward_of(request).playbooks.blueprints.fork(access, blueprint)
    set_etag(response, made.version)
    return PlaybookOut.model_validate(made)


class SampleOut(Output):
    dataset: str
    loaded: bool
    """False for one that was there already, which stays as it is."""


class SamplePage(Output):
    items: list[SampleOut]


@router.post("/{blueprint}/sample")
async def load_blueprint_sample(
    request: Request, access: AsEditor, blueprint: BlueprintName
) -> SamplePage:
    """Loads the sample data as datasets, so that the blueprint can be tried."""
    done = await steward_of(request).playbooks.blueprints.load_sample(access, blueprint)
    return SamplePage(
        items=[SampleOut(dataset=name, loaded=loaded) for name, loaded in done.items()]
    )
