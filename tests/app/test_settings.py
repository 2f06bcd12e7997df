"""Settings whose values are in files, and values that stop a process when it starts."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from vocboard.app.settings import Settings, UnsafeSettingsError
from vocboard.commands.main import main


def test_secrets_can_be_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text("a secret\n")
    (tmp_path / "url").write_text("redis://:password@redis:6379/0\n")
    monkeypatch.setenv("VOCBOARD_SECRET_KEY_FILE", str(tmp_path / "key"))
    monkeypatch.setenv("VOCBOARD_BROKER_URL_FILE", str(tmp_path / "url"))
    monkeypatch.setenv("VOCBOARD_BROKER_URL", "")  # as docker-compose.yml passes on what .env has not
    settings = Settings()
    assert settings.secret_key.get_secret_value() == "a secret"
    assert settings.broker == "redis://:password@redis:6379/0"

    monkeypatch.setenv("VOCBOARD_SECRET_KEY", "another")
    monkeypatch.setenv("VOCBOARD_MAIL_URL_FILE", str(tmp_path / "missing"))
    with pytest.raises(UnsafeSettingsError) as error:
        Settings()
    assert [wrong.partition(":")[0] for wrong in error.value.wrong] == [
        "VOCBOARD_SECRET_KEY and VOCBOARD_SECRET_KEY_FILE are both set",
        "VOCBOARD_MAIL_URL_FILE",
    ]
    assert "another" not in str(error.value)


@pytest.mark.parametrize(
    ("store", "former"),
    [("", "directory"), ("s3://bucket/files", "s3://bucket/files/"), ("s3://bucket/", "s3://bucket")],
)
def test_files_do_not_move_from_a_place_to_itself(store: str, former: str) -> None:
    """They would be removed from it."""
    with pytest.raises(ValidationError, match="the same place"):
        Settings(store=store, former_store=former)
    assert Settings(former_store="s3://bucket/files/").former_store == "s3://bucket/files"


@pytest.mark.parametrize("other", [{}, {"VOCBOARD_PUBLIC_URL": "https://voc.example", "VOCBOARD_LEASE": "a minute"}])
def test_all_that_production_lacks_is_said_at_once(
    other: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {
        "VOCBOARD_ENVIRONMENT": "production",
        "VOCBOARD_PROXY_SECRET": "0123456789abcdef" * 4,
        **other,
    }.items():
        monkeypatch.setenv(name, value)
    assert main(["serve"]) == 2
    lines = capsys.readouterr().err.splitlines()[1:-1]
    wrong = "VOCBOARD_LEASE: use" if other else "VOCBOARD_PUBLIC_URL is not an https"
    for line, what in zip(
        lines, (wrong, "VOCBOARD_SECRET_KEY", "VOCBOARD_DATABASE_URL", "VOCBOARD_BROKER_URL"), strict=True
    ):
        assert what in line


@pytest.mark.parametrize("given", ["https://voc.example/", "https://VOC.example:443", "HTTPS://voc.example:443/"])
def test_the_public_address_begins_links_and_is_what_browsers_say(given: str) -> None:
    assert Settings(public_url=given).public_url == "https://voc.example"
    assert Settings(public_url="http://[::1]:8000/voc/").public_url == "http://[::1]:8000/voc"


def test_a_server_does_not_start_with_terms_or_a_mail_server_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOCBOARD_DATA_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("VOCBOARD_TERMS_FILE", str(tmp_path / "missing.md"))
    assert main(["serve"]) != 0
    assert "VOCBOARD_TERMS_FILE: [Errno 2]" in capsys.readouterr().err
    monkeypatch.setenv("VOCBOARD_MAIL_URL", "http://user:secret@mail.example")
    assert main(["serve"]) != 0
    said = capsys.readouterr().err
    assert "VOCBOARD_MAIL_URL: use smtp://" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    "url", ["vocboard", "mysql://a:secret@h/x", "postgresql+psycopg2://a:secret@h/x", "postgresql://a:secret@h:port/x"]
)
def test_an_address_of_no_database_is_named(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOCBOARD_DATABASE_URL", url)
    for command in (["migrate"], ["worker"], ["admin", "list-users"]):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert "VOCBOARD_DATABASE_URL: use postgresql+psycopg://user:password@host/name" in said
        assert "secret" not in said


@pytest.mark.parametrize(
    "name",
    [
        *("VALIDATION_TIME_LIMIT", "EVALUATION_TIME_LIMIT", "SESSION_LIFETIME", "TOKEN_LIFETIME"),
        *("LEASE", "POLL_INTERVAL", "SWEEP_INTERVAL"),
    ],
)
def test_limits_lifetimes_and_intervals_of_no_time_are_refused(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(f"VOCBOARD_{name}", "PT0S")
    assert main(["admin", "doctor"]) == 2
    assert f"VOCBOARD_{name}: Input should be greater than" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("BROKER_URL", "http://:secret@h", "use redis://:password@host:port/0"),
        ("BROKER_URL", "redis://:secret#w@h:6379", "use redis://:password@host:port/0"),
        ("MAIL_URL", "smtps://user:secret#w@h", "use smtp://user:password@host:port"),
        ("STORE_ENDPOINT", "s3.lab.example", "use the URL of the store, https://..."),
        ("S3_ENDPOINT", "s3.lab.example", "use the URL of the store, https://..."),
        ("MAIL_URL", "smtps://user:1234#secret@h", "use smtp://user:password@host:port"),
        *(("METRICS_ADDRESS", value, "use host:port") for value in ("9100", "secret:", "0.0.0.0:99999")),
        *(
            ("PUBLIC_URL", value, "use the address of the site")
            for value in (
                *("", "voc.example", "https://", "https://voc.example:secret", "https://a:secret@voc.example"),
                *("https://https://voc.example", "https://b\xfccher.example"),
            )
        ),
        *(
            ("MAIL_FROM", value, "use one address")
            for value in ("secret", "a@b.example, c@d.example", "a@\xe4.example")
        ),
    ],
)
def test_an_address_that_cannot_be_used_is_named(
    name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(f"VOCBOARD_{name}", value)
    assert main(["admin", "doctor"]) == 2
    printed = capsys.readouterr().err
    assert f"VOCBOARD_{name}: {said}" in printed
    assert "secret" not in printed
