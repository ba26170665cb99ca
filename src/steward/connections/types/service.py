"""Services of the catalogue: any API that describes itself, once its description is installed."""

from steward.connections.catalogue.grpc_calls import check_grpc
from steward.connections.catalogue.settings import ServiceSettings
from steward.connections.client_certificate import ClientCertificate
from steward.connections.connector import Secrets, Surroundings, add_connector
from steward.connections.hosts import grpc_place, is_grpc, place_of
from steward.core import Misconfigured


async def check(around: Surroundings, settings: ServiceSettings, secrets: Secrets) -> str:
    """Whether the service's address answers at all; its first call shows whether it accepts the credentials."""
    url = settings.base_url
    if not url:
        return f"{settings.service} is set up. Call an operation once to see whether it answers."
    if is_grpc(url):
        await check_grpc(around.http, url, ClientCertificate.of(secrets))
        return f"A gRPC server answers at {grpc_place(url).text}."
    answer = await around.http.request("GET", url, certificate=ClientCertificate.of(secrets))
    if answer.status >= 500:
        raise Misconfigured(f"{place_of(url).text} answered {answer.status}.")
    return f"{place_of(url).text} answered {answer.status}."


add_connector(
    kind="service",
    title="Service of the catalogue",
    description="A service that describes itself. Install it from the catalogue first.",
    use="service",
    settings=ServiceSettings,
    check=check,
    place=lambda settings: settings.base_url or settings.service,
    extra_secrets=r"[a-z][A-Za-z0-9_.-]{0,60}",
)
