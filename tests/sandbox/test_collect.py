"""Files left in scratch are taken only when they are what they seem."""

import os
from pathlib import Path

import pytest

from steward.sandbox.collect import collect, used


@pytest.fixture
def scratch(tmp_path: Path) -> int:
    return os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)


def test_only_plain_files_are_taken(tmp_path: Path, scratch: int) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-secret"
    outside.write_text("secret")
    (tmp_path / "good.txt").write_text("good")
    (tmp_path / ".hidden").write_text("cache")
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "folder-link").symlink_to(tmp_path.parent)
    os.link(outside, tmp_path / "hard")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "deep.txt").write_text("deep")
    found = collect(scratch, 1000)
    assert {f.path: f.content for f in found.files} == {
        "good.txt": b"good",
        "sub/deep.txt": b"deep",
    }
    assert sorted(reason.partition(":")[0] for reason in found.skipped) == [
        "folder-link",
        "hard",
        "link",
        "pipe",
    ]


def test_the_sum_is_limited(tmp_path: Path, scratch: int) -> None:
    (tmp_path / "large").write_bytes(b"x" * 2000)
    (tmp_path / "small").write_bytes(b"y" * 10)
    found = collect(scratch, 1000)
    assert [f.path for f in found.files] == ["small"]
    assert found.skipped == ["large: too large to be handed back"]


def test_odd_names_and_depths(tmp_path: Path, scratch: int) -> None:
    (tmp_path / os.fsdecode(b"\xff.txt")).write_text("x")
    deep = tmp_path
    for _ in range(20):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "f").write_text("x")
    assert [f.path for f in collect(scratch, 1000).files] == ["\ufffd.txt"]


def test_use_is_measured(tmp_path: Path, scratch: int) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"x" * 100_000)
    size, count = used(scratch)
    assert size >= 100_000
    assert count == 2
