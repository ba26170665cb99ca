"""What lasts: SQL, blobs, secrets, the event log and its doorbell, migrations, backup."""

from steward.store.blobs import Blob, BlobStore, FileBlobs
from steward.store.bus import Bus, PostgresBus
from steward.store.confine import Prepared, Scope
from steward.store.database import EVERYWHERE, AnyScope, Database, Transaction, sqlite_version
from steward.store.eventlog import EventLog, News
from steward.store.guarded import require_no_secrets
from steward.store.migrate import knows_revision, latest_revision, migrate, schema_revision
from steward.store.secrets import (
    OWN_SECRETS,
    Keyring,
    SecretInfo,
    SecretStore,
    open_keyring,
)
from steward.store.signing import PublicKeys, Signer
from steward.store.tables import metadata

__all__ = [
    "EVERYWHERE",
    "OWN_SECRETS",
    "AnyScope",
    "Blob",
    "BlobStore",
    "Bus",
    "Database",
    "EventLog",
    "FileBlobs",
    "Keyring",
    "News",
    "PostgresBus",
    "Prepared",
    "PublicKeys",
    "Scope",
    "SecretInfo",
    "SecretStore",
    "Signer",
    "Transaction",
    "knows_revision",
    "latest_revision",
    "metadata",
    "migrate",
    "open_keyring",
    "require_no_secrets",
    "schema_revision",
    "sqlite_version",
]
