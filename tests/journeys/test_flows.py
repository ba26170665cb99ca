"""The canvas in a real browser: a flow drawn from nothing without YAML, saved, run, changed by text and keyboard."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from steward.playbooks import blueprint as blueprint_module
from steward.playbooks.blueprint import read_blueprint
from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import SLOW, check_accessible
from tests.journeys.test_first_steps import go, sign_in

OpenDesk = Callable[..., Desk]
BLUEPRINTS = sorted((Path(blueprint_module.__file__).parent / "blueprints").glob("*.yaml"))


def box(page: Page, title: str) -> Locator:
    return page.locator(".react-flow__node").filter(has_text=title)


def field(page: Page, label: str) -> Locator:
    return page.get_by_role("textbox", name=re.compile(f"^{label}( \\*)?$"))


def add(page: Page, words: str, title: str) -> None:
    """Found in the palette and added after the step that is chosen."""
    # A flow that would not fit beside it opens without the palette.
    if (shown := page.get_by_role("button", name="Add a step", exact=True)).count():
        shown.click()
    palette = page.get_by_role("region", name="Palette")
    palette.get_by_label("Search what to add").fill(words)
    palette.get_by_role("button", name=re.compile(f"^{title}")).first.click()


def draw(page: Page) -> None:
    go(page, "Flows")
    page.get_by_role("link", name="New flow").first.click()
    page.get_by_label("Name", exact=True).fill("Big customers to Slack")
    add(page, "schedule", "On a schedule")
    add(page, "sql", "SQL")
    field(page, "Code").fill("SELECT count(*) AS customers FROM crm_customers")
    add(page, "agent", "Ask an agent")
    field(page, "Instructions").fill("Say what matters in ")
    field(page, "Instructions").press_sequentially("${nodes.s")
    page.get_by_role("option", name="nodes.sql.output").click()
    expect(field(page, "Instructions")).to_have_value("Say what matters in ${nodes.sql.output}")
    add(page, "approval", "Ask for approval")
    add(page, "slack", "Write to Slack")
    field(page, "Text").fill("${nodes.ask_an_agent.output}")


def look_at_the_run(page: Page) -> None:
    """Each step says how it went; its last output is offered to later ones, and mistakes show while typing."""
    box(page, "SQL").click()
    told = page.get_by_role("region", name="In this run")
    expect(told.get_by_role("link", name="Show its entries")).to_be_visible(timeout=SLOW)
    # The settings stand beside the canvas now; the last step may be behind them.
    page.get_by_role("button", name="Show the whole flow (F)").click()
    box(page, "Write to Slack").click()
    text = field(page, "Text")
    before = text.input_value()
    text.fill("")
    text.press_sequentially("${nodes.sql.output.r")
    page.get_by_role("option", name=re.compile("^nodes.sql.output.rows list of 1")).click()
    expect(text).to_have_value("${nodes.sql.output.rows}")
    text.fill("${nodes.nothing.output}")
    problem = page.locator(".mantine-Textarea-error").first
    expect(problem).to_be_visible(timeout=SLOW)
    page.get_by_text("Values of earlier steps").click()
    text.fill("Rows: ")
    page.get_by_role("button", name=re.compile("^nodes.sql.output object")).click()
    expect(text).to_have_value("Rows: ${nodes.sql.output}")
    text.fill(before)
    expect(page.get_by_text("Not saved yet.")).to_have_count(0)
    box(page, "SQL").click()
    told.get_by_role("link", name="Show its entries").click()
    page.get_by_role("link", name="Show on the canvas").last.click()
    expect(box(page, "SQL").get_by_text("Done")).to_be_visible(timeout=SLOW)


def keys_reach_the_canvas(page: Page) -> None:
    """Keys count after a click beside all steps, too; what is taken away is not chosen any more."""
    notes = page.locator(".react-flow__node-note")
    page.locator(".react-flow__pane").click(position={"x": 300, "y": 20})
    page.keyboard.press("n")
    expect(notes).to_have_count(1)
    page.locator(".react-flow__pane").click(position={"x": 300, "y": 20})
    page.keyboard.press("Control+z")
    expect(notes).to_have_count(0)
    expect(page.get_by_text("Choose a step to see its settings")).to_be_visible()


def compare_runs(page: Page) -> None:
    """Earlier runs stand above the canvas; one is compared with another, step by step."""
    runs = page.get_by_role("region", name="Runs of this flow")
    expect(runs.get_by_role("button", pressed=True)).to_have_count(1)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(runs.get_by_role("listitem")).to_have_count(2, timeout=SLOW)
    expect(box(page, "SQL").get_by_text("Done")).to_be_visible(timeout=SLOW)
    runs.get_by_role("combobox", name="Compare with").click()
    page.get_by_role("option").first.click()
    box(page, "SQL").click()
    other = page.get_by_role("region", name="In the other run")
    expect(other).to_contain_text("The same output.", timeout=SLOW)
    check_accessible(page)
    runs.get_by_role("button", pressed=True).click()
    expect(runs.get_by_role("button", pressed=True)).to_have_count(0)
    expect(box(page, "SQL").get_by_text("Done")).to_have_count(0)


def save(page: Page) -> None:
    button = page.get_by_role("button", name="Save", exact=True)
    expect(button).to_be_enabled(timeout=SLOW)
    button.click()
    expect(button).to_be_disabled(timeout=SLOW)


def test_draw_save_run_and_change_a_flow(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    draw(page)
    for title in ("cron", "SQL", "Ask an agent", "Ask for approval", "Write to Slack"):
        expect(box(page, title)).to_have_count(1)
    expect(page.locator(".react-flow__edge")).to_have_count(4)
    check_accessible(page)
    save(page)
    expect(page).to_have_url(re.compile("/flows/pbk_"), timeout=SLOW)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(box(page, "SQL").get_by_text("Done")).to_be_visible(timeout=SLOW)
    look_at_the_run(page)
    compare_runs(page)
    keys_reach_the_canvas(page)
    # A step with the arrow keys, and back: the keyboard has the same undo.
    box(page, "SQL").focus()
    page.keyboard.press("Enter")
    place = box(page, "SQL").bounding_box()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("Not saved yet.")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(page.get_by_text("Not saved yet.")).to_have_count(0)
    assert box(page, "SQL").bounding_box() == place
    # A draft waits for its author, through a reload, and can be discarded and brought back.
    box(page, "SQL").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("Your draft is kept, and only you see it.")).to_be_visible(timeout=SLOW)
    page.reload()
    expect(page.get_by_text("Your draft is kept, and only you see it.")).to_be_visible(timeout=SLOW)
    check_accessible(page)
    page.get_by_role("button", name="Discard draft").click()
    expect(page.get_by_text("Not saved yet.")).to_have_count(0)
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Not saved yet.")).to_be_visible()
    page.get_by_role("button", name="Redo", exact=True).click()
    expect(page.get_by_text("Not saved yet.")).to_have_count(0)
    # What is typed as text is drawn.
    page.get_by_role("tab", name="YAML").click()
    text = page.get_by_role("textbox", name=re.compile("^Playbook"))
    text.fill(text.input_value().replace("title: SQL", "title: Count customers"))
    expect(box(page, "Count customers")).to_be_visible()
    page.get_by_text("Outline", exact=True).click()
    starts = page.get_by_role("list", name="What starts it")
    starts.get_by_role("button", name=re.compile("^On a schedule")).click()
    expect(field(page, "Name")).to_have_value("cron")
    outline = page.get_by_role("list", name="Steps of the flow")
    outline.get_by_role("button", name=re.compile("^Ask an agent")).click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(outline.get_by_role("button", name=re.compile("^Ask an agent"))).to_have_count(0)
    expect(outline.get_by_role("button", name=re.compile("^Ask for approval"))).to_contain_text(
        "after sql"
    )
    check_accessible(page)


def test_a_flow_step_by_step_without_yaml(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    go(page, "Flows")
    page.get_by_role("link", name="Step by step").first.click()
    page.get_by_role("combobox", name="Dataset").click()
    page.get_by_role("option", name="crm_customers", exact=True).click()
    page.get_by_role("button", name="Add a condition").click()
    page.get_by_role("combobox", name="Column of condition 1").click()
    page.get_by_role("option", name="segment", exact=True).click()
    page.get_by_label("Value of condition 1").fill("Retail")
    page.get_by_label("A workbook").check()
    page.get_by_role("combobox", name="When", exact=True).click()
    page.get_by_role("option", name="On these weekdays").click()
    check_accessible(page)
    page.get_by_role("button", name="Create and open the canvas").click()
    expect(page.get_by_role("alert")).to_have_text("Enter a name.")
    page.get_by_label("Name", exact=False).last.fill("Retail customers")
    page.get_by_role("button", name="Create and open the canvas").click()
    expect(page).to_have_url(re.compile("/flows/pbk_"), timeout=SLOW)
    for title in ("schedule", "Choose the rows", "Write the workbook"):
        expect(box(page, title)).to_have_count(1)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(box(page, "Write the workbook").get_by_text("Done")).to_be_visible(timeout=SLOW)


def test_repeat_a_query_of_the_console(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    go(page, "Console")
    editor = page.get_by_role("textbox", name=re.compile("SQL", re.IGNORECASE)).first
    editor.fill("SELECT segment, count(*) AS n FROM crm_customers GROUP BY segment")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Make this a playbook…").click(timeout=SLOW)
    dialog = page.get_by_role("dialog", name="Make this a playbook")
    dialog.get_by_label("Name", exact=False).first.fill("Customers by segment")
    dialog.get_by_label("A dataset").check()
    dialog.get_by_role("combobox", name="When").click()
    page.get_by_role("option", name="On a day of the month").click()
    expect(dialog.get_by_text(re.compile("^Next: ")).get_by_role("time")).to_have_count(3)
    dialog.get_by_role("button", name="Save and switch on").click()
    # It is deployed, and the pickers show what was chosen.
    expect(page).to_have_url(re.compile("/playbooks/pbk_.*tab=schedule"), timeout=SLOW)
    drawer = page.get_by_role("dialog", name=re.compile("Customers by segment"))
    expect(drawer.get_by_role("switch", name="On")).to_be_checked()
    expect(drawer.get_by_role("combobox", name="When")).to_have_value("On a day of the month")
    drawer.get_by_role("combobox", name="When").click()
    page.get_by_role("option", name="On these weekdays").click()
    for day in ("Tue", "Wed", "Thu", "Fri"):
        drawer.get_by_role("button", name=day, exact=True).click()
    drawer.get_by_role("button", name="Save and switch on").click()
    expect(drawer.get_by_role("listitem")).to_contain_text("Every Monday at 08:00")
    check_accessible(page)
    page.goto(page.url.split("?")[0].replace("/playbooks/", "/flows/"))
    expect(box(page, "Choose the rows")).to_have_count(1)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(box(page, "Choose the rows").get_by_text("Done")).to_be_visible(timeout=SLOW)


def fork(page: Page, title: str) -> str:
    """With its sample data where it has some; returns the address of its flow on the canvas."""
    go(page, "Blueprints")
    sample = page.get_by_role("button", name=f"Try on sample data: {title}")
    plain = page.get_by_role("button", name=f"Fork {title}")
    expect(plain).to_be_visible()
    (sample if sample.count() else plain).click()
    expect(page).to_have_url(re.compile("/playbooks/pbk_"), timeout=SLOW)
    return page.url.split("?")[0].replace("/playbooks/", "/flows/")


def test_blueprints_open_and_are_changed_on_the_canvas(site: Site, open_desk: OpenDesk) -> None:
    """Some of them; tests/playbooks/test_blueprints_changed.py saves and runs all of them after larger changes."""
    page = sign_in(open_desk(), site)
    for blueprint in (read_blueprint(each.read_text()) for each in BLUEPRINTS[1::4]):
        page.goto(fork(page, blueprint.title))
        steps = blueprint.playbook.steps or (blueprint.playbook.graph or {})["nodes"]
        first = str(steps[0]["title"])
        page.get_by_role("combobox", name="Find a step").click()
        page.get_by_role("option", name=first, exact=True).click()
        field(page, "Title").fill("Changed here")
        drawn = page.get_by_test_id(f"rf__node-{steps[0]['id']}")
        expect(drawn).to_contain_text("Changed here")
        add(page, "sql", "SQL")
        field(page, "Code").fill("SELECT 1 AS one")
        save(page)
        if blueprint.id == "weekly-margin-cockpit":
            page.get_by_role("button", name="Run", exact=True).click()
            for step in (steps[0]["id"], "sql", steps[-1]["id"]):
                expect(page.get_by_test_id(f"rf__node-{step}").get_by_text("Done")).to_be_visible(
                    timeout=SLOW
                )
    check_accessible(page)
