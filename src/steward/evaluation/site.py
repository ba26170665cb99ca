"""The installation in which a suite is played: made for it, with sample data, and thrown away afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass

from steward.agents import Threads
from steward.broker import ApprovalDecisions, Approvals, PolicyTrials, Rulebook, Toolbox
from steward.core import MovableClock
from steward.evaluation.script import Cast
from steward.flows import Launcher, UndoCalls
from steward.identity import Access
from steward.runs import Runs
from steward.workbench import Workbench


@dataclass(frozen=True)
class Site:
    """One attribute per thing that cases work with."""

    access: Access
    """The owner's, who speaks in every case that names nobody else."""
    people: Mapping[str, Access]
    """Somebody of each role, by its name."""
    clock: MovableClock
    cast: Cast
    runs: Runs
    threads: Threads
    workbench: Workbench
    tools: Toolbox
    launcher: Launcher
    approvals: Approvals
    deciding: ApprovalDecisions
    judging: PolicyTrials
    rulebook: Rulebook
    undoing: UndoCalls
    customers: int
    """How many customers the samples were drawn for; 0: there are none."""
