"""Where events come in through Steward's own doors: each sends one and gives the name under which its run is known."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2 as httpx

from tests.cli.terminal import until

PLAYBOOK = """\
format: 1
id: counted
name: Counted
budget: {usd: 1}
inputs: {type: object, properties: {n: {type: string}}, required: [n]}
graph:
  nodes:
    - {id: result, type: output, value: "${inputs.n}"}
triggers:
  - TRIGGER
"""


_ROWS = 30_000
"""Of the dataset that is changed, a row for each event."""
_CONFLICT = 409


@dataclass
class Door:
    send: Callable[[httpx.Client, str], str]
    """Sends an event; it is acknowledged when this returns the name that its run has."""
    knows_ids: bool = False
    """Whether an event that is sent again is known by its id."""


def deploy(client: httpx.Client, place: str, trigger: str, name_in: str) -> dict[str, str]:
    """A playbook that a trigger starts with the name in an event; the trigger's addresses."""
    inputs = f', inputs: {{n: "${{{name_in}}}"}}}}'
    _deploy(client, place, PLAYBOOK.replace("TRIGGER", trigger.removesuffix("}") + inputs))
    [shown] = client.get(f"{place}/triggers").json()["items"]
    return {**(shown["addresses"] or {}), "form": shown["form_link"] or ""}


def _deploy(client: httpx.Client, place: str, yaml: str) -> str:
    made = _sent(client, f"{place}/playbooks", {"yaml": yaml})
    _sent(client, f"{place}/playbooks/{made['id']}/deploy", {})
    return str(made["id"])


def _sent(client: httpx.Client, path: str, body: object, **headers: str) -> dict[str, Any]:
    answer = client.post(path, json=body, headers=headers)
    assert answer.status_code in {200, 201, 202}, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _token(client: httpx.Client, place: str) -> str:
    body = {"name": "sender", "role": "editor", "expires_in_days": 30}
    return f"Bearer {_sent(client, f'{place}/tokens', body)['token']}"


def _webhook(client: httpx.Client, place: str) -> Door:
    trigger = "{type: webhook, signature: none}"
    path = deploy(client, place, trigger, "event.data.n")["stable"].rpartition("/api/v1")[2]

    def send(sender: httpx.Client, name: str) -> str:
        _sent(sender, path, {"n": name}, **{"webhook-id": name})
        return name

    return Door(send, knows_ids=True)


def _form(client: httpx.Client, place: str) -> Door:
    trigger = (
        "{type: form, heading: Orders, fields: {type: object, properties: {n: {type: string}}}}"
    )
    token = deploy(client, place, trigger, "event.data.n")["form"].rpartition("token=")[2]

    def send(sender: httpx.Client, name: str) -> str:
        _sent(sender, "/forms/answers", {"token": token, "values": {"n": name}})
        return name

    return Door(send)


def _chat_message(client: httpx.Client, place: str) -> Door:
    token = _token(client, place)
    deploy(client, place, "{type: chat_message, contains: event-}", "event.data.text")

    def send(sender: httpx.Client, name: str) -> str:
        message = f"SQL: SELECT '{name}'"
        _sent(sender, f"{place}/chat", {"message": message}, Authorization=token)
        return message

    return Door(send)


def _run_ended(client: httpx.Client, place: str) -> Door:
    token = _token(client, place)
    first = PLAYBOOK.replace("ounted", "alled").partition("triggers:")[0]
    path = f"{place}/playbooks/{_deploy(client, place, first)}/runs"
    deploy(client, place, "{type: run_ended, playbook: called}", "event.data.output")

    def send(sender: httpx.Client, name: str) -> str:
        _sent(sender, path, {"inputs": {"n": name}}, Authorization=token)
        return name

    return Door(send)


def _dataset_changed(client: httpx.Client, place: str) -> Door:
    token = _token(client, place)
    upload = _sent(client, f"{place}/uploads", {"name": "orders.csv"})
    where = f"{place}/uploads/{upload['id']}"
    rows = "".join(f"event-{number},{number}\n" for number in range(_ROWS))
    client.patch(where, content=f"name,n\n{rows}", headers={"Upload-Offset": "0"})
    _sent(client, f"{where}/ingest", {"dataset": "orders"})
    loaded = lambda: client.get(f"{place}/datasets/orders").status_code == 200  # noqa: E731
    until(loaded, what="the dataset")
    deploy(client, place, "{type: dataset_changed, dataset: orders}", "event.data.commit")

    turn = threading.Lock()

    def attempt(sender: httpx.Client, change: object) -> httpx.Response:
        return sender.post(f"{place}/changes", json=change, headers={"Authorization": token})

    def send(sender: httpx.Client, name: str) -> str:
        change = {
            "operation": "replace_values",
            "datasets": ["orders"],
            "arguments": {"column": "name", "replacements": {name: f"changed by {name}"}},
        }
        # Two changes of one dataset at once: one of them is refused. A change that got no answer goes on after the kill.
        with turn:
            answer = attempt(sender, change)
            while answer.status_code == _CONFLICT:
                answer = attempt(sender, change)
        assert answer.is_success, answer.text
        return str(answer.json()["commit"]["id"])

    return Door(send)


DOORS: dict[str, Callable[[httpx.Client, str], Door]] = {
    "webhook": _webhook,
    "form": _form,
    "chat_message": _chat_message,
    "run_ended": _run_ended,
    "dataset_changed": _dataset_changed,
}
