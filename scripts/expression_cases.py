"""Random expressions with what the server says of each, for the tests of the web app's own check."""

import json
import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final

from steward.flows._fitting import declared, reading
from steward.flows.expressions import ExpressionError, expression

_LEAVES: Final = {
    "number": ("1", "-1", "2.5", "1e3", "0x1F", "inputs.n", "inputs.f", "nodes.load.output.rows"),
    "text": ("'a'", '"b"', "''", "'a\\'b'", "r'\\d'", "'é😀'", "inputs.text", "inputs['odd key']"),
    "bool": ("true", "false", "inputs.yes", "has(inputs.n)", "nodes.load.state == 'done'"),
    "list": ("[]", "[1, 2]", "inputs.list", "inputs.rows"),
    "object": ("{}", "{'a': 1}", "inputs", "inputs.rows[0]", "nodes.load.output"),
    "any": ("item", "last.x", "inputs.nope", "inputs.none", "null", "run.id"),
}
_ODD: Final = (
    *("1.", ".5", "1u", "b'x'", "9223372036854775808", "1e999", "'\\777'", "'\\ud800'", "'\\d'"),
    *("other", "nodes.load", "nodes.load.output.nope", "if", "in", ".x", "now()", "type(1)", ""),
)
_SHAPES: Final = {
    "number": (
        *("<number> + <number>", "<number>-<number>", "<number> * (<number>)", "-<number>"),
        *("<number> / <number> % <number>", "size(<list>)", "<text>.size()", "sum(<list>)"),
        *("round(<number>)", "int(<text>)", "<bool> ? <number> : <number>", "<list>[<number>].n"),
    ),
    "text": (
        *("<text> + <text>", "string(<any>)", "<text>.lower()", "join(<list>, <text>)"),
        *("<object>.name", "<object>[<text>]", "<bool>\n? <text>\n: <text>", "(<text>)"),
    ),
    "bool": (
        *("<number> < <number>", "<text> >= <text>", "<any> == <any>", "<any> != <any>", "!<bool>"),
        *("<bool> && <bool>", "<bool> || <bool>", "<any> in <list>", "<any> in<object>"),
        *("<text>.startsWith(<text>)", "<list>.all(x, <bool:x>)", "<list>.exists(y, <bool:y>)"),
        *("<bool> == <bool> != <bool>", "matches(<text>, <text>)", "<list>.contains(<any>)"),
    ),
    "list": (
        *("<list> + <list>", "[<any>, <any>]", "<text>.split(<text>)", "<list>.map(x, <any:x>)"),
        *("<list>.filter(item, <bool:item>)", "inputs.rows.map(if, <number:if>)", "(<list>)"),
    ),
    "object": ("{'a': <any>, <text>: <any>}", "<list>[<number>]", "<object>.in", "<object>.null"),
    "any": ("<number>", "<text>", "<bool>", "<list>", "<object>", "<any>.a", "max(<list>)"),
}
_PIECES: Final = (
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ".",
        "?",
        ":",
        "!",
        "-",
        "'",
        '"',
        "\\",
        "/",
        "=",
        "&",
        "$",
    ),
    *(" ", "\n", "\t", "\f", "\u00a0", "in", "true", "e", "x", "u", "0", "1", "é", "😀", "#", "_"),
)


def expression_cases(names: Mapping[str, Any], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Each text with its type, or with what is wrong and where."""
    written = _Writer(Random(seed))  # noqa: S311 - the same cases every time
    seen: set[str] = set()
    while len(seen) < count:
        text = written.text()
        if text not in seen:
            seen.add(text)
            yield {"text": text, **_verdict(text, names)}


def cases_document(names: Mapping[str, Any], count: int = 600, seed: int = 7) -> str:
    lines = [json.dumps(each, ensure_ascii=False) for each in expression_cases(names, count, seed)]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _verdict(text: str, names: Mapping[str, Any]) -> dict[str, Any]:
    known = {tuple(name.split(".")): schema for name, schema in names.items()}
    try:
        parsed = expression(text)
        for path in parsed.paths:
            if declared(path, known) is None:
                return {"reason": "there is no such field", "column": path.column}
        return {"type": str(parsed.type(reading(known)))}
    except ExpressionError as problem:
        return {"reason": problem.reason, "column": problem.column}


class _Writer:
    def __init__(self, random: Random) -> None:
        self._random = random

    def text(self) -> str:
        """Most are well formed, some have a mistake or two, some are nothing but pieces."""
        made = self._expression("any", self._random.randint(0, 5), ())
        kind = self._random.random()
        if kind < 0.5:
            return made
        if kind < 0.9:
            for _ in range(self._random.randint(1, 2)):
                made = self._changed(made)
            return made
        parts = [*_PIECES, *_ODD, *(leaf for leaves in _LEAVES.values() for leaf in leaves)]
        return "".join(self._random.choice(parts) for _ in range(self._random.randint(1, 12)))

    def _expression(self, kind: str, depth: int, bound: tuple[str, ...]) -> str:
        """One of a kind, or now and then of another."""
        if self._random.random() < 0.03:
            kind = self._random.choice(list(_SHAPES))
        if depth > 0:
            shape = self._random.choice(_SHAPES[kind])
            return re.sub(r"<(\w+):?(\w*)>", lambda found: self._part(found, depth, bound), shape)
        if self._random.random() < 0.03:
            return self._random.choice(_ODD)
        return self._random.choice([*_LEAVES[kind], *bound])

    def _part(self, found: re.Match[str], depth: int, bound: tuple[str, ...]) -> str:
        name = found[2]
        more = (name, f"{name}.n", f"{name}.name") if name else ()
        return self._expression(found[1], depth - 1, (*bound, *more))

    def _changed(self, text: str) -> str:
        at = self._random.randint(0, len(text))
        match self._random.randint(0, 3):
            case 0:
                return text[:at] + text[at + 1 :]
            case 1:
                return text[:at]
            case 2:
                return text[:at] + self._random.choice(_PIECES) + text[at:]
            case _:
                return text[:at] + self._random.choice(_PIECES) + text[at + 1 :]
