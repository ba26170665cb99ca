"""Notes what a sign-in refused in the middle of a call, which the SDK's transport would tell as a mere failure."""

from collections.abc import AsyncGenerator

import httpx2
from mcp.client.auth import OAuthFlowError

from steward.connections.mcp.oauth import ClientProvider, PersonProvider, SignInNeeded
from steward.core import StewardError


def watched(provider: PersonProvider | ClientProvider, refused: list[StewardError]) -> httpx2.Auth:
    """The provider, with what it refuses noted: a transport would tell only that something failed."""
    return _Watched(provider, refused)


class _Watched(httpx2.Auth):
    requires_response_body = True

    def __init__(
        self, provider: PersonProvider | ClientProvider, refused: list[StewardError]
    ) -> None:
        self._provider = provider
        self._refused = refused

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = self._provider.async_auth_flow(request)
        try:
            outgoing = await flow.__anext__()
            while True:
                response = yield outgoing
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        except StewardError as problem:
            self._refused.append(problem)
            raise
        except OAuthFlowError:
            failed = SignInNeeded(
                "Signing in with the client id and secret failed: the authorization server of the connection does "
                "not accept them, or is not the issuer that the settings name."
            )
            self._refused.append(failed)
            raise failed from None
        finally:
            await flow.aclose()
