"""The tables of the observe room: figures of ended runs, which can be rebuilt, and alerts with their rules."""

from typing import Any

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
    Text,
)

from steward.store import (
    UNHELD,
    Json,
    Moment,
    ReportedJson,
    ReportedText,
    TypedJson,
    id_column,
    metadata,
    required,
    scope_columns,
)


def _about() -> tuple[Column[Any], ...]:
    """What figures are kept by."""
    return (
        # `run`, `model`, `tool` or `agent`.
        Column("kind", String(10), nullable=False),
        # The status of a run; the name of a model, a tool or an agent.
        Column("name", String(200), nullable=False),
        # The agent for whom a model was asked or a tool was called; empty for none.
        Column("agent", String(200), nullable=False),
        # How it failed; empty where it did not.
        Column("code", String(80), nullable=False),
        # The connection that a tool belongs to; empty for none.
        Column("connector", String(200), nullable=False),
        # What the run belongs to, such as a playbook, or the program that drove it.
        Column("flow", String(200), nullable=False),
        # Which revision of the playbook; 0 for none.
        Column("revision", Integer, nullable=False),
        # Whether nothing started the run but a person or a trigger.
        Column("is_root", Boolean, nullable=False),
    )


def _sums() -> tuple[Column[Any], ...]:
    return (
        *required(Integer, "times", "errors"),
        # Calls that changed something and can be undone.
        Column("changes", Integer, nullable=False),
        *required(BigInteger, "input_tokens", "output_tokens"),
        # Billionths of a dollar, as budgets count: whole numbers sum alike on every database.
        *required(BigInteger, "nano_usd", "milliseconds"),
        # Steps of agents that were held against their plan, and those of them that kept to it.
        Column("judged", Integer, nullable=False, default=0, server_default="0"),
        Column("adhered", Integer, nullable=False, default=0, server_default="0"),
    )


facts = Table(
    "observed_facts",
    metadata,
    *scope_columns(),
    Column("run_id", String(40), ForeignKey("runs.id"), nullable=False),
    # Whole hours since 1970, UTC.
    Column("hour", Integer, nullable=False),
    *_about(),
    Column("person", String(40), nullable=False),
    *_sums(),
    PrimaryKeyConstraint("run_id", "hour", "kind", "name", "agent", "code"),
    Index("ix_observed_facts_project_id_hour", "project_id", "hour"),
    info=UNHELD,
)

abouts = Table(
    "observed_abouts",
    metadata,
    *required(String(40), "org_id", "project_id"),
    # A digest of the rest: the same everywhere, and never changed.
    Column("about", BigInteger, autoincrement=False, nullable=False),
    *_about(),
    PrimaryKeyConstraint("project_id", "about"),
    info=UNHELD,
)

rollups = Table(
    "observed_rollups",
    metadata,
    *required(String(40), "org_id", "project_id"),
    # How many minutes each covers: 1, 60 or 1,440; and which one since 1970 it is, UTC.
    *required(Integer, "grain", "at"),
    Column("about", BigInteger, nullable=False),
    *_sums(),
    # The latest run that failed; empty for none. Ids are ordered by time.
    Column("last_failed", String(40), nullable=False),
    PrimaryKeyConstraint("project_id", "grain", "at", "about"),
    # What belongs to one time lies together on disk.
    sqlite_with_rowid=False,
    info=UNHELD,
)

people = Table(
    "observed_people",
    metadata,
    *required(String(40), "org_id", "project_id"),
    # Whole days since 1970, UTC.
    Column("at", Integer, nullable=False),
    Column("person", String(40), nullable=False),
    Column("flow", String(200), nullable=False),
    *_sums(),
    # Apart from the rollups, which would be many times as long with everybody in them.
    PrimaryKeyConstraint("project_id", "at", "person", "flow"),
    sqlite_with_rowid=False,
    info=UNHELD,
)

ended_hours = Table(
    "observed_ended_hours",
    metadata,
    *required(String(40), "org_id", "project_id"),
    # Whole hours since 1970, UTC: when runs ended. Everything that they did counts there.
    Column("at", Integer, nullable=False),
    Column("flow", String(200), nullable=False),
    # Runs that a person or a trigger started, and how many of them failed.
    *required(Integer, "runs", "failed"),
    *required(BigInteger, "milliseconds", "nano_usd", "tokens"),
    PrimaryKeyConstraint("project_id", "at", "flow"),
    sqlite_with_rowid=False,
    info=UNHELD,
)

outputs = Table(
    "observed_outputs",
    metadata,
    *required(String(40), "org_id", "project_id"),
    # Whole hours since 1970, UTC: when the run ended.
    Column("at", Integer, nullable=False),
    Column("run_id", String(40), nullable=False),
    Column("flow", String(200), nullable=False),
    # Numbers about the output, by place, field and aspect.
    Column("measures", ReportedJson(), nullable=False),
    PrimaryKeyConstraint("project_id", "at", "run_id"),
    sqlite_with_rowid=False,
    info=UNHELD,
)

projected = Table(
    "observed_projects",
    metadata,
    *scope_columns(),
    # Runs that ended before this are counted, unless they are among the latest minutes.
    Column("until", Moment, nullable=False),
    PrimaryKeyConstraint("project_id"),
    info=UNHELD,
)

trees = Table(
    "observed_trees",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    # The run that a person or a trigger started; the tree has the spans of all below it as well.
    Column("root_id", String(40), nullable=False, index=True),
    # How many runs it was made from, and how many entries they had: with more of either it is made again.
    Column("runs", Integer, nullable=False),
    Column("entries", BigInteger, nullable=False),
    Column("spans", Integer, nullable=False),
    # False while its spans are being written.
    Column("is_ready", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
    info=UNHELD,
)

tree_runs = Table(
    "observed_tree_runs",
    metadata,
    Column("tree_id", String(40), ForeignKey("observed_trees.id"), nullable=False),
    *required(String(40), "org_id", "project_id", "run_id"),
    Column("subject", String(200)),
    # Where the spans of the run and of all below it are in the tree.
    *required(Integer, "position", "depth", "spans"),
    *required(Moment, "start", "end"),
    PrimaryKeyConstraint("tree_id", "run_id"),
    info=UNHELD,
)

spans = Table(
    "observed_spans",
    metadata,
    Column("tree_id", String(40), ForeignKey("observed_trees.id"), nullable=False),
    *required(String(40), "org_id", "project_id"),
    # In preorder: what is below a span follows it, `size` rows of it.
    *required(Integer, "position", "depth", "size"),
    Column("run_id", String(40), nullable=False),
    Column("key", String(500), nullable=False),
    Column("operation", String(40), nullable=False),
    Column("name", Text, nullable=False),
    # What a search looks through, in small letters.
    Column("words", Text, nullable=False),
    *required(Moment, "start", "end"),
    Column("error", Text),
    Column("attributes", Json, nullable=False),
    PrimaryKeyConstraint("tree_id", "position"),
    # Spans of a tree lie together on disk, in order.
    sqlite_with_rowid=False,
    info=UNHELD,
)

received_spans = Table(
    "received_spans",
    metadata,
    *required(String(40), "org_id", "project_id"),
    # In hexadecimal digits, as OpenTelemetry writes them.
    Column("trace_id", String(32), nullable=False),
    Column("span_id", String(16), nullable=False),
    # Empty for none.
    Column("parent_id", String(16), nullable=False),
    Column("name", ReportedText(200), nullable=False),
    *required(Moment, "start", "end"),
    Column("error", ReportedText(200)),
    Column("attributes", ReportedJson(), nullable=False),
    Column("received_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "trace_id", "span_id"),
    Index("ix_received_spans_project_id_received_at", "project_id", "received_at"),
    sqlite_with_rowid=False,
)

alert_rules = Table(
    "alert_rules",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("revision", Integer, nullable=False),
    Column("document", TypedJson(), nullable=False),
    # Who saved it last: messages are sent in their name, and figures are those that they may see.
    Column("author", String(40), nullable=False),
    # The role of the API token by which they saved it; none for a person.
    Column("token_role", String(20)),
    Column("checked_hour", Integer, nullable=False),
    *required(Moment, "created_at", "updated_at"),
)

alert_causes = Table(
    "alert_causes",
    metadata,
    *scope_columns(),
    Column("rule_id", String(40), nullable=False),
    # Empty for the whole project.
    Column("flow", String(200), nullable=False),
    Column("muted_until", Moment),
    # What was before this hour is not usual any more.
    Column("normal_since", Integer),
    PrimaryKeyConstraint("project_id", "rule_id", "flow"),
)

alerts = Table(
    "alerts",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    # The rule may be gone; its alerts stay as history, with the rule as it was.
    Column("rule_id", String(40), nullable=False),
    Column("flow", String(200), nullable=False),
    # Set while it is open: one cause has one open alert.
    Column("cause", String(300), unique=True),
    Column("state", String(12), nullable=False),
    Column("rule", ReportedJson(), nullable=False),
    Column("author", String(40), nullable=False),
    # The value when it opened, the largest or smallest since, the limit, and the value at the end.
    Column("figures", ReportedJson(), nullable=False),
    Column("opened_at", Moment, nullable=False),
    Column("acknowledged_at", Moment),
    Column("acknowledged_by", String(40)),
    Column("resolved_at", Moment),
    Column("resolved_why", String(20)),
    # Which state people were notified of last; empty for none yet.
    Column("notified", String(12), nullable=False),
    # The runs that sent messages, and why some were not sent.
    Column("sends", ReportedJson(), nullable=False),
    Index("ix_alerts_project_id_state", "project_id", "state"),
    Index("ix_alerts_rule_id", "rule_id"),
)

alert_rounds = Table(
    "alert_rounds",
    metadata,
    *scope_columns(),
    Column("next_at", Moment, nullable=False),
    # Whoever raised it last may write what they found.
    Column("epoch", BigInteger, nullable=False),
    PrimaryKeyConstraint("project_id"),
    Index("ix_alert_rounds_next_at", "next_at"),
    info=UNHELD,
)

audit_cursors = Table(
    "audit_cursors",
    metadata,
    *scope_columns(),
    Column("stream", String(40), nullable=False),
    Column("cursor", BigInteger, nullable=False),
    # Whoever raised it last may move the cursor on.
    Column("epoch", BigInteger, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("next_at", Moment, nullable=False),
    PrimaryKeyConstraint("stream", "project_id"),
    info=UNHELD,
)
