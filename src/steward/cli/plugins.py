"""`steward plugin`: packages that add tools, nodes, triggers, kinds of connections, guardrails and agents; written, checked, installed, removed."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.cli.output import AsJson, fail, say, show, show_table
from steward.cli.projects import Group, Here
from steward.cli.terminal_questions import NobodyThere, agrees
from steward.core import Denied, Unavailable, minimal_environment
from steward.plugins import (
    KINDS,
    Plugin,
    Wheel,
    declaration,
    pack_folder,
    read_wheel,
    write_package,
)

app = Group()
_LONGEST_CHECK = 300
Name = Annotated[str, typer.Argument(help="Name of the plug-in.")]
Source = Annotated[
    Path, typer.Argument(help="A wheel, or a folder with a pyproject.toml.", exists=True)
]


@app.in_project("list")
def list_plugins(
    here: Here,
    *,
    removed: Annotated[
        bool, typer.Option("--removed", help="Those that were removed instead.")
    ] = False,
) -> None:
    """List the plug-ins of this installation."""
    found = here.steward.plugins.listed(here.access, removed=removed)
    here.show_table(
        [_document(each) for each in found],
        ["Name", "Version", "On", "Adds", "Runs", "SHA-256"],
        [
            (
                each.name,
                each.version,
                each.enabled,
                ", ".join(f"{part.kind} {part.name}" for part in each.parts),
                "with the server's rights" if each.rights else "in the sandbox",
                each.sha256[:12],
            )
            for each in found
        ],
        empty="No plug-ins.",
    )


@app.on_machine("show")
def show_wheel(source: Source, *, as_json: AsJson = False) -> None:
    """Show what a wheel declares, without running anything in it; needs no project."""
    wheel = read_wheel(_content(source))
    show(_declared(wheel), as_json=as_json, text=lambda: _wheel_text(wheel))


@app.in_project("install")
def install_plugin(
    here: Here,
    source: Source,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Install without asking.")] = False,
    rights: Annotated[
        bool, typer.Option("--rights", help="Let its code run with the server's rights.")
    ] = False,
) -> None:
    """Show what a wheel declares, ask, and install it on all servers and workers."""
    content = _content(source)
    wheel = here.steward.plugins.inspect(here.access, content)
    wheel.refuse_problems()
    if not here.as_json:
        say(_wheel_text(wheel))
    if not yes:
        try:
            agreed = agrees(_question(wheel))
        except NobodyThere:
            agreed = False
        if not agreed:
            raise Denied("Nothing was installed.", code="declined")
        rights = rights or wheel.needs_rights
    done = here.steward.plugins.install(here.access, content, wheel.sha256, rights=rights)
    here.show(_document(done), lambda: f"{done.name} {done.version} is installed and switched on.")


@app.in_project("enable")
def enable_plugin(here: Here, name: Name) -> None:
    """Switch a plug-in on."""
    done = here.steward.plugins.switch(here.access, name, enabled=True)
    here.show(_document(done), lambda: f"{name} is on.")


@app.in_project("disable")
def disable_plugin(here: Here, name: Name) -> None:
    """Switch a plug-in off: its tools, nodes, triggers, kinds of connections, guardrails and agents can no longer be found."""
    done = here.steward.plugins.switch(here.access, name, enabled=False)
    here.show(_document(done), lambda: f"{name} is off.")


@app.in_project("remove")
def remove_plugin(here: Here, name: Name) -> None:
    """Remove a plug-in and its code; journals of runs that used it stay readable."""
    here.steward.plugins.remove(here.access, name)
    here.show({"name": name, "removed": True}, lambda: f"{name} is removed.")


@app.on_machine("new")
def new_plugin(
    name: Annotated[str, typer.Argument(help="Such as acme-tax.")],
    *,
    kind: Annotated[
        list[str] | None,
        typer.Option(help=f"What it adds, as often as you like: {', '.join(KINDS)}."),
    ] = None,
    folder: Annotated[Path, typer.Option(help="Where to write it.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Write a package to start from; it passes its check."""
    made = write_package(name, folder, tuple(dict.fromkeys(kind or ("sandboxed_tool",))))
    files = sorted(str(path.relative_to(made)) for path in made.rglob("*") if path.is_file())
    show(
        {"folder": str(made), "files": files},
        as_json=as_json,
        text=lambda: "\n".join([f"{made}:", *(f"  {file}" for file in files)]),
    )


@app.on_machine("build")
def build_plugin(
    source: Source,
    *,
    into: Annotated[Path | None, typer.Option(help="Where to write the wheel.")] = None,
    as_json: AsJson = False,
) -> None:
    """Pack a folder as a wheel; the same files give the same bytes."""
    name, content = pack_folder(source)
    wheel = read_wheel(content)
    target = (into or source / "dist") / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    document = {"file": str(target), "sha256": wheel.sha256, "bytes": wheel.size}
    show(document, as_json=as_json, text=lambda: f"{target}\nSHA-256 {wheel.sha256}")


@app.on_machine("check")
def check_plugin(source: Source, *, as_json: AsJson = False) -> None:
    """Prove a plug-in with the contract kits; runs its code in a process of its own."""
    results = _checked(_content(source))
    rows = [(each["part"], each["problem"] or "passed") for each in results]
    show_table(results, ["Part", "Result"], rows, empty="", as_json=as_json)
    wrong = [each for each in results if each["problem"]]
    if wrong:
        fail(f"{len(wrong)} of {len(results)} did not pass.", "plugin", as_json=False)


def _checked(content: bytes) -> list[dict[str, Any]]:
    with tempfile.NamedTemporaryFile(suffix=".whl") as wheel:
        wheel.write(content)
        wheel.flush()
        try:
            done = subprocess.run(  # noqa: S603 - our own module, on a file of ours
                [sys.executable, "-P", "-m", "steward.testing.plugins", wheel.name],
                env=minimal_environment(),
                capture_output=True,
                timeout=_LONGEST_CHECK,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Unavailable(
                f"The check took longer than {_LONGEST_CHECK} seconds and was ended."
            ) from None
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    if done.returncode or not lines:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [""]
        raise Unavailable(f"The check itself failed: {last[0][:300]}")
    found: list[dict[str, Any]] = json.loads(lines[-1])
    return found


def _content(source: Path) -> bytes:
    return pack_folder(source)[1] if source.is_dir() else source.read_bytes()


def _question(wheel: Wheel) -> str:
    if wheel.needs_rights:
        return "Some of its code runs with the server's rights. Install it?"
    return "Install it?"


def _wheel_text(wheel: Wheel) -> str:
    lines = [
        f"{wheel.name} {wheel.version}",
        *([wheel.summary] if wheel.summary else []),
        f"Licence   {wheel.licence or 'not stated'}",
        f"SHA-256   {wheel.sha256}",
        f"Files     {len(wheel.files)}, {wheel.size:,} bytes",
        *(
            f"Requires  {each.text} ({each.installed or 'not installed'})"
            for each in wheel.requirements
        ),
        "Adds",
        *(
            f"  {part.kind} {part.name} ({part.target}): "
            + ("runs in the sandbox" if part.runs == "sandbox" else "runs with the server's rights")
            for part in wheel.parts
        ),
        *(f"Problem   {each.message}" for each in wheel.problems),
    ]
    return "\n".join(lines)


def _declared(wheel: Wheel) -> dict[str, Any]:
    return {
        "name": wheel.name,
        "version": wheel.version,
        "sha256": wheel.sha256,
        "needs_rights": wheel.needs_rights,
        "problems": [each.message for each in wheel.problems],
        **declaration(wheel),
    }


def _document(plugin: Plugin) -> dict[str, Any]:
    return {
        "name": plugin.name,
        "version": plugin.version,
        "sha256": plugin.sha256,
        "enabled": plugin.enabled,
        "rights": plugin.rights,
        "problem": plugin.problem,
        "parts": [f"{part.kind} {part.name}" for part in plugin.parts],
        "installed_at": plugin.installed_at,
    }
