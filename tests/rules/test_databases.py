"""Tests run on SQLite, and on each database when they are marked so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """\
import pytest

def test_plain(database_kind):
    pass

@pytest.mark.every_database
def test_marked(database_kind):
    pass
"""


@pytest.mark.parametrize(
    ("databases", "collected"),
    [
        ("sqlite,postgres", ["test_plain[sqlite]", "test_marked[sqlite]", "test_marked[postgres]"]),
        ("postgres", ["test_plain[postgres]", "test_marked[postgres]"]),
    ],
)
def test_the_mark_chooses(databases: str, collected: list[str], tmp_path: Path) -> None:
    file = tmp_path / "test_them.py"
    file.write_text(TESTS)
    config = tmp_path / "pytest.ini"
    config.write_text("[pytest]\naddopts = --strict-markers\n")
    options = ["--collect-only", "-q", "-c", str(config), "--steward-databases", databases]
    # Not with the options of whoever runs these tests.
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(file)],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=env,
    )
    names = [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]
    assert sorted(names) == sorted(collected)
