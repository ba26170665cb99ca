"""Where the runner lives: one file per place, each behind the same small seam."""

from typing import Protocol

from steward.core import Registry
from steward.sandbox.contract import Envelope, Response
from steward.sandbox.walls import Walls


class Provider(Protocol):
    """Runs requests in confined processes. Everything here blocks and is called from threads."""

    def prove(self) -> Walls:
        """Raises the walls around a throw-away process and says which ones stood."""

    def run(self, envelope: Envelope, cancelled: int) -> Response:
        """One execution; `cancelled` is a descriptor that becomes readable to call it off."""

    def close(self) -> None:
        """Ends every process."""


PROVIDERS: Registry[type[Provider]] = Registry("sandbox")
