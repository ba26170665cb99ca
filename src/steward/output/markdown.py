"""A small, safe Markdown: paragraphs, headings, lists, quotes, code, emphasis and links; everything else is text.

It is read into a tree that HTML and PDF draw alike. There is no raw HTML, no image, no reference and no nesting beyond
lists in one level, so that what an agent writes can be shown without trusting it. Reading is linear in the text.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

MAX_TEXT = 50_000
_MAX_NESTING = 6

InlineKind = Literal["text", "strong", "emphasis", "code", "link"]
BlockKind = Literal["paragraph", "heading", "bullets", "numbers", "quote", "code"]


@dataclass(frozen=True)
class Inline:
    kind: InlineKind
    text: str = ""
    children: tuple["Inline", ...] = ()
    address: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "text": self.text,
            "address": self.address,
            "children": [child.as_dict() for child in self.children],
        }


@dataclass(frozen=True)
class Block:
    kind: BlockKind
    inlines: tuple[Inline, ...] = ()
    items: tuple[tuple[Inline, ...], ...] = ()
    text: str = ""
    level: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "text": self.text,
            "level": self.level,
            "inlines": [inline.as_dict() for inline in self.inlines],
            "items": [[inline.as_dict() for inline in item] for item in self.items],
        }


_HEADING = re.compile(r"^(#{1,6}) +(\S.*)$")
_BULLET = re.compile(r"^ {0,3}[-*+] +(\S.*)$")
_NUMBER = re.compile(r"^ {0,3}\d{1,4}[.)] +(\S.*)$")
_ADDRESS = re.compile(
    r"^(https?://[^\s<>\"'`\\^{|}\x00-\x1f]{1,1000}|mailto:[^\s<>\"'`\\?&]{3,200})$", re.IGNORECASE
)
_SPECIAL = re.compile(r"\\[\\`*_\[\]()#>+.!-]|`+|\*\*|\*|__|_|\[")


def parse(text: str) -> tuple[Block, ...]:
    lines = text[:MAX_TEXT].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif line.startswith("```"):
            at = _fenced(lines, at, blocks)
        elif heading := _HEADING.match(line):
            blocks.append(Block("heading", inline(heading[2]), level=min(len(heading[1]), 4)))
            at += 1
        elif _BULLET.match(line):
            at = _listed(lines, at, _BULLET, "bullets", blocks)
        elif _NUMBER.match(line):
            at = _listed(lines, at, _NUMBER, "numbers", blocks)
        elif line.startswith(">"):
            at = _quoted(lines, at, blocks)
        else:
            at = _paragraph(lines, at, blocks)
    return tuple(blocks)


def plain(text: str) -> str:
    """The words alone, for places that have no formatting."""
    return " ".join(
        _words(part)
        for block in parse(text)
        for part in (block.inlines, *block.items, (Inline("text", block.text),))
        if _words(part)
    )


def _words(inlines: tuple[Inline, ...]) -> str:
    return "".join(one.text + _words(one.children) for one in inlines)


def _fenced(lines: list[str], at: int, blocks: list[Block]) -> int:
    end = at + 1
    while end < len(lines) and not lines[end].startswith("```"):
        end += 1
    blocks.append(Block("code", text="\n".join(lines[at + 1 : end])))
    return end + 1


def _listed(
    lines: list[str], at: int, pattern: re.Pattern[str], kind: BlockKind, blocks: list[Block]
) -> int:
    items: list[str] = []
    while at < len(lines) and lines[at].strip():
        found = pattern.match(lines[at])
        if found:
            items.append(found[1])
        elif lines[at].startswith("  "):
            items[-1] += " " + lines[at].strip()
        else:
            break
        at += 1
    blocks.append(Block(kind, items=tuple(inline(item) for item in items)))
    return at


def _quoted(lines: list[str], at: int, blocks: list[Block]) -> int:
    words: list[str] = []
    while at < len(lines) and lines[at].startswith(">"):
        words.append(lines[at].removeprefix(">").strip())
        at += 1
    blocks.append(Block("quote", inline(" ".join(words))))
    return at


def _paragraph(lines: list[str], at: int, blocks: list[Block]) -> int:
    words: list[str] = []
    while at < len(lines) and lines[at].strip():
        line = lines[at]
        starts = (_HEADING.match(line), _BULLET.match(line), _NUMBER.match(line))
        if words and (any(starts) or line.startswith((">", "```"))):
            break
        words.append(line.strip())
        at += 1
    blocks.append(Block("paragraph", inline(" ".join(words))))
    return at


def inline(text: str, *, depth: int = 0) -> tuple[Inline, ...]:
    """Emphasis, code and links in one line; a mark without its partner is the character it is."""
    parts: list[Inline] = []
    pending: list[str] = []
    # A mark that finds no partner now finds none later: remembering that keeps a long row of marks cheap.
    hopeless: set[str] = set()
    at = 0
    while found := _SPECIAL.search(text, at):
        pending.append(text[at : found.start()])
        at = found.end()
        mark = found.group()
        if mark.startswith("\\"):
            pending.append(mark[1])
            continue
        if mark not in hopeless and text.find("](" if mark == "[" else mark, at) < 0:
            hopeless.add(mark)
        made = None if mark in hopeless or depth >= _MAX_NESTING else _span(text, at, mark, depth)
        if made is None:
            pending.append(mark)
            continue
        _flush(pending, parts)
        parts.append(made[0])
        at = made[1]
    pending.append(text[at:])
    _flush(pending, parts)
    return tuple(parts)


def _flush(pending: list[str], parts: list[Inline]) -> None:
    words = "".join(pending)
    if words:
        parts.append(Inline("text", words))
    pending.clear()


def _span(text: str, at: int, mark: str, depth: int) -> tuple[Inline, int] | None:
    if mark == "[":
        return _link(text, at, depth)
    end = text.find(mark, at)
    if end <= at:
        return None
    inside = text[at:end]
    if mark.startswith("`"):
        return Inline("code", inside.strip()), end + len(mark)
    if inside != inside.strip():
        return None
    before, after = text[: at - len(mark)][-1:], text[end + len(mark) :][:1]
    if mark.startswith("_") and (before.isalnum() or after.isalnum()):
        # snake_case_names are names, not emphasis.
        return None
    kind: InlineKind = "strong" if len(mark) == 2 else "emphasis"
    return Inline(kind, children=inline(inside, depth=depth + 1)), end + len(mark)


def _link(text: str, at: int, depth: int) -> tuple[Inline, int] | None:
    middle = text.find("](", at)
    end = text.find(")", middle) if middle >= 0 else -1
    if end < 0:
        return None
    address = text[middle + 2 : end].strip()
    if not _ADDRESS.match(address):
        # Not an address we show as a link: the words stay, and so does what they would have linked to.
        return Inline("text", f"{text[at:middle]} ({address})"), end + 1
    children = inline(text[at:middle].replace("[", "("), depth=depth + 1)
    return Inline("link", children=children, address=address), end + 1
