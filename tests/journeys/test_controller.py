"""A handoff in two browsers: an engineer shares a playbook, a controller runs it and sees nothing else."""

import io
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import Locator, Page, expect

from steward.playbooks.blueprint import read_blueprint
from tests.journeys.conftest import Desk, Site, running
from tests.journeys.test_data import SLOW, check_accessible
from tests.journeys.test_first_steps import go, sign_in
from tests.playbooks.receiver import Receiver, receiving

OpenDesk = Callable[..., Desk]
ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs/images"
BLUEPRINT = ROOT / "src/steward/playbooks/blueprints/product-cost-allocation.yaml"
TITLE = "Product cost allocation"
REASONS = {"Beta": "More seats for the new team", "Gamma": "A fifth of the new licences"}
FIRST, SECOND = "8", "50"
"""Thresholds in percent: two products are above the first, none above the second."""
PAGES = ["Inbox", "Playbooks", "Runs"]


@dataclass(frozen=True)
class Stage:
    site: Site
    slack: Receiver


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """The month's tables are loaded, and a server of our own stands in for Slack."""
    allowed = {"STEWARD_NETWORK__ALLOW_PRIVATE": '["127.0.0.1"]'}
    with receiving() as slack, running(tmp_path / "home", **allowed) as site:
        for sample in read_blueprint(BLUEPRINT.read_text()).sample.datasets:
            path = tmp_path / f"{sample.name}.csv"
            path.write_text(sample.csv)
            site.steward("data", "add", str(path), "--name", sample.name)
        yield Stage(site, slack)


def picture(page: Page, name: str) -> None:
    """Makes a picture of the documentation anew, when somebody asks for that."""
    if os.environ.get("STEWARD_DOC_IMAGES"):
        page.screenshot(path=IMAGES / f"{name}.png")


def expect_status(page: Page, status: str) -> None:
    shown = page.get_by_role("status").filter(has_text=re.compile(f"^{status}"))
    expect(shown.first).to_be_visible(timeout=SLOW)


def connect(page: Page, slack: Receiver) -> None:
    """The connection to Slack, as an admin makes it; its address is a secret from then on."""
    made = page.evaluate(
        """async ([project, url, host]) => {
          const session = await (await fetch('/api/v1/session')).json();
          const answer = await fetch(`/api/v1/projects/${project}/connections`, {
            method: 'POST',
            headers: {'Content-Type': 'application/json', 'X-CSRF-Token': session.csrf_token},
            body: JSON.stringify({
              name: 'finance-slack', kind: 'slack_webhook',
              settings: {channel: '#finance', webhook_hosts: [host]}, values: {url},
            }),
          });
          return answer.status;
        }""",
        [page.url.split("/p/")[1].split("/")[0], slack.url, slack.origin],
    )
    assert made == 201


def author(page: Page) -> None:
    """Forks the blueprint and deploys it."""
    go(page, "Blueprints")
    page.get_by_role("button", name="Fork Spread cost centres over products").click()
    drawer = page.get_by_role("dialog", name=TITLE)
    drawer.get_by_role("tab", name="Versions").click()
    drawer.get_by_role("button", name="Deploy revision 1").click()
    expect(drawer.get_by_text("Deployed", exact=True)).to_be_visible()
    check_accessible(page)
    # It has an address of its own; closing it leads back to its card.
    page.reload()
    expect(drawer.get_by_role("tab", name="Versions", selected=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(page.get_by_role("link", name=TITLE)).to_be_focused()


def invite(page: Page) -> str:
    """A link for somebody who shall run what is shared with them, and no more."""
    go(page, "Members")
    page.get_by_role("button", name="Invite").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name=re.compile("Role")).click()
    page.get_by_role("option", name=re.compile("^Runner")).click()
    dialog.get_by_role("button", name="Create link").click()
    field = dialog.get_by_role("textbox").first
    expect(field).to_have_value(re.compile("/invite"))
    return field.input_value()


def join(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_label("Your name").fill("Carla Controller")
    page.get_by_label(re.compile("E-mail")).fill("carla@example.com")
    page.get_by_role("textbox", name="Choose a password").fill("debits are on the left")
    page.get_by_role("button", name=re.compile("Join|Accept|Create")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Playbooks")


def share(page: Page) -> None:
    page.get_by_role("button", name="Close").first.click()
    go(page, "Playbooks")
    page.get_by_role("link", name=TITLE).click()
    page.get_by_role("tab", name="Settings").click()
    page.get_by_role("combobox", name="People").click()
    page.get_by_role("option", name=re.compile("Carla Controller")).click()
    page.keyboard.press("Escape")
    picture(page, "controller-share")
    page.get_by_role("button", name=re.compile("Share|Save")).first.click()
    expect(page.get_by_text("Sharing saved")).to_be_visible()


def start(page: Page, threshold: str) -> None:
    go(page, "Playbooks")
    page.get_by_role("link", name=TITLE).click()
    page.get_by_label(re.compile("^Period")).fill("2026-02")
    page.get_by_label(re.compile("^Threshold")).fill(threshold)
    if threshold == FIRST:
        picture(page, "controller-form")
    page.get_by_role("button", name="Run", exact=True).click()


def question(page: Page, product: str) -> Locator:
    return page.get_by_role("region", name=re.compile(f"^{product} went from"))


def test_a_controller_runs_what_an_engineer_shares(stage: Stage, open_desk: OpenDesk) -> None:
    engineer = sign_in(open_desk(), stage.site)
    connect(engineer, stage.slack)
    author(engineer)
    carla = open_desk().page
    join(carla, invite(engineer))
    expect(carla.get_by_text("No playbooks yet")).to_be_visible()
    share(engineer)
    # It appears by itself, and is all there is.
    expect(carla.get_by_role("link", name=TITLE)).to_be_visible()
    links = carla.get_by_role("navigation", name="Pages").get_by_role("link").all_inner_texts()
    assert [text.splitlines()[0] for text in links] == PAGES

    start(carla, FIRST)
    for product in REASONS:
        expect(question(carla, product)).to_be_visible(timeout=SLOW)
    picture(carla, "controller-questions")
    for product, reason in REASONS.items():
        card = question(carla, product)
        card.get_by_role("textbox").fill(reason)
        card.get_by_role("button", name="Answer").click()
        expect(card).to_have_count(0)
    approve = carla.get_by_role("button", name="Approve once")
    expect(approve).to_be_visible(timeout=SLOW)
    check_accessible(carla)
    approve.scroll_into_view_if_needed()
    picture(carla, "controller-approval")
    _check_workbook(carla)

    # What is approved can be taken back for five seconds.
    text = _shown_text(carla)
    approve.click()
    carla.get_by_role("status", name="Going out").get_by_role("button", name="Undo").click()
    expect_status(carla, "Failed")
    expect(carla.get_by_text("taken back before it was sent").first).to_be_visible()
    assert stage.slack.heard == []

    # Another time it goes out, as it was seen.
    start(carla, SECOND)
    expect(approve).to_be_visible(timeout=SLOW)
    other = _shown_text(carla)
    assert other != text
    approve.click()
    expect_status(carla, "Done")
    (heard,) = stage.slack.heard
    assert heard["text"] == other
    _check_pages(carla)


def _shown_text(page: Page) -> str:
    """The message in the payload that is approved."""
    project, run = re.findall(r"/p/(\w+)/runs/(\w+)", page.url)[0]
    found: str = page.evaluate(
        """async ([project, run]) => {
          const answer = await fetch(`/api/v1/projects/${project}/approvals?run_id=${run}`);
          return (await answer.json()).items[0].body.payload.text;
        }""",
        [project, run],
    )
    first = found.splitlines()[0]
    expect(page.get_by_text(first).first).to_be_visible()
    return found


def _check_workbook(page: Page) -> None:
    with page.expect_download() as download:
        page.get_by_role("link", name="exports/product-cost-allocation-2026-02.xlsx").first.click()
    book = openpyxl.load_workbook(io.BytesIO(Path(download.value.path()).read_bytes()))
    head, *rows = book["product_cost_review"].iter_rows(values_only=True)
    product, comment = head.index("product"), head.index("comment")
    assert {row[product]: row[comment] for row in rows if row[comment]} == REASONS


def _check_pages(page: Page) -> None:
    """Every page of a controller wide and narrow, light and dark; those of others are closed."""
    for name in PAGES:
        go(page, name)
        check_accessible(page)
    base = "/".join(page.url.split("/")[:5])
    for closed in ("datasets", "members", "policy", "audit", "history", "files"):
        page.goto(f"{base}/{closed}")
        expect(page.get_by_text(re.compile("This page is for"))).to_be_visible()
