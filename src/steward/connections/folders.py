"""Which files of this machine a connection may name: those in folders that the installation's settings list."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steward.core import Denied, NotFound

SETTING = "STEWARD_CONNECTIONS__FILE_FOLDERS"


@dataclass(frozen=True)
class Folders:
    allowed: tuple[Path, ...] = ()
    closed: tuple[Path, ...] = ()
    """Never open, even inside an allowed folder: Steward's own home with its keys."""

    @classmethod
    def of(cls, allowed: Sequence[str], *closed: Path) -> "Folders":
        return cls(
            tuple(Path(each).expanduser().resolve() for each in allowed),
            tuple(each.resolve() for each in closed),
        )

    def require_folder(self, text: str) -> Path:
        """The folder that a path leads to, links followed; refused unless it is allowed or inside one that is."""
        real = self._inside(text)
        if not real.is_dir():
            raise NotFound(f"There is no folder {text!r}.")
        return real

    def require(self, text: str) -> Path:
        """The file that a path leads to, links followed; refused unless it lies in an allowed folder."""
        real = self._inside(text)
        if not real.is_file():
            raise NotFound(f"There is no file {text!r}.")
        return real

    def _inside(self, text: str) -> Path:
        path = Path(text)
        if not path.is_absolute() or "\x00" in text:
            raise Denied("Give the whole path, from the root.", code="path-refused")
        real = path.resolve()
        inside = any(real.is_relative_to(folder) for folder in self.allowed)
        if not inside or any(real.is_relative_to(folder) for folder in self.closed):
            raise Denied(
                f"{text!r} is not in a folder that connections may read. Whoever runs this installation can add "
                f"one to {SETTING}.",
                code="path-refused",
            )
        return real
