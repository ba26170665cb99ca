"""Runs in a real browser: started, approved, undone, rejected, answered, replayed, and denied by policy."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import SLOW, check_accessible
from tests.journeys.test_first_steps import go, sign_in

OpenDesk = Callable[..., Desk]

VERSION = """async ([project, dataset]) => {
  const answer = await fetch(`/api/v1/projects/${project}/datasets/${dataset}`);
  return (await answer.json()).version;
}"""
QUESTION = "Which currency are the amounts in?"


def version_of(page: Page, dataset: str) -> Any:
    project = page.url.split("/p/")[1].split("/")[0]
    return page.evaluate(VERSION, [project, dataset])


def choose(page: Page, where: Locator | Page, label: str, option: str) -> None:
    where.get_by_role("combobox", name=re.compile(f"^{label}")).click()
    page.get_by_role("option", name=option, exact=True).click()


def start_tool(page: Page, tool: str, title: str, fill: Callable[[Locator], None]) -> None:
    """Starts one tool from the list of runs and arrives on the page of its run."""
    go(page, "Runs")
    page.get_by_role("button", name="Start a run").first.click()
    dialog = page.get_by_role("dialog", name="Start a run")
    choose(page, dialog, "Tool", tool)
    fill(dialog)
    dialog.get_by_label("Title").fill(title)
    dialog.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


def start_trim(page: Page, title: str) -> None:
    def fill(dialog: Locator) -> None:
        choose(page, dialog, "Dataset", "crm_customers")
        choose(page, dialog, "Operation", "trim")

    start_tool(page, "Clean a dataset", title, fill)


def expect_status(page: Page, status: str) -> None:
    shown = page.get_by_role("status").filter(has_text=re.compile(f"^{status}"))
    expect(shown).to_be_visible(timeout=SLOW)


def open_inbox(page: Page) -> None:
    """By the entry that says how much waits."""
    page.get_by_role("link", name=re.compile(r"^Inbox ?, \d+ waiting")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Inbox")


def switch_safe_mode(page: Page) -> Locator:
    """The bar that says on every page that it is on."""
    go(page, "Policy")
    page.get_by_role("switch", name="Safe mode").click(force=True)
    return page.get_by_role("note", name="Safe mode")


def approve_from_the_inbox(page: Page) -> None:
    open_inbox(page)
    card = page.get_by_role("listitem").filter(has_text="Trim the customers")
    card.get_by_text("All details").click()
    expect(card.get_by_role("group", name="Exact payload")).to_contain_text("crm_customers")
    expect(card.get_by_role("group", name="Changed cells")).to_contain_text("Sauer Logistik GmbH")
    expect(card.get_by_text("Safe mode is on").first).to_be_visible()
    payload_hash = card.get_by_role("button", name=re.compile("^Hash "))
    assert re.fullmatch(r"[0-9a-f]{64}", payload_hash.get_attribute("title") or "")
    expect(card.get_by_text(re.compile("5[0-9] min .* left"))).to_be_visible()
    check_accessible(page)
    page.keyboard.press("a")
    expect(page.get_by_text("Approved", exact=True)).to_be_visible()
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()


def undo_what_was_done(page: Page) -> None:
    """Safe mode binds people, too: what somebody clicks waits for approval like what a run does."""
    address = page.url
    page.get_by_role("button", name=re.compile("^Undo: ")).click()
    page.get_by_role("link", name="Open the run").click()
    expect_status(page, "Waiting for approval")
    open_inbox(page)
    expect(page.get_by_role("listitem").filter(has_text="Undo an action")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_text("Approved", exact=True)).to_be_visible()
    page.goto(address)
    expect(page.get_by_role("button", name=re.compile("^Redo: "))).to_be_visible(timeout=SLOW)
    expect(page.get_by_text("Undone").first).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def replay(page: Page) -> None:
    page.get_by_role("button", name="Record").click()
    page.get_by_role("menuitem", name="Replay").click()
    dialog = page.get_by_role("dialog", name="Replay")
    expect(dialog.get_by_text("Replayed without a difference")).to_be_visible(timeout=SLOW)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def look_at_the_tabs(page: Page) -> None:
    check_accessible(page)
    for tab, seen in (
        ("Log", "run.done"),
        ("Inputs and outputs", "What it may do"),
        ("Journal", "call.intended · call"),
    ):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_text(seen).first).to_be_visible()
        check_accessible(page)
    page.get_by_role("tab", name="Steps").click()


def approve_replay_and_undo(page: Page) -> None:
    before = version_of(page, "crm_customers")
    start_trim(page, "Trim the customers")
    expect_status(page, "Waiting for approval")
    approve_from_the_inbox(page)
    go(page, "Runs")
    row = page.get_by_role("row").filter(has_text="Trim the customers")
    expect(row.get_by_text("Done")).to_be_visible(timeout=SLOW)
    expect(row.get_by_text("100 %")).to_be_visible()
    check_accessible(page)
    row.get_by_role("link").click()
    expect_status(page, "Done")
    assert version_of(page, "crm_customers") != before
    look_at_the_tabs(page)
    undo_what_was_done(page)
    assert version_of(page, "crm_customers") == before
    replay(page)


def reject_with_a_reason(page: Page) -> None:
    before = version_of(page, "crm_customers")
    start_trim(page, "Trim once more")
    expect_status(page, "Waiting for approval")
    page.get_by_role("button", name="Reject").click()
    page.get_by_label("Why not?").fill("Not before the audit")
    page.get_by_role("button", name="Reject").click()
    expect_status(page, "Failed")
    expect(page.get_by_text("Not before the audit").first).to_be_visible()
    assert version_of(page, "crm_customers") == before


def answer_a_question(page: Page) -> None:
    start_tool(
        page,
        "Ask a person",
        "Ask for the currency",
        lambda dialog: dialog.get_by_role("textbox", name="Question").fill(QUESTION),
    )
    expect_status(page, "Blocked")
    open_inbox(page)
    expect(page.get_by_text(QUESTION)).to_be_visible()
    check_accessible(page)
    page.get_by_label("Answer").fill("EUR")
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    go(page, "Runs")
    page.get_by_role("link", name="Ask for the currency").click()
    expect_status(page, "Done")
    page.get_by_role("tab", name="Inputs and outputs").click()
    expect(page.get_by_text("EUR", exact=True)).to_be_visible()


def forbid_changes(page: Page) -> None:
    go(page, "Policy")
    page.get_by_role("button", name="Read-only").click()
    page.get_by_role("button", name="Try on past runs").click()
    expect(page.get_by_role("list", name="Changed decisions")).to_contain_text("denied")
    check_accessible(page)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Read-only (in force)")).to_be_visible()
    page.get_by_role("tab", name="History").click()
    expect(page.get_by_role("group", name="What it changed")).to_contain_text("change nothing")
    page.get_by_role("tab", name="Explain").click()
    page.get_by_role("combobox", name="Tool").click()
    page.get_by_role("option", name=re.compile("^Clean a dataset")).click()
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_role("status").filter(has_text="Denied")).to_be_visible()
    check_accessible(page)


def verify_in_the_audit(page: Page) -> None:
    go(page, "Audit")
    page.get_by_label("Search events").fill("approval policy")
    expect(page.get_by_text("No event fits")).to_be_visible()
    page.get_by_label("Search events").fill("policy changed")
    expect(page.get_by_role("button", name="Owner changed the policy")).to_be_visible()
    check_accessible(page)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export as NDJSON").click()
    assert "org.steward.policy.changed" in saved.value.path().read_text()
    page.get_by_role("tab", name="Journals of runs").click()
    page.get_by_role("button", name="Verify all shown").click()
    expect(page.get_by_text("Verified", exact=True)).to_have_count(6, timeout=SLOW)
    check_accessible(page)


def schedule_a_flow(page: Page) -> None:
    go(page, "Schedules")
    page.get_by_role("button", name="Create a schedule").first.click()
    dialog = page.get_by_role("dialog", name="Create a schedule")
    expect(dialog.get_by_role("combobox", name="Playbook")).to_be_visible()
    dialog.get_by_role("button", name="write a flow as YAML").click()
    dialog.get_by_label("Name").fill("Nightly trim")
    expect(dialog.get_by_text("No problems found in 2 steps.")).to_be_visible()
    expect(dialog.get_by_text(re.compile("^Next: ")).get_by_role("time")).to_have_count(3)
    check_accessible(page)
    dialog.get_by_role("button", name="Save and switch on").click()
    row = page.get_by_role("row").filter(has_text="Nightly trim")
    expect(row).to_contain_text("Monday to Friday at 08:00")
    # An expression that only the expert's field can show is still there when it is opened again.
    row.get_by_role("button", name="Change Nightly trim").click()
    dialog = page.get_by_role("dialog", name="Change Nightly trim")
    expect(dialog.get_by_role("button", name="Fri", pressed=True)).to_be_visible()
    dialog.get_by_role("combobox", name="When").click()
    page.get_by_role("option", name="Cron expression").click()
    dialog.get_by_label("Cron expression").fill("0 8,17 * * *")
    dialog.get_by_role("button", name="Save and switch on").click()
    expect(row).to_contain_text("0 8,17 * * *")
    row.get_by_role("button", name="Change Nightly trim").click()
    expect(dialog.get_by_label("Cron expression")).to_have_value("0 8,17 * * *")
    dialog.get_by_role("button", name="Cancel").click()
    check_accessible(page)
    row.get_by_role("button", name="Delete Nightly trim").click()
    expect(page.get_by_text("No schedules yet")).to_be_visible()
    messages = page.get_by_role("region", name="Messages")
    messages.get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("0 8,17 * * *")


def test_runs_wait_for_people_and_obey_the_policy(site: Site, open_desk: OpenDesk) -> None:
    page = open_desk().page
    page.goto(site.sign_in)
    expect(page.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
    go(page, "Runs")
    expect(page.get_by_text("No runs yet")).to_be_visible()

    safe_mode = switch_safe_mode(page)
    expect(safe_mode).to_contain_text("until a person approves")
    approve_replay_and_undo(page)
    reject_with_a_reason(page)
    switch_safe_mode(page)
    expect(safe_mode).to_have_count(0)

    start_trim(page, "Trim by itself")
    expect_status(page, "Done")
    answer_a_question(page)
    forbid_changes(page)
    start_trim(page, "Trim against the rules")
    expect_status(page, "Failed")
    expect(page.get_by_text("Denied").first).to_be_visible()
    verify_in_the_audit(page)
    schedule_a_flow(page)


def test_a_run_is_taken_back_as_a_whole(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    go(page, "Datasets")
    before = version_of(page, "crm_customers")
    start_trim(page, "Trim and take back")
    expect_status(page, "Done")
    assert version_of(page, "crm_customers") != before
    page.get_by_role("button", name="Take back this run").click()
    dialog = page.get_by_role("dialog", name="Take back this run")
    expect(dialog.get_by_text("This change goes back")).to_be_visible()
    check_accessible(page)
    dialog.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("This run was taken back")).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("button", name="Take back this run")).to_have_count(0)
    assert version_of(page, "crm_customers") == before
    check_accessible(page)
