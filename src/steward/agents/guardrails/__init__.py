"""Guardrails: checks of what goes into an agent and what comes out of it; settings are pydantic models.

    @GUARDRAILS.register("no-shouting")
    class NoShouting(Guardrail):
        \"\"\"Refuses answers in capitals.\"\"\"

        most: float = Field(0.5, ge=0, le=1)

        def check(self, text: str, about: About) -> str | None:
            ...

A guardrail says what is wrong, in words that help whoever wrote the text to do better, or None. It is one file in
`agents/guardrails/`, or a package's entry point in the group `steward.guardrail`. An agent names it, alone or with
settings: `guardrails: [no-links, {use: max-length, characters: 400}]`.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from steward.broker import first_problem
from steward.core import Invalid, Registry, in_words, mistakes, read_json
from steward.runs import Json

Use = str | dict[str, Any]


@dataclass(frozen=True)
class About:
    """What a check may know besides the text."""

    sources: tuple[str, ...] = ()
    """Texts that the agent worked on, results of tools among them."""


_NOTHING = About()


class Guardrail(BaseModel):
    """Base of every guardrail; its fields are its settings."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    stage: ClassVar[Literal["input", "output"]] = "output"

    @abstractmethod
    def check(self, text: str, about: About) -> str | None:
        """What is wrong with the text, for who wrote it; None where nothing is."""


GUARDRAILS: Registry[type[Guardrail]] = Registry("guardrail")


@cache
def load_guardrails() -> None:
    GUARDRAILS.load_package(__name__)
    GUARDRAILS.load_entry_points()


def guardrail(use: Use) -> Guardrail:
    """A guardrail as an agent names it; NotFound or Invalid says what is wrong with the name or the settings."""
    load_guardrails()
    settings = {} if isinstance(use, str) else {n: v for n, v in use.items() if n != "use"}
    name = use if isinstance(use, str) else str(use.get("use", ""))
    kind = GUARDRAILS.get(name)
    try:
        return kind(**settings)
    except ValidationError as error:
        found = mistakes(error)
        raise Invalid(
            f"The settings of the guardrail {name!r} are not valid: {in_words(found)}.",
            problems=found,
        ) from None


def problem_in(
    uses: Iterable[Use], stage: Literal["input", "output"], text: str, about: About = _NOTHING
) -> str | None:
    """The first thing that is wrong with a text."""
    for use in uses:
        found = guardrail(use)
        if found.stage == stage:
            problem = found.check(text, about)
            if problem is not None:
                return problem
    return None


@dataclass(frozen=True)
class Output:
    text: str
    value: Json = None
    problem: str | None = None


def checked_output(
    uses: Sequence[Use], text: str, schema: Json = None, about: About = _NOTHING
) -> Output:
    """An agent's answer after its guardrails, as JSON where a schema is given."""
    problem = problem_in(uses, "output", text, about)
    if problem is not None or schema is None:
        return Output(text, None, problem)
    try:
        value = read_json(_bare(text))
    except Invalid:
        return Output(
            text, None, "It is not JSON; the answer is one JSON document and nothing else."
        )
    wrong = first_problem(schema, value)
    if wrong is not None:
        return Output(text, None, f"It does not fit its schema: {wrong[:300]}.")
    return Output(text, value)


def _bare(text: str) -> str:
    """Models like to put JSON between fences."""
    stripped = text.strip()
    if stripped.startswith("```"):
        stripped = stripped.partition("\n")[2].rpartition("```")[0]
    return stripped
