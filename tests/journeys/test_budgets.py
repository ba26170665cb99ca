"""A budget in a real browser: set, expected to be passed, told by mail, and spending stops before it is."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.cli.terminal import until
from tests.connections.outside import certificates
from tests.connections.post import Office, post_office
from tests.journeys.conftest import Desk, Site, running
from tests.journeys.test_agents import start_from
from tests.journeys.test_data import SLOW, check_accessible
from tests.journeys.test_first_steps import go, sign_in
from tests.models.openai_server import KEY, OpenAiServer, Reply

OpenDesk = Callable[..., Desk]
CONNECT = """async ([project, port]) => {
  const session = await (await fetch('/api/v1/session')).json();
  const answer = await fetch(`/api/v1/projects/${project}/connections`, {
    method: 'POST',
    headers: {'Content-Type': 'application/json', 'X-CSRF-Token': session.csrf_token},
    body: JSON.stringify({
      name: 'post', kind: 'smtp', values: {password: 'right'},
      settings: {
        host: '127.0.0.1', port, sender: 'steward@example.com', username: 'ada',
        allow_domains: ['example.com'],
      },
    }),
  });
  return answer.status;
}"""


@dataclass(frozen=True)
class Stage:
    site: Site
    post: Office
    asked: list[object]
    """What the model was asked."""


@pytest.fixture
def stage(first_home: Path, tmp_path: Path) -> Iterator[Stage]:
    keys = certificates(tmp_path, "127.0.0.1")
    asked: list[object] = []

    def reply(request: object) -> Reply:
        asked.append(request)
        return Reply(["All is well."])

    with post_office(keys.server) as post, OpenAiServer(reply) as model:
        chosen = {"provider": "compatible", "name": "small", "base_url": model.url, "api_key": KEY}
        settings = {
            "STEWARD_NETWORK__ALLOW_PRIVATE": '["127.0.0.1"]',
            "STEWARD_MODELS__DEFAULT": json.dumps(chosen),
            "STEWARD_MODELS__PRICES": json.dumps({"small": {"input": 100, "output": 100}}),
            "STEWARD_OBSERVE__ALERT_INTERVAL": "PT1S",
            "SSL_CERT_FILE": str(tmp_path / "server.pem"),
        }
        home = shutil.copytree(first_home, tmp_path / "home")
        with running(home, **settings) as site:
            yield Stage(site.with_new_link(), post, asked)


def try_it(page: Page) -> None:
    page.get_by_role("tab", name="Try it").click()
    page.get_by_label("Task").fill("How is it going?")
    page.get_by_role("button", name="Try it").click()


def set_budget(page: Page, button: str, dollars: str, submit: str) -> None:
    go(page, "Overview")
    page.get_by_role("tab", name="Budgets").click()
    page.get_by_role("button", name=button).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Dollars at most").fill(dollars)
    dialog.get_by_role("button", name=submit).click()
    expect(dialog).to_have_count(0)


def add_rule(page: Page) -> None:
    page.get_by_role("tab", name="Alerts").click()
    page.get_by_role("button", name="Add a rule").click()
    dialog = page.get_by_role("dialog", name="Add an alert rule")
    dialog.get_by_label("Name").fill("Budget")
    dialog.get_by_role("combobox", name="Figure").click()
    page.get_by_role("option", name="Budget expected to be used").click()
    dialog.get_by_label("Limit (percent)").fill("0.1")
    dialog.get_by_role("button", name="Send by mail, Slack or webhook").click()
    dialog.get_by_label("Addresses, separated by commas").fill("ops@example.com")
    dialog.get_by_role("combobox", name=re.compile("^Connection")).click()
    page.get_by_role("option", name="post").click()
    check_accessible(page)
    dialog.get_by_role("button", name="Add rule").click()
    expect(dialog).to_have_count(0)


def test_a_budget_is_told_by_mail_and_stops_spending(stage: Stage, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), stage.site)
    project = page.url.split("/p/")[1].split("/")[0]
    assert page.evaluate(CONNECT, [project, stage.post.port]) == 201
    set_budget(page, "Add a budget", "3", "Add budget")
    expect(page.get_by_role("list", name="Budgets").get_by_text("$0.00 of $3.00")).to_be_visible()
    add_rule(page)

    start_from(page, "Summariser", "standing")
    try_it(page)
    answer = page.get_by_role("region", name="Answer")
    expect(answer).to_contain_text("All is well.", timeout=SLOW)
    spent = len(stage.asked)

    go(page, "Overview")
    page.get_by_role("tab", name="Alerts").click()
    expect(page.get_by_role("list", name="Open alerts").get_by_text("Firing")).to_be_visible(
        timeout=SLOW
    )
    go(page, "Inbox")
    page.get_by_role("button", name="Approve once").click(timeout=SLOW)
    [letter] = until(lambda: list(stage.post.letters), what="the mail")
    assert letter["Subject"].endswith("Alert: Budget")
    assert stage.post.recipients == [["ops@example.com"]]

    set_budget(page, "Change the budget of", "0.01", "Save budget")
    expect(page.get_by_role("list", name="Budgets").get_by_text("Used up")).to_be_visible()
    check_accessible(page)
    go(page, "Agents")
    page.get_by_role("link", name="Complaints in short").click()
    try_it(page)
    expect(page.get_by_text(re.compile("monthly budget of this project")).first).to_be_visible(
        timeout=SLOW
    )
    assert len(stage.asked) == spent
