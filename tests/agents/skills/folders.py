"""Small skills to test with."""

from textwrap import dedent

SKILL = """\
---
name: greeting
description: Says hello. Use when somebody arrives.
license: MIT
metadata:
  author: the house
  steward.scripts: |
    greet.py:
      risk: compute
      description: Greets by name.
      arguments:
        type: object
        required: [name]
        properties:
          name: {type: string}
          times: {type: integer, default: 1}
---
# Greeting

Be kind. See [the words](references/words.md).
"""
SCRIPT = '''\
"""Greets."""


def main(arguments, con):
    return {"said": "hello " + arguments["name"] * arguments["times"]}
'''


def greeting(**changes: str | None) -> dict[str, bytes]:
    """The files of a valid skill; a change of None leaves a file out. `__` stands for a slash, `_dot_` for a dot."""
    files: dict[str, str | None] = {
        "SKILL.md": SKILL,
        "references/words.md": "Hello, welcome.\n",
        "scripts/greet.py": SCRIPT,
    }
    for name, text in changes.items():
        files[name.replace("__", "/").replace("_dot_", ".")] = text
    return {path: text.encode() for path, text in files.items() if text is not None}


def plain(
    name: str = "plain", description: str = "Does things.", more: str = "", body: str = "Do."
) -> str:
    return dedent(f"---\nname: {name}\ndescription: {description}\n{more}---\n{body}\n")
