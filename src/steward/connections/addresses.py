"""Which network addresses may be called: public ones, and those an administrator has named.

A name is resolved once, every address it has is checked, and the caller connects to a checked address itself. So a
name that answers differently the next time (DNS rebinding) gains nothing.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final

from steward.core import Denied, Misconfigured, Unavailable, forms_of, package_yaml

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""From a name and a port to addresses; tests give their own."""
MayReach = Callable[[str, int, Sequence[Address]], None]
"""Raises where the network policy of the project in question does not let a host be called at these addresses."""

_KNOWN: Final = package_yaml("steward.connections", "addresses.yaml")
_REFUSED_V4: Final = tuple((IPv4Network(each), why) for each, why in _KNOWN["refused_v4"].items())
_GLOBAL_V6: Final = IPv6Network("2000::/3")
_REFUSED_V6: Final = tuple((IPv6Network(each), why) for each, why in _KNOWN["refused_v6"].items())
_KINDS_V6: Final = tuple((IPv6Network(each), why) for each, why in _KNOWN["kinds_v6"].items())
_METADATA: Final = frozenset(map(ip_address, _KNOWN["metadata"]))
# What inet_aton would read as an address although it does not look like one: 2130706433, 0x7f.1, 127.1, 0177.0.0.1.
_NUMERIC: Final = re.compile(r"(0[xX][0-9a-fA-F]*|\d+)(\.(0[xX][0-9a-fA-F]*|\d+)){0,3}\.?")


def refusal(address: Address) -> str | None:
    """Why an address is not to be called; None when it is public."""
    if isinstance(address, IPv4Address):
        return next((reason for network, reason in _REFUSED_V4 if address in network), None)
    if address.scope_id is not None:
        return "link-local"
    if address not in _GLOBAL_V6:
        found = (reason for network, reason in _KINDS_V6 if address in network)
        return next(found, "not on the public internet")
    return next((reason for network, reason in _REFUSED_V6 if address in network), None)


@dataclass(frozen=True)
class Allowed:
    """Private places that an administrator has named: host names, addresses, networks."""

    names: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def parse(cls, entries: Sequence[str]) -> "Allowed":
        names: set[str] = set()
        networks: list[IPv4Network | IPv6Network] = []
        for entry in entries:
            try:
                networks.append(ip_network(entry.strip("[]")))
            except ValueError:
                if "/" in entry or not entry.strip():
                    raise Misconfigured(
                        f"{entry!r} in allow_private is neither a host name nor an address nor a "
                        "network such as 10.1.0.0/16."
                    ) from None
                names.add(normal_host(entry))
        return cls(frozenset(names), tuple(networks))

    def covers(self, host: str, address: Address) -> bool:
        if any(address in network for network in self.networks):
            return True
        if any(e in _METADATA or e.is_link_local or e.is_multicast for e in forms_of(address)):
            # A name is no licence for these: whoever runs the name could point it there.
            return False
        return host in self.names


async def resolve_checked(
    host: str, port: int, *, resolve: Resolve, allowed: Allowed, may_reach: MayReach | None = None
) -> tuple[Address, ...]:
    """The addresses of a name, looked up once; refused if any of them may not be called."""
    name = normal_host(host)
    literal = literal_address(name)
    texts = [str(literal)] if literal is not None else await resolve(name, port)
    found: list[Address] = []
    for text in texts:
        address = ip_address(text)
        reason = None if allowed.covers(name, address) else refusal(address)
        if reason is not None:
            raise Denied(
                f"{host!r} leads to {text}, which is {reason}. Only public addresses may be called; an "
                "administrator can name a private one in allow_private.",
                code="address-refused",
            )
        if address not in found:
            found.append(address)
    if not found:
        raise Unavailable(f"The name {host!r} has no address; check its spelling.")
    if may_reach is not None:
        # It reads the policy from the database.
        await asyncio.to_thread(may_reach, name, port, found)
    return tuple(found)


def literal_address(host: str) -> Address | None:
    """The address that a host is written as; odd spellings of one are refused, not interpreted."""
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        pass
    if ":" in host or "%" in host or _NUMERIC.fullmatch(host):
        raise Denied(
            f"{host!r} is an unusual spelling of an address; write it as 203.0.113.7 or [2001:db8::7].",
            code="address-refused",
        )
    return None


def normal_host(host: str) -> str:
    """As names are compared: lower case, without the final dot."""
    return host.strip().lower().removesuffix(".")


async def resolve_by_system(host: str, port: int) -> Sequence[str]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Unavailable(f"The name {host!r} cannot be resolved; check its spelling.") from None
    return [str(entry[4][0]) for entry in found]
