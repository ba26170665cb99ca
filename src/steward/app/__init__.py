"""Composition root: reads settings, picks backends, wires the rooms; the only room that knows all others."""

from steward.app.compose import Steward, key_file, open_blobs, open_database, open_steward
from steward.app.diagnose import diagnose
from steward.app.findings import Finding
from steward.app.first_start import FirstStart, prepare_first_start
from steward.app.stopping import Stopping, end_children

__all__ = [
    "Finding",
    "FirstStart",
    "Steward",
    "Stopping",
    "diagnose",
    "end_children",
    "key_file",
    "open_blobs",
    "open_database",
    "open_steward",
    "prepare_first_start",
]
