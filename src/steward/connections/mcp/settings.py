"""Where an MCP server is: an address, or a program that is started for each call."""

import hashlib
import json
import re
from typing import Final, Literal, Self
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field, model_validator

from steward.connections.connector import ConnectorSettings
from steward.connections.hosts import place_of
from steward.core import StewardError

# Whoever sets one of these decides what a program does, whichever program was accepted.
LOADING: Final = (
    r"(?i:(?:LD|DYLD|GIT|NPM_CONFIG|UV|PIP|JDK|_?JAVA)_.*|(?:PYTHON|PERL|RUBY).*"
    r"|PATH|HOME|SHELL|ENV|BASH_ENV|IFS|NODE_OPTIONS|NODE_PATH|CLASSPATH)"
)


def is_dangerous(variable: str) -> bool:
    """Whether an environment variable can change which code a program runs."""
    return re.fullmatch(LOADING, variable) is not None


class McpSettings(ConnectorSettings):
    transport: Literal["http", "stdio"] = Field(
        "http",
        title="Reached by",
        description="“http”: an address (Streamable HTTP). “stdio”: a program started on this machine.",
    )
    url: str | None = Field(
        None, max_length=1000, title="Address", description="Such as https://mcp.example.com/mcp."
    )
    headers: dict[str, str] = Field(
        {}, max_length=20, title="Headers", description="Further headers that are no secrets."
    )
    sign_in: Literal["none", "person", "client"] = Field(
        "none",
        title="Sign-in",
        description=(
            "“none”: a bearer token, or nothing. “person”: somebody signs in with the browser (OAuth). “client”: "
            "Steward signs in by itself, with a client id and secret (OAuth client credentials)."
        ),
    )
    client_id: str = Field(
        "",
        max_length=500,
        title="Client id",
        description="Only where Steward was registered by hand; otherwise it registers itself.",
    )
    issuer: str = Field(
        "",
        max_length=500,
        title="Issuer",
        description="Address of the authorization server that the client id belongs to.",
    )
    scopes: str = Field(
        "",
        max_length=500,
        title="Scopes",
        description="Rights to ask for, separated by spaces; empty: what the server names.",
    )
    client_authentication: Literal["basic", "post"] = Field(
        "basic", title="Client secret is sent", description="As a header, or in the form."
    )
    command: str | None = Field(
        None, max_length=500, title="Program", description="For “stdio”: what is started."
    )
    args: list[str] = Field([], max_length=50, title="Arguments of the program")
    env: dict[str, str] = Field(
        {}, max_length=50, title="Environment", description="Variables that are no secrets."
    )
    cwd: str | None = Field(None, max_length=1000, title="Folder the program starts in")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.transport == "http":
            if not self.url or self.command:
                raise ValueError("a server reached by http has an address and no program")
            try:
                place_of(self.url)
            except StewardError as problem:
                raise ValueError(problem.message) from None
            self._check_sign_in()
        elif not self.command or self.url:
            raise ValueError("a server reached by stdio has a program and no address")
        elif self.sign_in != "none":
            raise ValueError("only a server reached by http can be signed in to")
        if any(is_dangerous(name) for name in self.env):
            raise ValueError("a variable that changes how programs are loaded cannot be set")
        if any("\x00" in text for text in (self.command or "", *self.args, *self.env.values())):
            raise ValueError("a program's name and arguments hold no NUL")
        return self

    def _check_sign_in(self) -> None:
        if self.sign_in == "client" and not (self.client_id and self.issuer):
            raise ValueError("to sign in as a client, it needs a client id and the issuer")
        if self.issuer:
            try:
                place_of(self.issuer)
            except StewardError as problem:
                raise ValueError(f"the issuer: {problem.message}") from None
        if any(name.lower() == "authorization" for name in self.headers):
            raise ValueError(
                "the header Authorization is a secret: give it as header.Authorization"
            )

    @property
    def resource(self) -> str:
        """What tokens are for: exactly this server, written in one way."""
        parts = urlsplit(self.url or "")
        plain = parts._replace(
            scheme=parts.scheme.lower(), netloc=parts.netloc.lower(), fragment=""
        )
        return urlunsplit(plain)

    @property
    def place(self) -> str:
        """Where it leads, without arguments: they may hold what people should not see."""
        return self.url.partition("?")[0] if self.url else f"stdio:{self.command}"

    @property
    def program(self) -> tuple[str, ...] | None:
        """Exactly what would be started; whoever accepts it accepts all of this."""
        if self.transport != "stdio":
            return None
        folder = [f"cwd={self.cwd}"] if self.cwd else []
        variables = [f"{name}={value}" for name, value in sorted(self.env.items())]
        return (self.command or "", *self.args, *variables, *folder)


def program_hash(program: tuple[str, ...]) -> str:
    return hashlib.sha256(json.dumps(program).encode("utf-8", "replace")).hexdigest()
