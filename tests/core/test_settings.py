"""One settings tree: where values come from, how mistakes are named, and that secrets stay hidden."""

from pathlib import Path

import pytest

from steward.core import load_settings
from steward.core.errors import Misconfigured
from steward.core.settings import Settings, minimal_environment, settings_reference

SECRET = "hunter2-hunter2"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path))
    return tmp_path


def test_variables_reach_into_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEWARD_HTTP__PORT", "9000")
    monkeypatch.setenv("STEWARD_HTTP__TRUSTED_PROXIES", '["10.0.0.1"]')
    monkeypatch.setenv("STEWARD_DEMO", "false")
    monkeypatch.setenv("STEWARD_IDENTITY__SESSION_LIFETIME", "P2D")
    settings = load_settings()
    assert settings.http.port == 9000
    assert settings.http.trusted_proxies == ["10.0.0.1"]
    assert settings.http.host == "127.0.0.1"
    assert settings.demo is False
    assert settings.identity.session_lifetime.days == 2


def test_the_file_comes_after_variables_and_before_defaults(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "steward.toml").write_text(
        '[http]\nport = 9001\nhost = "::1"\n[log]\nlevel = "error"\n'
    )
    monkeypatch.setenv("STEWARD_HTTP__PORT", "9002")
    settings = load_settings()
    assert (settings.http.port, settings.http.host, settings.log.level) == (9002, "::1", "error")
    assert load_settings(http={"port": 9003}).http.port == 9003


def test_an_empty_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEWARD_DATABASE__URL", "")
    assert load_settings().database.url is None


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("STEWARD_HTTP__PROT", r"http\.prot: no such setting"),
        ("STEWARD_DATABASE_URL", "STEWARD_DATABASE__URL"),
        ("STEWARD_HOEM", "STEWARD_HOME"),
        ("STEWARD_HTP__PORT", "STEWARD_HTTP__PORT"),
        ("STEWARD_WHATEVER", "STEWARD_WHATEVER is not a setting"),
    ],
)
def test_an_unknown_variable_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, variable: str, said: str
) -> None:
    monkeypatch.setenv(variable, SECRET)
    with pytest.raises(Misconfigured, match=said) as caught:
        load_settings()
    assert SECRET not in str(caught.value)


def test_what_kubernetes_announces_is_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "STEWARD_PORT",
        "STEWARD_SERVICE_HOST",
        "STEWARD_SERVICE_PORT_HTTP",
        "STEWARD_PORT_8400_TCP_ADDR",
        "STEWARD_DATABASE_SERVICE_HOST",
    ):
        monkeypatch.setenv(name, "tcp://10.0.0.1:8400")
    load_settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[htpp]\nport = 1\n", "htpp: no such setting"),
        ("[http]\nprot = 1\n", r"http\.prot: no such setting"),
        ('home = "elsewhere"\n', "cannot set home"),
        ("[http\n", r"steward\.toml cannot be read"),
        ('[http]\nport = "many"\n', r"http\.port"),
    ],
)
def test_a_wrong_file_is_refused_by_name(home: Path, text: str, said: str) -> None:
    (home / "steward.toml").write_text(text)
    with pytest.raises(Misconfigured, match=said):
        load_settings()


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("STEWARD_HTTP__PORT", r"http\.port"),
        ("STEWARD_HTTP__TRUSTED_PROXIES", "JSON"),
        ("STEWARD_METRICS", "JSON"),
        ("STEWARD_LOG__LEVEL", r"log\.level"),
        ("STEWARD_IDENTITY__SESSION_LIFETIME", r"identity\.session_lifetime"),
    ],
)
def test_a_wrong_value_is_named_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, variable: str, said: str
) -> None:
    monkeypatch.setenv(variable, SECRET)
    with pytest.raises(Misconfigured, match=said) as caught:
        load_settings()
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_secrets_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEWARD_DATABASE__URL", f"postgresql://u:{SECRET}@h/d")
    monkeypatch.setenv("STEWARD_BLOBS__ACCESS_KEY_ID", SECRET)
    monkeypatch.setenv("STEWARD_BLOBS__SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("STEWARD_METRICS__TOKEN", SECRET)
    settings = load_settings()
    assert settings.metrics.token is not None
    assert settings.metrics.token.get_secret_value() == SECRET
    for shown in (
        repr(settings),
        str(settings),
        settings.model_dump_json(),
        f"{settings.database}",
    ):
        assert SECRET not in shown


def test_settings_cannot_be_changed() -> None:
    settings = load_settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.http.port = 1  # type: ignore[misc]


def test_the_reference_names_every_setting() -> None:
    page = settings_reference()
    for name, field in Settings.model_fields.items():
        inner = getattr(field.annotation, "model_fields", None)
        expected = [f"{name}__{key}" for key in inner] if inner else [name]
        for variable in expected:
            assert f"`STEWARD_{variable.upper()}`" in page
    assert "None |" not in page, "every setting has a description"


def test_a_child_process_inherits_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEWARD_METRICS__TOKEN", SECRET)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    inherited = minimal_environment()
    assert "PATH" in inherited
    assert SECRET not in inherited.values()


@pytest.mark.parametrize("variable", ["STEWARD_BLOBS__ENDPOINT", "STEWARD_TRACE__OTLP_ENDPOINT"])
def test_an_address_that_is_shown_holds_no_password(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, f"http://joe:{SECRET}@s3.example.com")
    with pytest.raises(Misconfigured, match="settings for keys") as caught:
        load_settings()
    assert SECRET not in caught.value.message
