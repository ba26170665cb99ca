"""Finds what is configured on this machine already, and proposes it; nothing found is used before a person accepts."""

from steward.connections.discovery.desk import Discovery, told_wrong
from steward.connections.discovery.proposal import Proposal

__all__ = [
    "Discovery",
    "Proposal",
    "told_wrong",
]
