"""What a new user does first, in a real browser against a real server."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import Desk, Site, accessibility_problems, running

OpenDesk = Callable[..., Desk]


@pytest.fixture(scope="module")
def server(first_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One for all journeys of this file: each looks only at what it made itself."""
    home = tmp_path_factory.mktemp("steps") / "home"
    with running(shutil.copytree(first_home, home)) as started:
        yield started


@pytest.fixture
def site(server: Site) -> Site:
    """Everybody comes with a link of their own; it works only once."""
    return server.with_new_link()


def sign_in(desk: Desk, site: Site) -> Page:
    desk.page.goto(site.sign_in)
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
    return desk.page


def go(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def test_sign_in_switch_projects_make_a_token(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    assert "link=" not in page.url

    page.get_by_role("button", name="Switch project").click()
    page.get_by_role("menuitem", name="New project").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Month-end close")
    dialog.get_by_role("button", name=re.compile("Create")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Month-end close")

    page.get_by_role("button", name="Switch project").click()
    page.get_by_role("menuitemradio", name=re.compile("Demo: customer data")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Demo: customer data")

    go(page, "API tokens")
    page.get_by_role("button", name="Create token").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Nightly import")
    dialog.get_by_role("button", name="Create token").click()
    field = dialog.get_by_role("textbox").first
    expect(field).to_have_value(re.compile("^stw_"))
    token = field.input_value()
    project_id = page.url.split("/p/")[1].split("/")[0]
    address = f"{site.url}/api/v1/projects/{project_id}/datasets"
    request = Request(address, headers={"Authorization": f"Bearer {token}"})
    with urlopen(request) as answer:
        names = {item["name"] for item in json.load(answer)["items"]}
    assert names == {"crm_customers", "billing_invoices", "support_tickets"}


def test_a_used_link_does_not_sign_in_again(site: Site, open_desk: OpenDesk) -> None:
    sign_in(open_desk(), site)
    stranger = open_desk().page
    stranger.goto(site.sign_in)
    expect(stranger.get_by_text(re.compile("used already or has expired"))).to_be_visible()
    stranger.goto(f"{site.url}/p/whatever/tokens")
    expect(stranger.get_by_role("heading", name=re.compile("Sign in"))).to_be_visible()


def test_a_colleague_is_invited_and_joins(site: Site, open_desk: OpenDesk) -> None:
    owner = sign_in(open_desk(), site)
    go(owner, "Members")
    owner.get_by_role("button", name="Invite").first.click()
    dialog = owner.get_by_role("dialog")
    dialog.get_by_role("button", name="Create link").click()
    link_field = dialog.get_by_role("textbox").first
    expect(link_field).to_have_value(re.compile("/invite"))
    link = link_field.input_value()

    colleague = open_desk(dark=True).page
    colleague.goto(link)
    colleague.get_by_label("Your name").fill("Grace Hopper")
    colleague.get_by_label(re.compile("E-mail")).fill("grace@example.com")
    colleague.get_by_role("textbox", name="Choose a password").fill("nanoseconds and wire")
    colleague.get_by_role("button", name=re.compile("Join|Accept|Create")).click()
    expect(colleague.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
    # An editor manages nobody, so the page offers no invitation.
    assert colleague.get_by_role("link", name="Secrets").count() == 1

    # The owner's page learns of it live, and the notification waits behind the bell.
    owner.get_by_role("button", name="Close").first.click()
    expect(owner.get_by_role("row", name=re.compile("Grace Hopper"))).to_be_visible()
    owner.get_by_role("button", name=re.compile("Notifications")).click()
    expect(owner.get_by_text("Grace Hopper joined as editor")).to_be_visible()


def test_an_invitation_opens_the_playbook_it_names(site: Site, open_desk: OpenDesk) -> None:
    owner = sign_in(open_desk(), site)
    go(owner, "Blueprints")
    owner.get_by_role("button", name=re.compile("^Fork ")).first.click()
    expect(owner).to_have_url(re.compile("/playbooks/pbk_"))
    place = re.sub(r"\?.*", "", owner.url)
    owner.get_by_role("tab", name="Sharing and settings").click()
    owner.get_by_role("button", name="Invite someone new").click()
    dialog = owner.get_by_role("dialog", name=re.compile("^Invite to"))
    expect(dialog.get_by_role("combobox", name="Playbook")).not_to_have_value("")
    name = dialog.get_by_role("combobox", name="Playbook").input_value()
    dialog.get_by_role("button", name="Create link").click()
    expect(dialog.get_by_role("alert")).to_contain_text("A runner sees only deployed playbooks.")
    dialog.get_by_role("combobox", name="Role").click()
    owner.get_by_role("option", name=re.compile("^Operator")).click()
    assert accessibility_problems(owner) == []
    dialog.get_by_role("button", name="Create link").click()
    link_field = dialog.get_by_role("textbox").first
    expect(link_field).to_have_value(re.compile("/invite"))

    colleague = open_desk(width=390).page
    colleague.goto(link_field.input_value())
    expect(colleague.get_by_text(name)).to_be_visible()
    colleague.get_by_label("Your name").fill("Grace Hopper")
    colleague.get_by_label(re.compile("E-mail")).fill("hopper@example.com")
    colleague.get_by_role("textbox", name="Choose a password").fill("nanoseconds and wire")
    colleague.get_by_role("button", name="Join").click()
    expect(colleague).to_have_url(place)
    expect(colleague.get_by_role("dialog", name=re.compile(re.escape(name)))).to_be_visible()


def test_removing_is_undone_instead_of_confirmed(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    go(page, "Secrets")
    page.get_by_role("button", name="Set a secret").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("WAREHOUSE_PASSWORD")
    dialog.get_by_label(re.compile("Value")).fill("hunter2")
    dialog.get_by_role("button", name=re.compile("Save|Set")).click()
    row = page.get_by_role("row", name=re.compile("WAREHOUSE_PASSWORD"))
    expect(row).to_be_visible()
    # The dialog fades out; what was typed into it is gone with it.
    expect(dialog).to_have_count(0)
    assert "hunter2" not in page.content()
    row.get_by_role("button", name=re.compile("Delete")).click()
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(row).to_be_visible()


def test_the_palette_takes_one_anywhere_by_keyboard(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name=re.compile("Search pages"))).to_be_focused()
    page.keyboard.type("api tok")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="API tokens")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name=re.compile("Search pages")).fill("billing")
    expect(page.get_by_role("option", name=re.compile("billing_invoices")).first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="billing_invoices")).to_be_visible()


def test_a_question_on_the_first_page_is_answered_in_a_conversation(
    site: Site, open_desk: OpenDesk
) -> None:
    page = sign_in(open_desk(), site)
    expect(page.get_by_role("list", name="Things to try").get_by_role("button")).to_have_count(3)
    page.get_by_label("Your question").fill("How many rows does billing_invoices have?")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/chat/thr_"))
    expect(page.get_by_text("5,227").first).to_be_visible(timeout=60_000)


def test_every_page_is_accessible_wide_and_narrow_light_and_dark(
    site: Site, open_desk: OpenDesk
) -> None:
    signed_out = open_desk().page
    signed_out.goto(f"{site.url}/sign-in")
    expect(signed_out.get_by_role("heading", level=1)).to_be_visible()
    assert accessibility_problems(signed_out) == []

    page = sign_in(open_desk(), site)
    base = page.url.rstrip("/")
    found: dict[str, list[str]] = {}
    for dark, width in ((False, 1440), (True, 390)):
        page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 844})
        for name in ("", "files", "activity", "members", "tokens", "secrets", "settings"):
            page.goto(f"{base}/{name}".rstrip("/"))
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            expect(page.locator("[aria-busy=true]")).to_have_count(0)
            problems = accessibility_problems(page)
            overflow = page.evaluate(
                "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
            )
            if overflow:
                problems.append("the page scrolls sideways")
            if problems:
                found[f"{name or 'home'} {width} {'dark' if dark else 'light'}"] = problems
    assert found == {}


def test_a_password_set_in_the_browser_signs_in(site: Site, open_desk: OpenDesk) -> None:
    site.steward(
        "user", "password", "owner@localhost", "--password-stdin", text="a b c and d e f\n"
    )
    page = open_desk().page
    page.goto(f"{site.url}/sign-in")
    page.get_by_label(re.compile("E-mail")).fill("owner@localhost")
    page.get_by_role("textbox", name="Password").fill("wrong password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text(re.compile("is not right"))).to_be_visible()
    page.get_by_role("textbox", name="Password").fill("a b c and d e f")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Demo: customer data")


def test_a_blueprint_has_a_card_and_a_page_of_its_own(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    go(page, "Blueprints")
    expect(
        page.get_by_role("img", name=re.compile("^Flow of Clean up customer data"))
    ).to_be_visible()
    assert accessibility_problems(page) == []
    page.get_by_role("link", name="Clean up customer data").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Clean up customer data")
    for part in ("The problem", "What it does", "What to expect", "What it needs", "Steps"):
        expect(page.get_by_role("heading", level=2, name=part)).to_be_visible()
    expect(page.locator("ol").get_by_text("Approve the promotion")).to_be_visible()
    expect(page.get_by_role("button", name="Fork Clean up customer data")).to_be_visible()
    assert accessibility_problems(page) == []
