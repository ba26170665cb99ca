"""Mail as strangers send it: what people read is found, and nothing in it takes long, raises or escapes."""

from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.connections import received_mail
from steward.connections.received_mail import MOST_MAIL_BYTES, read_mail


def test_text_addresses_and_files_are_found() -> None:
    made = EmailMessage()
    made["From"] = "=?utf-8?q?Gr=C3=A4ce?= <grace@example.com>, b@example.com"
    made["To"] = "a@example.com, Team: c@example.com;"
    made["Subject"] = "Rechnung für März"
    made["Auto-Submitted"] = "auto-replied"
    made.set_content("Guten Tag")
    made.add_alternative("<p>Guten Tag</p>", subtype="html")
    made.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="../../etc/a.pdf")
    inner = EmailMessage()
    inner["Subject"] = "inner"
    inner.set_content("forwarded")
    made.add_attachment(inner)
    found = read_mail(made.as_bytes())
    assert found.problem is None
    assert found.sender == ("Gräce", "grace@example.com")
    assert found.to == ("a@example.com", "c@example.com")
    assert found.headers["subject"] == "Rechnung für März"
    assert found.is_automatic
    assert found.text == "Guten Tag"
    assert [(each.name, each.media_type) for each in found.files] == [
        ("a.pdf", "application/pdf"),
        ("attachment-2.eml", "message/rfc822"),
    ]
    assert b"Subject: inner" in found.files[1].content


def test_mail_in_html_alone_is_read_as_words() -> None:
    html = (
        b"Content-Type: text/html; charset=nonsense\r\n\r\n<head><title>No</title></head>"
        b"<style>p{}</style><p>One &amp; two</p><script>no()</script><p>three"
    )
    assert read_mail(html).text == "One & two\nthree"


@pytest.mark.parametrize(
    "odd", ["<![", "<![if 1]>", "<![endif]-->", "<![CDATA[x]]>", "<!x>", "<?x>"]
)
def test_markup_that_the_parser_gives_up_at_is_a_comment(odd: str) -> None:
    html = f"Content-Type: text/html\r\n\r\n<p>before</p>{odd}> after"
    assert read_mail(html.encode()).text.startswith("before")


def test_signs_that_begin_no_tag_are_text_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[str] = []
    take = received_mail._Words.handle_data

    def counted(reader: received_mail._Words, data: str) -> None:
        pieces.append(data)
        take(reader, data)

    monkeypatch.setattr(received_mail._Words, "handle_data", counted)
    found = read_mail(b"Content-Type: text/html\r\n\r\n1 < 2 <3<" + b"<" * 9_000 + b"<b>4</b> end")
    assert found.text == f"1 < 2 <3<{'<' * 9_000}4 end"
    assert len(pieces) == 3


@given(
    st.lists(
        st.sampled_from(["<", ">", "!", "[", "]", "-", "?", "/", "a", "script", "&", '"', " "])
    )
)
def test_any_markup_is_read(parts: list[str]) -> None:
    read_mail(f"Content-Type: text/html\r\n\r\n{''.join(parts)}".encode())


NESTED = b"".join(
    b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (each, each)
    for each in range(3_000)
)
FORWARDED = b"Content-Type: message/rfc822\r\n\r\n" * 3_000
WIDE = b"Content-Type: multipart/mixed; boundary=x\r\n\r\n" + b"--x\r\n\r\na\r\n" * 5_000
FILES = b"Content-Type: multipart/mixed; boundary=x\r\n\r\n" + (
    b"--x\r\nContent-Disposition: attachment; filename=a\r\n\r\na\r\n" * 40
)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (NESTED, "nested"),
        (FORWARDED, "nested"),
        (WIDE, "300 parts"),
        (FILES, "30 attachments"),
        (b"\r\n" + b"\n" * 1_100_000, "lines"),
        (b"\r\n" + b"x" * (MOST_MAIL_BYTES + 1), "bytes"),
    ],
    ids=["nested", "forwarded", "wide", "files", "lines", "large"],
)
def test_bombs_are_read_without_their_parts(content: bytes, said: str) -> None:
    found = read_mail(b"Subject: bomb\r\n" + content)
    assert said in (found.problem or "")
    assert found.headers.get("subject") == "bomb"
    assert (found.text, found.files) == ("", ())


@pytest.mark.parametrize(
    "header",
    [
        b"Subject: =?utf-8?b?" + b"!" * 5_000 + b"?=",
        b"Subject: =?nonsense?q?a?=",
        b"From: " + b"<" * 20_000,
        b"From: " + b'"a" <a@b.c>, ' * 5_000,
        b"Date: Mon, 99 Foo 99999 99:99:99 +9999",
        b"Content-Type: multipart/mixed",
        b"Content-Type: ;;;;===\r\nContent-Transfer-Encoding: base64",
        b"Content-Disposition: attachment; filename*=utf-8''%ff%fe%00",
        b"Subject: \xff\xfe\x00",
        b"From: " + b"(" * 9_000 + b" Ada <ada@example.com>",
        b'Content-Disposition: attachment; filename="' + b";" * 1_000_000,
        b'Content-Type: multipart/mixed; boundary="' + b";" * 1_000_000,
    ],
)
def test_odd_headers_do_no_harm(header: bytes) -> None:
    found = read_mail(header + b"\r\n\r\nwell\r\n")
    assert "\0" not in str(found.headers)
    assert len(found.to) <= 100


@pytest.mark.parametrize("charset", ["punycode", "idna", "unicode_escape", "rot13", "zlib"])
def test_codecs_that_are_no_charsets_are_not_used(charset: str) -> None:
    head = f"Content-Type: text/plain; charset={charset}\r\n\r\n".encode()
    assert read_mail(head + b"caf\\u00e9-well" + b"z" * 300_000).text.startswith("caf\\u00e9-well")


def test_a_sender_in_many_comments_is_still_named() -> None:
    found = read_mail(b"From: " + b"(" * 9_000 + b" Ada <ada@example.com>\r\n\r\nwell")
    assert found.sender[1] == "ada@example.com"


@given(st.binary(max_size=2_000))
def test_anything_is_read(content: bytes) -> None:
    found = read_mail(content)
    said = [found.text, *found.headers.values(), *found.sender, *found.to]
    assert not any("\0" in each for each in said)
    for each in said:
        each.encode()


@given(
    st.lists(
        st.sampled_from([b"Content-Type: multipart/mixed; boundary=x", b"", b"--x", b"--x--", b"a"])
    )
)
def test_any_order_of_parts_is_read(lines: list[bytes]) -> None:
    assert read_mail(b"\r\n".join(lines)) is not None
