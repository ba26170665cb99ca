"""How soon a flow of 500 nodes can be worked on in a real browser, and how smoothly a node is dragged in it.

`open_500_ms` counts from the click on the flow until its nodes are drawn; `drag_fps_500` counts the frames that the page
draws while the mouse drags a node for two seconds.
"""

import argparse
import json
import statistics
import sys
import tempfile

from playwright.sync_api import Page, sync_playwright

from benchmarks.startup import steward_up
from steward.core.documents import dump_yaml

ROWS, COLUMNS = 20, 25
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_CREATE = """async ([project, yaml]) => {
  const session = await (await fetch('/api/v1/session')).json();
  const answer = await fetch(`/api/v1/projects/${project}/playbooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': session.csrf_token },
    body: JSON.stringify({ yaml, message: '' }),
  });
  return [answer.status, await answer.json()];
}"""
_SEEN = """() => {
  const pane = document.querySelector('.react-flow').getBoundingClientRect();
  const seen = [...document.querySelectorAll('.react-flow__node')]
    .map((node) => node.getBoundingClientRect())
    .find(({ left, top }) => left > pane.left + 100 && top > pane.top + 50);
  return [seen.left + 20, seen.top + 10];
}"""
_FRAMES = """() => {
  window.frames_ = [];
  const count = (at) => { window.frames_.push(at); requestAnimationFrame(count); };
  requestAnimationFrame(count);
}"""


def flow(nodes: int) -> str:
    """Rows of SQL steps, each after the one before it and every fifth after its neighbour as well."""
    made = []
    for index in range(nodes):
        row, column = divmod(index, COLUMNS)
        needs = [f"n{index - 1}"] if column else []
        if row and column % 5 == 0:
            needs.append(f"n{index - COLUMNS}")
        made.append(
            {
                "id": f"n{index}",
                "type": "code",
                "title": f"Step {index}",
                "needs": needs,
                "language": "sql",
                "code": f"SELECT {index} AS n",
            }
        )
    document = {
        "format": 1,
        "id": "large",
        "name": "Large flow",
        "budget": {"usd": 1},
        "graph": {"nodes": made},
    }
    return dump_yaml(document)


def open_ms(page: Page, address: str) -> float:
    """From the click in the list of flows until every node is in the document."""
    page.goto(address)
    link = page.get_by_role("link", name="Large flow")
    link.wait_for()
    begun = page.evaluate("() => performance.now()")
    link.click()
    page.wait_for_function(
        f"() => document.querySelectorAll('.react-flow__node').length >= {ROWS * COLUMNS}",
        timeout=120_000,
    )
    return float(page.evaluate("() => performance.now()")) - float(begun)


def drag_fps(page: Page) -> float:
    x, y = page.evaluate(_SEEN)
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(_FRAMES)
    started = page.evaluate("() => performance.now()")
    step = 0
    while page.evaluate("() => performance.now()") - started < 2_000:
        step += 1
        page.mouse.move(x + step % 100, y + step % 60)
    frames = page.evaluate("() => window.frames_")
    page.mouse.up()
    page.get_by_text("Not saved yet.").wait_for()
    return 1000 * (len(frames) - 1) / (frames[-1] - frames[0]) if len(frames) > 1 else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as home,
        steward_up(home, wanted="sign_in") as started,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=given.chromium, args=_FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(started[0])
        page.wait_for_url("**/p/**")
        project = page.url.split("/p/")[1].split("/")[0]
        status, answer = page.evaluate(_CREATE, [project, flow(ROWS * COLUMNS)])
        if status != 201:
            sys.exit(f"The flow was refused: {answer}")
        flows = f"{page.url.split('/p/')[0]}/p/{project}/flows"
        opened = [open_ms(page, flows) for _ in range(given.times)]
        dragged = [drag_fps(page) for _ in range(given.times)]
        browser.close()
    report = {
        "open_500_ms": round(statistics.median(opened)),
        "drag_fps_500": round(statistics.median(dragged), 1),
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
