"""Where secrets may live outside of Steward: variables of the environment, files, a Vault or OpenBao server, AWS, Google Cloud.

The settings name the sources. A secret of a project then says source and reference, and its value is read when it is used.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from steward.core import (
    CloudSource,
    EnvironmentSource,
    FilesSource,
    Invalid,
    Misconfigured,
    NotFound,
    SecretSourceSettings,
    Unavailable,
    VaultSource,
    secret_from_environment,
)
from steward.store.confine import Scope

LONGEST_VALUE: Final = 65_536
_SECONDS: Final = 5.0
_FIELD: Final = "#"
_NAME: Final = re.compile(r"[A-Za-z0-9_/+=.@-]+")
AskCloud = Callable[[CloudSource, str, str], str]
"""The text of a secret that a cloud keeps: source, credential and full name."""
Kind = Literal["environment", "files", "vault", "aws", "gcp"]
_RENEW_BEFORE: Final = 0.5
"""Of its time to live: then a token of Vault is renewed, or another one is fetched."""


class SecretSource(Protocol):
    def check(self, reference: str) -> None:
        """Invalid where a reference cannot name a secret here."""
        ...

    def read(self, scope: Scope, reference: str) -> str:
        """The value; errors name the reference and never the value."""
        ...


class _Environment:
    def __init__(self, settings: EnvironmentSource) -> None:
        self._prefix = settings.prefix

    def check(self, reference: str) -> None:
        if not reference.startswith(self._prefix) or reference == self._prefix:
            raise Invalid(f"Name a variable that begins with {self._prefix}.")

    def read(self, _scope: Scope, reference: str) -> str:
        found = secret_from_environment(reference)
        if found is None:
            raise NotFound(f"The variable {reference} is not set where Steward runs.")
        return found.get_secret_value()


class _Files:
    def __init__(self, settings: FilesSource) -> None:
        self._folder = settings.folder

    def check(self, reference: str) -> None:
        place = Path(reference)
        if place.is_absolute() or ".." in place.parts or not place.parts:
            raise Invalid("Name a file inside the folder, such as warehouse_password.")

    def read(self, _scope: Scope, reference: str) -> str:
        folder, place = self._folder.resolve(), (self._folder / reference).resolve()
        # Kubernetes mounts secrets as links inside their folder; a link that leads elsewhere is none of ours.
        if not place.is_relative_to(folder) or not place.is_file():
            raise NotFound(f"The folder of secrets has no file {reference}.")
        try:
            with place.open("rb") as file:
                found = file.read(LONGEST_VALUE + 1)
            return found.decode().removesuffix("\n").removesuffix("\r")
        except OSError as error:
            raise Unavailable(
                f"The file {reference} cannot be read ({error.strerror}); check who owns it."
            ) from None
        except UnicodeDecodeError:
            raise Invalid(f"The file {reference} is not text in UTF-8.") from None


class _Vault:
    """The key-value engine, version 2. One token for all, renewed before it ends and fetched anew where that fails."""

    def __init__(self, settings: VaultSource) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._client: Any = None
        self._renew_at = 0.0

    def check(self, reference: str) -> None:
        path, _, field = reference.partition(_FIELD)
        if not field or not path or any(part in ("", ".", "..") for part in path.split("/")):
            raise Invalid("Write the path and the field, such as databases/warehouse#password.")

    def read(self, scope: Scope, reference: str) -> str:
        import hvac.exceptions as told
        from requests import RequestException

        path, _, field = reference.partition(_FIELD)
        base = self._settings.path.format(organisation=scope.org_id, project=scope.project_id)
        where = f"{base.strip('/')}/{path}".lstrip("/")
        try:
            try:
                found = self._document(where)
            except told.Forbidden:
                # The token may have been revoked before its time.
                self._forget()
                found = self._document(where)
        except told.InvalidPath:
            raise NotFound(f"Vault has no secret {where}.") from None
        except (told.Forbidden, told.Unauthorized, told.InvalidRequest):
            raise Misconfigured(
                f"Vault does not let Steward read {where}. Check its login and its policies."
            ) from None
        except (told.VaultError, RequestException):
            raise Unavailable("Vault does not answer. Try again in a minute.") from None
        value = found["data"]["data"].get(field)
        if not isinstance(value, str) or not value:
            raise NotFound(f"The secret {where} in Vault has no text called {field}.")
        return value

    def _document(self, where: str) -> Any:
        kv = self._signed_in().secrets.kv.v2
        return kv.read_secret_version(
            path=where, mount_point=self._settings.mount, raise_on_deleted_version=True
        )

    def _forget(self) -> None:
        with self._lock:
            self._client = None

    def _signed_in(self) -> Any:
        with self._lock:
            if self._client is not None and time.monotonic() >= self._renew_at:
                self._renew()
            if self._client is None:
                self._client = self._login()
            return self._client

    def _renew(self) -> None:
        from hvac.exceptions import VaultError

        try:
            self._lasts(self._client.auth.token.renew_self())
        except VaultError:
            self._client = None

    def _login(self) -> Any:
        import hvac

        settings = self._settings
        client = hvac.Client(
            url=settings.address,
            # Otherwise the client would look for one in the environment and in home folders.
            token="",
            namespace=settings.namespace,
            timeout=_SECONDS,
            verify=str(settings.certificate) if settings.certificate else True,
        )
        match settings.login:
            case "token":
                client.token = _credential(settings)
                self._renew_at = float("inf")
            case "approle":
                role_id, secret_id = settings.role, _credential(settings)
                self._lasts(client.auth.approle.login(role_id=role_id, secret_id=secret_id))
            case "kubernetes":
                role, jwt = settings.role, _credential(settings)
                self._lasts(client.auth.kubernetes.login(role=role, jwt=jwt))
        return client

    def _lasts(self, answer: Mapping[str, Any]) -> None:
        seconds = answer["auth"]["lease_duration"]
        # Zero means for good.
        self._renew_at = time.monotonic() + seconds * _RENEW_BEFORE if seconds else float("inf")


class _Cloud:
    """A secret manager of a cloud: a name, and a field where the secret is a document."""

    def __init__(self, settings: CloudSource, ask: AskCloud) -> None:
        self._settings = settings
        self._ask = ask

    def check(self, reference: str) -> None:
        name, separator, field = reference.partition(_FIELD)
        parts = name.split("/")
        if (
            not _NAME.fullmatch(name)
            or {"", ".", ".."} & {*parts}
            or bool(separator) != bool(field)
        ):
            raise Invalid(
                "Write the name, and the field of a document, such as warehouse#password."
            )

    def read(self, scope: Scope, reference: str) -> str:
        name, _, field = reference.partition(_FIELD)
        base = self._settings.path.format(organisation=scope.org_id, project=scope.project_id)
        found = self._ask(self._settings, _credential(self._settings), f"{base}{name}")
        if not field:
            return found
        try:
            value = json.loads(found).get(field)
        except (ValueError, AttributeError, RecursionError):
            value = None
        if not isinstance(value, str):
            raise NotFound(f"The secret {base}{name} has no text called {field}.")
        return value


def _credential(settings: VaultSource | CloudSource) -> str:
    if settings.credential is not None:
        return settings.credential.get_secret_value()
    try:
        # Read at each login: Kubernetes replaces its tokens.
        return (settings.credential_file or Path()).read_text().strip()
    except (OSError, UnicodeDecodeError):
        raise Misconfigured(
            f"The file {settings.credential_file}, with which Steward signs in at the source of secrets, cannot be read."
        ) from None


def _no_cloud(*_: object) -> str:
    raise Misconfigured("Secrets of a cloud are read by a running installation only.")


class SecretSources:
    """The sources of the settings by name; each for all projects, or for those that are named."""

    def __init__(
        self, settings: Mapping[str, SecretSourceSettings], ask_cloud: AskCloud = _no_cloud
    ) -> None:
        self._settings = settings
        self._sources = {name: _source(each, ask_cloud) for name, each in settings.items()}

    def names(self, scope: Scope) -> dict[str, Kind]:
        """Kinds by name, of those that a project may use."""
        return {
            name: each.kind
            for name, each in self._settings.items()
            if not each.projects or scope.project_id in each.projects
        }

    def check(self, scope: Scope, source: str, reference: str) -> None:
        self._of(scope, source).check(reference)

    def read(self, scope: Scope, source: str, reference: str) -> str:
        found = self._of(scope, source)
        # Again at each use: the settings may have become narrower since the secret was set.
        found.check(reference)
        try:
            value = found.read(scope, reference)
        except ImportError:
            raise Misconfigured(
                "Reading secrets from Vault needs a package: pip install 'steward[vault]'"
            ) from None
        if not value or len(value) > LONGEST_VALUE:
            raise Invalid(
                f"The secret {reference} of {source} is empty or longer than {LONGEST_VALUE:,} characters."
            )
        return value

    def _of(self, scope: Scope, source: str) -> SecretSource:
        if source not in self.names(scope):
            raise NotFound(f"This project has no source of secrets called {source!r}.")
        return self._sources[source]


def _source(settings: SecretSourceSettings, ask_cloud: AskCloud) -> SecretSource:
    match settings:
        case EnvironmentSource():
            return _Environment(settings)
        case FilesSource():
            return _Files(settings)
        case VaultSource():
            return _Vault(settings)
        case _:
            return _Cloud(settings, ask_cloud)
