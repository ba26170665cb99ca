"""A person with a German browser reads German, and chooses another language."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import check_accessible
from tests.journeys.test_first_steps import sign_in

OpenDesk = Callable[..., Desk]


def test_the_language_follows_the_browser_or_a_choice(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(locale="de-DE"), site)
    speaks(page, "de")
    pages = page.get_by_role("navigation", name="Seiten")
    expect(pages.get_by_role("link", name="Datensätze")).to_be_visible()
    expect(pages.get_by_role("link", name="Übersicht")).to_be_visible()
    pages.get_by_role("link", name="Mitglieder").click()
    expect(page.get_by_role("heading", level=1, name="Mitglieder")).to_be_visible()
    page.get_by_role("button", name="Einladen", exact=True).click()
    dialog = page.get_by_role("dialog", name="Demo: customer data")
    expect(dialog.get_by_label("E-Mail")).to_be_visible()
    expect(dialog.get_by_role("button", name="Abbrechen")).to_be_visible()
    check_accessible(page)

    page.goto(f"{site.url}/profile")
    choose(page, "Sprache", "English")
    speaks(page, "en")
    expect(page.get_by_role("heading", level=1, name="Profile")).to_be_visible()
    page.reload()
    speaks(page, "en")
    choose(page, "Language", "Français")
    speaks(page, "fr")
    expect(page.get_by_role("heading", level=1, name="Profil")).to_be_visible()
    choose(page, "Langue", "Comme dans ce navigateur")
    speaks(page, "de")


def speaks(page: Page, language: str) -> None:
    expect(page.locator("html")).to_have_attribute("lang", language)


def choose(page: Page, label: str, language: str) -> None:
    group = page.get_by_role("radiogroup", name=label, exact=True)
    group.get_by_text(language, exact=True).click()
