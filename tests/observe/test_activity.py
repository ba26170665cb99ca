"""The summary of a week: its figures, what it does not tell to whom, and the mail of the blueprint."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from steward.broker.presets import PRESETS
from steward.core.errors import Denied
from steward.identity import Role
from steward.observe import ActivitySummary
from steward.observe.facts import NANO
from steward.observe.overview import Standing
from steward.observe.period_sums import Failing, Totals
from steward.runs import Status
from steward.testing import Installation
from tests.connections.outside import certificates
from tests.connections.post import post_office
from tests.observe.test_budget_alert import connect_mail, send_what_waits
from tests.observe.test_details import FLOW, call

QUIET = Standing({}, 0, 0, 0, None, None, 0)


def _summary(
    now: Totals, before: Totals, standing: Standing = QUIET, *concerns: str
) -> ActivitySummary:
    failing = [Failing("margin", now.failed, now.runs, "run_1")] if now.failed else []
    first, last = date(2026, 11, 9), date(2026, 11, 15)
    return ActivitySummary(
        first, last, "Sales\nteam", now, before, 2, standing, failing, [], concerns
    )


def test_a_quiet_week_needs_nobody() -> None:
    found = _summary(Totals(runs=3), Totals(runs=4))
    assert list(found.to_look_at()) == []
    assert found.subject == "Sales team: 3 runs, $0.00"
    assert found.text(str).splitlines() == [
        "Sales team, 2026-11-09 to 2026-11-15 (UTC)",
        "",
        "Runs: 3 ended, 0 failed (the 7 days before: 4 ended, 0 failed).",
        "Cost: $0.00 and 0 tokens (the 7 days before: $0.00).",
        "Undone: 2 changes.",
        "",
        "Nothing needs your attention.",
    ]


def test_what_got_worse_and_what_waits_is_to_look_at() -> None:
    waiting = Standing({}, 0, 0, 1, datetime(2026, 11, 12, 9, 5, tzinfo=UTC), None, 0)
    now = Totals(runs=10, failed=4, nano_usd=12 * NANO)
    before = Totals(runs=10, failed=1, nano_usd=5 * NANO)
    found = _summary(now, before, waiting, "Trigger “orders” is silent.")
    assert list(found.to_look_at()) == [
        "1 approval waits, the oldest since 2026-11-12 09:05 UTC.",
        "40 % of the runs failed, 10 % before.",
        "Spending rose from $5.00 to $12.00.",
        "Trigger “orders” is silent.",
    ]
    assert "Failed most\n- Margin: 4 of 10 runs" in found.text(str.title)


def test_long_lists_say_how_many_more() -> None:
    found = _summary(Totals(), Totals(), QUIET, *(f"Concern {n}." for n in range(8)))
    assert found.text(str).endswith("- Concern 4.\n- And 3 more.")


@pytest.mark.every_database
def test_whole_days_count_and_hidden_flows_do_not(installation: Installation) -> None:
    activity, owner = installation.steward.activity, installation.owner
    call(installation, 503)
    call(installation, 200)
    assert activity.of_days(owner.access, 7).now.runs == 0
    installation.clock.advance(days=1)
    call(installation, 200)
    found = activity.of_days(owner.access, 7)
    assert (found.now.runs, found.now.failed, found.now.nano_usd) == (2, 1, NANO)
    assert (
        [each.flow for each in found.failing] == [each.name for each in found.costliest] == [FLOW]
    )
    # The same days again are those before.
    installation.clock.advance(days=7)
    assert activity.of_days(owner.access, 7).before.runs == 2
    viewer = installation.person(Role.viewer, "viewer")
    seen = activity.of_days(viewer.access, 7)
    assert (seen.now, seen.before, seen.failing, seen.costliest) == (Totals(), Totals(), [], [])
    # A run that a token started tells no more than the token may see, and one of a runner nothing.
    owner_id, runner = owner.user.id, installation.person(Role.runner, "runner")
    scope = installation.scope
    told = activity.described(scope, owner_id, None, 14)
    limited = activity.described(scope, owner_id, Role.viewer, 14)
    assert (told["runs"], limited["runs"]) == (3, 0)
    with pytest.raises(Denied):
        activity.described(scope, runner.user.id, None, 14)


@pytest.mark.every_database
@pytest.mark.parametrize("in_words", [False, True])
def test_the_blueprint_sends_the_summary_by_mail(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_words: bool
) -> None:
    """Also where somebody wants words of a model, and there is none."""
    steward, access = installation.steward, installation.owner.access
    steward.governing.rulebook.save(access, "project", PRESETS["trusted"], 0)
    call(installation, 503)
    installation.clock.advance(days=1)
    keys = certificates(tmp_path, "127.0.0.1")
    with post_office(keys.server) as post:
        connect_mail(installation, post, keys.client, monkeypatch)
        card = steward.playbooks.blueprints.fork(access, "weekly-summary")
        inputs = {
            "connection": "post",
            "recipients": ["ops@example.com"],
            "in_words": in_words,
        }
        run = steward.playbooks.running.start(access, card.id, inputs)
        send_what_waits(installation)
        ended = steward.runs.get(access.scope, run.id)
        assert ended.status is Status.done, ended.reason
        [letter] = post.letters
    assert "1 run, 1 failed, $0.5000" in letter["Subject"]
    assert "Runs: 1 ended, 1 failed" in letter.get_content()
