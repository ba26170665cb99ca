"""Secrets are found however they are encoded, and nothing else is touched."""

import base64
import html
import json
import random
from collections.abc import Callable
from time import process_time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from steward.broker.secrets_found import Scrubber

VALUE = 's3cr&t/Ünï "q"+<k>\\%41'


def _mime(text: str) -> str:
    return base64.encodebytes(text.encode() * 1).decode()


def _mixed_hex(text: str) -> str:
    return "".join(c.upper() if i % 3 else c for i, c in enumerate(text.encode().hex()))


ENCODERS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "base64": lambda t: base64.b64encode(t.encode()).decode(),
    "base64 unpadded": lambda t: base64.b64encode(t.encode()).decode().rstrip("="),
    "base64 url": lambda t: base64.urlsafe_b64encode(t.encode()).decode(),
    "base64 url unpadded": lambda t: base64.urlsafe_b64encode(t.encode()).decode().rstrip("="),
    "base64 in a url": lambda t: quote(base64.b64encode(t.encode()).decode(), safe=""),
    "base64 of json": lambda t: base64.b64encode(json.dumps(t).encode()).decode(),
    "base64 of json in utf-8": lambda t: base64.b64encode(json.dumps(t, ensure_ascii=False).encode()).decode(),
    "base64 of a url": lambda t: base64.b64encode(quote(t, safe="").encode()).decode(),
    "basic auth": lambda t: "Basic " + base64.b64encode(f"user:{t}".encode()).decode(),
    "hex": lambda t: t.encode().hex(),
    "HEX": lambda t: t.encode().hex().upper(),
    "hEx": _mixed_hex,
    "url": lambda t: quote(t, safe=""),
    "url, plus": quote_plus,
    "url, small letters": lambda t: quote(t, safe="").lower() if t.islower() else quote(t, safe=""),
    "url, everything": lambda t: "".join(f"%{byte:02x}" for byte in t.encode()),
    "url twice": lambda t: quote(quote(t, safe=""), safe=""),
    "json": json.dumps,
    "json in utf-8": lambda t: json.dumps(t, ensure_ascii=False),
    "json twice": lambda t: json.dumps(json.dumps(t)),
    "json, everything": lambda t: "".join(f"\\u{unit:04X}" for unit in _units(t)),
    "html": html.escape,
    "html numbers": lambda t: "".join(f"&#{ord(c)};" for c in t),
    "html hex": lambda t: "".join(f"&#X{ord(c):06X};" for c in t),
    "bytes": lambda t: repr(t.encode()),
    "url of json": lambda t: quote(json.dumps(t), safe=""),
    "json of url": lambda t: json.dumps(quote(t, safe="")),
}  # fmt: skip


NOTHING_ELSE = {
    *("plain", "base64", "base64 unpadded", "base64 url", "base64 url unpadded", "base64 in a url"),
    *("hex", "HEX", "hEx", "url", "url, plus", "url, everything", "url twice", "json, everything"),
    *("html", "html numbers", "html hex"),
}
"""Encodings that write the value and nothing around it."""


def _units(text: str) -> list[int]:
    wide = text.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(wide[at : at + 2]) for at in range(0, len(wide), 2)]


def _leaks(text: str, value: str) -> bool:
    """Whether somebody could still read the value by undoing any of the encodings."""
    return any(encode(value).strip('"') in text for encode in ENCODERS.values())


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize(
    "value", [VALUE, "hunter22", "AKIA1234567890ABCDEF", "pässword with spaces"]
)
def test_every_encoding(name: str, value: str) -> None:
    scrubber = Scrubber({"KEY": value})
    encoded = ENCODERS[name](value)
    for before, after in (("", ""), ("see: ", " and more"), ("ü?x=", "&y=1"), ('{"a": "', '"}')):
        clean = scrubber.text(before + encoded + after)
        assert "[secret:KEY]" in clean
        assert clean.startswith(before)
        assert clean.endswith(after)
        if name in NOTHING_ELSE:
            assert clean == f"{before}[secret:KEY]{after}"
        assert not _leaks(clean, value)


printable = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=6, max_size=40
).filter(lambda text: len(text.strip()) >= 6)


@given(printable, st.sampled_from(sorted(ENCODERS)), st.text(max_size=8), st.text(max_size=8))
def test_any_value_in_any_encoding(value: str, name: str, before: str, after: str) -> None:
    scrubber = Scrubber([value])
    encoded = ENCODERS[name](value)
    assume(value not in "[secret:1]")
    clean = scrubber.text(f"{before} {encoded} {after}")
    assert "[secret:1]" in clean
    assert encoded not in clean.replace("[secret:1]", "")


@given(st.binary(max_size=9), printable, st.binary(max_size=9), st.booleans(), st.booleans())
def test_inside_a_longer_base64_text(
    before: bytes, value: str, after: bytes, url: bool, padded: bool
) -> None:
    """All three positions in a group of three bytes, with whatever stands around."""
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    text = encode(before + value.encode() + after).decode()
    clean = Scrubber([value]).text(text if padded else text.rstrip("="))
    assert "[secret:1]" in clean
    left, _, right = clean.partition("[secret:1]")
    # Not one bit of the value is left: only what stood beside it, and the encoder's own filling.
    assert len(left) * 6 <= len(before) * 8
    assert len(right.rstrip("=")) * 6 <= len(after) * 8 + 5


def test_base64_broken_into_lines() -> None:
    value = "a rather long secret value, longer than one line of an encoder " * 2
    clean = Scrubber({"LONG": value}).text("begin\n" + _mime(value) + "end")
    assert clean.startswith("begin\n[secret:LONG]")
    assert clean.endswith("end")
    assert len(clean) < 40


def test_keys_from_files() -> None:
    lines = [random.Random(n).randbytes(24).hex() for n in range(4)]
    key = "-----BEGIN KEY-----\n" + "\n".join(lines) + "\n-----END KEY-----\n"
    scrubber = Scrubber({"PEM": key})
    for text in (key, key.strip(), key.replace("\n", "\r\n"), json.dumps({"k": key}), key.replace("\n", "")):  # fmt: skip
        clean = scrubber.text(f"<{text}>")
        assert "[secret:PEM]" in clean
        assert lines[2] not in clean


def test_any_place_in_a_document() -> None:
    scrubber = Scrubber({"PIN": "902134", "DB": "hunter22"})
    document = {
        "hunter22": [{"a": ("x", 902134, 1.5, None, True)}, "at hunter22!"],
        "n": 90213400,
        "[secret:DB]": "902134",
    }
    assert scrubber.scrub(document) == {
        "[secret:DB]": [{"a": ["x", "[secret:PIN]", 1.5, None, True]}, "at [secret:DB]!"],
        "n": 90213400,
        "[secret:DB] (2)": "[secret:PIN]",
    }
    assert scrubber.names_in(document) == {"PIN", "DB"}
    assert scrubber.names_in({"n": 90213400}) == frozenset()


def test_short_values_only_as_whole_strings() -> None:
    scrubber = Scrubber({"PIN": "1234", "EMPTY": ""})
    assert scrubber.scrub(["1234", "12345", "id 1234", 1234, "", "MTIzNA=="]) == [
        "[secret:PIN]",
        "12345",
        "id 1234",
        "[secret:PIN]",
        "",
        "MTIzNA==",
    ]


def test_ordinary_data_stays() -> None:
    column = "123\n456\n789"
    assert Scrubber({"PIN": "123456"}).text(column) == column
    rows = [
        {"token": "abc", "password": "see policy", "api_key": "n/a", "note": "100% & <b>\\n &amp;"},
        "Bearer of good news",
        "postgres://user@host/db?x=%41",
    ]
    assert Scrubber({"K": "something else"}).scrub(rows) == rows
    assert Scrubber([]).scrub(rows) == rows


def test_overlapping_secrets_leave_nothing() -> None:
    scrubber = Scrubber({"A": "abcdefgh", "B": "efghijkl", "C": "abcdefghijklmn"})
    assert scrubber.text("xabcdefghijklx") == "x[secret:A]x"
    assert scrubber.text("xabcdefghijklmnx") == "x[secret:C]x"
    assert scrubber.text("abcdefghabcdefgh") == "[secret:A][secret:A]"


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))  # fmt: skip
def test_documents_without_secrets_are_not_changed(document: object) -> None:
    assert Scrubber({"K": "quite unlikely value"}).scrub(document) == document


def test_the_cost_is_that_of_the_text(effort: Callable[[int, int], int]) -> None:
    """Ten times the text costs about ten times as much; a hundred secrets cost little more than ten."""
    chance = random.Random(7)
    text = base64.b64encode(chance.randbytes(effort(60_000, 600_000))).decode()

    def seconds(secrets: int, text: str) -> float:
        scrubber = Scrubber([chance.randbytes(20).hex() for _ in range(secrets)])
        best = []
        for _ in range(3):
            start = process_time()
            scrubber.text(text)
            best.append(process_time() - start)
        return min(best)

    assert seconds(20, text) < 40 * seconds(20, text[: len(text) // 10])
    assert seconds(200, text) < 10 * seconds(20, text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("All is well. And", "All is well. "),
        ("It ends here ", "It ends here "),
        ("He said open sesame", "He said "),
        ("He said open sesame seeds ", "He said open sesame seeds "),
        ("", ""),
    ],
)
def test_text_that_grows_is_shown_up_to_where_a_secret_may_have_begun(
    text: str, shown: str
) -> None:
    scrubber = Scrubber(["hunter2-hunter2", "open sesame now"])
    assert text[: scrubber.settled(text)] == shown


def test_text_that_grows_is_shown_at_once_where_there_is_no_secret() -> None:
    assert Scrubber([]).settled("And") == 3
