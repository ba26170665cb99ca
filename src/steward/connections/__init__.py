"""Connections to the world outside: documents that name them, kinds, checks; HTTP that cannot be turned inwards, mail."""

from steward.connections.addresses import Resolve, refusal
from steward.connections.connector import (
    CONNECTORS,
    Connector,
    ConnectorSettings,
    DatabasePlace,
    SecretField,
    Surroundings,
    load_connectors,
)
from steward.connections.desk import Desk
from steward.connections.documents import Connection, Draft
from steward.connections.folders import Folders
from steward.connections.health import Check, Opened
from steward.connections.hosts import HostPatterns
from steward.connections.http import Http, HttpAnswer, HttpLimits
from steward.connections.keepers import Keepers
from steward.connections.mail import Letter, Mailer, MailServer, Receipt
from steward.connections.syslog import Syslog, SyslogMessage, SyslogServer
from steward.connections.webhooks import sign, signing_key, verify

__all__ = [
    "CONNECTORS",
    "Check",
    "Connection",
    "Connector",
    "ConnectorSettings",
    "DatabasePlace",
    "Desk",
    "Draft",
    "Folders",
    "HostPatterns",
    "Http",
    "HttpAnswer",
    "HttpLimits",
    "Keepers",
    "Letter",
    "MailServer",
    "Mailer",
    "Opened",
    "Receipt",
    "Resolve",
    "SecretField",
    "Surroundings",
    "Syslog",
    "SyslogMessage",
    "SyslogServer",
    "load_connectors",
    "refusal",
    "sign",
    "signing_key",
    "verify",
]
