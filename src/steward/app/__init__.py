"""Composition root: reads settings, picks backends, wires the rooms; the only room that knows all others."""

from steward.app.alerting import alert_view, check_channels
from steward.app.budgeting import BudgetDesk, SeenBudget
from steward.app.compose import Steward, open_steward
from steward.app.dashboards import live_figures
from steward.app.diagnose import diagnose
from steward.app.evaluation_sites import Sites
from steward.app.failing_triggers import FailingTrigger, failing_triggers
from steward.app.figure_names import (
    agent_title,
    cost_report,
    figure_names,
    flow_titles,
    people_names,
)
from steward.app.first_start import prepare_first_start
from steward.app.foundation import key_file, open_blobs, open_database
from steward.app.search import Kind, search_project
from steward.app.shutdown import Shutdown, end_children

__all__ = [
    "BudgetDesk",
    "FailingTrigger",
    "Kind",
    "SeenBudget",
    "Shutdown",
    "Sites",
    "Steward",
    "agent_title",
    "alert_view",
    "check_channels",
    "cost_report",
    "diagnose",
    "end_children",
    "failing_triggers",
    "figure_names",
    "flow_titles",
    "key_file",
    "live_figures",
    "open_blobs",
    "open_database",
    "open_steward",
    "people_names",
    "prepare_first_start",
    "search_project",
]
