"""What operators ask: is it alive, is it ready, how is it doing."""

import hmac

from fastapi import Request, Response
from pydantic import Field

from steward import __version__
from steward.api.context import steward_of
from steward.api.documents import Output
from steward.api.guards import AsAnyone
from steward.api.routing import Router
from steward.core import Denied, Unavailable
from steward.store import latest_revision, schema_revision

outside = Router(outside=True, tags=["health"])
router = Router(tags=["health"])
_LOOPBACK = frozenset({"127.0.0.1", "::1"})


class Health(Output):
    status: str


class About(Output):
    version: str
    api: str


class SigningKey(Output):
    algorithm: str
    fingerprints: list[str]
    pem: str = Field(description="The public key as PEM; `steward verify --key` takes it.")


@outside.get("/healthz")
def health() -> Health:
    """The process answers."""
    return Health(status="ok")


@outside.get("/readyz")
def readiness(request: Request) -> Health:
    """The database answers and has this version's schema."""
    current = schema_revision(steward_of(request).database)
    if current != latest_revision():
        raise Unavailable(f"The database schema is at {current}, not at {latest_revision()}.")
    return Health(status="ready")


@outside.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}, "description": "Prometheus exposition."}},
)
def metrics(request: Request) -> Response:
    """For this machine, or with the token of the settings."""
    steward = steward_of(request)
    expected = steward.settings.metrics.token
    sent = request.headers.get("authorization", "").removeprefix("Bearer ")
    # Behind a proxy everyone looks local.
    direct = steward.settings.http.public_url is None
    local = direct and request.client is not None and request.client.host in _LOOPBACK
    if expected is not None:
        if not hmac.compare_digest(sent.encode(), expected.get_secret_value().encode()):
            raise Denied("Metrics need the bearer token of STEWARD_METRICS__TOKEN.")
    elif not local:
        raise Denied("Metrics are for this machine only; set STEWARD_METRICS__TOKEN to open them.")
    return Response(
        steward.metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8"
    )


@router.get("/about", dependencies=[AsAnyone])
def about(_request: Request) -> About:
    """Which version this is."""
    return About(version=__version__, api="v1")


@router.get("/signing-key", dependencies=[AsAnyone])
def signing_key(request: Request) -> SigningKey:
    """The public key with which this installation's signatures can be checked anywhere."""
    keys = steward_of(request).runs.heads.keys
    fingerprints = list(keys.fingerprints)
    return SigningKey(algorithm="Ed25519", fingerprints=fingerprints, pem=keys.to_pem())
