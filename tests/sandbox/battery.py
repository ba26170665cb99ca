"""Runs the escape battery against a provider, without any guard: the walls alone must hold.

As a program (`python battery.py <tier> <folder> quick|full`) it prints what got through, for another user.
"""

import json
import os
import secrets
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from steward.sandbox import Column, Dataset, Limits, Request, Response
from steward.sandbox.contract import Envelope, Tier
from steward.sandbox.providers import Provider
from steward.sandbox.providers.embedded import Embedded

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.sandbox.attacks import ATTACKS, Attack, together

MIB = 1 << 20
TIGHT = Limits(
    wall_seconds=1.5,
    cpu_seconds=5,
    memory_bytes=256 * MIB,
    output_bytes=MIB,
    scratch_bytes=16 * MIB,
    scratch_inodes=512,
    files_bytes=MIB,
)
_PATIENT = TIGHT.model_copy(update={"wall_seconds": 30.0})


@dataclass(frozen=True)
class Ground:
    """What attacks aim at."""

    dataset: Dataset
    names: dict[str, str]
    secret: Path
    before: dict[Path, tuple[int, int, bytes]]

    def untouched(self) -> bool:
        return {path: _state(path) for path in self.before} == self.before


def _state(path: Path) -> tuple[int, int, bytes]:
    about = path.stat()
    return about.st_mode, int(about.st_mtime), path.read_bytes()


@contextmanager
def ground(folder: Path) -> Iterator[tuple[Path, Ground]]:
    """Datasets below a data root; beside it a secret, sockets that listen, this very process."""
    root = folder / "data"
    root.mkdir(parents=True)
    folder.chmod(0o755)
    content = secrets.token_hex(16)
    secret = folder / "secret.txt"
    secret.write_text(content)
    for name in ("orders", "other"):
        duckdb.sql("SELECT i AS id, i % 3 AS g FROM range(100) r(i)").write_parquet(
            str(root / f"{name}.parquet")
        )
    data = root / "orders.parquet"
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        by_path = stack.enter_context(socket.socket(socket.AF_UNIX))
        by_path.bind(str(folder / "s"))
        by_path.listen()
        abstract = f"steward-{content[:8]}"
        unnamed = stack.enter_context(socket.socket(socket.AF_UNIX))
        unnamed.bind(f"\0{abstract}")
        unnamed.listen()
        names = {
            "SECRET": str(secret),
            "CONTENT": content,
            "DATA": str(data),
            "OTHER": str(root / "other.parquet"),
            "PID": str(os.getpid()),
            "PORT": str(listener.getsockname()[1]),
            "SOCK": str(folder / "s"),
            "ABSTRACT": abstract,
            "FDS": "-1, -2",
        }
        before = {path: _state(path) for path in (secret, data, root / "other.parquet")}
        columns = [Column(name="id", type="BIGINT"), Column(name="g", type="BIGINT")]
        dataset = Dataset(
            name="orders",
            source=f"read_parquet(['{data}'])",
            files=[str(data)],
            columns=columns,
        )
        yield root, Ground(dataset, names, secret, before)


def strike(provider: Provider, attack: Attack, aim: Ground) -> Response:
    code = attack.program
    for name, value in aim.names.items():
        code = code.replace(f"@{name}@", value)
    request = Request(kind="python", code=code)
    if not attack.plain:
        # What another wall must end has time to get there on a busy machine.
        limits = TIGHT if "timeout" in attack.ends else _PATIENT
        request = Request(kind="python", code=code, datasets=[aim.dataset], limits=limits)
    never, bell = os.pipe()
    try:
        return provider.run(Envelope(request=request, scratch="", guarded=False), never)
    finally:
        os.close(never)
        os.close(bell)


def verdict(attack: Attack, response: Response) -> str | None:
    """What got through, or how it ended otherwise than it should; None when the walls held."""
    many = attack.name == "together"
    if response.result is True or (many and response.result):
        return f"{attack.name}: got through: {response.result} {response.message}"
    # Without its list, attempts were left out.
    if response.status not in attack.ends or (many and response.result != []):
        return f"{attack.name}: ended as {response.status}: {response.message} {response.stderr[-300:]}"
    return None


def quickly() -> list[Attack]:
    """Every attempt in few processes, and the bombs that end by themselves."""
    light = [a for a in ATTACKS if a.expression]
    slow = [a for a in ATTACKS if not a.expression and "timeout" not in a.ends]
    return [together(light), together(light, plain=True), *slow]


def endless() -> list[Attack]:
    """What only the limit on time may end, so that each of them takes all of it."""
    return [a for a in ATTACKS if "timeout" in a.ends]


def fully() -> list[Attack]:
    """Each attempt in a process of its own, and the light ones again without any dataset."""
    return [*ATTACKS, together([a for a in ATTACKS if a.expression], plain=True)]


def fell(provider: Provider, aim: Ground, attacks: Sequence[Attack] = ATTACKS) -> list[str]:
    """Every attack that was not held, and every trace left."""
    wrong = [v for attack in attacks if (v := verdict(attack, strike(provider, attack, aim)))]
    if not aim.untouched():
        wrong.append("a file outside scratch was changed")
    wrong += [f"left behind: {path}" for path in Path("/tmp").glob("steward-escape*")]
    wrong += [f"left behind: {path}" for path in Path("/dev/shm").glob("steward-escape*")]
    return wrong


def main(tier: Tier, folder: str, pace: str) -> None:
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    with ground(Path(folder)) as (root, aim):
        provider = Embedded([root], tiers=(tier,), limits=TIGHT)
        try:
            walls = provider.prove()
            wrong = (
                fell(provider, aim, quickly() if pace == "quick" else fully())
                if walls.tier == tier
                else list(walls.reasons)
            )
            told = {"tier": walls.tier, "user": os.getuid(), "wrong": wrong}
            sys.stdout.write(json.dumps(told))
        finally:
            provider.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3])  # type: ignore[arg-type]
