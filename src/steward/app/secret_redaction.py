"""Takes the values of secrets out of all that is written."""

from steward.broker import Scrubber
from steward.core import Clock
from steward.runs import Json
from steward.store import Database, Scope, SecretStore

_FRESH_SECONDS = 2.0
_WORD = 12
"""Fewer letters than this, and nothing else, are an ordinary word: "postgres", "password"."""


class SecretScrubber:
    """Takes the values of a project's secrets out of what is about to be written, by anything that writes there.

    Secrets are read again after a moment; one that this process sets counts at once.
    """

    def __init__(self, database: Database, secrets: SecretStore, clock: Clock) -> None:
        self._secrets = secrets
        self._clock = clock
        self._known: dict[Scope, _Known] = {}
        database.conceal = self.conceal

    def __call__(self, scope: Scope, value: Json) -> Json:
        """For records of runs: every secret."""
        return self._of(scope).every.scrub(value)

    def conceal(self, scope: Scope, value: Json) -> Json:
        """For names and descriptions: a mask in the place of an ordinary word would give the secret away."""
        return self._of(scope).unusual.scrub(value)

    def scrubber(self, scope: Scope) -> Scrubber:
        """For text that is shown while it is written."""
        return self._of(scope).every

    def _of(self, scope: Scope) -> "_Known":
        known, now = self._known.get(scope), self._clock.monotonic()
        if (
            known is None
            or now - known.read_at > _FRESH_SECONDS
            or known.changes != self._secrets.changes
        ):
            changes = self._secrets.changes
            known = _Known(now, changes, self._secrets.values(scope))
            self._known[scope] = known
        return known


class _Known:
    """The secrets of a project as they were read."""

    def __init__(self, read_at: float, changes: int, values: dict[str, str]) -> None:
        self.read_at = read_at
        self.changes = changes
        self.every = Scrubber(values)
        words = {name for name, value in values.items() if len(value) < _WORD and value.isalpha()}
        self.unusual = (
            Scrubber({name: value for name, value in values.items() if name not in words})
            if words
            else self.every
        )
