"""Patterns that say which addresses on the web may be called: `api.example.com`, `*.example.com:8443`."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import httpx2

from steward.connections.addresses import normal_host
from steward.core import Denied, Invalid, Misconfigured

_PORTS: Final = {"http": 80, "https": 443}
_GRPC: Final = {"grpc": "http", "grpcs": "https"}
_HOST: Final = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
_PATTERN: Final = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>\[[0-9a-fA-F:.]+\]|\*|(?:\*\.)?[^\s/:@*\[\]]+)(?::(?P<port>\d{1,5}))?"
)


@dataclass(frozen=True)
class Place:
    """Where a request goes, as far as permission is concerned."""

    scheme: str
    host: str
    port: int

    @property
    def text(self) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return shown if self.port == _PORTS[self.scheme] else f"{shown}:{self.port}"


@dataclass(frozen=True)
class _Pattern:
    scheme: str
    host: str
    port: int

    def matches(self, place: Place) -> bool:
        if (self.scheme, self.port) != (place.scheme, place.port):
            return False
        if self.host == "*":
            return True
        if self.host.startswith("*."):
            return place.host.endswith(self.host[1:])
        return place.host == self.host


@dataclass(frozen=True)
class HostPatterns:
    """A list of allowed places. Without a scheme a pattern means https, without a port the usual one."""

    patterns: tuple[_Pattern, ...] = ()

    @classmethod
    def parse(cls, entries: Sequence[str]) -> "HostPatterns":
        return cls(tuple(_parsed(entry) for entry in entries))

    def allows(self, place: Place) -> bool:
        return any(pattern.matches(place) for pattern in self.patterns)

    def require(self, url: str, setting: str) -> Place:
        """The place of an address; Denied unless a pattern covers it. `setting` is what to change."""
        place = place_of(url)
        if not self.allows(place):
            raise Denied(
                f"{place.scheme}://{place.text} is not among the allowed hosts. An administrator of the "
                f"project can add it to {setting}.",
                code="host-not-allowed",
            )
        return place


def require_encrypted(url: str) -> None:
    """Denied where codes and tokens would be sent in the clear, except within this machine."""
    found = place_of(url)
    if found.scheme == "https" or found.host == "localhost":
        return
    try:
        here = ipaddress.ip_address(found.host).is_loopback
    except ValueError:
        here = False
    if not here:
        raise Denied(
            f"{found.scheme}://{found.text} is not encrypted; signing in there would show its tokens to the network.",
            code="not-encrypted",
        )


def place_of(url: str | httpx2.URL) -> Place:
    """Scheme, host and port of an http or https address without credentials in it.

    Read by the library that will send the request: two readers that disagree about an address are a hole.
    """
    try:
        parts = httpx2.URL(url)
    except httpx2.InvalidURL:
        raise Invalid(f"{str(url)[:200]!r} is not a web address.") from None
    if parts.scheme not in _PORTS or not parts.host:
        raise Invalid(
            f"{str(url)[:200]!r} is not a web address; it starts with https:// and a host name."
        )
    if parts.userinfo or "\\" in str(url):
        raise Invalid("A web address may hold no user name, password or backslash.")
    host = normal_host(parts.raw_host.decode("ascii"))
    if not _HOST.fullmatch(host):
        raise Invalid(f"{host[:200]!r} is not a host name.")
    port = parts.port or _PORTS[parts.scheme]
    if not 0 < port < 65536:
        raise Invalid(f"There is no port {port}.")
    return Place(parts.scheme, host, port)


def is_grpc(url: str) -> bool:
    return url.partition("://")[0] in _GRPC


def grpc_place(url: str) -> Place:
    """Where `grpc://host:port` (in the clear) or `grpcs://host:port` (TLS) leads; Invalid where it says more than that."""
    scheme, _, rest = url.partition("://")
    if scheme not in _GRPC or "/" in rest.rstrip("/") or "?" in rest or "#" in rest:
        raise Invalid(
            f"{url[:200]!r} is not the address of a gRPC server; it starts with grpcs:// and has a host name and a port."
        )
    return place_of(f"{_GRPC[scheme]}://{rest}")


def _parsed(entry: str) -> _Pattern:
    found = _PATTERN.fullmatch(entry.strip())
    if found is None:
        raise Misconfigured(
            f"{entry[:200]!r} is no host pattern. Write api.example.com, *.example.com, "
            "api.example.com:8443, or http://host for one without TLS."
        )
    scheme = found["scheme"] or "https"
    host = found["host"].strip("[]")
    host = host if host == "*" else _ascii(host.removeprefix("*."))
    if found["host"].startswith("*."):
        host = f"*.{host}"
    return _Pattern(scheme, host, int(found["port"] or _PORTS[scheme]))


def _ascii(host: str) -> str:
    """International names compare by their ASCII form, the one that is looked up."""
    shown = f"[{host}]" if ":" in host else host
    try:
        return place_of(f"https://{shown}").host
    except Invalid:
        raise Misconfigured(f"{host[:200]!r} is not a host name.") from None
