"""Questions people ask about public tables, with answers that Steward had no part in.

A file of `sets` holds the questions about one set of tables, as conversations. The answer of a turn is the result of SQL
that was written by hand for it and runs in DuckDB over the files themselves. Fields of a turn:

- `ask`: what the person says.
- `sql`: the answer, or a list of answers of which any one is right.
- `back`: why Steward should ask back or refuse. With `sql` beside it, that answer is right too.
- `needs`: a word that only the definitions of the set explain. Without them, asking back is right too.
- `ordered`: the order of the rows was asked for. `chart`: the kind of chart that was asked for.

- `known`: the conversation was in use before the set was written, so it is open.

A set belongs to a `round`. The held-out halves of the first and second rounds have been read since. The third round is held
out whole and says how chat does on questions that no one tuned to; the fourth is open whole and there to tune to.

In the first two rounds, the fifth, the sixth and the seventh, half of the questions of each set are held out, by conversation, and no one tunes to
them. Conversations join the smaller half in the order of the SHA-256 of their identifiers. This was decided before any question was asked.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

SETS = Path(__file__).parent / "sets"
HELD_OUT_WHOLE, OPEN_WHOLE = 3, 4
FIELDS = ("ask", "sql", "back", "needs", "ordered", "chart")


@dataclass(frozen=True)
class Turn:
    ask: str
    answers: tuple[str, ...] = ()
    back: str | None = None
    needs: str | None = None
    ordered: bool = False
    chart: str | None = None


@dataclass(frozen=True)
class Conversation:
    id: str
    turns: tuple[Turn, ...]
    held_out: bool


@dataclass(frozen=True)
class QuestionSet:
    name: str
    title: str
    tables: tuple[str, ...]
    conversations: tuple[Conversation, ...]
    definitions: Mapping[str, Any] = field(default_factory=dict)
    round: int = 1


def _turn(document: Mapping[str, Any]) -> Turn:
    unknown = set(document) - {"id", "then", "known", *FIELDS}
    if unknown:
        raise ValueError(f"{document['ask']!r} has unknown fields: {sorted(unknown)}")
    answers = document.get("sql", ())
    return Turn(
        ask=document["ask"],
        answers=(answers,) if isinstance(answers, str) else tuple(answers),
        back=document.get("back"),
        needs=document.get("needs"),
        ordered=document.get("ordered", False),
        chart=document.get("chart"),
    )


def _held_out(documents: Sequence[Mapping[str, Any]], number: int) -> set[str]:
    """Identifiers of the conversations of a round that are set aside."""
    if number in {HELD_OUT_WHOLE, OPEN_WHOLE}:
        return {each["id"] for each in documents} if number == HELD_OUT_WHOLE else set()

    def order(document: Mapping[str, Any]) -> tuple[bool, str]:
        return not document.get("known"), hashlib.sha256(document["id"].encode()).hexdigest()

    chosen: set[str] = set()
    balance = 0  # open questions less held-out ones
    for document in sorted(documents, key=order):
        turns = 1 + len(document.get("then", ()))
        if balance >= 0 and not document.get("known"):
            chosen.add(document["id"])
            balance -= turns
        else:
            balance += turns
    return chosen


def read_set(path: Path) -> QuestionSet:
    document = yaml.safe_load(path.read_text())
    asked = document["questions"]
    number = document.get("round", 1)
    held_out = _held_out(asked, number)
    conversations = tuple(
        Conversation(
            id=each["id"],
            turns=tuple(_turn(turn) for turn in (each, *each.get("then", ()))),
            held_out=each["id"] in held_out,
        )
        for each in asked
    )
    tables = tuple(document["tables"])
    definitions = document.get("definitions", {})
    return QuestionSet(
        path.stem,
        document["title"],
        tables,
        conversations,
        definitions,
        round=number,
    )


def read_sets(names: Sequence[str] = ()) -> list[QuestionSet]:
    """All sets, or those named."""
    return [
        read_set(path) for path in sorted(SETS.glob("*.yaml")) if not names or path.stem in names
    ]
