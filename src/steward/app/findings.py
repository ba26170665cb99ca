"""What a check of the doctor finds."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "info", "warning", "failed"]


@dataclass(frozen=True)
class Finding:
    subject: str
    state: State
    message: str
    remedy: str = ""
