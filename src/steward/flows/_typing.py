"""Which types of JSON value an expression can give, and where types do not go together, before it is computed.

A type is refused only where no value of the declared types would fit; what is not declared fits everywhere.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from celpy import celtypes as cel
from lark import Tree

from steward.broker import KINDS, Schema, field_of, kinds_of, resolved
from steward.flows._functions import SIGNATURES
from steward.flows._grammar import MACROS, Parsed, column_of
from steward.flows._texts import ExpressionError, Path

WORDS: Final = {
    "null": "null",
    "boolean": "true/false",
    "number": "number",
    "string": "text",
    "array": "list",
    "object": "object",
}
"""The types of JSON values, as people call them."""


@dataclass(frozen=True)
class Type:
    kinds: frozenset[str] = frozenset(WORDS)
    schema: Any = True
    root: Schema = field(default_factory=dict)
    items: "Type | None" = None
    """Set where they are known from the expression instead of the schema."""

    def __str__(self) -> str:
        if self.kinds == frozenset(WORDS):
            return "any value"
        return " or ".join(said for kind, said in WORDS.items() if kind in self.kinds)


ANY: Final = Type()
Reading = Callable[[Path], Type]
"""The type of what a reference stands for."""


def of_schema(schema: Any, root: Schema) -> Type:
    kinds = frozenset(
        "number" if kind == "integer" else kind for kind in kinds_of(schema, root) & KINDS
    )
    return Type(kinds or ANY.kinds, schema, root)


def type_of(parts: Parsed, reading: Reading) -> Type:
    """Raises ExpressionError where types do not go together."""
    return _Check(parts, reading).of(parts.tree, {})


_RELATIONS: Final = {
    "relation_lt": "_<_",
    "relation_le": "_<=_",
    "relation_gt": "_>_",
    "relation_ge": "_>=_",
    "relation_eq": "_==_",
    "relation_ne": "_!=_",
    "relation_in": "_in_",
    "addition_add": "_+_",
    "addition_sub": "_-_",
    "multiplication_mul": "_*_",
    "multiplication_div": "_/_",
    "multiplication_mod": "_%_",
    "unary_not": "!_",
    "unary_neg": "-_",
}
_LOGIC: Final = {"conditionalor": "_||_", "conditionaland": "_&&_"}

Bound = Mapping[str, Type]


class _Check:
    def __init__(self, parts: Parsed, reading: Reading) -> None:
        self._parts = parts
        self._reading = reading

    def of(self, tree: Any, bound: Bound) -> Type:
        match tree.data:
            case "primary":
                return self._primary(tree.children[0], bound)
            case "expr":
                return self._choice(tree, bound)
            case "conditionalor" | "conditionaland":
                return self._operator(tree, _LOGIC[tree.data], tree.children, bound)
            case "relation" | "addition" | "multiplication" | "unary":
                operator, right = tree.children
                left = [] if tree.data == "unary" else operator.children
                return self._operator(tree, _RELATIONS[operator.data], [*left, right], bound)
            case "member_dot":
                return self._member(tree, self.of(tree.children[0], bound), str(tree.children[1]))
            case "member_index":
                return self._item(tree, bound)
            case _:
                return self._method(tree, bound)

    def _primary(self, tree: Any, bound: Bound) -> Type:
        match tree.data:
            case "ident":
                return self._name(str(tree.children[0]), bound)
            case "ident_arg":
                given = tree.children[1].children if len(tree.children) > 1 else []
                types = [self.of(each, bound) for each in given]
                if str(tree.children[0]) == "has":
                    return _only("boolean")
                return self._called(tree, str(tree.children[0]), types)
            case "list_lit":
                given = tree.children[0].children if tree.children else []
                return _list(_either([self.of(each, bound) for each in given]))
            case _:
                for each in tree.children[0].children if tree.children else []:
                    self.of(each, bound)
                return _only("object")

    def _name(self, name: str, bound: Bound) -> Type:
        if name in self._parts.constants:
            return _only(_kind(self._parts.constants[name]))
        if name in self._parts.paths:
            return self._reading(self._parts.paths[name])
        return bound[name]

    def _choice(self, tree: Any, bound: Bound) -> Type:
        condition, *ways = (self.of(each, bound) for each in tree.children)
        if "boolean" not in condition.kinds:
            said = "what stands before the question mark must be true or false"
            raise self._wrong(tree, said)
        return _either(ways)

    def _operator(self, tree: Any, name: str, operands: Sequence[Any], bound: Bound) -> Type:
        types = [self.of(each, bound) for each in operands]
        found = _given(name, types)
        if found is None:
            said = " and ".join(str(each) for each in types)
            fits = "does not fit" if len(types) == 1 else "do not go together"
            raise self._wrong(tree, f"{said} {fits} here")
        return found

    def _member(self, tree: Any, around: Type, name: str) -> Type:
        if "object" not in around.kinds:
            raise self._wrong(tree, f"only objects have fields, and this is {around}")
        found = field_of(around.schema, name, around.root, closed=False)
        if found is None:
            raise self._wrong(tree, f"there is no field {name!r}")
        return of_schema(found, around.root)

    def _item(self, tree: Any, bound: Bound) -> Type:
        around, index = (self.of(each, bound) for each in tree.children)
        found = _given("_[_]", [around, index])
        if found is None:
            raise self._wrong(tree, f"{around} has no item by {index}")
        return _item_of(around)

    def _method(self, tree: Any, bound: Bound) -> Type:
        member, name = tree.children[:2]
        around = self.of(member, bound)
        given = tree.children[2].children if len(tree.children) > 2 else []
        if str(name) not in MACROS:
            types = [around, *(self.of(each, bound) for each in given)]
            return self._called(tree, str(name), types)
        if not around.kinds & {"array", "object"}:
            raise self._wrong(tree, f"{name} goes over lists and objects, not over {around}")
        item = _part_of(around)
        variable = str(given[0].children[0].children[0])
        inner = self.of(given[1], {**bound, variable: item})
        if str(name) == "map":
            return _list(inner)
        if "boolean" not in inner.kinds:
            raise self._wrong(given[1], f"{name} needs true or false for each, not {inner}")
        return _list(item) if str(name) == "filter" else _only("boolean")

    def _called(self, tree: Any, name: str, types: Sequence[Type]) -> Type:
        found = _given(name, types)
        if found is None:
            takes = " or ".join(
                _listed([WORDS.get(kind, str(ANY)) for kind in each[:-1]])
                for each in SIGNATURES[name]
            )
            raise self._wrong(tree, f"{name} takes {takes}, not {_listed(types)}")
        return found

    def _wrong(self, tree: "Tree[Any]", message: str) -> ExpressionError:
        return ExpressionError(message, self._parts.text, column_of(tree, self._parts.text))


def _given(name: str, types: Sequence[Type]) -> Type | None:
    """What a function or operator gives for values of these types; None when it takes none of them."""
    results: frozenset[str] = frozenset()
    for *wanted, result in SIGNATURES[name]:
        if len(wanted) == len(types) and all(
            kind == "any" or kind in each.kinds for kind, each in zip(wanted, types, strict=True)
        ):
            results |= ANY.kinds if result == "any" else {result}
    return Type(results) if results else None


def _kind(literal: Any) -> str:
    match literal:
        case None:
            return "null"
        case cel.BoolType():
            return "boolean"
        case str():
            return "string"
        case _:
            return "number"


def _listed(values: Sequence[object]) -> str:
    return f"({', '.join(str(each) for each in values)})"


def _only(kind: str) -> Type:
    return Type(frozenset({kind}))


def _list(items: Type) -> Type:
    return Type(frozenset({"array"}), items=items)


def _either(types: Sequence[Type]) -> Type:
    if len(types) == 1:
        return types[0]
    return Type(frozenset[str]().union(*(each.kinds for each in types)) or ANY.kinds)


def _part_of(around: Type) -> Type:
    """What a macro goes over: the items of a list, the keys of an object."""
    return _only("string") if around.kinds == {"object"} else _item_of(around)


def _item_of(around: Type) -> Type:
    """The type of the items, where it can be nothing but a list."""
    if around.items is not None:
        return around.items
    schema = resolved(around.schema, around.root)
    if around.kinds != {"array"} or not isinstance(schema, Mapping):
        return ANY
    return of_schema(schema.get("items", True), around.root)
