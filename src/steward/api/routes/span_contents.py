"""What a span was asked and answered, and how that differs from another request, another run or a fork."""

from typing import Annotated, Literal

from fastapi import Query, Request
from pydantic import Field

from steward.api.context import context_of
from steward.api.documents import Output
from steward.api.guards import AsViewer
from steward.api.routing import Router
from steward.api.types import RUN_ID, RunId
from steward.core import copied
from steward.observe import DiffLine

router = Router(prefix="/projects/{project_id}/runs", tags=["observe"])

About = Annotated[
    str, Query(min_length=1, max_length=400, description="The key that its entries are about.")
]


class LineOut(Output):
    text: str
    mark: Literal["untrusted", "withheld", "redacted"] | None = Field(
        description="Written by others; not sent to the model; a secret that is not shown."
    )
    source: str
    is_heading: bool


class SpanContentOut(Output):
    run_id: str
    about: str
    kind: Literal["model", "tool"]
    name: str = Field(description="The model that answered, or the tool.")
    asked: list[LineOut]
    answered: list[LineOut]
    input_tokens: int | None
    output_tokens: int | None
    before: str | None = Field(description="The request before it in the same run.")
    is_cut: bool = Field(description="Whether lines were left out because there are too many.")


class DiffLineOut(LineOut):
    change: Literal["same", "added", "removed"]


class SpanSideOut(Output):
    run_id: str
    about: str
    name: str
    input_tokens: int | None
    output_tokens: int | None


class SpanDiffOut(Output):
    left: SpanSideOut = Field(description="What is compared with.")
    right: SpanSideOut
    asked: list[DiffLineOut]
    answered: list[DiffLineOut]


@router.get("/{run_id}/span-content")
async def read_span_content(
    request: Request, access: AsViewer, run_id: RunId, about: About
) -> SpanContentOut:
    """Prompt and completion of a request to a model, or arguments and result of a call."""
    context = context_of(request)

    def read() -> SpanContentOut:
        found = context.steward.observations.contents.content(access.scope, run_id, about)
        return SpanContentOut.model_validate(found)

    return await context.in_turn(access, read)


@router.get("/{run_id}/span-diff")
async def compare_spans(
    request: Request,
    access: AsViewer,
    run_id: RunId,
    about: About,
    other: Annotated[
        str | None, Query(pattern=RUN_ID, description="Another run; unset: the same one.")
    ] = None,
    other_about: Annotated[
        str | None, Query(min_length=1, max_length=400, description="Unset: the same key.")
    ] = None,
) -> SpanDiffOut:
    """What is different from another request: lines that were added, removed or kept."""
    context = context_of(request)
    left = (other or run_id, other_about or about)

    def read() -> SpanDiffOut:
        contents = context.steward.observations.contents
        found = contents.diff(access.scope, left, (run_id, about))
        return SpanDiffOut(
            left=SpanSideOut.model_validate(found.left),
            right=SpanSideOut.model_validate(found.right),
            asked=[_diff_line_out(each) for each in found.asked],
            answered=[_diff_line_out(each) for each in found.answered],
        )

    return await context.in_turn(access, read)


def _diff_line_out(found: DiffLine) -> DiffLineOut:
    line = found.line
    return copied(DiffLineOut, line, change=found.change)
