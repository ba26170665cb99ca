"""Connections to the world outside: HTTP that cannot be turned inwards, and mail."""

from steward.connections.addresses import Resolve, refusal
from steward.connections.hosts import HostPatterns
from steward.connections.http import Http, HttpAnswer, HttpLimits
from steward.connections.mail import Letter, Mailer, MailServer, Receipt
from steward.connections.webhooks import sign, signing_key, verify

__all__ = [
    "HostPatterns",
    "Http",
    "HttpAnswer",
    "HttpLimits",
    "Letter",
    "MailServer",
    "Mailer",
    "Receipt",
    "Resolve",
    "refusal",
    "sign",
    "signing_key",
    "verify",
]
