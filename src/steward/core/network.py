"""Network policies: rules about which places may be called, and for whom a call is made.

A rule is a host and, where wanted, ports: `api.example.com`, `*.example.com:443`, `10.0.0.0/8`, `[fd00::/8]:5432`,
`private`, `*:25`. Deny wins on every level; where a level has a list of allowed places, nothing else may be called.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Any, Final

from steward.core.errors import Denied, Invalid, Problem

IpAddress = IPv4Address | IPv6Address
MOST_RULES: Final = 500
_RULE: Final = re.compile(
    r"(?P<host>\[[0-9a-f:./]+\]|\*|(?:\*\.)?[a-z0-9_][a-z0-9._-]{0,252}(?:/\d{1,3})?)(?::(?P<first>\d{1,5})(?:-(?P<last>\d{1,5}))?)?"
)
_BARE_V6: Final = re.compile(r"[0-9a-f:.]+(/\d{1,3})?")
_NAT64: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_GLOBAL_V6: Final = IPv6Network("2000::/3")
# Python calls these global, but what is behind them is not: other addresses are embedded, or a cloud answers.
_NOT_PUBLIC: Final = tuple(
    ip_network(text) for text in ("64:ff9b::/96", "2002::/16", "168.63.129.16/32")
)


@dataclass(frozen=True)
class NetworkRules:
    """What one level says; without any rule it says nothing."""

    allow: tuple[str, ...] | None = None
    """The only places that may be called; None: every place that nothing denies."""
    deny: tuple[str, ...] = ()
    programs: bool = False
    """Whether connections may start programs although there are rules: these call whom they like."""

    @property
    def says_something(self) -> bool:
        return self.allow is not None or bool(self.deny)


@dataclass(frozen=True)
class NetworkLevel:
    name: str
    """`project` or `organisation`."""
    rules: NetworkRules

    @property
    def remedy(self) -> str:
        who = "An owner of the organisation" if self.name == "organisation" else "A project admin"
        return f"{who} can change it under Settings → Network."

    def refuse(self, what: str, rule: str, verb: str) -> Denied:
        return Denied(
            f"Steward did not call {what}: {rule} in the network policy of the {self.name} {verb} it. {self.remedy}",
            code="network-policy",
        )


@dataclass(frozen=True)
class _Rule:
    host: str
    network: IPv4Network | IPv6Network | None
    first: int
    last: int

    def covers_name(self, host: str, *, is_address: bool) -> bool:
        if self.host == "*":
            return True
        # The end of an address is no domain.
        if self.network is not None or is_address:
            return False
        return host.endswith(self.host[1:]) if self.host[0] == "*" else host == self.host

    def covers_address(self, address: IpAddress) -> bool:
        if self.host == "private":
            return not is_public(address)
        network = self.network
        return network is not None and network.version == address.version and address in network


def check_rules(rules: NetworkRules) -> NetworkRules:
    """The rules as they are kept; Invalid where one of them cannot be read."""
    problems = []
    for name, listed in (("allow", rules.allow or ()), ("deny", rules.deny)):
        if len(listed) > MOST_RULES:
            raise Invalid(f"A network policy has {MOST_RULES} rules at most in each list.")
        for number, text in enumerate(listed):
            try:
                _parsed(text)
            except Invalid as problem:
                problems.append(Problem(f"/{name}/{number}", problem.message))
    if problems:
        raise Invalid(problems[0].message, problems=problems)
    return rules


def check_reach(
    levels: Sequence[NetworkLevel], host: str, port: int, addresses: Sequence[IpAddress | str]
) -> None:
    """Denied where a level does not let this host be called at these addresses; says by which rule."""
    if not any(level.rules.says_something for level in levels):
        return
    name, is_address = _normal(host)
    places = [_unmapped(ip_address(str(each).partition("%")[0])) for each in addresses]
    if is_address:
        places.append(ip_address(name))
    shown = f"{host}:{port}"
    for level in levels:
        for text in level.rules.deny:
            rule = _parsed(text)
            if rule.first <= port <= rule.last and (
                rule.covers_name(name, is_address=is_address)
                or any(rule.covers_address(form) for place in places for form in forms_of(place))
            ):
                raise level.refuse(shown, f"the rule {text!r}", "denies")
    for level in levels:
        if level.rules.allow is None:
            continue
        rules = [
            each for each in map(_parsed, level.rules.allow) if each.first <= port <= each.last
        ]
        if any(each.covers_name(name, is_address=is_address) for each in rules):
            continue
        if not places or not all(any(r.covers_address(each) for r in rules) for each in places):
            raise level.refuse(shown, "no rule", "allows")


def check_programs(levels: Sequence[NetworkLevel], program: str) -> None:
    """Denied where a level has rules, which a program of its own would not keep, and does not except programs."""
    for level in levels:
        if level.rules.says_something and not level.rules.programs:
            raise Denied(
                f"Steward did not start the program of {program!r}: a program keeps no rules, and the network policy "
                f"of the {level.name} does not except programs. {level.remedy}",
                code="network-policy",
            )


def is_public(address: IpAddress) -> bool:
    if isinstance(address, IPv6Address) and address not in _GLOBAL_V6:
        return False
    inside = any(address.version == net.version and address in net for net in _NOT_PUBLIC)
    return address.is_global and not address.is_multicast and not inside


def levels_to_json(levels: Sequence[NetworkLevel]) -> list[dict[str, Any]]:
    return [{"name": each.name, **asdict(each.rules)} for each in levels]


def levels_from_json(given: Sequence[Mapping[str, Any]]) -> tuple[NetworkLevel, ...]:
    return tuple(NetworkLevel(each["name"], rules_from_json(each)) for each in given)


def rules_from_json(given: Mapping[str, Any]) -> NetworkRules:
    allow = given["allow"]
    return NetworkRules(
        None if allow is None else tuple(allow), tuple(given["deny"]), bool(given["programs"])
    )


# For whom a call is made. The doors to the network ask; those who begin work for a project say so.

_project: ContextVar[Any] = ContextVar("project of outgoing calls", default=None)


@contextmanager
def reaching_for(scope: Any) -> Iterator[None]:
    """Calls from inside, and from tasks and threads started inside, are those of the project of this scope."""
    before = _project.set(scope)
    try:
        yield
    finally:
        _project.reset(before)


def reaching_scope() -> Any:
    """The scope of the project for which calls are made here; None: nobody has said."""
    return _project.get()


@lru_cache(maxsize=10_000)
def _parsed(text: str) -> _Rule:
    lowered = text.strip().lower().removesuffix(".")
    if lowered.count(":") > 1 and _BARE_V6.fullmatch(lowered):
        lowered = f"[{lowered}]"
    found = _RULE.fullmatch(lowered)
    if found is None:
        raise Invalid(
            f"{text[:100]!r} is not a rule. Write a host, an address or a network, and ports where you want: "
            "api.example.com, *.example.com:443, 10.0.0.0/8, [fd00::/8]:5432, private. International names have "
            "their xn-- form."
        )
    host = found["host"].strip("[]")
    first = int(found["first"] or 1)
    last = int(found["last"] or found["first"] or 65_535)
    network = None
    if ":" in host or "/" in host or host.replace(".", "").isdigit():
        try:
            network = _unmapped_network(ip_network(host))
        except ValueError:
            raise Invalid(
                f"{text[:100]!r} is not a network: the bits after the prefix must be 0, as in 10.0.0.0/8."
            ) from None
    if not 0 < first <= last <= 65_535:
        raise Invalid(f"{text[:100]!r}: ports are from 1 to 65535, the lower one first.")
    return _Rule(host, network, first, last)


def _normal(host: str) -> tuple[str, bool]:
    """A host as rules name it, and whether it is an address: lower case, and as it is looked up."""
    name = host.strip().strip("[]").lower().removesuffix(".")
    try:
        return str(_unmapped(ip_address(name.partition("%")[0]))), True
    except ValueError:
        pass
    with suppress(UnicodeError):
        # Other characters may mean the same letters.
        name = name.encode("idna").decode("ascii").lower().removesuffix(".")
    return name, False


def _unmapped(address: IpAddress) -> IpAddress:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _unmapped_network(network: IPv4Network | IPv6Network) -> IPv4Network | IPv6Network:
    """Addresses are compared as those of the older kind where they are that, so networks are too."""
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        older = IPv4Address(int(network.network_address) & 0xFFFFFFFF)
        return IPv4Network((older, network.prefixlen - 96))
    return network


def forms_of(address: IpAddress) -> list[IpAddress]:
    """An address and those of the older kind that it embeds: a rule about one is a rule about the other."""
    found: list[IpAddress] = [address]
    if isinstance(address, IPv6Address):
        found += [each for each in (address.sixtofour, *(address.teredo or ())) if each is not None]
        if any(address in network for network in _NAT64) or address not in _GLOBAL_V6:
            found.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return found
