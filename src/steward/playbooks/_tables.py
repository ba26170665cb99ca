"""The tables of the playbooks room."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)

from steward.store import (
    OUTLIVES_RUN,
    UNHELD,
    Json,
    Moment,
    ReportedJson,
    ReportedText,
    TypedJson,
    TypedText,
    id_column,
    metadata,
    optional,
    required,
    scope_columns,
)

playbooks = Table(
    "playbooks",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    # The id people chose; of a deleted playbook it is followed by # and its own id, so that it is free again.
    Column("slug", String(120), nullable=False),
    Column("name", TypedText(100), nullable=False),
    Column("folder", TypedText(200), nullable=False),
    # One on each line, so that a search looks through them.
    Column("tags", TypedText(500), nullable=False),
    Column("goal", TypedText(), nullable=False),
    Column("state", String(10), nullable=False),
    Column("head", Integer, nullable=False),
    Column("deployed", Integer),
    Column("owner", String(40), nullable=False),
    # Who may see it belongs to the playbook, not to a revision: going back must not share again.
    Column("allowed", Json, nullable=False),
    # What its triggers need to be taken back.
    Column("armed", Json, nullable=False),
    Column("created_by", String(40), nullable=False),
    *required(Moment, "created_at", "updated_at"),
    Column("deleted_at", Moment),
    # Counts every change, for ETags.
    Column("version", Integer, nullable=False),
    UniqueConstraint("project_id", "slug"),
    Index("ix_playbooks_project_id_name", "project_id", "name"),
)

revisions = Table(
    "playbook_revisions",
    metadata,
    *scope_columns(),
    Column("playbook_id", String(40), ForeignKey("playbooks.id"), nullable=False),
    Column("number", Integer, nullable=False),
    # SHA-256 of the text: the same content is the same revision.
    Column("hash", String(64), nullable=False),
    # YAML, because it keeps the order of what people wrote.
    Column("text", TypedText(), nullable=False),
    # The same as people wrote it, comments included; unset: as the text is.
    Column("source", TypedText()),
    # Where an editor draws the nodes: beside the text, because it changes nothing about what runs.
    Column("layout", TypedJson()),
    Column("message", TypedText(400), nullable=False),
    Column("author", String(40), nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("playbook_id", "number"),
)

deployments = Table(
    "playbook_deployments",
    metadata,
    *scope_columns(),
    Column("playbook_id", String(40), ForeignKey("playbooks.id"), nullable=False),
    *required(Integer, "number", "revision"),
    # How it came about: deploy, rollback, canary, shadow.
    Column("kind", String(20), nullable=False),
    # The deployment whose parts it has once more, as after a rollback.
    Column("of", Integer),
    # One hash over everything that is pinned.
    Column("hash", String(64), nullable=False),
    *required(Json, "pins", "checks"),
    Column("message", TypedText(400), nullable=False),
    Column("author", String(40), nullable=False),
    Column("created_at", Moment, nullable=False),
    # Runs that were started while this one was tried out on a share of them.
    Column("offered", Integer, nullable=False),
    PrimaryKeyConstraint("playbook_id", "number"),
)

shadows = Table(
    "playbook_shadows",
    metadata,
    *scope_columns(),
    # The last version of a playbook that ran beside the deployed one.
    Column("playbook_id", String(40), ForeignKey("playbooks.id"), nullable=False),
    *required(Integer, "deployment", "percent"),
    Column("spend", Boolean, nullable=False),
    Column("author", String(40), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("ended_at", Moment),
    PrimaryKeyConstraint("playbook_id"),
    info=UNHELD,
)

shadow_runs = Table(
    "playbook_shadow_runs",
    metadata,
    *scope_columns(),
    Column("live_id", String(40), nullable=False),
    Column("playbook_id", String(40), ForeignKey("playbooks.id"), nullable=False),
    Column("deployment", Integer, nullable=False),
    Column("shadow_id", String(40)),
    # left_out, waiting, running, compared, failed.
    Column("state", String(10), nullable=False),
    Column("equal", Boolean),
    Column("found", Json),
    # When the live run ended.
    Column("live_ended_at", Moment, nullable=False),
    PrimaryKeyConstraint("live_id", "deployment"),
    Index("ix_playbook_shadow_runs_playbook_id_state", "playbook_id", "deployment", "state"),
)

presence = Table(
    "playbook_presence",
    metadata,
    *scope_columns(),
    Column("playbook_id", String(40), ForeignKey("playbooks.id"), nullable=False),
    Column("user_id", String(40), nullable=False),
    # Whether they have changes that are not saved.
    Column("is_editing", Boolean, nullable=False),
    Column("seen_at", Moment, nullable=False),
    PrimaryKeyConstraint("playbook_id", "user_id"),
    info=UNHELD,
)

drafts = Table(
    "playbook_drafts",
    metadata,
    *scope_columns(),
    # The playbook, or `new` for a flow that was never saved.
    *required(String(40), "about", "user_id"),
    Column("text", TypedText(), nullable=False),
    Column("layout", TypedJson(), nullable=False),
    # Text, layout and version of the playbook from which it was changed.
    Column("base", TypedJson(), nullable=False),
    # Counts what was kept, so that one window does not replace what another one keeps.
    Column("version", Integer, nullable=False),
    Column("updated_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "about", "user_id"),
    info=UNHELD,
)

tests = Table(
    "playbook_tests",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("playbook_id", String(40), ForeignKey("playbooks.id"), nullable=False),
    Column("name", TypedText(200), nullable=False),
    Column("inputs", TypedJson(), nullable=False),
    # What stands in for effects, models and people.
    *required(TypedJson(), "rehearsal", "expected"),
    Column("created_by", String(40), nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("ix_playbook_tests_playbook_id", "playbook_id"),
)

subscriptions = Table(
    "trigger_subscriptions",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    # One for a trigger's name over all revisions of its playbook.
    *required(String(40), "playbook_id", "name", "type"),
    Column("revision", Integer, nullable=False),
    Column("settings", TypedJson(), nullable=False),
    # What it starts, pinned when the revision was deployed; its inputs are added for each event.
    Column("request", Json, nullable=False),
    Column("author", String(40), nullable=False),
    *required(Integer, "armed", "enabled"),
    # Counts the addresses it had: a new number makes the old address worthless.
    Column("address", Integer, nullable=False),
    Column("cursor", Json),
    Column("next_at", Moment, index=True),
    # The lease: one process looks for its events at a time, and one that lost it stores nothing.
    Column("epoch", BigInteger, nullable=False),
    Column("holder", String(80)),
    Column("lease_until", Moment),
    Column("failures", Integer, nullable=False),
    Column("failing_since", Moment),
    Column("failing_why", ReportedText(400)),
    *optional(Moment, "last_at", "silent_since"),
    Column("duplicates", BigInteger, nullable=False),
    *required(Moment, "created_at", "updated_at"),
    UniqueConstraint("playbook_id", "name"),
)

trigger_events = Table(
    "trigger_events",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("trigger_id", String(40), ForeignKey("trigger_subscriptions.id"), nullable=False),
    Column("state", String(10), nullable=False),
    Column("reason", ReportedText(400)),
    # SHA-256 of what makes it the same event as another one.
    Column("same", String(64)),
    Column("order_key", String(200)),
    # The event as runs see it, and inputs that Steward itself sets.
    Column("document", ReportedJson(), nullable=False),
    Column("inputs", Json),
    # Set where it was sent to the address of one revision.
    Column("revision", Integer),
    Column("replay_of", String(40)),
    Column("attempts", Integer, nullable=False),
    Column("run_id", String(40), info=OUTLIVES_RUN),
    *required(Moment, "received_at", "due_at"),
    *optional(Moment, "started_at", "ended_at"),
    Index("ix_trigger_events_trigger_id_state_due_at", "trigger_id", "state", "due_at"),
    Index("ix_trigger_events_trigger_id_same", "trigger_id", "same"),
    Index("ix_trigger_events_state_due_at", "state", "due_at"),
)
