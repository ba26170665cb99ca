"""The one JSON contract of every sandbox: a request goes in, a response comes out, nothing else.

What comes back was written by a process that may have been taken over by the code it ran: it is
validated as data, sized before it is parsed, and never unpickled. Status, timings and walls are
stated by the supervisor, not by the child.
"""

from typing import Annotated, Any, Literal

from pydantic import (
    Base64Bytes,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
)

MAX_CODE = 200_000

Kind = Literal["sql", "python"]
Status = Literal[
    "done", "refused", "failed", "timeout", "out_of_memory", "killed", "too_large", "cancelled"
]
Tier = Literal["ns", "lsm", "container", "none"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ParameterName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")]
# Strict: 1, 1.0, "1" and true are four different values.
Scalar = StrictBool | StrictInt | StrictFloat | StrictStr | None

_MIB = 1 << 20


class _Document(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class Column(_Document):
    name: str
    type: str
    """DuckDB's name of the type; says how to read a value that JSON holds as text."""


class Dataset(_Document):
    """A table the code may read: `source` is a FROM item made by Steward, never by the caller."""

    name: Name
    source: str
    files: list[str] = []
    """Every file that `source` reads; nothing else of the data becomes readable."""
    columns: list[Column] = []


class Limits(_Document):
    wall_seconds: float = Field(30.0, gt=0, le=86_400)
    cpu_seconds: int = Field(30, ge=1, le=86_400)
    memory_bytes: int = Field(1024 * _MIB, ge=64 * _MIB)
    output_bytes: int = Field(8 * _MIB, ge=1024, le=256 * _MIB)
    """Most bytes of the answer (rows, result, charts); standard output has a sixteenth of it."""
    rows: int = Field(10_000, ge=1, le=5_000_000)
    scratch_bytes: int = Field(256 * _MIB, ge=_MIB)
    scratch_inodes: int = Field(4096, ge=16)
    files_bytes: int = Field(32 * _MIB, ge=0, le=256 * _MIB)
    """Most bytes of files in scratch that are handed back."""


class Request(_Document):
    schema_version: Literal[1] = 1
    kind: Kind
    code: str = Field(max_length=MAX_CODE)
    datasets: list[Dataset] = []
    parameters: dict[ParameterName, Scalar] = Field(default_factory=dict, max_length=100)
    """Values by name: `$name` in SQL, bound by the engine; `parameters["name"]` in Python."""
    limits: Limits = Limits()
    only_check: bool = False
    """Says what is wrong with the code, as far as that can be seen without running it."""


class Refusal(_Document):
    """A construct that the guard does not let through, and where it stands (counted from 1)."""

    what: str
    message: str
    line: int | None = None
    column: int | None = None


class ScratchFile(_Document):
    """A file the code left in scratch."""

    path: str
    size: int
    sha256: str
    content: Base64Bytes


class Timings(_Document):
    total_ms: float = 0.0
    """From taking a process to having the answer and nothing left running."""
    waited_ms: float = 0.0
    """Waiting for a confined process to be ready."""


class _Result(_Document):
    message: str = ""
    refusals: list[Refusal] = []
    columns: list[Column] = []
    rows: list[list[Any]] = []
    result: Any = None
    charts: list[dict[str, Any]] = []
    sql: str | None = None
    """For SQL: the statement as it was run, written by the engine, with its tables qualified."""
    tables: list[str] = []
    used_columns: list[str] = []


class Answer(_Result):
    """What the child says; everything in it is a claim of the code that ran."""

    status: Literal["done", "refused", "failed", "out_of_memory", "too_large"]


class Response(_Result):
    schema_version: Literal[1] = 1
    status: Status
    stdout: str = ""
    stderr: str = ""
    dropped_output_bytes: int = 0
    files: list[ScratchFile] = []
    skipped_files: list[str] = []
    """Left in scratch and not handed back, with the reason."""
    timings: Timings = Timings()
    tier: Tier = "none"
    walls: list[str] = []
    """The walls that stood around this very execution."""


class Envelope(_Document):
    """What goes over the wire to the child: the request, and how the child is to treat it."""

    request: Request
    scratch: str
    guarded: bool = True
    """Always true through the door; the escape battery turns it off to try the walls alone."""
