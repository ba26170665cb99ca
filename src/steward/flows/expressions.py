"""Expressions over what a flow knows: CEL, parsed once, bounded, and the same result every time.

`${ … }` inside a text is replaced; a text that is nothing but one `${ … }` becomes the value itself, whatever its type.
`$${` writes `${`. Names: `inputs`, `nodes.<id>.output`, `item`, `index`, `last`, `run`.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from steward.flows._texts import ExpressionError, Path, outside_quotes, text_of
from steward.runs import Json

if TYPE_CHECKING:
    from steward.flows._grammar import Parsed
    from steward.flows._typing import Reading, Type

__all__ = [
    "Expression",
    "ExpressionError",
    "Path",
    "Text",
    "expression",
    "expressions_in",
    "filled",
]

MOST: Final = 200
"""Expressions in one text; to read each takes a moment."""

Lookup = Callable[[Path], Json]
"""The value a reference stands for; raises LookupError with what is missing."""


class Expression:
    """One expression, parsed."""

    def __init__(self, text: str, parts: "Parsed") -> None:
        self.text = text
        self._parts = parts

    @property
    def paths(self) -> tuple[Path, ...]:
        """What it reads, whichever way its conditions go."""
        return tuple(self._parts.paths.values())

    def type(self, reading: "Reading") -> "Type":
        """What it can give; raises ExpressionError where types do not go together."""
        from steward.flows._typing import type_of

        return type_of(self._parts, reading)

    def value(self, lookup: Lookup) -> Json:
        if self._parts.whole is not None:
            return self._looked_up(self._parts.whole, lookup)
        from steward.flows._evaluate import evaluated

        return evaluated(self._parts, lookup)

    def _looked_up(self, path: Path, lookup: Lookup) -> Json:
        try:
            return lookup(path)
        except LookupError as missing:
            raise ExpressionError(str(missing.args[0]), self.text, path.column) from None


class Text:
    """A text with expressions in it: pieces that are copied and pieces that are computed."""

    def __init__(self, pieces: tuple[str | tuple[int, Expression], ...]) -> None:
        self.pieces = pieces

    @property
    def expressions(self) -> tuple[tuple[int, Expression], ...]:
        """Each with its position in the text."""
        return tuple(piece for piece in self.pieces if not isinstance(piece, str))

    @property
    def only(self) -> Expression | None:
        """The expression, when the text is nothing else."""
        piece = self.pieces[0] if len(self.pieces) == 1 else None
        return None if piece is None or isinstance(piece, str) else piece[1]

    def value(self, lookup: Lookup) -> Json:
        if self.only is not None:
            return self.only.value(lookup)
        return "".join(
            piece if isinstance(piece, str) else text_of(piece[1].value(lookup))
            for piece in self.pieces
        )


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Expression:
    # The library and its parser take a noticeable moment to load, which most commands need not spend.
    from steward.flows._grammar import parsed

    return Expression(text, parsed(text))


@lru_cache(maxsize=4096)
def expression(text: str) -> Expression:
    """Parses an expression; `${ … }` around the whole of it is allowed."""
    bare = text.strip()
    if bare.startswith("${") and bare.endswith("}"):
        bare = bare[2:-1]
    return _parsed(bare)


@lru_cache(maxsize=4096)
def template(text: str) -> Text:
    pieces: list[str | tuple[int, Expression]] = []
    plain, position = "", 0
    while True:
        start = text.find("${", position)
        if start < 0:
            break
        if start > 0 and text[start - 1] == "$":
            plain, position = plain + text[position : start - 1] + "${", start + 2
            continue
        plain += text[position:start]
        if plain:
            pieces.append(plain)
        end = _closing(text, start + 2)
        inner = text[start + 2 : end]
        if len(pieces) > 2 * MOST:
            raise ExpressionError(f"a text holds at most {MOST} of them", inner, None)
        pieces.append((start, _parsed(inner)))
        plain, position = "", end + 1
    plain += text[position:]
    if plain or not pieces:
        pieces.append(plain)
    return Text(tuple(pieces))


def filled(value: Json, lookup: Lookup) -> Json:
    """A JSON value with every expression in its texts computed."""
    if isinstance(value, str):
        return template(value).value(lookup) if "${" in value else value
    if isinstance(value, list):
        return [filled(item, lookup) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, lookup) for key, item in value.items()}
    return value


def expressions_in(value: Json, pointer: str = "") -> Iterator[tuple[str, Text | ExpressionError]]:
    """Every text of a JSON value that holds expressions, with its JSON pointer; errors in place of what is wrong."""
    if isinstance(value, str):
        if "${" in value:
            try:
                yield pointer, template(value)
            except ExpressionError as problem:
                yield pointer, problem
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from expressions_in(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from expressions_in(item, f"{pointer}/{escaped(key)}")


def escaped(segment: str) -> str:
    """A name as a JSON pointer spells it."""
    return segment.replace("~", "~0").replace("/", "~1")


def _closing(text: str, start: int) -> int:
    """Where the brace that ends an expression is."""
    depth = 0
    for position in outside_quotes(text, start):
        if text[position] == "{":
            depth += 1
        elif text[position] == "}":
            if depth == 0:
                return position
            depth -= 1
    raise ExpressionError("a '}' is missing at its end", text[start:], None)
