"""A person without a mouse: every stop of the keyboard must be seen, and none may be lost."""

import re
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, expect

_FURTHEST = 160
"""Stops on the longest way; a page with more of them needs a shorter way."""

# What has the focus, whether it is the wanted one, and whether a person sees where it is.
_LOOK = """(wanted) => {
  const at = document.activeElement;
  if (!at || at === document.body) return {there: false, lost: true, seen: false, what: 'nothing'};
  const rings = (each) => {
    const style = each && getComputedStyle(each);
    return style && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
  };
  const box = (each) => each.getBoundingClientRect();
  // A choice's own input has no size: the ring is around what stands for it.
  const holders = [at, at.nextElementSibling];
  for (let up = at.parentElement; up && holders.length < 7; up = up.parentElement) holders.push(up);
  const ring = at.getAttribute('aria-activedescendant') ? at : holders.find(rings);
  const {left, right, top, bottom, width, height} = box(ring ?? at);
  const inside = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
  const name = at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent ?? '';
  return {
    there: wanted.includes(at), lost: false, seen: Boolean(ring) && inside && width * height > 0,
    what: `${at.getAttribute('role') ?? at.tagName.toLowerCase()} "${name.trim().slice(0, 60)}"`,
    heading: at.tagName === 'H1' || at.tagName === 'MAIN' || at.getAttribute('role') === 'dialog',
  };
}"""


@dataclass(frozen=True)
class Keyboard:
    """Presses keys on a page and looks where that leads; it has no way to click."""

    page: Page

    def reach(self, wanted: Locator, *, back: bool = False) -> None:
        """Goes to something by Tab alone, past stops of which each has to be seen; behind the last one comes the first."""
        expect(wanted.first).to_be_visible()
        way: list[str] = []
        for _ in range(_FURTHEST):
            at = self._look(wanted)
            # A title has the focus so that a screen reader speaks it, and a dialog as a whole before its first field.
            assert at["seen"] or at["lost"] or at["heading"], f"no ring is seen around {at['what']}"
            if at["there"]:
                return
            way.append(at["what"])
            self.page.keyboard.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"{wanted} is not reached by Tab, only {sorted(set(way))}")

    def press(self, key: str, times: int = 1) -> None:
        for _ in range(times):
            self.page.keyboard.press(key)

    def write(self, text: str) -> None:
        """Replaces what the field says."""
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def use(self, wanted: Locator, key: str = "Enter", *, back: bool = False) -> None:
        self.reach(wanted, back=back)
        self.press(key)

    def fill(self, field: Locator, text: str) -> None:
        self.reach(field)
        self.write(text)

    def choose(self, field: Locator, option: str) -> None:
        """Opens a list of choices, goes down to one and takes it."""
        self.reach(field)
        self.press("ArrowDown")
        found = self.page.get_by_role("option", name=re.compile(option))
        expect(found.first).to_be_visible()
        for _ in range(_FURTHEST):
            if found.first.get_attribute("data-combobox-selected") == "true":
                self.press("Enter")
                return
            self.press("ArrowDown")
        raise AssertionError(f"{option} is not reached by arrow keys")

    def go(self, name: str, heading: str | None = None) -> None:
        """Opens a page by its name through the palette; the focus is then on its title."""
        self.press("Control+k")
        expect(self.page.get_by_role("combobox", name=re.compile("^Search pages"))).to_be_focused()
        self.page.keyboard.type(name)
        expect(self.page.get_by_role("option", name=name).first).to_be_visible()
        self.press("Enter")
        expect(self.page.get_by_role("heading", level=1, name=heading or name)).to_be_focused()

    def keeps_focus(self) -> None:
        """Something has the focus, so that the next key goes somewhere."""
        self.page.wait_for_function("() => document.activeElement !== document.body")

    def _look(self, wanted: Locator) -> dict[str, Any]:
        found: dict[str, Any] = wanted.evaluate_all(_LOOK)
        return found
