"""Every route that writes data, under policies that forbid it: what binds an agent binds whoever clicks.

A route that is added must be in the table, or be named as one that writes no data or starts a run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.testclient import TestClient

from steward.broker.presets import preset
from steward.broker.tool import Notebook
from steward.core.errors import Bug
from steward.flows.launch import Start
from steward.identity import Access, Role
from steward.projects import Values
from steward.runs import Status
from steward.testing import Installation
from steward.tools.load_from_server import server_name
from steward.versions import calls_only, on_ticket
from tests.api.routes import METHODS, openapi_document

WRITES_NOTHING = frozenset(
    {
        "post /datasets/{dataset}/charts",
        # Gives permission to look, by a call of its own.
        "post /datasets/{dataset}/reveal",
        "post /agents/check",
        "post /agents/{name}/try",
        "post /changes/preview",
        "post /code/plan",
        "post /definitions/preview",
        "post /uploads",
        "patch /uploads/{upload_id}",
        "delete /uploads/{upload_id}",
        "post /uploads/{upload_id}/inspect",
        "post /servers/inspect",
        "delete /links/{link_id}",
        "post /resolve/propose",
        "post /resolve/estimate",
    }
)
"""Previews, files that have arrived and that nothing has read yet, and the end of a link."""
STARTS_RUNS = frozenset(
    {
        "post /chat",
        "post /chat/ag-ui",
        "post /chat/stream",
        "post /threads/{thread_id}/turns/{run_id}/review",
        "post /threads/{thread_id}/turns/{run_id}/steps/{step_id}/apply",
        "post /recipes/{recipe_id}/preflight",
        "post /recipes/{recipe_id}/start",
        "post /playbooks/{playbook_id}/retries",
        "post /playbooks/{playbook_id}/runs",
        "post /playbooks/{playbook_id}/tests",
        "post /playbooks/{playbook_id}/tests/runs/{run_id}/continue",
        "post /runs",
        "post /runs/{run_id}/analysis",
        "post /runs/{run_id}/answers",
        "post /runs/{run_id}/cancel",
        "post /runs/{run_id}/fork",
        "post /runs/{run_id}/pause",
        "post /runs/{run_id}/redo",
        "post /runs/{run_id}/replay",
        "post /runs/{run_id}/resume",
        "post /runs/{run_id}/take-back",
        "post /runs/{run_id}/undo",
        "post /runs/{run_id}/weighings",
        "post /approvals/{approval_id}/decision",
        "post /approvals/{approval_id}/delegate",
        "post /schedules/{schedule_id}/missed",
        "post /triggers/{trigger_id}/decisions",
        "post /local-models/{name}/pull",
        "post /api/v1/forms/answers",
        "put /api/v1/links/{token}/{name}",
        "post /api/v1/hooks/{token}",
        "post /api/v1/hooks/{token}/test",
        "post /api/v1/hooks/{token}/versions/{number}",
    }
)
"""Whatever these change, a run changes it: each of its calls meets the broker, as the calls of an agent below."""
SETTINGS_OF = frozenset(
    {
        "directories",
        "programs",
        "alerts",
        "budgets",
        "catalogue",
        "chat",
        "connections",
        "evaluations",
        "invitations",
        "models",
        "notifications",
        "observe",
        "playbooks",
        "plugins",
        "policy",
        "projects",
        "secrets",
        "session",
        "sign-on",
        "skills",
        "tokens",
        "tools",
        "triggers",
    }
)
"""Parts of the API whose other routes change how a project works and no data; they are guarded by role."""
DENY = (
    '@id("no") @outcome("deny") permit (principal, action in Action::"write", resource);\n'
    '@id("no-files") @outcome("deny") permit (principal, action == Action::"export_dataset", resource);\n'
)
SERVER_URL = "postgresql://reader@db.example.com/warehouse"
SERVER = server_name(SERVER_URL)
LOOK = '@id("look") @outcome("allow") permit (principal, action, resource);\n'


@dataclass(frozen=True)
class Write:
    """One way to change data: the route, and the tool behind it, as an agent would call it."""

    route: str
    body: Callable[["Scene"], Any]
    tool: str
    arguments: Callable[["Scene"], dict[str, Any]]
    path: Callable[["Scene"], dict[str, str]] = lambda _: {}
    reaches_out: bool = False
    """Whether it needs a server that is not there."""
    headers: Callable[["Scene"], dict[str, str]] = lambda _: {}
    hands_out: bool = False
    """Whether it makes a file to take along and leaves the data as it is."""


@dataclass
class Scene:
    """A project with a history, and everybody who might change it."""

    installation: Installation
    first: str
    upload: str
    rules: str

    @property
    def base(self) -> str:
        return f"/api/v1/projects/{self.installation.scope.project_id}"

    @property
    def revision(self) -> int:
        return self.installation.steward.definitions.current(self.installation.scope).revision

    @property
    def agent_version(self) -> int:
        found = self.installation.steward.agents.current(self.installation.scope, "helper")
        return found.version if found is not None else 0

    @property
    def note(self) -> str:
        """A note of the agent; written where there is none."""
        notes, owner = self.installation.steward.agents.notes, self.installation.owner.access
        notebook = Notebook("helper", "", 5)
        kept, _ = notes.write(owner.scope, notebook, "x", author="", run_id="", call="")
        return kept.id

    def state(self) -> Any:
        """All that a write could change: branches, snapshots and where they point, definitions, agents."""
        access = self.installation.owner.access
        place = self.installation.steward.workbench.datasets.workspace(access.scope, access.user_id)
        return (
            sorted((branch.name, branch.head) for branch in place.branches()),
            sorted((tag.name, tag.commit) for tag in place.tags()),
            self.revision,
            self.agent_version,
            self.note,
        )


def _trim(_scene: Scene) -> dict[str, Any]:
    return {"operation": "trim", "datasets": ["people"], "arguments": {"columns": ["name"]}}


def _definition(path: str, body: dict[str, Any]) -> Write:
    """A change of definitions; each makes a revision of its own."""
    value = {"role": "dimension", "state": "confirmed"}
    changes = [{"entry": "/tables/people/columns/city", "value": value}]
    return Write(
        f"post /definitions/{path}",
        lambda _: body,
        "change_definitions",
        lambda _: {"changes": changes},
        headers=lambda scene: {"If-Match": f'"{scene.revision}"'},
    )


HELPER = {"name": "helper", "title": "Helper", "description": "Helps.", "instructions": "Help."}


def _agent(route: str, body: dict[str, Any] | None) -> Write:
    """A change of an agent; each makes a version of its own."""
    return Write(
        route,
        lambda _: body,
        "change_agent",
        lambda _: {"name": "helper", "document": HELPER},
        lambda _: {"name": "helper"},
        headers=lambda scene: {"If-Match": f'"{scene.agent_version}"'},
    )


def _notes(route: str) -> Write:
    return Write(
        route,
        lambda _: None,
        "delete_notes",
        lambda scene: {"agent": "helper", "notes": [scene.note]},
        lambda scene: {"name": "helper", "note_id": scene.note},
    )


def _second(_scene: Scene) -> dict[str, Any]:
    agent = "".join(f"{name}: {value}\n" for name, value in {**HELPER, "title": "Other"}.items())
    return {"files": {"steward.yaml": "format: 1\n", "agents/helper.yaml": agent}}


def _applied(scene: Scene) -> dict[str, Any]:
    access, code = scene.installation.owner.access, scene.installation.steward.project_code
    return code.plan(access, _second(scene)["files"], Values()).arguments()


WRITES = (
    Write("post /code/apply", _second, "apply_project", _applied),
    _notes("delete /agents/{name}/notes"),
    _notes("delete /agents/{name}/notes/{note_id}"),
    _agent("put /agents/{name}", {"document": HELPER}),
    _agent("post /agents/{name}/restore", {"version": 1}),
    _agent("delete /agents/{name}", None),
    _definition(
        "changes",
        {"changes": [{"entry": "/tables/people/columns/city", "value": {"role": "text"}}]},
    ),
    _definition("confirm", {"entries": ["/tables/people/columns/name"]}),
    _definition("reject", {"entries": ["/tables/people/columns/name"]}),
    _definition("restore", {"revision": 0}),
    _definition("import", {"text": "format: 1\nentries: {/tables/people: {row: person}}"}),
    Write(
        "post /changes",
        _trim,
        "clean",
        lambda _: {
            "dataset": "people",
            "operation": "trim",
            "arguments": {"columns": ["name"]},
        },
    ),
    Write("post /undo", lambda _: {}, "undo", lambda _: {}),
    Write("post /redo", lambda _: {}, "redo", lambda _: {}),
    Write(
        "post /take-back",
        lambda scene: {"commit": scene.first, "with_later": True},
        "take_back",
        lambda scene: {"commit": scene.first, "with_later": True},
    ),
    Write(
        "post /restore-data",
        lambda scene: {"commit": scene.first},
        "restore",
        lambda scene: {"to": scene.first},
    ),
    Write(
        "post /branches",
        lambda _: {"name": "new"},
        "snapshot",
        lambda _: {"kind": "branch", "name": "new"},
    ),
    Write(
        "delete /branches/{name}",
        lambda _: None,
        "delete_branch",
        lambda _: {"name": "main/side"},
        lambda _: {"name": "main/side"},
    ),
    Write(
        "post /merge",
        lambda _: {"source": "main/side"},
        "promote",
        lambda _: {"source": "main/side"},
    ),
    Write(
        "post /uploads/{upload_id}/ingest",
        lambda _: {"dataset": "loaded"},
        "ingest",
        lambda scene: {"dataset": "loaded", "upload": scene.upload},
        lambda scene: {"upload_id": scene.upload},
    ),
    Write(
        "post /servers/ingest",
        lambda _: {"dataset": "served", "secret": "warehouse", "options": {"table": "t"}},
        "load_from_server",
        lambda _: {"dataset": "served", "secret": "warehouse", "server": SERVER},
        reaches_out=True,
    ),
    Write(
        "post /resolve",
        lambda scene: {"datasets": ["people"], "rules": scene.rules, "target": "persons"},
        "resolve_entities",
        lambda scene: {"datasets": ["people"], "rules": scene.rules, "target": "persons"},
    ),
    Write(
        "post /blueprints/{blueprint}/sample",
        lambda _: None,
        "ingest",
        lambda scene: {"dataset": "unit_costs", "upload": scene.upload},
        lambda _: {"blueprint": "weekly-margin-cockpit"},
    ),
    Write(
        "post /datasets/{dataset}/exports",
        lambda _: {"format": "csv"},
        "export_dataset",
        lambda _: {"dataset": "people", "format": "csv"},
        lambda _: {"dataset": "people"},
        hands_out=True,
    ),
    Write(
        "post /links/downloads",
        lambda _: {"file": "originals/people.csv"},
        "share_file",
        lambda _: {"file": "originals/people.csv"},
        hands_out=True,
    ),
    Write(
        "post /links/uploads",
        lambda _: {"dataset": "sent", "max_bytes": 1000},
        "request_file",
        lambda _: {"dataset": "sent", "max_bytes": 1000},
        hands_out=True,
    ),
    Write(
        "post /reports",
        lambda _: {"title": "About people", "datasets": ["people"]},
        "report",
        lambda _: {"title": "About people", "datasets": ["people"]},
    ),
)


def _rules(installation: Installation) -> str:
    access = installation.owner.access
    resolving = installation.steward.workbench.resolving
    return str(resolving.propose(access.scope, access.user_id, ["people"])["rules"])


@pytest.fixture
def scene(installation: Installation) -> Scene:
    owner = installation.owner
    bringing = installation.steward.workbench.bringing
    access = owner.access
    csv = "name,city\n Ann ,Wien\n" + "".join(f"Person {n},Town {n % 3}\n" for n in range(20))
    bringing.load_text(access.scope, access.user_id, "people.csv", csv, "people")
    place = installation.steward.workbench.datasets.workspace(access.scope, access.user_id)
    first = place.branch("main").head
    place.create_branch("main/side")
    steward = installation.steward
    steward.secrets.set(access.scope, "warehouse", SERVER_URL, author=access.user_id)
    upload = steward.workbench.bringing.start(access.scope, "more.csv", None)
    steward.workbench.bringing.append(access.scope, upload.id, 0, [b"a\n1\n"])
    scene = Scene(installation, first, upload.id, _rules(installation))
    done = owner.client.post(f"{scene.base}/changes", json={**_trim(scene), "branch": "main/side"})
    assert done.status_code == 201, done.text
    for operation in ("trim", "case"):
        arguments = {"columns": ["city"], **({"style": "upper"} if operation == "case" else {})}
        body = {"operation": operation, "datasets": ["people"], "arguments": arguments}
        owner.client.post(f"{scene.base}/changes", json=body).raise_for_status()
    owner.client.post(f"{scene.base}/undo", json={}).raise_for_status()
    said = owner.client.post(
        f"{scene.base}/definitions/confirm",
        json={"entries": ["/tables/people"]},
        headers={"If-Match": '"0"'},
    )
    said.raise_for_status()
    kept = owner.client.put(
        f"{scene.base}/agents/helper", json={"document": HELPER}, headers={"If-Match": '"0"'}
    )
    kept.raise_for_status()
    return scene


def read_only(scene: Scene) -> None:
    _ruled(scene, preset("read-only"))


def denying(scene: Scene) -> None:
    _ruled(scene, LOOK + DENY)


def draft_only(scene: Scene) -> None:
    _ruled(scene, preset("draft-only"))


def safe_mode(scene: Scene) -> None:
    rulebook, access = (
        scene.installation.steward.governing.rulebook,
        scene.installation.owner.access,
    )
    rulebook.change_settings(access, rulebook.settings(access.scope).revision, safe_mode=True)


def _ruled(scene: Scene, text: str) -> None:
    rulebook, access = (
        scene.installation.steward.governing.rulebook,
        scene.installation.owner.access,
    )
    revision = rulebook.current(access.scope, "project").revision
    rulebook.save(access, "project", text, revision)


@pytest.mark.parametrize("rule", [read_only, denying, draft_only, safe_mode])
def test_no_one_writes_past_the_rules(scene: Scene, rule: Callable[[Scene], None]) -> None:
    editor = scene.installation.person(Role.editor)
    callers: dict[str, TestClient] = {
        "owner": scene.installation.owner.client,
        "editor": editor.client,
        "token": scene.installation.by_token(editor, Role.editor),
    }
    rule(scene)
    before = scene.state()
    for write in WRITES:
        for name, client in callers.items():
            wanted = "waits-for-approval" if rule is safe_mode else "denied"
            assert _called(scene, client, write) == wanted, (write.route, name)
        assert _by_agent(scene, editor.access, write) in {"failed", "waiting_for_approval"}
        assert scene.state() == before, f"{write.route} changed something"


def test_without_such_a_rule_each_of_them_writes(scene: Scene) -> None:
    """Or the test above would prove nothing."""
    client = scene.installation.owner.client
    for write in sorted(WRITES, key=lambda each: each.route.startswith("delete")):
        if write.reaches_out:
            continue
        before = scene.state()
        assert _called(scene, client, write) == "done", write.route
        assert (scene.state() != before) is not write.hands_out, write.route
        if write.route == "post /redo":
            client.post(f"{scene.base}/undo", json={})


def test_data_changes_by_calls_and_in_no_other_way(scene: Scene) -> None:
    """Whatever a route or command does in future: past the broker it changes nothing."""
    access = scene.installation.owner.access
    place = scene.installation.steward.workbench.datasets.workspace(access.scope, access.user_id)
    bringing = scene.installation.steward.workbench.bringing
    before = scene.state()
    writes: list[Callable[[], object]] = [
        lambda: bringing.load_text(access.scope, access.user_id, "a.csv", "a\n1\n", "a"),
        place.undo,
        place.redo,
        lambda: place.restore(scene.first),
        lambda: place.merge("main/side"),
        lambda: place.create_branch("other"),
        lambda: place.delete_branch("main/side"),
        lambda: place.protect_branch("main"),
        lambda: place.snapshot("kept"),
    ]
    for write in writes:
        with calls_only(), pytest.raises(Bug):
            write()
        # A call that only reads has no ticket.
        with on_ticket(None, "run_1"), pytest.raises(Bug):
            write()
    assert scene.state() == before


def test_the_table_lists_every_route_that_writes() -> None:
    found: dict[str, str] = {}
    for path, item in openapi_document()["paths"].items():
        for method in METHODS & item.keys():
            if method != "get":
                (part,) = item[method]["tags"]
                found[f"{method} {path.removeprefix('/api/v1/projects/{project_id}')}"] = part
    written = {write.route for write in WRITES}
    named = written | WRITES_NOTHING | STARTS_RUNS
    assert named <= found.keys()
    assert {route for route, part in found.items() if part not in SETTINGS_OF} <= named


def _called(scene: Scene, client: TestClient, write: Write) -> str:
    """What became of a request: done, or why not; long work is a run that a worker drives."""
    method, _, path = write.route.partition(" ")
    address = scene.base + path.format(**write.path(scene))
    answer = client.request(
        method.upper(), address, json=write.body(scene), headers=write.headers(scene)
    )
    if answer.status_code in {403, 409}:
        return str(answer.json()["code"])
    assert answer.is_success, (write.route, answer.text)
    if answer.status_code != 202:
        return "done"
    steward, scope = scene.installation.steward, scene.installation.scope
    steward.runs.drive_until_idle()
    run = steward.runs.get(scope, answer.json()["id"])
    if run.status is Status.waiting_for_approval:
        return "waits-for-approval"
    ended = steward.runs.outcome(scope, run.id)
    return str(ended["error"]["code"]) if run.status is Status.failed else run.status.value


def _by_agent(scene: Scene, access: Access, write: Write) -> str:
    """The same call out of a flow, which is what an agent's plan becomes."""
    steward = scene.installation.steward
    launcher = steward.governing.launcher
    document = launcher.single(write.tool, write.arguments(scene))
    run = launcher.start(access, Start(document))
    steward.runs.drive_until_idle()
    return steward.runs.get(access.scope, run.id).status.value
