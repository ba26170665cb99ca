"""The guide to plug-ins, followed word for word: write the file, run the kit, install, see it in the palette."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steward.app import open_steward
from steward.cli.main import app
from steward.core import load_settings
from steward.testing import Installation, fast_passwords

GUIDE = Path(__file__).resolve().parents[2] / "docs/guides/plugins.md"
BLOCK = re.compile(r"```(sh|python file=(\S+))\n(.*?)```", re.DOTALL)


def test_the_guide_works_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    steward = open_steward(load_settings(), passwords=fast_passwords())
    owner = Installation(steward, steward.clock).owner  # type: ignore[arg-type]
    steward.close()
    text, seen = GUIDE.read_text(), []
    for kind, file, content in BLOCK.findall(text):
        if file:
            (tmp_path / file).write_text(content)
            continue
        assert kind == "sh"
        for line in content.splitlines():
            done = CliRunner().invoke(app, shlex.split(line)[1:])
            assert done.exit_code == 0, (line, done.output)
            seen.append(line)
            if line.startswith("steward plugin install"):
                _in_the_palette(owner.access.scope.project_id)
    assert any(line.startswith("steward plugin remove") for line in seen)


def _in_the_palette(project_id: str) -> None:
    steward = open_steward(load_settings(), passwords=fast_passwords())
    installation = Installation(steward, steward.clock)  # type: ignore[arg-type]
    try:
        client = installation.returning("owner").client
        tools = client.get(f"/api/v1/projects/{project_id}/tools").json()["items"]
        titles = {each["name"]: each["title"] for each in tools}
        assert titles["plugin.acme-tax.add_tax"] == "Add tax"
    finally:
        installation.close()
