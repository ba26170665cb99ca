"""Questions in a real browser: read in chips, changed by clicking, kept as a definition, and taken back."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import SLOW, check_accessible

OpenDesk = Callable[..., Desk]
TOTAL = "total gross by currency"
UNPAID = "How many invoices are unpaid, and how much?"
LATE = "How many billing invoices are belated?"


def ask(page: Page, question: str) -> Locator:
    """The turn that answers a question, in a conversation of its own."""
    page.get_by_role("button", name="New conversation").click()
    box = page.get_by_role("textbox", name="Message")
    box.fill(question)
    box.press("Enter")
    return answered(page)


def answered(page: Page) -> Locator:
    turn = page.locator("article").last
    expect(turn.get_by_role("button", name="Answer again")).to_be_visible(timeout=SLOW)
    return turn


def reading_of(turn: Locator) -> Locator:
    return turn.get_by_role("region", name="How the question was read")


def choose(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("dialog").get_by_role("button", name=name, exact=True).first.click()


def see_the_reading_and_change_a_chip(page: Page) -> None:
    turn = ask(page, TOTAL)
    chips = reading_of(turn)
    for text in ("billing invoices", "total of gross", "by currency"):
        expect(chips.get_by_role("button", name=text, exact=True)).to_be_visible()
    expect(turn.get_by_text(re.compile("EUR has the highest total gross"))).to_be_visible()
    expect(turn.get_by_role("img").first).to_be_visible(timeout=SLOW)
    check_accessible(page)
    chips.get_by_role("button", name="by currency", exact=True).click()
    page.get_by_role("dialog").get_by_role("textbox", name="Search").fill("product")
    page.get_by_role("dialog").get_by_text("by product", exact=True).click()
    changed = page.locator("article").last
    expect(reading_of(changed).get_by_text("by product")).to_be_visible(timeout=SLOW)
    turn = answered(page)
    expect(turn.get_by_text(re.compile("has the highest total gross"))).to_be_visible()
    expect(turn.get_by_text(re.compile("can be in several currencies"))).to_be_visible()
    turn.get_by_text("How this was done").click()
    expect(turn.get_by_role("region", name=re.compile("^Plan:"))).to_be_visible()
    expect(turn.get_by_text("% sure")).to_have_count(0)


def ask_what_is_not_known(page: Page) -> Locator:
    turn = ask(page, LATE)
    expect(turn.get_by_text("Not used: belated")).to_be_visible()
    expect(turn.get_by_text(re.compile("I did not use:"))).to_be_visible()
    return turn


def say_what_it_means_and_confirm(page: Page, turn: Locator) -> None:
    reading_of(turn).get_by_role("button", name="Add").click()
    choose(page, "Condition")
    page.get_by_role("dialog").get_by_role("textbox", name="Search").fill("status")
    choose(page, "status")
    page.get_by_role("dialog").get_by_text(re.compile("^only overdue$")).first.click()
    last = page.locator("article").last
    expect(last.get_by_text(re.compile(r"have the status overdue"))).to_be_visible(timeout=SLOW)
    answered(page).get_by_role("button", name="Confirm this reading").click()
    expect(last.get_by_role("link", name="Definitions")).to_be_visible(timeout=SLOW)


def build_a_question(page: Page) -> None:
    page.get_by_role("button", name="New conversation").click()
    page.get_by_role("button", name="Build a question").click()
    builder = page.get_by_role("dialog", name="Build a question")
    builder.get_by_role("textbox", name="Search").fill("billing")
    builder.get_by_text("billing invoices").first.click()
    builder.get_by_role("button", name="Add").click()
    page.get_by_role("dialog").get_by_role("button", name="Group by").click()
    page.get_by_role("dialog").get_by_role("textbox", name="Search").fill("currency")
    page.get_by_text("by currency", exact=True).first.click()
    expect(builder.get_by_role("button", name="by currency")).to_be_visible()
    builder.get_by_role("button", name="Answer", exact=True).click()
    turn = answered(page)
    expect(turn.get_by_text(re.compile("EUR has the most billing invoices"))).to_be_visible()
    expect(turn.get_by_role("img").first).to_be_visible(timeout=SLOW)


def define_words_and_answer(page: Page) -> None:
    turn = ask(page, UNPAID)
    form = turn.get_by_role("form", name="Define and answer")
    expect(form.get_by_text("“unpaid” means here:")).to_be_visible()
    check_accessible(page)
    # Nothing is taken for unpaid before a person says so: cancelled invoices and credits need not be.
    expect(form.get_by_role("button", name="Confirm and answer")).to_be_disabled()
    for value in ("status open", "status overdue"):
        form.get_by_label(value).check()
    form.get_by_label("total of gross").check()
    form.get_by_role("button", name="Confirm and answer").click()
    last = page.locator("article").last
    expect(last.get_by_text(re.compile("There are 272 unpaid"))).to_be_visible(timeout=SLOW)
    turn = answered(page)
    expect(turn.get_by_text(re.compile("amount is €"))).to_be_visible()
    expect(reading_of(turn).get_by_role("button", name="by currency")).to_be_visible()
    reading_of(turn).get_by_role("button", name="only unpaid", exact=True).click()
    page.get_by_role("link", name="See its definition").click()
    entry = page.get_by_test_id("definition /tables/billing_invoices/segments/unpaid")
    expect(entry).to_contain_text("Confirmed")
    expect(entry).to_have_attribute("data-shown", "true")
    check_accessible(page)
    page.get_by_role("link", name="Chat").click()


def undo_the_definition(page: Page) -> None:
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("The definitions are as they were")).to_be_visible(timeout=SLOW)


def test_a_question_is_read_changed_defined_and_undone(site: Site, open_desk: OpenDesk) -> None:
    page = open_desk().page
    page.goto(site.sign_in)
    expect(page.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
    page.get_by_role("link", name="Chat").click()
    see_the_reading_and_change_a_chip(page)
    build_a_question(page)
    say_what_it_means_and_confirm(page, ask_what_is_not_known(page))
    turn = ask(page, LATE)
    expect(turn.get_by_text(re.compile("have the status overdue"))).to_be_visible()
    expect(reading_of(turn).get_by_text("only overdue")).to_be_visible()
    undo_the_definition(page)
    ask_what_is_not_known(page)
    define_words_and_answer(page)
