"""`steward demo`: the clean-up of customer data from beginning to end, in a terminal, without a model."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from steward.app import Steward, prepare_first_start
from steward.broker import Waiting
from steward.cli.output import AsJson, command, installation, progress, say, show, table
from steward.cli.projects import ProjectOption, UserOption, enter
from steward.core import Conflict, Invalid, NotFound
from steward.identity import Access, Principal, Via
from steward.playbooks import Card
from steward.runs import Run, Status, calls_of
from steward.tools import with_threshold

BLUEPRINT: Final = "data-cleanup"
_PAIRS: Final = 3
_PAUSE: Final = 0.2


@command
def demo(
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve whatever is asked.")] = False,
    threshold: Annotated[
        float | None,
        typer.Option(help="Merge pairs from this probability on; unset: as proposed."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the files; unset: one in Steward's home.")
    ] = None,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Clean up the demo data: profile, propose rules, review, build on a branch, check, promote, report."""
    with installation() as steward:
        prepare_first_start(steward, progress, demo=True)
        access = enter(steward, user, project or _demo_project(steward, user))
        talk = Talk(steward, access, yes=yes, threshold=threshold, quiet=as_json)
        run = talk.through(_playbook(steward, access))
        folder = output or steward.settings.home / "demo" / run.id
        files = _written(steward, run, folder)
        document = _document(steward, access, run, folder, files)
    show(document, as_json=as_json, text=lambda: _ending(document))
    if run.status is not Status.done:
        raise typer.Exit(1)


def _demo_project(steward: Steward, user: str | None) -> str | None:
    """The demo project where there is one among several; otherwise the only project is meant."""
    owner = steward.identity.users.find(user) if user else steward.identity.users.first_owner()
    if owner is None:
        return None
    principal = Principal(owner.id, owner.email, owner.name, Via.session)
    found = [each.id for each in steward.identity.projects.page(principal) if each.is_demo]
    return found[0] if len(found) == 1 else None


def _playbook(steward: Steward, access: Access) -> Card:
    """The fork of an earlier demo if nobody changed it, or a new one."""
    playbooks = steward.playbooks
    template = playbooks.blueprints.get(BLUEPRINT).playbook
    try:
        card = playbooks.library.get(access, template.id)
    except NotFound:
        return playbooks.blueprints.fork(access, BLUEPRINT)
    known = playbooks.library.revision(access, card.id).playbook
    if (known.steps, known.inputs) == (template.steps, template.inputs):
        return card
    return playbooks.blueprints.fork(access, BLUEPRINT)


@dataclass
class Talk:
    """A run and the person at the terminal: steps are told as they end, and what waits is asked."""

    steward: Steward
    access: Access
    yes: bool
    threshold: float | None
    quiet: bool

    def through(self, card: Card) -> Run:
        blueprint = self.steward.playbooks.blueprints.get(BLUEPRINT)
        run = self.steward.playbooks.running.start(self.access, card.id, blueprint.sample.inputs)
        self._say(f"{card.title} ({run.id})")
        told: set[str] = set()
        while True:
            run = self._driven(run, told)
            if run.status.is_final:
                return run
            waiting = self._waiting(run)
            if waiting is None:
                # Something else drives it, such as a server on the same home.
                threading.Event().wait(_PAUSE)
                continue
            answer = self._decided(waiting)
            self.steward.governing.inbox.answer(self.access, run.id, waiting.key, answer)

    def _driven(self, run: Run, told: set[str]) -> Run:
        with _watching(self.steward, run, lambda: self._tell(run, told)):
            self.steward.runs.drive_until_idle()
        self._tell(run, told)
        return self.steward.runs.get(run.scope, run.id)

    def _tell(self, run: Run, told: set[str]) -> None:
        entries = self.steward.runs.journal.entries(run.scope, run.id)
        for call in calls_of(entries, self.steward.runs.payload):
            if call.ended_at is not None and call.tool and call.key not in told:
                told.add(call.key)
                self._say(f"  ✓ {call.summary or call.key}")

    def _waiting(self, run: Run) -> Waiting | None:
        found = self.steward.governing.inbox.waiting(self.access)
        return next((each for each in found if each.run_id == run.id), None)

    def _decided(self, waiting: Waiting) -> dict[str, Any]:
        request = waiting.request or {}
        if waiting.kind != "gate":
            raise Conflict(f"The demo did not expect to be asked this: {waiting.title}.")
        answer: dict[str, Any] = {"decision": "approve", "body_hash": request["body_hash"]}
        if request.get("view") == "entity-rules":
            rules = self._reviewed(request["shown"])
            if rules is None:
                return {**answer, "decision": "reject", "reason": "Not by these rules."}
            return {**answer, "payload": {"rules": rules}}
        self._say("")
        self._say(_checks(request.get("shown") or {}))
        self._say(_difference(request["payload"]))
        if self.yes or typer.confirm(request["message"], default=True, err=True):
            return answer
        return {**answer, "decision": "reject", "reason": "Not promoted."}

    def _reviewed(self, shown: dict[str, Any]) -> str | None:
        """The rules that the person approves; None when they refuse."""
        rules = str(shown["rules"])
        self._say("")
        self._say(_estimate(shown))
        self._say(_pairs(shown))
        if self.threshold is not None:
            rules, shown = self._weighed(rules, shown["datasets"], self.threshold)
        while not self.yes:
            said = typer.prompt(
                "Enter approves these rules; a number is another threshold; n refuses",
                default="",
                show_default=False,
                err=True,
            ).strip()
            if said == "":
                break
            if said.lower() in {"n", "no"}:
                return None
            try:
                rules, shown = self._weighed(rules, shown["datasets"], float(said))
            except (ValueError, Invalid):
                self._say("A threshold is a number from 0.05 to below 1, as in 0.95.")
        return rules

    def _weighed(
        self, rules: str, datasets: list[str], threshold: float
    ) -> tuple[str, dict[str, Any]]:
        changed = with_threshold(rules, threshold)
        bench = self.steward.workbench
        found = bench.resolving.estimate(self.access.scope, self.access.user_id, changed, datasets)
        shown = {**found, "datasets": datasets}
        self._say(f"With a threshold of {threshold:g}:")
        self._say(_estimate(shown))
        return changed, shown

    def _say(self, text: str) -> None:
        if not self.quiet:
            say(text)


@contextmanager
def _watching(steward: Steward, run: Run, tell: Callable[[], None]) -> Iterator[None]:
    """Tells of the run beside whatever drives it, whenever something has happened."""
    happened, over = threading.Event(), threading.Event()

    def watch() -> None:
        while not over.is_set():
            happened.wait()
            happened.clear()
            if not over.is_set():
                tell()

    teller = threading.Thread(target=watch, daemon=True)
    with steward.runs.listening(run.id, happened.set):
        teller.start()
        try:
            yield
        finally:
            over.set()
            happened.set()
            teller.join()


def _estimate(shown: dict[str, Any]) -> str:
    counts = shown["estimate"]
    return (
        f"  {counts['rows']:,} rows would be {counts['entities']:,} customers: "
        f"{counts['matches']:,} pairs match, {counts['borderline']:,} are in doubt."
    )


def _pairs(shown: dict[str, Any]) -> str:
    """The pairs nearest to the threshold, side by side."""
    lines: list[str] = []
    for pair in shown["borderline"][:_PAIRS]:
        verdict = "would be merged" if pair["merged"] else "would stay apart"
        lines.append(f"\n  {pair['probability']:.0%} likely the same, {verdict}")
        rows = [
            (f"  {each['field']}", each["left"], each["right"])
            for each in pair["evidence"]
            if each["weight"] != 0
        ]
        names = [f"{pair[side]['table']} {pair[side]['row']}" for side in ("left", "right")]
        lines.append(table(["  Field", *names], rows, empty=""))
    return "\n".join(lines) + "\n"


def _checks(shown: dict[str, Any]) -> str:
    rows = [
        (f"  {each['check']}", f"{each['expected']:,}", f"{each['found']:,}")
        for each in shown.get("checks", ())
    ]
    return table(["  Check", "Expected", "Found"], rows, empty="") + "\n"


def _difference(payload: dict[str, Any]) -> str:
    return "\n".join(
        f"  {each['role']}: {each['name']}"
        + (f", {each['added']:,} rows" if "added" in each else "")
        for each in payload["entries"]
    )


def _written(steward: Steward, run: Run, folder: Path) -> list[Path]:
    """The run's files, from where they are kept into a folder."""
    calls = calls_of(steward.runs.journal.entries(run.scope, run.id), steward.runs.payload)
    made: list[Path] = []
    for artifact in (each for call in calls for each in call.artifacts):
        path = folder / artifact["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.writelines(steward.blobs.read(artifact["digest"]))
        made.append(path)
    return made


def _document(
    steward: Steward, access: Access, run: Run, folder: Path, files: list[Path]
) -> dict[str, Any]:
    ended = steward.runs.outcome(access.scope, run.id) or {}
    return {
        "run": run.id,
        "status": run.status.value,
        "reason": run.reason,
        "output": ended.get("output"),
        "budget": steward.governing.budgets.status(run).to_json(),
        "folder": str(folder),
        "files": [str(path.relative_to(folder)) for path in files],
    }


def _ending(document: dict[str, Any]) -> str:
    if document["status"] != Status.done.value:
        return f"\nThe run ended as {document['status']}: {document['reason']}"
    found = document["output"]
    return "\n".join(
        [
            "",
            f"{found['rows']:,} rows are {found['customers']:,} customers, promoted as {found['promotion']}.",
            f"Used {_used(document['budget'])} of its budget.",
            f"Files in {document['folder']}:",
            *(f"  {name}" for name in document["files"]),
            "",
            f"Look again:  steward runs replay {document['run']}",
            f"Take back:   steward undo {document['run']}",
        ]
    )


def _used(budget: dict[str, Any]) -> str:
    seconds, usd = budget["seconds"], budget["usd"]
    spent = f"{float(seconds['spent']):.0f} of {float(seconds['limit']):.0f} seconds"
    return f"{spent} and ${usd['spent']} of ${usd['limit']}"
