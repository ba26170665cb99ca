"""`steward audit`: a file for other systems, and the proof that it is whole."""

from pathlib import Path

from tests.cli.terminal import Terminal


def test_an_exported_file_is_verified_until_it_is_changed(filled: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "events.cef"
    assert (
        filled.run("audit", "export", "--format", "cef", "--out", str(file), "--json").json()[
            "events"
        ]
        > 0
    )
    assert filled.run("audit", "verify", str(file), "--json").json()["intact"] is True

    key = tmp_path / "key.pem"
    key.write_text(filled.run("verify", "--show-key", "--json").json()["pem"])
    assert (
        filled.run("audit", "verify", str(file), "--key", str(key), "--json").json()["intact"]
        is True
    )

    first, rest = file.read_text().split("\n", 1)
    file.write_text(f"{first} changed\n{rest}")
    failed = filled.run("audit", "verify", str(file), code=1)
    assert failed.code == 1
    assert "a line was changed" in failed.out
