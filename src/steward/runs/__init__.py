"""Runs: the journal, the driver over it, replay, forks, schedules, and the workers that drive."""

from steward.runs._rows import Scrub
from steward.runs.canonical import Json, canonical, digest
from steward.runs.driver import Program
from steward.runs.entries import Entry
from steward.runs.entry_types import EntryType, Kind
from steward.runs.execution import UNCERTAIN, Effect, Execution, Found, Reconciled, Ticket
from steward.runs.heads import HeadLog
from steward.runs.model import (
    TESTS,
    Cancelled,
    Parked,
    Paused,
    Retries,
    Run,
    RunRequest,
    Status,
    StepFailed,
    Suspension,
    flow_name,
    is_of_tests,
)
from steward.runs.presence import Presence, WorkerSeen
from steward.runs.schedules import Missed, Schedule
from steward.runs.service import Runs
from steward.runs.verification import Fault, KeptHead, ProjectVerification, Signing, Verification
from steward.runs.worker import QUEUES

__all__ = [
    "QUEUES",
    "TESTS",
    "UNCERTAIN",
    "Cancelled",
    "Effect",
    "Entry",
    "EntryType",
    "Execution",
    "Fault",
    "Found",
    "HeadLog",
    "Json",
    "KeptHead",
    "Kind",
    "Missed",
    "Parked",
    "Paused",
    "Presence",
    "Program",
    "ProjectVerification",
    "Reconciled",
    "Retries",
    "Run",
    "RunRequest",
    "Runs",
    "Schedule",
    "Scrub",
    "Signing",
    "Status",
    "StepFailed",
    "Suspension",
    "Ticket",
    "Verification",
    "WorkerSeen",
    "canonical",
    "digest",
    "flow_name",
    "is_of_tests",
]
