"""Says what is wrong with the SQL or Python of a step while somebody types it.

The text goes to the sandbox, where the guards that look at it before a run look at it here; nothing of it is run. The
tables it finds there are empty: they have the columns of the datasets and none of their rows. The datasets are those of the
branch that the step will read. Where only the run knows that branch, tables and columns are checked at the run.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from steward.core import Unavailable
from steward.sandbox import Column, Limits, Request, Response, Sandbox
from steward.sandbox import Dataset as Readable
from steward.store import Scope
from steward.tables import quote
from steward.versions import MAIN, Dataset, Versions

Language = Literal["sql", "python"]
_MOST_DATASETS: Final = 50
_LIMITS: Final = Limits(wall_seconds=10, cpu_seconds=5)
_COMPUTED: Final = "${"
_SCALARS: Final = (bool, int, float, str)


@dataclass(frozen=True)
class CodeProblem:
    message: str
    line: int | None
    column: int | None
    is_warning: bool
    """Whether it may be right once the flow runs: an earlier step can make a dataset that is not there yet."""


@dataclass(frozen=True)
class Code:
    language: Language
    text: str
    parameters: Mapping[str, Any]
    """Values by name; those that are computed when the flow runs are not known yet."""
    branch: str | None = None
    """The branch that the step names, as it is written; unset: that of the run."""
    run_branch: str = MAIN
    """The branch of the run: of the one that is looked at beside the code, or main."""


@dataclass(frozen=True)
class Checked:
    problems: list[CodeProblem]
    branch: str | None
    """The branch whose datasets SQL was checked against; None where only the run knows it."""
    note: str = ""
    """What was not checked, and why."""


class CodeChecks:
    def __init__(self, sandbox: Sandbox, versions: Versions) -> None:
        self._sandbox = sandbox
        self._versions = versions

    async def check(self, scope: Scope, user_id: str, code: Code) -> Checked:
        if code.language != "sql":
            return Checked(await self._problems(code, []), None)
        branch, note = await asyncio.to_thread(self._branch, scope, user_id, code)
        if branch is None:
            found = await self._problems(code, [])
            # Without datasets every table is unknown; everything else is as wrong as it is with them.
            return Checked([each for each in found if not each.is_warning], None, note)
        datasets = await asyncio.to_thread(self._datasets, scope, user_id, code, branch)
        return Checked(await self._problems(code, datasets), branch, note)

    def _branch(self, scope: Scope, user_id: str, code: Code) -> tuple[str | None, str]:
        """The branch that the step will read; None and why, where it is not known or not there yet."""
        known = {each.name for each in self._versions.workspace(scope, user_id).branches()}
        if code.branch is not None:
            if _COMPUTED in code.branch:
                return None, (
                    "The branch of this step is known only at the run. Its tables and columns are checked then."
                )
            if code.branch not in known:
                return None, (
                    f"There is no branch {code.branch[:100]!r} yet. Tables and columns are checked at the run."
                )
            return code.branch, ""
        if code.run_branch in known:
            return code.run_branch, ""
        return MAIN, (
            f"The branch {code.run_branch[:100]!r} of that run is gone. This is checked against main."
        )

    async def _problems(self, code: Code, datasets: list[Readable]) -> list[CodeProblem]:
        request = Request(
            kind=code.language,
            code=code.text,
            datasets=datasets,
            parameters={name: _known(value) for name, value in code.parameters.items()},
            limits=_LIMITS,
            only_check=True,
        )
        return _code_problems(await self._sandbox.execute(request))

    def _datasets(self, scope: Scope, user_id: str, code: Code, branch: str) -> list[Readable]:
        found = self._versions.workspace(scope, user_id).datasets(branch)
        written = code.text.casefold()
        # The others are there to be named in a message.
        ordered = sorted(found, key=lambda each: each.name.casefold() not in written)
        return [_empty(each) for each in ordered[:_MOST_DATASETS]]


def _empty(dataset: Dataset) -> Readable:
    columns = ", ".join(
        f"CAST(NULL AS {each.type}) AS {quote(each.name)}" for each in dataset.columns
    )
    return Readable(
        name=dataset.name,
        source=f"(SELECT {columns or 'NULL'} LIMIT 0)",
        columns=[Column(name=each.name, type=each.type) for each in dataset.columns],
    )


def _known(value: Any) -> Any:
    is_computed = isinstance(value, str) and _COMPUTED in value
    return value if isinstance(value, _SCALARS) and not is_computed else None


def _code_problems(response: Response) -> list[CodeProblem]:
    if response.status == "done":
        return []
    if response.status != "refused":
        raise Unavailable(f"The code was not checked: {response.message or response.status}")
    return _distinct(
        [
            CodeProblem(each.message, each.line, each.column, is_warning=each.what == "table")
            for each in response.refusals
        ]
    )


def _distinct(problems: Sequence[CodeProblem]) -> list[CodeProblem]:
    return list(dict.fromkeys(problems))
