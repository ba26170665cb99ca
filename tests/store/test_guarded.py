"""Secrets get into no column that holds words: it refuses or replaces them, or something before it does."""

from typing import Any

import pytest
import sqlalchemy as sa

from steward.core.errors import Invalid
from steward.identity import _tables as identity
from steward.store.eventlog import events
from steward.store.guarded import ReportedJson, ReportedText, TypedJson, TypedText
from steward.store.tables import metadata
from steward.testing import Installation

pytestmark = pytest.mark.every_database

GUARDED = (TypedText, TypedJson, ReportedText, ReportedJson)
SECRET = "zq8-hunter-77k"
OF_RUNS = {
    "runs": {"title", "subject", "reason", "parent_key", "holder", "progress", "waits"},
    "journal": {"key", "body"},
    "run_heads": {"body", "signature"},
    "run_signals": {"key", "data"},
    "live_texts": {"part", "text"},
    "schedules": {"name", "cron", "time_zone", "request", "asked"},
    "threads": {"title", "branch", "settings", "client_id"},
    "thread_turns": {"message", "mentions", "attachments"},
    "approvals": {
        *("wait_key", "tool", "title", "body", "asked_body", "preview", "provenance", "rules"),
        *("approvers", "askers", "reason", "batch", "decision_reason"),
    },
    "observed_facts": {"name", "agent", "code", "connector", "flow"},
    "observed_ended_hours": {"flow"},
    "observed_people": {"flow"},
    "observed_outputs": {"flow"},
    "observed_abouts": {"name", "agent", "code", "connector", "flow"},
    "observed_tree_runs": {"subject"},
    "observed_spans": {"key", "name", "words", "error", "attributes"},
    "budget_entries": {"key", "agent"},
    "alerts": {"flow", "cause"},
    "alert_causes": {"flow"},
    "trigger_events": {"order_key", "inputs"},
    "playbook_shadow_runs": {"found"},
    "trigger_subscriptions": {"request", "cursor", "holder"},
    "uploads": {"name", "given_name"},
    "agent_notes": {"call", "deleting_call"},
    "agent_versions": {"call"},
    "definition_revisions": {"call"},
    "project_applies": {"call"},
    "data_commits": {"arguments"},
}
"""What a run, a chat or an upload writes: secrets are taken out where those begin, see `test_typed_secrets`."""
OF_DATA = {
    "data_changes": {"name", "lineage"},
    "data_inputs": {"name"},
    "data_trees": {"body"},
    "data_commits": {"message", "operation"},
    "data_pins": {"reference"},
    "data_seals": {"dataset", "columns"},
    "data_versions": {"columns"},
    "analyses": {"result"},
}
"""What a call of a run made of data, and named after its content: it stays as it is."""
NO_WORDS = {
    "approver_groups": {"members"},
    "budget_entries": {"estimate", "actual", "drawn"},
    "budgets": {"ancestors"},
    "catalogue_operations": {"service", "roles", "answer"},
    "catalogue_rates": {"moments"},
    "client_grants": {"challenge"},
    "connection_tools": {"roles"},
    "connections": {"secrets"},
    "events": {"type", "source"},
    "playbooks": {"slug", "allowed", "armed"},
    "policies": {"subject"},
    "notifications": {"link"},
    "playbook_deployments": {"pins", "checks"},
}
"""Ids, numbers and choices."""


def _holds_words(column: sa.Column[Any]) -> bool:
    kind = column.type
    return isinstance(kind, sa.JSON) or (
        isinstance(kind, sa.String) and (kind.length is None or kind.length > 64)
    )


@pytest.mark.usefixtures("installation")
def test_every_column_for_words_is_guarded_or_filled_by_something_that_is() -> None:
    """A new column takes `TypedText`, `TypedJson`, `ReportedText` or `ReportedJson`, or a place in a list above."""
    unguarded = {
        f"{table.name}.{column.name}"
        for table in metadata.sorted_tables
        if "project_id" in table.c
        for column in table.c
        if not isinstance(column.type, GUARDED) and _holds_words(column)
    }
    known = {
        f"{table}.{column}"
        for group in (OF_RUNS, OF_DATA, NO_WORDS)
        for table, columns in group.items()
        for column in columns
    }
    assert unguarded == known


def test_what_people_type_is_refused_and_what_others_report_is_cleaned(
    installation: Installation,
) -> None:
    steward, scope = installation.steward, installation.scope
    steward.secrets.set(scope, "bank", SECRET, author="usr_test")
    steward.secrets.set(scope, "database", "postgres", author="usr_test")
    steward.secrets.set(scope, "short", "admin123", author="usr_test")
    rename = sa.update(identity.projects).where(identity.projects.c.id == scope.project_id)
    # An ordinary word, and a short name that merely equals a password, are no secrets in a name.
    for name in ("Our postgres", "admin123"):
        with steward.database.write(scope) as tx:
            tx.execute(rename.values(name=name))
    for name in (f"x {SECRET}", SECRET.encode().hex(), "see admin123"):
        with pytest.raises(Invalid, match="value of a stored secret"), _write(installation) as tx:
            tx.execute(rename.values(name=name))
    with _write(installation) as tx:
        steward.events.append(tx, "test.done", SECRET, {"said": [f"no: {SECRET}"]})
    with steward.database.read(scope) as tx:
        row = tx.rows(sa.select(events).order_by(events.c.cursor))[-1]
    assert (row.subject, row.data) == ("[secret:bank]", {"said": ["no: [secret:bank]"]})


def _write(installation: Installation) -> Any:
    return installation.steward.database.write(installation.scope)
