"""Stored tokens, and the addresses of the servers that they are for."""

import os
import stat
import sys
from pathlib import Path

import pytest

from vocboard.client import credentials
from vocboard.client.address import can_be_overheard, is_loopback, normalised
from vocboard.client.credentials import Credentials
from vocboard.client.errors import ClientError, MisuseError

SECRET = "vocb_" + "s3cret" * 5


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "not" / "yet" / "there" / "servers.json"


def test_gives_back_the_tokens_of_several_servers(file: Path) -> None:
    stored = Credentials().with_server("https://a.example", SECRET).with_server("https://b.example", "vocb_other")

    credentials.save(stored, file)

    assert credentials.load(file) == stored
    assert credentials.load(file).default == "https://b.example"


def test_nothing_is_stored_at_first(file: Path) -> None:
    assert credentials.load(file) == Credentials()


def test_forgetting_the_default_server_leaves_the_other_one_as_default() -> None:
    stored = Credentials().with_server("https://a.example", SECRET).with_server("https://b.example", SECRET)

    assert stored.without_server("https://b.example") == Credentials({"https://a.example": SECRET}, "https://a.example")
    assert stored.without_server("https://a.example").default == "https://b.example"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes")
def test_only_the_owner_can_read_the_file_whatever_the_umask_and_the_file_before(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    file.chmod(0o644)
    assert credentials.readable_by_others(file)
    before = os.umask(0)
    try:
        credentials.save(Credentials().with_server("https://a.example", SECRET), file)
    finally:
        os.umask(before)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not credentials.readable_by_others(file)


def test_a_failed_save_keeps_the_file_before_and_leaves_nothing_else(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Credentials().with_server("https://a.example", SECRET)
    credentials.save(before, file)

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(ClientError, match="No space left"):
        credentials.save(before.with_server("https://b.example", SECRET), file)

    assert credentials.load(file) == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("content", ["", "[]", f'"{SECRET}"', '{"servers": {"https://a.example": {}}}', "{\xff"])
def test_a_damaged_file_is_named_but_not_quoted(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(content, encoding="latin-1")

    with pytest.raises(ClientError, match="damaged; delete it") as caught:
        credentials.load(file)

    assert str(file) in str(caught.value)
    assert SECRET not in str(caught.value)


def test_no_token_shows_in_a_representation() -> None:
    assert SECRET not in repr(Credentials().with_server("https://a.example", SECRET))


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "/home/ann/.config/vocboard"),
        ("linux", {"XDG_CONFIG_HOME": "/elsewhere"}, "/elsewhere/vocboard"),
        ("linux", {"XDG_CONFIG_HOME": "relative/ones/are/ignored"}, "/home/ann/.config/vocboard"),
        ("darwin", {}, "/home/ann/Library/Application Support/vocboard"),
        ("win32", {"APPDATA": "/roaming"}, "/roaming/vocboard"),
    ],
)
def test_settings_are_where_the_platform_has_them(platform: str, environment: dict[str, str], expected: str) -> None:
    assert credentials.directory(platform, environment, Path("/home/ann")) == Path(expected)


def test_a_token_loses_the_line_end_it_was_copied_with() -> None:
    assert credentials.checked_token(f" {SECRET}\r\n") == SECRET


@pytest.mark.parametrize("text", ["", "  \n", "two words", "vocb_ü", "vocb_\x00", "vocb_a\nX-Header: b", "x" * 501])
def test_refuses_what_cannot_be_a_token_without_repeating_it(text: str) -> None:
    with pytest.raises(MisuseError) as caught:
        credentials.checked_token(text)
    assert not text.strip() or text.strip() not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("https://voc.example.org", "https://voc.example.org"),
        (" https://VOC.Example.org:443/ ", "https://voc.example.org"),
        ("voc.example.org", "https://voc.example.org"),
        ("voc.example.org:8443", "https://voc.example.org:8443"),
        ("https://voc.example.org/api/docs", "https://voc.example.org"),
        ("https://example.org/voc/api/v1/", "https://example.org/voc"),
        ("localhost:8000", "http://localhost:8000"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000/", "http://[::1]:8000"),
        ("http://voc.example.org:80", "http://voc.example.org"),
    ],
)
def test_one_server_has_one_address_however_it_is_written(given: str, stored: str) -> None:
    assert normalised(given) == stored


@pytest.mark.parametrize(
    "given",
    [
        "",
        "ftp://example.org",
        "https://",
        "https://a b",
        "https://host:port",
        "http://[::1",
        "https://a..b",
        "https://xn--",
    ],
)
def test_refuses_what_is_not_a_address(given: str) -> None:
    with pytest.raises(MisuseError, match="not a server address"):
        normalised(given)


def test_refuses_a_password_in_the_address_without_repeating_it() -> None:
    with pytest.raises(MisuseError, match="remove the user name and password") as caught:
        normalised("https://ann:hunter2@voc.example.org")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://127.8.9.1", True),
        ("http://[::1]", True),
        ("http://localhost:1", True),
        ("http://voc.localhost", True),
        ("http://localhost.example.org", False),
        ("http://127.0.0.1.example.org", False),
        ("http://192.168.1.2", False),
    ],
)
def test_distinguishes_this_machine_from_the_network(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback


def test_only_plain_http_over_a_network_can_be_overheard() -> None:
    assert can_be_overheard("http://voc.example.org")
    assert not can_be_overheard("https://voc.example.org")
    assert not can_be_overheard("http://127.0.0.1:8000")
