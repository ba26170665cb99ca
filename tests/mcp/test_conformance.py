"""The conformance suite of the Model Context Protocol against a real server, at both of its revisions.

`npm install --prefix <folder> @modelcontextprotocol/conformance@0.2.0-alpha.12` brings the suite;
`MCP_CONFORMANCE=<folder>` says where it is. Without it these tests are skipped.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from steward.api.routes import mcp
from steward.identity import Role
from steward.testing import Installation
from tests.api.live import LiveServer
from tests.mcp.clients import load, token_of
from tests.mcp.conformance_tools import add_tools, remove_tools

FOLDER = Path(os.environ.get("MCP_CONFORMANCE", "web"))
SUITE = FOLDER / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
NOT_APPLICABLE: dict[str, dict[str, dict[str, Any]]] = json.loads(
    Path(__file__).with_name("conformance.json").read_text("utf-8")
)


@pytest.fixture
def _tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # The suite leaves most of its sessions open.
    monkeypatch.setattr(mcp, "SESSIONS_PER_PERSON", 100)
    add_tools()
    yield
    remove_tools()


def signed(token: str) -> Callable[[ASGIApp], ASGIApp]:
    """Adds the token to each request, since the suite can send none."""

    def around(app: ASGIApp) -> ASGIApp:
        async def call(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                bearer = (b"authorization", f"Bearer {token}".encode())
                scope = {**scope, "headers": [*scope["headers"], bearer]}
            await app(scope, receive, send)

        return call

    return around


def outcomes(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The failed checks of each scenario that ran, by its name."""
    found: dict[str, list[dict[str, Any]]] = {}
    for file in folder.glob("server-*/checks.json"):
        name = file.parent.name.removeprefix("server-")[: -len("-2026-11-17T00-00-00-000Z")]
        checks = json.loads(file.read_text("utf-8"))
        found[name] = [each for each in checks if each["status"] == "FAILURE"]
    return found


@pytest.mark.usefixtures("_tools")
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_conformance_suite_passes_but_for_what_does_not_apply(
    installation: Installation, tmp_path: Path, revision: str
) -> None:
    if not SUITE.is_file():
        pytest.skip(f"the suite is not at {SUITE}; the head of this file says how to bring it")
    load(installation)
    token = token_of(installation, Role.operator)
    with LiveServer(installation, signed(token)) as address:
        command = ["node", str(SUITE), "server", "--url", f"{address}/mcp", "--suite", "all"]
        subprocess.run(
            [*command, "--spec-version", revision, "-o", str(tmp_path)],
            capture_output=True,
            timeout=300,
            check=False,
        )
    found = outcomes(tmp_path)
    failed = {name for name, checks in found.items() if checks}
    print(f"{revision}: {len(found) - len(failed)} of {len(found)} scenarios pass")  # noqa: T201
    assert len(found) > 30
    known = NOT_APPLICABLE[revision]
    told = [each for name in failed - known.keys() for each in found[name]]
    assert not told, json.dumps(told, indent=1)[:6000]
    assert failed == known.keys(), "a scenario passes that is said not to apply"
    for name, reason in known.items():
        if "checks" in reason:
            assert {each["id"] for each in found[name]} == set(reason["checks"])
