"""Reads other programs' configuration files: small regular files of the user's own, and YAML without surprises."""

import os
import stat
from pathlib import Path
from typing import Any, Final

from steward.core import Invalid, read_json, read_yaml

LARGEST: Final = 1 << 20


def text_of(path: Path, *, private: bool = False) -> str | None:
    """The text of a file of the user who runs Steward; None if it is absent or not to be trusted.

    `private`: files that others may read are left alone, as the programs they belong to do.
    """
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid():
                return None
            if private and about.st_mode & 0o077:
                return None
            content = file.read(LARGEST + 1)
    except OSError:
        return None
    if len(content) > LARGEST:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def json_of(path: Path) -> Any:
    text = text_of(path)
    if text is None:
        return None
    try:
        return read_json(text, largest=LARGEST)
    except Invalid:
        return None


def yaml_of(path: Path) -> Any:
    text = text_of(path)
    if text is None:
        return None
    try:
        return read_yaml(text, largest=LARGEST)
    except Invalid:
        return None
