"""The rows that a command is about: "the unpaid invoices" is read like a question, or what is not read is told."""

from collections.abc import Mapping
from typing import Any

from steward.agents.asking.asking import ask as ask_question
from steward.agents.asking.compiling import compile_reading
from steward.agents.asking.reading import Asked, Reading
from steward.agents.asking.tokens import name_words
from steward.agents.asking.wording import Words
from steward.agents.rules.drafting import Draft
from steward.agents.rules.request import Ask
from steward.agents.rules.rhythm import rhythm_in
from steward.agents.rules.targets import free_name
from steward.core import Invalid
from steward.sandbox import QueryPlan, compile_plan


def rows_named(ask: Ask, *command: str) -> Asked | None:
    """What a command's message, without the words of the command, says of rows; None where it names only whole datasets."""
    text = list(ask.text)
    rhythm = rhythm_in(ask.text)
    if rhythm is not None:
        begin = ask.text.index(rhythm.said)
        text[begin : begin + len(rhythm.said)] = " " * len(rhythm.said)
    for start, end in ask.places(command):
        # "Nach Excel": what leads to a word of the command says nothing of rows.
        led = start > 0 and ask.tokens[start - 1].text == "by"
        for token in ask.tokens[start - led : end]:
            text[token.start : token.end] = " " * (token.end - token.start)
    world = ask.catalogue.world
    # "Show" makes rows of what is left.
    asked = ask_question("".join(text), world, ask.catalogue.lexicon, ask.task.today)
    tables = {word for name in world.datasets for word in name_words(name)}
    tables |= {word for each in world.definitions.tables.values() for word in name_words(each.row)}
    unused = [each for each in asked.unused if not set(name_words(each.word)) & tables]
    if unused:
        return asked.model_copy(update={"status": "proposal", "unused": unused})
    if asked.reading is None or not is_selected(asked.reading):
        return None
    return asked


def is_selected(reading: Reading) -> bool:
    """Whether a reading is more than a whole dataset."""
    parts = (reading.filters, reading.segments, reading.periods, reading.measures, reading.columns)
    return any(parts) or reading.limit is not None


def keep_rows(ask: Ask, draft: Draft, document: Mapping[str, Any], name: str) -> str | None:
    """Adds a step that keeps a query's result as a dataset; its name, or None where that cannot be done."""
    schema = {each: facts.names for each, facts in ask.catalogue.datasets.items()}
    whole = {key: part for key, part in document.items() if key != "offset"}
    if not whole.get("aggregate"):
        # A page is shown; all rows that match are kept.
        whole.pop("limit", None)
    try:
        sql = compile_plan(QueryPlan.model_validate(whole), schema)
    except (Invalid, ValueError):
        return None
    target = free_name(ask, name)
    sources = [whole["source"], *(each["dataset"] for each in whole.get("joins", ()))]
    kept = draft.add(
        ask, "keep", f"Keep the rows as {target}", "transform",
        {"datasets": sources, "target": target, "language": "sql", "code": sql},
        reason="What follows works on a dataset",
    )  # fmt: skip
    return target if kept else None


def keep_reading(ask: Ask, draft: Draft, reading: Reading) -> str | None:
    world = ask.catalogue.world
    line = Words(world.definitions).line(reading).replace(" · ", ", ")
    return keep_rows(ask, draft, compile_reading(reading, world), line[:100])
