"""A failing run in a real browser: found on the overview, understood, fixed at its node, retried from there, kept as a test."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import SLOW, check_accessible
from tests.journeys.test_first_steps import go, sign_in
from tests.journeys.test_flows import box, field, save

OpenDesk = Callable[..., Desk]
FLOW = """\
format: 1
id: daily-count
name: Daily count
budget: {usd: 1}
graph:
  nodes:
    - {id: first, type: code, title: First, language: sql, code: SELECT 1 AS n}
    - {id: total, type: code, title: Total, needs: [first], language: sql, code: SELECT n FROM nowhere}
"""
_CREATE = """async ([project, yaml]) => {
  const session = await (await fetch('/api/v1/session')).json();
  const answer = await fetch(`/api/v1/projects/${project}/playbooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': session.csrf_token },
    body: JSON.stringify({ yaml, message: '' }),
  });
  return (await answer.json()).id;
}"""


def fail(page: Page) -> None:
    """A flow whose second step reads a table that is not there, run once from the canvas."""
    base, _, rest = page.url.partition("/p/")
    project = rest.split("/")[0]
    made = page.evaluate(_CREATE, [project, FLOW])
    page.goto(f"{base}/p/{project}/flows/{made}")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(box(page, "Total").get_by_text("Failed")).to_be_visible(timeout=SLOW)


def understand(page: Page) -> None:
    """From the overview to the run, and from what Analyse found to its span."""
    go(page, "Overview")
    page.get_by_role("link", name="Open the latest failed run of Daily count").click()
    page.get_by_role("link", name="Analyse").click()
    analysis = page.get_by_role("region", name="Analysis")
    cause = analysis.get_by_role("listitem").first
    expect(cause).to_contain_text("The run failed at", timeout=SLOW)
    expect(cause).to_contain_text("nowhere")
    check_accessible(page)
    cause.get_by_role("button").first.click()
    details = page.get_by_role("region", name=re.compile("^Details of"))
    expect(details.get_by_text("nowhere").first).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("treeitem", selected=True)).to_have_count(1)


def fold_by_keyboard(page: Page) -> None:
    tree = page.get_by_role("tree", name="Spans")
    tree.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(tree.get_by_role("treeitem")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(tree.get_by_role("treeitem").nth(2)).to_be_visible()
    page.keyboard.press("e")
    expect(page.get_by_role("region", name=re.compile("^Details of"))).to_contain_text("error")


def test_a_failing_run_is_found_understood_fixed_retried_and_kept_as_a_test(
    site: Site, open_desk: OpenDesk
) -> None:
    page = sign_in(open_desk(), site)
    fail(page)
    understand(page)
    fold_by_keyboard(page)
    failed = page.url
    details = page.get_by_role("region", name=re.compile("^Details of"))
    details.get_by_role("link", name="Show on the canvas").click()
    field(page, "Code").fill("SELECT 2 AS n")
    save(page)
    page.goto(failed)
    details.get_by_role("button", name="Retry from here").click()
    dialog = page.get_by_role("dialog", name=re.compile("^Retry from"))
    expect(dialog.get_by_role("combobox", name="Revision")).to_have_value("The newest (2)")
    dialog.get_by_role("button", name="Retry").click()
    expect(page.get_by_text("forked from")).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("status").get_by_text("Done")).to_be_visible(timeout=SLOW)
    page.get_by_role("tab", name="Trace").click()
    page.get_by_role("treeitem").first.click()
    page.get_by_role("button", name="Make a test of it").click()
    keep = page.get_by_role("dialog", name="Keep the run as a test")
    keep.get_by_label("Name of the test").fill("Counts two")
    keep.get_by_role("button", name="Keep").click()
    expect(page.get_by_text("Kept as the test Counts two")).to_be_visible(timeout=SLOW)
