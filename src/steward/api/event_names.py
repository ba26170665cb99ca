"""Who did what an event tells of, and what the things are called that it names by id."""

from collections.abc import Iterator, Sequence

from steward.api.visibility import Visibility
from steward.app import Steward, alert_view
from steward.core import Event, is_id
from steward.identity import Access
from steward.playbooks import subject_of
from steward.runs import Run

# Where the server itself writes the ids of people; other text may only look like one.
_PEOPLE = ("by", "user", "to", "owner")


class EventNames:
    """Names for one page of events, asked for once; of what is hidden from the caller there is none."""

    def __init__(
        self, steward: Steward, access: Access, seeing: Visibility, events: Sequence[Event]
    ) -> None:
        scope = access.scope
        self._runs = _runs(steward, access, seeing, events)
        wanted = {user for event in events for user in _people(event)}
        wanted |= {run.created_by for run in self._runs.values()}
        self._names = steward.identity.users.names(wanted)
        self._names |= {run_id: run.title for run_id, run in self._runs.items()}
        subjects = {event.subject for event in events}
        if any(is_id(subject, "pbk") for subject in subjects):
            titles = steward.playbooks.library.titles(scope, deleted=True)
            self._names |= {
                playbook: title
                for playbook, title in titles.items()
                if playbook in subjects and seeing.sight.shows(subject_of(playbook))
            }
        if any(is_id(subject, "rul") for subject in subjects):
            rules = steward.observations.alerts.rules(scope, alert_view(steward.playbooks, access))
            self._names |= {kept.id: kept.rule.name for kept in rules}
        # What things are called may have become a secret since.
        self._names = steward.database.conceal(scope, self._names)

    def who(self, event: Event) -> str | None:
        """The person who did it, or for whom the run acts that did it; None: Steward itself."""
        person = event.data.get("by") or event.data.get("user")
        run = self._runs.get(str(event.data.get("run", event.subject)))
        if person is None and run is not None:
            person = run.created_by
        return self._names.get(str(person))

    def names(self, event: Event) -> dict[str, str]:
        """By the ids that the event has."""
        mentioned = {event.subject, str(event.data.get("run")), *_people(event)}
        return {each: self._names[each] for each in sorted(mentioned) if each in self._names}


def _people(event: Event) -> Iterator[str]:
    allowed = event.data.get("allowed")
    shared = allowed.get("users", ()) if isinstance(allowed, dict) else ()
    for value in (event.subject, *(event.data.get(key) for key in _PEOPLE), *shared):
        if isinstance(value, str) and is_id(value, "usr"):
            yield value


def _runs(
    steward: Steward, access: Access, seeing: Visibility, events: Sequence[Event]
) -> dict[str, Run]:
    mentioned = {str(value) for event in events for value in (event.subject, event.data.get("run"))}
    wanted = [value for value in mentioned if is_id(value, "run") and seeing.run(value)]
    return steward.runs.records.these(access.scope, wanted) if wanted else {}
