"""Runs: the journal, the driver over it, replay, forks, schedules, and the workers that drive."""

from typing import TYPE_CHECKING

from steward.core.lazy_doors import lazily
from steward.runs._tables import journal as journal_table
from steward.runs._tables import runs as runs_table
from steward.runs.canonical import Json, canonical, digest, plain
from steward.runs.capsules import unpack
from steward.runs.doorbell import Doorbell
from steward.runs.driver import Program
from steward.runs.entries import Entry, blob_references, is_reference
from steward.runs.entry_types import EntryType, Kind
from steward.runs.execution import UNCERTAIN, Effect, Execution, Found, OpenWait, Reconciled, Ticket
from steward.runs.forks import prefix
from steward.runs.heads import HeadLog
from steward.runs.journal import waits_opened
from steward.runs.model import (
    TESTS,
    Cancelled,
    Parked,
    Retries,
    Run,
    RunRequest,
    Status,
    StepFailed,
    Suspension,
    flow_name,
    is_of_tests,
)
from steward.runs.offline import payloads_in, verify_backup, verify_capsule
from steward.runs.presence import Presence, WorkerSeen
from steward.runs.projection import (
    Call,
    MadePlan,
    Payload,
    Projection,
    Spent,
    calls_of,
    is_within,
    plan_prefix,
    project,
)
from steward.runs.records import New, is_over
from steward.runs.schedules import (
    MOST_MISSED,
    Missed,
    Schedule,
    chosen_moments,
    due_moments,
    following_moments,
    next_moment,
)
from steward.runs.service import Runs
from steward.runs.verification import KeptHead, ProjectVerification, Signing, Verification
from steward.runs.worker import QUEUES, WorkerThread

if TYPE_CHECKING:
    from steward.runs.nats import NatsDoorbell, prove

__all__ = [
    "MOST_MISSED",
    "QUEUES",
    "TESTS",
    "UNCERTAIN",
    "Call",
    "Cancelled",
    "Doorbell",
    "Effect",
    "Entry",
    "EntryType",
    "Execution",
    "Found",
    "HeadLog",
    "Json",
    "KeptHead",
    "Kind",
    "MadePlan",
    "Missed",
    "NatsDoorbell",
    "New",
    "OpenWait",
    "Parked",
    "Payload",
    "Presence",
    "Program",
    "ProjectVerification",
    "Projection",
    "Reconciled",
    "Retries",
    "Run",
    "RunRequest",
    "Runs",
    "Schedule",
    "Signing",
    "Spent",
    "Status",
    "StepFailed",
    "Suspension",
    "Ticket",
    "Verification",
    "WorkerSeen",
    "WorkerThread",
    "blob_references",
    "calls_of",
    "canonical",
    "chosen_moments",
    "digest",
    "due_moments",
    "flow_name",
    "following_moments",
    "is_of_tests",
    "is_over",
    "is_reference",
    "is_within",
    "journal_table",
    "next_moment",
    "payloads_in",
    "plain",
    "plan_prefix",
    "prefix",
    "project",
    "prove",
    "runs_table",
    "unpack",
    "verify_backup",
    "verify_capsule",
    "waits_opened",
]

__getattr__ = lazily(__name__)
