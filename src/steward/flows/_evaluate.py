"""Evaluates a parsed expression with `celpy`, counting its steps; its errors say what is wrong and hold no data."""

import logging
import re
from collections.abc import Callable
from typing import Any, Final

import lark
from celpy import celtypes as cel
from celpy import evaluation
from celpy.evaluation import Activation, CELEvalError, CELFunction, Evaluator

from steward.flows._functions import FUNCTIONS
from steward.flows._grammar import MACROS, Parsed
from steward.flows._texts import ExpressionError, Path
from steward.flows._values import BUDGET, Exhausted, from_cel, to_cel
from steward.runs import Json

STEPS: Final = 50_000
"""What one evaluation may cost: a step per operation and per value it touches; about a second at most."""

Lookup = Callable[[Path], Json]

# The library logs values at debug level; data has no place in logs.
logging.getLogger("celpy").setLevel(logging.WARNING)

# It casts to this union of twenty types in every operation. Hashing that took a third of the time of an expression.
evaluation.Result = Any  # type: ignore[assignment]


def evaluated(parts: Parsed, lookup: Lookup) -> Json:
    BUDGET.begin(STEPS)
    names = _Names(parts.paths, lookup, dict(parts.constants))
    try:
        found = _Steps(parts.tree, names).evaluate()
    except Exhausted:
        raise _too_much(parts) from None
    except CELEvalError as problem:
        raise ExpressionError(_reason(problem), parts.text, problem.column) from None
    except RecursionError:
        raise ExpressionError("it reads a value that is nested too deeply", parts.text) from None
    except (TypeError, ValueError, LookupError, AttributeError):
        # What the library lets through; its text may hold data.
        raise ExpressionError("it cannot be computed", parts.text) from None
    try:
        return from_cel(found)
    except Exhausted:
        raise _too_much(parts) from None
    except (TypeError, ValueError) as problem:
        raise ExpressionError(f"its result is no JSON value ({problem})", parts.text) from None


def _too_much(parts: Parsed) -> ExpressionError:
    said = "it takes too many steps or reads too much; use a tool for work on many rows"
    return ExpressionError(said, parts.text)


class _Names(Activation):
    """What names stand for: references of the flow, looked up when they are reached, and variables of macros."""

    def __init__(
        self, paths: dict[str, Path], lookup: Lookup, local: dict[str, Any] | None = None
    ) -> None:
        self._paths = paths
        self._lookup = lookup
        self._local = local or {}

    def __repr__(self) -> str:
        return "names"

    def also(self, values: dict[str, Any]) -> "_Names":
        return _Names(self._paths, self._lookup, {**self._local, **values})

    def resolve_variable(self, name: str) -> Any:
        if name in self._local:
            return self._local[name]
        path = self._paths[name]
        try:
            found = to_cel(self._lookup(path))
        except LookupError as missing:
            problem = CELEvalError(str(missing.args[0]), LookupError)
            problem.column = path.column
            return problem
        self._local[name] = found
        return found

    def resolve_function(self, name: str) -> CELFunction:
        return FUNCTIONS[name]


class _Steps(Evaluator):
    """The library's evaluator, counting its steps."""

    def __init__(self, tree: Any, names: _Names) -> None:
        self.ast = tree
        self.base_activation = names
        self.activation = names
        self.level = 0
        self._gone_over: dict[int, str] = {}
        """What macros go over, by its place in the tree."""

    def sub_evaluator(self, ast: Any) -> "_Steps":
        names = self.activation
        assert isinstance(names, _Names)  # noqa: S101 - for the type checker; set above and below only
        return _Steps(ast, names)

    def set_activation(self, values: Any) -> "_Steps":
        names = self.base_activation
        assert isinstance(names, _Names)  # noqa: S101
        self.activation = names.also(values)
        return self

    def primary(self, tree: "lark.Tree[Any]") -> Any:
        """Most of what an expression is made of: a name."""
        child: Any = tree.children[0]
        if child.data == "ident":
            try:
                return self.activation.resolve_variable(child.children[0].value)
            except KeyError:
                # The library says which one there is not.
                return super().primary(tree)
        return super().primary(tree)

    def member_dot_arg(self, tree: "lark.Tree[Any]") -> Any:
        if str(tree.children[1]) in MACROS:
            self._gone_over[id(tree.children[0])] = str(tree.children[1])
        return super().member_dot_arg(tree)

    def build_macro_eval(self, child: "lark.Tree[Any]") -> Callable[[Any], Any]:
        return self._deciding(child, super().build_macro_eval(child))

    def build_ss_macro_eval(self, child: "lark.Tree[Any]") -> Callable[[Any], Any]:
        return self._deciding(child, super().build_ss_macro_eval(child))

    def _deciding(
        self, tree: "lark.Tree[Any]", inner: Callable[[Any], Any]
    ) -> Callable[[Any], Any]:
        """What a macro asks of each item; the library would also take a text or a number for true."""
        name = str(tree.children[1])
        if name == "map":
            return inner

        def decide(item: Any) -> Any:
            found = inner(item)
            if isinstance(found, cel.BoolType | CELEvalError):
                return found
            raise CELEvalError(f"{name} needs true or false for each", LookupError, tree=tree)

        return decide

    def _visit_tree(self, tree: "lark.Tree[Any]") -> Any:
        BUDGET.spend(1)
        # As the library does, without the wrappers that it looks for and does not use.
        found = getattr(self, tree.data)(tree)
        macro = self._gone_over.get(id(tree))
        if macro is None or isinstance(found, list | dict | CELEvalError):
            return found
        return CELEvalError(f"{macro} goes over lists and objects", LookupError, tree=tree)


_KNOWN_REASONS: Final = {
    "no such key": "there is no such key",
    "invalid_argument": "the list has no item at this index",
    "return error for overflow": "a value cannot be converted, or a number is too large",
    "modulus or divide by zero": "it divides by zero",
    "no such overload": "a function does not take values of these types",
}


def _reason(problem: CELEvalError) -> str:
    """What went wrong, without the values the library puts into its messages."""
    said = str(problem.args[0]) if problem.args else ""
    if len(problem.args) > 1 and problem.args[1] is LookupError:
        return said
    if said in _KNOWN_REASONS:
        return _KNOWN_REASONS[said]
    field = re.fullmatch(r"no such member in mapping: ('\w+')", said)
    if field:
        return f"there is no field {field[1]}"
    if "_?_:_" in said:
        return "what stands before the question mark must be true or false"
    if said.startswith("found no matching overload"):
        kinds = re.findall(r"celtypes\.(\w+?)Type'|class '(NoneType|str|float|list)'", said)
        words = [_WORDS.get(a or b, (a or b).lower()) for a, b in kinds]
        if len(words) == 1:
            return f"{words[0]} does not fit here"
        return f"{' and '.join(words)} do not go together here" if words else "types do not fit"
    if said.endswith("does not support field selection"):
        return "only objects have fields"
    return "it cannot be computed"


_WORDS: Final = {
    "NoneType": "null",
    "Int": "number",
    "Double": "number",
    "float": "number",
    "Bool": "boolean",
    "String": "text",
    "str": "text",
    "Map": "object",
}
