"""The foundation of an installation: storage, clock, people, data and runs, which all other rooms are given."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from secrets import token_bytes

from steward.app.secret_redaction import SecretScrubber
from steward.broker import approval_claims
from steward.connections import Folders, Http, Mailer, NetworkPolicies, SecretManagers
from steward.core import Clock, Ids, Misconfigured, NotFound, Services, Settings
from steward.definitions import DefinitionStore
from steward.identity import Identity, Passwords
from steward.playbooks import Sharing
from steward.runs import Doorbell, HeadLog, Runs
from steward.sandbox import Place, Provider, Sandbox, load_providers
from steward.store import (
    BlobStore,
    Bus,
    Database,
    EventLog,
    FileBlobs,
    Keyring,
    PostgresBus,
    Scope,
    SecretSources,
    SecretStore,
    Signer,
    migrate,
    open_keyring,
)
from steward.tools import (
    BLOBS,
    BUS,
    CLOCK,
    DEFINITIONS,
    EVENTS,
    FOLDERS,
    HTTP,
    LINKS,
    MAIL,
    NAME_OF,
    NETWORK,
    RUNS,
    SANDBOX,
    SECRETS,
    WORKBENCH,
)
from steward.workbench import Workbench

COLUMN_KEY = "steward.column_key."
HASHING_KEY = "steward.redaction_key"


@dataclass(frozen=True)
class Foundation:
    settings: Settings
    clock: Clock
    ids: Ids
    database: Database
    blobs: BlobStore
    bus: Bus
    events: EventLog
    keyring: Keyring
    secrets: SecretStore
    scrubbing: SecretScrubber
    workbench: Workbench
    definitions: DefinitionStore
    identity: Identity
    runs: Runs
    sandbox: Sandbox
    http: Http
    services: Services
    """What tools and triggers may use."""


def lay_foundation(
    settings: Settings, clock: Clock, passwords: Passwords | None, provider: Provider | None
) -> Foundation:
    """Creates or migrates what is missing in the home folder and the database."""
    ids = Ids(clock)
    _make_home(settings.home)
    database = open_database(settings)
    with ExitStack() as on_failure:
        on_failure.callback(database.close)
        migrate(database)
        blobs = open_blobs(settings)
        keyring = open_keyring(database, key_file(settings), ids.new("key"))
        on_failure.pop_all()
    bus = Bus() if database.is_sqlite else PostgresBus(database)
    events = EventLog(database, bus, clock, ids)
    private, tells = settings.network.allow_private, settings.trace.tell_services
    # For what the installation does itself: single sign-on, streams of the event log.
    http = Http(allow_private=private, tells_trace=tells)
    secrets = SecretStore(database, keyring, clock, events, open_sources(settings, clock))
    scrubbing = SecretScrubber(database, secrets, clock)
    share = Sharing(events, clock).add_person
    identity = Identity(database, clock, ids, events, settings.identity, keyring, passwords, share)
    network = NetworkPolicies(database, events, clock, identity.members)
    workbench = Workbench(
        database,
        blobs,
        clock,
        ids,
        events,
        settings.home.resolve() / "work",
        hashing_key=lambda scope: _hashing_key(secrets, scope),
        scrub=scrubbing,
        network=network.levels_here,
        column_keys=lambda scope, new: _column_keys(secrets, clock, scope, new=new),
    )
    definitions = DefinitionStore(database, workbench, events, clock)
    log = HeadLog(Signer.of(keyring), approval_claims)
    doorbell, most_lost = _doorbell(settings, database, keyring), settings.runs.most_lost
    runs = Runs(database, blobs, bus, events, clock, ids, log, scrubbing, doorbell, most_lost)
    sandbox = open_sandbox(settings, provider)
    services = Services(
        WORKBENCH.of(workbench),
        SECRETS.of(secrets),
        BLOBS.of(blobs),
        CLOCK.of(clock),
        DEFINITIONS.of(definitions),
        RUNS.of(runs),
        EVENTS.of(events),
        BUS.of(bus),
        SANDBOX.of(sandbox),
        # What leaves for a project asks the network policies first.
        HTTP.of(Http(allow_private=private, tells_trace=tells, may_reach=network.check)),
        MAIL.of(Mailer(allow_private=private, may_reach=network.check)),
        NETWORK.of(network),
        LINKS.of(identity.links),
        FOLDERS.of(Folders.of(settings.connections.file_folders, settings.home)),
        NAME_OF.of(lambda user_id: identity.users.get(user_id).name),
    )
    return Foundation(
        settings,
        clock,
        ids,
        database,
        blobs,
        bus,
        events,
        keyring,
        secrets,
        scrubbing,
        workbench,
        definitions,
        identity,
        runs,
        sandbox,
        http,
        services,
    )


def open_sources(settings: Settings, clock: Clock) -> SecretSources:
    http = Http(tells_trace=settings.trace.tell_services)
    return SecretSources(settings.secrets.sources, SecretManagers(http, clock).read)


def _hashing_key(secrets: SecretStore, scope: Scope) -> bytes:
    """The key with which a project's redactions hash; made when it is first needed, kept as a secret."""
    try:
        return bytes.fromhex(secrets.get(scope, HASHING_KEY))
    except NotFound:
        secrets.set(scope, HASHING_KEY, token_bytes(32).hex(), author="steward")
        return bytes.fromhex(secrets.get(scope, HASHING_KEY))


def _column_keys(
    secrets: SecretStore, clock: Clock, scope: Scope, *, new: bool
) -> dict[str, bytes]:
    """Keys of a project's encrypted columns by id, oldest first; each a secret of its own, and none is ever replaced."""

    def kept() -> dict[str, bytes]:
        found = secrets.values(scope).items()
        names = {k.removeprefix(COLUMN_KEY): v for k, v in found if k.startswith(COLUMN_KEY)}
        return {name: bytes.fromhex(names[name]) for name in sorted(names)}

    known = kept()
    if known and not new:
        return known
    # Ids sort by the moment they were made.
    name = f"{int(clock.now().timestamp() * 1000):x}{token_bytes(2).hex()}"
    secrets.set(scope, f"{COLUMN_KEY}{name}", token_bytes(32).hex(), author="steward")
    return kept()


def open_sandbox(settings: Settings, provider: Provider | None = None) -> Sandbox:
    """Starts nothing by itself: the first execution raises the walls."""
    chosen = settings.sandbox
    if provider is None:
        place = Place(chosen, settings.home.resolve(), data_folders(settings))
        provider = load_providers().get(chosen.provider).open(place)
    return Sandbox(provider, minimum=chosen.minimum, concurrency=chosen.concurrency)


def data_folders(settings: Settings) -> list[Path]:
    """Where data lies that code in the sandbox may read; what is kept in S3 is copied to the last of them."""
    home = settings.home.resolve()
    names = ["work"] if settings.blobs.url is not None else ["blobs", "work"]
    return [home / name for name in names]


def open_database(settings: Settings) -> Database:
    url = settings.database.url
    if url is not None:
        return Database(url.get_secret_value(), pool_size=settings.database.pool_size)
    path = (settings.home / "steward.db").resolve()
    return Database(f"sqlite:///{path}", pool_size=settings.database.pool_size)


def _doorbell(settings: Settings, database: Database, keyring: Keyring) -> Doorbell | None:
    """NATS where it is set; one process on SQLite needs nothing but its own bus."""
    url = settings.runs.nats_url
    if url is None or database.is_sqlite:
        return None
    try:
        from steward.runs import NatsDoorbell
    except ModuleNotFoundError:
        raise Misconfigured("NATS needs Steward's 'nats' extra; install it first.") from None
    # All processes of an installation share its keys, so they find the same queues by name.
    return NatsDoorbell(url.get_secret_value(), keyring.derived_for_good("doorbell").hex()[:16])


def open_blobs(settings: Settings) -> BlobStore:
    if settings.blobs.url is None:
        return FileBlobs((settings.home / "blobs").resolve())
    try:
        from steward.store import S3Blobs
    except ModuleNotFoundError:
        raise Misconfigured("S3 storage needs Steward's 's3' extra; install it first.") from None
    return S3Blobs(settings.blobs, settings.home / "incoming")


def key_file(settings: Settings) -> Path:
    return settings.home / "keys" / "secrets.json"


def _make_home(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Misconfigured(
            f"The home folder {home} cannot be created ({error.strerror}). Set STEWARD_HOME to a "
            "folder you may write to."
        ) from None
