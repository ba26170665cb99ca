"""What Steward's own tests use, for everyone: an installation per test on either database, people, clients,
scripted models."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steward.testing.installation import Installation, Person, fast_passwords
    from steward.testing.models import ScriptedModel, scripted_desk
    from steward.testing.servers import NatsServer, PostgresServer

__all__ = [
    "Installation",
    "NatsServer",
    "Person",
    "PostgresServer",
    "ScriptedModel",
    "fast_passwords",
    "scripted_desk",
]


def __getattr__(name: str) -> object:
    # Loaded on first use: pytest imports this package in every run of every project that has Steward
    # installed.
    if name in {"Installation", "Person", "fast_passwords"}:
        from steward.testing import installation

        return getattr(installation, name)
    if name in {"NatsServer", "PostgresServer"}:
        from steward.testing import servers

        return getattr(servers, name)
    if name in {"ScriptedModel", "scripted_desk"}:
        from steward.testing import models

        return getattr(models, name)
    raise AttributeError(name)
