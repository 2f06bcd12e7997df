import pytest

from vocboard.client.address import can_be_overheard, is_loopback, normalised
from vocboard.client.errors import MisuseError


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
