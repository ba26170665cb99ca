"""A folder on an SFTP server whose files start playbooks."""

from pydantic import Field

from steward.connections.connector import (
    ConnectorSettings,
    SecretField,
    Secrets,
    Surroundings,
    add_connector,
)
from steward.connections.sftp import SftpServer, list_folder

_MOST: int = 20_000


class SftpSettings(ConnectorSettings):
    host: str = Field(min_length=1, max_length=300, title="Host", description="The SFTP server.")
    port: int = Field(22, ge=1, le=65535, title="Port")
    username: str = Field(min_length=1, max_length=300, title="User name")
    host_key: str = Field(
        "",
        max_length=100,
        pattern=r"^(SHA256:[A-Za-z0-9+/]{43}=?)?$",
        title="Host key",
        description="Fingerprint of the server's key, as in SHA256:…. Leave it empty and check the connection to see it.",
    )
    folder: str = Field(
        ".", min_length=1, max_length=1_000, title="Folder", description="Where the files are."
    )


def sftp_server(settings: SftpSettings, secrets: Secrets) -> SftpServer:
    return SftpServer(
        settings.host,
        settings.port,
        settings.username,
        settings.host_key,
        secrets.get("password", ""),
        secrets.get("private_key", ""),
    )


async def check(around: Surroundings, settings: SftpSettings, secrets: Secrets) -> str:
    found = await list_folder(around.http, sftp_server(settings, secrets), settings.folder, _MOST)
    return f"Signed in to {settings.host}. The folder {settings.folder} has {len(found):,} files."


add_connector(
    kind="sftp",
    title="SFTP folder",
    description="A folder on an SFTP server whose files start playbooks.",
    use="sftp",
    settings=SftpSettings,
    check=check,
    place=lambda settings: f"sftp://{settings.username}@{settings.host}:{settings.port}",
    secrets=(
        SecretField("password", "Password", "Or a private key."),
        SecretField("private_key", "Private key", "In PEM, without a passphrase."),
    ),
)
