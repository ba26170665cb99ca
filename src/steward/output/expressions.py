"""Vega expressions against an allow-list: literals, `datum` fields, declared names, known functions, plain operators.

Vega's language is a part of JavaScript; its history of holes is one of methods, prototypes, regular expressions and
event objects reached from there. None of these has a form in the grammar below.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from steward.output.allowed import NAMES, names_of

MAX_LENGTH = 2_000
MAX_DEPTH = 40


_SIGNAL_NAMES = frozenset({"width", "height"})
FUNCTIONS = names_of("functions")
CONSTANTS = names_of("constants")
FORBIDDEN_NAMES = names_of("forbidden_names")
_BINARY = {sign: rank for rank, signs in enumerate(NAMES["operators"], 1) for sign in signs.split()}
_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<string>'(?:[^'\\\n]|\\[^xu\n])*'|\"(?:[^\"\\\n]|\\[^xu\n])*\")"
    r"|(?P<sign>>>>|===|!==|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>!~?:,.()\[\]&|^])"
)


class Refused(ValueError):
    """Why an expression is not accepted."""


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


def check(expression: str, names: Collection[str] = ()) -> None:
    """Raise `Refused` unless the expression stays within the allow-list; `names` are declared parameters."""
    if len(expression) > MAX_LENGTH:
        raise Refused(f"an expression has at most {MAX_LENGTH} characters")
    reader = _Reader(_tokens(expression), frozenset(names) | _SIGNAL_NAMES)
    reader.expression(0)
    reader.end()


def _tokens(expression: str) -> list[_Token]:
    tokens, at = [], 0
    while at < len(expression):
        found = _TOKEN.match(expression, at)
        if found is None or found.lastgroup is None:
            raise Refused(f"{expression[at]!r} has no place in an expression")
        at = found.end()
        if found.lastgroup != "space":
            tokens.append(_Token(found.lastgroup, found.group()))
    return tokens


class _Reader:
    """A recursive-descent reader that accepts or refuses; it builds nothing."""

    def __init__(self, tokens: list[_Token], names: frozenset[str]) -> None:
        self._tokens = tokens
        self._names = names
        self._at = 0
        self._depth = 0

    def end(self) -> None:
        if self._at < len(self._tokens):
            raise Refused(f"{self._tokens[self._at].text[:40]!r} is not expected here")

    def expression(self, strength: int) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Refused(f"an expression nests at most {MAX_DEPTH} levels")
        self._unary()
        while (power := _BINARY.get(self._sign(), 0)) > strength:
            self._at += 1
            self.expression(power)
        if strength == 0 and self._take("?"):
            self.expression(0)
            self._need(":")
            self.expression(0)
        self._depth -= 1

    def _unary(self) -> None:
        while self._sign() in {"-", "+", "!", "~"}:
            self._at += 1
        self._primary()

    def _primary(self) -> None:
        token = self._next()
        if token.kind == "number":
            return
        if token.kind == "string":
            self._index()
        elif token.kind == "name":
            self._named(token.text)
        elif token.text == "(":
            self.expression(0)
            self._need(")")
            self._index()
        elif token.text == "[":
            self._items("]")
            self._index()
        else:
            raise Refused(f"{token.text!r} is not expected here")

    def _named(self, name: str) -> None:
        if self._take("("):
            if name not in FUNCTIONS:
                raise Refused(f"the function {name[:40]} is not allowed")
            self._items(")")
            self._index()
        elif name == "datum" or name in self._names:
            self._members()
        elif name not in CONSTANTS:
            raise Refused(f"{name[:40]} is neither datum, a constant nor a declared parameter")

    def _members(self) -> None:
        """`.name` and `['name']`, never called and never a way to a prototype."""
        while True:
            if self._take("."):
                token = self._next()
                if token.kind != "name":
                    raise Refused("a name must follow the point")
                _safe_member(token.text)
                if self._sign() == "(":
                    raise Refused(f"methods cannot be called (.{token.text[:40]})")
            elif self._sign() == "[":
                self._index(once=True)
            else:
                return

    def _index(self, *, once: bool = False) -> None:
        """`[0]` or `['name']` after a value; anything computed could spell a forbidden name."""
        while self._take("["):
            token = self._next()
            if token.kind == "string":
                if "\\" in token.text:
                    raise Refused("a name in brackets has no escapes")
                _safe_member(token.text[1:-1])
            elif token.kind != "number":
                raise Refused("brackets hold a plain text or number")
            self._need("]")
            if self._sign() == "(":
                raise Refused("methods cannot be called")
            if once:
                return
        if self._sign() == ".":
            raise Refused("only datum and parameters have members")
        if self._sign() == "(":
            raise Refused("only named functions can be called")

    def _items(self, closing: str) -> None:
        if self._take(closing):
            return
        self.expression(0)
        while self._take(","):
            self.expression(0)
        self._need(closing)

    def _sign(self) -> str:
        if self._at < len(self._tokens) and self._tokens[self._at].kind == "sign":
            return self._tokens[self._at].text
        return ""

    def _take(self, sign: str) -> bool:
        if self._sign() != sign:
            return False
        self._at += 1
        return True

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise Refused(f"{sign!r} is missing")

    def _next(self) -> _Token:
        if self._at >= len(self._tokens):
            raise Refused("the expression ends too early")
        self._at += 1
        return self._tokens[self._at - 1]


def _safe_member(name: str) -> None:
    if name in FORBIDDEN_NAMES:
        raise Refused(f"{name} is not a field")
