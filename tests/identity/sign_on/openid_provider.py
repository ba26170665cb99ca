"""The npm package oidc-provider as a process of its own: a certified provider to sign in with."""

import json
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "web" / "node_modules" / "oidc-provider"
NODE = Path(sysconfig.get_path("scripts")) / "node"
SECRET = "s3cret-of-steward"


@dataclass(frozen=True)
class OpenIdProvider:
    issuer: str
    _process: "subprocess.Popen[str]"

    def tell(self, **said: Any) -> None:
        """Sends one line and waits until it was taken up."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(said) + "\n")
        self._process.stdin.flush()
        # It prints notices of its own as well.
        assert "done" in (line.strip() for line in self._process.stdout), "the provider has ended"

    def register(self, redirect_uris: Sequence[str], **more: Any) -> None:
        client = {
            "client_id": "steward",
            "client_secret": SECRET,
            "redirect_uris": list(redirect_uris),
            "grant_types": ["authorization_code"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "client_secret_basic",
            **more,
        }
        self.tell(clients=[client])


@contextmanager
def running_provider() -> Iterator[OpenIdProvider]:
    program = [str(NODE), str(Path(__file__).with_suffix(".mjs")), str(LIBRARY)]
    with subprocess.Popen(
        program,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield OpenIdProvider(process.stdout.readline().strip(), process)
        finally:
            process.kill()
