"""Files that a flow promises: whether a run left them behind, and no larger than they may be."""

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from pydantic import Field

from steward.flows.node import Document


class ArtifactSpec(Document):
    path: str = Field(
        min_length=1,
        max_length=300,
        description="Path among the run's files; * stands for any part of a name.",
    )
    required: bool = True
    max_bytes: int | None = Field(None, ge=1, le=10**15)


def broken_promises(
    promised: Iterable[ArtifactSpec], made: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    """One sentence for each promise that the files made do not keep."""
    files = {str(each["name"]): int(each["size"]) for each in made}
    for spec in promised:
        fitting = [name for name in files if fnmatchcase(name, spec.path)]
        if not fitting and spec.required:
            yield f"the required file {spec.path} was not made"
        for name in fitting:
            if spec.max_bytes is not None and files[name] > spec.max_bytes:
                yield f"the file {name} has {files[name]:,} bytes, and {spec.max_bytes:,} are allowed"
