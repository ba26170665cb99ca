"""`steward backup` and `steward restore`: both check themselves before they say that they worked."""

from pathlib import Path
from typing import Annotated, Any

import typer

from steward import __version__
from steward.app import key_file, open_blobs, open_database
from steward.cli.output import AsJson, command, installation, progress, show
from steward.core import load_settings
from steward.store import Keyring, Verified, backup, restore, verify


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
        now = steward.clock.now()
        path = target or Path(f"steward-{now:%Y%m%d-%H%M%S}.tar.gz")
        verified = backup(
            steward.database,
            steward.blobs,
            steward.keyring,
            path,
            version=__version__,
            now=now,
            include_keys=not without_keys,
            progress=progress,
        )
    _report(verified, path, "written and checked", as_json=as_json)


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
