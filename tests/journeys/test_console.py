"""The console in a real browser: queries written with completion, given values, run, drawn, kept, called off."""

import re
from collections.abc import Callable

import yaml  # type: ignore[import-untyped]
from playwright.sync_api import Locator, Page, expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import SLOW, check_accessible
from tests.journeys.test_first_steps import go, sign_in
from tests.journeys.test_runs import expect_status

OpenDesk = Callable[..., Desk]

CHART = """frame = con.execute("SELECT segment, count(*) AS n FROM crm_customers GROUP BY ALL").df()
print(len(frame), "segments")
chart = {
    "data": {"values": frame.to_dict("records")},
    "mark": "bar",
    "encoding": {"x": {"field": "segment", "type": "nominal"}, "y": {"field": "n", "type": "quantitative"}},
}
"""
ENDLESS = "SELECT count(*) FROM range(100000000) a, range(100000000) b"


def editor(page: Page, kind: str = "SQL") -> Locator:
    return page.get_by_role("textbox", name=re.compile(f"^{kind}"))


def history(page: Page) -> Locator:
    return page.get_by_role("region", name="History").get_by_role("listitem")


def write_with_completion(page: Page) -> None:
    """Names are offered while one types; the keyboard alone is enough."""
    field = editor(page)
    field.press_sequentially("SELECT segment, count(*) AS n FROM crm")
    option = page.get_by_role("option", name="crm_customers")
    expect(option).to_have_attribute("aria-selected", "true")
    check_accessible(page)
    field.press("Tab")
    field.press_sequentially(" WHERE crm_customers.emp")
    expect(page.get_by_role("option", name=re.compile("^employees"))).to_be_visible()
    field.press("Tab")
    field.press_sequentially(" >= $least GROUP BY ALL ORDER BY n DESC")
    expect(field).to_have_value(
        "SELECT segment, count(*) AS n FROM crm_customers WHERE crm_customers.employees >= $least "
        "GROUP BY ALL ORDER BY n DESC"
    )


def run_with_a_value(page: Page) -> None:
    editor(page).press("Control+Enter")
    problem = page.get_by_role("alert")
    expect(problem).to_contain_text("least", timeout=SLOW)
    page.get_by_role("textbox", name="Value of least").fill("10")
    page.get_by_role("button", name="Run", exact=True).click()
    rows = page.get_by_role("group", name="Rows of the result")
    expect(rows.get_by_role("row")).not_to_have_count(0, timeout=SLOW)
    first = rows.get_by_role("row").nth(1).get_by_role("cell")
    expect(first.nth(0)).to_have_css("text-align", "left")
    expect(first.nth(1)).to_have_css("text-align", "right")
    assert int(first.nth(1).inner_text()) > 0
    check_accessible(page)
    page.get_by_role("tab", name="SQL").click()
    expect(page.get_by_text("main.crm_customers").first).to_be_visible()
    page.get_by_role("tab", name="Details").click()
    expect(page.get_by_role("group", name="Details")).to_contain_text("least")
    check_accessible(page)


def make_it_a_step(page: Page) -> None:
    page.get_by_role("button", name="Make it a step").click()
    expect(page.get_by_text("The step is copied")).to_be_visible()
    [node] = yaml.safe_load(page.evaluate("() => navigator.clipboard.readText()"))
    assert node["tool"] == "execute_sql"
    assert node["arguments"]["parameters"] == {"least": 10}
    assert "$least" in node["arguments"]["sql"]


def save_as_dataset(page: Page) -> None:
    page.get_by_role("button", name="Save as dataset").click()
    dialog = page.get_by_role("dialog", name="Save as dataset")
    dialog.get_by_label("Name").fill("segments")
    check_accessible(page)
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Save segments")
    expect_status(page, "Done")
    go(page, "Datasets")
    expect(page.get_by_role("link", name="segments", exact=True)).to_be_visible()


def bring_back_from_the_history(page: Page) -> None:
    go(page, "Console")
    expect(history(page)).to_have_count(2)
    history(page).first.get_by_role("button").click()
    expect(editor(page)).to_have_value(re.compile(r"\$least"))
    expect(page.get_by_role("textbox", name="Value of least")).to_have_value("10")
    expect(page.get_by_role("group", name="Rows of the result")).to_be_visible()


def draw_a_chart(page: Page) -> None:
    page.get_by_text("Python", exact=True).click()
    editor(page, "Python").fill(CHART)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text(re.compile(r"^\d+ segments"))).to_be_visible(timeout=SLOW)
    page.get_by_role("tab", name="Chart").click()
    bars = page.get_by_role("tabpanel").locator("svg .mark-rect path")
    expect(bars.first).to_be_visible(timeout=SLOW)
    expect(bars).not_to_have_count(1)
    check_accessible(page)


def call_off_a_long_query(page: Page) -> None:
    page.get_by_text("SQL", exact=True).first.click()
    editor(page).fill(ENDLESS)
    editor(page).press("Control+Enter")
    expect(page.get_by_role("status").filter(has_text="Running")).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("status").filter(has_text="Cancelled")).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()
    go(page, "Runs")
    row = page.get_by_role("row").filter(has_text="range(100000000)")
    expect(row.get_by_text("Cancelled")).to_be_visible(timeout=SLOW)


def test_a_query_is_written_run_kept_and_called_off(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    go(page, "Console")
    expect(page.get_by_text("Nothing was asked yet.")).to_be_visible()
    check_accessible(page)
    write_with_completion(page)
    run_with_a_value(page)
    make_it_a_step(page)
    save_as_dataset(page)
    bring_back_from_the_history(page)
    draw_a_chart(page)
    call_off_a_long_query(page)
