"""Plug-ins in a real browser: a wheel is shown before anything runs, installed, drawn with, disabled, removed."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import SLOW, check_accessible
from tests.journeys.test_first_steps import go, sign_in
from tests.journeys.test_flows import add, box, field, save
from tests.plugins.wheels import example

OpenDesk = Callable[..., Desk]


def test_look_install_draw_disable_and_remove(
    site: Site, open_desk: OpenDesk, tmp_path: Path
) -> None:
    wheel = tmp_path / "acme_invoices-1.0.0-py3-none-any.whl"
    wheel.write_bytes(example())
    page = sign_in(open_desk(), site)
    go(page, "Plug-ins")
    expect(page.get_by_text("No plug-ins yet")).to_be_visible()
    page.locator("input[type=file]").set_input_files(wheel)
    dialog = page.get_by_role("dialog", name="Install a plug-in")
    expect(dialog.get_by_text("acme-invoices 1.0.0")).to_be_visible(timeout=SLOW)
    expect(dialog).to_contain_text("runs in the sandbox")
    expect(dialog).to_contain_text("It can read and change everything that Steward can")
    install = dialog.get_by_role("button", name="Install acme-invoices")
    expect(install).to_be_disabled()
    check_accessible(page)
    dialog.get_by_role("switch", name="I trust this code").check()
    install.click()
    expect(page.get_by_text("acme-invoices 1.0.0 installed")).to_be_visible(timeout=SLOW)
    check_accessible(page)
    # Where code runs with the server's rights is seen on a phone, too.
    page.set_viewport_size({"width": 390, "height": 844})
    row = page.get_by_role("row", name=re.compile("acme-invoices"))
    expect(row.get_by_text("runs with the server’s rights").first).to_be_visible()
    page.set_viewport_size({"width": 1440, "height": 900})

    go(page, "Flows")
    page.get_by_role("link", name="New flow").first.click()
    page.get_by_label("Name", exact=True).fill("Terms")
    add(page, "due date", "Due date")
    field(page, "Date").fill("2026-03-02")
    add(page, "reference", "Payment reference")
    field(page, "Invoice").fill("539007547034")
    save(page)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(box(page, "Payment reference").get_by_text("Done")).to_be_visible(timeout=SLOW)

    go(page, "Plug-ins")
    page.get_by_role("switch", name="Enable acme-invoices").press("Space")
    expect(page.get_by_text("acme-invoices disabled")).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Remove acme-invoices").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_role("heading", name="Removed")).to_be_visible(timeout=SLOW)
    go(page, "Activity")
    expect(page.get_by_text(re.compile("removed the plug-in “acme-invoices”"))).to_be_visible()
