"""The part of YAML that is JSON: no anchors, no tags, no dates, no `yes`; duplicate keys are refused."""

import math
import re
from dataclasses import dataclass
from typing import Any, Final

import yaml  # type: ignore[import-untyped]

from steward.core.errors import Invalid, Problem

DEEPEST: Final = 100
"""Lists and objects within one another."""
_DIGITS: Final = 300
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads what JSON could say, and says where something else stands."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.depth += 1
        event = self.peek_event()
        if self.depth > DEEPEST:
            raise _refused(event, "the nesting is too large")
        # Anchors would let a small text become a huge document.
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _refused(event, "anchors (&, *) have no place here; write it out")
        if getattr(event, "tag", None) is not None:
            raise _refused(event, "tags (!) have no place here")
        node = super().compose_node(parent, index)
        self.depth -= 1
        if node.tag.endswith((":int", ":float")) and not _is_number(node.value):
            raise _refused(node, "numbers are finite and not too large")
        if isinstance(node.value, str) and _UNSTORABLE.search(node.value):
            raise _refused(node, "NUL and unpaired surrogates have no place in a text")
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _refused(key, "a key is a text")
            if key.value in seen:
                raise _refused(key, f"{key.value!r} is there twice")
            seen.add(key.value)
        return {
            str(key.value): self.construct_object(value, deep=deep) for key, value in node.value
        }


def _map(loader: Any, node: Any) -> Any:
    found: dict[str, Any] = {}
    yield found
    found.update(loader.construct_mapping(node, deep=True))


_Loader.yaml_implicit_resolvers = {}
_Loader.add_constructor("tag:yaml.org,2002:map", _map)
_RESOLVERS: Final = (
    ("null", r"^(?:~|null|)$", ["~", "n", ""]),
    ("bool", r"^(?:true|false)$", list("tf")),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", list("-+0123456789")),
    ("float", r"^[-+]?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?$", list("-+0123456789")),
)
for _name, _form, _starts in _RESOLVERS:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(_form), _starts)


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _text(dumper: Any, text: str) -> Any:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


@dataclass(frozen=True)
class Lined:
    """A document with the line on which each of its parts begins, by JSON pointer."""

    value: Any
    lines: dict[str, int]

    def line(self, pointer: str) -> int:
        """Where a part stands; for one that is missing, where it should."""
        while pointer not in self.lines and pointer:
            pointer = pointer.rpartition("/")[0]
        return self.lines.get(pointer, 1)


def load(text: str) -> Any:
    return load_lined(text).value


def load_lined(text: str) -> Lined:
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            value = None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        raise _invalid(f"line {line}: a character that has no place in a text") from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        said = str(getattr(problem, "problem", None) or "this cannot be read")
        raise _invalid(f"{where}{said}") from None
    except (ValueError, RecursionError) as problem:
        raise _invalid("line 1: a number or the nesting is too large") from problem
    lines = {"": 1}
    if node is not None:
        _count(node, "", lines)
    return Lined(value, lines)


def _count(node: Any, at: str, into: dict[str, int], key: Any = None) -> None:
    into[at] = (key or node).start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            escaped = name.value.replace("~", "~0").replace("/", "~1")
            _count(value, f"{at}/{escaped}", into, name)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _count(value, f"{at}/{index}", into)


def dump(document: Any) -> str:
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _is_number(text: str) -> bool:
    return len(text) <= _DIGITS and math.isfinite(float(text))


def _refused(at: Any, said: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=said, problem_mark=at.start_mark)


def _invalid(said: str) -> Invalid:
    return Invalid(f"This YAML cannot be read: {said}.", problems=[Problem("", said)])
