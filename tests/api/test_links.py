"""Links for people without an account: what they open, when they end, and what does not get through."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from steward.broker.presets import preset
from steward.identity import Role
from steward.identity._tables import links
from steward.identity.links import Links
from steward.runs import Run
from steward.runs.worker import WorkerThread
from steward.store import EVERYWHERE
from steward.store.secrets import add_key
from steward.testing import Installation, Person
from tests.api.live import LiveServer
from tests.flows.test_long_work import is_over, until

FILE = "originals/sales.csv"
TEXT = "day,amount\n2026-01-02,12.50\n2026-01-03,7.25\n"
DENY = '@id("no-links") @outcome("deny") permit (principal, action == Action::"share_file", resource);\n'


@pytest.fixture
def editor(installation: Installation) -> Person:
    bringing = installation.steward.workbench.bringing
    bringing.load_text(installation.scope, installation.owner.user.id, "sales.csv", TEXT, "sales")
    return installation.person(Role.editor)


def project(installation: Installation) -> str:
    return f"/api/v1/projects/{installation.scope.project_id}"


def made(installation: Installation, client: TestClient, kind: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{project(installation)}/links/{kind}", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def download(installation: Installation, person: Person, **body: Any) -> dict[str, Any]:
    return made(installation, person.client, "downloads", file=FILE, **body)


def upload(installation: Installation, person: Person, size: int = 1000) -> dict[str, Any]:
    return made(installation, person.client, "uploads", dataset="sent", max_bytes=size)


def refused(answer: Any, status: int, code: str) -> str:
    assert (answer.status_code, answer.json().get("code")) == (status, code), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    return str(answer.json()["detail"])


def _ruled(installation: Installation, text: str) -> None:
    rulebook, access = installation.steward.governing.rulebook, installation.owner.access
    rulebook.save(access, "project", text, rulebook.current(access.scope, "project").revision)


def kinds(installation: Installation) -> list[str]:
    found = installation.steward.events.after(installation.scope, 0, 500)
    return [each.type.removeprefix("org.steward.") for each in found if "link." in each.type]


def loads(installation: Installation) -> list[Run]:
    return installation.steward.runs.records.listed(installation.scope, subject="load")


@pytest.mark.every_database
def test_a_file_is_fetched_without_a_session_and_counted(
    installation: Installation, editor: Person
) -> None:
    link = download(installation, editor, minutes=60)
    assert (link["bytes"], link["uses"], link["name"]) == (len(TEXT), 0, "sales.csv")
    stranger = installation.anonymous()
    for _ in range(2):
        answer = stranger.get(link["address"])
        assert (answer.status_code, answer.text) == (200, TEXT)
    assert "sales.csv" in answer.headers["content-disposition"]
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert answer.headers["cache-control"] == "no-store"
    place = f"{project(installation)}/links"
    listed = editor.client.get(place).json()["items"]
    assert [(each["uses"], each["address"]) for each in listed] == [(2, link["address"])]
    # An admin sees that it is there and can end it, and cannot use it in the editor's name.
    (seen,) = installation.owner.client.get(place).json()["items"]
    assert (seen["id"], seen["address"]) == (link["id"], None)
    assert installation.person(Role.viewer).client.get(place).status_code == 403
    assert installation.owner.client.delete(f"{place}/{link['id']}").status_code == 204
    refused(stranger.get(link["address"]), 404, "link-revoked")
    assert editor.client.get(place).json()["items"] == []
    assert kinds(installation) == ["link.created", "link.used", "link.used", "link.revoked"]


def test_what_a_run_made_is_shared_by_its_digest(
    installation: Installation, editor: Person
) -> None:
    worker = WorkerThread(installation.steward.runs.worker())
    place = f"{project(installation)}/datasets/sales/exports"
    run_id = editor.client.post(place, json={"format": "csv"}).json()["id"]
    worker.start()
    until(installation, installation.steward.runs.get(installation.scope, run_id), is_over)
    worker.stop()
    link = made(installation, editor.client, "downloads", run_id=run_id)
    fetched = installation.anonymous().get(link["address"])
    assert fetched.text.replace("\r", "").startswith("day,amount\n2026-01-02")
    assert link["bytes"] == len(fetched.content)
    body = {"run_id": run_id, "digest": "0" * 64}
    assert (
        editor.client.post(f"{project(installation)}/links/downloads", json=body).status_code == 404
    )


def test_an_address_opens_one_thing_in_one_way(installation: Installation, editor: Person) -> None:
    down, up = download(installation, editor), upload(installation, editor)
    stranger = installation.anonymous()
    address = down["address"]
    for other in ("post", "put", "patch", "delete", "head", "options"):
        assert stranger.request(other, address).status_code in {404, 405}, other
    refused(stranger.put(f"{address}/x.csv", content=b"a,b"), 403, "link-method")
    refused(stranger.get(up["address"].rstrip("/")), 403, "link-method")
    token = address.rpartition("/")[2]
    other = token[:-1] + ("0" if token[-1] != "0" else "1")
    moved = up["address"].rstrip("/").rpartition("/")[2][:26] + token[26:]
    for wrong in (other, moved, token.upper(), token[:-1], f"{token}0", f"..%2f{token}", "%00"):
        answer = stranger.get(address.replace(token, wrong))
        assert answer.status_code in {404, 405, 422}, wrong
    # What is added to it changes nothing.
    asked = f"{address}?path=originals/other.csv&method=PUT&expires=9999999999"
    assert stranger.get(asked).text == TEXT
    part = stranger.get(address, headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.text) == (200, TEXT)
    for headers in ({"Authorization": f"Bearer {token}"}, {"Cookie": f"steward={token}"}):
        assert stranger.get(project(installation), headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("column", "value"),
    [("name", "other.csv"), ("bytes", 1), ("single_use", False), ("content", "0" * 64)],
)
def test_a_row_that_somebody_altered_opens_nothing(
    installation: Installation, editor: Person, column: str, value: Any
) -> None:
    link = download(installation, editor, single_use=True)
    with installation.steward.database.write(installation.scope) as tx:
        tx.execute(sa.update(links).values({column: value}))
    refused(installation.anonymous().get(link["address"]), 404, "no-such-link")


def test_a_link_ends_at_its_moment_and_not_after_the_cap(
    installation: Installation, editor: Person
) -> None:
    link = download(installation, editor, minutes=5)
    place = f"{project(installation)}/links/downloads"
    longest = int(timedelta(days=7) / timedelta(minutes=1))
    answer = editor.client.post(place, json={"file": FILE, "minutes": longest + 1})
    refused(answer, 422, "link-lifetime")
    installation.clock.advance(seconds=299)
    assert installation.anonymous().get(link["address"]).status_code == 200
    installation.clock.advance(seconds=1)
    assert "UTC" in refused(installation.anonymous().get(link["address"]), 404, "link-expired")


def test_a_link_ends_with_the_person_the_token_the_file_and_the_policy(
    installation: Installation, editor: Person
) -> None:
    steward, stranger = installation.steward, installation.anonymous()

    def ended(link: dict[str, Any]) -> None:
        refused(stranger.get(link["address"]), 404, "link-ended")

    first = download(installation, editor)
    steward.identity.members.set_role(installation.owner.access, editor.user.id, Role.viewer)
    ended(first)
    steward.identity.members.set_role(installation.owner.access, editor.user.id, Role.editor)
    assert stranger.get(first["address"]).status_code == 200

    token, text = steward.identity.tokens.create(editor.access, "script", Role.editor, 1)
    program = installation.anonymous()
    program.headers["Authorization"] = f"Bearer {text}"
    of_program = made(installation, program, "downloads", file=FILE)
    assert stranger.get(of_program["address"]).status_code == 200
    steward.identity.tokens.revoke(editor.access, token.id)
    ended(of_program)

    _ruled(installation, DENY)
    ended(first)
    answer = editor.client.post(f"{project(installation)}/links/downloads", json={"file": FILE})
    assert answer.status_code == 403, answer.text


def test_a_link_ends_with_the_account_and_the_file(
    installation: Installation, editor: Person
) -> None:
    steward, stranger = installation.steward, installation.anonymous()
    link = download(installation, editor)
    steward.workbench.bringing.load_text(
        installation.scope,
        installation.owner.user.id,
        "sales.csv",
        f"{TEXT}2026-01-04,1\n",
        "sales",
    )
    refused(stranger.get(link["address"]), 404, "not-found")
    again = download(installation, editor)
    steward.identity.users.disable(editor.user.id)
    refused(stranger.get(again["address"]), 404, "link-ended")


@pytest.mark.every_database
def test_of_many_at_once_one_gets_a_link_for_one_use(
    installation: Installation, editor: Person
) -> None:
    link = download(installation, editor, single_use=True)
    with LiveServer(installation) as base:
        address = base + link["address"][link["address"].index("/api") :]
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: httpx2.get(address), range(8)))
    assert sorted(each.status_code for each in answers) == [200] + [404] * 7
    assert {each.json()["code"] for each in answers if each.status_code == 404} == {"link-used"}
    assert kinds(installation).count("link.used") == 1


@pytest.mark.every_database
def test_a_file_is_sent_and_loaded_in_the_name_of_who_asked(
    installation: Installation, editor: Person
) -> None:
    link = upload(installation, editor)
    with LiveServer(installation) as base:
        address = base + link["address"][link["address"].index("/api") :]
        too_large = httpx2.put(f"{address}orders.csv", content=b"x" * 1001)
        refused(too_large, 413, "upload-too-large")
        # Nobody says how much comes.
        streamed = httpx2.put(f"{address}orders.csv", content=iter([b"x" * 600] * 2))
        refused(streamed, 413, "upload-too-large")
        assert httpx2.put(f"{address}orders.csv", content=b"").status_code == 422
        with ThreadPoolExecutor(4) as pool:
            sending = pool.map(
                lambda _: httpx2.put(
                    f"{address}..%5C..%5Corders.csv",
                    content=TEXT.encode(),
                    headers={"Content-Type": "application/json"},
                ),
                range(4),
            )
            answers = sorted(sending, key=lambda each: each.status_code)
        assert [each.status_code for each in answers] == [201, 404, 404, 404]
        assert answers[0].json() == {"name": "orders.csv", "bytes": len(TEXT)}
    (run,) = loads(installation)
    assert run.created_by == editor.user.id
    with installation.steward.database.read(EVERYWHERE) as tx:
        waiting = tx.rows(sa.text("SELECT given_name FROM uploads"))
    assert len(waiting) == 1
    worker = WorkerThread(installation.steward.runs.worker())
    worker.start()
    until(installation, run, is_over)
    worker.stop()
    found = editor.client.get(f"{project(installation)}/datasets/sent/rows").json()
    assert len(found["rows"]) == 2


def test_another_server_knows_the_link_after_the_keys_were_rotated(
    installation: Installation, editor: Person
) -> None:
    before = download(installation, editor)
    steward = installation.steward
    identity = steward.identity.links
    path = steward.settings.home / "keys" / "secrets.json"
    newer = add_key(steward.database, identity._keyring, path, "key_second")
    assert newer.primary == "key_second"
    settings = steward.settings.identity
    ahead = Links(
        steward.database, installation.clock, steward.ids, steward.events, newer, settings
    )
    found = ahead.made_by(installation.scope, before["run_id"])
    assert found is not None
    after = ahead.address(found, "http://localhost:8400")
    assert after != before["address"]
    stranger = installation.anonymous()
    assert stranger.get(after).text == TEXT
    assert stranger.get(before["address"]).text == TEXT


def test_no_log_journal_or_event_holds_the_address(
    installation: Installation, editor: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    down, up = download(installation, editor), upload(installation, editor)
    stranger = installation.anonymous()
    stranger.get(down["address"])
    stranger.put(f"{up['address']}orders.csv", content=TEXT.encode())
    kept = [stranger.get(down["address"][:-1] + "!").text]
    logged = capsys.readouterr().out
    steward = installation.steward
    kept.append(logged)
    for run_id in (down["run_id"], up["run_id"], loads(installation)[0].id):
        entries = steward.runs.journal.entries(installation.scope, run_id)
        kept += [str(each) for each in entries]
        kept += [str(steward.runs.payload(e.data["result"])) for e in entries if "result" in e.data]
    kept += [str(each) for each in steward.events.after(installation.scope, 0, 500)]
    assert "/api/v1/links/{token}" in logged
    for link in (down, up):
        mac = link["address"].rstrip("/").rpartition("/")[2][26:]
        assert not any(mac[:20] in each for each in kept)


def test_undo_of_the_run_ends_the_link(installation: Installation, editor: Person) -> None:
    link = download(installation, editor)
    body = {"key": "call", "merge_rows": False}
    undone = editor.client.post(f"{project(installation)}/runs/{link['run_id']}/undo", json=body)
    assert undone.status_code == 200, undone.text
    refused(installation.anonymous().get(link["address"]), 404, "link-revoked")


def test_draft_only_makes_no_links_of_the_main_branch(
    installation: Installation, editor: Person
) -> None:
    _ruled(installation, preset("draft-only"))
    answer = editor.client.post(f"{project(installation)}/links/downloads", json={"file": FILE})
    assert answer.status_code == 403, answer.text
