"""Files of the branch: read piece by piece, edited by exact replacement."""

import base64
import codecs
import difflib
from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from steward.broker import (
    CONTENT,
    PLAIN,
    SELECTOR,
    TARGET,
    Arguments,
    Artifact,
    Cost,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.core import Conflict, Denied, Invalid, NotFound, TooLarge
from steward.runs import Kind
from steward.tools._calls import agreed, bench, in_thread_of_call, off_loop
from steward.tools._commits import WRITTEN, files_of, media_type, reconciling, workspace
from steward.tools._installation import BLOBS, RUNS
from steward.versions import Commit, Draft
from steward.workbench import ORIGINALS

MAX_TEXT = 1 << 20
_PIECE = 64 << 10
_ENTRIES = 500
_RECORDED = frozenset({"value", "artifacts", "commits", "labels", "cost"})


class EditFile(Arguments):
    path: Annotated[str, TARGET] = Field(
        min_length=1, max_length=500, description="Path among the branch's files."
    )
    old: Annotated[str, SELECTOR] = Field(
        max_length=MAX_TEXT,
        description="The exact text to replace, found once; empty: make a new file.",
    )
    new: Annotated[str, CONTENT] = Field(
        max_length=MAX_TEXT, description="What stands there afterwards."
    )
    all: Annotated[bool, PLAIN] = Field(
        False, description="Replace every occurrence, not just the only one."
    )


class ReadArtifact(Arguments):
    path: Annotated[str | None, TARGET] = Field(
        None, min_length=1, max_length=500, description="Path among the branch's files."
    )
    digest: Annotated[str | None, TARGET] = Field(
        None,
        pattern="^[0-9a-f]{64}$",
        description="Instead of a path: the digest of a file that a call of this run made.",
    )
    at: Annotated[str | None, SELECTOR] = Field(
        None, max_length=200, description="A branch, tag or commit; unset: the run's branch."
    )
    offset: Annotated[int, PLAIN] = Field(0, ge=0, description="Where to begin, in bytes.")
    limit: Annotated[int, PLAIN] = Field(
        _PIECE, ge=1, le=1 << 20, description="Bytes to read at most."
    )

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if (self.path is None) == (self.digest is None):
            raise ValueError("give either a path or a digest")
        return self


def _edited(context: ToolContext, arguments: EditFile) -> tuple[str | None, str, str]:
    """The text before (None: no file), the text after, and the commit that was read."""
    if arguments.path.startswith(f"{ORIGINALS}/"):
        raise Denied("Files under originals/ stay as they arrived; edit a copy elsewhere.")
    place = workspace(context)
    head = place.branch(context.branch).head
    try:
        before: str | None = _text(place.read_file(arguments.path, head), arguments.path)
    except NotFound:
        before = None
    if before is None:
        if arguments.old:
            raise NotFound(
                f"There is no file {arguments.path!r}; leave `old` empty to make it."
            ) from None
        return None, arguments.new, head
    if not arguments.old:
        raise Conflict(f"There is a file {arguments.path!r} already; say in `old` what to replace.")
    found = before.count(arguments.old)
    if found == 0:
        raise Conflict(
            f"The text to replace is not in {arguments.path!r}; read the file and copy it exactly."
        )
    if found > 1 and not arguments.all:
        raise Conflict(
            f"The text to replace stands {found} times in {arguments.path!r}; give more of its "
            "surroundings, or set `all`."
        )
    after = before.replace(arguments.old, arguments.new)
    if len(after.encode()) > MAX_TEXT:
        raise TooLarge(f"The file would have more than {MAX_TEXT:,} bytes.")
    return before, after, head


def _text(chunks: Iterator[bytes], path: str) -> str:
    kept = bytearray()
    for chunk in chunks:
        kept += chunk
        if len(kept) > MAX_TEXT:
            raise TooLarge(f"{path!r} has more than {MAX_TEXT:,} bytes and is not edited as text.")
    try:
        return kept.decode()
    except UnicodeDecodeError:
        raise Invalid(f"{path!r} is not UTF-8 text and cannot be edited by replacement.") from None


def _diff(path: str, before: str | None, after: str) -> list[str]:
    old = (before or "").splitlines()
    named = "/dev/null" if before is None else path
    return list(difflib.unified_diff(old, after.splitlines(), named, path, lineterm="", n=3))


async def preview_edit(context: ToolContext, arguments: EditFile) -> Preview:
    before, after, _ = await off_loop(_edited, context, arguments)
    diff = _diff(arguments.path, before, after)
    counts = {
        "added_lines": sum(line.startswith("+") for line in diff[2:]),
        "removed_lines": sum(line.startswith("-") for line in diff[2:]),
    }
    verb = "Make" if before is None else "Edit"
    return Preview(
        summary=f"{verb} {arguments.path}: {counts['added_lines']} lines in, {counts['removed_lines']} out",
        details={"counts": counts, "diff": "\n".join(diff)},
        payload={"before": before is not None, "after": after},
    )


async def edit(context: ToolContext, arguments: EditFile) -> Outcome:
    return await edited(context, await off_loop(_commit, context, arguments))


def _commit(context: ToolContext, arguments: EditFile) -> Commit:
    before, after, head = _edited(context, arguments)
    promised = agreed(context).get("after")
    if promised is not None and promised != after:
        raise Conflict(f"{arguments.path!r} changed since the preview was made; look at it again.")
    entry = bench(context).versions.put_file(context.scope, arguments.path, [after.encode()])
    draft = Draft(
        message=f"{'Make' if before is None else 'Edit'} {arguments.path}",
        operation="edit_file",
        arguments={"path": arguments.path, WRITTEN: [entry.path]},
        files={entry.path: entry.digest},
    )
    return workspace(context).commit(draft, context.branch, base=head)


@in_thread_of_call
def edited(context: ToolContext, commit: Commit) -> Outcome:
    artifacts = files_of(context, commit)
    return Outcome(
        value={"commit": commit.id, "path": commit.arguments.get("path")},
        summary=commit.message,
        artifacts=artifacts,
        commits=(commit.id,),
        cost=Cost(bytes=sum(artifact.size for artifact in artifacts)),
    )


async def read(context: ToolContext, arguments: ReadArtifact) -> Outcome:
    return await off_loop(_read, context, arguments)


def _read(context: ToolContext, arguments: ReadArtifact) -> Outcome:
    found, chunks, named = _opened(context, arguments)
    piece = _piece(chunks, arguments.offset, arguments.limit)
    text, used = _as_text(piece, last=arguments.offset + len(piece) >= found.size)
    end = arguments.offset + used
    value: dict[str, Any] = {
        "name": found.name,
        "media_type": found.media_type,
        "size": found.size,
        "offset": arguments.offset,
        "next_offset": end if end < found.size else None,
    }
    if text is None:
        value["base64"] = base64.b64encode(piece).decode()
    else:
        value["text"] = text
    return Outcome(
        value=value,
        summary=f"{used:,} of {found.size:,} bytes of {found.name}",
        sources=(named,),
        trusted=False,
        cost=Cost(bytes=used),
    )


def _opened(context: ToolContext, arguments: ReadArtifact) -> tuple[Artifact, Iterator[bytes], str]:
    if arguments.digest is not None:
        found = _made_by_run(context, arguments.digest)
        chunks = context.services.use(BLOBS).read(found.digest)
        return found, chunks, f"artifact:{found.name}@{found.digest}"
    place, at, path = workspace(context), arguments.at or context.branch, arguments.path or ""
    entry = next((each for each in place.files(at) if each.path == path), None)
    if entry is None:
        raise NotFound(f"There is no file {path!r} at {at!r}.")
    found = Artifact(path, media_type(path), entry.digest, entry.bytes)
    return found, place.read_file(path, at), f"file:{path}@{entry.digest}"


def _made_by_run(context: ToolContext, digest: str) -> Artifact:
    """A file that the run's journal lists as made by one of its calls: a digest alone is no permission."""
    runs = context.services.use(RUNS)
    after = 0
    while page := runs.entries(context.scope, context.run_id, after, _ENTRIES):
        for entry in page:
            if entry.kind not in (Kind.step, Kind.outcome) or "result" not in entry.data:
                continue
            result = runs.payload(entry.data["result"])
            # What the door wrote about a call, and not what the call's own value says.
            if not isinstance(result, dict) or not result.keys() >= _RECORDED:
                continue
            for each in result["artifacts"]:
                if each["digest"] == digest:
                    return Artifact(**each)
        after = page[-1].seq
    raise NotFound(f"No call of this run made a file {digest[:12]}…; read files by their path.")


def _piece(chunks: Iterator[bytes], offset: int, limit: int) -> bytes:
    kept, skip = bytearray(), offset
    for chunk in chunks:
        if skip >= len(chunk):
            skip -= len(chunk)
            continue
        kept += chunk[skip : skip + limit - len(kept)]
        skip = 0
        if len(kept) >= limit:
            break
    return bytes(kept)


def _as_text(piece: bytes, *, last: bool) -> tuple[str | None, int]:
    """A piece as text, cut where a character ends, and how many bytes that is; None when it is no text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(piece, final=last)
    except UnicodeDecodeError:
        return None, len(piece)
    used = len(text.encode())
    if "\0" in text or (piece and not used):
        return None, len(piece)
    return text, used


add_tool(
    name="edit_file",
    title="Edit a file",
    description=(
        "Replaces an exact piece of text in a text file of the project, or makes a new file; the preview "
        "is a diff."
    ),
    arguments=EditFile,
    risk=Risk.write,
    run=edit,
    effects=Effects(reads=True, writes=True),
    dry_run=preview_edit,
    reconcile=reconciling(edited),
    estimate=lambda _context, arguments: Cost(bytes=len(arguments.new.encode())),
)
add_tool(
    name="read_artifact",
    title="Read a file",
    description="A piece of a file of the project, as text where it is text and as base64 where not.",
    arguments=ReadArtifact,
    risk=Risk.read,
    run=read,
    effects=Effects(reads=True),
    attempts=3,
    estimate=lambda _context, arguments: Cost(bytes=arguments.limit),
)
