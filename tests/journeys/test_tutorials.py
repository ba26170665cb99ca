"""The tutorials of the documentation, followed step by step; `--pictures docs/images` takes their pictures again."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.conftest import Desk, Site, running
from tests.journeys.test_data import SLOW
from tests.journeys.test_first_steps import go, sign_in

pytestmark = pytest.mark.battery
OpenDesk = Callable[..., Desk]
DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = DOCS / "tutorials"
HIGH = 860
# Messages come and go.
CALM = "[aria-label=Messages] { visibility: hidden }"


@pytest.fixture(scope="module")
def server(first_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("tutorials") / "home"
    with running(shutil.copytree(first_home, home)) as started:
        yield started


@pytest.fixture
def page(server: Site, open_desk: OpenDesk) -> Page:
    return sign_in(open_desk(width=1240, height=HIGH), server.with_new_link())


@pytest.fixture
def take(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Page | Locator, str], None]:
    """Takes the picture that a tutorial shows."""
    chosen = request.config.getoption("--pictures")
    folder = Path(chosen) if chosen else tmp_path

    def one(what: Page | Locator, name: str) -> None:
        page = what if isinstance(what, Page) else what.page
        expect(page.locator("[aria-busy=true]")).to_have_count(0, timeout=SLOW)
        page.mouse.move(0, 0)
        what.screenshot(path=folder / f"{name}.png", animations="disabled", style=CALM)

    return one


def said(tutorial: str, kind: str = "text") -> list[str]:
    """The lines that a tutorial tells its reader to type."""
    text = (TUTORIALS / f"{tutorial}.md").read_text()
    blocks = re.findall(rf"^ *```{kind}\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    return [line.strip() for block in blocks for line in block.splitlines()]


def open_chat(page: Page) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Chat").click()
    expect(page.get_by_role("heading", level=1, name="New conversation")).to_be_visible()


def ask(page: Page, message: str) -> Locator:
    page.get_by_role("textbox", name="Message").fill(message)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0, timeout=SLOW)
    answer = page.get_by_role("article").last
    expect(answer.get_by_text("How this was done")).to_be_visible(timeout=SLOW)
    return answer


def button(page: Page | Locator, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def test_every_picture_of_the_tutorials_is_there() -> None:
    shown = {
        picture
        for path in DOCS.rglob("*.md")
        for picture in re.findall(r"\]\(\.\./images/([^)]+)\)", path.read_text())
    }
    assert shown <= {path.name for path in (DOCS / "images").iterdir()}


def test_ask(page: Page, take: Callable[..., None]) -> None:
    expect(page.get_by_role("list", name="Things to try").get_by_role("button")).to_have_count(3)
    take(page, "home")
    open_chat(page)
    first, *changes, rows = said("ask")
    ask(page, first)
    page.set_viewport_size({"width": 1240, "height": 1240})
    take(page, "chat")
    for message in [*changes, rows]:
        ask(page, message)
    page.set_viewport_size({"width": 1240, "height": HIGH})
    go(page, "Runs")
    page.get_by_role("link", name=re.compile(first)).first.click()
    page.get_by_role("tab", name="Trace").click()
    expect(page.get_by_role("treegrid").or_(page.get_by_role("tree"))).to_be_visible(timeout=SLOW)
    take(page, "trace")


def test_load_a_file(page: Page, take: Callable[..., None]) -> None:
    go(page, "Datasets")
    page.get_by_role("button", name="Load files").first.click()
    dialog = page.get_by_role("dialog")
    dialog.locator("input[type=file]").set_input_files(TUTORIALS / "files/orders.csv")
    expect(dialog.get_by_role("row", name=re.compile("^Ordered on"))).to_be_visible(timeout=SLOW)
    take(dialog, "load-file")
    button(dialog, "Load").click()
    expect(dialog.get_by_text("8 rows loaded as orders.")).to_be_visible(timeout=SLOW)
    page.keyboard.press("Escape")
    open_chat(page)
    [question] = said("load-a-file")
    expect(ask(page, question)).to_contain_text("March 2026")
    page.set_viewport_size({"width": 1240, "height": 1000})
    take(page, "load-chart")


def test_your_words(page: Page, take: Callable[..., None]) -> None:
    go(page, "Definitions")
    page.locator("summary", has_text="billing_invoices").click()
    page.get_by_role("button", name="Confirm gross").click()
    page.get_by_role("button", name="New metric").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("turnover")
    dialog.get_by_label("Formula").fill("sum(gross)")
    dialog.get_by_label("Table").select_option("billing_invoices")
    take(dialog, "your-words")
    button(dialog, "Save").click()
    expect(page.get_by_test_id("definition /metrics/turnover")).to_be_visible()
    open_chat(page)
    [question] = said("your-words")
    expect(ask(page, question).get_by_text("turnover").first).to_be_visible()
    go(page, "Definitions")
    views = page.get_by_role("radiogroup", name="Which definitions to show")
    views.get_by_text("History").click()
    page.get_by_text("(current)").click()
    page.get_by_role("button", name="Undo revision").click()
    expect(page.get_by_text("Restored revision")).to_be_visible()


def test_draw_a_flow(page: Page, take: Callable[..., None]) -> None:
    go(page, "Flows")
    page.get_by_role("link", name="New flow").first.click()
    page.get_by_label("Name", exact=True).fill("Customers by segment")
    palette = page.get_by_role("region", name="Palette")
    for words, title in (("sql", "SQL"), ("approval", "Ask for approval")):
        palette.get_by_label("Search what to add").fill(words)
        palette.get_by_role("button", name=re.compile(f"^{title}")).first.click()
        if title == "SQL":
            [query] = said("draw-a-flow", "sql")
            page.get_by_role("textbox", name=re.compile(r"^Code( \*)?$")).fill(query)
    save = button(page, "Save")
    expect(save).to_be_enabled(timeout=SLOW)
    save.click()
    expect(page).to_have_url(re.compile("/flows/pbk_"), timeout=SLOW)
    expect(save).to_be_disabled(timeout=SLOW)
    take(page, "draw-flow")
    page.get_by_role("link", name="Test", exact=True).click()
    button(page, "Test").click()
    expect(page.get_by_role("status").filter(has_text="Result")).to_contain_text(
        "Done", timeout=SLOW
    )
    page.get_by_role("link", name="Customers by segment").first.click()
    button(page, "Run").click()
    gate = page.get_by_role("region", name="Ask for approval")
    gate.get_by_role("button", name="Approve").click(timeout=SLOW)
    box = page.locator(".react-flow__node").filter(has_text="Ask for approval")
    expect(box.get_by_text("Done")).to_be_visible(timeout=SLOW)


def test_share_a_playbook(page: Page, take: Callable[..., None], open_desk: OpenDesk) -> None:
    go(page, "Blueprints")
    page.get_by_role("button", name=re.compile("^Fork ")).first.click()
    page.get_by_role("tab", name="Sharing and settings").click()
    page.get_by_role("button", name="Invite someone new").click()
    dialog = page.get_by_role("dialog", name=re.compile("^Invite to"))
    dialog.get_by_role("combobox", name="Role").click()
    page.get_by_role("option", name=re.compile("^Operator")).click()
    take(dialog, "share-invite")
    dialog.get_by_role("button", name="Create link").click()
    link = dialog.get_by_role("textbox").first
    expect(link).to_have_value(re.compile("/invite"))
    phone = open_desk(width=390, height=760).page
    phone.goto(link.input_value())
    phone.get_by_label("Your name").fill("Grace Hopper")
    phone.get_by_label(re.compile("E-mail")).fill("hopper@example.com")
    take(phone, "share-phone")
    phone.get_by_role("textbox", name="Choose a password").fill("nanoseconds and wire")
    phone.get_by_role("button", name="Join").click()
    expect(phone).to_have_url(re.compile("/playbooks/pbk_"))
    page.keyboard.press("Escape")
    go(page, "Activity")
    expect(page.get_by_text(re.compile("Grace Hopper")).first).to_be_visible()


def test_watch_costs(page: Page, take: Callable[..., None]) -> None:
    go(page, "Overview")
    page.get_by_role("tab", name="Budgets").click()
    page.get_by_role("button", name="Add a budget").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Dollars at most").fill("3")
    button(dialog, "Add budget").click()
    expect(page.get_by_role("list", name="Budgets").get_by_text("$0.00 of $3.00")).to_be_visible()
    take(page, "budget")
    page.get_by_role("tab", name="Alerts").click()
    page.get_by_role("button", name="Add a rule").click()
    dialog = page.get_by_role("dialog", name="Add an alert rule")
    dialog.get_by_label("Name").fill("Runs fail")
    take(dialog, "alert")
    button(dialog, "Add rule").click()
    expect(dialog).to_have_count(0)
