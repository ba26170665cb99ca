"""Finds the plan in what a model wrote: fences, words around it and small slips are forgiven, mistakes are not."""

import json
import re
from typing import Any, Final

from steward.core import Invalid, read_json, require_bounded

_LONGEST: Final = 400_000
_TRIES: Final = 50
_FENCE: Final = re.compile(r"```[a-zA-Z0-9]*[^\S\n]*\n(.*?)```", re.DOTALL)
_TRAILING: Final = re.compile(r",(\s*[}\]])")


def found_in(text: str, goal: str) -> Any:
    """The document that is most likely meant as the plan; None when there is none."""
    return _tidied(document_in(text), goal)


def document_in(text: str) -> Any:
    """The JSON document among what a model wrote; None when there is none."""
    text = text[:_LONGEST]
    for candidate in [text, *(match.group(1) for match in _FENCE.finditer(text))]:
        found = _loaded(candidate.strip())
        if isinstance(found, dict | list):
            return found
    return _embedded(text)


def _loaded(text: str) -> Any:
    for written in (text, _TRAILING.sub(r"\1", text)):
        try:
            return read_json(written)
        except Invalid:
            continue
    return None


def _embedded(text: str) -> Any:
    """The largest object among the words."""
    decoder, best, size = json.JSONDecoder(), None, 0
    position, tries = text.find("{"), 0
    while position >= 0 and tries < _TRIES:
        tries += 1
        try:
            found, end = decoder.raw_decode(text, position)
            require_bounded(text[position:end])
        except (ValueError, RecursionError, Invalid):
            end = position + 1
        else:
            if end - position > size:
                best, size = found, end - position
        position = text.find("{", end)
    return best


def _tidied(document: Any, goal: str) -> Any:
    """The usual slips of small models put right; what is left is for the check to judge."""
    if isinstance(document, dict) and isinstance(document.get("plan"), dict):
        inner = document["plan"]
        document = inner if "steps" in inner else document
    if isinstance(document, list):
        document = {"steps": document}
    if not isinstance(document, dict) or not isinstance(document.get("steps"), list):
        return document
    steps = [_step(step, number) for number, step in enumerate(document["steps"], 1)]
    return {"goal": goal[:2_000].strip() or "As asked", **document, "steps": steps}


def _step(step: Any, number: int) -> Any:
    if not isinstance(step, dict):
        return step
    tidy = {key: value for key, value in step.items() if value is not None}
    tidy.setdefault("id", f"s{number}")
    tool = tidy.get("tool")
    if isinstance(tool, str) and "tools" not in tidy:
        tidy["tools"] = [tidy.pop("tool")]
    if isinstance(tidy.get("id"), str):
        tidy["id"] = tidy["id"].strip().lower().replace("-", "_").replace(" ", "_")
    reason = tidy.get("reason")
    tidy.setdefault("title", reason if isinstance(reason, str) and reason else f"Step {number}")
    if isinstance(tidy["title"], str):
        tidy["title"] = tidy["title"][:200]
    return tidy
