"""Mail through a real SMTP server: over TLS or not at all, once, with the answers of the server told apart."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest

from steward.connections import Letter, Mailer, MailServer
from steward.connections.mail import Attachment, Receipt
from steward.core.errors import Denied, Invalid, Misconfigured, StewardError, Unavailable
from tests.connections.outside import Certificates, Names, certificates, run
from tests.connections.post import Office, office

LETTER = Letter(
    sender="steward@example.com",
    to=("ada@example.com", "bob@example.com"),
    cc=("eve@example.com",),
    subject="Rechnungen fürs Quartal",
    text="Hello,\n.\nthe end.\n",
    key="a" * 64,
    date=datetime(2026, 3, 2, 9, 0, tzinfo=UTC),
    attachments=(Attachment("rows.csv", "text/csv", b"a,b\n1,2\n"),),
)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder: Path = tmp_path_factory.mktemp("keys")
    return certificates(folder, "mail.example")


async def _send(
    post: Office,
    keys: Certificates | None,
    *,
    security: Literal["starttls", "tls"] = "starttls",
    username: str | None = None,
    password: str | None = None,
) -> Receipt:
    names = Names(mail_example=[["127.0.0.1"]])
    mailer = Mailer(allow_private=["127.0.0.1"], resolve=names, tls=keys.client if keys else None)
    server = MailServer("mail.example", post.port, security, username, password)
    return await mailer.send(server, LETTER)


def test_a_letter_arrives_whole_over_starttls(keys: Certificates) -> None:
    async def work() -> None:
        async with office(keys.server) as post:
            receipt = await _send(post, keys)
        assert receipt == Receipt(f"<{'a' * 64}@example.com>", LETTER.recipients)
        arrived = post.letters[0]
        assert post.encrypted == [True]
        assert post.recipients == [["ada@example.com", "bob@example.com", "eve@example.com"]]
        assert arrived["Message-ID"] == receipt.message_id
        assert arrived["Subject"] == "Rechnungen fürs Quartal"
        assert arrived["Date"] == "Mon, 02 Mar 2026 09:00:00 +0000"
        text = arrived.get_body()
        assert text is not None
        assert text.get_content() == "Hello,\r\n.\r\nthe end.\r\n"
        [attached] = list(arrived.iter_attachments())
        assert attached.get_filename() == "rows.csv"
        assert attached.get_content() == "a,b\n1,2\n"

    run(work)


def test_a_letter_arrives_over_tls_with_a_login(keys: Certificates) -> None:
    async def work() -> None:
        async with office(keys.server, from_start=True, login=True) as post:
            await _send(post, keys, security="tls", username="ada", password="right")
            with pytest.raises(Misconfigured, match="refused the user name"):
                await _send(post, keys, security="tls", username="ada", password="wrong")
        assert len(post.letters) == 1

    run(work)


def test_without_tls_nothing_is_sent(keys: Certificates) -> None:
    async def work() -> None:
        async with office() as post:
            with pytest.raises(Misconfigured, match="STARTTLS"):
                await _send(post, keys)
        async with office(keys.server) as other:
            with pytest.raises(Misconfigured, match="not trusted"):
                await _send(other, None)
        assert post.letters == other.letters == []

    run(work)


def test_the_certificate_must_be_that_of_the_server(tmp_path: Path) -> None:
    async def work() -> None:
        other = certificates(tmp_path, "other.example")
        async with office(other.server) as post:
            with pytest.raises(Misconfigured, match="not trusted"):
                await _send(post, other)
        assert post.letters == []

    run(work)


def test_a_server_inside_must_be_named_by_an_administrator() -> None:
    with pytest.raises(Denied, match="loopback"):
        asyncio.run(Mailer().send(MailServer("127.0.0.1", 25), LETTER))


def test_some_recipients_may_be_refused_and_are_named(keys: Certificates) -> None:
    async def work() -> None:
        async with office(keys.server) as post:
            post.refuse["bob@example.com"] = "550 unknown"
            receipt = await _send(post, keys)
            assert receipt.refused == (("bob@example.com", 550),)
            assert receipt.accepted == ("ada@example.com", "eve@example.com")
            post.refuse |= dict.fromkeys(LETTER.recipients, "550 unknown")
            with pytest.raises(Invalid, match="none of the recipients"):
                await _send(post, keys)
        assert len(post.letters) == 1

    run(work)


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        ("451 later", Unavailable, "unavailable"),
        ("554 spam", Denied, "denied"),
        ("530 sign in first", Misconfigured, "misconfigured"),
        ("drop", Unavailable, "uncertain"),
    ],
)
def test_the_answers_of_the_server_are_told_apart(
    keys: Certificates, answer: str, kind: type[StewardError], code: str
) -> None:
    async def work() -> None:
        async with office(keys.server) as post:
            post.data_answer = answer
            with pytest.raises(kind) as failed:
                await _send(post, keys)
        assert failed.value.specific_code == code

    run(work)


def test_headers_cannot_be_injected() -> None:
    with pytest.raises(Invalid, match="line end"):
        replace(LETTER, subject="Hi\r\nBcc: eve@evil.org").as_message()


def test_a_server_that_is_not_there() -> None:
    async def work() -> None:
        with pytest.raises(Unavailable, match="No connection"):
            await _send(Office(port=1), None)

    run(work)
