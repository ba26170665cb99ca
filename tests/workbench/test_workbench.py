"""The workbench as doors use it: bring data in, look, change, undo, hand out."""

import csv
import io
import zipfile
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest

from steward.core.errors import Conflict, Invalid, NotFound
from steward.ingest import ColumnOption, Options
from steward.testing import Installation
from steward.workbench import Filter, Sort
from steward.workbench.outputs import Format

pytestmark = pytest.mark.every_database

PEOPLE = (
    "id;name;joined;amount\n1; Ada ;2026-01-02;1,50\n2;Bob;2026-02-03;2,25\n3;;2026-03-04;-7,00\n"
)


def _load(installation: Installation, text: str, name: str = "people", **options: Any) -> Any:
    path = Path(installation.steward.settings.home) / "incoming.csv"
    path.write_text(text)
    owner = installation.owner
    return installation.steward.workbench.bringing.load(
        installation.scope, owner.user.id, path, f"{name}.csv", name, Options(**options)
    )


def _version(installation: Installation, name: str = "people") -> str:
    datasets = installation.steward.workbench.datasets
    return datasets.get(installation.scope, installation.owner.user.id, name).version


def test_a_load_commits_rows_rejects_and_the_original_together(
    installation: Installation,
) -> None:
    broken = PEOPLE + "x;Eve;2026-01-01;1,00\n"
    as_number = {"id": ColumnOption(type="BIGINT")}
    with pytest.raises(Invalid, match="1 of 4 records"):
        _load(installation, broken, columns=as_number)
    loaded, commit = _load(installation, broken, columns=as_number, rejects_allowed=1)
    assert (loaded.records, loaded.rows, loaded.rejected) == (4, 3, 1)
    assert {change.name for change in commit.changes} == {
        "people",
        "people (rejects)",
        "originals/people.csv",
    }
    workspace = installation.steward.workbench.datasets.workspace(
        installation.scope, installation.owner.user.id
    )
    assert b"".join(workspace.read_file("originals/people.csv")) == broken.encode()
    rejects = installation.steward.workbench.datasets.rows(
        installation.scope, _version(installation, "people (rejects)")
    )
    assert rejects.rows[0][0] == "5"


def test_pages_sort_and_filter_without_losing_exactness(installation: Installation) -> None:
    _load(installation, PEOPLE)
    datasets, scope = installation.steward.workbench.datasets, installation.scope
    version = _version(installation)
    page = datasets.rows(scope, version, offset=1, limit=1)
    assert page.total == 3
    assert page.rows == [["2", "Bob", "2026-02-03", "2.25"]]
    sorted_page = datasets.rows(scope, version, sort=[Sort("amount", descending=True)])
    assert [row[0] for row in sorted_page.rows] == ["2", "1", "3"]
    found = datasets.rows(scope, version, filters=[Filter("amount", "lt", "2")])
    assert ([row[0] for row in found.rows], found.total) == (["1", "3"], 2)
    assert datasets.rows(scope, version, filters=[Filter("name", "contains", "AD")]).total == 1
    assert datasets.rows(scope, version, filters=[Filter("name", "empty")]).total == 1
    assert datasets.rows(scope, version, filters=[Filter("amount", "eq", "' OR 1=1")]).total == 0
    with pytest.raises(Invalid, match="no column"):
        datasets.rows(scope, version, sort=[Sort("nothing")])
    assert datasets.rows(scope, version, offset=50).rows == []


def test_a_change_is_shown_then_committed_then_undone(installation: Installation) -> None:
    _load(installation, PEOPLE)
    workbench, scope = installation.steward.workbench, installation.scope
    who = installation.owner.user.id
    before = _version(installation)
    planned = workbench.operations.plan(scope, who, "trim", ["people"], {"columns": ["name"]})
    assert [(cell.old, cell.new) for cell in planned.cells] == [(" Ada ", "Ada")]
    assert _version(installation) == before
    commit = workbench.operations.apply(
        scope, who, "trim", ["people"], {"columns": ["name"]}, base=planned.base
    )
    assert commit.operation == "trim"
    (changed,) = commit.changes
    diff = workbench.datasets.diff(scope, str(changed.before), str(changed.after))
    assert (diff.changed, diff.added, diff.removed) == (1, 0, 0)
    place = workbench.datasets.workspace(scope, who)
    place.undo()
    assert _version(installation) == before
    place.redo()
    assert _version(installation) == changed.after


def test_a_change_of_something_that_moved_meanwhile_is_refused(
    installation: Installation,
) -> None:
    _load(installation, PEOPLE)
    operations, scope = installation.steward.workbench.operations, installation.scope
    who = installation.owner.user.id
    planned = operations.plan(scope, who, "trim", ["people"], {"columns": ["name"]})
    _load(installation, PEOPLE.replace("Bob", "Bobby"))
    with pytest.raises(Conflict):
        operations.apply(scope, who, "trim", ["people"], {"columns": ["name"]}, base=planned.base)


def test_several_datasets_become_one_with_its_lineage(installation: Installation) -> None:
    _load(installation, PEOPLE)
    _load(installation, "person;city\n1;Paris\n1;Rome\n9;Oslo\n", "cities")
    workbench, scope = installation.steward.workbench, installation.scope
    who = installation.owner.user.id
    arguments = {"on": [["id", "person"]], "how": "left"}
    with pytest.raises(Invalid, match="name"):
        workbench.operations.plan(scope, who, "join", ["people", "cities"], arguments)
    workbench.operations.apply(
        scope, who, "join", ["people", "cities"], arguments, target="people with cities"
    )
    rows = workbench.datasets.rows(scope, _version(installation, "people with cities"))
    assert rows.total == 4
    lineage = workbench.insights.lineage(scope, who)
    made_from = {edge["from"] for edge in lineage["edges"] if edge["to"].startswith("step:")}
    assert {"dataset:people", "dataset:cities", "file:originals/people.csv"} <= made_from
    joined, *loaded = workbench.insights.openlineage(scope, who)
    _check_openlineage(joined, scope.project_id)
    assert [[each["name"] for each in event["inputs"]] for event in loaded] == [
        ["originals/cities.csv"],
        ["originals/people.csv"],
    ]


def _check_openlineage(event: dict[str, Any], project: str) -> None:
    """A COMPLETE event by version 2-0-2 of the specification, with facets that say what they are."""
    assert set(event) == {
        *("eventType", "eventTime", "run", "job"),
        *("inputs", "outputs", "producer", "schemaURL"),
    }
    assert event["eventType"] == "COMPLETE"
    assert datetime.fromisoformat(event["eventTime"]).tzinfo is not None
    assert UUID(event["run"]["runId"]).version == 5
    assert event["job"]["name"] == "join people with cities"
    assert [each["name"] for each in event["inputs"]] == ["people", "cities"]
    (output,) = event["outputs"]
    assert {each["namespace"] for each in (event["job"], *event["inputs"], output)} == {
        f"steward/{project}"
    }
    for facet in (*event["job"]["facets"].values(), *output["facets"].values()):
        assert facet["_schemaURL"].startswith("https://openlineage.io/spec/facets/")
    (source,) = output["facets"]["columnLineage"]["fields"]["city"]["inputFields"]
    assert (source["name"], source["field"]) == ("cities", "city")
    assert source["transformations"][0]["subtype"] == "IDENTITY"


def test_what_was_computed_once_is_read_back(installation: Installation) -> None:
    _load(installation, PEOPLE)
    insights, scope = installation.steward.workbench.insights, installation.scope
    who = installation.owner.user.id
    version = _version(installation)
    assert insights.known(scope, "profile", version) is None
    computed = insights.profile(scope, "people", version)
    assert computed["rows"] == 3
    assert insights.known(scope, "profile", version) == computed
    relations = insights.relations(scope, who)
    assert insights.known_relations(scope, who) == relations


def test_a_failed_load_says_why_and_changes_nothing(installation: Installation) -> None:
    workbench, scope = installation.steward.workbench, installation.scope
    who = installation.owner.user.id
    upload = workbench.bringing.take(scope, "broken.parquet", [b"PAR1oops"])
    with pytest.raises(Invalid):
        workbench.bringing.load_upload(scope, who, upload.id, "broken")
    assert workbench.datasets.page(scope, who) == []
    # The upload is still there, to be tried again with other options.
    assert workbench.bringing.get(scope, upload.id).offset == 8


def test_a_name_that_looks_like_another_is_refused_before_the_file_is_read(
    installation: Installation,
) -> None:
    _load(installation, PEOPLE)
    workbench, scope = installation.steward.workbench, installation.scope
    # Reading it would fail.
    upload = workbench.bringing.take(scope, "broken.parquet", [b"PAR1oops"])
    with pytest.raises(Conflict, match="differs from it only in case"):
        workbench.bringing.load_upload(scope, installation.owner.user.id, upload.id, "PEOPLE")


def test_uploads_belong_to_their_project(installation: Installation) -> None:
    workbench, scope = installation.steward.workbench, installation.scope
    other = type(scope)(scope.org_id, installation.project("Second"))
    upload = workbench.bringing.start(scope, "a.csv", None)
    with pytest.raises(NotFound):
        workbench.bringing.get(other, upload.id)


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "delta", "iceberg"])
def test_every_export_holds_every_row(installation: Installation, kind: Format) -> None:
    _load(installation, PEOPLE)
    outputs, scope = installation.steward.workbench.outputs, installation.scope
    exported = outputs.export(scope, "people", _version(installation), kind, convert_types=True)
    content = b"".join(installation.steward.blobs.read(exported.digest))
    assert exported.filename.startswith("people")
    assert (exported.rows, exported.bytes) == (3, len(content))
    # Nothing is left beside the blob store.
    scratch = installation.steward.settings.home / "work/scratch"
    assert not [path for path in scratch.rglob("*") if path.is_file() and path.suffix != ".lock"]
    if kind == "csv":
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
        assert len(rows) == 4
        assert rows[3][3] == "-7.00"
    elif kind == "delta":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
        assert any("_delta_log" in name for name in names)
    elif kind == "iceberg":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
        assert {"people/catalog.db", "people/metadata/version-hint.text"} <= set(names)
    else:
        assert content[:4] in {b"PK\x03\x04", b"PAR1"}


def test_what_iceberg_would_change_is_told_before_anything_is_written(
    installation: Installation,
) -> None:
    scope, outputs = installation.scope, installation.steward.workbench.outputs
    versions = installation.steward.workbench.versions
    version = versions.write(scope, "SELECT 1::UTINYINT AS small, [1] AS list").id
    told = "'small' from UTINYINT to INTEGER, 'list' from INTEGER\\[\\] to VARCHAR"
    with pytest.raises(Conflict, match=told) as refused:
        outputs.export(scope, "odd", version, "iceberg")
    assert refused.value.specific_code == "types-change"
    assert outputs.export(scope, "odd", version, "iceberg", convert_types=True).rows == 1


def test_the_demo_project_appears_complete(installation: Installation) -> None:
    from steward.app import prepare_first_start

    prepare_first_start(installation.steward, demo=True)
    owner = installation.steward.identity.users.first_owner()
    assert owner is not None
    from steward.identity import Principal, Via

    principal = Principal(owner.id, owner.email, owner.name, Via.session)
    project = installation.steward.identity.projects.page(principal)[0]
    access = installation.steward.identity.projects.enter(principal, project.id)
    cards = installation.steward.workbench.datasets.page(access.scope, owner.id)
    assert [(card.name, card.rows) for card in cards] == [
        ("billing_invoices", 5227),
        ("crm_customers", 1298),
        ("support_tickets", 4213),
    ]


def test_redaction_hashes_with_a_key_of_the_project(installation: Installation) -> None:
    _load(installation, PEOPLE)
    workbench, scope = installation.steward.workbench, installation.scope
    who = installation.owner.user.id
    arguments = {"columns": {"name": {"method": "hash"}, "joined": {"method": "drop"}}}
    planned = workbench.operations.plan(scope, who, "redact", ["people"], arguments)
    assert "Bob" not in str(planned.cells)
    workbench.operations.apply(scope, who, "redact", ["people"], arguments, target="safe")
    page = workbench.datasets.rows(scope, _version(installation, "safe"))
    assert [column.name for column in page.columns] == ["id", "name", "amount"]
    assert len(page.rows[1][1] or "") == 64
    again = workbench.operations.plan(scope, who, "redact", ["people"], arguments)
    assert again.preview.rows[1][1] == page.rows[1][1]


DUPLICATES = "id,company,email,city\n" + "".join(
    f"{n},Company {n // 2} {'GmbH' if n % 2 else 'G.m.b.H.'},info@company{n // 2}.example,City {n % 7}\n"
    for n in range(60)
)


def test_entities_are_proposed_judged_and_committed(installation: Installation) -> None:
    _load(installation, DUPLICATES, "crm")
    workbench, scope = installation.steward.workbench, installation.scope
    who = installation.owner.user.id
    proposed = workbench.resolving.propose(scope, who, ["crm"])
    assert proposed["estimate"]["rows"] == 60
    assert "thresholds" in proposed["rules"]
    judged = workbench.resolving.estimate(scope, who, proposed["rules"], ["crm"])
    assert judged["estimate"] == proposed["estimate"]
    done = workbench.resolving.apply(scope, who, proposed["rules"], ["crm"], "customers")
    assert all(check["passed"] for check in done.arguments["checks"])
    mapping = workbench.datasets.rows(scope, _version(installation, "customers mapping"))
    assert mapping.total == 60
    workbench.datasets.workspace(scope, who).undo()
    assert [card.name for card in workbench.datasets.page(scope, who)] == ["crm"]


def test_a_report_is_kept_as_html_and_pdf(installation: Installation) -> None:
    _load(installation, PEOPLE)
    workbench, scope = installation.steward.workbench, installation.scope
    who = installation.owner.user.id
    done = workbench.reporting.write(scope, who, "People", ["people"])
    workspace = workbench.datasets.workspace(scope, who)
    page, document = (b"".join(workspace.read_file(path)) for path in done.arguments["files"])
    assert b"People" in page
    assert document.startswith(b"%PDF-")


def test_a_report_of_rows_has_them_all(installation: Installation) -> None:
    lines = "".join(f"{number},{number * 2}\n" for number in range(1, 301))
    _load(installation, f"name,amount\n{lines}")
    workbench, scope = installation.steward.workbench, installation.scope
    who = installation.owner.user.id
    done = workbench.reporting.write(scope, who, "People", ["people"], contents="rows")
    workspace = workbench.datasets.workspace(scope, who)
    page = b"".join(workspace.read_file(done.arguments["files"][0])).decode()
    assert ">600<" in page
    assert "Empty cells" not in page


def test_what_many_ask_for_at_once_is_computed_once(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    from steward.analysis import profile as profiling

    _load(installation, PEOPLE)
    version, insights = _version(installation), installation.steward.workbench.insights
    everybody, computed = Barrier(6), []
    compute = profiling.profile

    def counted(*given: Any, **named: Any) -> Any:
        computed.append(1)
        return compute(*given, **named)

    monkeypatch.setattr(profiling, "profile", counted)

    def ask(_: int) -> Any:
        everybody.wait()
        return insights.profile(installation.scope, "people", version)

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(ask, range(6)))
    assert len(computed) == 1
    assert all(each == found[0] for each in found)
