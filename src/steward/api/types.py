"""Types of path and body values that several routes share."""

from typing import Annotated, Literal, cast

from fastapi import Path, Query
from pydantic import AfterValidator, StringConstraints

from steward.identity import Role
from steward.versions import checked_dataset_name

RoleName = Literal["runner", "viewer", "operator", "editor", "admin", "owner"]


def role_name(role: Role) -> RoleName:
    """The role as answers name it; the two lists are compared by a test of the access walk."""
    return cast(RoleName, role.name)


_BODY = "[0-9a-hjkmnp-tv-z]{26}"


PROJECT_ID = f"^prj_{_BODY}$"
RUN_ID = f"^run_{_BODY}$"
THREAD_ID = f"^thr_{_BODY}$"
UPLOAD_ID = f"^upload_{_BODY}$"


def _id(prefix: str, example: str) -> object:
    return Path(pattern=f"^{prefix}_{_BODY}$", examples=[f"{prefix}_{example}"])


_EXAMPLE = "01kdgq3v0z8r5m2x7c4b9n6t1w"

SessionId = Annotated[str, _id("ses", _EXAMPLE)]
PasskeyId = Annotated[str, _id("psk", _EXAMPLE)]
UserId = Annotated[str, _id("usr", _EXAMPLE)]
TokenId = Annotated[str, _id("tok", _EXAMPLE)]
InvitationId = Annotated[str, _id("inv", _EXAMPLE)]
UploadId = Annotated[str, _id("upload", _EXAMPLE)]
ThreadId = Annotated[str, _id("thr", _EXAMPLE)]
RunId = Annotated[str, _id("run", _EXAMPLE)]
ApprovalId = Annotated[str, _id("apr", _EXAMPLE)]
ScheduleId = Annotated[str, _id("sch", _EXAMPLE)]
LinkId = Annotated[str, _id("lnk", _EXAMPLE)]
TriggerId = Annotated[str, _id("trg", _EXAMPLE)]
AlertId = Annotated[str, _id("ale", _EXAMPLE)]
BudgetId = Annotated[str, _id("bud", _EXAMPLE)]
RuleId = Annotated[str, _id("rul", _EXAMPLE)]
EventId = Annotated[str, _id("tev", _EXAMPLE)]
ConnectionId = Annotated[str, _id("con", _EXAMPLE)]
CommitId = Annotated[str, _id("cmt", _EXAMPLE)]
SecretName = Annotated[
    str, Path(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,99}$", examples=["warehouse_password"])
]

# No slash, so that a dataset has an address of its own; no control characters.
_DATASET = r"^[^\x00-\x1f\x7f/\\\\]{1,200}$"
DatasetName = Annotated[str, Path(pattern=_DATASET, examples=["crm_customers"])]
NewDatasetName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=180, pattern=_DATASET),
    AfterValidator(checked_dataset_name),
]
_BRANCH = r"^[^\x00-\x1f\x7f]+$"
BranchName = Annotated[str, Query(min_length=1, max_length=100, pattern=_BRANCH)]
# Names of branches may contain slashes; the route takes the rest of the address.
BranchPath = Annotated[
    str, Path(min_length=1, max_length=100, pattern=_BRANCH, examples=["trial/customers"])
]
Reference = Annotated[
    str,
    Query(
        min_length=1,
        max_length=100,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="A branch, a snapshot or a commit id.",
    ),
]
VersionId = Annotated[str, Query(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_]+$")]
