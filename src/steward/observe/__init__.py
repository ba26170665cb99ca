"""What runs did, cost and took: spans, figures and forecasts, all of them projections of journals; and alerts about them.

No figure is the truth: facts are made from journals of ended runs and can be made again at any time. What is
watched never calls this room.
"""

from steward.observe.activity_summary import ActivitySummary
from steward.observe.agent_figures import AgentExplorer, AgentFigures
from steward.observe.alert_rounds import AlertRounds, Bystanders
from steward.observe.alert_rules import AlertRule
from steward.observe.alerts import Alert, Alerts, KeptRule, View
from steward.observe.analysis import Analysis, Analyst, Finding
from steward.observe.audit_export import AuditExport, SealCheck, check_seal
from steward.observe.audit_lines import AuditFormat
from steward.observe.audit_streams import AuditStreams
from steward.observe.budget_outlook import BudgetOutlook, ExpectedUse
from steward.observe.costs import CostExplorer, CostReport, Dimension
from steward.observe.details import Detail, Detailed, Details
from steward.observe.facts import Fact, facts_of
from steward.observe.forecast import Forecast, forecast_spend
from steward.observe.hourly import Hourly
from steward.observe.live_figures import LiveFigures
from steward.observe.outages import Outage
from steward.observe.overview import Overview, OverviewFigures, Period
from steward.observe.projector import Projector
from steward.observe.received_spans import ReceivedSpans
from steward.observe.rollups import Kept, Rollups
from steward.observe.span_content import SpanContents
from steward.observe.span_trees import SpanTrees
from steward.observe.spans import spans_of
from steward.observe.trace_tree import Trace, TraceFilter, TraceRow
from steward.observe.traces import Traces

__all__ = [
    "ActivitySummary",
    "AgentExplorer",
    "AgentFigures",
    "Alert",
    "AlertRounds",
    "AlertRule",
    "Alerts",
    "Analysis",
    "Analyst",
    "AuditExport",
    "AuditFormat",
    "AuditStreams",
    "BudgetOutlook",
    "Bystanders",
    "CostExplorer",
    "CostReport",
    "Detail",
    "Detailed",
    "Details",
    "Dimension",
    "ExpectedUse",
    "Fact",
    "Finding",
    "Forecast",
    "Hourly",
    "Kept",
    "KeptRule",
    "LiveFigures",
    "Outage",
    "Overview",
    "OverviewFigures",
    "Period",
    "Projector",
    "ReceivedSpans",
    "Rollups",
    "SealCheck",
    "SpanContents",
    "SpanTrees",
    "Trace",
    "TraceFilter",
    "TraceRow",
    "Traces",
    "View",
    "check_seal",
    "facts_of",
    "forecast_spend",
    "spans_of",
]
