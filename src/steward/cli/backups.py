"""`steward backup` and `steward restore`: both check themselves before they say that they worked."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from steward import __version__
from steward.app import Steward, key_file, open_blobs, open_database
from steward.cli.output import AsJson, command, installation, progress, show
from steward.core import Conflict, load_settings
from steward.store import Keyring, Verified, backup, downgrade, restore, verify


@command
def backup_command(
    target: Annotated[
        Path | None, typer.Argument(help="File to write; unset: named by date.")
    ] = None,
    *,
    without_keys: Annotated[
        bool, typer.Option(help="Leave the encryption keys out; keep the key file elsewhere.")
    ] = False,
    verify_only: Annotated[
        Path | None, typer.Option("--verify", help="Check this backup instead of making one.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="Key file, for a backup without keys.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write one file with everything: rows, blobs and (unless left out) the keys of the secrets."""
    if verify_only is not None:
        verified = verify(verify_only, keyring=Keyring.load(key) if key else None)
        _report(verified, verify_only, "is complete", as_json=as_json)
        return
    with installation() as steward:
        path, verified = _written(steward, target, include_keys=not without_keys)
    _report(verified, path, "written and checked", as_json=as_json)


def _written(
    steward: Steward, target: Path | None, *, include_keys: bool = True
) -> tuple[Path, Verified]:
    now = steward.clock.now()
    path = target or Path(f"steward-{now:%Y%m%d-%H%M%S}.tar.gz")
    verified = backup(
        steward.database,
        steward.blobs,
        steward.keyring,
        path,
        version=__version__,
        now=now,
        include_keys=include_keys,
        progress=progress,
    )
    return path, verified


@command
def restore_command(
    source: Annotated[Path, typer.Argument(help="A backup made by 'steward backup'.")],
    *,
    key: Annotated[Path | None, typer.Option(help="Key file, for a backup without keys.")] = None,
    as_json: AsJson = False,
) -> None:
    """Load a backup into an empty STEWARD_HOME (and database), then check it again."""
    settings = load_settings()
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    database = open_database(settings)
    try:
        verified = restore(
            source,
            database,
            open_blobs(settings),
            key_file(settings),
            keyring=Keyring.load(key) if key else None,
            progress=progress,
        )
    finally:
        database.close()
    _report(verified, settings.home, "restored and checked", as_json=as_json)


@command
def downgrade_command(
    revision: Annotated[
        str | None,
        typer.Argument(
            help="Schema that the older version knows, as its error says; unset: one step back."
        ),
    ] = None,
    *,
    target: Annotated[
        Path | None, typer.Option("--backup", help="File for the backup; unset: named by date.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Take the database back to the schema of an older version; a backup is made first."""
    with installation() as steward:
        if seen := steward.runs.presence.seen():
            names = ", ".join(each.holder for each in seen)
            raise Conflict(
                f"Servers or workers are running: {names}. Stop them first; they are counted for 45 seconds more."
            )
        path, _ = _written(steward, target)
        done = downgrade(steward.database, revision)
    lost = (
        f" These tables and their rows are gone: {', '.join(done.tables)}." if done.tables else ""
    )
    show(
        {**asdict(done), "backup": str(path)},
        as_json=as_json,
        text=lambda: (
            f"The schema went back from {done.before} to {done.after}.{lost} {path} has everything as it was. "
            "Install the older version before you start Steward again: this one brings the schema forward."
        ),
    )


def _report(verified: Verified, path: Path, what: str, *, as_json: bool) -> None:
    manifest = verified.manifest
    document: dict[str, Any] = {
        "path": str(path),
        "created_at": manifest.created_at,
        "version": manifest.steward_version,
        "rows": verified.rows,
        "blobs": verified.blobs,
        "secrets": verified.secrets,
        "has_keys": manifest.has_keys,
    }
    kept = "" if manifest.has_keys else " It holds no keys: keep the key file as safe as this file."
    show(
        document,
        as_json=as_json,
        text=lambda: (
            f"{path} {what}: {verified.rows:,} rows, {verified.blobs:,} blobs, "
            f"{verified.secrets} secrets decrypted.{kept}"
        ),
    )
