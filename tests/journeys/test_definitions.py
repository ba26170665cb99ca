"""Definitions in a real browser: proposals are looked at, confirmed, edited, compared and undone."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.journeys.conftest import Desk, Site, accessibility_problems
from tests.journeys.test_first_steps import go

GROSS = "definition /tables/billing_invoices/columns/gross"


def test_definitions_are_confirmed_edited_and_undone(
    site: Site, open_desk: Callable[..., Desk]
) -> None:
    page = open_desk().page
    page.goto(site.sign_in)
    go(page, "Definitions")
    page.locator("summary", has_text="billing_invoices").click()
    gross = page.get_by_test_id(GROSS)
    expect(gross).to_contain_text("To confirm")

    page.get_by_role("button", name="Confirm gross").click()
    expect(gross).to_contain_text("Confirmed")
    page.get_by_role("combobox", name="Role of gross").select_option("measure")
    page.get_by_role("button", name="Edit gross").click()
    page.get_by_label("Unit", exact=True).fill("EUR")
    page.get_by_role("button", name="Save").click()
    expect(gross).to_contain_text("in EUR")
    assert accessibility_problems(page) == []

    page.get_by_role("button", name="New metric").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("turnover")
    dialog.get_by_label("Formula").fill("sum(nothing)")
    dialog.get_by_label("Table").select_option("billing_invoices")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("there is no column 'nothing'")
    dialog.get_by_label("Formula").fill("sum(gross)")
    dialog.get_by_role("button", name="Save").click()
    metric = page.get_by_test_id("definition /metrics/turnover")
    expect(metric).to_contain_text("sum(gross)")

    views = page.get_by_role("radiogroup", name="Which definitions to show")
    views.get_by_text("History").click()
    page.get_by_text("(current)").click()
    expect(page.get_by_text("turnover: ")).to_be_visible()
    page.get_by_role("button", name="Undo revision").click()
    expect(page.get_by_text("Restored revision")).to_be_visible()
    views.get_by_text("All").click()
    expect(metric).to_have_count(0)


def test_definitions_fit_a_narrow_dark_screen(site: Site, open_desk: Callable[..., Desk]) -> None:
    page = open_desk(width=390, height=844, dark=True).page
    page.goto(site.sign_in)
    expect(page.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
    page.goto(page.url.partition("?")[0].rstrip("/") + "/definitions?show=open")
    expect(page.get_by_role("heading", level=1)).to_have_text("Definitions")
    expect(page.get_by_test_id(GROSS)).to_be_visible()
    assert accessibility_problems(page) == []
    wide = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.evaluate(wide)
