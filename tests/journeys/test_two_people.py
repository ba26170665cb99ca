"""Two browsers that change one flow at once: both keep every change, see each other's, and are told where both changed the same."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import SLOW, check_accessible
from tests.journeys.test_first_steps import go, sign_in

OpenDesk = Callable[..., Desk]
STEPS = ("a1", "a2", "a3", "b1", "b2", "b3")
FLOW = """\
format: 1
id: shared
name: Shared
budget: {usd: 1}
graph:
  nodes:
""" + "".join(f"    - {{id: {step}, type: tool, tool: list_datasets}}\n" for step in STEPS)


def opened(desk: Desk, site: Site) -> Page:
    page = sign_in(desk, site.with_new_link())
    go(page, "Flows")
    page.get_by_role("link", name="Shared").first.click()
    expect(page.locator(".react-flow__node")).to_have_count(len(STEPS))
    return page


def choose(page: Page, step: str) -> None:
    box = page.locator(f".react-flow__node[data-id='{step}']")
    box.focus()
    box.press("Enter")
    expect(page.get_by_role("textbox", name="Id", exact=True)).to_have_value(step)


def rename(page: Page, step: str, title: str) -> None:
    choose(page, step)
    page.get_by_role("textbox", name="Title", exact=True).fill(title)


def press_save(page: Page) -> None:
    button = page.get_by_role("button", name="Save", exact=True)
    expect(button).to_be_enabled(timeout=SLOW)
    button.click()


def text_of(page: Page) -> str:
    page.get_by_role("tab", name="YAML").click()
    return page.get_by_role("textbox", name=re.compile("^Playbook")).input_value()


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_random_edits_of_two_people(
    site: Site, open_desk: OpenDesk, tmp_path: Path, effort: Callable[[int, int], int]
) -> None:
    file = tmp_path / "shared.yaml"
    file.write_text(FLOW)
    site.steward("playbooks", "import", str(file))
    ann, ben = opened(open_desk(), site), opened(open_desk(), site)
    chance, wanted = random.Random(14), dict.fromkeys(STEPS, "")
    for number in range(effort(24, 1000)):
        name, page = chance.choice([("a", ann), ("b", ben)])
        step = chance.choice([each for each in STEPS if each.startswith(name)])
        wanted[step] = f"{step} change {number}"
        rename(page, step, wanted[step])
        if chance.random() < 0.4:
            press_save(page)
    for page in (ann, ben):
        if page.get_by_text("Not saved yet.").count():
            press_save(page)
        expect(page.get_by_text("Not saved yet.")).to_have_count(0, timeout=SLOW)
    for page in (ann, ben):
        for step, title in wanted.items():
            box = page.locator(f".react-flow__node[data-id='{step}']")
            expect(box).to_contain_text(title or step, timeout=SLOW)
    assert text_of(ann) == text_of(ben)

    # Both change the same step: whoever saves later is shown both sides, and nothing is gone.
    rename(ann, "a1", "Ann's name")
    rename(ben, "a1", "Ben's name")
    press_save(ann)
    expect(ann.get_by_text("Not saved yet.")).to_have_count(0, timeout=SLOW)
    press_save(ben)
    both = ben.get_by_role("region", name="Changed by both: a1")
    expect(both).to_contain_text("Ann's name", timeout=SLOW)
    expect(both).to_contain_text("Ben's name")
    expect(both).to_contain_text("The other version, which is saved")
    # What to do about it is not cut off.
    expect(ben.get_by_role("button", name="Merge both")).to_be_in_viewport(ratio=1)
    check_accessible(ben)
    ben.get_by_role("button", name="Save mine over it").click()
    expect(ann.locator(".react-flow__node[data-id='a1']")).to_contain_text(
        "Ben's name", timeout=SLOW
    )
