"""Which addresses and hosts may be called."""

import asyncio
from ipaddress import ip_address

import pytest

from steward.connections import HostPatterns
from steward.connections.addresses import Allowed, refusal, resolve_checked
from steward.connections.hosts import place_of
from steward.core.errors import Denied, Invalid, Misconfigured, Unavailable
from tests.connections.outside import Names

INSIDE = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.5",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "3fff::1",
    "4000::1",
]
OUTSIDE = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"]


@pytest.mark.parametrize("text", INSIDE)
def test_addresses_inside_are_refused(text: str) -> None:
    assert refusal(ip_address(text))


@pytest.mark.parametrize("text", OUTSIDE)
def test_public_addresses_are_not(text: str) -> None:
    assert refusal(ip_address(text)) is None


def _resolved(host: str, *answers: str, allow: tuple[str, ...] = ()) -> list[str]:
    names = Names(example_org=[list(answers)], localhost=[list(answers)])
    found = asyncio.run(
        resolve_checked(host, 443, resolve=names, allowed=Allowed.parse(list(allow)))
    )
    return [str(address) for address in found]


def test_one_bad_address_among_good_ones_is_enough() -> None:
    assert _resolved("example.org", "1.1.1.1", "2606:4700::1111", "1.1.1.1") == [
        "1.1.1.1",
        "2606:4700::1111",
    ]
    with pytest.raises(Denied, match="private"):
        _resolved("example.org", "1.1.1.1", "10.0.0.1")


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "127.0.0.01", "0", "1.2.3.4."],
)
def test_odd_spellings_of_addresses_are_refused_without_a_look_up(host: str) -> None:
    if host == "1.2.3.4.":
        assert _resolved(host) == ["1.2.3.4"]
        return
    with pytest.raises(Denied, match="unusual spelling"):
        _resolved(host)


def test_an_administrator_may_name_private_places() -> None:
    assert _resolved("10.0.0.5", allow=("10.0.0.5",)) == ["10.0.0.5"]
    assert _resolved("example.org", "10.1.2.3", allow=("10.1.0.0/16",)) == ["10.1.2.3"]
    assert _resolved("Example.ORG.", "10.1.2.3", allow=("example.org",)) == ["10.1.2.3"]
    with pytest.raises(Denied):
        _resolved("10.0.0.6", allow=("10.0.0.5",))
    for metadata in (
        *("169.254.169.254", "168.63.129.16", "100.100.100.200", "fd00:ec2::254"),
        *("::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1"),
    ):
        with pytest.raises(Denied):
            _resolved("example.org", metadata, allow=("example.org",))
    with pytest.raises(Misconfigured):
        Allowed.parse(["10.0.0.0/99"])


def test_a_name_without_addresses_is_no_place() -> None:
    with pytest.raises(Unavailable):
        _resolved("example.org")


@pytest.mark.parametrize(
    ("pattern", "url", "fits"),
    [
        ("api.example.com", "https://api.example.com/x?y", True),
        ("api.example.com", "https://API.Example.com./x", True),
        ("api.example.com", "http://api.example.com/", False),
        ("api.example.com", "https://api.example.com:8443/", False),
        ("api.example.com:8443", "https://api.example.com:8443/", True),
        ("http://api.example.com", "http://api.example.com/", True),
        ("*.example.com", "https://a.b.example.com/", True),
        ("*.example.com", "https://example.com/", False),
        ("*.example.com", "https://evilexample.com/", False),
        ("api.example.com", "https://api.example.com.evil.org/", False),
        ("bücher.example", "https://xn--bcher-kva.example/", True),
        ("*", "https://anything.org/", True),
        ("*", "http://anything.org/", False),
        ("[2606:4700::1111]", "https://[2606:4700::1111]/", True),
    ],
)
def test_patterns_fit_what_they_say(pattern: str, url: str, fits: bool) -> None:
    assert HostPatterns.parse([pattern]).allows(place_of(url)) is fits


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com@evil.org/",
        "https://evil.org\\@api.example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "//example.com",
        "https://",
        "https://exa mple.com/",
        "https://example.com:99999/",
    ],
)
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(Invalid):
        place_of(url)


@pytest.mark.parametrize("pattern", ["", "https://", "a b", "ex*mple.com", "example.com/path"])
def test_a_pattern_that_means_nothing_is_reported(pattern: str) -> None:
    with pytest.raises(Misconfigured):
        HostPatterns.parse([pattern])
