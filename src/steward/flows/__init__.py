"""Flows: the graph people draw, as a document; validated, compared, and run by one interpreter."""

from steward.flows._yaml import Lined
from steward.flows._yaml import dump as dump_document
from steward.flows._yaml import load_lined as load_document
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
    "Lined",
    "Node",
    "ToolSchema",
    "Valued",
    "diff",
    "differences",
    "dump_document",
    "dump_flow",
    "dump_yaml",
    "flow_program",
    "flow_schema",
    "load_document",
    "load_flow",
    "load_yaml",
    "pinned",
    "require_valid",
    "validate",
]
