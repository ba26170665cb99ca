"""Alerts in a real browser: a rule with its preview, a run that fires it, the bell, an answer, and the end."""

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import Desk, Site, running
from tests.journeys.test_data import check_accessible
from tests.journeys.test_first_steps import go, sign_in

OpenDesk = Callable[..., Desk]


@pytest.fixture
def site(first_home: Path, tmp_path: Path) -> Iterator[Site]:
    home = shutil.copytree(first_home, tmp_path / "home")
    with running(home, STEWARD_OBSERVE__ALERT_INTERVAL="PT1S") as started:
        yield started.with_new_link()


def fail_a_run(page: Page) -> None:
    said = page.evaluate(
        """async () => {
          const get = async (path, options) => (await fetch(path, options)).json();
          const session = await get('/api/v1/session');
          const headers = {'content-type': 'application/json', 'x-csrf-token': session.csrf_token};
          const [project] = (await get('/api/v1/projects')).items;
          const body = JSON.stringify({query_type: 'sql', query: 'SELECT * FROM no_such_table'});
          return get(`/api/v1/projects/${project.id}/runs`, {method: 'POST', headers, body});
        }"""
    )
    assert "id" in said, said


def move_back(site: Site, hours: int) -> None:
    """As if the failed run had ended earlier, and the rule had last been checked then."""
    with closing(sqlite3.connect(site.home / "steward.db", timeout=30)) as connection:
        connection.execute("UPDATE runs SET ended_at = ended_at - ?", [hours * 3_600_000_000])
        connection.execute("UPDATE observed_facts SET hour = hour - ?", [hours])
        connection.execute("UPDATE observed_ended_hours SET at = at - ?", [hours])
        connection.execute("UPDATE alert_rules SET checked_hour = checked_hour - 1")
        connection.commit()


def test_a_rule_fires_is_answered_and_resolves(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    go(page, "Overview")
    page.get_by_role("tab", name="Alerts").click()
    expect(page.get_by_text("No alert rules yet")).to_be_visible()
    check_accessible(page)
    page.get_by_role("button", name="Add a rule").click()
    dialog = page.get_by_role("dialog", name="Add an alert rule")
    dialog.get_by_label("Name").fill("Failed runs")
    expect(dialog.get_by_text("Would not have fired in the last 28 days.")).to_be_visible()
    dialog.get_by_label("Within").click()
    page.get_by_role("option", name="1 hour", exact=True).click()
    dialog.get_by_role("button", name="Add rule").click()
    rules = page.get_by_role("list", name="Alert rules")
    expect(rules.get_by_text("Failed runs in 1 hour above 0")).to_be_visible()
    expect(page.get_by_text("No alert is open")).to_be_visible()

    fail_a_run(page)
    opened = page.get_by_role("list", name="Open alerts")
    expect(opened.get_by_text("Firing")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Notifications")).click()
    bell = page.get_by_role("dialog", name="Notifications")
    expect(bell.get_by_text("Failed runs in 1 hour: 1 (limit 0).")).to_be_visible()
    bell.get_by_text("Alert: Failed runs").click()
    expect(page).to_have_url(re.compile(r"/overview\?tab=alerts$"))
    opened.get_by_role("button", name="Acknowledge Failed runs").click()
    expect(opened.get_by_text("Acknowledged", exact=True)).to_be_visible()
    check_accessible(page)

    rules.get_by_role("button", name="Edit Failed runs").click()
    dialog = page.get_by_role("dialog", name="Edit alert rule")
    expect(dialog.get_by_text("Would have fired once in the last 28 days.")).to_be_visible()
    check_accessible(page)
    dialog.get_by_role("button", name="Cancel").click()
    assert "acknowledged" in site.steward("observe", "alerts", "list")

    move_back(site, 3)
    expect(page.get_by_text("No alert is open")).to_be_visible()
    history = page.get_by_role("list", name="Resolved alerts")
    expect(history.get_by_text("Back within its limit")).to_be_visible()
    check_accessible(page)
