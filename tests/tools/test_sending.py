"""Tools that send, through real local servers: allowed hosts only, signed, once, and never with a secret in sight."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from steward.broker.tool import ToolContext
from steward.connections import Http, Mailer, signing_key
from steward.connections.webhooks import verify
from steward.core.errors import Conflict, Denied, Invalid, Misconfigured, StewardError, Unavailable
from steward.runs import Found
from steward.testing.tools import Trial, check_call
from steward.tools import load_tools
from tests.connections.outside import Heard, Names, Server, certificates, ok, redirect, serving
from tests.connections.post import Office, office
from tests.tools.room import Room, run

KEY = "whsec_" + base64.b64encode(b"k" * 32).decode()


def _http() -> Http:
    return Http(allow_private=["127.0.0.1"])


def _web(room: Room, server: Server, **settings: Any) -> ToolContext:
    allow = {"allow": [f"http://127.0.0.1:{server.port}"]}
    return room.context({"http_request": allow | settings}, ticket="call", http=_http())


def test_requests_are_off_until_a_host_is_allowed(room: Room) -> None:
    call = {"url": "https://api.example.com/"}
    with pytest.raises(Denied, match="off in this project"):
        room.preview("http_request", call)
    with pytest.raises(Denied, match="off in this project"):
        room.call("http_request", call, room.context(http=_http()))
    other = room.context({"http_request": {"allow": ["*.example.org"]}}, http=_http())
    with pytest.raises(Denied, match=r"http_request\.allow"):
        room.call("http_request", call, other)
    typo = room.context({"http_request": {"allows": ["*"]}})
    with pytest.raises(Misconfigured, match="allows"):
        room.preview("http_request", call, typo)


def test_an_allowed_host_answers_and_its_words_are_foreign(room: Room) -> None:
    async def work() -> None:
        async with serving(
            lambda _: ok(b'{"a":1}', "Content-Type: application/json", "Set-Cookie: s=1")
        ) as server:
            call = {"url": f"http://127.0.0.1:{server.port}/x", "headers": {"X-A": "1"}}
            trial = Trial(_web(room, server), call)
            outcome = await check_call(load_tools().get("http_request"), trial)
        assert (outcome.value["status"], outcome.value["text"]) == (200, '{"a":1}')
        assert "set-cookie" not in outcome.value["headers"]
        assert outcome.sources == (f"url:http://127.0.0.1:{server.port}/x",)
        assert not outcome.trusted
        assert len(server.heard) == 1

    run(work())


def test_a_redirect_leads_only_to_allowed_hosts(room: Room) -> None:
    async def work() -> None:
        async with serving(lambda _: ok(b"inside")) as inside:
            target = f"http://127.0.0.1:{inside.port}/"
            async with serving(lambda _: redirect(target)) as server:
                call = {"url": f"http://127.0.0.1:{server.port}/"}
                with pytest.raises(Denied, match="not among the allowed"):
                    await room.calling("http_request", call, _web(room, server))
            assert inside.heard == []

    run(work())


def test_secrets_go_by_name_to_their_own_hosts_only(room: Room) -> None:
    room.put_secret("API_KEY", "very-secret-value")

    async def work() -> None:
        async with serving(lambda heard: ok(heard.body)) as server:
            place = f"http://127.0.0.1:{server.port}"
            call = {"method": "POST", "url": place, "body": "hi", "bearer": "API_KEY"}
            with pytest.raises(Denied, match=r"secrets\.API_KEY"):
                await room.calling("http_request", call, _web(room, server))
            context = _web(room, server, secrets={"API_KEY": [place]})
            outcome = await room.calling("http_request", call, context)
        assert server.heard[0].headers["authorization"] == "Bearer very-secret-value"
        assert context.ticket is not None
        assert server.heard[0].headers["idempotency-key"] == context.ticket.idempotency_key
        assert "very-secret" not in repr(outcome)

    run(work())
    preview = room.preview(
        "http_request",
        {"url": "https://a.example/", "method": "DELETE", "bearer": "API_KEY"},
        room.context({"http_request": {"allow": ["*"], "secrets": {"API_KEY": ["*"]}}}),
    )
    assert preview.irreversible
    assert "very-secret" not in repr(preview)


@pytest.mark.parametrize(
    ("method", "found"), [("GET", Found.not_happened), ("POST", Found.unknown)]
)
def test_only_a_repeatable_request_is_repeated(room: Room, method: str, found: Found) -> None:
    call = {"method": method, "url": "https://a.example/"}
    assert room.reconcile("http_request", call, room.context(ticket="x")).found is found


def test_a_large_answer_is_kept_as_a_file(room: Room) -> None:
    async def work() -> None:
        async with serving(lambda _: ok(b"x" * 100_000, "Content-Type: text/plain")) as server:
            call = {"url": f"http://127.0.0.1:{server.port}/"}
            outcome = await room.calling("http_request", call, _web(room, server))
        assert len(outcome.value["text"]) < outcome.artifacts[0].size == 100_000

    run(work())


def _hooks(room: Room, server: Server) -> ToolContext:
    room.put_secret("HOOK", KEY)
    endpoint = {"url": f"http://127.0.0.1:{server.port}/hook", "secret": "HOOK"}
    settings = {"send_webhook": {"endpoints": {"orders": endpoint}}}
    return room.context(settings, ticket="hook", http=_http())


def test_a_webhook_is_signed_and_a_second_one_recognised(room: Room) -> None:
    seen: set[str] = set()

    def answer(heard: Heard) -> bytes:
        key = signing_key(KEY)
        seen.add(verify(key, heard.headers, room.steward.clock.now(), heard.body))
        return ok(b"", status="204 No Content")

    async def work() -> None:
        message = {"endpoint": "orders", "type": "orders.checked", "data": {"rows": 3}}
        async with serving(answer) as server:
            context = _hooks(room, server)
            outcome = await check_call(load_tools().get("send_webhook"), Trial(context, message))
            again = await room.calling("send_webhook", message, context)
            await room.calling("send_webhook", message, context)
        assert len(server.heard) == 3
        assert seen == {outcome.value["message_id"], again.value["message_id"]}
        assert context.ticket is not None
        assert again.value["message_id"] == context.ticket.idempotency_key
        assert json.loads(server.heard[0].body) == {"type": "orders.checked", "data": {"rows": 3}}

    run(work())
    assert load_tools().get("send_webhook").idempotent


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("410 Gone", Denied),
        ("302 Found", Misconfigured),
        ("400 Bad Request", Invalid),
        ("429 Too Many", Unavailable),
        ("503 Busy", Unavailable),
    ],
)
def test_a_receiver_that_refuses_is_understood(
    room: Room, status: str, kind: type[StewardError]
) -> None:
    async def work() -> None:
        async with serving(lambda _: ok(b"", "Location: /elsewhere", status=status)) as server:
            message = {"endpoint": "orders", "type": "t"}
            with pytest.raises(kind, match="orders"):
                await room.calling("send_webhook", message, _hooks(room, server))
        assert len(server.heard) == 1

    run(work())


def test_only_endpoints_of_the_project_are_known(room: Room) -> None:
    async def work() -> None:
        async with serving(lambda _: ok()) as server:
            context = _hooks(room, server)
            with pytest.raises(Denied, match="known: orders"):
                await room.calling("send_webhook", {"endpoint": "evil", "type": "t"}, context)
            stale = room.context(
                context.settings, ticket="x", payload={"url": "https://old"}, http=_http()
            )
            with pytest.raises(Conflict):
                await room.calling("send_webhook", {"endpoint": "orders", "type": "t"}, stale)
            assert server.heard == []

    run(work())


def _slack(room: Room, server: Server, **settings: Any) -> ToolContext:
    room.put_secret("SLACK_HOOK", f"http://127.0.0.1:{server.port}/services/T0/B0/secretpart")
    room.put_secret("SLACK_TOKEN", "xoxb-secret")
    base = {"webhook_hosts": [f"http://127.0.0.1:{server.port}"]}
    base |= {"api_url": f"http://127.0.0.1:{server.port}/api"}  # type: ignore[dict-item]
    return room.context({"send_slack": base | settings}, ticket="slack", http=_http())


def test_slack_by_webhook_gets_plain_text_and_nobody_sees_the_address(room: Room) -> None:
    async def work() -> None:
        async with serving(lambda _: ok(b"ok")) as server:
            context = _slack(room, server, webhook_secret="SLACK_HOOK")
            message = {"text": "<!channel> 3 < 4 & <https://evil.example|click>"}
            trial = Trial(context, message)
            outcome = await check_call(load_tools().get("send_slack"), trial)
            preview = await _previewed(context, message)
        sent = json.loads(server.heard[0].body)
        assert sent["text"].startswith("&lt;!channel&gt; 3 &lt; 4 &amp; ")
        assert preview.irreversible
        assert outcome.inverse is None
        assert "secretpart" not in repr((outcome, preview))
        async with serving(lambda _: ok(b"no", status="404 Not Found")) as server:
            context = _slack(room, server, webhook_secret="SLACK_HOOK")
            with pytest.raises(Invalid) as refused:
                await room.calling("send_slack", message, context)
            assert "secretpart" not in str(refused.value)
            room.put_secret("SLACK_HOOK", "https://evil.example/secretpart")
            with pytest.raises(Misconfigured) as wrong:
                await room.calling("send_slack", message, context)
            assert "secretpart" not in str(wrong.value)

    run(work())


async def _previewed(context: ToolContext, message: dict[str, Any]) -> Any:
    tool = load_tools().get("send_slack")
    assert tool.dry_run is not None
    return await tool.dry_run(context, tool.arguments.model_validate(message))


def test_slack_by_token_can_delete_what_it_sent(room: Room) -> None:
    def answer(heard: Heard) -> bytes:
        said = {"ok": True, "channel": "C1", "ts": "1.2"}
        return ok(json.dumps(said).encode(), "Content-Type: application/json")

    async def work() -> None:
        async with serving(answer) as server:
            context = _slack(room, server, token_secret="SLACK_TOKEN", channels=["#ops"])
            message = {"text": "Done.", "channel": "#ops"}
            assert (await _previewed(context, message)).irreversible is None
            trial = Trial(context, message)
            outcome = await check_call(load_tools().get("send_slack"), trial)
            with pytest.raises(Denied, match="channels"):
                await room.calling("send_slack", message | {"channel": "#all"}, context)
        assert [heard.path for heard in server.heard] == [
            "/api/chat.postMessage",
            "/api/chat.delete",
        ]
        assert server.heard[0].headers["authorization"] == "Bearer xoxb-secret"
        assert json.loads(server.heard[1].body) == {"channel": "C1", "ts": "1.2"}
        assert "xoxb" not in repr(outcome)

    run(work())


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"ok":false,"error":"invalid_auth"}', Misconfigured),
        (b'{"ok":false,"error":"channel_not_found"}', Invalid),
        (b"<html>", Unavailable),
    ],
)
def test_what_slack_says_is_understood(room: Room, body: bytes, kind: type[StewardError]) -> None:
    async def work() -> None:
        async with serving(lambda _: ok(body)) as server:
            context = _slack(room, server, token_secret="SLACK_TOKEN", channels=["#ops"])
            with pytest.raises(kind):
                await room.calling("send_slack", {"text": "x", "channel": "#ops"}, context)

    run(work())


def _mail(room: Room, post: Office, tls: Any, **settings: Any) -> ToolContext:
    room.put_secret("MAIL_PASSWORD", "right")
    base = {
        "host": "mail.example",
        "port": post.port,
        "sender": "steward@example.com",
        "allow_domains": ["example.com"],
    }
    mailer = Mailer(
        allow_private=["127.0.0.1"], resolve=Names(mail_example=[["127.0.0.1"]]), tls=tls
    )
    return room.context({"send_email": base | settings}, ticket="mail", mail=mailer)


def test_mail_goes_to_allowed_domains_with_files_of_the_branch(room: Room, tmp_path: Path) -> None:
    keys = certificates(tmp_path, "mail.example")
    room.call("edit_file", {"path": "reports/a.csv", "old": "", "new": "a,b\n1,2\n"})

    async def work() -> None:
        async with office(keys.server, login=True) as post:
            context = _mail(
                room, post, keys.client, username="ada", password_secret="MAIL_PASSWORD"
            )
            mail = {
                "to": ["Ada@example.com"],
                "cc": ["bob@example.com"],
                "subject": "Quarter",
                "text": "See the file.",
                "attachments": ["reports/a.csv"],
            }
            trial = Trial(context, mail, undo=False)
            outcome = await check_call(load_tools().get("send_email"), trial)
            with pytest.raises(Denied, match=r"evil\.org"):
                await room.calling("send_email", mail | {"cc": ["eve@evil.org"]}, context)
            with pytest.raises(Denied, match=r"sub\.example\.com"):
                await room.calling("send_email", mail | {"to": ["a@sub.example.com"]}, context)
        [arrived] = post.letters
        assert arrived["Message-ID"] == outcome.value["message_id"]
        assert [part.get_filename() for part in arrived.iter_attachments()] == ["a.csv"]
        assert outcome.value["accepted"] == ["Ada@example.com", "bob@example.com"]
        assert "right" not in repr(outcome.value)

    run(work())


def test_mail_that_was_shown_differently_is_not_sent(room: Room, tmp_path: Path) -> None:
    keys = certificates(tmp_path, "mail.example")
    room.call("edit_file", {"path": "a.csv", "old": "", "new": "one"})
    mail = {"to": ["a@example.com"], "subject": "S", "text": "T", "attachments": ["a.csv"]}
    context = _mail(room, Office(port=1), keys.client)
    agreed = room.after(context, room.preview("send_email", mail, context))
    room.call("edit_file", {"path": "a.csv", "old": "one", "new": "two"})
    with pytest.raises(Conflict, match="since the preview"):
        room.call("send_email", mail, agreed)
    with pytest.raises(Denied, match="not set up"):
        room.call("send_email", mail, room.context(ticket="x"))
    assert room.preview("send_email", mail, context).irreversible
    assert room.reconcile("send_email", mail, context).found is Found.unknown
