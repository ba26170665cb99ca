"""Everyday tasks of docs/tasks-counted.md without a mouse: Tab, arrow keys, Enter and typing are enough."""

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.conftest import Desk, Site, running
from tests.journeys.keyboard import Keyboard
from tests.journeys.test_data import SLOW
from tests.journeys.test_first_steps import sign_in
from tests.models.openai_server import OpenAiServer

OpenDesk = Callable[..., Desk]
BLUEPRINT = "Profile a dataset and write a report"


@pytest.fixture(scope="module")
def site(first_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One installation for all tasks; the server allows a model and a file on this machine."""
    folder = tmp_path_factory.mktemp("keyboard")
    with running(
        shutil.copytree(first_home, folder / "home"),
        STEWARD_NETWORK__ALLOW_PRIVATE='["127.0.0.1"]',
        STEWARD_CONNECTIONS__FILE_FOLDERS=f'["{folder}"]',
    ) as started:
        yield started


@pytest.fixture
def keys(site: Site, open_desk: OpenDesk) -> Keyboard:
    return Keyboard(sign_in(open_desk(width=1280, height=800), site.with_new_link()))


def dialog(page: Page, name: str = "") -> Locator:
    return page.get_by_role("dialog", name=re.compile(name))


def tab(keys: Keyboard, within: Locator | Page, name: str, *, back: bool = False) -> None:
    """Goes to the row of tabs, along it by arrow keys, and opens one."""
    wanted = within.get_by_role("tab", name=name)
    keys.reach(within.get_by_role("tab", selected=True), back=back)
    for _ in range(within.get_by_role("tab").count()):
        if wanted.evaluate("(tab) => tab === document.activeElement"):
            break
        keys.press("ArrowRight")
    keys.press("Enter")
    expect(wanted).to_have_attribute("aria-selected", "true")


def expect_status(page: Page, status: str) -> None:
    shown = page.get_by_role("status").filter(has_text=re.compile(f"^{status}"))
    expect(shown.first).to_be_visible(timeout=SLOW)


def load_a_file_and_chart_it_by_month(keys: Keyboard, file: Path) -> None:
    page = keys.page
    keys.go("Datasets")
    keys.use(page.get_by_role("button", name="Load files").first)
    with page.expect_file_chooser() as chooser:
        keys.use(dialog(page).get_by_role("button", name="Choose files"))
    chooser.value.set_files(file)
    load = dialog(page).get_by_role("button", name="Load", exact=True)
    expect(load).to_be_enabled(timeout=SLOW)
    keys.keeps_focus()
    keys.use(load)
    opened = dialog(page).get_by_role("link", name=f"Open {file.stem}")
    expect(opened).to_be_visible(timeout=SLOW)
    keys.keeps_focus()
    keys.use(opened)
    expect(page.get_by_role("heading", level=1, name=file.stem)).to_be_focused()
    tab(keys, page, "Charts")
    keys.choose(page.get_by_role("combobox", name="Period"), "^month$")
    expect(page.get_by_text("Sum of Amount by month of Day")).to_be_visible(timeout=SLOW)


def clean_a_column_and_undo_it(keys: Keyboard) -> None:
    page = keys.page
    tab(keys, page, "Clean", back=True)
    keys.choose(page.get_by_role("combobox", name="Operation"), "^Trim$")
    keys.use(page.get_by_role("button", name="Preview", exact=True))
    apply = dialog(page).get_by_role("button", name="Apply")
    expect(apply).to_be_enabled(timeout=SLOW)
    keys.use(apply)
    expect(dialog(page)).to_have_count(0, timeout=SLOW)
    keys.keeps_focus()
    keys.press("Control+z")
    messages = page.get_by_role("region", name="Messages")
    expect(messages.get_by_role("button", name="Redo")).to_be_visible(timeout=SLOW)


def see_what_happened_today(keys: Keyboard) -> None:
    page = keys.page
    keys.go("Activity")
    expect(page.get_by_text(re.compile("Owner.*sales")).first).to_be_visible(timeout=SLOW)


def test_load_chart_clean_and_undo(keys: Keyboard, tmp_path: Path) -> None:
    file = tmp_path / "sales.csv"
    days = [f"2026-{month:02}-{day:02}" for month in range(1, 7) for day in range(1, 20)]
    rows = (f"{day},  Ada ,{amount}\n" for amount, day in enumerate(days))
    file.write_text("Day,Customer,Amount\n" + "".join(rows))
    load_a_file_and_chart_it_by_month(keys, file)
    clean_a_column_and_undo_it(keys)
    see_what_happened_today(keys)


def test_ask_and_have_it_each_monday(keys: Keyboard) -> None:
    page = keys.page
    keys.fill(page.get_by_label("Your question"), "Unpaid invoices")
    keys.press("Enter")
    form = page.get_by_role("form", name="Define and answer")
    expect(form).to_be_visible(timeout=SLOW)
    # The focus is still in the field for the next question, below.
    for value in ("status open", "status overdue"):
        keys.use(form.get_by_label(value), "Space", back=True)
    keys.use(form.get_by_role("button", name="Confirm and answer"))
    repeat = page.get_by_role("button", name="Make this a playbook…")
    expect(repeat).to_be_visible(timeout=SLOW)
    keys.keeps_focus()
    keys.use(repeat, back=True)
    made = dialog(page, "Make this a playbook")
    keys.choose(made.get_by_role("combobox", name="When"), "On these weekdays")
    for day in ("Tue", "Wed", "Thu", "Fri"):
        keys.use(made.get_by_role("button", name=day, exact=True))
    keys.use(made.get_by_role("button", name="Save and switch on"))
    expect(page).to_have_url(re.compile("/playbooks/pbk_.*tab=schedule"), timeout=SLOW)
    expect(dialog(page).get_by_role("listitem").first).to_contain_text("Every Monday at 08:00")


def test_run_a_blueprint_approve_it_and_take_it_back(keys: Keyboard) -> None:
    page = keys.page
    keys.go("Policy")
    keys.use(page.get_by_role("switch", name="Safe mode"), "Space")
    expect(page.get_by_role("note", name="Safe mode")).to_be_visible()
    keys.go("Blueprints")
    keys.use(page.get_by_role("button", name=f"Fork {BLUEPRINT}"))
    keys.choose(page.get_by_role("combobox", name="Dataset"), "^crm_customers$")
    keys.use(page.get_by_role("button", name="Run", exact=True))
    expect_status(page, "Waiting for approval")
    keys.go("Policy")
    keys.use(page.get_by_role("switch", name="Safe mode"), "Space")
    expect(page.get_by_role("note", name="Safe mode")).to_have_count(0)
    keys.go("Inbox")
    keys.use(page.get_by_role("button", name=re.compile("^Approve")).first)
    expect(page.get_by_text("Approved", exact=True)).to_be_visible(timeout=SLOW)
    keys.go("Runs")
    keys.use(page.get_by_role("row").get_by_role("link").first)
    expect_status(page, "Done")
    keys.use(page.get_by_role("button", name="Take back this run"))
    keys.use(dialog(page, "Take back").get_by_role("button", name="Undo", exact=True))
    expect(page.get_by_text("This run was taken back")).to_be_visible(timeout=SLOW)
    keys.keeps_focus()


def test_connect_a_database_and_add_a_model(keys: Keyboard, site: Site) -> None:
    page = keys.page
    path = site.home.parent / "shop.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE orders (id INTEGER, total REAL)")
    keys.go("Connections")
    keys.use(page.get_by_role("button", name="Add a connection").first)
    added = dialog(page, "Add a connection")
    keys.choose(added.get_by_role("combobox", name="Kind"), "^SQLite or DuckDB file$")
    keys.fill(added.get_by_label(re.compile("^Name")), "shop")
    keys.fill(added.get_by_label(re.compile("^Path|^File")), str(path))
    keys.use(added.get_by_role("button", name=re.compile("^Add|^Save")))
    expect(dialog(page)).to_have_count(0, timeout=SLOW)
    expect(page.get_by_role("row", name=re.compile("^shop"))).to_be_visible(timeout=SLOW)
    keys.keeps_focus()
    with OpenAiServer([]) as server:
        keys.go("Models")
        keys.use(page.get_by_role("button", name="Add a model").first)
        keys.fill(dialog(page).get_by_label(re.compile("^Model")), "small")
        keys.fill(dialog(page).get_by_label(re.compile("^Address")), server.url)
        keys.use(dialog(page).get_by_role("button", name="Add and test"))
        expect(page.get_by_role("button", name="Test small")).to_be_visible(timeout=SLOW)
        keys.keeps_focus()


def test_invite_a_colleague_for_one_playbook(keys: Keyboard, open_desk: OpenDesk) -> None:
    page = keys.page
    keys.go("Blueprints")
    keys.use(page.get_by_role("button", name=f"Fork {BLUEPRINT}"))
    drawer = dialog(page)
    expect(drawer).to_be_visible(timeout=SLOW)
    tab(keys, drawer, "Sharing and settings")
    keys.use(page.get_by_role("button", name="Invite someone new"))
    invite = dialog(page, "^Invite to")
    keys.choose(invite.get_by_role("combobox", name="Role"), "^Operator")
    keys.use(invite.get_by_role("button", name="Create link"))
    link = invite.get_by_role("textbox").first
    expect(link).to_have_value(re.compile("/invite"))
    keys.keeps_focus()

    colleague = Keyboard(open_desk(width=1280, height=800).page)
    colleague.page.goto(link.input_value())
    colleague.fill(colleague.page.get_by_label("Your name"), "Grace Hopper")
    colleague.fill(colleague.page.get_by_label(re.compile("E-mail")), "grace@example.com")
    password = colleague.page.get_by_role("textbox", name="Choose a password")
    colleague.fill(password, "nanoseconds and wire")
    colleague.press("Enter")
    colleague.keeps_focus()
    expect(colleague.page).to_have_url(re.compile("/playbooks/pbk_"))
    shown = dialog(colleague.page)
    expect(shown).to_be_visible()
    tab(colleague, shown, "Versions")
