"""A local Ollama: asked on this machine only, and not for long."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from steward.connections.discovery.environment import model
from steward.connections.discovery.proposal import Proposal
from steward.connections.hosts import place_of
from steward.connections.http import Http, HttpLimits
from steward.core import StewardError, read_json

_LOOPBACK: Final = ("127.0.0.1", "::1")
_LIMITS: Final = HttpLimits(response_bytes=1 << 20, time=timedelta(seconds=1), redirects=0)


async def find(variables: Mapping[str, str], http: Http | None = None) -> list[Proposal]:
    address = base(variables.get("OLLAMA_HOST", ""))
    if address is None:
        return []
    asking = http or Http(allow_private=_LOOPBACK)
    try:
        answer = await asking.request("GET", f"{address}/api/tags", limits=_LIMITS)
        said = read_json(answer.body) if answer.status == 200 else None
    except StewardError:
        return []
    models = said.get("models") if isinstance(said, dict) else None
    if not isinstance(models, list):
        return []
    names = [str(each["name"]) for each in models if isinstance(each, dict) and each.get("name")]
    found_in = f"Ollama at {address}" + (f" ({len(names)} models)" if names else "")
    return [model("ollama", found_in, {"base_url": f"{address}/v1"}, names[0] if names else "")]


def base(setting: str) -> str | None:
    """The address to ask, if it is on this machine; other machines are not asked unbidden."""
    text = setting.strip() or "127.0.0.1:11434"
    url = text if "://" in text else f"http://{text}"
    try:
        place = place_of(url.rstrip("/"))
    except StewardError:
        return None
    host = {"localhost": "127.0.0.1", "0.0.0.0": "127.0.0.1"}.get(place.host, place.host)  # noqa: S104
    if host not in _LOOPBACK:
        return None
    # As Ollama reads it: a whole address has its scheme's port, a bare host Ollama's own.
    port = place.port if "://" in text else urlsplit(url).port or 11434
    shown = f"[{host}]" if ":" in host else host
    return f"{place.scheme}://{shown}:{port}"
