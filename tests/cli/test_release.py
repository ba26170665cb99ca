"""What is published works by itself: the wheel carries the web app and starts without the checkout and without Node."""

import hashlib
import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from scripts.release import built, try_out
from steward import __version__


@pytest.mark.timeout(600)
def test_the_wheel_starts_in_an_empty_environment(tmp_path: Path) -> None:
    wheel = built(tmp_path / "dist")
    assert try_out(wheel, locked=True) == __version__

    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        needs = [
            line
            for line in archive.read(metadata).decode().splitlines()
            if line.startswith("Requires-Dist: ")
        ]
    assert "steward/api/web/index.html" in names
    assert not any("node_modules" in name or name.startswith("tests/") for name in names)
    # DuckDB loads extensions of its own version alone; of everything else a resolver may choose.
    assert {line.split()[1].partition("==")[0] for line in needs if "==" in line.split(";")[0]} == {
        "duckdb",
        "duckdb-extension-postgres-scanner",
    }

    listed = json.loads((wheel.parent / f"steward-{__version__}.python.cdx.json").read_text())
    assert {"fastapi", "duckdb", "sqlalchemy"} <= {each["name"] for each in listed["components"]}
    for line in (wheel.parent / "SHA256SUMS").read_text().splitlines():
        digest, _, name = line.partition("  ")
        assert hashlib.sha256((wheel.parent / name).read_bytes()).hexdigest() == digest
