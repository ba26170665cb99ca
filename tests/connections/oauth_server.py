"""Real MCP servers behind OAuth, made of the SDK's server classes: `python oauth_server.py <settings file>`.

With `mode` "person" one is its own authorization server, with registration, PKCE, rotating refresh tokens and
revocation; with "client" its authorization server knows one client with a secret. What happened is written to a file.
"""

import asyncio
import base64
import json
import secrets
import socket
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response


class Office:
    """Registers anybody, agrees to everything, and writes down what it did."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told
        self._clients: dict[str, OAuthClientInformationFull] = {}
        self._codes: dict[str, AuthorizationCode] = {}
        self._tokens: dict[str, AccessToken] = {}
        self._refresh: dict[str, RefreshToken] = {}

    def note(self, **what: Any) -> None:
        with Path(self._told["log"]).open("a") as log:
            log.write(json.dumps(what) + "\n")

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self._clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.note(did="register", name=client_info.client_name)
        self._clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        code = secrets.token_urlsafe(24)
        self._codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or ["user"],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=True,
            resource=params.resource,
        )
        self.note(did="authorize", resource=params.resource, scopes=params.scopes)
        iss = self._told.get("iss")
        return construct_redirect_uri(
            str(params.redirect_uri), code=code, state=params.state, iss=iss
        )

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self._codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self._codes[authorization_code.code]
        return self.give(client.client_id, authorization_code.scopes, authorization_code.resource)

    def give(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = f"at-{secrets.token_hex(16)}", f"rt-{secrets.token_hex(16)}"
        self._tokens[access] = AccessToken(
            token=access, client_id=client_id, scopes=scopes, resource=resource
        )
        self._refresh[refresh] = RefreshToken(
            token=refresh, client_id=client_id, scopes=scopes, resource=resource
        )
        self.note(did="give", access=access, refresh=refresh, resource=resource)
        return OAuthToken(
            access_token=access,
            refresh_token=refresh,
            expires_in=self._told.get("seconds", 3600),
            scope=" ".join(scopes),
        )

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self._refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self._refresh[refresh_token.token]
        self.note(did="refresh")
        return self.give(client.client_id, scopes or refresh_token.scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self._tokens.get(token)

    async def exchange_identity_assertion(self, client: Any, params: Any) -> OAuthToken:
        raise NotImplementedError

    async def verify_token(self, token: str) -> AccessToken | None:
        return self._tokens.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self._refresh.pop(token.token, None)
        self._tokens.clear()


def person(told: dict[str, Any], office: Office, base: str) -> MCPServer:
    return MCPServer(
        "guarded",
        version="1",
        auth_server_provider=office,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(base),
            resource_server_url=AnyHttpUrl(f"{base}/mcp"),
            required_scopes=["user"],
            validate_token_resource=True,
            client_registration_options=ClientRegistrationOptions(
                enabled=told.get("registers", True), valid_scopes=["user"], default_scopes=["user"]
            ),
            revocation_options=RevocationOptions(enabled=True),
        ),
    )


def client(told: dict[str, Any], office: Office, base: str) -> MCPServer:
    server = MCPServer(
        "guarded",
        version="1",
        token_verifier=office,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(f"{base}/as"),
            resource_server_url=AnyHttpUrl(f"{base}/mcp"),
            required_scopes=["user"],
            validate_token_resource=True,
        ),
    )

    @server.custom_route("/.well-known/oauth-authorization-server/as", methods=["GET"])  # type: ignore[untyped-decorator]
    async def metadata(_request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": f"{base}/as",
                "authorization_endpoint": f"{base}/as/authorize",
                "token_endpoint": f"{base}/as/token",
                "code_challenge_methods_supported": ["S256"],
            }
        )

    @server.custom_route("/as/token", methods=["POST"])  # type: ignore[untyped-decorator]
    async def token(request: Request) -> Response:
        form = {key: value[0] for key, value in parse_qs((await request.body()).decode()).items()}
        given = request.headers.get("authorization", "").removeprefix("Basic ")
        expected = base64.b64encode(
            f"{told['client_id']}:{told['client_secret']}".encode()
        ).decode()
        office.note(did="token", grant=form.get("grant_type"))
        if given != expected or form.get("grant_type") != "client_credentials":
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        made = office.give(told["client_id"], ["user"], form.get("resource"))
        return JSONResponse(
            made.model_dump(mode="json", exclude={"refresh_token"}, exclude_none=True)
        )

    return server


def guarded(told: dict[str, Any], base: str) -> Any:
    office = Office(told)
    server = person(told, office, base) if told["mode"] == "person" else client(told, office, base)

    @server.tool()
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    inner = server.streamable_http_app()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope.get("path") == "/revoke":
            office.note(did="revoke")
        await inner(scope, receive, send)

    return app


async def serve(all_told: list[dict[str, Any]]) -> None:
    """All of them in one process: the SDK takes longer to load than any of them to do its work."""
    serving = []
    for told in all_told:
        listening = socket.socket(fileno=told["descriptor"])
        base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(guarded(told, base), log_level="error", ws="none")
        serving.append(uvicorn.Server(config).serve(sockets=[listening]))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.gather(*serving)


if __name__ == "__main__":
    asyncio.run(serve(json.loads(Path(sys.argv[1]).read_text())))
