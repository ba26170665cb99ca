"""Set-up and checks of the checkout: standard library only, because it runs before anything is installed."""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
CACHE = ROOT / ".cache"
BIN = VENV / "bin"
WEB = ROOT / "web"
WEB_OUTPUT = ROOT / "src/steward/api/web"
DOCS_OUTPUT = ROOT / "src/steward/api/docs"
UV_VERSION = "0.13.7"
EXTRAS = (
    "connectors",
    "grpc",
    "iceberg",
    "nats",
    "otel",
    "postgres",
    "queues",
    "s3",
    "sftp",
    "vault",
)
WEB_SOURCES = ("src", "public", "scripts", "*.json", "*.ts", "*.js", "*.mjs", "*.html", ".npmrc")
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


# Many networks put a proxy with its own root certificate before the registries; the system knows it.
SYSTEM_CERTIFICATES = {"NODE_USE_SYSTEM_CA": "1", "UV_SYSTEM_CERTS": "1"}

# Tests start hundreds of processes; where bytecode is not kept, each of them compiles what it imports.
KEEP_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}

# Tests wait for databases and processes a part of their time, so two cores carry three of them; whoever is done takes
# from another what it has left at the end.
ON_TWO_CORES = ("-n", "3", "--dist", "worksteal")

# Further cases of what others prove; `make soak` runs them.
NO_BATTERIES = ("-m", "not battery")
# The plug-in of Hypothesis marks its tests: few examples in `make test`, a thousand there.
LONG = "soak or battery or hypothesis"

Step = tuple[str, Callable[[], None]]


class Failed(Exception):
    """A step did not work; its own output has said why."""


def say(text: str) -> None:
    print(text, flush=True)


def run(
    command: Sequence[str | Path], *, cwd: Path = ROOT, quiet: bool = False, **env: str
) -> None:
    """Runs a program; with `quiet` its output is shown only when it fails."""
    words = [str(word) for word in command]
    path = f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, **SYSTEM_CERTIFICATES, **KEEP_BYTECODE, **env}
    done = subprocess.run(
        words,
        cwd=cwd,
        env=environment,
        check=False,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
        text=True,
    )
    if done.returncode:
        if done.stdout:
            say(done.stdout)
        raise Failed(f"`{' '.join(words[:6])}` ended with {done.returncode}")


def fingerprint(paths: Sequence[Path], *extra: str) -> str:
    hasher = hashlib.sha256("\n".join(extra).encode())
    for path in sorted(paths):
        hasher.update(str(path.relative_to(ROOT)).encode())
        hasher.update(path.read_bytes())
    return hasher.hexdigest()


def once(stamp: Path, mark: str, title: str, work: Callable[[], None]) -> None:
    """Does the work unless the stamp says that it was done for the same inputs."""
    if stamp.exists() and stamp.read_text() == mark:
        return
    say(f"  · {title}")
    started = time.monotonic()
    work()
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(mark)
    say(f"    done in {time.monotonic() - started:.0f} s")


def set_up(*, groups: Sequence[str] = (), extras: Sequence[str] = ()) -> None:
    """The Python environment, exactly as the lock file says; groups already there stay."""
    chosen = [*(f"--group={g}" for g in groups), *(f"--extra={e}" for e in extras)]
    inputs = [ROOT / "uv.lock", ROOT / "pyproject.toml"]
    mark = fingerprint(inputs, sys.version, *chosen)

    def install() -> None:
        uv = bootstrap_uv()
        run(
            [
                uv,
                "sync",
                "--frozen",
                "--inexact",
                "--system-certs",
                "--python",
                sys.executable,
                *chosen,
            ],
            quiet=True,
            UV_PYTHON_DOWNLOADS="never",
            UV_PROJECT_ENVIRONMENT=str(VENV),
            VIRTUAL_ENV=str(VENV),
        )
        if not groups or "dev" in groups:  # others only build
            compile_for_sandbox()

    name = "-".join(["python", *groups, *extras])
    once(VENV / f".steward-{name}", mark, "Installing Python packages from the lock file", install)


def compile_for_sandbox() -> None:
    """Keeps the bytecode of its libraries: it writes none itself, and would compile them at every start."""
    program = (
        "import contextlib, importlib\n"
        "from steward.sandbox.runner.warm import LIBRARIES\n"
        "for name in LIBRARIES:\n"
        "    with contextlib.suppress(ModuleNotFoundError):\n"
        "        importlib.import_module(name)\n"
    )
    run([BIN / "python", "-c", program], quiet=True)


def bootstrap_uv() -> Path:
    home = CACHE / "uv"
    uv = home / "bin" / "uv"
    if not uv.exists():
        run([sys.executable, "-m", "venv", home], quiet=True)
        run([home / "bin/python", "-m", "pip", "install", "-q", f"uv=={UV_VERSION}"], quiet=True)
    return uv


def web_sources() -> list[Path]:
    found: list[Path] = []
    for pattern in WEB_SOURCES:
        for path in WEB.glob(pattern):
            found += [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
    return [path for path in found if "node_modules" not in path.parts]


def set_up_web_packages() -> None:
    set_up(groups=["web"])
    mark = fingerprint([WEB / "package-lock.json"])
    once(
        WEB / "node_modules/.steward",
        mark,
        "Installing web packages from the lock file",
        lambda: run(["npm", "ci", "--no-audit", "--no-fund"], cwd=WEB, quiet=True),
    )


def build_web() -> None:
    stamp = WEB_OUTPUT / ".built"
    mark = fingerprint(web_sources())
    if stamp.exists() and stamp.read_text() == mark:
        return
    set_up_web_packages()
    once(
        stamp,
        mark,
        "Building the web app",
        lambda: run(["npm", "run", "build"], cwd=WEB, quiet=True),
    )


def docs_sources() -> list[Path]:
    pages = [path for path in (ROOT / "docs").rglob("*") if path.is_file()]
    beside = [*ROOT.glob("*.md"), *(ROOT / "deploy").glob("*.md")]
    return [*pages, *beside, ROOT / "scripts/docs_site.py", ROOT / "uv.lock"]


def build_docs() -> None:
    """The documentation site that Steward serves under /docs."""
    stamp = DOCS_OUTPUT / ".built"
    mark = fingerprint(docs_sources())
    if stamp.exists() and stamp.read_text() == mark:
        return
    set_up(groups=["docs"])
    program = [BIN / "python", ROOT / "scripts/docs_site.py"]
    once(stamp, mark, "Building the documentation", lambda: run(program, quiet=True))


def chromium() -> str | None:
    """A browser to test with; Debian's is installed when that is possible and none is there."""
    found = next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)
    if found or os.geteuid() != 0 or not shutil.which("apt-get"):
        return found
    say("  · Installing Chromium")
    try:
        run(["apt-get", "update", "-q"], quiet=True)
        run(
            [
                "apt-get",
                "install",
                "-qy",
                "--no-install-recommends",
                "chromium",
                "fonts-dejavu-core",
            ],
            quiet=True,
            DEBIAN_FRONTEND="noninteractive",
        )
    except Failed as failure:
        say(f"    not possible: {failure}")
    return shutil.which("chromium")


def up(arguments: argparse.Namespace) -> None:
    say("Setting up")
    set_up()
    build_web()
    build_docs()
    command = [str(BIN / "steward"), "up"]
    for option in ("host", "port"):
        value = getattr(arguments, option)
        if value is not None:
            command += [f"--{option}", str(value)]
    sys.stdout.flush()
    # Steward takes this process over, so that Ctrl-C reaches it alone.
    os.chdir(ROOT)
    os.execv(command[0], command)


def steps(title_and_work: Sequence[Step]) -> None:
    """Runs all steps, also after one has failed, and ends with a table of how each went."""
    results: list[tuple[str, float, str]] = []
    for title, work in title_and_work:
        say(f"\n── {title}")
        started = time.monotonic()
        try:
            work()
            verdict = "ok"
        except Failed as failure:
            say(f"   {failure}")
            verdict = "FAILED"
        results.append((title, time.monotonic() - started, verdict))
    say("\n── Summary")
    for title, seconds, verdict in results:
        say(f"  {verdict:8}{seconds:7.1f} s  {title}")
    failed = [title for title, _, verdict in results if verdict != "ok"]
    if failed:
        raise Failed(f"{len(failed)} of {len(results)} steps failed: {', '.join(failed)}")


PYTHON_SOURCES = ("src", "tests", "benchmarks", "scripts")


def python_sources() -> list[str]:
    return [folder for folder in PYTHON_SOURCES if (ROOT / folder).is_dir()]


def format_check() -> None:
    run([BIN / "ruff", "format", "--check", *python_sources()])


def lint() -> None:
    run([BIN / "ruff", "check", *python_sources()])


def types(*, quiet: bool = False) -> None:
    run([BIN / "mypy", *python_sources()], quiet=quiet)


def imports() -> None:
    run([BIN / "lint-imports", "--no-cache"], quiet=True)


def npm(script: str) -> None:
    run(["npm", "run", "-s", script], cwd=WEB)


def pytest(*arguments: str) -> None:
    run([BIN / "pytest", *arguments])


def python_tests() -> None:
    pytest("--ignore=tests/journeys", *NO_BATTERIES, *ON_TWO_CORES)


def affected_tests(room: str) -> list[str]:
    listed = subprocess.run(
        [BIN / "python", ROOT / "scripts/rooms.py", room],
        check=False,
        stdout=subprocess.PIPE,
        text=True,
    )
    if listed.returncode:
        raise Failed(f"no tests for {room!r}")
    return listed.stdout.split()


def run_tests_of_room(room: str) -> None:
    chosen = affected_tests(room)
    say(f"A change to {room} can break: {', '.join(chosen)}")
    steps(
        [
            *quick_checks(),
            (f"Python tests for {room}", lambda: pytest(*NO_BATTERIES, *ON_TWO_CORES, *chosen)),
        ]
    )


def run_tests(arguments: argparse.Namespace) -> None:
    say("Setting up")
    set_up(groups=["dev", "docs", "web"], extras=EXTRAS)
    if arguments.name:
        run_tests_of_room(arguments.name)
        return
    set_up_web_packages()
    browser = chromium()
    if browser is None:
        say("  SKIPPED: browser journeys; no Chromium here and no root to install one.")
    browser_step: list[Step] = []
    if browser is not None:
        # By file: the journeys of some files share a server.
        by_file = ("-n", "2", "--dist", "loadfile")
        journeys = partial(pytest, "tests/journeys", *by_file, f"--chromium={browser}")
        browser_step = [("Browser journeys", journeys)]
    with ThreadPoolExecutor(1) as beside:
        # Types take one core for a while; the checks of the web app have the other meanwhile.
        typed = beside.submit(types, quiet=True)
        _run_steps(typed, browser_step)


def _run_steps(typed: "Future[None]", browser_step: list[Step]) -> None:
    steps(
        [
            ("Format", format_check),
            ("Lint", lint),
            ("Import contract", imports),
            ("Web: format", partial(npm, "format:check")),
            ("Web: lint", partial(npm, "lint")),
            ("Web: API client is current", partial(npm, "api:check")),
            ("Web: unit tests", partial(npm, "test")),
            ("Web: types and build", build_web),
            ("Documentation: build", build_docs),
            ("Web: size of the first page", partial(npm, "budget")),
            ("Types", typed.result),
            ("Python tests, SQLite and PostgreSQL", python_tests),
            *browser_step,
        ]
    )


def quick_checks() -> list[Step]:
    return [("Lint", lint), ("Types", types), ("Import contract", imports)]


def run_fast_tests(_: argparse.Namespace) -> None:
    set_up(groups=["dev", "docs", "web"], extras=EXTRAS)
    # The heart: what everything stands on, runs and their one door, versions of data.
    rooms = ("core", "store", "trace", "runs", "broker", "rules")
    versions = ("history", "sweep", "tree")
    quick = [f"tests/{room}" for room in rooms]
    quick += [f"tests/versions/test_versions_{part}.py" for part in versions]
    fast = (
        "-m",
        "not soak and not battery",
        *ON_TWO_CORES,
        "-q",
        "--steward-databases",
        "sqlite",
        *quick,
    )
    steps([*quick_checks(), ("Quick Python tests, SQLite", lambda: pytest(*fast))])


def soak(arguments: argparse.Namespace) -> None:
    set_up(groups=["dev", "docs", "web"], extras=EXTRAS)
    if not arguments.name:
        run([BIN / "pytest", "-m", LONG, "--collect-only", "-q"])
        raise Failed("say which one with NAME=, a part of a name above")
    browser = chromium()
    journeys = () if browser is None else (f"--chromium={browser}",)
    pytest("-m", LONG, "-k", arguments.name, "--full", "--timeout=0", "-v", *journeys)


def bench(arguments: argparse.Namespace) -> None:
    set_up(groups=["dev", "web", "bench"], extras=EXTRAS)
    build_web()
    files = (ROOT / "benchmarks").glob("[a-z]*.py")
    # Others beside them are parts of several.
    available = sorted(path.stem for path in files if '"__main__"' in path.read_text())
    chosen = [arguments.name] if arguments.name else available
    if not set(chosen) <= set(available):
        raise Failed(f"there is no benchmark {arguments.name!r}; there are: {', '.join(available)}")
    for name in chosen:
        say(f"\n── {name}")
        run([BIN / "python", f"benchmarks/{name}.py"], PYTHONPATH=str(ROOT))


def fmt(_: argparse.Namespace) -> None:
    set_up(groups=["dev", "web"], extras=EXTRAS)
    set_up_web_packages()
    run([BIN / "ruff", "check", "--fix", "--quiet", *python_sources()])
    run([BIN / "ruff", "format", *python_sources()])
    run([BIN / "python", "scripts/generate.py"])
    run(["npm", "run", "-s", "api"], cwd=WEB)
    run(["npm", "run", "-s", "format"], cwd=WEB)


def clean(_: argparse.Namespace) -> None:
    made = [VENV, CACHE, WEB_OUTPUT, DOCS_OUTPUT, WEB / "node_modules", ROOT / ".hypothesis"]
    made += [ROOT / name for name in (".mypy_cache", ".ruff_cache", ".pytest_cache", "artifacts")]
    for path in [*made, *ROOT.glob("*.egg-info")]:
        if path.exists():
            say(f"  · removing {path.relative_to(ROOT)}")
            shutil.rmtree(path)


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - this file also runs on what is too old
        say(f"Steward needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
        say("Say which one to use: make PYTHON=python3.12 up")
        return 1
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, work in {
        "test-fast": run_fast_tests,
        "fmt": fmt,
        "clean": clean,
    }.items():
        commands.add_parser(name).set_defaults(work=work)
    for name, named_work in {"test": run_tests, "soak": soak, "bench": bench}.items():
        named = commands.add_parser(name)
        named.add_argument("name", nargs="?")
        named.set_defaults(work=named_work)
    starting = commands.add_parser("up")
    starting.add_argument("--host")
    starting.add_argument("--port")
    starting.set_defaults(work=up)
    arguments = parser.parse_args()
    try:
        arguments.work(arguments)
    except Failed as failure:
        say(f"\nFailed: {failure}")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
