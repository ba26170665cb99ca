"""Connections in environment variables: databases, storage, Slack, and models."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from steward.connections.discovery.proposal import MODEL, Proposal, slug

_SERVERS = {
    "postgres": "postgresql",
    "postgresql": "postgresql",
    "mysql": "mysql",
    "mysql2": "mysql",
    "mariadb": "mysql",
}
# What MySQL's own programs call these.
_MYSQL_TLS = {
    "DISABLED": "disable",
    "PREFERRED": "prefer",
    "REQUIRED": "require",
    "VERIFY_CA": "verify-ca",
    "VERIFY_IDENTITY": "verify-full",
}
_TLS = ("disable", "prefer", "require", "verify-ca", "verify-full")


def find(variables: Mapping[str, str]) -> Iterator[Proposal]:
    if "DATABASE_URL" in variables:
        found = from_url(variables["DATABASE_URL"], "the variable DATABASE_URL")
        if found is not None:
            yield found
    yield from _libpq(variables)
    yield from _storage(variables)
    yield from _slack(variables)
    yield from _models(variables)


def from_url(url: str, found_in: str) -> Proposal | None:
    """A proposal for a database URL as many programs write it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    scheme = parts.scheme.partition("+")[0]
    if scheme in {"sqlite", "sqlite3", "duckdb"}:
        path = unquote(parts.path)
        # Three slashes are followed by a relative path, four by one from the root.
        path = path[1:] if path.startswith("//") else path
        if scheme.startswith("sqlite") and not url.partition(":")[2].startswith("////"):
            return None
        return Proposal(
            "database_file", slug(path.rpartition("/")[2], "file"), found_in, {"path": path}
        )
    kind = _SERVERS.get(scheme)
    if kind is None or not parts.hostname:
        return None
    settings: dict[str, Any] = {
        "host": parts.hostname,
        "database": unquote(parts.path.strip("/")),
        "user": unquote(parts.username or ""),
    }
    if port:
        settings["port"] = port
    asked = parse_qs(parts.query)
    tls = next(
        (asked[name][0] for name in ("sslmode", "ssl-mode", "ssl_mode") if name in asked), ""
    )
    tls = _MYSQL_TLS.get(tls.upper(), tls)
    if tls in _TLS:
        settings["tls"] = tls
    return server(kind, settings, unquote(parts.password or ""), found_in)


def server(kind: str, settings: Mapping[str, Any], password: str, found_in: str) -> Proposal:
    known = {name: value for name, value in settings.items() if value != ""}
    return Proposal(
        kind,
        slug(str(known.get("database", known.get("host", ""))), "database"),
        found_in,
        known,
        {"password": password} if password else {},
        tuple(name for name in ("host", "database") if name not in known),
    )


def _libpq(variables: Mapping[str, str]) -> Iterator[Proposal]:
    if not variables.keys() & {"PGHOST", "PGHOSTADDR", "PGDATABASE"}:
        return
    settings: dict[str, Any] = {
        "host": variables.get("PGHOST") or variables.get("PGHOSTADDR", ""),
        "database": variables.get("PGDATABASE", variables.get("PGUSER", "")),
        "user": variables.get("PGUSER", ""),
    }
    if variables.get("PGPORT", "").isdigit():
        settings["port"] = int(variables["PGPORT"])
    if variables.get("PGSSLMODE") in _TLS:
        settings["tls"] = variables["PGSSLMODE"]
    yield server(
        "postgresql",
        settings,
        variables.get("PGPASSWORD", ""),
        "the variables PGHOST, PGDATABASE …",
    )


def _storage(variables: Mapping[str, str]) -> Iterator[Proposal]:
    names = {
        "access_key_id": "AWS_ACCESS_KEY_ID",
        "secret_access_key": "AWS_SECRET_ACCESS_KEY",
        "session_token": "AWS_SESSION_TOKEN",
    }
    values = {field: variables[name] for field, name in names.items() if name in variables}
    if not {"access_key_id", "secret_access_key"} <= values.keys():
        return
    settings: dict[str, Any] = {}
    region = variables.get("AWS_REGION") or variables.get("AWS_DEFAULT_REGION")
    endpoint = variables.get("AWS_ENDPOINT_URL_S3") or variables.get("AWS_ENDPOINT_URL")
    bucket = variables.get("AWS_BUCKET") or variables.get("S3_BUCKET")
    given = {"bucket": bucket, "region": region, "endpoint": endpoint}
    settings = {name: value for name, value in given.items() if value}
    yield Proposal(
        "s3",
        slug(bucket or "storage", "bucket"),
        "the variables AWS_ACCESS_KEY_ID …",
        settings,
        values,
        () if bucket else ("bucket",),
    )


def _slack(variables: Mapping[str, str]) -> Iterator[Proposal]:
    channel = variables.get("SLACK_CHANNEL", "")
    if "SLACK_WEBHOOK_URL" in variables:
        yield Proposal(
            "slack_webhook",
            "slack_webhook",
            "the variable SLACK_WEBHOOK_URL",
            {"channel": channel} if channel else {},
            {"url": variables["SLACK_WEBHOOK_URL"]},
        )
    token = next((n for n in ("SLACK_BOT_TOKEN", "SLACK_TOKEN") if n in variables), None)
    if token is not None:
        yield Proposal(
            "slack",
            "slack",
            f"the variable {token}",
            {"channels": [channel]} if channel else {},
            {"token": variables[token]},
        )


def _models(variables: Mapping[str, str]) -> Iterator[Proposal]:
    if "OPENAI_BASE_URL" in variables and "OPENAI_API_KEY" not in variables:
        # A server of one's own often asks for no key.
        base_url = {"base_url": variables["OPENAI_BASE_URL"]}
        yield model("compatible", "the variable OPENAI_BASE_URL", base_url, "")
    for variable, provider in (("OPENAI_API_KEY", "openai"), ("ANTHROPIC_API_KEY", "anthropic")):
        if variable in variables:
            base = variables.get("OPENAI_BASE_URL") if provider == "openai" else None
            yield model(
                "compatible" if base else provider,
                f"the variable {variable}",
                {"api_key_variable": variable} | ({"base_url": base} if base else {}),
                "",
            )


def model(provider: str, found_in: str, settings: Mapping[str, str], name: str) -> Proposal:
    """Models are set in the settings; the proposal says which."""
    prefix = "STEWARD_MODELS__DEFAULT__"
    lines = [f"{prefix}PROVIDER={provider}", f"{prefix}NAME={name or '<name of a model>'}"]
    lines += [f"{prefix}{key.upper()}={value}" for key, value in settings.items()]
    return Proposal(
        MODEL,
        slug(provider, "model"),
        found_in,
        {"provider": provider, **settings},
        note="Models are chosen in the settings. Set "
        + ", ".join(lines)
        + " and start Steward again.",
    )
