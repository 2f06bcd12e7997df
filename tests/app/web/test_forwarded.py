"""Whom a request comes from is what the proxy says last, and only what the proxy says."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.support.browsing import send_form
from tests.support.site import Site, serving
from vocboard.app import rate_limits
from vocboard.app.rate_limits import Attempt
from vocboard.app.settings import Settings

SECRET = "the secret of the proxy alone, 0123456789"


@pytest.fixture
def site(sqlite_url: str, tmp_path: Path) -> Iterator[Site]:
    settings = Settings.model_validate(
        {"data_directory": tmp_path / "data", "database_url": sqlite_url, "proxy_secret": SECRET}
    )
    with serving(settings) as running:
        yield running


def counted_as(site: Site, headers: list[tuple[str, str]]) -> str:
    """Ask for a new password with these headers; return what the attempt counts for."""
    with site.client() as client:
        client.headers.update([("X-Vocboard-Proxy", SECRET)])
        for name, value in headers:
            client.headers[name] = value
        assert send_form(client, "/forgotten-password", email="nobody@lab.example").status_code == 303
    action = rate_limits.REGISTRATION_FROM_ADDRESS.action
    with site.database.reading() as session:
        [subject] = session.scalars(select(Attempt.subject).where(Attempt.action == action))
        return subject


def test_the_proxys_address_of_the_client_counts(site: Site) -> None:
    assert counted_as(site, [("X-Forwarded-For", "203.0.113.7")]) == "203.0.113.7"


def test_what_the_client_has_put_before_it_does_not_count(site: Site) -> None:
    assert counted_as(site, [("X-Forwarded-For", "198.51.100.1, 203.0.113.7")]) == "203.0.113.7"


@pytest.mark.parametrize("secret", ["", "guessed", SECRET[:-1], SECRET + "0"])
def test_nobody_else_is_believed(site: Site, secret: str) -> None:
    headers = [("X-Vocboard-Proxy", secret), ("X-Forwarded-For", "198.51.100.1")]
    assert counted_as(site, headers) == "127.0.0.1"


def test_addresses_of_one_ipv6_network_count_together(site: Site) -> None:
    assert counted_as(site, [("X-Forwarded-For", "2001:db8:1:2:aaaa::1")]) == "2001:db8:1:2::/64"
