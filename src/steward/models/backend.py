"""The seam behind the desk: something that answers one request once, or says in Steward's words why it cannot."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, Protocol, TypeAlias

from steward.core import StewardError
from steward.models.answer import ModelAnswer
from steward.models.messages import Request

SAID: Final = " It said: "
"""Between what Steward says about a failure and the provider's own words."""


def gist(message: str) -> str:
    """What went wrong at a model in Steward's words alone, for a place with little room."""
    return message.partition(SAID)[0]


@dataclass(frozen=True)
class Delta:
    """A piece of an answer on its way; shown to people, never recorded."""

    kind: Literal["text", "thought", "call", "restart", "trying"]
    """`restart`: the try failed, and what was shown of it does not count. `trying`: why it takes longer."""
    text: str = ""
    """The piece; for a call, the name of the tool; for `trying`, what went wrong and what happens next."""


OnDelta: TypeAlias = Callable[[Delta], Awaitable[None]]


class Backend(Protocol):
    @property
    def model(self) -> str:
        """Who answers, as `provider:name`."""
        ...

    @property
    def settings(self) -> str:
        """Names where and how it is asked: two models of one name may be served at different places."""
        ...

    @property
    def may_see_rows(self) -> bool: ...

    @property
    def in_stages(self) -> bool:
        """Whether plans are asked for in short stages, as small models need it."""
        ...

    @property
    def patience(self) -> "Patience": ...

    def quote(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        """US dollars of so many tokens; None where the price is not known."""
        ...

    async def answer(self, request: Request, on_delta: OnDelta) -> ModelAnswer:
        """One try. Raises `Failed` and no other error."""
        ...


@dataclass(frozen=True)
class Patience:
    """How often a model is asked again, and how long is waited in between."""

    attempts: int = 4
    first_wait: float = 1.0
    longest_wait: float = 30.0

    def wait(self, failed: int, asked_for: float | None) -> float | None:
        """Seconds before the next try after so many failed ones; None when there should be none."""
        if failed >= self.attempts:
            return None
        doubled = min(self.first_wait * float(2 ** (failed - 1)), self.longest_wait)
        if asked_for is None:
            return doubled
        # A provider that wants to be left alone for longer than we wait is not asked again.
        return max(asked_for, doubled) if asked_for <= self.longest_wait else None


class Failed(Exception):
    """A try without an answer: the error to give, and whether asking again could help."""

    def __init__(
        self,
        error: StewardError,
        *,
        again: bool = False,
        after: float | None = None,
        asked: bool = False,
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.asked = asked
        """Whether the way in which the model was asked may be the cause: another way may work."""
        self.again = again
        self.after = after
        """Seconds the provider asked for."""
