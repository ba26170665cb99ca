"""How soon a flow of 500 nodes can be worked on in a real browser, and how smoothly a node is dragged in it.

`open_500_ms` counts from the click on the flow until every node in view is painted and answers to the mouse.
`drag_fps_500` counts the frames in which a dragged node is seen at a new place. The mouse moves at its own pace, as a
hand does: it does not wait for the page. A drag that did not move the node by what the mouse moved ends the measurement.

    .venv/bin/python -m benchmarks.canvas             Steward
    .venv/bin/python -m benchmarks.canvas --n8n X     and n8n beside it, installed by `npm install n8n` in the folder X

n8n is measured in the same way: its own list, a workflow of as many nodes with the same lines, the same mouse.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from benchmarks.peer_n8n import OWNER, N8n, node, workflow
from benchmarks.startup import steward_up
from steward.core.documents import dump_yaml

ROWS, COLUMNS = 20, 25
_OURS = "react-flow"
SECONDS, MOVES_A_SECOND = 3, 80
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
_CLICK = """(name) => {
  const link = [...document.querySelectorAll('a, h2')].find((each) => each.textContent.includes(name));
  window.opened_ = new Promise((done) => {
    link.addEventListener('click', () => {
      const begun = performance.now();
      let steady = 0;
      let before = '';
      const look = () => {
        const pane = document.querySelector('.react-flow')?.getBoundingClientRect();
        const boxes = pane === undefined ? [] : [...document.querySelectorAll('.react-flow__node')]
          .map((node) => [node, node.getBoundingClientRect()])
          .filter(([, { left, top, right, bottom }]) =>
            left > pane.left && top > pane.top && right < pane.right && bottom < pane.bottom);
        const [node, box] = boxes[Math.floor(boxes.length / 2)] ?? [];
        const hit = node && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        const lines = document.querySelectorAll('.react-flow__edge').length;
        const now = node && node.contains(hit) && lines > 0
          ? boxes.map(([{ dataset }, { x, y }]) => `${dataset.id} ${x} ${y}`).join() + lines : '';
        steady = now !== '' && now === before ? steady + 1 : 0;
        before = now;
        // The frame in which the drawing was complete, and the one in which the screen shows it.
        if (steady === 2) done([performance.now() - begun, boxes.length]);
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, { once: true });
  });
  const { x, y, width, height } = link.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}"""
_GRIP = """() => {
  const pane = document.querySelector('.react-flow').getBoundingClientRect();
  const middle = [pane.x + pane.width / 2, pane.y + pane.height / 2];
  const away = ({ x, y }) => Math.hypot(x - middle[0], y - middle[1]);
  for (const node of [...document.querySelectorAll('.react-flow__node')]
    .sort((a, b) => away(a.getBoundingClientRect()) - away(b.getBoundingClientRect()))) {
    const box = node.getBoundingClientRect();
    const grip = [box.x + box.width / 2, box.y + box.height / 3];
    if (node.contains(document.elementFromPoint(...grip))) return [node.dataset.id, ...grip];
  }
  throw new Error('No node can be gripped.');
}"""
_WATCH = """(id) => {
  const node = document.querySelector(`.react-flow__node[data-id='${id}']`);
  const place = () => { const { x, y } = node.getBoundingClientRect(); return [x, y]; };
  const watch = { start: place(), place, moved: [] };
  let before = place();
  const look = (at) => {
    const now = place();
    if (now[0] !== before[0] || now[1] !== before[1]) watch.moved.push(at);
    before = now;
    if (window.watch_ === watch) requestAnimationFrame(look);
  };
  window.watch_ = watch;
  requestAnimationFrame(look);
}"""
_SEEN = """() => {
  const { start, place, moved } = window.watch_;
  window.watch_ = null;
  const [x, y] = place();
  return [moved, x - start[0], y - start[1]];
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


async def open_ms(page: Page, address: str, drawing: str) -> tuple[float, int]:
    """From the click in the list of flows until the drawing is complete and steady; and how many nodes are in view."""
    await page.goto(address)
    await page.locator("a, h2").filter(has_text="Large flow").first.wait_for()
    x, y = await page.evaluate(_CLICK.replace(_OURS, drawing), "Large flow")
    await page.mouse.click(x, y)
    took, seen = await asyncio.wait_for(page.evaluate("() => window.opened_"), 120)
    return float(took), int(seen)


async def drag_fps(page: Page, drawing: str) -> float:
    """Frames a second in which the node was seen to move, from the first of them to the last."""
    name, x, y = await page.evaluate(_GRIP.replace(_OURS, drawing))
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.evaluate(_WATCH.replace(_OURS, drawing), name)
    session = await page.context.new_cdp_session(page)
    sent: list[asyncio.Task[Any]] = []
    loop = asyncio.get_running_loop()
    begun, count = loop.time(), SECONDS * MOVES_A_SECOND
    for step in range(1, count + 1):
        await asyncio.sleep(max(0.0, begun + step / MOVES_A_SECOND - loop.time()))
        # There and back within the view, ending away from where it began.
        across = 120 - abs(step % 240 - 120) if step < count else 90
        down = 40 - abs(step % 80 - 40) if step < count else 30
        event = {"type": "mouseMoved", "button": "left", "buttons": 1}
        move = session.send("Input.dispatchMouseEvent", {**event, "x": x + across, "y": y + down})
        sent.append(asyncio.ensure_future(move))
    await asyncio.gather(*sent)
    await page.mouse.up()
    # The last move is drawn by the frame after it.
    await page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
    )
    moved, across, down = await page.evaluate(_SEEN)
    await session.detach()
    # A grid, or a first stretch that does not count as dragging, takes a little of the way.
    if abs(across - 90) > 30 or abs(down - 30) > 30:
        sys.exit(f"The drag is not to be believed: {name} moved by {across:.0f}, {down:.0f}.")
    # A page that never came to draw while the mouse moved shows one frame, the last.
    if len(moved) < 2:
        return len(moved) / SECONDS
    return float(1000 * (len(moved) - 1) / (moved[-1] - moved[0]))


async def measured(chromium: str, times: int, sign_in: str) -> dict[str, float]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await page.goto(sign_in)
        await page.wait_for_url("**/p/**")
        start, rest = page.url.split("/p/")
        project = rest.split("/")[0]
        status, answer = await page.evaluate(_CREATE, [project, flow(ROWS * COLUMNS)])
        if status != 201:
            sys.exit(f"The flow was refused: {answer}")
        found = await figures(page, f"{start}/p/{project}/flows", _OURS, times)
        await browser.close()
    return found


async def figures(page: Page, address: str, drawing: str, times: int) -> dict[str, float]:
    opened = [await open_ms(page, address, drawing) for _ in range(times)]
    dragged = [await drag_fps(page, drawing) for _ in range(times)]
    return {
        "open_500_ms": round(statistics.median(took for took, _ in opened)),
        "drag_fps_500": round(statistics.median(dragged), 1),
        "nodes_in_view": min(seen for _, seen in opened),
        "slowest_open_500_ms": round(max(took for took, _ in opened)),
        "slowest_drag_fps_500": round(min(dragged), 1),
    }


def peer_flow(nodes: int) -> dict[str, Any]:
    """The same drawing for n8n."""
    made = [
        node(f"Step {index}", "noOp", 1, (224 * (index % COLUMNS), 192 * (index // COLUMNS)))
        for index in range(nodes)
    ]
    lines = [(index - 1, index) for index in range(nodes) if index % COLUMNS]
    lines += [
        (index - COLUMNS, index) for index in range(COLUMNS, nodes) if index % COLUMNS % 5 == 0
    ]
    named = [(f"Step {before}", f"Step {after}") for before, after in lines]
    start = node("Start", "manualTrigger", 1, (-224, 0))
    return workflow("large", "Large flow", [start, *made], [("Start", "Step 0"), *named])


async def peer(chromium: str, times: int, n8n: N8n) -> dict[str, float]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await page.request.post(f"{n8n.url}/rest/owner/setup", data=OWNER)
        found = await figures(page, f"{n8n.url}/home/workflows", "vue-flow", times)
        await browser.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--n8n", type=Path, help="A folder in which n8n is installed.")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as home,
        steward_up(home, wanted="sign_in") as started,
    ):
        report: dict[str, Any] = asyncio.run(measured(given.chromium, given.times, started[0]))
    if given.n8n is not None:
        with tempfile.TemporaryDirectory() as home:
            n8n = N8n(given.n8n, Path(home))
            n8n.add(peer_flow(ROWS * COLUMNS))
            with n8n.started():
                found = asyncio.run(peer(given.chromium, given.times, n8n))
        report["n8n"] = {"version": n8n.version, **found}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
