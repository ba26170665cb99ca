"""Runs: the journal, the driver over it, replay, forks, schedules, and the workers that drive."""

from steward.runs.canonical import Json, canonical, digest
from steward.runs.driver import Program
from steward.runs.entries import Damage, Entry, Kind
from steward.runs.execution import UNCERTAIN, Effect, Execution, Found, Reconciled, Ticket
from steward.runs.model import (
    Cancelled,
    Parked,
    Paused,
    Retries,
    Run,
    RunRequest,
    Status,
    StepFailed,
    Suspension,
)
from steward.runs.schedules import Missed, Schedule
from steward.runs.service import Runs

__all__ = [
    "UNCERTAIN",
    "Cancelled",
    "Damage",
    "Effect",
    "Entry",
    "Execution",
    "Found",
    "Json",
    "Kind",
    "Missed",
    "Parked",
    "Paused",
    "Program",
    "Reconciled",
    "Retries",
    "Run",
    "RunRequest",
    "Runs",
    "Schedule",
    "Status",
    "StepFailed",
    "Suspension",
    "Ticket",
    "canonical",
    "digest",
]
