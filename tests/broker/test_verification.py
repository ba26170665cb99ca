"""Verification of runs: every attack on the record, made directly in the database or the blob store, is found and named."""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from steward.broker import _tables as broker_tables
from steward.broker.approval_claims import approval_claim
from steward.core.errors import Conflict, Invalid, Misconfigured
from steward.runs import Run, RunRequest, Signing, Verification
from steward.runs import _tables as tables
from steward.runs.canonical import GENESIS, canonical, chained, sha256
from steward.runs.capsules import unpack
from steward.runs.driver import SIGNED_EVERY
from steward.runs.offline import payloads_in, verify_backup, verify_capsule
from steward.store import FileBlobs, PublicKeys, Signer
from steward.store.backup import backup, opened
from steward.store.blobs import checked_chunks
from tests.broker.conftest import Desk

pytestmark = pytest.mark.every_database

SAYS_NOTHING_OF_THE_PAST = {
    *("queue", "priority", "control", "epoch", "holder", "lease_until", "wake_at", "lost"),
    *("lost_seq", "progress", "waits"),
}
"""What a run's row says of how it goes on; the guide about runs says that `steward verify` leaves it out."""
IN_ENTRIES = {"id", "org_id", "project_id", "head_seq", "head_hash"}
"""What names the run and its journal: with another one, there is nothing left that could be signed."""

HEADS, JOURNAL, RUNS = tables.heads, tables.journal, tables.runs
APPROVALS = broker_tables.approvals


@pytest.fixture
def sent(desk: Desk) -> Run:
    """A run that made a file and sent a message which a person approved."""
    run = desk.start(
        {"id": "make", "type": "tool", "tool": "test_file", "arguments": {"text": "figures"}},
        {"id": "send", "type": "tool", "tool": "test_send", "needs": ["make"], "arguments": {}},
    )
    desk.drive()
    desk.decide(desk.approval(run))
    desk.passed_window()
    assert desk.status(run) == "done"
    return run


def verified(desk: Desk, run: Run) -> Verification:
    return desk.steward.runs.verify(desk.access.scope, run.id)


def parts(desk: Desk, run: Run) -> set[str]:
    return {fault.part for fault in verified(desk, run).faults}


def change(desk: Desk, statement: Any) -> None:
    with desk.steward.database.write(desk.access.scope) as tx:
        tx.execute(statement)


class Undone:
    """Makes an attack and puts everything back, so that one run serves for many."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._tables = (HEADS, APPROVALS, JOURNAL, RUNS)

    def __enter__(self) -> None:
        with self._desk.steward.database.read(self._desk.access.scope) as tx:
            self._rows = {
                each: [row._asdict() for row in tx.rows(sa.select(each))] for each in self._tables
            }

    def __exit__(self, *_: object) -> None:
        with self._desk.steward.database.write(self._desk.access.scope) as tx:
            for each in (HEADS, JOURNAL):
                tx.execute(sa.delete(each))
                tx.execute(sa.insert(each), [_without_scope(row) for row in self._rows[each]])
            for each in (APPROVALS, RUNS):
                for row in self._rows[each]:
                    values = _without_scope(row)
                    tx.execute(sa.update(each).where(each.c.id == row["id"]).values(values))


def _without_scope(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in {"org_id", "project_id"}}


def test_what_a_run_says_of_itself_cannot_be_changed(desk: Desk, sent: Run) -> None:
    found = verified(desk, sent)
    assert (found.signing, found.files, found.approvals) == (Signing.signed, 1, 1)
    assert found.sentence == "Verified."
    here = sa.update(RUNS).where(RUNS.c.id == sent.id)
    attacks: dict[str, dict[str, Any]] = {
        "title": {"title": "Something harmless"},
        "author": {"created_by": "usr_somebody_else"},
        "status": {"status": "failed"},
        "subject": {"subject": "playbook:other"},
        "origin": {"forked_from": "run_other"},
        "parent run": {"parent_id": "run_other"},
        "step of the parent run": {"parent_key": "steps/other"},
        "first run of its family": {"root_id": "run_other"},
        "program": {"program": "other"},
        "time of request": {"created_at": sent.created_at + timedelta(days=1)},
        "time of start": {"started_at": sent.created_at + timedelta(days=1)},
        "time of end": {"ended_at": sent.created_at + timedelta(days=1)},
        "reason": {"reason": "The weather"},
        "person who paused, resumed or cancelled it": {"control_by": "usr_somebody_else"},
    }
    covered = {column for values in attacks.values() for column in values}
    assert {column.name for column in RUNS.c} == covered | SAYS_NOTHING_OF_THE_PAST | IN_ENTRIES
    for part, values in attacks.items():
        with Undone(desk):
            change(desk, here.values(**values))
            assert parts(desk, sent) == {part}
    with Undone(desk):
        change(desk, here.values(title="Something harmless"))
        assert verified(desk, sent).sentence.startswith(
            'Not verified: the title was changed: it was "a_flow", now it says "Something harmless".'
        )


def test_who_stopped_a_run_is_signed_with_its_end_and_may_change_before(desk: Desk) -> None:
    scope, records = desk.access.scope, desk.steward.runs.records
    run = desk.call("test_send")
    desk.drive()
    for action, by in (("pause", "usr_one"), ("resume", "usr_two"), ("pause", "usr_three")):
        records.control(scope, run.id, action, by)
        assert verified(desk, run).is_intact
        desk.drive()
        assert verified(desk, run).is_intact
    records.control(scope, run.id, "cancel", "usr_four")
    desk.drive()
    assert desk.status(run) == "cancelled"
    assert verified(desk, run).is_intact
    with Undone(desk):
        change(desk, sa.update(RUNS).where(RUNS.c.id == run.id).values(control_by="usr_five"))
        assert parts(desk, run) == {"person who paused, resumed or cancelled it"}


def test_who_asked_too_late_is_signed_as_well(desk: Desk) -> None:
    scope, records = desk.access.scope, desk.steward.runs.records

    async def quick(execution: Any) -> None:
        # The drive ends before it hears of this; a replay asks a run that is over.
        with suppress(Conflict):
            records.control(scope, execution.run.id, "pause", "usr_late")

    desk.steward.runs.programs["quick"] = quick
    run = desk.steward.runs.start(scope, "usr_test", RunRequest("Quick", "quick", {}))
    desk.drive()
    assert (desk.status(run), verified(desk, run).faults) == ("done", ())
    assert desk.steward.runs.get(scope, run.id).control_by == "usr_late"


def test_approvals_cannot_be_changed_added_or_removed(desk: Desk, sent: Run) -> None:
    here = sa.update(APPROVALS).where(APPROVALS.c.run_id == sent.id)
    body = desk.approval(sent).body
    attacks: list[dict[str, Any]] = [
        {"decided_by": "usr_somebody_else"},
        {"status": "rejected"},
        {"decision_reason": "It looked fine."},
        {"title": "Something harmless"},
        {"approvers": ["finance"]},
        {"body": {**body, "arguments": {"to": "other"}}},
        {"preview": {"summary": "nothing"}},
    ]
    for values in attacks:
        with Undone(desk):
            change(desk, here.values(**values))
            assert parts(desk, sent) == {"approval"}, values
    with desk.steward.database.read(desk.access.scope) as tx:
        row = tx.execute(sa.select(APPROVALS)).one()._asdict()
    change(
        desk, sa.insert(APPROVALS).values(**{**_without_scope(row), "id": "apr_x", "wait_key": "x"})
    )
    assert "approval apr_x was added" in verified(desk, sent).sentence
    change(desk, sa.delete(APPROVALS).where(APPROVALS.c.id == "apr_x"))


def test_a_file_with_one_flipped_byte_is_found_and_not_handed_out(desk: Desk, sent: Run) -> None:
    blobs = desk.steward.blobs
    assert isinstance(blobs, FileBlobs)
    digest = blobs.put([b"figures"]).digest
    path = blobs.path(digest)
    path.chmod(0o640)
    path.write_bytes(b"figurez")
    found = verified(desk, sent)
    assert [fault.part for fault in found.faults] == ["file"]
    assert "is altered" in found.sentence
    client = desk.installation.owner.client
    address = f"/api/v1/projects/{desk.access.scope.project_id}/runs/{sent.id}"
    answer = client.get(f"{address}/artifacts/{digest}")
    assert answer.status_code >= 500
    assert b"figurez" not in answer.content
    told = client.get(f"{address}/verify").json()
    assert (told["intact"], told["faults"][0]["part"]) == (False, "file")
    path.unlink()
    assert "is missing" in verified(desk, sent).sentence
    blobs.put([b"figures"])
    assert b"".join(checked_chunks(blobs, digest)) == b"figures"


def test_a_large_file_is_never_handed_out_whole_when_it_is_damaged(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    digest = blobs.put([b"a" * (3 << 20)]).digest
    path = blobs.path(digest)
    path.chmod(0o640)
    path.write_bytes(b"a" * ((3 << 20) - 1) + b"b")
    chunks = checked_chunks(blobs, digest)
    assert len(next(chunks) + next(chunks)) < 3 << 20
    with pytest.raises(Misconfigured, match="altered or is damaged"):
        next(chunks)


def rewrite(desk: Desk, run: Run, edit: Callable[[list[dict[str, Any]]], None]) -> None:
    """What somebody with the database can do: a whole new chain with fresh hashes, and a row that agrees with it."""
    with desk.steward.database.read(desk.access.scope) as tx:
        rows = tx.rows(sa.select(JOURNAL).where(JOURNAL.c.run_id == run.id).order_by(JOURNAL.c.seq))
    bodies = [json.loads(row.body) for row in rows]
    edit(bodies)
    link, fresh = GENESIS, []
    for seq, body in enumerate(bodies, start=1):
        text = canonical({**body, "seq": seq})
        link = chained(link, text)
        fresh.append(
            {
                "run_id": run.id,
                "seq": seq,
                "kind": body["kind"],
                "key": body["key"],
                "body": text,
                "hash": link,
            }
        )
    with desk.steward.database.write(desk.access.scope) as tx:
        tx.execute(sa.delete(JOURNAL).where(JOURNAL.c.run_id == run.id))
        tx.execute(sa.insert(JOURNAL), fresh)
        tx.execute(
            sa.update(RUNS).where(RUNS.c.id == run.id).values(head_seq=len(fresh), head_hash=link)
        )


def as_before_signing(bodies: list[dict[str, Any]]) -> None:
    for body in bodies:
        body["v"] = 1


def test_a_chain_written_again_with_fresh_hashes_is_found(desk: Desk, sent: Run) -> None:
    def lie(bodies: list[dict[str, Any]]) -> None:
        bodies[2]["at"] = "2020-01-01T00:00:00+00:00"

    with Undone(desk):
        rewrite(desk, sent, lie)
        assert "the journal was written again" in verified(desk, sent).sentence
        # Even as if it were from a time before signatures.
        rewrite(desk, sent, as_before_signing)
        assert not verified(desk, sent).is_intact


def test_a_cut_tail_with_a_matching_row_is_found(desk: Desk, sent: Run) -> None:
    with Undone(desk):
        rewrite(desk, sent, lambda bodies: bodies.__delitem__(slice(-3, None)))
        change(desk, sa.update(RUNS).where(RUNS.c.id == sent.id).values(status="blocked"))
        assert "cut short" in verified(desk, sent).sentence
    with Undone(desk):
        rewrite(
            desk, sent, lambda bodies: bodies.append({**bodies[-1], "kind": "note", "key": "n"})
        )
        assert parts(desk, sent) >= {"entry"}


def test_signatures_can_be_neither_removed_nor_made_by_others(desk: Desk, sent: Run) -> None:
    other = desk.call("test_file", text="other")
    desk.drive()
    of_run = HEADS.c.run_id == sent.id
    with Undone(desk):
        change(desk, sa.delete(HEADS).where(of_run))
        assert parts(desk, sent) == {"signature", "log"}
        log = desk.steward.runs.verify_project(desk.access.scope).log
        assert "line 1 of the log of signed heads is missing" in {
            fault.reason for fault in log.faults
        }
    with Undone(desk):
        change(desk, sa.delete(HEADS).where(HEADS.c.run_id == other.id))
        assert parts(desk, other) == {"signature"}, (
            "the last line leaves no gap, but its run says so"
        )
    with Undone(desk):
        forge(desk, sent, Signer([b"a" * 32]))
        assert "was signed with another key" in verified(desk, sent).sentence
    with Undone(desk):
        forge(desk, sent, None)
        assert "is not what was signed" in verified(desk, sent).sentence


def test_a_line_that_cannot_be_read_is_named_and_the_rest_is_checked(desk: Desk, sent: Run) -> None:
    here = sa.update(HEADS).where(HEADS.c.run_id == sent.id)
    for body in ("{", "[]", ""):
        with Undone(desk):
            change(desk, here.values(body=body))
            found = desk.steward.runs.verify_project(desk.access.scope)
            assert any("cannot be read" in fault.reason for fault in found.log.faults)
            assert "signature" in parts(desk, sent)


def test_a_status_that_does_not_exist_is_told_in_words(desk: Desk) -> None:
    run = desk.call("test_spend")
    desk.drive()
    # Whoever closes the installation looks at its runs, too.
    for status in ("approved", "done"):
        with desk.steward.database.write(desk.access.scope) as tx:
            tx.execute(sa.update(RUNS).where(RUNS.c.id == run.id).values(status=status))
        if status == "approved":
            with pytest.raises(Misconfigured, match=f"status of {run.id} cannot be read"):
                desk.steward.runs.verify_project(desk.access.scope)


def test_a_run_that_was_deleted_is_still_named_by_the_log(desk: Desk) -> None:
    run = desk.call("test_spend")
    desk.drive()
    with desk.steward.database.write(desk.access.scope) as tx:
        row = tx.execute(sa.select(RUNS).where(RUNS.c.id == run.id)).one()._asdict()
        entries = [each._asdict() for each in tx.rows(sa.select(JOURNAL))]
        tx.execute(sa.delete(JOURNAL))
        tx.execute(sa.delete(RUNS))
    found = desk.steward.runs.verify_project(desk.access.scope)
    assert [fault.reason for fault in found.log.faults] == [
        f"the run {run.id} was signed and is not there any more"
    ]
    with desk.steward.database.write(desk.access.scope) as tx:
        tx.execute(sa.insert(RUNS).values(_without_scope(row)))
        tx.execute(sa.insert(JOURNAL), [_without_scope(each) for each in entries])


def forge(desk: Desk, run: Run, signer: Signer | None) -> None:
    """Signs the run's last line once more, with another key or with none."""
    with desk.steward.database.read(desk.access.scope) as tx:
        row = tx.rows(sa.select(HEADS).where(HEADS.c.run_id == run.id).order_by(HEADS.c.position))[
            -1
        ]
    body = json.loads(row.body)
    body["claims"]["title"] = "Something harmless"
    if signer is not None:
        body["signer"] = signer.fingerprint
    text = canonical(body)
    signature = signer.sign(text.encode()) if signer else row.signature
    here = sa.update(HEADS).where(HEADS.c.position == row.position)
    change(desk, here.values(body=text, hash=sha256(text), signature=signature))


def test_a_run_from_before_signing_is_intact_and_says_so(desk: Desk, sent: Run) -> None:
    with Undone(desk):
        change(desk, sa.delete(HEADS))
        rewrite(desk, sent, as_before_signing)
        found = verified(desk, sent)
        assert found.is_intact
        assert found.sentence == "Chain intact, not signed (written before signing)."
        change(desk, sa.update(RUNS).where(RUNS.c.id == sent.id).values(title="Other"))
        assert parts(desk, sent) == {"title"}, "the journal itself tells"


def test_a_long_drive_is_signed_on_its_way(desk: Desk) -> None:
    async def long(execution: Any) -> None:
        async def nothing() -> None:
            return None

        for n in range(SIGNED_EVERY + 5):
            await execution.step(f"step/{n}", {}, nothing)

    runs = desk.steward.runs
    runs.programs["long"] = long
    run = runs.start(desk.access.scope, desk.access.user_id, RunRequest("Long", "long", {}))
    assert verified(desk, run).signing is Signing.not_yet
    desk.drive()
    with desk.steward.database.read(desk.access.scope) as tx:
        lines = tx.rows(
            sa.select(HEADS.c.seq).where(HEADS.c.run_id == run.id).order_by(HEADS.c.seq)
        )
    assert [line.seq for line in lines] == [SIGNED_EVERY + 1, SIGNED_EVERY + 7]


def test_a_capsule_is_verified_with_the_public_key_alone(desk: Desk, sent: Run) -> None:
    keys = PublicKeys.from_pem(desk.steward.runs.heads.keys.to_pem())
    capsule = unpack(desk.steward.runs.export(desk.access.scope, sent.id))
    found = verify_capsule(capsule, keys)
    assert (found.sentence, found.files) == ("Verified.", 1)
    capsule.run["title"] = "Something harmless"
    assert "the title was changed" in verify_capsule(capsule, keys).sentence
    capsule = unpack(desk.steward.runs.export(desk.access.scope, sent.id))
    stranger = Signer([b"a" * 32]).public
    assert "was signed with another key" in verify_capsule(capsule, stranger).sentence
    with pytest.raises(Invalid, match="not a public key"):
        PublicKeys.from_pem("-----BEGIN PUBLIC KEY-----\nnonsense\n-----END PUBLIC KEY-----\n")


def test_a_backup_is_verified_with_the_public_key_alone(
    desk: Desk, sent: Run, tmp_path: Path
) -> None:
    keys = PublicKeys.from_pem(desk.steward.runs.heads.keys.to_pem())

    def check(name: str) -> list[str]:
        steward = desk.steward
        path = tmp_path / name
        backup(
            *(steward.database, steward.blobs, steward.keyring, path),
            version="1", now=steward.clock.now(), include_keys=False,
        )  # fmt: skip
        with opened(path, payloads_in) as contents:
            (project,) = verify_backup(contents, keys, approval_claim)
        assert [run.run_id for run in project.runs] == [sent.id]
        return [fault.part for fault in (*project.log.faults, *project.runs[0].faults)]

    assert check("good.tar.gz") == []
    here = sa.update(APPROVALS).where(APPROVALS.c.run_id == sent.id)
    with Undone(desk):
        change(desk, here.values(decided_by="usr_other"))
        assert set(check("approval.tar.gz")) == {"approval"}
    with Undone(desk):
        rewrite(desk, sent, lambda bodies: bodies.__delitem__(slice(-1, None)))
        assert "entry" in check("cut.tar.gz")
