"""Playbooks: documents of work that people author, share, deploy and run; blueprints to start from."""

from steward.playbooks.blueprint import Blueprint, Bring
from steward.playbooks.cards import Card, Revision, State
from steward.playbooks.comparison import Comparison
from steward.playbooks.compiling import TELLING, compiled
from steward.playbooks.deployments import Deployment
from steward.playbooks.documents import (
    as_json,
    as_yaml,
    decoded,
    file_text,
    lined,
    read,
    refusal,
    source_of,
    without_people,
)
from steward.playbooks.drafts import Draft, Drawing
from steward.playbooks.exchange import (
    MOST_FILES,
    Change,
    Imported,
    SourceFile,
    read_bytes,
    read_source,
    write_private,
)
from steward.playbooks.layout_files import LARGEST_LAYOUT, layout_name, layout_text, read_layout
from steward.playbooks.model import Allowed, Playbook, build_playbook_type, playbook_schema
from steward.playbooks.packing import LARGEST_ZIP, is_zip, packed, unpacked
from steward.playbooks.people import (
    ALERTS_ABOUT_ALL,
    ANALYSES,
    SUBJECT,
    alerts_about,
    analyses_about,
    subject_of,
)
from steward.playbooks.pins import Pin, PinSource
from steward.playbooks.prices import AgentPast, FindAgentPast
from steward.playbooks.rehearsals import Wish
from steward.playbooks.service import Playbooks, Surroundings
from steward.playbooks.shadows import ShadowComparison
from steward.playbooks.sharing import Sharing
from steward.playbooks.subscriptions import Subscription
from steward.playbooks.trigger import (
    EVENT,
    EVENTS,
    MOMENT,
    TRIGGERS,
    Arrival,
    Looking,
    Source,
    Taken,
    Trigger,
)
from steward.playbooks.trigger_desk import Action, Shown, TriggerDesk
from steward.playbooks.trigger_events import EventState, TriggerEvent
from steward.playbooks.triggers.chat_message import THREADS
from steward.playbooks.triggers.run_ended import WATCHED_PLAYBOOKS

__all__ = [
    "ALERTS_ABOUT_ALL",
    "ANALYSES",
    "EVENT",
    "EVENTS",
    "LARGEST_LAYOUT",
    "LARGEST_ZIP",
    "MOMENT",
    "MOST_FILES",
    "SUBJECT",
    "TELLING",
    "THREADS",
    "TRIGGERS",
    "WATCHED_PLAYBOOKS",
    "Action",
    "AgentPast",
    "Allowed",
    "Arrival",
    "Blueprint",
    "Bring",
    "Card",
    "Change",
    "Comparison",
    "Deployment",
    "Draft",
    "Drawing",
    "EventState",
    "FindAgentPast",
    "Imported",
    "Looking",
    "Pin",
    "PinSource",
    "Playbook",
    "Playbooks",
    "Revision",
    "ShadowComparison",
    "Sharing",
    "Shown",
    "Source",
    "SourceFile",
    "State",
    "Subscription",
    "Surroundings",
    "Taken",
    "Trigger",
    "TriggerDesk",
    "TriggerEvent",
    "Wish",
    "alerts_about",
    "analyses_about",
    "as_json",
    "as_yaml",
    "build_playbook_type",
    "compiled",
    "decoded",
    "file_text",
    "is_zip",
    "layout_name",
    "layout_text",
    "lined",
    "packed",
    "playbook_schema",
    "read",
    "read_bytes",
    "read_layout",
    "read_source",
    "refusal",
    "source_of",
    "subject_of",
    "unpacked",
    "without_people",
    "write_private",
]
