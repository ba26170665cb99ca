"""How soon the trace of a run with 100,000 spans is seen in a real browser, and how smoothly it scrolls.

The run is driven by Steward into its own journal: 500 agents, each with requests to a model and calls of tools, some of
which fail. Its trace is stored as the server does it when a long run ends.

`open_100k_ms` counts from the click on "Trace" until every row in view is painted, `open_run_100k_ms` from the click on the
run in the list of runs until its page shows how it ended. `scroll_fps` counts the frames in which the rows are seen at a
new place while the wheel turns at a steady pace; `drag_fps` the same while the scrollbar is dragged to the middle of the
trace and back. `holes` counts the frames of both in which a row in view was blank: neither a span nor its "…".
`wheel_waits` counts the frames of the wheel with such a "…", `fill_ms` is the longest time from the end of a drag until
all rows in view are spans. A wheel or a drag that did not move the rows by what it should ends the measurement.
`plain_fps` is the floor: the same wheel over a bare page with as many plain rows as it passes, on the same machine.
`first_look_ms` is what the server needs for the first window of a trace that is not stored yet, `stored_ms` how long it
takes from that look until the whole trace is stored.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from contextlib import closing, suppress
from functools import partial
from typing import Any

from playwright.async_api import CDPSession, Page, async_playwright

from benchmarks.startup import steward_up
from steward.app import Steward, open_steward
from steward.core.errors import Unavailable
from steward.core.settings import Settings
from steward.observe import TraceFilter
from steward.runs import EntryType, Execution, Json, RunRequest, StepFailed
from steward.store import Scope

AGENTS, CALLS = 500, 199
TITLE = "Long run"
ROW = 30
SECONDS, TURNS_A_SECOND, TURN = 4, 60, 100
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_ROWS = (
    f"window.row_ = {ROW};"
    """
  // Of each row in view: whether it is blank, or waits for its span.
  window.rows_ = () => {
    const tree = document.querySelector('[role=tree]');
    if (tree === null) return null;
    const { scrollTop, clientHeight } = tree;
    const known = new Map();
    const begin = tree.firstElementChild.getBoundingClientRect().top;
    for (const row of tree.firstElementChild.children) {
      const at = Math.round((row.getBoundingClientRect().top - begin) / row_);
      known.set(at, row.querySelector('[role=treeitem]')?.textContent.trim() ? 'span'
        : row.textContent.trim() ? 'waits' : 'blank');
    }
    const total = Math.round(tree.firstElementChild.clientHeight / row_);
    const found = { top: scrollTop, total, span: 0, waits: 0, blank: 0 };
    const last = Math.min(total, Math.ceil((scrollTop + clientHeight) / row_));
    for (let at = Math.floor(scrollTop / row_); at < last; at += 1) found[known.get(at) ?? 'blank'] += 1;
    return found;
  };
"""
)
_CLICK = """([role, name, seen]) => {
  const wanted = (each) => each.textContent.includes(name);
  const target = [...document.querySelectorAll(role)].find(wanted);
  const is_open = new Function(`return ${seen}`);
  window.opened_ = new Promise((done) => {
    target.addEventListener('click', () => {
      const begun = performance.now();
      const look = () => {
        // The frame in which it is complete, and the one in which the screen shows it.
        if (is_open()) requestAnimationFrame(() => done(performance.now() - begun));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, { once: true, capture: true });
  });
  const { x, y, width, height } = target.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}"""
_WATCH = """() => {
  const watch = { moved: [], frames: 0, holes: 0, waits: 0, start: rows_().top };
  let before = watch.start;
  const look = (at) => {
    const { top, waits, blank } = rows_();
    if (top !== before) watch.moved.push(at);
    watch.last = top;
    before = top;
    watch.frames += 1;
    if (blank > 0) watch.holes += 1;
    if (waits > 0) watch.waits += 1;
    if (window.watch_ === watch) requestAnimationFrame(look);
  };
  window.watch_ = watch;
  requestAnimationFrame(look);
}"""
_SEEN = """() => {
  const { watch_ } = window;
  window.watch_ = null;
  const end = rows_().top;
  if (watch_.last !== end) throw new Error('The watch ended before the rows did.');
  return { ...watch_, end };
}"""
_FILLED = """() => new Promise((done) => {
  const begun = performance.now();
  const look = () => {
    const { waits, blank } = rows_();
    if (waits + blank === 0) done(performance.now() - begun);
    else requestAnimationFrame(look);
  };
  look();
})"""
_PLAIN = """(row) => {
  document.body.innerHTML = '<div role=tree aria-label=Spans style="height:542px;overflow-y:auto"><div></div></div>';
  const rows = document.querySelector('[role=tree]').firstElementChild;
  for (let at = 0; at < 1200; at += 1) {
    rows.insertAdjacentHTML('beforeend', `<div style="height:${row}px"><div role=treeitem>Row ${at}</div></div>`);
  }
}"""
_NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
_TRACE_IS_OPEN = "(rows_()?.span ?? 0) >= 18 && rows_().waits + rows_().blank === 0"

_RUN_IS_OPEN = """[...document.querySelectorAll('[role=status]')]
  .some((each) => each.textContent.includes('Done')) && document.querySelector('[role=tab]') !== null"""


async def long_run(execution: Execution) -> Json:
    async def done(result: Json, error: Exception | None = None) -> Json:
        if error is not None:
            raise error
        return result

    async def step(key: str, request: Json, result: Json, type_: str, of: str, n: int) -> None:
        error = Unavailable("The service answers 503.", code="http-503") if n % 997 == 996 else None
        # Durable at the end of each agent: so many entries are written together.
        with suppress(StepFailed):
            await execution.step(
                key,
                request,
                partial(done, result, error),
                type=type_,
                of=of,
                lazily=lambda _: type_ != EntryType.step_finished,
            )

    for number in range(AGENTS):
        above, agent = f"work-{number}", f"agent-{number % 12}"
        await step(f"{above}/begin", {"agent": agent}, None, EntryType.step_started, above, 0)
        for call in range(CALLS):
            n = number * CALLS + call
            if call % 2:
                asked: Json = {"tool": f"tool_{call % 20}", "arguments": {"customer": n}}
                result: Json = {"value": n, "labels": [], "artifacts": []}
                kind = EntryType.call_done
            else:
                asked = {"role": "operator", "messages": []}
                usage = {"input_tokens": 900, "output_tokens": 90, "cost": "0.0001"}
                result = {"model": f"model-{call % 6}", "parts": [], "usage": usage}
                kind = EntryType.model_asked
            key = f"{above}/call-{call}"
            await step(key, asked, result, kind, key, n)
        await step(f"{above}/end", {"agent": agent}, None, EntryType.step_finished, above, 0)
    return None


def filled(home: str, project_id: str) -> tuple[str, float, float]:
    """Drives the run in the project of the first person; the run, what a first look at its trace and storing it took."""
    with closing(open_steward(Settings(home=home))) as steward:
        [scope] = [
            each for each in steward.identity.projects.scopes() if each.project_id == project_id
        ]
        person = steward.identity.users.first_owner()
        assert person is not None
        steward.runs.programs["long"] = long_run
        request = RunRequest(TITLE, "long", {}, max_steps=AGENTS * (CALLS + 2))
        run = steward.runs.start(scope, person.id, request)
        steward.runs.drive_until_idle()
        return run.id, *looked_ms(steward, scope, run.id)


def looked_ms(steward: Steward, scope: Scope, run_id: str) -> tuple[float, float]:
    """Until the first window is there, and until all spans are stored."""
    traces = steward.observations.traces
    begun = time.perf_counter()
    _, rows = traces.look(scope, run_id, lambda _: True).window(0, 200, TraceFilter())
    first = (time.perf_counter() - begun) * 1000
    traces.settle(run_id)
    stored = (time.perf_counter() - begun) * 1000
    whole = traces.look(scope, run_id, lambda _: True)
    if whole.reading or len(whole.rows) != 1 + AGENTS * (1 + CALLS) or len(rows) != 200:
        sys.exit(f"The trace has {len(whole.rows)} spans.")
    return first, stored


async def click_ms(page: Page, selector: str, name: str, seen: str) -> float:
    x, y = await page.evaluate(_CLICK, [selector, name, seen])
    await page.mouse.click(x, y)
    return float(await asyncio.wait_for(page.evaluate("() => window.opened_"), 120))


async def steadily(count: int, a_second: int, act: Any) -> None:
    """At its own pace, as a hand does: it does not wait for the page."""
    loop = asyncio.get_running_loop()
    sent: list[asyncio.Task[Any]] = []
    begun = loop.time()
    for step in range(1, count + 1):
        await asyncio.sleep(max(0.0, begun + step / a_second - loop.time()))
        sent.append(asyncio.ensure_future(act(step)))
    await asyncio.gather(*sent)


async def seen_after(page: Page) -> dict[str, Any]:
    await page.evaluate(_NEXT_FRAME)
    return dict(await page.evaluate(_SEEN))


def fps(seen: dict[str, Any]) -> float:
    moved = seen["moved"]
    return float(1000 * (len(moved) - 1) / (moved[-1] - moved[0]))


async def wheeled(page: Page, session: CDPSession) -> dict[str, Any]:
    box = await page.get_by_role("tree", name="Spans").bounding_box()
    assert box is not None
    at = {"x": box["x"] + 200, "y": box["y"] + 200}
    await page.evaluate(_WATCH)
    count = SECONDS * TURNS_A_SECOND

    def turn(_: int) -> Any:
        event = {"type": "mouseWheel", "deltaX": 0, "deltaY": TURN}
        return session.send("Input.dispatchMouseEvent", {**event, **at})

    await steadily(count, TURNS_A_SECOND, turn)
    seen = await seen_after(page)
    way = seen["end"] - seen["start"]
    if abs(way - count * TURN) > 0.1 * count * TURN:
        sys.exit(f"The wheel is not to be believed: the rows moved by {way:.0f} pixels.")
    return seen


async def dragged(page: Page, session: CDPSession) -> tuple[dict[str, Any], float]:
    """The scrollbar from the top to the middle and back to a quarter; how long the rows took after it stopped."""
    tree = page.get_by_role("tree", name="Spans")
    await tree.evaluate("(tree) => { tree.scrollTop = 0; }")
    await page.evaluate(_FILLED)
    box = await tree.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] - 8, box["y"] + 24  # below the arrow, on the thumb
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.evaluate(_WATCH)
    count = SECONDS * TURNS_A_SECOND
    half = box["height"] / 2

    def move(step: int) -> Any:
        down = half * min(1, 2 * step / count) - half / 2 * max(0, 2 * step / count - 1)
        event = {"type": "mouseMoved", "button": "left", "buttons": 1, "x": x, "y": y + down}
        return session.send("Input.dispatchMouseEvent", event)

    await steadily(count, TURNS_A_SECOND, move)
    waited = float(await page.evaluate(_FILLED))
    await page.mouse.up()
    seen = await seen_after(page)
    way = seen["end"] / (ROW * (await page.evaluate("() => rows_().total")))
    if abs(way - 0.25) > 0.05:
        sys.exit(f"The drag is not to be believed: it ended at {way:.2f} of the trace.")
    return seen, waited


async def measured(chromium: str, times: int, sign_in: str, run_id: str) -> dict[str, float]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=_FLAGS, ignore_default_args=["--hide-scrollbars"]
        )
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await page.add_init_script(_ROWS)
        await page.goto(sign_in)
        await page.wait_for_url("**/p/**")
        start, rest = page.url.split("/p/")
        runs = f"{start}/p/{rest.split('/')[0]}/runs"
        session = await page.context.new_cdp_session(page)
        opened, shown, wheels, drags = [], [], [], []
        for _ in range(times):
            await page.goto(runs)
            await page.get_by_role("link", name=TITLE).first.wait_for()
            shown.append(await click_ms(page, f"a[href*='{run_id}']", TITLE, _RUN_IS_OPEN))
            opened.append(await click_ms(page, "[role=tab]", "Trace", _TRACE_IS_OPEN))
            wheels.append(await wheeled(page, session))
            drags.append(await dragged(page, session))
        await page.goto("about:blank")
        await page.evaluate(_PLAIN, ROW)
        plain = fps(await wheeled(page, session))
        await browser.close()
    return {
        "open_100k_ms": round(statistics.median(opened)),
        "scroll_fps": round(statistics.median(map(fps, wheels)), 1),
        "holes": sum(seen["holes"] for seen in [*wheels, *(seen for seen, _ in drags)]),
        "drag_fps": round(statistics.median(fps(seen) for seen, _ in drags), 1),
        "wheel_waits": sum(seen["waits"] for seen in wheels),
        "fill_ms": round(max(waited for _, waited in drags)),
        "plain_fps": round(plain, 1),
        "open_run_100k_ms": round(statistics.median(shown)),
        "slowest_open_100k_ms": round(max(opened)),
        "slowest_scroll_fps": round(min(map(fps, wheels)), 1),
    }


async def first_project(chromium: str, sign_in: str) -> str:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        page = await browser.new_page()
        await page.goto(sign_in)
        await page.wait_for_url("**/p/**")
        project = page.url.split("/p/")[1].split("/")[0]
        await browser.close()
    return project


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        with steward_up(home, wanted="sign_in") as started:
            project = asyncio.run(first_project(given.chromium, started[0]))
        run_id, first_look, stored = filled(home, project)
        with steward_up(home, wanted="sign_in") as started:
            report = asyncio.run(measured(given.chromium, given.times, started[0], run_id))
    report |= {"first_look_ms": round(first_look), "stored_ms": round(stored)}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
