"""`steward demo` on a small demo project: at the prompt and by flags, replayed, and taken back byte for byte."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.samples import generate
from steward.app import Steward, open_steward
from steward.app.first_start import DEMO_PROJECT, ORGANISATION, OWNER_NAME
from steward.cli.projects import enter
from steward.core import load_settings
from steward.testing import fast_passwords
from tests.cli.terminal import Terminal

CUSTOMERS = 40
Contents = dict[str, str]


@contextmanager
def opened(terminal: Terminal) -> Iterator[Steward]:
    steward = open_steward(load_settings(home=terminal.home), passwords=fast_passwords())
    yield steward
    steward.close()


@pytest.fixture
def prepared(terminal: Terminal) -> Terminal:
    """A first start with less data than the real one has."""
    with opened(terminal) as steward:
        users, projects = steward.identity.users, steward.identity.projects
        owner = users.create("owner@localhost", OWNER_NAME)
        organisation = projects.create_organisation(ORGANISATION, owner.id)
        projects.create(organisation.id, DEMO_PROJECT, owner.id, is_demo=True)
        access = enter(steward, None, None)
        for dataset in generate(customers=CUSTOMERS).datasets:
            path = terminal.folder / dataset.filename
            path.write_bytes(dataset.content)
            steward.workbench.bringing.load(
                access.scope, access.user_id, path, dataset.filename, dataset.name
            )
    return terminal


def contents(terminal: Terminal) -> Contents:
    """What main holds: ids of versions, digests of files, and the digests of datasets as exported."""
    with opened(terminal) as steward:
        access = enter(steward, None, None)
        place = steward.workbench.datasets.workspace(access.scope, access.user_id)
        found = {each.path: each.digest for each in place.files()}
        for each in place.datasets():
            exported = steward.workbench.outputs.export(
                access.scope, each.name, each.version, "csv"
            )
            found[each.name] = f"{each.version} {exported.digest}"
    return found


def test_the_demo_from_beginning_to_undo(prepared: Terminal) -> None:
    before = contents(prepared)
    found = prepared.run("demo", "--yes", "--threshold", "0.95", "--json").json()
    assert found["status"] == "done"
    folder = Path(found["folder"])
    endings = {Path(name).suffix for name in found["files"]}
    assert endings == {".html", ".pdf", ".xlsx", ".svg", ".json"}
    assert all((folder / name).stat().st_size > 0 for name in found["files"])
    assert (folder / "reports/customers.pdf").read_bytes().startswith(b"%PDF")
    assert float(found["budget"]["seconds"]["spent"]) <= float(found["budget"]["seconds"]["limit"])
    run = found["run"]
    told = prepared.run("runs", "show", run, "--json").json()
    steps = {call["key"] for call in told["calls"]}
    assert steps >= {"overlap", "proposed", "golden", "checked", "promoted", "report", "lineage"}
    assert "No difference" in prepared.run("runs", "replay", run).out
    assert contents(prepared) != before
    prepared.run("undo", run)
    assert contents(prepared) == before
    assert "nothing left" in prepared.run("undo", run, code=1).err


def test_the_demo_at_the_prompt(prepared: Terminal) -> None:
    before = contents(prepared)
    said = prepared.run("demo", stdin="much\n0.99\n\nn\n", code=1)
    assert "A threshold is a number" in said.out
    assert "With a threshold of 0.99" in said.out
    assert "likely the same" in said.out
    assert "Not promoted" in said.out
    after = contents(prepared)
    assert {name for name in after if name not in before} == {
        "reports/Overlap and quality.html",
        "reports/Overlap and quality.pdf",
    }
    commits = prepared.run("data", "history", "--json").json()
    prepared.run("undo", commits[0]["id"])
    assert contents(prepared) == before
