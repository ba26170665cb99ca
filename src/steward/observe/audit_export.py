"""The event log of a project taken out: every line, and a signed seal that shows if one was changed or left out."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from steward.core import Clock, Event, Invalid
from steward.observe.audit_lines import AuditFormat, compact, line_of, seal_in, seal_line
from steward.runs import HeadLog
from steward.store import Database, EventLog, PublicKeys, Scope

_PAGE: Final = 500


@dataclass(frozen=True)
class SealCheck:
    """What a check of an exported file found."""

    is_intact: bool
    project: str
    events: int
    last: int
    head: str | None
    """Position and hash of the last signed head of a run, as `steward verify --kept` takes it."""
    reason: str = ""


class AuditExport:
    def __init__(self, database: Database, events: EventLog, heads: HeadLog, clock: Clock) -> None:
        self._database = database
        self._events = events
        self._heads = heads
        self._clock = clock

    def lines(
        self,
        scope: Scope,
        form: AuditFormat,
        *,
        by: str,
        after: int = 0,
        shows: Callable[[Event], bool] = lambda _: True,
    ) -> Iterator[str]:
        """Every event after a cursor until now, with a line break each, and the seal. The export is an event itself."""
        with self._database.write(scope) as tx:
            self._events.append(tx, "audit.exported", by, {"by": by, "format": form.value})
        until = self._events.latest(scope)
        return self.sealed(scope, form, self._until(scope, after, until, shows), after)

    def _until(
        self, scope: Scope, after: int, until: int, shows: Callable[[Event], bool]
    ) -> Iterator[Event]:
        while found := self._events.after(scope, after, _PAGE):
            for event in found:
                if (event.cursor or 0) > until:
                    return
                if shows(event):
                    yield event
            after = found[-1].cursor or until

    def sealed(
        self, scope: Scope, form: AuditFormat, events: Iterable[Event], after: int
    ) -> Iterator[str]:
        """Lines of events and the seal of them all."""
        hasher, count, last = hashlib.sha256(), 0, after
        for event in events:
            line = line_of(event, form) + "\n"
            hasher.update(line.encode())
            count, last = count + 1, event.cursor or last
            yield line
        with self._database.read(scope) as tx:
            head = self._heads.last(tx)
        seal = compact(
            {
                "version": 1,
                "project": scope.project_id,
                "format": form.value,
                "after": after,
                "last": last,
                "events": count,
                "sha256": hasher.hexdigest(),
                # Whoever keeps the file keeps the log of signed heads from being cut short, too.
                "head": f"{head.position}:{head.hash}" if head else None,
                "made_at": self._clock.now().isoformat(),
                "key": self._heads.fingerprint,
            }
        )
        yield seal_line(seal, self._heads.sign(_message(seal)), form) + "\n"


def check_seal(lines: Sequence[str], keys: PublicKeys) -> SealCheck:
    """Whether a file is what an installation with one of these keys exported; `lines` have no line breaks."""
    found = seal_in(lines[-1]) if lines else None
    if found is None:
        raise Invalid("The last line is no seal: the file was cut off, or is no export of Steward.")
    text, signature = found
    try:
        seal = json.loads(text)
        key, project, digest = str(seal["key"]), str(seal["project"]), str(seal["sha256"])
        events, last, head = int(seal["events"]), int(seal["last"]), seal["head"]
    except (ValueError, KeyError, TypeError):
        raise Invalid("The seal of this file cannot be read.") from None
    hasher = hashlib.sha256()
    for line in lines[:-1]:
        hasher.update(f"{line}\n".encode())
    reason = ""
    if not keys.signed(key, _message(text), signature):
        reason = "another key signed it, or the seal was changed"
    elif len(lines) - 1 != events:
        reason = f"it has {len(lines) - 1} events, and {events} were sealed"
    elif hasher.hexdigest() != digest:
        reason = "a line was changed, or lines changed places"
    return SealCheck(
        not reason, project, events, last, head if isinstance(head, str) else None, reason
    )


def _message(seal: str) -> bytes:
    # A head of a run can never be taken for a seal, nor the other way round.
    return b"steward audit seal\n" + seal.encode()
