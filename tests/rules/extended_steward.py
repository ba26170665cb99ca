"""Run with a source tree that was extended: proves the new parts by their kits, then looks for them in the product."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from steward.agents.guardrails import GUARDRAILS, load_guardrails
from steward.app import open_steward
from steward.connections.connector import load_connectors
from steward.core import MovableClock, Settings
from steward.flows import NODES
from steward.playbooks import TRIGGERS
from steward.testing import Installation, fast_passwords
from steward.testing.connections import check_connector, example_settings
from steward.testing.guardrails import check_guardrail
from steward.testing.nodes import check_node
from steward.testing.tools import check_tool
from steward.testing.triggers import check_trigger
from steward.tools import load_tools


def main(home: Path) -> None:
    check_tool(load_tools().get("count_words"))
    check_node("shout", NODES.get("shout"))
    check_trigger("hours", TRIGGERS.get("hours"))
    load_guardrails()
    check_guardrail("no-shouting", GUARDRAILS.get("no-shouting"))
    shop = load_connectors().get("web_shop")
    check_connector(shop, example_settings(shop))
    clock = MovableClock(datetime(2026, 3, 2, 8, tzinfo=UTC))
    steward = open_steward(Settings(home=home), clock=clock, passwords=fast_passwords())
    installation = Installation(steward, clock)
    try:
        client, project = installation.owner.client, installation.scope.project_id
        found = {
            page: client.get(f"/api/v1/projects/{project}/{page}").text
            for page in ("tools", "flows/palette", "agent-parts", "connection-kinds")
        }
    finally:
        installation.close()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(Path(folder))
