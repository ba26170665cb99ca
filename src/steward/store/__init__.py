"""What lasts: SQL, blobs, secrets, the event log and its doorbell, migrations, backup."""

from typing import TYPE_CHECKING

from steward.core.lazy_doors import lazily
from steward.store.backup import Contents, Verified, backup, opened, restore, verify
from steward.store.blobs import CHUNK, Blob, BlobStore, FileBlobs, check_digest, checked_chunks
from steward.store.bus import Bus, PostgresBus
from steward.store.confine import Prepared, Scope
from steward.store.database import EVERYWHERE, Database, Transaction, sqlite_version
from steward.store.eventlog import EventLog, News, events, topic
from steward.store.guarded import (
    ReportedJson,
    ReportedText,
    TypedJson,
    TypedText,
    require_no_secrets,
)
from steward.store.holds import (
    LEGAL_HOLD,
    PROJECT_ID,
    UNHELD,
    Hold,
    hold_of,
    is_held,
    legal_holds,
    open_holds,
    refused,
)
from steward.store.logical import Change, Changes, End
from steward.store.migrate import (
    Downgraded,
    downgrade,
    knows_revision,
    latest_revision,
    migrate,
    schema_revision,
)
from steward.store.notices import Notice, Notices
from steward.store.secret_sources import SecretSources
from steward.store.secrets import (
    OWN_SECRETS,
    Keyring,
    SecretStore,
    add_key,
    encrypt_again,
    open_keyring,
    secrets_elsewhere,
    use_key,
)
from steward.store.signing import PublicKeys, Signer
from steward.store.tables import (
    OUTLIVES_RUN,
    Json,
    Moment,
    Sequence64,
    id_column,
    metadata,
    optional,
    required,
    scope_columns,
)

if TYPE_CHECKING:
    from steward.store.s3 import S3Blobs

__all__ = [
    "CHUNK",
    "EVERYWHERE",
    "LEGAL_HOLD",
    "OUTLIVES_RUN",
    "OWN_SECRETS",
    "PROJECT_ID",
    "UNHELD",
    "Blob",
    "BlobStore",
    "Bus",
    "Change",
    "Changes",
    "Contents",
    "Database",
    "Downgraded",
    "End",
    "EventLog",
    "FileBlobs",
    "Hold",
    "Json",
    "Keyring",
    "Moment",
    "News",
    "Notice",
    "Notices",
    "PostgresBus",
    "Prepared",
    "PublicKeys",
    "ReportedJson",
    "ReportedText",
    "S3Blobs",
    "Scope",
    "SecretSources",
    "SecretStore",
    "Sequence64",
    "Signer",
    "Transaction",
    "TypedJson",
    "TypedText",
    "Verified",
    "add_key",
    "backup",
    "check_digest",
    "checked_chunks",
    "downgrade",
    "encrypt_again",
    "events",
    "hold_of",
    "id_column",
    "is_held",
    "knows_revision",
    "latest_revision",
    "legal_holds",
    "metadata",
    "migrate",
    "open_holds",
    "open_keyring",
    "opened",
    "optional",
    "refused",
    "require_no_secrets",
    "required",
    "restore",
    "schema_revision",
    "scope_columns",
    "secrets_elsewhere",
    "sqlite_version",
    "topic",
    "use_key",
    "verify",
]

__getattr__ = lazily(__name__)
