"""Conversations with a model, kept as files, so that their answers can be judged on machines without one."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.question_sets import Conversation, QuestionSet
from benchmarks.question_sets.studio import Said


def keep(folder: Path, conversation: Conversation, said: Sequence[Said]) -> None:
    """Writes a conversation as the API told it."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps([asdict(each) for each in said], ensure_ascii=False, indent=1)
    (folder / f"{conversation.id}.json").write_text(text + "\n")


def kept(folder: Path, questions: QuestionSet) -> Iterator[tuple[Conversation, list[Said]]]:
    """The conversations of a set that were kept."""
    for conversation in questions.conversations:
        path = folder / f"{conversation.id}.json"
        if path.exists():
            yield conversation, [Said(**each) for each in json.loads(path.read_text())]
