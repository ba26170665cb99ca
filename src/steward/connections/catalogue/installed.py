"""Services of a project: installed by a hash, updated with a look at what changes, removed; and what people say of operations."""

import gzip
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from steward.connections.catalogue import _tables as tables
from steward.connections.catalogue.conversion import convert_packaged, convert_text
from steward.connections.catalogue.curated import curated_in
from steward.connections.catalogue.record import Operation, Service, service_from_header
from steward.connections.catalogue.shelf import Shelf, words
from steward.connections.mcp.definitions import disarmed
from steward.core import Clock, Conflict, Invalid, NotFound
from steward.identity import Access, Role
from steward.store import (
    BlobStore,
    Database,
    EventLog,
    Scope,
    Transaction,
    require_no_secrets,
)

PACKAGE: Final = "package"
RISKS: Final = ("read", "compute", "write", "external_send", "destructive", "admin", "secret")
_REMEMBERED: Final = 8
_DEEPEST_SHAPE: Final = 6
_WIDEST_SHAPE: Final = 60
_KINDS: Final[tuple[tuple[type, str], ...]] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (Mapping, "object"),
    (list, "array"),
    (type(None), "null"),
)
_SERVICES = tables.services.c
_OPERATIONS = tables.operations.c


class Record:
    """An installed record: its operations are read one at a time, as they are asked for."""

    def __init__(self, content: bytes) -> None:
        head, *lines = gzip.decompress(content).splitlines()
        self.header: dict[str, Any] = json.loads(head)
        self._lines: dict[str, bytes] = {}
        self.outline: dict[str, tuple[str, frozenset[str]]] = {}
        """Hash and words of each operation."""
        called = []
        for line in lines:
            told = json.loads(line)
            self._lines[told["name"]] = line
            self.outline[told["name"]] = (told["hash"], words(told["name"], told.get("title", "")))
            called.append({key: told.get(key, "") for key in ("name", "verb", "path", "base_url")})
        self.curated = curated_in(str(self.header.get("base_url", "")), called)
        """The most used operations of a well-known service, with what is said of them."""
        for name, each in self.curated.items():
            told_hash, known = self.outline[name]
            self.outline[name] = (told_hash, known | words(each.title))

    @property
    def service(self) -> Service:
        return service_from_header(self.header)

    @property
    def hosts(self) -> list[str]:
        found: list[str] = self.header["hosts"]
        return found

    def __len__(self) -> int:
        return len(self._lines)

    def names(self) -> list[str]:
        return list(self._lines)

    def find(self, name: str) -> Operation | None:
        line = self._lines.get(name)
        if line is None:
            return None
        told = json.loads(line)
        told.pop("hash")
        return Operation.from_json(told)

    def search(self, text: str, limit: int) -> list[Operation]:
        """Operations with most of the words that any of them has; the first ones, where there are no words."""
        asked = words(text)
        if not asked:
            names = [*self.curated, *(name for name in self.names() if name not in self.curated)]
            return [each for name in names[:limit] if (each := self.find(name))]
        fits = {
            name: {word for word in asked if any(has.startswith(word) for has in known)}
            for name, (_, known) in self.outline.items()
        }
        # Words of a request that no operation has say nothing about which one is meant.
        telling = len(set[str]().union(*fits.values())) if fits else 0
        best = sorted(
            (-len(has), name not in self.curated, name)
            for name, has in fits.items()
            if has and len(has) * 2 >= telling
        )
        return [each for *_, name in best[:limit] if (each := self.find(name))]

    def title(self, operation: Operation) -> str:
        known = self.curated.get(operation.name)
        return known.title if known else operation.title

    def risk(self, operation: Operation) -> str:
        """What a call can do at worst; a set can only raise what the verb says."""
        known = self.curated.get(operation.name)
        told = known.risk if known else None
        return max(told, operation.risk, key=RISKS.index) if told else operation.risk


@dataclass(frozen=True)
class InstalledService:
    name: str
    title: str
    vendor: str
    adapter: str
    version: str
    licence: str
    source: str
    """`package`, the name of a file, or an address."""
    sha256: str
    record_digest: str
    operations: int
    installed_by: str
    installed_at: datetime
    updated_at: datetime
    revision: int
    tried_at: datetime | None = None

    @property
    def state(self) -> str:
        return "tried" if self.tried_at is not None else "converted"


@dataclass(frozen=True)
class Choice:
    """What people decided about one operation, for the description they saw."""

    service: str
    operation: str
    hash: str
    offered: bool
    roles: Mapping[str, str] | None
    risk: str | None
    risk_reason: str | None
    answer: Mapping[str, Any] | None


@dataclass(frozen=True)
class Difference:
    """What an update would change."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    hosts_added: tuple[str, ...]
    riskier: tuple[str, ...]
    """Operations whose risk class rises."""
    sha256: str
    """Of the new description; an update names it."""


class InstalledServices:
    def __init__(
        self, database: Database, blobs: BlobStore, events: EventLog, clock: Clock, shelf: Shelf
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._events = events
        self._clock = clock
        self.shelf = shelf
        self._records: OrderedDict[str, Record] = OrderedDict()

    # ---- services

    def install_packaged(self, access: Access, service_id: str) -> InstalledService:
        access.require(Role.admin)
        return self._install(access, service_id, convert_packaged(service_id), PACKAGE)

    def install_text(
        self, access: Access, name: str, content: bytes, source: str, address: str = ""
    ) -> InstalledService:
        access.require(Role.admin)
        record = convert_text(content, name, address)
        self._require_no_secrets(access, record)
        return self._install(access, name, record, source)

    def listed(self, scope: Scope) -> list[InstalledService]:
        with self._database.read(scope) as tx:
            rows = tx.rows(sa.select(tables.services).order_by(_SERVICES.name))
        return [_service(row) for row in rows]

    def get(self, scope: Scope, name: str) -> InstalledService:
        with self._database.read(scope) as tx:
            return _existing(tx, name)

    def record(self, scope: Scope, name: str) -> Record:
        return self._record(self.get(scope, name).record_digest)

    def operation(self, scope: Scope, service: str, name: str) -> Operation:
        found = self.record(scope, service).find(name)
        if found is None:
            raise NotFound(f"{service} has no operation {name[:64]!r}.")
        return found

    def difference(self, scope: Scope, name: str, content: bytes) -> Difference:
        """Between what is installed and a new record."""
        old, new = self.record(scope, name), Record(content)
        before = {each: digest for each, (digest, _) in old.outline.items()}
        after = {each: digest for each, (digest, _) in new.outline.items()}
        changed = sorted(n for n in before.keys() & after.keys() if before[n] != after[n])
        riskier = [n for n in changed if _risk(new, n) > _risk(old, n)]
        return Difference(
            added=tuple(sorted(after.keys() - before.keys())),
            removed=tuple(sorted(before.keys() - after.keys())),
            changed=tuple(changed),
            hosts_added=tuple(sorted(set(new.hosts) - set(old.hosts))),
            riskier=tuple(riskier),
            sha256=new.header["sha256"],
        )

    def update(
        self, access: Access, name: str, content: bytes, source: str, shown: str
    ) -> InstalledService:
        """Replaces the record by the one whose difference was shown. Roles and risks hold where nothing changed."""
        access.require(Role.admin)
        new = Record(content)
        if new.header["sha256"] != shown:
            raise Conflict(
                "The description is not the one that was shown. Look at the changes again."
            )
        if source != PACKAGE:
            self._require_no_secrets(access, content)
        blob = self._blobs.put([content])
        with self._database.write(access.scope) as tx:
            found = _existing(tx, name)
            tx.execute(
                sa.update(tables.services)
                .where(_SERVICES.name == name)
                .values(
                    version=new.header["version"],
                    licence=new.header["licence"],
                    source=source,
                    sha256=shown,
                    record_digest=blob.digest,
                    operations=len(new),
                    updated_at=self._clock.now(),
                    revision=found.revision + 1,
                    tried_at=None,
                )
            )
            self._tell(tx, "updated", access, name)
            return _existing(tx, name)

    def remove(self, access: Access, name: str) -> None:
        """Nothing can call it from now on; connections to it stay and say so."""
        access.require(Role.admin)
        with self._database.write(access.scope) as tx:
            _existing(tx, name)
            tx.execute(sa.delete(tables.services).where(_SERVICES.name == name))
            tx.execute(sa.delete(tables.operations).where(_OPERATIONS.service == name))
            self._tell(tx, "removed", access, name)

    def was_answered(
        self, scope: Scope, service: str, operation: Operation, value: Any, author: str
    ) -> None:
        """Somebody called an operation, and it answered so: what such an answer looks like is kept."""
        now = self._clock.now()
        known = self.choice(scope, service, operation)
        shape = shape_of(value)
        with self._database.write(scope) as tx:
            tx.execute(
                sa.update(tables.services).where(_SERVICES.name == service).values(tried_at=now)
            )
            if known is None or known.answer != shape:
                self._write_choice(
                    tx, service, operation, {"answer": shape}, author, keeps_author=True
                )

    # ---- operations

    def choice(self, scope: Scope, service: str, operation: Operation) -> Choice | None:
        """What was decided, while the operation is the one it was decided for."""
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.operations).where(*_is(service, operation.name)))
        found = None if row is None else _choice(row)
        return found if found is not None and found.hash == operation.hash else None

    def offered(self, scope: Scope, service: str) -> list[Choice]:
        """Operations of a service that agents and the palette are shown."""
        with self._database.read(scope) as tx:
            rows = tx.rows(
                sa.select(tables.operations)
                .where(_OPERATIONS.service == service, _OPERATIONS.offered == 1)
                .order_by(_OPERATIONS.operation)
            )
        return [_choice(row) for row in rows]

    def offer(self, access: Access, service: str, name: str, *, offered: bool) -> Choice:
        return self._decided(access, service, name, "offered", offered=int(offered))

    def confirm_roles(
        self, access: Access, service: str, name: str, shown: str, roles: Mapping[str, str]
    ) -> Choice:
        return self._decided(
            access, service, name, "roles_confirmed", shown=shown, roles=dict(roles)
        )

    def set_risk(
        self, access: Access, service: str, name: str, risk: str | None, reason: str
    ) -> Choice:
        """Another risk class than the verb's; whoever lowers it says why."""
        if risk is not None and risk not in RISKS:
            raise Invalid(f"{risk[:20]!r} is not a risk class.")
        operation = self.operation(access.scope, service, name)
        usual = self.record(access.scope, service).risk(operation)
        lowers = risk is not None and RISKS.index(risk) < RISKS.index(usual)
        if lowers and len(reason.strip()) < 10:
            raise Invalid(
                "Say in at least ten characters why this operation is less risky than its verb; it is kept on record.",
                code="reason-needed",
            )
        return self._decided(
            access, service, name, "risk_set", risk=risk, risk_reason=reason.strip()[:400] or None
        )

    def _decided(
        self,
        access: Access,
        service: str,
        name: str,
        event: str,
        *,
        shown: str | None = None,
        **values: Any,
    ) -> Choice:
        access.require(Role.admin)
        operation = self.operation(access.scope, service, name)
        if shown is not None and shown != operation.hash:
            raise Conflict(f"{name!r} has changed since it was shown. Look at it again.")
        with self._database.write(access.scope) as tx:
            self._write_choice(tx, service, operation, values, access.user_id)
            data = {"name": service, "operation": name, "by": access.user_id}
            for word in ("risk", "risk_reason", "offered"):
                if word in values:
                    data[word] = values[word]
            self._events.append(tx, f"service.operation_{event}", service, data)
            row = tx.first(sa.select(tables.operations).where(*_is(service, name)))
        assert row is not None  # noqa: S101
        return _choice(row)

    def _write_choice(
        self,
        tx: Transaction,
        service: str,
        operation: Operation,
        values: Mapping[str, Any],
        author: str,
        *,
        keeps_author: bool = False,
    ) -> None:
        """With `keeps_author`, nobody decided anything: who did so before stays on record."""
        name, said = operation.name, {"changed_by": author, "changed_at": self._clock.now()}
        row = tx.first(sa.select(tables.operations).where(*_is(service, name)))
        if row is None:
            fresh = {"offered": 0, **values, **said, "hash": operation.hash}
            tx.execute(
                sa.insert(tables.operations).values(service=service, operation=name, **fresh)
            )
            return
        changed = {**values, **({} if keeps_author else said), "hash": operation.hash}
        if row.hash != operation.hash:
            # What was said of another description does not carry over.
            changed = {**dict.fromkeys(("roles", "risk", "risk_reason", "answer")), **changed}
        tx.execute(sa.update(tables.operations).where(*_is(service, name)).values(**changed))

    def _require_no_secrets(self, access: Access, content: bytes) -> None:
        """A description that somebody brings holds nothing that only the project knows."""
        text = gzip.decompress(content).decode()
        require_no_secrets(self._database.conceal, access.scope, text)

    def _install(self, access: Access, name: str, content: bytes, source: str) -> InstalledService:
        record = Record(content)
        header, now = record.header, self._clock.now()
        blob = self._blobs.put([content])
        row = {
            "name": name,
            **{
                key: header[key]
                for key in ("title", "vendor", "adapter", "version", "licence", "sha256")
            },
            "source": source[:600],
            "record_digest": blob.digest,
            "operations": len(record),
            "installed_by": access.user_id,
            "installed_at": now,
            "updated_at": now,
            "revision": 1,
        }
        try:
            with self._database.write(access.scope) as tx:
                tx.execute(sa.insert(tables.services).values(**row))
                self._tell(tx, "installed", access, name)
                return _existing(tx, name)
        except IntegrityError:
            raise Conflict(f"{name!r} is installed already; update it instead.") from None

    def _record(self, digest: str) -> Record:
        found = self._records.get(digest)
        if found is None:
            found = Record(b"".join(self._blobs.read(digest)))
            self._records[digest] = found
            while len(self._records) > _REMEMBERED:
                self._records.popitem(last=False)
        return found

    def _tell(self, tx: Transaction, what: str, access: Access, name: str) -> None:
        self._events.append(tx, f"service.{what}", name, {"name": name, "by": access.user_id})


def shape_of(value: Any, depth: int = _DEEPEST_SHAPE) -> dict[str, Any]:
    """A JSON Schema of an answer: its kinds and names, none of its values."""
    if isinstance(value, Mapping) and depth:
        names = [name for name in list(value)[:_WIDEST_SHAPE] if isinstance(name, str)]
        inner = {disarmed(name, 100): shape_of(value[name], depth - 1) for name in names}
        return {"type": "object", "properties": inner}
    if isinstance(value, list) and depth:
        return {"type": "array", **({"items": shape_of(value[0], depth - 1)} if value else {})}
    for kind, name in _KINDS:
        if isinstance(value, kind):
            return {"type": name}
    return {}


def _risk(record: Record, name: str) -> int:
    found = record.find(name)
    return RISKS.index(found.risk) if found is not None else 0


def _is(service: str, operation: str) -> tuple[Any, Any]:
    return _OPERATIONS.service == service, _OPERATIONS.operation == operation


def _existing(tx: Transaction, name: str) -> InstalledService:
    row = tx.first(sa.select(tables.services).where(_SERVICES.name == name))
    if row is None:
        raise NotFound(
            f"No service {name[:80]!r} is installed in this project. The catalogue shows what can be."
        )
    return _service(row)


def _service(row: sa.Row[Any]) -> InstalledService:
    names = InstalledService.__dataclass_fields__
    return InstalledService(**{name: getattr(row, name) for name in names})


def _choice(row: sa.Row[Any]) -> Choice:
    names = Choice.__dataclass_fields__
    return Choice(**{**{name: getattr(row, name) for name in names}, "offered": bool(row.offered)})
