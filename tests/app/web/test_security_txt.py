"""`/.well-known/security.txt`, as RFC 9116 has it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.support.site import Site, serving
from vocboard.app.database import now
from vocboard.app.settings import Settings
from vocboard.app.web.security_txt import PATH


def fields(settings: Settings) -> dict[str, str]:
    with serving(settings) as site, site.client() as client:
        response = client.get(PATH)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    return dict(line.split(": ", 1) for line in response.text.splitlines())


def test_names_the_operators_contact_and_date(sqlite_url: str, tmp_path: Path) -> None:
    settings = Settings(
        data_directory=tmp_path,
        database_url=sqlite_url,
        security_contact="mailto:security@lab.example",
        security_expires=datetime(2027, 3, 1, 12, tzinfo=UTC),
        public_url="https://vocboard.lab.example/",
    )
    assert fields(settings) == {
        "Contact": "mailto:security@lab.example",
        "Expires": "2027-03-01T12:00:00Z",
        "Preferred-Languages": "en",
        "Canonical": "https://vocboard.lab.example/.well-known/security.txt",
    }


def test_without_a_date_it_stays_valid_for_months(sqlite_url: str, tmp_path: Path) -> None:
    contact = "https://lab.example/security"
    found = fields(Settings(data_directory=tmp_path, database_url=sqlite_url, security_contact=contact))
    assert timedelta(days=90) < datetime.fromisoformat(found["Expires"]) - now() < timedelta(days=366)


def test_without_a_contact_there_is_none(embedded_site: Site) -> None:
    with embedded_site.client() as client:
        assert client.get(PATH).status_code == 404


@pytest.mark.parametrize("contact", ["security@lab.example", "javascript:alert(1)", "mailto:a@b.example\nExpires: x"])
def test_a_contact_is_an_address_that_can_be_followed(contact: str) -> None:
    with pytest.raises(ValidationError, match="security_contact"):
        Settings(security_contact=contact)
