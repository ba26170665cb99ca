"""The built-in tools, one file each: arguments, risk, dry run, run, and how to take it back.

A tool does nothing by itself: the broker calls it, after everything that has to happen before a call.
"""

from functools import cache
from typing import Any

from steward.broker import TOOLS, Tool
from steward.core import Registry
from steward.tools._changes import change_arguments
from steward.tools._file_options import FileOptions
from steward.tools._installation import (
    BLOBS,
    BUS,
    CLOCK,
    CONNECTIONS,
    DEFINITIONS,
    EVENTS,
    FOLDERS,
    HTTP,
    KEEPS_MACHINE,
    LINKS,
    LOCAL_MODELS,
    MAIL,
    NAME_OF,
    NETWORK,
    ROLE_OF,
    RUNS,
    SANDBOX,
    SECRETS,
    TAKING_BACK,
    UNDOING,
    WORKBENCH,
)
from steward.tools._mcp import McpTools, accept_tools, confirm_roles, server_tool_name
from steward.tools._notes import NOTES
from steward.tools._scripts import call_of, dataset_fields, sandboxed_tool
from steward.tools._services import OWN_ROLES, ServiceTools, arguments_schema, operation_tool_name
from steward.tools.apply_project import PROJECT_CODE
from steward.tools.call_playbook import PLAYBOOK_CALLS
from steward.tools.change_agent import AGENTS
from steward.tools.change_definitions import WORK_ON_DATA
from steward.tools.draft_playbook import PLAYBOOK_DRAFTS
from steward.tools.links import ShareFile, shared_file
from steward.tools.load_from_server import KEPT_ADDRESSES, keep_address, server_name
from steward.tools.propose_rules import with_threshold
from steward.tools.summarise_activity import ACTIVITY_SUMMARY

__all__ = [
    "ACTIVITY_SUMMARY",
    "AGENTS",
    "BLOBS",
    "BUS",
    "CLOCK",
    "CONNECTIONS",
    "DEFINITIONS",
    "EVENTS",
    "FOLDERS",
    "HTTP",
    "KEEPS_MACHINE",
    "KEPT_ADDRESSES",
    "LINKS",
    "LOCAL_MODELS",
    "MAIL",
    "NAME_OF",
    "NETWORK",
    "NOTES",
    "OWN_ROLES",
    "PLAYBOOK_CALLS",
    "PLAYBOOK_DRAFTS",
    "PROJECT_CODE",
    "ROLE_OF",
    "RUNS",
    "SANDBOX",
    "SECRETS",
    "TAKING_BACK",
    "UNDOING",
    "WORKBENCH",
    "WORK_ON_DATA",
    "FileOptions",
    "McpTools",
    "ServiceTools",
    "ShareFile",
    "accept_tools",
    "arguments_schema",
    "call_of",
    "change_arguments",
    "confirm_roles",
    "dataset_fields",
    "keep_address",
    "load_tools",
    "operation_tool_name",
    "sandboxed_tool",
    "server_name",
    "server_tool_name",
    "shared_file",
    "with_threshold",
]


@cache
def load_tools() -> Registry[Tool[Any]]:
    """All tools: the built-in ones and those of installed packages."""
    TOOLS.load_package("steward.tools")
    TOOLS.load_entry_points()
    return TOOLS
