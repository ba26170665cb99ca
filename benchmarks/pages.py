"""How soon each page can be used in a real browser, over a project with data, runs and files in it.

A page can be used when its title is there, nothing in it says that it is loading, every answer that it asked for has
come, and the browser has drawn two frames since. Each page is opened by its address: the first time, when the server
has not shown it to anyone yet, and a few times more. `worst_page_ms` is the largest median of those further times,
`worst_first_ms` the largest first time. `first_load_kb` is all that the first page sends to a browser with an empty
cache: page, scripts, styles, fonts and answers, compressed as they are sent.

    .venv/bin/python -m benchmarks.pages                  a fresh installation with the demo cleaned up in it
    .venv/bin/python -m benchmarks.pages --pages console  only these
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from benchmarks.startup import STEWARD, steward_up
from steward.core.settings import minimal_environment

_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_PATIENCE_MS = 60_000
_PAGES = Path(__file__).parents[1] / "web/src/pages"
# Streams stay open as long as the page does; work under way is a stream, too.
_WATCH = """(() => {
  const ask = window.fetch;
  let open = 0;
  let last = 0;
  window.fetch = async (...given) => {
    open += 1;
    try {
      const answer = await ask(...given);
      const isStream = (answer.headers.get('content-type') ?? '').includes('event-stream');
      if (!isStream) await answer.clone().arrayBuffer();
      return answer;
    } finally { open -= 1; last = performance.now(); }
  };
  const busy = '[aria-busy="true"], .mantine-Skeleton-root, .mantine-Loader-root';
  window.usable_ = new Promise((done) => {
    let frames = 0;
    let since = 0;
    const look = () => {
      const ready = document.querySelector('#root h1') && open === 0 && !document.querySelector(`#root :is(${busy})`);
      if (!ready || last > since) { frames = 0; since = performance.now(); }
      else frames += 1;
      if (ready && frames >= 2 && performance.now() - since > 150) done(since);
      else requestAnimationFrame(look);
    };
    addEventListener('DOMContentLoaded', () => requestAnimationFrame(look));
  });
})()"""
_IDS = """async (project) => {
  const first = async (what, pick) => {
    const answer = await (await fetch(`/api/v1/projects/${project}/${what}`)).json();
    return answer.items?.length ? pick(answer.items[0]) : null;
  };
  return {
    'datasets/*': await first('datasets', ({ name }) => name),
    'runs/*': await first('runs?limit=1', ({ id, run_id }) => id ?? run_id),
    'blueprints/*': await first('blueprints', ({ id }) => id),
    'chat/*': await first('threads', ({ id }) => id),
    'flows/*': await first('playbooks', ({ id }) => id),
    'agents/*': await first('agents', ({ name }) => name),
    'skills/*': await first('skills', ({ name }) => name),
  };
}"""


def signed_in(browser: Browser, sign_in: str) -> tuple[BrowserContext, str, float]:
    """A person's browser on the home page, the project's address, and the kilobytes that this took."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(_WATCH)
    page = context.new_page()
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    sent: list[float] = []
    network.on("Network.loadingFinished", lambda event: sent.append(event["encodedDataLength"]))
    page.goto(sign_in)
    page.wait_for_url("**/p/**")
    page.evaluate("() => window.usable_")
    start, rest = page.url.split("/p/")
    weight = sum(sent) / 1000
    page.close()
    return context, f"{start}/p/{rest.split('/')[0].split('?')[0]}", weight


def addresses(page: Page, project: str) -> list[str]:
    """Every page of a project by its folder, and one item of each list that has some."""
    page.goto(project)
    page.evaluate("() => window.usable_")
    plain = [
        path.parent.name if path.parent.name != "home" else ""
        for path in sorted(_PAGES.glob("*/page.tsx"))
        if "scope: 'project'" in path.read_text()
    ]
    found: dict[str, str | None] = page.evaluate(_IDS, project.rsplit("/", 1)[1])
    items = [place.replace("*", name) for place, name in found.items() if name]
    return [*plain, *items]


def open_ms(context: BrowserContext, address: str) -> float:
    page = context.new_page()
    page.set_default_timeout(_PATIENCE_MS)
    try:
        page.goto(address, wait_until="commit")
        page.wait_for_function("() => window.usable_ !== undefined")
        took: float = page.evaluate("() => window.usable_")
        return took
    finally:
        page.close()


def worked_in(home: str) -> None:
    """The demo cleaned up and asked about, so that lists, runs and files are not empty."""
    environment = {**minimal_environment(), "STEWARD_HOME": home}
    for command in (["demo", "--yes"], ["chat", "total gross by country"]):
        subprocess.run(
            [str(STEWARD), *command], env=environment, stdout=subprocess.DEVNULL, check=True
        )


def measured(
    chromium: str, sign_in: str, times: int, wanted: list[str]
) -> tuple[dict[str, list[float]], float]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        context, project, weight = signed_in(browser, sign_in)
        paths = addresses(context.new_page(), project)
        chosen = [path for path in paths if not wanted or path.split("/")[0] in wanted]
        found: dict[str, list[float]] = {}
        for path in chosen:
            address = f"{project}/{path}".rstrip("/")
            found[path or "home"] = [open_ms(context, address) for _ in range(times + 1)]
            first, *further = found[path or "home"]
            sys.stdout.write(f"{path or 'home':52}{first:8.0f}{statistics.median(further):8.0f}\n")
            sys.stdout.flush()
        browser.close()
    return found, weight


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--pages", nargs="*", default=[])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        with steward_up(home):
            worked_in(home)
        with steward_up(home, wanted="sign_in") as (sign_in, _, _process):
            sys.stdout.write(f"{'page':52}{'first':>8}{'median':>8}\n")
            found, weight = measured(given.chromium, sign_in, given.times, given.pages)
    medians = {path: statistics.median(further) for path, (_, *further) in found.items()}
    worst = max(medians, key=medians.__getitem__)
    report: dict[str, Any] = {
        "worst_page_ms": round(medians[worst]),
        "worst_page": worst,
        "worst_first_ms": round(max(first for first, *_ in found.values())),
        "median_page_ms": round(statistics.median(medians.values())),
        "first_load_kb": round(weight, 1),
        "pages": len(found),
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
