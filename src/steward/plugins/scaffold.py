"""A new plug-in to start from: a package that passes its check as it is written."""

import re
from pathlib import Path
from typing import Final

from steward.core import Conflict, Invalid, package_text

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")

_PARTS: Final = {
    "sandboxed_tool": ("add_tax", "add_tax", "main"),
    "tool": ("tell_time", "tell_time", "TELL_TIME"),
    "node": ("shout", "shout", "ShoutNode"),
    "trigger": ("hours", "hours", "HoursTrigger"),
    "connector": ("web_shop", "web_shop", "SHOP"),
    "guardrail": ("no-shouting", "no_shouting", "NoShouting"),
    "agent": ("stock-keeper", "stock_keeper", "KEEPER"),
}
"""By kind: the part's name, its module and the object in it; its text is a file in `templates`."""
KINDS: Final = tuple(_PARTS)


def write_package(name: str, into: Path, kinds: tuple[str, ...] = ("sandboxed_tool",)) -> Path:
    """Writes a package with one part of each kind; nothing that is there is touched."""
    if not _NAME.fullmatch(name) or len(name) > 40:
        raise Invalid(
            f"{name[:60]!r} is not a name: it has small letters, digits and single hyphens, as acme-tax has."
        )
    unknown = [kind for kind in kinds if kind not in _PARTS]
    if unknown:
        raise Invalid(f"There is no kind {unknown[0]!r}. There are: {', '.join(KINDS)}.")
    folder = into / name
    if folder.exists():
        raise Conflict(f"{folder} exists already. Choose another name or folder.")
    module = name.replace("-", "_")
    files = {
        "pyproject.toml": _pyproject(name, module, kinds),
        "README.md": _readme(name, kinds),
        f"{module}/__init__.py": f'"""The plug-in {name}."""\n',
        f"{module}/py.typed": "",
    }
    for kind in kinds:
        files[f"{module}/{_PARTS[kind][1]}.py"] = package_text(__package__, f"templates/{kind}.txt")
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return folder


def _pyproject(name: str, module: str, kinds: tuple[str, ...]) -> str:
    points = "\n".join(
        f'[project.entry-points."steward.{kind}"]\n{part} = "{module}.{file}:{item}"\n'
        for kind in kinds
        for part, file, item in [_PARTS[kind]]
    )
    return f"""\
[project]
name = "{name}"
version = "0.1.0"
description = "Says in a sentence what it adds."
requires-python = ">=3.11"
license = "Apache-2.0"
dependencies = []

{points}
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
"""


def _readme(name: str, kinds: tuple[str, ...]) -> str:
    return f"""\
# {name}

A plug-in for Steward: {", ".join(kind.replace("_", " ") for kind in kinds)}.

    steward plugin check {name}
    steward plugin build {name}
"""
