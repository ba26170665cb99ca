"""Whether SQL or Python of a step can run, asked while somebody types it."""

from typing import Any

from fastapi import Request
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input, Output
from steward.api.guards import AsEditor
from steward.api.routing import Router
from steward.flows import Code, Language

router = Router(prefix="/projects/{project_id}", tags=["tools"])


class CodeIn(Input):
    language: Language
    code: str = Field(min_length=1, max_length=100_000)
    parameters: dict[str, Any] = Field(
        default_factory=dict,
        max_length=100,
        description="Values by name; one that is an expression is not known yet.",
    )
    branch: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="The branch that the step names, as it is written; unset: that of its run.",
    )
    run_branch: str = Field(
        "main", min_length=1, max_length=200, description="The branch that the run works on."
    )


class CodeProblemOut(Output):
    message: str
    line: int | None = Field(description="Counted from 1, as the column.")
    column: int | None
    is_warning: bool = Field(
        description="Whether it may be right once the flow runs: an earlier step can make a dataset."
    )


class CheckedCode(Output):
    problems: list[CodeProblemOut]
    branch: str | None = Field(
        description="The branch whose datasets SQL was checked against; null: only the run knows it."
    )
    note: str = Field(description="What is checked only at the run, and why; empty: nothing.")


@router.post("/code/check")
async def check_code(request: Request, access: AsEditor, body: CodeIn) -> CheckedCode:
    """What is wrong with SQL or Python, each with its line and column; nothing of it is run."""
    steward = steward_of(request)
    code = Code(body.language, body.code, body.parameters, body.branch, body.run_branch)
    found = await steward.code_checks.check(access.scope, access.user_id, code)
    return CheckedCode.model_validate(found)
