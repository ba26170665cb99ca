"""Evaluation: suites of cases that say what planning, tools, answers, undo, policy and defence must come to."""

from steward.evaluation.kept import KeptReport, Reports
from steward.evaluation.report import CaseResult, Report, as_html, as_markdown, read_report
from steward.evaluation.report_comparison import Comparison, compare
from steward.evaluation.running import evaluate
from steward.evaluation.script import Cast
from steward.evaluation.site import Site
from steward.evaluation.suite import Suite, load_suites, shipped, suite_schema

__all__ = [
    "CaseResult",
    "Cast",
    "Comparison",
    "KeptReport",
    "Report",
    "Reports",
    "Site",
    "Suite",
    "as_html",
    "as_markdown",
    "compare",
    "evaluate",
    "load_suites",
    "read_report",
    "shipped",
    "suite_schema",
]
