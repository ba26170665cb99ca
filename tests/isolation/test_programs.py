"""Programs of ours run apart: bounded in time and words, without our environment, and gone when they are ended."""

import os
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from steward.isolation import (
    CannotStart,
    converse,
    end_program,
    program_command,
    run_program,
    start_program,
)
from steward.isolation.programs import Said

CLEAN = {"LC_ALL": "C.UTF-8"}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return tmp_path / "program.py"


def said(program: Path, text: str, given: bytes = b"", seconds: float = 30.0) -> Said:
    program.write_text(text, encoding="utf-8")
    folder = str(program.parent)
    return run_program(program_command(program), CLEAN, folder, seconds=seconds, given=given)


def test_input_and_output_of_any_size_cross_over(program: Path) -> None:
    given = os.urandom(1 << 20)
    text = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()); sys.stderr.write('w')"
    assert said(program, text, given) == Said(given, b"w", "", 0)


def test_a_program_that_reads_nothing_is_no_error(program: Path) -> None:
    assert said(program, "raise SystemExit(3)", b"x" * (1 << 20)).status == 3


def test_nothing_of_our_environment_reaches_it(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(program.parent))
    monkeypatch.setenv("STEWARD_SECRET", "s")
    (program.parent / "json.py").write_text("raise SystemExit(9)")
    found = said(program, "import json, os; print(sorted(os.environ))")
    assert found.out.decode().split("\n")[0] == str(sorted(CLEAN))


def test_time_that_is_over_ends_the_program_and_what_it_started(program: Path) -> None:
    found = said(
        program,
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, file=sys.stderr, flush=True)\n"
        "time.sleep(600)\n",
        seconds=3.0,
    )
    assert found.late == "timeout"
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int(found.err)).wait(30)


def test_one_that_closes_its_pipes_is_not_waited_for(program: Path) -> None:
    text = "import os, time\nos.close(1); os.close(2)\ntime.sleep(600)\n"
    assert said(program, text, seconds=3.0).late == "timeout"


def test_words_beyond_the_limit_are_dropped_and_a_cancelled_program_ends(program: Path) -> None:
    program.write_text("print('x' * 100_000, flush=True)")
    process = start_program(program_command(program), CLEAN)
    assert converse(process, b"", seconds=30, most=10).out == b"x" * 10
    never, bell = os.pipe()
    program.write_text("import time\ntime.sleep(600)\n")
    process = start_program(program_command(program), CLEAN)
    os.write(bell, b"!")
    assert converse(process, b"", seconds=30, most=10, cancelled=never).late == "cancelled"
    assert process.returncode is not None
    os.close(never)
    os.close(bell)


def test_a_program_is_asked_to_end_before_it_is_killed(program: Path) -> None:
    program.write_text(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)\n"
    )
    process = start_program(program_command(program), CLEAN)
    assert process.stdout is not None
    process.stdout.readline()
    end_program(process, 30.0)
    assert process.returncode == 7
    end_program(process)


def test_a_program_that_is_not_there_says_so() -> None:
    with pytest.raises(CannotStart, match="No such file"):
        start_program([f"{sys.executable}-of-nobody"], CLEAN)


def test_limits_are_lowered_and_never_raised(program: Path) -> None:
    text = (
        "import resource\n"
        "from steward.isolation import lower_limits\n"
        "lower_limits({'NOFILE': 100, 'CPU': 60, 'NO_SUCH_KIND': 1}, cpu_grace=5)\n"
        "lower_limits({'NOFILE': 200})\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_CPU))\n"
    )
    assert said(program, text).out.decode().strip() == "(100, 100) (60, 65)"


def test_the_room_needs_the_standard_library_alone(program: Path) -> None:
    """Programs that start for every job load it."""
    text = (
        "import sys\n"
        "import steward.isolation\n"
        "known = {*sys.stdlib_module_names, 'steward', '__main__'}\n"
        "print({name.partition('.')[0] for name in sys.modules} - known)\n"
        "print('steward.core' in sys.modules)\n"
    )
    found = said(program, text).out.decode().split("\n")
    assert found[1] == "False"
    assert not [name for name in ("pydantic", "duckdb", "structlog") if name in found[0]]
