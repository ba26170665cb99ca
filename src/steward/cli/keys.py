"""`steward keys`: the keys that encrypt secrets."""

from typing import Annotated

import typer

from steward.app import key_file
from steward.cli.output import AsJson, installation, show
from steward.cli.projects import Group
from steward.store import add_key, use_key

app = Group()


@app.callback()
def keys() -> None:
    """The keys that encrypt secrets."""


@app.on_machine("rotate")
def rotate(
    *,
    only_add: Annotated[
        bool,
        typer.Option(
            "--only-add",
            help="Only add a key to the file, so that you can copy it to other machines first.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Encrypt everything with a new key; servers and workers may go on running."""
    with installation() as steward:
        path = key_file(steward.settings)
        keyring = add_key(steward.database, steward.keyring, path, steward.ids.new("key"))
    if only_add:
        show(
            {"key": keyring.primary, "encrypted": 0},
            as_json=as_json,
            text=lambda: (
                f"Added {keyring.primary} to {path}. Copy the file to every machine, then run: steward keys rotate"
            ),
        )
        return
    # Opened again: everything uses the new key from here on.
    with installation() as steward:
        use_key(steward.database, steward.keyring)
        count = steward.secrets.encrypt_again() + steward.identity.two_step.encrypt_again()
        primary = steward.keyring.primary
    show(
        {"key": primary, "encrypted": count},
        as_json=as_json,
        text=lambda: (
            f"{count} secrets are encrypted with {primary} now. Back up {path}, "
            "and restart servers and workers when it suits you."
        ),
    )
