"""Reads the text of an expression: parsed by `celpy`, checked, flattened, and its references to data named.

References such as `nodes.load.output.rows` become variables of their own, so that only what an expression reads is
converted, and what it reads is known without evaluating it.
"""

import math
import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final

from celpy.evaluation import Activation, CELEvalError, Evaluator, celstr
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from steward.flows._functions import NAMES
from steward.flows._texts import ExpressionError, Path, outside_quotes

LONGEST: Final = 4_000
DEEPEST: Final = 64
"""Levels of the tree, two for an operator; evaluation takes some seven Python frames a level."""

ROOTS: Final = ("inputs", "nodes", "item", "index", "last", "run", "event", "events")

MACROS: Final = ("map", "filter", "all", "exists", "exists_one")
NO_METHODS: Final = ("reduce", "min", "max", "sum", "round")
"""Called with the value in brackets only."""

_CHAIN: Final = frozenset(
    {
        "expr",
        "conditionalor",
        "conditionaland",
        "relation",
        "addition",
        "multiplication",
        "unary",
        "member",
    }
)
_REFUSED: Final = {
    "dot_ident": "a name does not start with a dot",
    "dot_ident_arg": "a name does not start with a dot",
}
_TOO_DEEP: Final = f"it is nested more than {DEEPEST} levels deep"


@dataclass
class Parsed:
    text: str
    tree: Any = None
    paths: dict[str, Path] = field(default_factory=dict)
    """Variable name → what it stands for."""
    constants: dict[str, Any] = field(default_factory=dict)
    """Variable name → a literal, read once instead of at every step."""
    whole: Path | None = None
    """Set when the expression is nothing but one reference."""


def parsed(text: str) -> Parsed:
    if len(text) > LONGEST:
        raise ExpressionError(f"it is longer than {LONGEST:,} characters", text)
    if not text.strip():
        raise ExpressionError("it is empty", text)
    # The parser's pattern for texts takes exponential time on one that does not end.
    depth = 0
    for position in outside_quotes(text, 0):
        depth += (text[position] in "([{") - (text[position] in ")]}")
        if depth > DEEPEST:
            raise ExpressionError(_TOO_DEEP, text, position + 1)
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as problem:
        raise _syntax(text, problem) from None
    found = Parsed(text)
    found.tree = _Shaping(found).shape(tree, frozenset(), 0)
    if len(found.paths) == 1 and _variable(found.tree) in found.paths:
        found.whole = found.paths[_variable(found.tree)]
    return found


class _Shaping:
    def __init__(self, into: Parsed) -> None:
        self._into = into

    def shape(self, tree: Any, bound: frozenset[str], depth: int) -> Any:
        """The tree without its single-child levels, references replaced by variables."""
        if depth > DEEPEST:
            raise ExpressionError(_TOO_DEEP, self._into.text)
        tree = _peeled(tree)
        names = self._path(tree, bound)
        if names is not None:
            return self._reference(tree, names)
        if tree.data in _REFUSED:
            raise self._wrong(tree, _REFUSED[tree.data])
        if tree.data == "member_dot_arg":
            return self._method(tree, bound, depth)
        if tree.data == "ident_arg":
            self._function(tree)
        if tree.data == "primary" and tree.children[0].data == "literal":
            return self._constant(tree.children[0])
        children = [
            self.shape(child, bound, depth + 1) if isinstance(child, Tree) else child
            for child in tree.children
        ]
        return Tree(tree.data, children, tree.meta)

    def _method(self, tree: Any, bound: frozenset[str], depth: int) -> Any:
        member, name = tree.children[:2]
        shaped = [self.shape(member, bound, depth + 1), name]
        if str(name) not in MACROS:
            if str(name) in NO_METHODS:
                raise self._wrong(name, f"write {name}(…) instead of ….{name}()")
            self._known(name)
            shaped += [self.shape(each, bound, depth + 1) for each in tree.children[2:]]
            return Tree(tree.data, shaped, tree.meta)
        arguments = tree.children[2].children if len(tree.children) > 2 else []
        variable = _variable(_peeled(arguments[0])) if len(arguments) == 2 else ""
        if not variable:
            raise self._wrong(name, f"write .{name}(x, …) with a name and an expression")
        inner = self.shape(arguments[1], bound | {variable}, depth + 1)
        given = Tree("exprlist", [_peeled(arguments[0]), inner], tree.children[2].meta)
        return Tree(tree.data, [*shaped, given], tree.meta)

    def _path(self, tree: Any, bound: frozenset[str]) -> tuple[str, ...] | None:
        """The names of a chain such as `a.b["c"]` that starts at a variable of the flow."""
        names: list[str] = []
        while True:
            tree = _peeled(tree)
            if tree.data == "member_dot":
                names.append(str(tree.children[1]))
            elif tree.data == "member_index" and (key := self._literal_text(tree.children[1])):
                names.append(key)
            else:
                break
            tree = tree.children[0]
        start = _variable(tree)
        if not start or start in bound:
            return None
        return (start, *reversed(names))

    def _reference(self, tree: Any, names: tuple[str, ...]) -> Any:
        if names[0] not in ROOTS:
            known = ", ".join(ROOTS)
            raise self._wrong(tree, f"there is no {names[0]!r}; there are {known}")
        if names[0] == "nodes" and (len(names) < 3 or names[2] not in {"output", "state"}):
            raise self._wrong(tree, "write nodes.<id>.output")
        variable = "$" + ".".join(names)
        self._into.paths.setdefault(variable, Path(names, self._column(tree)))
        ident = Tree("ident", [Token("IDENT", variable)], tree.meta)
        return Tree("primary", [ident], tree.meta)

    def _constant(self, tree: Any) -> Any:
        if tree.children[0].type in {"BYTES_LIT", "UINT_LIT"}:
            raise self._wrong(tree, "only text, numbers, true, false and null are values")
        value = self._literal(tree)
        variable = f"#{len(self._into.constants)}"
        self._into.constants[variable] = value
        return Tree("primary", [Tree("ident", [Token("IDENT", variable)], tree.meta)], tree.meta)

    def _literal(self, tree: Any) -> Any:
        token = tree.children[0]
        if token.type == "STRING_LIT":
            try:
                value = celstr(token)
                value.encode()
            except (ValueError, OverflowError):
                raise self._wrong(tree, "this text has an escape for no character") from None
            return value
        value = Evaluator(tree, Activation()).literal(tree)
        is_infinite = isinstance(value, float) and not math.isfinite(value)
        if isinstance(value, CELEvalError) or is_infinite:
            raise self._wrong(tree, "this number is too large")
        return value

    def _literal_text(self, tree: Any) -> str | None:
        tree = _peeled(tree)
        if tree.data == "primary" and tree.children[0].data == "literal":
            literal = tree.children[0]
            if literal.children[0].type == "STRING_LIT":
                return str(self._literal(literal))
        return None

    def _function(self, tree: Any) -> None:
        if str(tree.children[0]) != "has":
            self._known(tree.children[0])
            return
        given = tree.children[1].children if len(tree.children) > 1 else []
        if len(given) != 1 or _peeled(given[0]).data not in {"member_dot", "member_index"}:
            raise self._wrong(tree, "write has(….field)")

    def _known(self, name: Any) -> None:
        if str(name) not in NAMES:
            known = ", ".join(sorted({*NAMES, *MACROS, "has"}))
            raise self._wrong(name, f"there is no function {str(name)!r}; there are {known}")

    def _wrong(self, at: Any, message: str) -> ExpressionError:
        return ExpressionError(message, self._into.text, self._column(at))

    def _column(self, at: Any) -> int:
        return column_of(at, self._into.text)


def column_of(at: Any, text: str) -> int:
    """Where something starts, without the brackets around it; counts from 1."""
    place: Any = at if isinstance(at, Token) else at.meta
    position: int = place.start_pos
    while text[position] in "( \t\n\f\r":
        position += 1
    return position + 1


def _peeled(tree: Any) -> Any:
    while True:
        if tree.data in _CHAIN and len(tree.children) == 1:
            tree = tree.children[0]
        elif tree.data == "primary" and tree.children[0].data == "paren_expr":
            tree = tree.children[0].children[0]
        else:
            return tree


def _variable(tree: Any) -> str:
    """The name, when the tree is nothing but one."""
    if tree.data == "primary" and tree.children[0].data == "ident":
        return str(tree.children[0].children[0])
    return ""


def _syntax(text: str, problem: Any) -> ExpressionError:
    token = getattr(problem, "token", None)
    if token is not None and token.type == "$END":
        return ExpressionError("it ends too early", text, len(text) + 1)
    position: int = problem.pos_in_stream
    if text[position] == "{":
        return ExpressionError("objects are written as {'name': value}", text, position + 1)
    found = text[position : position + 10].split("\n", maxsplit=1)[0]
    return ExpressionError(f"“{found}” is not expected here", text, position + 1)


def _with_constants(name: Token) -> Token:
    if name.value in {"true", "false"}:
        return Token.new_borrow_pos("BOOL_LIT", name.value, name)
    return name


@cache
def _parser() -> Lark:
    """The library's grammar without its typed objects. Made when first needed: building the parser takes a while."""
    grammar = (files("celpy") / "cel.lark").read_text()
    return Lark(
        grammar.replace("| member_object ", ""),
        parser="lalr",
        start="expr",
        g_regex_flags=re.MULTILINE,
        lexer_callbacks={"IDENT": _with_constants},
        propagate_positions=True,
        maybe_placeholders=False,
        priority="invert",
    )
