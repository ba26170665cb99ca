"""What tools that run code of people and agents share: datasets in, limits within caps, failures in plain words."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import (
    BaseModel,
    Field,
    FiniteFloat,
    Strict,
    StrictBool,
    StrictInt,
    StrictStr,
    StringConstraints,
)

from steward.broker import PLAIN, TARGET, Arguments, Cost, Outcome, ToolContext
from steward.core import Invalid, Problem, StewardError, TooLarge, Unavailable
from steward.tools._calls import ToolSettings, bench, off_loop, plain, settings_of, source
from steward.tools._commits import inputs, workspace
from steward.tools._installation import SANDBOX
from steward.tools._pushed import Pushed, mentioned, push
from steward.versions import Dataset

if TYPE_CHECKING:
    from steward.sandbox import Limits, Request, Response

SETTINGS: Final = "sandbox"
_MOST_DATASETS = 200
_MIB = 1 << 20

Kind = Literal["sql", "python"]
ParameterName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")]
Scalar = StrictBool | StrictInt | Annotated[FiniteFloat, Strict()] | StrictStr | None
Parameters = Annotated[dict[ParameterName, Scalar], Field(max_length=100)]


class SandboxSettings(ToolSettings):
    """What code may use at most in a project; a call may ask for less."""

    seconds: float = Field(60.0, gt=0, le=540)
    memory_mb: int = Field(1024, ge=64, le=65_536)
    rows: int = Field(10_000, ge=1, le=100_000)
    transform_rows: int = Field(1_000_000, ge=1, le=5_000_000)
    transform_mb: int = Field(128, ge=1, le=256)
    files_mb: int = Field(32, ge=0, le=256)


class Sandboxed(Arguments):
    """Arguments that every such tool has."""

    datasets: Annotated[list[str] | None, TARGET] = Field(
        None,
        min_length=1,
        max_length=50,
        description="Datasets it reads; unset: all of the branch.",
    )
    timeout_seconds: Annotated[float | None, PLAIN] = Field(
        None, gt=0, le=540, description="Ended after so long; unset: 30, or the project's cap."
    )
    memory_mb: Annotated[int | None, PLAIN] = Field(
        None, ge=64, le=65_536, description="Memory it may use; unset: 1024, or the project's cap."
    )


@dataclass(frozen=True)
class Job:
    """Code to run, with what it may read and use."""

    kind: Kind
    code: str
    asked: Sandboxed
    rows: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    noun: str = "query"
    """What messages call it."""
    whole: bool = False
    """Whether a part of the result is worth nothing: a table that is kept."""

    @property
    def prefix(self) -> str:
        return "python" if self.kind == "python" else "sql"


@dataclass(frozen=True)
class Executed:
    response: "Response"
    found: tuple[Dataset, ...]
    """The datasets it could read."""
    pushed: Pushed | None = None
    """What a database answered instead of the sandbox."""

    @property
    def used(self) -> tuple[Dataset, ...]:
        """What the answer says it read is a claim; where it names nothing, it may come from anywhere."""
        by_name = {each.name: each for each in self.found}
        named = [by_name[name] for name in dict.fromkeys(self.response.tables) if name in by_name]
        return tuple(named) or self.found

    @property
    def sources(self) -> tuple[str, ...]:
        outside = (self.pushed.source,) if self.pushed else ()
        return (*outside, *(source(each.name, each.version) for each in self.used))


async def execute(context: ToolContext, job: Job) -> Executed:
    """Runs the job in the sandbox over the branch's datasets; raises what went wrong."""
    pushed = await _pushed(context, job) if job.kind == "sql" and not job.whole else None
    if pushed is not None:
        return pushed
    sandbox = context.services.use(SANDBOX)
    found, request = await off_loop(_request, context, job)
    response: Response = _storable(await sandbox.execute(request), rows=not job.whole)
    _refuse_failed(response, job)
    return Executed(response, tuple(found))


async def _pushed(context: ToolContext, job: Job) -> Executed | None:
    from steward.sandbox import Column, Response

    limits = _limits(caps(context), job)
    found = await off_loop(chosen, context, job.asked.datasets)
    answer = await push(context, job.code, found, job.rows, job.parameters, limits.wall_seconds)
    if answer is None:
        return None
    asked = answer.asked
    more = f"These are the first {len(asked.rows):,} rows; there are more." if asked.more else ""
    kinds = zip(answer.columns, asked.types, strict=True)
    response = Response(
        status="too_large" if more else "done",
        message=more,
        columns=[Column(name=name, type=kind) for name, kind in kinds],
        rows=[list(row) for row in asked.rows],
        sql=answer.sql,
        tables=[each.name for each in answer.tables],
    )
    return Executed(_storable(response, rows=True), tuple(answer.tables), answer)


def _storable(response: "Response", *, rows: bool) -> "Response":
    """The answer without halves of characters, which code can make and no database can keep."""
    said = ["message", "refusals", "columns", "result", "charts", "sql", "tables"]
    try:
        clean = {name: _whole_text(getattr(response, name)) for name in [*said, *["rows"] * rows]}
    except RecursionError:
        raise Invalid("The result is nested too deeply.", code="too-deep") from None
    return response.model_copy(update=clean)


def _whole_text(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_whole_text(inner) for inner in value]
    if isinstance(value, dict):
        return {_whole_text(name): _whole_text(inner) for name, inner in value.items()}
    if isinstance(value, BaseModel):
        fields = {name: _whole_text(inner) for name, inner in value}
        return value.model_copy(update=fields)
    return value


def tabular(executed: Executed, **more: Any) -> Outcome:
    """The outcome of a query: rows, and the statement as it was run."""
    response = executed.response
    count = len(response.tables) if response.tables else len(executed.found)
    return Outcome(
        value={
            "columns": plain(response.columns),
            "rows": response.rows,
            "truncated": response.message if response.status == "too_large" else None,
            "sql": response.sql,
            **({"read": dict(executed.pushed.read)} if executed.pushed else {}),
            **more,
        },
        summary=f"{_counted(len(response.rows), 'row')} from {_counted(count, 'dataset')}",
        sources=executed.sources,
        trusted=False,
        cost=cost_of(executed),
    )


def cost_of(executed: Executed) -> Cost:
    read = sum(each.bytes for each in executed.used)
    return Cost(rows=len(executed.response.rows), bytes=read)


def estimated(context: ToolContext, asked: Sandboxed, rows: int) -> Cost:
    known = {each.name: each for each in workspace(context).datasets(context.branch)}
    names = asked.datasets or list(known)
    return Cost(rows=rows, bytes=sum(known[name].bytes for name in names if name in known))


def caps(context: ToolContext) -> SandboxSettings:
    return settings_of(context, SETTINGS, SandboxSettings)


def acts_as(context: ToolContext, asked: Sandboxed) -> tuple[str, ...]:
    """Rules about questions to connections count where a query may be run by one."""
    known = workspace(context).datasets(context.branch, asked.datasets)
    staying = [each for each in known if each.stays]
    text = str(getattr(asked, "sql", "") or getattr(asked, "plan", ""))
    return ("query_connection",) if mentioned(text, staying) else ()


def chosen(context: ToolContext, names: Sequence[str] | None) -> list[Dataset]:
    """The datasets of the branch that code may read."""
    if names is not None:
        return inputs(context, list(dict.fromkeys(names)))
    found = list(workspace(context).datasets(context.branch))
    if len(found) > _MOST_DATASETS:
        raise Invalid(f"The branch has {len(found)} datasets; name those that are to be read.")
    return found


def _request(context: ToolContext, job: Job) -> "tuple[list[Dataset], Request]":
    from steward.sandbox import Column, Request
    from steward.sandbox import Dataset as Readable

    found = chosen(context, job.asked.datasets)
    if job.asked.datasets is None:
        found = [each for each in found if not each.stays]
    versions = bench(context).versions
    readable: list[Readable] = []
    for each in found:
        table = versions.table(context.scope, each.version, each.name, ordered=False)
        readable.append(
            Readable(
                name=each.name,
                source=table.source,
                files=sorted(map(str, table.files)),
                columns=[Column(name=column.name, type=column.type) for column in each.columns],
            )
        )
    request = Request(
        kind=job.kind,
        code=job.code,
        datasets=readable,
        parameters=dict(job.parameters),
        limits=_limits(caps(context), job),
    )
    return found, request


def _limits(most: SandboxSettings, job: Job) -> "Limits":
    from steward.sandbox import Limits

    usual = Limits()
    seconds = job.asked.timeout_seconds or min(usual.wall_seconds, most.seconds)
    memory = job.asked.memory_mb or min(usual.memory_bytes // _MIB, most.memory_mb)
    rows = most.transform_rows if job.whole else most.rows
    over = [
        Problem(f"/{name}", f"more than the {cap:,g} that the project allows")
        for name, value, cap in (
            ("timeout_seconds", seconds, most.seconds),
            ("memory_mb", memory, most.memory_mb),
            ("limit", job.rows, rows),
        )
        if value > cap
    ]
    if over:
        listed = "; ".join(f"{each.pointer[1:]}: {each.message}" for each in over)
        raise Invalid(
            f"This asks for too much: {listed}. An admin sets the caps ({SETTINGS} in the settings).",
            code="limits-exceeded",
            problems=over,
        )
    return Limits(
        wall_seconds=seconds,
        cpu_seconds=max(math.ceil(seconds), 1),
        memory_bytes=memory * _MIB,
        output_bytes=most.transform_mb * _MIB if job.whole else usual.output_bytes,
        rows=job.rows,
        files_bytes=most.files_mb * _MIB,
    )


def _refuse_failed(response: "Response", job: Job) -> None:
    if response.status == "done":
        return
    if response.status == "too_large" and response.rows and not job.whole:
        # Too much still has its first rows, and says so.
        return
    pointer = "/sql" if job.noun == "query" else "/code"
    problems = [
        Problem(
            pointer,
            each.message + (f" (line {each.line}, column {each.column})" if each.line else ""),
        )
        for each in response.refusals
    ]
    said = response.message or "; ".join(problem.message for problem in problems)
    raise _failure(response.status, said, problems, job)


def _failure(status: str, said: str, problems: list[Problem], job: Job) -> StewardError:
    noun, code = job.noun, f"{job.prefix}-{status.replace('_', '-')}"
    match status:
        case "refused":
            return Invalid(f"The {noun} was refused: {said}", code=code, problems=problems)
        case "timeout" | "out_of_memory" | "too_large":
            reason = status.replace("_", " ")
            return TooLarge(
                f"The {noun} needs too much ({reason}): {said} Read less, or aggregate.", code=code
            )
        case "failed":
            return Invalid(f"The {noun} failed: {said}", code=code, problems=problems)
        case _:
            return Unavailable(
                f"The {noun} was ended ({status}): {said}", code=f"{job.prefix}-ended"
            )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
