"""Flows: the graph people draw, as a document; validated, compared, and run by one interpreter."""

from steward.flows._graph import RunAgent
from steward.flows.changes import diff, differences
from steward.flows.client_sessions import (
    CALL,
    CALL_PLAYBOOK,
    REDO,
    SESSION,
    UNDO,
    Client,
    ClientSessions,
    Outcome,
)
from steward.flows.code_check import Code, CodeChecks, Language
from steward.flows.direct_calls import Called, DirectCall, DirectCalls, NotDoneYet
from steward.flows.drawing import expression_rules, node_types
from steward.flows.expressions import (
    ExpressionError,
    Path,
    escaped,
    expression,
    expressions_in,
    filled,
)
from steward.flows.fast_path import Message, Question, message_of, query_request, question_in
from steward.flows.launch import (
    DEFAULT_BUDGET,
    FLOW_PROGRAM,
    AgentTools,
    Launcher,
    Start,
    tools_in,
)
from steward.flows.model import (
    Flow,
    build_flow_types,
    dump_flow,
    dump_yaml,
    flow_schema,
    load_flow,
    load_yaml,
    pinned,
)
from steward.flows.node import NODES, Body, Graph, Node, Reads, Valued
from steward.flows.node_states import calls_at, standings
from steward.flows.nodes.agent import AgentNode
from steward.flows.nodes.code import CodeNode
from steward.flows.nodes.loop import LoopNode
from steward.flows.nodes.map import MapNode
from steward.flows.nodes.subflow import SubflowNode
from steward.flows.nodes.tool import ToolNode
from steward.flows.runner import FlowRunner, NodeOutput
from steward.flows.trial import agent_trial
from steward.flows.undo_calls import UndoCalls
from steward.flows.validate import ToolSchema, validate

__all__ = [
    "CALL",
    "CALL_PLAYBOOK",
    "DEFAULT_BUDGET",
    "FLOW_PROGRAM",
    "NODES",
    "REDO",
    "SESSION",
    "UNDO",
    "AgentNode",
    "AgentTools",
    "Body",
    "Called",
    "Client",
    "ClientSessions",
    "Code",
    "CodeChecks",
    "CodeNode",
    "DirectCall",
    "DirectCalls",
    "ExpressionError",
    "Flow",
    "FlowRunner",
    "Graph",
    "Language",
    "Launcher",
    "LoopNode",
    "MapNode",
    "Message",
    "Node",
    "NodeOutput",
    "NotDoneYet",
    "Outcome",
    "Path",
    "Question",
    "Reads",
    "RunAgent",
    "Start",
    "SubflowNode",
    "ToolNode",
    "ToolSchema",
    "UndoCalls",
    "Valued",
    "agent_trial",
    "build_flow_types",
    "calls_at",
    "diff",
    "differences",
    "dump_flow",
    "dump_yaml",
    "escaped",
    "expression",
    "expression_rules",
    "expressions_in",
    "filled",
    "flow_schema",
    "load_flow",
    "load_yaml",
    "message_of",
    "node_types",
    "pinned",
    "query_request",
    "question_in",
    "standings",
    "tools_in",
    "validate",
]
