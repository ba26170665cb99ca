"""What runs did, cost and took: spans, figures and forecasts, all of them projections of journals; and alerts about them.

No figure is the truth: facts are made from journals of ended runs and can be made again at any time. What is
watched never calls this room.
"""

from steward.observe.activity_summary import ActivitySummary
from steward.observe.agent_figures import AgentExplorer
from steward.observe.alert_messages import PAGE, Call, line_of, one_line, sample_call
from steward.observe.alert_rounds import AlertRounds, Bystanders
from steward.observe.alert_rules import AlertRule, amount, known_zone, sentence
from steward.observe.alert_verdicts import ALL, LEAST_BASELINE, Past
from steward.observe.alerts import OPEN, Alert, Alerts, KeptRule, State, View
from steward.observe.analysis import Analysis, Analyst, Finding
from steward.observe.audit_export import AuditExport, check_seal
from steward.observe.audit_lines import AuditFormat
from steward.observe.audit_streams import AuditStreams, sent_until
from steward.observe.budget_outlook import BudgetOutlook, ExpectedUse
from steward.observe.costs import CostExplorer, CostReport, Dimension
from steward.observe.counted_runs import Counted, UsedKind
from steward.observe.details import Detail, Detailed, Details, Part, Sums
from steward.observe.facts import NANO, facts_of, is_shared
from steward.observe.forecast import forecast_spend
from steward.observe.hourly import MESSAGES, Hourly, is_of_messages
from steward.observe.live_figures import LiveFigures, Look
from steward.observe.otlp_spans import JSON, PROTOBUF, answer_to, spans_of_request
from steward.observe.overview import Extent, Overview, OverviewFigures, Visible, shows
from steward.observe.period_sums import Ranked, Totals
from steward.observe.projector import Projector
from steward.observe.received_spans import ReceivedSpans
from steward.observe.rollups import Kept, Rollups
from steward.observe.run_outputs import RunOutputs
from steward.observe.span_content import DiffLine, SpanContents
from steward.observe.span_trees import SpanTrees
from steward.observe.spans import spans_of
from steward.observe.trace_tree import Trace, TraceFilter, TraceRow
from steward.observe.traces import Traces

__all__ = [
    "ALL",
    "JSON",
    "LEAST_BASELINE",
    "MESSAGES",
    "NANO",
    "OPEN",
    "PAGE",
    "PROTOBUF",
    "ActivitySummary",
    "AgentExplorer",
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
    "Call",
    "CostExplorer",
    "CostReport",
    "Counted",
    "Detail",
    "Detailed",
    "Details",
    "DiffLine",
    "Dimension",
    "ExpectedUse",
    "Extent",
    "Finding",
    "Hourly",
    "Kept",
    "KeptRule",
    "LiveFigures",
    "Look",
    "Overview",
    "OverviewFigures",
    "Part",
    "Past",
    "Projector",
    "Ranked",
    "ReceivedSpans",
    "Rollups",
    "RunOutputs",
    "SpanContents",
    "SpanTrees",
    "State",
    "Sums",
    "Totals",
    "Trace",
    "TraceFilter",
    "TraceRow",
    "Traces",
    "UsedKind",
    "View",
    "Visible",
    "amount",
    "answer_to",
    "check_seal",
    "facts_of",
    "forecast_spend",
    "is_of_messages",
    "is_shared",
    "known_zone",
    "line_of",
    "one_line",
    "sample_call",
    "sent_until",
    "sentence",
    "shows",
    "spans_of",
    "spans_of_request",
]
