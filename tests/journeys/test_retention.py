"""An owner sets how long records are kept, sees what would go, and places and lifts a legal hold."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import check_accessible
from tests.journeys.test_first_steps import sign_in


def test_retention_and_a_legal_hold(site: Site, open_desk: Callable[..., Desk]) -> None:
    page = sign_in(open_desk(), site)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Settings").click()
    page.get_by_role("region", name="Retention").get_by_role("link", name="Open").click()
    expect(page.get_by_role("heading", level=1, name="Retention")).to_be_visible()
    page.get_by_label("Runs, days").fill("365")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_role("button", name="Show what would be deleted").click()
    preview = page.get_by_role("table", name="What would be deleted")
    expect(preview.get_by_role("row", name="Runs 0")).to_be_visible()
    check_accessible(page)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("These periods take effect")).to_be_visible()

    page.get_by_label("Name of the hold").fill("Smith v. Example")
    page.get_by_label("Reason").fill("A claim was filed.")
    page.get_by_role("button", name="Place a hold").click()
    expect(page.get_by_text("A legal hold is in force")).to_be_visible()
    check_accessible(page)
    page.get_by_role("button", name="Lift Smith v. Example").click()
    page.get_by_label("Why is the hold lifted?").fill("Settled.")
    check_accessible(page)
    page.get_by_role("button", name="Lift the hold").click()
    expect(page.get_by_text("Lifted", exact=True)).to_be_visible()
    expect(page.get_by_text("A legal hold is in force")).to_have_count(0)
