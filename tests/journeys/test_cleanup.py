"""The clean-up of customer data by clicks: forked, run, its rules reviewed, promoted, read, and undone."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import check_accessible
from tests.journeys.test_first_steps import go, sign_in
from tests.journeys.test_runs import choose

OpenDesk = Callable[..., Desk]
IMAGES = Path(__file__).parents[2] / "docs/images"
LONG = 240_000
MOST_INTERACTIONS = 12


def picture(page: Page, name: str) -> None:
    """Makes a picture of the documentation anew, when somebody asks for that."""
    if os.environ.get("STEWARD_DOC_IMAGES"):
        page.screenshot(path=IMAGES / f"{name}.png")


def expect_status(page: Page, status: str) -> None:
    shown = page.get_by_role("status").filter(has_text=re.compile(f"^{status}"))
    expect(shown.first).to_be_visible(timeout=LONG)


def expect_steps_while_running(page: Page) -> None:
    """A step that is done is told so at once, and not when the run rests."""
    page.wait_for_function(
        """() => [...document.querySelectorAll('[role=status]')].some(
                 (each) => each.textContent.startsWith('Running'))
             && /Done/.test(document.querySelector('[aria-label="Nodes of the flow"]')?.textContent)""",
        timeout=LONG,
    )


def fork(page: Page, title: str) -> None:
    go(page, "Blueprints")
    page.get_by_role("button", name=f"Fork {title}").click()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()


def count(card: Locator, name: str) -> str:
    shown = card.get_by_role("status", name="What the rules would do")
    return (
        shown.locator("div", has=card.page.get_by_text(name, exact=True)).locator("dd").inner_text()
    )


def review_the_rules(page: Page) -> None:
    """Looks at pairs, asks for a stricter threshold, sees fewer matches, and approves."""
    card = page.get_by_role("main")
    expect(card.get_by_text("likely the same").first).to_be_visible(timeout=LONG)
    check_accessible(page)
    shown = card.get_by_role("status", name="What the rules would do")
    shown.scroll_into_view_if_needed()
    picture(page, "cleanup-rules")
    before = count(card, "Pairs that match")
    card.get_by_role("tab", name="Threshold").click()
    card.get_by_role("button", name="Use: 0.99").click()
    expect(card.get_by_role("button", name="Approve", exact=True)).to_be_disabled()
    card.get_by_role("button", name="Weigh again").click()
    expect(card.get_by_text(re.compile("^As proposed: "))).to_be_visible(timeout=LONG)
    assert count(card, "Pairs that match") != before
    shown.scroll_into_view_if_needed()
    picture(page, "cleanup-threshold")
    card.get_by_role("button", name="Approve", exact=True).click()


def promote(page: Page) -> None:
    expect(page.get_by_text("Promote the list of customers?").first).to_be_visible(timeout=LONG)
    expect(page.get_by_text("customers mapping").first).to_be_visible()
    picture(page, "cleanup-promotion")
    page.get_by_role("button", name="Approve", exact=True).click()


def undo_the_promotion(page: Page) -> None:
    """One click: nothing depends on it, so nothing is asked; the same toast has the way forth."""
    page.get_by_role("button", name="Undo: Promote the branch").click()
    messages = page.get_by_role("region", name="Messages")
    expect(messages.get_by_text(re.compile("^Undone: "))).to_be_visible(timeout=LONG)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(messages.get_by_role("button", name="Redo")).to_be_visible()
    expect(page.get_by_role("button", name="Redo: Promote the branch")).to_be_visible()


@pytest.mark.timeout(600)
def test_customers_are_cleaned_up(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    picture(page, "home")
    fork(page, "Clean up customer data")
    page.get_by_role("button", name="Run", exact=True).click()
    expect_steps_while_running(page)
    expect_status(page, "Reviewing")
    review_the_rules(page)
    promote(page)
    expect_status(page, "Done")
    expect(page.get_by_text("customers.xlsx").first).to_be_visible()
    picture(page, "cleanup-done")
    run = page.url
    go(page, "Datasets")
    expect(page.get_by_role("link", name="customers", exact=True).first).to_be_visible()
    page.goto(run)
    undo_the_promotion(page)
    go(page, "Datasets")
    expect(page.get_by_role("link", name="crm_customers").first).to_be_visible()
    expect(page.get_by_role("link", name="customers", exact=True)).to_have_count(0)


def test_the_first_finished_playbook_takes_few_interactions(
    site: Site, open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the sign-in link, without documentation: every click and every text typed counts."""
    page = sign_in(open_desk(), site)
    interactions = 1  # The link itself.
    for method in ("click", "fill", "press", "check", "select_option"):
        original = getattr(Locator, method)

        def counted(
            *args: object, original: Callable[..., object] = original, **more: object
        ) -> object:
            nonlocal interactions
            interactions += 1
            return original(*args, **more)

        monkeypatch.setattr(Locator, method, counted)
    fork(page, "Profile a dataset and write a report")
    choose(page, page, "Dataset", "crm_customers")
    page.get_by_role("button", name="Run", exact=True).click()
    expect_status(page, "Done")
    expect(page.get_by_text("Data quality.html").first).to_be_visible()
    expect(page.get_by_role("link", name="PDF, ").first).to_be_visible()
    assert interactions <= MOST_INTERACTIONS, f"it takes {interactions} interactions"
