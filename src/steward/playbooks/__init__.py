"""Playbooks: documents of work that people author, share, deploy and run; blueprints to start from."""

from steward.playbooks.blueprint import Blueprint, Blueprints, Broken, Sample
from steward.playbooks.cards import Card, Revision, State
from steward.playbooks.compiling import TELLING
from steward.playbooks.documents import as_json, as_yaml, read
from steward.playbooks.drafts import Draft, Drawing
from steward.playbooks.exchange import Change, Imported
from steward.playbooks.model import Allowed, Playbook, playbook_schema
from steward.playbooks.people import Sight, subject_of
from steward.playbooks.service import Playbooks
from steward.playbooks.subscriptions import Subscription
from steward.playbooks.trigger import TRIGGERS, Arrival, Looking, Source, Taken, Trigger
from steward.playbooks.trigger_desk import Action, Receipt, Shown, TriggerDesk
from steward.playbooks.trigger_events import EventState, Stored, TriggerEvent

__all__ = [
    "TELLING",
    "TRIGGERS",
    "Action",
    "Allowed",
    "Arrival",
    "Blueprint",
    "Blueprints",
    "Broken",
    "Card",
    "Change",
    "Draft",
    "Drawing",
    "EventState",
    "Imported",
    "Looking",
    "Playbook",
    "Playbooks",
    "Receipt",
    "Revision",
    "Sample",
    "Shown",
    "Sight",
    "Source",
    "State",
    "Stored",
    "Subscription",
    "Taken",
    "Trigger",
    "TriggerDesk",
    "TriggerEvent",
    "as_json",
    "as_yaml",
    "playbook_schema",
    "read",
    "subject_of",
]
