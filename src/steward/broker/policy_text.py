"""Policy texts: reads Cedar with our annotations, and says where a text is wrong by line and column.

Every text is first read in a process that may die of it (`_cedar.py`); only what has no fault is held in this one.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

import cedarpy

from steward.broker._cedar import Engine, Overwhelmed
from steward.core import Invalid, Problem, TooLarge

MOST_CHARACTERS: Final = 100_000
DEEPEST: Final = 30
"""Brackets within one another."""
_ANNOTATIONS: Final = frozenset({"id", "outcome", "approvers", "four_eyes", "reason"})
_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n\r]*)|(?P<token>"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|\d+|[=!<>]=|&&|\|\||::|[^\s"])""",
    re.DOTALL,
)
# What the engine adds to every other mistake in a rule's head.
_FOLLOWS: Final = "unable to find an applicable action"
_UNFINISHED: Final = "unexpected end of input"
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_TOO_COMPLEX: Final = "this rule is too complex to be read; split its condition into several rules"
# Two, so that texts that are only looked at never hold up a decision.
_trying = Engine()
_holding = Engine()
_NAMED = re.compile(r'`([^`]+)`|@(\w+)|"([^"]+)"|: (\w+)$')


class PolicyVerdict(StrEnum):
    """What may happen with a call, from free to forbidden; the strictest one wins."""

    allow = "allow"
    dry_run = "dry_run"
    ask = "ask"
    deny = "deny"

    @property
    def rank(self) -> int:
        return list(PolicyVerdict).index(self)


@dataclass(frozen=True)
class Rule:
    """One rule of a text: what it gives where it matches."""

    id: str
    effect: str
    verdict: PolicyVerdict
    approvers: str | None
    reason: str | None
    four_eyes: bool = False
    """Whether those who asked for the call may not approve it themselves."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong in a text; line and column start at 1."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"


@dataclass(frozen=True)
class Parsed:
    """A text ready for evaluation; `rules` by the engine's own names of the policies."""

    handle: cedarpy.PolicySet
    rules: dict[str, Rule]


@lru_cache(maxsize=512)
def parse(text: str) -> Parsed:
    """Reads a text or raises Invalid with every fault that can be found."""
    found = _faults(text, _holding)
    if found:
        raise refusal(found)
    return Parsed(cedarpy.PolicySet.from_str(text), _rules(text))


def check(text: str, schema: str) -> list[Fault]:
    """Everything wrong with a text, the schema's view included; empty when it may be saved."""
    found = _faults(text, _trying)
    if found:
        return found
    statements = list(_statements(text))
    try:
        errors = _trying.validate(text, schema)
    except Overwhelmed:
        return [_too_complex(text)]
    precise = {policy for policy, error in errors if _FOLLOWS not in error}
    located = {
        _located(text, _numbered(statements, policy), _once(error))
        for policy, error in errors
        if _FOLLOWS not in error or policy not in precise
    }
    return sorted(located, key=lambda fault: (fault.line, fault.column, fault.message))


def remarks(text: str) -> list[str]:
    """What a person should know before saving a text that is valid."""
    rules = parse(text).rules.values()
    if rules and all(rule.verdict is PolicyVerdict.deny for rule in rules):
        return ["No rule permits anything, so this level denies every call. Add a permit rule."]
    return []


def refusal(faults: list[Fault]) -> Invalid:
    return Invalid(
        f"The policy is not valid: {faults[0]}.",
        code="policy-invalid",
        problems=[Problem(f"/text/{fault.line}/{fault.column}", str(fault)) for fault in faults],
    )


@dataclass(frozen=True)
class _Token:
    start: int
    end: int
    text: str


_Statement = tuple[_Token, ...]


def _faults(text: str, engine: Engine) -> list[Fault]:
    if len(text) > MOST_CHARACTERS:
        raise TooLarge(f"A policy has at most {MOST_CHARACTERS} characters; split it by level.")
    deep = _first_too_deep(text)
    if deep is not None:
        message = (
            f"brackets are nested more than {DEEPEST} deep; split the condition into several rules"
        )
        return [_fault_at(text, deep, message)]
    try:
        document = engine.read(text)
    except Overwhelmed:
        return [_too_complex(text)]
    except ValueError as error:
        return [_parse_fault(text, str(error), engine)]
    statements = list(_statements(text))
    if document["templates"]:
        message = "templates are not used here; name the principal and the resource"
        return [_located(text, _numbered(statements, document["templates"][0]), message)]
    found: list[Fault] = []
    taken: set[str] = set()
    for name, policy in document["policies"].items():
        statement = _numbered(statements, name)
        notes: dict[str, str | None] = policy["annotations"]
        found += [
            _located(text, statement, message)
            for message in _annotation_faults(policy["effect"], notes, taken)
        ]
        taken.add(notes.get("id") or "")
    return sorted(found, key=lambda fault: (fault.line, fault.column))


def _annotation_faults(effect: str, notes: dict[str, str | None], taken: set[str]) -> Iterator[str]:
    # A misspelt @outcome would turn "ask" into "allow", so nothing unknown is let through.
    for name in sorted(set(notes) - _ANNOTATIONS):
        yield f"unknown annotation `@{name}`; known: {', '.join(sorted(_ANNOTATIONS))}"
    identity = notes.get("id")
    if not identity:
        yield 'every rule needs a name: write @id("…") before it'
    elif identity in taken:
        yield f'two rules are called "{identity}"'
    outcome = notes.get("outcome")
    if "outcome" in notes and outcome not in list(PolicyVerdict):
        yield f'unknown @outcome "{outcome}"; known: {", ".join(PolicyVerdict)}'
    elif effect == "forbid" and outcome not in {None, "deny"}:
        yield f'a forbid rule denies; @outcome "{outcome}" needs a permit rule'
    if "approvers" in notes and outcome != PolicyVerdict.ask:
        yield '@approvers needs @outcome("ask")'
    elif "approvers" in notes and not notes["approvers"]:
        yield "@approvers names a group"
    if "four_eyes" in notes and outcome != PolicyVerdict.ask:
        yield '@four_eyes needs @outcome("ask")'
    elif notes.get("four_eyes", "yes") != "yes":
        yield 'write @four_eyes("yes"), or leave it out'


def _rules(text: str) -> dict[str, Rule]:
    policies: dict[str, Any] = _holding.read(text)["policies"]
    rules = {}
    for name, policy in policies.items():
        notes = policy["annotations"]
        forbids = policy["effect"] == "forbid"
        rules[name] = Rule(
            id=notes["id"],
            effect=policy["effect"],
            verdict=PolicyVerdict.deny if forbids else PolicyVerdict(notes.get("outcome", "allow")),
            approvers=notes.get("approvers"),
            reason=notes.get("reason"),
            four_eyes="four_eyes" in notes,
        )
    return rules


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:  # a quotation mark that nothing closes
            yield _Token(at, len(text), text[at:])
            return
        if match.lastgroup == "token":
            yield _Token(match.start(), match.end(), match.group())
        at = match.end()


def _statements(text: str) -> Iterator[_Statement]:
    """The tokens of each policy, in the order in which the engine numbers them."""
    held: list[_Token] = []
    for token in _tokens(text):
        held.append(token)
        if token.text == ";":
            yield tuple(held)
            held = []
    if held:
        yield tuple(held)


def _parse_fault(text: str, message: str, engine: Engine) -> Fault:
    """The engine tells no place, so it is asked again: the first statement that fails, then its token."""
    for statement in _statements(text):
        alone = text[statement[0].start : statement[-1].end]
        problem = _problem(alone, engine)
        if problem is None:
            continue
        if problem == _UNFINISHED:
            return _fault_at(text, statement[-1].end, "the rule is not finished; it ends with ;")
        return _fault_at(text, _first_wrong(text, statement, problem, engine), problem)
    return _fault_at(text, 0, message)


def _first_wrong(text: str, statement: _Statement, problem: str, engine: Engine) -> int:
    """Where reading stops: every shorter prefix is merely unfinished, this one is wrong."""
    start = statement[0].start
    low, high = 0, len(statement) - 1
    while low < high:
        middle = (low + high) // 2
        if _problem(text[start : statement[middle].end], engine) in {None, _UNFINISHED}:
            low = middle + 1
        else:
            high = middle
    if low == len(statement) - 1 and "token" not in problem:
        return _place(statement, problem)
    return statement[low].start


def _problem(text: str, engine: Engine) -> str | None:
    try:
        engine.read(text)
    except ValueError as error:
        return str(error)
    except Overwhelmed:
        return _TOO_COMPLEX
    return None


def _first_too_deep(text: str) -> int | None:
    """Where brackets are nested deeper than anyone writes them: the parser is not even asked."""
    depth = 0
    for token in _tokens(text):
        if token.text in _OPENING:
            depth += 1
            if depth > DEEPEST:
                return token.start
        elif token.text in _CLOSING:
            depth -= 1
    return None


def _too_complex(text: str) -> Fault:
    """At the longest rule, which is most likely the one."""
    longest = max(_statements(text), key=len, default=None)
    return _fault_at(text, longest[0].start if longest else 0, _TOO_COMPLEX)


def _numbered(statements: list[_Statement], name: str) -> _Statement:
    """The engine calls the rules of a text policy0, policy1 … in their order."""
    return statements[min(int(name.removeprefix("policy")), len(statements) - 1)]


def _once(message: str) -> str:
    """A mistake is told once, not for every action to which its rule could apply."""
    return re.sub(r' in context for Action::"[^"]*"', " in context", message)


def _located(text: str, statement: _Statement, message: str) -> Fault:
    cleaned = re.sub(r"^for policy `policy\d+`, ", "", message)
    return _fault_at(text, _place(statement, cleaned), cleaned)


def _place(statement: _Statement, message: str) -> int:
    """The token that a message about meaning names, the last one of that name; else the rule itself."""
    for match in _NAMED.finditer(message):
        name = next(part for part in match.groups() if part)
        wanted = re.findall(r'"[^"]*"|\w+', name)[-1:]
        for token in reversed(statement):
            if token.text in {*wanted, f'"{name}"'}:
                return token.start
    return statement[0].start


def _fault_at(text: str, offset: int, message: str) -> Fault:
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    line = bisect_right(starts, offset)
    return Fault(line, offset - starts[line - 1] + 1, message)


__all__ = ["Fault", "Parsed", "PolicyVerdict", "Rule", "check", "parse", "refusal", "remarks"]
