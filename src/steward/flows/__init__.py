"""Flows: the graph people draw, as a document; validated, compared, and run by one interpreter."""

from steward.flows.changes import diff, differences
from steward.flows.expressions import ExpressionError
from steward.flows.interpret import flow_program
from steward.flows.model import (
    Flow,
    dump_flow,
    dump_yaml,
    flow_schema,
    load_flow,
    load_yaml,
    pinned,
)
from steward.flows.node import NODES, Node, Valued
from steward.flows.validate import ToolSchema, require_valid, validate

__all__ = [
    "NODES",
    "ExpressionError",
    "Flow",
    "Node",
    "ToolSchema",
    "Valued",
    "diff",
    "differences",
    "dump_flow",
    "dump_yaml",
    "flow_program",
    "flow_schema",
    "load_flow",
    "load_yaml",
    "pinned",
    "require_valid",
    "validate",
]
