"""Playbooks: documents of work that people author, share, deploy and run; blueprints to start from."""

from steward.playbooks.blueprint import Blueprint, Blueprints, Broken, Sample
from steward.playbooks.cards import Card, Revision, State
from steward.playbooks.compiling import TELLING
from steward.playbooks.documents import as_json, as_yaml, read
from steward.playbooks.exchange import Change, Imported
from steward.playbooks.model import Allowed, Playbook, playbook_schema
from steward.playbooks.people import Sight, subject_of
from steward.playbooks.service import Playbooks
from steward.playbooks.trigger import TRIGGERS, Armed, Arming, Trigger

__all__ = [
    "TELLING",
    "TRIGGERS",
    "Allowed",
    "Armed",
    "Arming",
    "Blueprint",
    "Blueprints",
    "Broken",
    "Card",
    "Change",
    "Imported",
    "Playbook",
    "Playbooks",
    "Revision",
    "Sample",
    "Sight",
    "State",
    "Trigger",
    "as_json",
    "as_yaml",
    "playbook_schema",
    "read",
    "subject_of",
]
