"""Programs that name themselves by an address, where a document says who they are (client ID metadata documents)."""

import json
from typing import Any, Final
from urllib.parse import urlsplit

from steward.core import Invalid
from steward.identity.client_grants import Client, checked_addresses
from steward.identity.sign_on.issuers import Outside
from steward.identity.users import MAX_NAME

_LONGEST: Final = 16 << 10
_LONGEST_ADDRESS: Final = 500


class ClientDocuments:
    def __init__(self, outside: Outside) -> None:
        self._outside = outside

    @staticmethod
    def is_address(client_id: str) -> bool:
        return client_id.startswith("https://")

    async def find(self, client_id: str) -> Client:
        """The program behind an address, as its document has it today; Invalid where the document does not fit."""
        _require_plain(client_id)
        answer = await self._outside.ask(
            "GET", client_id, headers={"Accept": "application/json"}, secret_headers={}
        )
        if answer.status != 200 or len(answer.body) > _LONGEST:
            raise _unfit(f"its document cannot be read (status {answer.status})")
        try:
            found = json.loads(answer.body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise _unfit("its document is not a JSON object")
        # Otherwise anybody could show the document of somebody else as their own.
        if found.get("client_id") != client_id:
            raise _unfit("its document names another client_id")
        if "client_secret" in found:
            raise _unfit("its document holds a secret")
        addresses = found.get("redirect_uris")
        if not isinstance(addresses, list) or not all(isinstance(each, str) for each in addresses):
            raise _unfit("its document names no redirect_uris")
        return Client(client_id, _name(found, client_id), checked_addresses(addresses))


def _require_plain(client_id: str) -> None:
    try:
        parts = urlsplit(client_id)
        plain = parts.hostname and not parts.username and not parts.fragment
    except ValueError:
        plain = None
    steps = parts.path.split("/") if plain else []
    if not plain or parts.path in {"", "/"} or {".", ".."} & set(steps):
        raise _unfit("its address is not that of a document")
    if len(client_id) > _LONGEST_ADDRESS:
        raise _unfit("its address is too long")


def _name(found: dict[str, Any], client_id: str) -> str:
    given = found.get("client_name")
    shown = given if isinstance(given, str) else ""
    plain = "".join(each for each in shown if each.isprintable()).strip()[:MAX_NAME]
    return plain or urlsplit(client_id).netloc[:MAX_NAME]


def _unfit(reason: str) -> Invalid:
    return Invalid(f"This program cannot be connected: {reason}.", code="invalid_client")
