"""Places, notes and groups leave and come in as files beside those of the playbooks, and never change what they mean."""

import json
from pathlib import Path
from typing import Any

import pytest

from steward.core.errors import Invalid
from steward.playbooks.exchange import Change, SourceFile
from steward.playbooks.layout_files import merged, read_layout
from steward.playbooks.packing import packed, unpacked
from tests.playbooks.conftest import ASKING, Room

DRAWN: dict[str, Any] = {
    "places": {"ask": {"x": 40, "y": 80}},
    "closed": ["ask"],
    "notes": [{"id": "n1", "text": "Ask Ann first.", "at": {"x": 1, "y": 2}}],
    "groups": [{"id": "g1", "title": "Closing", "keys": ["ask"]}],
}


def made(room: Room, layout: dict[str, Any] | None = DRAWN) -> str:
    return room.playbooks.library.create(room.editor.access, ASKING, layout=layout).id


def layout_of(room: Room, named: str = "monthly-costs") -> Any:
    return room.playbooks.library.revision(room.editor.access, named).layout


def test_a_drawing_survives_export_and_import(room: Room, tmp_path: Path) -> None:
    access, exchange = room.editor.access, room.playbooks.exchange
    made(room)
    written = exchange.write_folder(access, tmp_path)
    drawing = tmp_path / "Finance/Monthly/monthly-costs.layout.json"
    assert [path.name for path in written] == ["monthly-costs.yaml", drawing.name]
    assert drawing.stat().st_mode & 0o777 == 0o600
    assert "places" not in (drawing.parent / "monthly-costs.yaml").read_text()
    # A second time the same bytes, and an import of them changes nothing.
    first = drawing.read_bytes()
    exchange.write_folder(access, tmp_path)
    assert drawing.read_bytes() == first
    (done,) = exchange.read_folder(access, tmp_path)
    assert done.change is Change.unchanged
    for path in written:
        text = path.read_text().replace("monthly-costs", "other")
        path.with_name(path.name.replace("monthly-costs", "other")).write_text(text)
    done = exchange.read_folder(access, tmp_path)[1]
    assert done.change is Change.created
    assert layout_of(room, "other") == DRAWN
    changes = {each.change for each in exchange.read_folder(access, tmp_path)}
    assert changes == {Change.unchanged}


def test_a_drawing_alone_makes_no_revision(room: Room, tmp_path: Path) -> None:
    access, exchange = room.editor.access, room.playbooks.exchange
    playbook = made(room)
    exchange.write_folder(access, tmp_path)
    drawing = tmp_path / "Finance/Monthly/monthly-costs.layout.json"
    drawing.write_text(drawing.read_text().replace('"x": 40', '"x": 500'))
    (done,) = exchange.read_folder(access, tmp_path)
    assert done.change is Change.changed
    assert layout_of(room)["places"] == {"ask": {"x": 500, "y": 80}}
    assert room.playbooks.library.get(access, playbook).head == 1


def test_what_is_only_drawn_here_stays(room: Room, tmp_path: Path) -> None:
    access, exchange = room.editor.access, room.playbooks.exchange
    made(room)
    exchange.write_folder(access, tmp_path)
    mine = {"id": "n2", "text": "Mine.", "at": {"x": 5, "y": 5}}
    here = {**DRAWN, "notes": [{**DRAWN["notes"][0], "text": "Changed here."}, mine]}
    library = room.playbooks.library
    library.save(access, "monthly-costs", None, ASKING, layout=here)
    exchange.read_folder(access, tmp_path)
    assert layout_of(room)["notes"] == [DRAWN["notes"][0], mine]
    # Without the file of the drawing, it stays as it is.
    (tmp_path / "Finance/Monthly/monthly-costs.layout.json").unlink()
    (done,) = exchange.read_folder(access, tmp_path)
    assert (done.change, len(layout_of(room)["notes"])) == (Change.unchanged, 2)


def test_a_drawing_that_is_gone_leaves_no_file_behind(room: Room, tmp_path: Path) -> None:
    access, exchange = room.editor.access, room.playbooks.exchange
    made(room)
    exchange.write_folder(access, tmp_path / "out")
    empty: dict[str, Any] = {"places": {}, "closed": [], "notes": [], "groups": []}
    room.playbooks.library.save(access, "monthly-costs", None, ASKING, layout=empty)
    exchange.write_folder(access, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").rglob("*.*")] == ["monthly-costs.yaml"]


def test_zips_and_routes_carry_drawings(room: Room) -> None:
    access, client = room.editor.access, room.editor.client
    made(room)
    base = f"/api/v1/projects/{access.scope.project_id}/playbooks"
    whole = client.get(f"{base}/export").content
    assert whole == packed(room.playbooks.exchange.files(access))
    (source,) = unpacked(whole)
    assert source.layout == DRAWN
    found = client.post(f"{base}/import/unpack", content=whole).json()["files"]
    found[0]["yaml"] = found[0]["yaml"].replace("monthly-costs", "other")
    done = client.post(f"{base}/import/files", json={"files": found}).json()
    assert (done["written"], done["files"][0]["change"]) == (True, "created")
    assert layout_of(room, "other") == DRAWN
    moved = {"places": {"ask": {"x": 7, "y": 7}}}
    one = client.post(f"{base}/import", json={"yaml": ASKING, "layout": moved}).json()
    assert one["change"] == "changed"
    assert layout_of(room)["places"]["ask"] == {"x": 7, "y": 7}
    again = client.post(f"{base}/import", json={"yaml": ASKING, "layout": moved}).json()
    assert again["change"] == "unchanged"


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", "{}", '{"format": 2, "layout": {}}', '{"format": 1, "layout": {"notes": {}}}'),
        "[" * 100_000,
    ],
)
def test_a_file_that_is_no_drawing_is_refused_by_its_name(
    room: Room, tmp_path: Path, text: str
) -> None:
    with pytest.raises(Invalid, match=r"a\.layout\.json"):
        read_layout(text, "a.layout.json")
    (tmp_path / "a.yaml").write_text(ASKING)
    (tmp_path / "a.layout.json").write_text(text)
    (done,) = room.playbooks.exchange.read_folder(room.editor.access, tmp_path)
    assert (done.change, "a.layout.json" in (done.reason or "")) == (Change.refused, True)
    zipped = packed([("a.yaml", ASKING), ("a.layout.json", text)])
    (source,) = unpacked(zipped)
    (told,) = room.playbooks.exchange.bring_in_all(room.editor.access, [source])
    assert told.change is Change.refused


def test_merging_twice_is_merging_once() -> None:
    here = {"places": {"old": {"x": 1, "y": 1}}, "notes": [{"id": "z", "text": "", "at": {}}]}
    once = merged(here, DRAWN)
    assert merged(once, DRAWN) == once
    assert json.loads(json.dumps(once)) == once
    assert SourceFile("a", "").layout is None
