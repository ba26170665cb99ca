"""The part of YAML that is JSON: no anchors, no tags, no dates, no `yes`; duplicate keys are refused."""

import math
import re
from typing import Any, Final

import yaml  # type: ignore[import-untyped]

from steward.core.errors import Invalid, Problem


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads what JSON could say, and says where something else stands."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        # Anchors would let a small text become a huge document.
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _refused(event, "anchors (&, *) have no place here; write it out")
        if getattr(event, "tag", None) is not None:
            raise _refused(event, "tags (!) have no place here")
        return super().compose_node(parent, index)

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


def load(text: str) -> Any:
    try:
        found = yaml.load(text, Loader=_Loader)  # noqa: S506 - narrower than the safe loader
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        said = str(getattr(problem, "problem", None) or "this cannot be read")
        raise _invalid(f"{where}{said}") from None
    except (ValueError, RecursionError) as problem:
        raise _invalid("a number or the nesting is too large") from problem
    if not _is_finite(found):
        raise _invalid("numbers are finite")
    return found


def dump(document: Any) -> str:
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_finite(item) for item in value.values())
    if isinstance(value, list):
        return all(_is_finite(item) for item in value)
    return not isinstance(value, float) or math.isfinite(value)


def _refused(at: Any, said: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=said, problem_mark=at.start_mark)


def _invalid(said: str) -> Invalid:
    return Invalid(f"This YAML cannot be read: {said}.", problems=[Problem("", said)])
