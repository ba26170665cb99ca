"""The documentation under /docs of a running installation: pages, search, headers, and nothing from elsewhere."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from starlette.testclient import TestClient

from scripts.docs_site import build, fit_generator
from steward.api import create_routes, webapp
from steward.api.middleware import CONTENT_SECURITY_POLICY, RequestFrame
from steward.testing import Installation

_LOADS = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "audio": "src",
    "video": "src",
}
_TEXT = (".html", ".css", ".js")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("docs") / "site"
    build(place)
    return place


@pytest.fixture
def client(installation: Installation, site: Path) -> Iterator[TestClient]:
    api = create_routes()
    webapp.install(api, docs=site)
    api.add_middleware(RequestFrame, steward=installation.steward)
    with TestClient(api, base_url="http://127.0.0.1") as found:
        yield found


class _Page(HTMLParser):
    """What a page loads, where its links lead, its anchors and its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.inline: list[str] = []
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        self.handlers += [name for name in given if name.startswith("on")]
        if tag == "a" and (link := given.get("href")):
            self.links.append(link)
        if (source := given.get(_LOADS.get(tag, ""))) and given.get("rel") not in {"prev", "next"}:
            self.loads.append(source)
        if tag == "script" and not given.get("src") and "json" not in (given.get("type") or ""):
            self.inline.append(tag)


def test_the_first_page_has_the_sections_and_the_headers_of_the_product(client: TestClient) -> None:
    answer = client.get("/docs", follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/docs/")
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for section in ("Start", "Tutorials", "How-to guides", "Reference", "Architecture"):
        assert section in answer.text
    for section in ("Security", "Operating", "Plug-ins", "Comparison"):
        assert section in answer.text


def test_addresses_have_one_form_and_unknown_ones_are_a_page_that_says_so(
    client: TestClient,
) -> None:
    short = client.get("/docs/guides/data", follow_redirects=False)
    assert (short.status_code, short.headers["location"]) == (308, "/docs/guides/data/")
    lost = client.get("/docs/no/such/page/")
    assert lost.status_code == 404
    for address in _Page(lost.text).loads:
        assert client.get(address).status_code == 200, address
    for address in ("/docs//etc/passwd", "/docs/%2e%2e/webapp.py", "/docs/..%2fwebapp.py"):
        assert client.get(address).status_code == 404
    assert client.get("/docs/" + "a" * 400).status_code == 404
    assert client.get("/" + "a" * 400).status_code != 500
    assert client.post("/docs/").status_code == 404


def test_the_search_index_covers_every_page(client: TestClient, site: Path) -> None:
    answer = client.get("/docs/search.json", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    found = {item["location"].partition("#")[0] for item in json.loads(answer.text)["items"]}
    pages = {str(page.parent.relative_to(site)) + "/" for page in site.glob("*/**/index.html")}
    assert pages <= found
    worker = re.search(r'"search":"([^"]+)"', client.get("/docs/").text)
    assert worker
    assert client.get(urljoin("/docs/", worker[1])).status_code == 200


def test_pages_load_nothing_from_elsewhere_and_run_no_script_of_their_own(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = _Page(path.read_text())
        assert not page.inline, path
        assert not page.handlers, path
        foreign = [each for each in page.loads if urlsplit(each).netloc]
        assert not foreign, path
    for path in site.rglob("*.css"):
        addresses = re.findall(r"url\(['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", path.read_text())
        for address in (a or b for a, b in addresses):
            assert not re.match(r"https?:|//", address), address


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    pages = {path.resolve(): _Page(path.read_text()) for path in site.rglob("index.html")}
    for path, page in pages.items():
        for link in {*page.links, *page.loads}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{path.parent.name}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, (path.parent.name, link)


def test_a_checkout_without_the_site_says_how_to_build_it(
    installation: Installation, tmp_path: Path
) -> None:
    api = create_routes()
    webapp.install(api, docs=tmp_path)
    api.add_middleware(RequestFrame, steward=installation.steward)
    with TestClient(api, base_url="http://127.0.0.1") as client:
        answer = client.get("/docs/guides/data/")
    assert answer.status_code == 503
    assert "make up" in answer.text
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


def test_lists_and_named_files_are_written_as_the_generator_reads_them() -> None:
    page = "Text:\n- one\n  goes on\n  - inner\n\n    more\n- two\n\n```python file=a.py\n- x\n  - y\n```\n"
    assert fit_generator(page) == (
        "Text:\n\n- one\n    goes on\n    - inner\n\n        more\n\n- two\n\n"
        '```python title="a.py"\n- x\n  - y\n```\n'
    )
