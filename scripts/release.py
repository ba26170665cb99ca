"""Builds what is published: a wheel with the web app inside, an sdist, lists of what they contain, and checksums.

The wheel is built from the sdist, so that both are whole. Then it is tried: installed into an empty environment, away
from the checkout, it must start and serve the web app without Node.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scripts.dev import EXTRAS, ROOT, WEB, Failed, bootstrap_uv, build_docs, build_web, run, say

OUTPUT = ROOT / "dist"
IMAGE_EXTRAS = (*EXTRAS, "kubernetes")
ENGINES = ("podman", "docker")


def built(output: Path = OUTPUT) -> Path:
    """Everything that is published, in one folder; the wheel is returned."""
    build_web()
    build_docs()
    uv = bootstrap_uv()
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    say("  · Building the sdist, and the wheel from it")
    run([uv, "build", "--quiet", "--out-dir", output], quiet=True)
    (output / ".gitignore").unlink(missing_ok=True)
    (wheel,) = output.glob("*.whl")
    say("  · Listing what is inside")
    stem = "-".join(wheel.name.split("-")[:2])
    _list_contents(uv, output, stem)
    _pin(uv, output, stem)
    _sum(output)
    return wheel


def _list_contents(uv: Path, output: Path, stem: str) -> None:
    """What Steward needs from PyPI, and what the web app holds of npm, as CycloneDX."""
    extras = [f"--extra={name}" for name in EXTRAS]
    python = output / f"{stem}.python.cdx.json"
    run(
        [
            uv,
            *("export", "--quiet", "--frozen", "--no-dev"),
            *("--format", "cyclonedx1.5"),
            *extras,
            *("-o", python),
        ],
        quiet=True,
    )
    listed = subprocess.run(
        ["npm", "sbom", "--sbom-format", "cyclonedx", "--omit", "dev"],
        cwd=WEB,
        check=False,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        raise Failed(f"npm could not list the packages of the web app: {listed.stderr.strip()}")
    (output / f"{stem}.web.cdx.json").write_text(listed.stdout)


def _pin(uv: Path, output: Path, stem: str) -> None:
    """What an image installs: the packages of the lock file, with their checksums."""
    extras = [f"--extra={name}" for name in IMAGE_EXTRAS]
    target = output / f"{stem}.requirements.txt"
    exported = ["export", "--quiet", "--frozen", "--no-dev", "--no-emit-project", "--no-header"]
    run([uv, *exported, *extras, "-o", target], quiet=True)


def build_image(
    base: str | None, options: Sequence[str] = (), output: Path = OUTPUT
) -> tuple[str, str]:
    """The image for servers and workers, from what a release left; the engine that built it, and its name."""
    engine = next((each for each in ENGINES if shutil.which(each)), None)
    if engine is None:
        raise Failed(f"Images need {' or '.join(ENGINES)}; neither is installed.")
    if not any(output.glob("*.whl")):
        built(output)
    (wheel,) = output.glob("*.whl")
    name = f"localhost/steward:{wheel.name.split('-')[1]}"
    say(f"  · Building {name} with {engine}")
    chosen = [] if base is None else ["--build-arg", f"BASE={base}"]
    run(
        [
            engine,
            *("build", "--file", ROOT / "deploy/Containerfile", "--tag", name),
            *chosen,
            *options,
            output,
        ]
    )
    return engine, name


def _sum(output: Path) -> None:
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(output.iterdir())
    ]
    (output / "SHA256SUMS").write_text("".join(lines))


def try_out(wheel: Path, *, locked: bool = False) -> str:
    """Installs the wheel where nothing else is, starts it, and looks at its first page; the version it says it is.

    What it needs is chosen by the ranges in its metadata, as it is for those who install it, or is that of the lock file.
    """
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        environment = place / "environment"
        _install(wheel, environment, locked=locked)
        with _started(environment / "bin/steward", place) as address:
            page = _read(f"{address}/")
            if "<title>" not in page or "/assets/" not in page:
                raise Failed("The installed wheel starts, but its first page is not the web app.")
            if "Steward documentation" not in _read(f"{address}/docs/"):
                raise Failed("The installed wheel starts, but has no documentation under /docs.")
            return str(json.loads(_read(f"{address}/api/v1/about"))["version"])


def _install(wheel: Path, environment: Path, *, locked: bool) -> None:
    uv = bootstrap_uv()
    run([uv, "venv", "--quiet", "--python", sys.executable, environment], quiet=True)
    if locked:
        synced = ["sync", "--quiet", "--frozen", "--no-install-project", "--system-certs"]
        run([uv, *synced], quiet=True, UV_PROJECT_ENVIRONMENT=str(environment))
    alone = ["--no-deps"] if locked else []
    python = environment / "bin/python"
    run([uv, "pip", "install", "--quiet", *alone, "--python", python, wheel], quiet=True)


@contextmanager
def _started(steward: Path, place: Path) -> Iterator[str]:
    # No checkout, no Node, no settings: what a person has who installed the wheel.
    environment = {"HOME": str(place), "PATH": f"{steward.parent}{os.pathsep}/usr/bin:/bin"}
    process = subprocess.Popen(
        [steward, "up", "--port", "0", "--json"],
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    if process.stdout is None:
        raise Failed("The output of the installed steward cannot be read.")
    said = ""
    try:
        for line in process.stdout:
            said += line
            if line.rstrip() == "}":
                break
        else:
            raise Failed(f"The installed steward did not start:\n{said}")
        yield str(json.loads(said)["url"]).rstrip("/")
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _read(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 - loopback
        return str(answer.read().decode())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", action="store_true", help="Build the container image only.")
    parser.add_argument("--base", help="Another base image, such as one of your own registry.")
    chosen, options = parser.parse_known_args()
    return _image(chosen.base, options) if chosen.image else _release()


def _image(base: str | None, options: Sequence[str]) -> int:
    try:
        engine, name = build_image(base, options)
    except Failed as failure:
        say(f"\nFailed: {failure}")
        return 1
    say(f"\n{name} is built. Try it: {engine} run --rm {name} doctor")
    return 0


def _release() -> int:
    try:
        wheel = built()
        say("  · Installing the wheel into an empty environment and starting it")
        version = try_out(wheel)
    except Failed as failure:
        say(f"\nFailed: {failure}")
        return 1
    say(f"\nSteward {version} in {OUTPUT.relative_to(ROOT)}:")
    for path in sorted(OUTPUT.iterdir()):
        say(f"  {path.stat().st_size / 1e6:7.1f} MB  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
