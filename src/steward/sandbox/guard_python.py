"""The first fence around Python: what a data program has no use for is refused before it runs.

It reads the syntax tree and never the text. It makes mistakes and mischief visible, with the line
and the column; it is not a wall, because no look at Python's syntax can be one. The walls are the
process around it.
"""

import ast
import builtins
import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Final

from steward.sandbox.contract import MAX_CODE
from steward.sandbox.python_attributes import FORMATTING, allowed, formatting, problems_with, read
from steward.sandbox.python_modules import MODULES, SUBMODULES, available, missing
from steward.sandbox.refused import Finding, Refused
from steward.sandbox.words import words

_FORBIDDEN_NAMES: Final = frozenset(
    words("""
    eval exec compile globals locals vars dir input breakpoint help exit quit memoryview
    """)
)
_FORMATTING: Final = "__formatting__"
_METHODS: Final = frozenset(
    f"__{name}__"
    for name in words("""
    init post_init repr str len iter next getitem setitem delitem contains eq ne lt le gt ge hash
    bool call enter exit add radd sub rsub mul rmul truediv rtruediv floordiv mod pow neg pos abs
    int float index format
    """)
)
_BUILTINS: Final = tuple(
    words("""
    abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod
    enumerate filter float format frozenset hash hex id int isinstance issubclass iter len list map
    max min next object oct ord pow print property range repr reversed round set slice sorted
    staticmethod str sum super tuple zip
    """)
)


def _parsed(code: str) -> ast.Module:
    try:
        return ast.parse(code)
    except SystemError:
        # CPython 3.11 loses count of its own depth when threads parse at once; the next try counts afresh.
        return ast.parse(code)


def check(code: str) -> ast.Module:
    """The program as a tree that may be compiled; raises `Refused` with everything found."""
    if len(code) > MAX_CODE:
        raise Refused([Finding("length", f"The code is longer than {MAX_CODE:,} characters.")])
    try:
        tree = _parsed(code)
        findings = [_in_characters(each, code) for each in _Policy().findings(tree)]
    except SyntaxError as problem:
        message = f"This is not Python: {problem.msg}"
        raise Refused([Finding("syntax", message, problem.lineno, problem.offset)]) from None
    except (RecursionError, MemoryError):
        raise Refused([Finding("nesting", "The code is nested too deeply.")]) from None
    except ValueError as problem:
        raise Refused([Finding("syntax", f"This is not Python: {problem}.")]) from None
    if findings:
        raise Refused(sorted(findings, key=lambda f: (f.line or 0, f.column or 0))[:50])
    guarded: ast.Module = _Formatting().visit(tree)
    return guarded


def _in_characters(finding: Finding, code: str) -> Finding:
    """The tree counts columns in bytes."""
    if finding.line is None or finding.column is None or code.isascii():
        return finding
    lines = code.split("\n")
    line = lines[finding.line - 1] if finding.line <= len(lines) else ""
    before = line.encode("utf-8", "surrogatepass")[: finding.column - 1].decode("utf-8", "ignore")
    return replace(finding, column=len(before) + 1)


class _Formatting(ast.NodeTransformer):
    """Lets `x.format` be found by a function that reads format texts as closely as the guard reads code."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr not in FORMATTING or not isinstance(node.ctx, ast.Load):
            return node
        function = ast.Name(_FORMATTING, ast.Load())
        call = ast.Call(function, [node.value, ast.Constant(node.attr)], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


class _Policy:
    def __init__(self) -> None:
        self._modules: dict[str, str] = {}
        """What names stand for modules that were imported."""

    def findings(self, tree: ast.AST) -> Iterator[Finding]:
        for node in ast.walk(tree):
            for alias in node.names if isinstance(node, ast.Import) else ():
                head = alias.name.partition(".")[0]
                self._modules[alias.asname or head] = alias.name if alias.asname else head
        for node in ast.walk(tree):
            # A name that is also given to something else may mean that.
            self._modules.pop(_given(node), None)
        for node in ast.walk(tree):
            visit: Callable[[Any], Iterator[str]] | None = getattr(
                self, f"_{type(node).__name__.lower()}", None
            )
            for message in visit(node) if visit else ():
                line = getattr(node, "lineno", None)
                column = getattr(node, "col_offset", None)
                yield Finding(
                    type(node).__name__, message, line, None if column is None else column + 1
                )

    def _import(self, node: ast.Import) -> Iterator[str]:
        for alias in node.names:
            yield from _module(alias.name)
            yield from _bound(alias.asname)

    def _importfrom(self, node: ast.ImportFrom) -> Iterator[str]:
        if node.level:
            yield "A relative import leads nowhere here."
            return
        yield from _module(node.module or "")
        for alias in node.names:
            if alias.name == "*":
                yield "Import what you need by name, not with a star."
                continue
            if f"{node.module}.{alias.name}" not in SUBMODULES:
                yield from _not_offered(node.module or "", alias.name)
            yield from _bound(alias.asname)

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        match node:
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Load()):
                yield from _not_offered(self._modules.get(name, ""), node.attr)
            case _:
                yield from problems_with(node.attr)

    def _name(self, node: ast.Name) -> Iterator[str]:
        if node.id in _FORBIDDEN_NAMES:
            yield f"{node.id} is not available."
        elif node.id != "__name__":
            yield from _bound(node.id)

    def _call(self, node: ast.Call) -> Iterator[str]:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else None
        if name == "query":
            yield from _expression_text(node)
        if name in {"format", "format_map"}:
            yield from _format(node)
        if any(keyword.arg == "allow_pickle" for keyword in node.keywords):
            yield "Pickles are never read: they run code."

    def _functiondef(self, node: ast.FunctionDef) -> Iterator[str]:
        if node.name not in _METHODS:
            yield from _bound(node.name)

    def _classdef(self, node: ast.ClassDef) -> Iterator[str]:
        yield from _bound(node.name)
        if node.keywords:
            yield "A class takes no metaclass or other keywords here."

    def _asyncfunctiondef(self, _: ast.AsyncFunctionDef) -> Iterator[str]:
        yield "Asynchronous code has nothing to wait for here."

    def _await(self, _: ast.Await) -> Iterator[str]:
        yield "Asynchronous code has nothing to wait for here."

    def _arg(self, node: ast.arg) -> Iterator[str]:
        yield from _bound(node.arg)

    def _keyword(self, node: ast.keyword) -> Iterator[str]:
        yield from _bound(node.arg)

    def _global(self, node: ast.Global) -> Iterator[str]:
        for name in node.names:
            yield from _bound(name)

    def _nonlocal(self, node: ast.Nonlocal) -> Iterator[str]:
        for name in node.names:
            yield from _bound(name)

    def _excepthandler(self, node: ast.ExceptHandler) -> Iterator[str]:
        yield from _bound(node.name)

    def _matchclass(self, node: ast.MatchClass) -> Iterator[str]:
        # A class pattern reads attributes by name, like a dot does.
        for name in node.kwd_attrs:
            yield from problems_with(name)

    def _matchas(self, node: ast.MatchAs) -> Iterator[str]:
        yield from _bound(node.name)

    def _matchstar(self, node: ast.MatchStar) -> Iterator[str]:
        yield from _bound(node.name)

    def _matchmapping(self, node: ast.MatchMapping) -> Iterator[str]:
        yield from _bound(node.rest)


def _module(name: str) -> Iterator[str]:
    head = name.partition(".")[0]
    if head not in MODULES:
        known = ", ".join(sorted(MODULES))
        yield f"The module {head!r} is not available. There are: {known}."
    elif name != head and name not in SUBMODULES:
        yield f"The module {name!r} is not available."


def _given(node: ast.AST) -> str:
    """The name that a node gives to something which is not a module."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case _:
            return ""


def _not_offered(module: str, name: str) -> Iterator[str]:
    """Why an attribute may not be read, of a module where it is one."""
    refused = list(problems_with(name))
    if not refused and missing(module, name):
        refused = [f"{module}.{name} is not available."]
    yield from refused


def _bound(name: str | None) -> Iterator[str]:
    if name is not None and name.startswith("__"):
        yield f"Names with two leading underscores, such as {name!r}, are not available."


def _expression_text(node: ast.Call) -> Iterator[str]:
    """pandas evaluates the text of `query` as Python; only text that can be seen is let through."""
    for given in [*node.args[:1], *[k.value for k in node.keywords if k.arg in {"expr", "query"}]]:
        text = given.value if isinstance(given, ast.Constant) else None
        if not isinstance(text, str):
            yield "The text of query() must be written out; use a comparison such as df[df.a > x]."
        elif "@" in text or "__" in text:
            yield "The text of query() must not reach for variables or names with underscores."


def _format(node: ast.Call) -> Iterator[str]:
    """A format text may read attributes of what it is given."""
    value = node.func.value if isinstance(node.func, ast.Attribute) else None
    text = value.value if isinstance(value, ast.Constant) else None
    if isinstance(value, ast.Name) and value.id == "str":
        yield "Call format on a text that is written out."
    elif isinstance(text, str) and "._" in text:
        yield "The format text reads private attributes."


# The reduced builtins


def reduced_builtins(scratch: Path) -> dict[str, Any]:
    """What a program finds without importing: no way to code, files outside scratch, or frames."""
    found = {name: getattr(builtins, name) for name in _BUILTINS}
    found |= {
        name: value
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    found |= {"True": True, "False": False, "None": None, "Ellipsis": Ellipsis}
    found |= {
        "NotImplemented": NotImplemented,
        "__build_class__": builtins.__build_class__,
        "__import__": _import,
        "__name__": "builtins",
        "getattr": read,
        _FORMATTING: formatting,
        "hasattr": _hasattr,
        "setattr": _setattr,
        "type": _type,
        "open": _opener(scratch),
    }
    return found


def _import(
    name: str,
    given_globals: object = None,  # noqa: ARG001 - the signature of __import__
    given_locals: object = None,  # noqa: ARG001
    fromlist: tuple[str, ...] | list[str] | None = (),
    level: int = 0,
) -> Any:
    if isinstance(fromlist, list):
        # A library written in C imports what it needs itself, and gets it from the interpreter. A statement has a tuple.
        return importlib.import_module(name)
    for message in _module(name):
        raise ImportError(message)
    if level:
        raise ImportError("A relative import leads nowhere here.")
    found = available(name)
    # `import a.b` binds `a`; `from a.b import c` reads `a.b`.
    return found if fromlist else available(name.partition(".")[0])


def _hasattr(value: Any, name: str) -> bool:
    return hasattr(value, allowed(name))


def _setattr(value: Any, name: str, content: Any) -> None:
    setattr(value, allowed(name), content)


def _type(value: Any) -> type:
    """The class of a value; classes are made with `class`."""
    return type(value)


def _opener(scratch: Path) -> Callable[..., IO[Any]]:
    home = scratch.resolve()

    def open_in_scratch(file: Any, mode: str = "r", **options: Any) -> IO[Any]:
        if not isinstance(file, str | Path):
            raise PermissionError("Files are opened by their path in scratch.")
        path = (home / file).resolve()
        if not path.is_relative_to(home):
            raise PermissionError(f"Only files in scratch can be opened: {file}")
        if "opener" in options:
            raise PermissionError("A file is opened in the usual way.")
        return open(path, mode, **options)  # noqa: PTH123

    return open_in_scratch
