"""What servers tell about their models besides the protocol: context and size, each in its own place."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from steward.core import Invalid, ModelChoice, read_json
from steward.models.providers import provider_of

if TYPE_CHECKING:
    import httpx2

_LIMIT_S: Final = 5.0
_MOST_BYTES: Final = 2 << 20
_CONTEXTS: Final = ("n_ctx", "max_model_len", "context_length", "context_window", "n_ctx_train")
_SIZES: Final = {"K": 1_000, "M": 1_000_000, "B": 1_000_000_000}


async def told_by(
    choice: ModelChoice,
    address: str | None,
    key: str | None,
    transport: "httpx2.AsyncBaseTransport | None" = None,
) -> dict[str, Any]:
    """`context` and `parameters`, as far as the server says; a server that says nothing is no problem."""
    if not provider_of(choice).tells_size or address is None:
        return {}
    base = address.rstrip("/")
    root = base.removesuffix("/v1")
    found: dict[str, Any] = {}
    async for document in _documents(base, root, choice.name, key, transport):
        for inner in _of_model(document, choice.name):
            found = {**_facts(inner), **found}
    return found


async def _documents(
    base: str,
    root: str,
    name: str,
    key: str | None,
    transport: "httpx2.AsyncBaseTransport | None",
) -> Any:
    import httpx2

    from steward.models.provided import trusted_certificates

    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(
        verify=trusted_certificates(),
        timeout=_LIMIT_S,
        headers=headers,
        follow_redirects=False,
        transport=transport,
    ) as client:
        for method, url, body in (
            ("GET", f"{root}/props", None),
            ("POST", f"{root}/api/show", {"model": name}),
            ("GET", f"{base}/models", None),
        ):
            try:
                answer = await client.request(method, url, json=body)
                if answer.status_code == 200 and len(answer.content) <= _MOST_BYTES:
                    yield read_json(answer.text)
            except (httpx2.HTTPError, Invalid, ValueError):
                continue


def _of_model(document: Any, name: str) -> Iterator[Mapping[str, Any]]:
    """The parts of a document that are about this model."""
    if not isinstance(document, Mapping):
        return
    listed = document.get("data")
    if isinstance(listed, list):
        for each in listed:
            if isinstance(each, Mapping) and (each.get("id") == name or len(listed) == 1):
                yield from _parts(each)
        return
    yield from _parts(document)


def _parts(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield document
    for inner in ("default_generation_settings", "meta", "model_info", "details"):
        if isinstance(document.get(inner), Mapping):
            yield document[inner]


def _facts(document: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in document.items():
        last = name.rpartition(".")[2]
        if last in _CONTEXTS and isinstance(value, int) and value > 0:
            found["context"] = min(value, found.get("context", value))
        elif last in {"n_params", "parameter_count"} and isinstance(value, int):
            found["parameters"] = value
        elif last == "parameter_size" and isinstance(value, str):
            size = re.fullmatch(r"([\d.]+)\s*([KMB])", value.strip().upper())
            if size:
                found["parameters"] = int(float(size[1]) * _SIZES[size[2]])
    return found
