"""Models on this machine: listed weights, fetched and verified, run in a server that Steward starts and stops."""

from steward.models.local.fetching import Fetched, fetch, found_here
from steward.models.local.ollama import find_ollama, pull_from_ollama
from steward.models.local.server import LocalServers, find_engine
from steward.models.local.weights import Kept, Shelf, Weights, listed_weights

__all__ = [
    "Fetched",
    "Kept",
    "LocalServers",
    "Shelf",
    "Weights",
    "fetch",
    "find_engine",
    "find_ollama",
    "found_here",
    "listed_weights",
    "pull_from_ollama",
]
