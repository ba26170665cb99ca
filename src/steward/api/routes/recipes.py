"""Recipes and suggestions: what can be asked for."""

import re
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request, status
from pydantic import Field, StringConstraints

from steward.agents import HEAD, questions_to_try, suggestions
from steward.agents.recipes import Preflight, Recipe, RecipeShelf
from steward.api.context import context_of, steward_of
from steward.api.documents import Input, Output, Page
from steward.api.guards import AsOperator, AsViewer
from steward.api.routing import Router
from steward.api.types import THREAD_ID, UPLOAD_ID
from steward.app import Steward
from steward.core import Invalid, NotFound, Problem, copied
from steward.identity import Access

router = Router(prefix="/projects/{project_id}", tags=["recipes"])

RecipeId = Annotated[
    str, Path(pattern=r"^[a-z][a-z0-9-]{0,59}$", max_length=60, examples=["profile-data"])
]
BranchName = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Verdict = Literal["go", "warn", "stop"]


class RecipeOut(Output):
    id: str
    title: str
    stage: str = Field(
        description="Where it belongs in ingest → profile → correlate → consolidate → report."
    )
    description: str
    parameters: dict[str, Any] = Field(description="JSON Schema of what it needs to know.")
    steps: list[str] = Field(description="What is done, by title, with places for the parameters.")
    approvals: bool = Field(description="Whether its plan is always reviewed before it runs.")


class PreflightIn(Input):
    parameters: dict[str, Any] = Field(default_factory=dict, max_length=50)
    branch: BranchName = "main"


class PreflightCheckOut(Output):
    name: str
    verdict: Verdict
    message: str


class PreflightOut(Output):
    verdict: Verdict
    checks: list[PreflightCheckOut]


class RecipeStartIn(PreflightIn):
    thread_id: Annotated[str, StringConstraints(pattern=THREAD_ID)] | None = Field(
        None, description="The thread it becomes a turn of; a new one when unset."
    )


class RecipeStartedOut(Output):
    thread_id: str
    run_id: str


class SuggestionOut(Output):
    title: str
    message: str = Field(description="What to say in the chat; no model is needed for it.")
    reason: str
    dataset: str


@router.get("/recipes")
def list_recipes(request: Request, access: AsViewer) -> Page[RecipeOut]:  # noqa: ARG001
    """Ready plans with parameters, in the order of the work."""
    items = [_recipe(each) for each in _shelf(steward_of(request))]
    return Page(items=items, next_cursor=None)


@router.post("/recipes/{recipe_id}/preflight")
def preflight_recipe(
    request: Request, access: AsOperator, recipe_id: RecipeId, body: PreflightIn
) -> PreflightOut:
    """Checks size, schemas and keys before anything starts: go, warn or stop, with reasons. Changes nothing."""
    shelf = _shelf(steward_of(request))
    shelf.get(recipe_id)
    known = shelf.catalogue(access.scope, access.user_id, body.branch)
    return _preflight(shelf.preflight(access.scope, recipe_id, body.parameters, known))


@router.post("/recipes/{recipe_id}/start", status_code=status.HTTP_201_CREATED)
def start_recipe(
    request: Request, access: AsOperator, recipe_id: RecipeId, body: RecipeStartIn
) -> RecipeStartedOut:
    """Starts a recipe as a turn of a thread. What its checks stop does not start."""
    steward = steward_of(request)
    shelf = _shelf(steward)
    branch = body.branch
    if body.thread_id is not None:
        branch = steward.threads.get(access.scope, body.thread_id).branch
    known = shelf.catalogue(access.scope, access.user_id, branch)
    checked = shelf.preflight(access.scope, recipe_id, body.parameters, known)
    if checked.verdict == "stop":
        stopped = [each for each in checked.findings if each.verdict == "stop"]
        raise Invalid(
            f"The checks of the recipe say stop: {stopped[0].message}",
            code="recipe-stopped",
            problems=[Problem("/parameters", each.message) for each in stopped],
        )
    made = shelf.compile(recipe_id, body.parameters, known)
    upload = body.parameters.get("upload")
    thread, run = steward.threads.begin(
        access,
        made.message,
        thread_id=body.thread_id,
        parent=HEAD,
        attachments=[upload] if isinstance(upload, str) and re.match(UPLOAD_ID, upload) else [],
        branch=branch,
        extra={
            "plan": made.plan.to_json(),
            "recipe": recipe_id,
            **({"review": "always"} if made.review else {}),
        },
    )
    return RecipeStartedOut(thread_id=thread.id, run_id=run.id)


@router.get("/suggestions")
async def list_suggestions(
    request: Request,
    access: AsViewer,
    dataset: Annotated[
        str | None, Query(max_length=200, description="Only about this one.")
    ] = None,
    branch: Annotated[str, Query(min_length=1, max_length=100)] = "main",
) -> Page[SuggestionOut]:
    """What could be done next, from what is known about the datasets: at most six, the most useful first.

    Without a dataset, up to four questions that chat answers come before them.
    """
    steward = steward_of(request)
    return await context_of(request).in_turn(access, _suggestions, steward, access, dataset, branch)


def _suggestions(
    steward: Steward, access: Access, dataset: str | None, branch: str
) -> Page[SuggestionOut]:
    if dataset is None:  # questions are made of values
        steward.workbench.insights.learn(access.scope, access.user_id, branch)
    known = _shelf(steward).catalogue(access.scope, access.user_id, branch)
    if dataset is not None and dataset not in known.datasets:
        raise NotFound(f"There is no dataset {dataset!r} on {branch}.")
    today = steward.clock.now().date()
    asked = questions_to_try(known, today) if dataset is None else []
    found = [*asked, *suggestions(known, today, dataset=dataset)]
    return Page(items=[SuggestionOut.model_validate(each) for each in found], next_cursor=None)


def _shelf(steward: Steward) -> RecipeShelf:
    return RecipeShelf(steward.workbench, steward.governing.broker.tools, steward.staff.roster)


def _recipe(recipe: Recipe) -> RecipeOut:
    return copied(
        RecipeOut,
        recipe,
        steps=[step.title for step in recipe.steps],
        approvals=bool(recipe.approvals),
    )


def _preflight(found: Preflight) -> PreflightOut:
    checks = [PreflightCheckOut.model_validate(each) for each in found.findings]
    return PreflightOut(verdict=found.verdict, checks=checks)
