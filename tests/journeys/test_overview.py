"""The overview in a real browser: figures change while somebody looks, and lead to their lists."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_alerts import fail_a_run
from tests.journeys.test_data import check_accessible
from tests.journeys.test_first_steps import go, sign_in

OpenDesk = Callable[..., Desk]


def tile(page: Page, label: str) -> str:
    return page.locator("dl > div").filter(has_text=label).locator("dd").first.inner_text()


def test_a_failed_run_appears_by_itself_and_leads_to_the_list(
    site: Site, open_desk: OpenDesk
) -> None:
    page = sign_in(open_desk(), site)
    go(page, "Overview")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    assert tile(page, "Failed") == "0%"
    fail_a_run(page)
    expect(page.get_by_role("heading", name="Failing", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("^Open the latest failed run"))).to_be_visible()
    assert tile(page, "Failed") != "0%"
    check_accessible(page)
    page.get_by_role("link", name="Failed", exact=True).click()
    expect(page).to_have_url(re.compile(r"/runs\?status=failed&since="))
    expect(page.get_by_text(re.compile("^Runs that ended, from"))).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(2)
    check_accessible(page)
    page.get_by_role("link", name="Show all runs", exact=True).click()
    expect(page).to_have_url(re.compile(r"/runs$"))


def test_the_overview_leads_to_the_page_of_a_flow(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    fail_a_run(page)
    go(page, "Overview")
    flows = page.get_by_role("region", name="Flows and playbooks", exact=True)
    flows.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"/overview/flow/"))
    expect(page.get_by_role("heading", name="How it failed", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Versions", exact=True)).to_be_visible()
    assert tile(page, "Failed") != "0"
    check_accessible(page)
    address = page.url
    page.get_by_role("link", name="Latest run", exact=True).first.click()
    expect(page).to_have_url(re.compile(r"/runs/run_"))
    # Each figure of the page leads to the runs that it counts.
    page.goto(address)
    failures = page.get_by_role("region", name="How it failed", exact=True)
    failures.get_by_role("link", name="1 time", exact=True).first.click()
    expect(page.get_by_text(re.compile("with the error"))).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(2)


def test_names_and_cells_lead_to_what_is_behind_them(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    fail_a_run(page)
    go(page, "Overview")
    heat = page.get_by_role("group", name="Flows by time", exact=True)
    heat.get_by_role("link", name=re.compile("1 failed")).click()
    expect(page.get_by_text(re.compile("^Runs that ended, of .*, from .*, until"))).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(2)
    go(page, "Overview")
    page.get_by_role("tab", name="Costs", exact=True).click()
    page.get_by_role("group", name="Sums").get_by_role("rowheader").get_by_role(
        "link"
    ).first.click()
    expect(page).to_have_url(re.compile(r"/overview/flow/"))
