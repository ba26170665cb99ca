"""Versions of a flow in a real browser: compared on the canvas, deployed with checks, tried, rolled back, run again."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import SLOW, check_accessible
from tests.journeys.test_first_steps import go, sign_in

OpenDesk = Callable[..., Desk]
FIRST = """\
format: 1
id: tally
name: Tally
budget: {usd: 1}
graph:
  nodes:
    - {id: look, type: tool, title: Look, tool: list_datasets, arguments: {}}
    - {id: schema, type: tool, title: Schema, tool: get_dataset_schema, needs: [look], arguments: {dataset: missing}}
    - {id: result, type: output, needs: [schema], value: 1}
"""
SECOND = (
    FIRST.replace("usd: 1", "usd: 2")
    .replace(
        "- {id: schema, type: tool, title: Schema, tool: get_dataset_schema, needs: [look], arguments: {dataset: missing}}",
        "- {id: again, type: tool, title: Look again, tool: list_datasets, needs: [look], arguments: {}}",
    )
    .replace("needs: [schema], value: 1", "needs: [again], value: 2")
)


def test_compare_deploy_try_and_go_back(site: Site, open_desk: OpenDesk, tmp_path: Path) -> None:
    file = tmp_path / "tally.yaml"
    file.write_text(FIRST)
    site.steward("playbooks", "import", str(file))
    site.steward("playbooks", "deploy", "tally", "--message", "First")
    site.steward("playbooks", "run", "tally", "--drive")
    file.write_text(SECOND)
    site.steward("playbooks", "import", str(file))
    page = sign_in(open_desk(), site)
    go(page, "Flows")
    page.get_by_role("link", name="Tally").first.click()
    page.get_by_role("link", name="Versions").click()
    expect(page.get_by_text("Steps: 1 added, 1 removed, 1 changed.")).to_be_visible(timeout=SLOW)
    before = page.get_by_role("region", name="Revision 1")
    after = page.get_by_role("region", name="Revision 2")
    expect(before.locator(".react-flow__node").filter(has_text="Schema")).to_contain_text("removed")
    expect(after.locator(".react-flow__node").filter(has_text="Look again")).to_contain_text(
        "added"
    )
    expect(page.get_by_role("region", name="Settings that differ")).to_contain_text("budget › usd")
    check_accessible(page)
    page.get_by_role("button", name="Start the trial").click()
    expect(page.get_by_text("Revision 2 gets 10% of the runs").first).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="End the trial").click()
    page.get_by_role("button", name="Deploy…").click()
    dialog = page.get_by_role("dialog", name="Deploy Tally")
    expect(dialog.get_by_text("The document is valid.")).to_be_visible(timeout=SLOW)
    dialog.get_by_label("Message").fill("Looks twice")
    dialog.get_by_role("button", name="Deploy revision 2").click()
    expect(page.get_by_text("Revision 2 is deployed.")).to_be_visible(timeout=SLOW)
    page.get_by_role("tab", name="Run again").click()
    page.get_by_role("button", name="Choose the one that failed").click()
    page.get_by_role("combobox", name="From").click()
    page.get_by_role("option", name="Look (look)").click()
    page.get_by_role("button", name="Run again").click()
    expect(page.get_by_text("The run has started").first).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Roll back to revision 1").click()
    expect(page.get_by_text("Revision 1 is deployed; the newest is 2.")).to_be_visible(timeout=SLOW)
    page.get_by_role("tab", name="Deployments").click()
    expect(page.get_by_text("Rolled back to revision 1")).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="What it pins").first.click()
    expect(page.get_by_text("Every part is still what it was.")).to_be_visible(timeout=SLOW)
    check_accessible(page)
    # What runs is repeated with the newest revision, without effects, and compared.
    page.get_by_role("tab", name="Shadow").click()
    expect(page.get_by_text("No version ran in shadow yet")).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Start the shadow").click()
    expect(page.get_by_text("Revision 2: 0 of 0 runs equal")).to_be_visible(timeout=SLOW)
    site.steward("playbooks", "run", "tally", "--drive")
    expect(page.get_by_text("Different")).to_be_visible(timeout=4 * SLOW)
    ended = page.get_by_role("region", name="How it ended")
    expect(ended).to_contain_text("Live: failed")
    expect(ended).to_contain_text("Shadow: done")
    check_accessible(page)
    page.get_by_role("button", name="End the shadow").click()
    expect(page.get_by_text("It has ended.")).to_be_visible(timeout=SLOW)
