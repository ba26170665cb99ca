"""The guide to new parts of Steward, followed word for word: write the files, run the kits, find them in the product."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = re.compile(r"```python file=(\S+)\n(.*?)```", re.DOTALL)
SHOWN = {
    "tools/count_words.py": ("tools", '"count_words"'),
    "flows/nodes/shout.py": ("flows/palette", '"shout"'),
    "playbooks/triggers/hours.py": ("flows/palette", '"At certain hours"'),
    "agents/guardrails/no_shouting.py": ("agent-parts", '"no-shouting"'),
    "connections/types/web_shop.py": ("connection-kinds", '"Web shop"'),
}


def test_a_part_is_one_file(tmp_path: Path) -> None:
    left_out = shutil.ignore_patterns("web", "docs")
    shutil.copytree(ROOT / "src/steward", tmp_path / "src/steward", ignore=left_out)
    written = FILE.findall((ROOT / "docs/guides/extending.md").read_text())
    for path, text in written:
        assert not (tmp_path / path).exists()
        (tmp_path / path).write_text(text)
    assert {path.removeprefix("src/steward/") for path, _ in written} == SHOWN.keys()
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/rules/extended_steward.py")],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    for path, (page, name) in SHOWN.items():
        assert name in found[page], path


def test_the_guide_is_where_contributors_look() -> None:
    assert "docs/guides/extending.md" in (ROOT / "CONTRIBUTING.md").read_text()
