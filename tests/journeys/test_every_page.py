"""Every page of a project, as it comes: for those who need contrast, large letters or a calm screen."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import Desk, Site, accessibility_problems, running

OpenDesk = Callable[..., Desk]
PAGES = Path(__file__).parents[2] / "web/src/pages"
# A control is cut off where it reaches beyond the screen and nothing around it can be scrolled to it.
CUT_OFF = """() => [...document.querySelectorAll('#root :is(button, a, input, textarea, [role=tab])')]
  .filter((each) => {
    const { left, right, width, height } = each.getBoundingClientRect();
    if (width * height === 0 || (left >= -1 && right <= innerWidth + 1)) return false;
    for (let up = each.parentElement; up; up = up.parentElement) {
      const { overflowX } = getComputedStyle(up);
      if (/auto|scroll/.test(overflowX) && up.scrollWidth > up.clientWidth) return false;
    }
    return true;
  })
  .map((each) => `cut off: ${each.getAttribute('aria-label') ?? each.textContent}`)"""
SIDEWAYS = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
MOVING = """() => document.getAnimations()
  .filter(({ playState, effect }) => playState === 'running' && effect.getComputedTiming().duration > 1)
  .map(({ effect }) => `moves: ${effect.target?.className}`)"""


def paths() -> list[str]:
    """As `page.tsx` of each folder has it; a new page is looked at without being named here."""
    found = [
        re.search(r"path: '([^']*)'", text)
        for path in sorted(PAGES.glob("*/page.tsx"))
        if "scope: 'project'" in (text := path.read_text())
    ]
    return [
        *(each[1] for each in found if each),
        "datasets/crm_customers",
        "settings/retention",
        "settings/network",
    ]


@pytest.fixture(scope="module")
def server(first_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("pages") / "home"
    with running(shutil.copytree(first_home, home)) as started:
        yield started


@pytest.fixture
def page(server: Site, open_desk: OpenDesk) -> Page:
    found: Page = open_desk().page
    found.goto(server.with_new_link().sign_in)
    expect(found.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
    return found


def look_at(page: Page, address: str, *, contrast: bool) -> list[str]:
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0, timeout=90_000)
    problems = [*page.evaluate(CUT_OFF), *page.evaluate(MOVING)]
    if page.evaluate(SIDEWAYS):
        problems.append("the page scrolls sideways")
    return problems + (accessibility_problems(page) if contrast else [])


def test_no_page_is_hard_to_read(page: Page) -> None:
    base, found = page.url.rstrip("/"), {}
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.set_viewport_size({"width": 1440, "height": 844})
    for path in paths():
        if problems := look_at(page, f"{base}/{path}".rstrip("/"), contrast=True):
            found[path or "home"] = problems
    assert found == {}


def test_no_page_cuts_controls_off_at_twice_the_size(page: Page) -> None:
    """1280 by 720 at 200 % leaves as much room as half of both."""
    base, found = page.url.rstrip("/"), {}
    page.set_viewport_size({"width": 640, "height": 360})
    for path in paths():
        if problems := look_at(page, f"{base}/{path}".rstrip("/"), contrast=False):
            found[path or "home"] = problems
    assert found == {}
    page.get_by_role("button", name="Open navigation").click()
    expect(page.get_by_role("dialog").get_by_role("link", name="Members")).to_be_visible()
