"""Which database servers may be reached: public ones by anybody who may load data, private ones by admins.

A name is resolved once and the driver gets the address that was looked at, so a name that answers differently the
next time gains nothing.
"""

import socket
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Final

from steward.core import Denied, NetworkLevel, Unavailable, check_reach, is_public
from steward.ingest.address import Address


@dataclass(frozen=True)
class Reach:
    """What may be reached: whether private addresses, and what network policies say."""

    private: bool = False
    levels: tuple[NetworkLevel, ...] = ()


PUBLIC: Final = Reach()
INSIDE: Final = Reach(private=True)


def reachable(address: Address, reach: Reach) -> Address:
    """The address with the place to connect to; refused if that is private and may not be, or a policy forbids it."""
    if address.host.startswith("/"):
        _refuse_unless(reach.private, address, "a socket of this machine")
        check_reach(reach.levels, address.host, address.port, ("127.0.0.1",))
        return address
    found = [ip_address(text.partition("%")[0]) for text in _resolved(address)]
    for place in found:
        if not is_public(place):
            _refuse_unless(reach.private, address, "a private address")
    check_reach(reach.levels, address.host, address.port, found)
    # An address of the older kind works from more places.
    chosen = min(found, key=lambda place: place.version)
    return replace(address, place=str(chosen))


def _refuse_unless(private: bool, address: Address, what: str) -> None:
    if not private:
        raise Denied(
            f"{address.host!r} is {what}; only an admin of the project may load from there.",
            code="private-address",
        )


def _resolved(address: Address) -> list[str]:
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Unavailable(
            f"The host {address.host!r} cannot be found; check its spelling.",
            code="source-unavailable",
        ) from None
    return [str(entry[4][0]) for entry in found]
