"""What waits for a person, in words for the terminal: what would happen, why it is asked, and with which values."""

import hashlib
from typing import Any, Final

from steward.broker import Waiting
from steward.cli.output import plain
from steward.core import dump_yaml

_LONGEST: Final = 4_000
_CODE: Final = 12
"""Digits: enough that nobody can make a request with the code of another."""


def code_of(item: Waiting) -> str:
    """A short name for exactly what was shown: another payload has another one."""
    body = item.approval.body_hash if item.approval is not None else str(item.request)
    text = "\n".join((item.run_id, item.key, body))
    return hashlib.sha256(text.encode()).hexdigest()[:_CODE]


def described(item: Waiting) -> str:
    """What whoever decides must know."""
    lines = [item.title]
    approval = item.approval
    if approval is not None:
        summary = (approval.preview or {}).get("summary") or ""
        lines += [summary if summary != item.title else "", approval.reason]
        lines += [f"Look at this before you decide: {doubt}" for doubt in approval.doubts]
        lines += _values("Tool", approval.tool)
        lines += _values("It is given", approval.body)
        lines += _values("Before somebody edited it", approval.asked_body)
    else:
        request = item.request
        lines += [str(request.get(name) or "") for name in ("message", "question", "reason")]
        lines += [str(problem) for problem in request.get("problems") or ()]
        lines += _values("Details", request.get("details"))
        lines += _values("What is approved", request.get("payload"))
        lines += _values("The answer looks like this", request.get("form") or request.get("answer"))
    shown = dict.fromkeys(line for line in lines if line)
    return plain("\n".join(shown))


def _values(title: str, value: Any) -> list[str]:
    if value is None or value in ("", {}, []):
        return []
    text = value if isinstance(value, str) else dump_yaml(value).strip()
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}\n… {len(text) - _LONGEST:,} characters more; --json shows all."
    if "\n" not in text and len(text) < 60:
        return [f"{title}: {text}"]
    return [f"{title}:\n" + "\n".join(f"  {line}" for line in text.splitlines())]
