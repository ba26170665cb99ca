"""Tests of playbooks: runs without effects, what each step gave, those that are kept, and what a run costs."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Request, status
from pydantic import Field

from steward.api.documents import Input, Output
from steward.api.guards import AsEditor, AsViewer
from steward.api.playbook_documents import PlaybookId, playbooks_of
from steward.api.routing import Router
from steward.api.run_documents import RunOut
from steward.api.types import RunId
from steward.playbooks import Wish

router = Router(prefix="/projects/{project_id}/playbooks", tags=["playbooks"])

StepName = Annotated[str, Field(min_length=1, max_length=400)]


class TestIn(Input):
    inputs: dict[str, Any] = Field(default_factory=dict)
    yaml: str | None = Field(None, max_length=1_000_000, description="A draft that is not saved.")
    revision: int | None = Field(None, ge=1, le=2**31 - 1, description="Unset: the newest.")
    mocks: dict[StepName, Any] = Field(
        default_factory=dict, max_length=500, description="Outputs by step that stand in for it."
    )
    like: str | None = Field(
        None, max_length=40, description="A run whose outputs stand in for what is not done."
    )
    breakpoints: list[StepName] = Field(default_factory=list, max_length=500)
    until: StepName | None = Field(None, description="The last step to run.")
    spend: bool = Field(False, description="Whether agents may ask models.")
    ask: bool = Field(False, description="Whether people are asked; else the test answers.")


class TestInputsOut(Output):
    name: str
    value: Any
    is_valid: bool


class TestInputsListOut(Output):
    items: list[TestInputsOut]


class NodeResultOut(Output):
    key: str
    state: str
    output: Any
    before: Any = Field(description="What it gave in the last good run.")
    was_there: bool
    differs: bool


class ResultsOut(Output):
    run: RunOut
    nodes: list[NodeResultOut]
    compared_with: str | None = Field(description="The last good run.")
    paused_before: list[str]


class KeepIn(Input):
    run: str = Field(max_length=40)
    name: str = Field(min_length=1, max_length=200)


class KeptTestOut(Output):
    id: str
    name: str
    inputs: Any
    created_by: str
    created_at: datetime


class KeptTestsOut(Output):
    items: list[KeptTestOut]


class NodePriceOut(Output):
    node: str = Field(description="The ids on the way to the step, such as `each/write`.")
    usd: float | None = Field(
        description="US dollars: the average of past runs, or the least by an estimate; null: no price is known."
    )
    most_usd: float | None = Field(description="The most by an estimate; null: no price is known.")
    tokens: float
    most_tokens: float
    seconds: float
    rests_on: str = Field(description="How the price is known, or why not, in words.")
    is_estimate: bool = Field(description="Whether something in it never ran.")
    times: float | None = Field(
        description="How often it runs in a run, at least; null: known at the run, and the price is for one item."
    )
    most_times: float | None = Field(description="How often it runs at most.")
    each_usd: float | None = Field(description="What it costs once, at least.")
    most_each_usd: float | None = Field(description="What it costs once, at most.")


class PriceOut(Output):
    runs: int = Field(description="Past runs that it learns from.")
    usd: float | None = Field(description="All steps whose price is known; null: none is known.")
    most_usd: float | None
    unknown: list[str] = Field(description="Steps whose price is not known.")
    nodes: list[NodePriceOut]
    inner: list[NodePriceOut] = Field(
        description="Steps inside others. What they cost is in the price of the step around them."
    )


@router.get("/{playbook_id}/test-inputs")
def list_test_inputs(
    request: Request, access: AsViewer, playbook_id: PlaybookId
) -> TestInputsListOut:
    """Inputs made from the schema: ordinary ones, and edge cases."""
    found = playbooks_of(request).rehearsals.inputs(access, playbook_id)
    return TestInputsListOut(items=[TestInputsOut.model_validate(each) for each in found])


@router.post("/{playbook_id}/tests", status_code=status.HTTP_201_CREATED)
def start_test(request: Request, access: AsEditor, playbook_id: PlaybookId, body: TestIn) -> RunOut:
    """Runs it without effects: on a branch of the data, nothing sent, nothing spent unless asked."""
    wish = Wish(**body.model_dump())
    return RunOut.model_validate(playbooks_of(request).rehearsals.start(access, playbook_id, wish))


@router.get("/{playbook_id}/tests/runs/{run_id}")
def read_test(
    request: Request, access: AsViewer, playbook_id: PlaybookId, run_id: RunId
) -> ResultsOut:
    """What each step gave, beside what it gave in the last good run."""
    found = playbooks_of(request).rehearsals.results(access, playbook_id, run_id)
    return ResultsOut(
        run=RunOut.model_validate(found.run),
        nodes=[NodeResultOut.model_validate(each) for each in found.nodes],
        compared_with=found.compared_with,
        paused_before=found.paused_before,
    )


@router.post("/{playbook_id}/tests/runs/{run_id}/continue", status_code=status.HTTP_204_NO_CONTENT)
def continue_test(
    request: Request, access: AsEditor, playbook_id: PlaybookId, run_id: RunId
) -> None:
    """Lets a test go on that pauses at a breakpoint."""
    playbooks_of(request).rehearsals.go_on(access, playbook_id, run_id)


@router.get("/{playbook_id}/kept-tests")
def list_kept_tests(request: Request, access: AsViewer, playbook_id: PlaybookId) -> KeptTestsOut:
    """Tests that run when a revision is deployed."""
    found = playbooks_of(request).rehearsals.kept(access, playbook_id)
    return KeptTestsOut(items=[KeptTestOut.model_validate(each) for each in found])


@router.post("/{playbook_id}/kept-tests", status_code=status.HTTP_201_CREATED)
def keep_test(
    request: Request, access: AsEditor, playbook_id: PlaybookId, body: KeepIn
) -> KeptTestOut:
    """Keeps a run as a test: the same inputs must give the same output again."""
    kept = playbooks_of(request).rehearsals.keep(access, playbook_id, body.run, body.name)
    return KeptTestOut.model_validate(kept)


@router.delete("/{playbook_id}/kept-tests/{test_id}", status_code=status.HTTP_204_NO_CONTENT)
def delete_kept_test(
    request: Request,
    access: AsEditor,
    playbook_id: PlaybookId,
    test_id: Annotated[str, Path(max_length=40)],
) -> None:
    playbooks_of(request).rehearsals.forget(access, playbook_id, test_id)


@router.get("/{playbook_id}/price")
def estimate_price(request: Request, access: AsViewer, playbook_id: PlaybookId) -> PriceOut:
    """What a run will cost by step: as past runs that ended well did, and an estimate for steps that never ran."""
    return PriceOut.model_validate(playbooks_of(request).prices.of(access, playbook_id))
