"""A flow from an empty canvas to a rollback, without YAML and in at most 40 interactions.

Trigger, SQL, agent, approval, Slack: drawn, tested, deployed, run, changed, compared, taken back. An admin set up the
model and the connection to Slack before; both are servers of our own.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.conftest import Desk, Site, running
from tests.journeys.test_controller import connect
from tests.journeys.test_data import SLOW, check_accessible
from tests.journeys.test_first_steps import sign_in
from tests.models.openai_server import KEY, OpenAiServer, Reply
from tests.playbooks.receiver import Receiver, receiving

OpenDesk = Callable[..., Desk]
MOST = 40
SAID = "There are 1,000 customers. Nothing else matters."


@dataclass(frozen=True)
class Stage:
    site: Site
    slack: Receiver


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with receiving() as slack, OpenAiServer(lambda _: Reply([SAID])) as model:
        chosen = {"provider": "compatible", "name": "small", "base_url": model.url, "api_key": KEY}
        settings = {
            "STEWARD_NETWORK__ALLOW_PRIVATE": '["127.0.0.1"]',
            "STEWARD_MODELS__DEFAULT": json.dumps(chosen),
        }
        with running(tmp_path / "home", **settings) as site:
            yield Stage(site, slack)


@dataclass
class Hand:
    """Every click, every field that is filled and every key that is pressed counts as one interaction."""

    page: Page
    done: list[str] = field(default_factory=list)

    def click(self, at: Locator) -> None:
        self.done.append(f"click {at}")
        at.click(timeout=SLOW)

    def fill(self, at: Locator, text: str) -> None:
        self.done.append(f"fill {text}")
        at.fill(text)

    def add(self, words: str, title: str) -> None:
        """Found in the palette and added after the step that is chosen: two interactions."""
        palette = self.page.get_by_role("region", name="Palette")
        self.fill(palette.get_by_label("Search what to add"), words)
        self.click(palette.get_by_role("button", name=re.compile(f"^{title}")).first)


def box(page: Page, title: str) -> Locator:
    return page.locator(".react-flow__node").filter(has_text=title)


def setting(page: Page, label: str) -> Locator:
    return page.get_by_role("textbox", name=re.compile(f"^{label}( \\*)?$"))


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def draw(hand: Hand) -> None:
    page = hand.page
    hand.click(page.get_by_role("navigation", name="Pages").get_by_role("link", name="Flows"))
    hand.click(page.get_by_role("link", name="New flow").first)
    hand.fill(page.get_by_label("Name", exact=True), "Customers to Slack")
    hand.add("schedule", "On a schedule")
    hand.add("sql", "SQL")
    hand.fill(setting(page, "Code"), "SELECT count(*) AS customers FROM crm_customers")
    hand.add("agent", "Ask an agent")
    hand.fill(setting(page, "Instructions"), "Say in one sentence how many customers we have.")
    hand.add("approval", "Ask for approval")
    hand.add("slack", "Write to Slack")
    hand.fill(setting(page, "Text"), "${nodes.ask_an_agent.output}")
    hand.click(page.get_by_role("combobox", name=re.compile("^Connection")))
    hand.click(page.get_by_role("option", name=re.compile("^finance-slack")))
    for title in ("schedule", "SQL", "Ask an agent", "Ask for approval", "Write to Slack"):
        expect(box(page, title)).to_have_count(1)
    expect(page.locator(".react-flow__edge")).to_have_count(4)
    save(hand)
    expect(page).to_have_url(re.compile("/flows/pbk_"), timeout=SLOW)


def save(hand: Hand) -> None:
    saving = button(hand.page, "Save")
    expect(saving).to_be_enabled(timeout=SLOW)
    hand.click(saving)
    expect(saving).to_be_disabled(timeout=SLOW)


def try_out(hand: Hand, slack: Receiver) -> None:
    page = hand.page
    hand.click(page.get_by_role("link", name="Test", exact=True))
    hand.click(button(page, "Test"))
    result = page.get_by_role("status").filter(has_text="Result")
    expect(result).to_contain_text("Done", timeout=SLOW)
    assert slack.heard == []
    check_accessible(page)


def deploy(hand: Hand, revision: int) -> None:
    page = hand.page
    hand.click(button(page, "Deploy…"))
    dialog = page.get_by_role("dialog", name=re.compile("^Deploy"))
    hand.click(dialog.get_by_role("button", name=f"Deploy revision {revision}"))
    expect(page.get_by_text(f"Revision {revision} is deployed.")).to_be_visible(timeout=SLOW)


def run(hand: Hand, slack: Receiver) -> None:
    page = hand.page
    hand.click(button(page, "Run"))
    gate = page.get_by_role("region", name="Ask for approval")
    expect(gate).to_contain_text(SAID, timeout=SLOW)
    hand.click(gate.get_by_role("button", name="Approve"))
    send = page.get_by_role("region", name="Write to Slack", exact=True).first
    hand.click(send.get_by_role("button", name="Approve once"))
    assert slack.came.wait(SLOW / 1000)
    assert [each["text"] for each in slack.heard] == [SAID]
    expect(box(page, "Write to Slack").get_by_text("Done")).to_be_visible(timeout=SLOW)


def test_a_new_user_draws_tests_deploys_runs_changes_and_takes_back(
    stage: Stage, open_desk: OpenDesk
) -> None:
    page = sign_in(open_desk(), stage.site)
    connect(page, stage.slack)
    page.reload()
    hand = Hand(page)
    draw(hand)
    try_out(hand, stage.slack)
    hand.click(page.get_by_role("link", name="Customers to Slack").first)
    hand.click(page.get_by_role("link", name="Versions"))
    deploy(hand, 1)
    hand.click(page.get_by_role("link", name="Customers to Slack").first)
    run(hand, stage.slack)
    hand.click(box(page, "SQL"))
    hand.fill(setting(page, "Code"), "SELECT count(*) AS leads FROM crm_customers")
    save(hand)
    hand.click(page.get_by_role("link", name="Versions"))
    expect(page.get_by_text("Steps: 1 changed.")).to_be_visible(timeout=SLOW)
    expect(
        page.get_by_role("region", name="Revision 2")
        .locator(".react-flow__node")
        .filter(has_text="SQL")
    ).to_contain_text("changed")
    deploy(hand, 2)
    hand.click(button(page, "Roll back to revision 1"))
    expect(page.get_by_text("Revision 1 is deployed; the newest is 2.")).to_be_visible(timeout=SLOW)
    assert len(hand.done) <= MOST, hand.done
