"""Secrets that AWS Secrets Manager and Google Cloud Secret Manager keep, read by the ways that connections go.

botocore describes and signs requests to AWS; for Google, a service account gets tokens. Both go out through our HTTP.
"""

import asyncio
import base64
import binascii
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final

from steward.connections.catalogue.aws_calls import call_aws
from steward.connections.catalogue.credentials import Tokens, service_account_form
from steward.connections.http import Http, HttpLimits
from steward.core import AwsSource, Clock, CloudSource, Misconfigured, NotFound, Unavailable

_LIMITS: Final = HttpLimits(response_bytes=1 << 20, time=timedelta(seconds=5))
_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
# Of these AWS says 400, as of what is not allowed.
_GONE: Final = frozenset({"ResourceNotFoundException", "InvalidRequestException"})
_BUSY: Final = frozenset({"ThrottlingException", "InternalServiceError"})


class SecretManagers:
    def __init__(self, http: Http, clock: Clock) -> None:
        # The administrator names the addresses.
        self._http = http.inside()
        self._tokens = Tokens(self._http, clock)

    def read(self, source: CloudSource, credential: str, name: str) -> str:
        """The whole text of a secret; errors name it and never its value."""
        asked = self._aws if isinstance(source, AwsSource) else self._google
        with ThreadPoolExecutor(1) as apart:
            # The caller may be a coroutine itself.
            return apart.submit(asyncio.run, asked(source, credential, name)).result()

    async def _aws(self, source: Any, credential: str, name: str) -> str:
        keys = {"access_key_id": source.access_key_id, "secret_access_key": credential}
        status, answer, _ = await call_aws(
            self._http,
            "secretsmanager",
            "GetSecretValue",
            {"SecretId": name},
            region=source.region,
            secrets=keys,
            base_url=source.address or "",
            limits=_LIMITS,
        )
        if status < 400:
            return _text(answer.get("SecretString"), name)
        code = str(answer["error"].get("Code", ""))[:60]
        status = 404 if code in _GONE else 503 if code in _BUSY else status
        raise _refused("AWS Secrets Manager", name, status, code)

    async def _google(self, source: Any, credential: str, name: str) -> str:
        version = name if "/versions/" in name else f"{name}/versions/latest"
        address, form = service_account_form(credential, _SCOPE)
        key = ("secrets", sha256(credential.encode()).hexdigest())
        token = await self._tokens.token(key, address, form)
        answer = await self._http.request(
            "GET",
            f"{source.address}/v1/{version}:access",
            secret_headers={"Authorization": f"Bearer {token}"},
            follow=False,
            limits=_LIMITS,
        )
        if answer.status == 401:
            # It may have been revoked before its time.
            self._tokens.forget(key)
        if answer.status != 200:
            raise _refused("Google Cloud Secret Manager", name, answer.status, str(answer.status))
        try:
            found = base64.b64decode(json.loads(answer.body)["payload"]["data"], validate=True)
            return _text(found.decode(), name)
        except (ValueError, KeyError, TypeError, binascii.Error):
            raise NotFound(f"The secret {name} is not text in UTF-8.") from None


def _text(found: Any, name: str) -> str:
    if not isinstance(found, str):
        raise NotFound(f"The secret {name} holds no text.")
    return found


def _refused(manager: str, name: str, status: int, code: str) -> Exception:
    if status == 404:
        return NotFound(f"{manager} has no secret {name}.")
    if status == 429 or status >= 500:
        return Unavailable(f"{manager} does not answer ({code}). Try again in a minute.")
    return Misconfigured(
        f"{manager} does not let Steward read {name} ({code}). Check the credential of the source and what it allows."
    )
