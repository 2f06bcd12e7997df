"""What only a production set-up does: one name, TLS, and secrets kept out of logs."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.site import Site, serving
from vocboard.app.settings import Environment, Settings
from vocboard.app.web import access_log

HOST = "board.example"
PROXY_SECRET = "zyxwvutsrqponmlkjihgfedcba987654"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    settings = Settings(
        environment=Environment.PRODUCTION,
        secret_key="0123456789abcdefghijklmnopqrstuvwxyz",  # type: ignore[arg-type]  # as the environment gives it
        proxy_secret=PROXY_SECRET,  # type: ignore[arg-type]
        public_url=f"https://{HOST}",
        data_directory=tmp_path,
        database_url="postgresql+psycopg://nobody:nothing@127.0.0.1:1/none",  # pages without data need none
        broker_url="redis://127.0.0.1:1/0",
    )
    with serving(settings) as running:
        yield running


@pytest.mark.parametrize(
    ("host", "status"),
    [(HOST, 200), (f"{HOST}:8443", 200), ("localhost", 200), ("elsewhere.example", 400), (f"{HOST}.evil.example", 400)],
)
def test_pages_answer_to_their_own_name_alone(site: Site, host: str, status: int) -> None:
    with site.client() as client:
        response = client.get("/sign-in", headers={"Host": host})
    assert response.status_code == status
    assert response.headers["strict-transport-security"]


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:8000", 200), ("192.0.2.7:8000", 200), ("[::1]:8000", 200), ("rebinding.example:8000", 400), ("", 400)],
)
def test_the_embedded_set_up_answers_to_addresses_but_to_no_other_name(
    embedded_site: Site, host: str, status: int
) -> None:
    with embedded_site.client() as client:
        response = client.get("/sign-in", headers={"Host": host})
    assert response.status_code == status
    assert status == 200 or "VOCBOARD_PUBLIC_URL" in response.text


@pytest.mark.parametrize("host", [HOST, "localhost", "127.0.0.1:8000", "10.1.2.3:8000", "[fd00::7]:8000", "web"])
def test_health_checks_answer_to_any_name_and_address(site: Site, host: str) -> None:
    with site.client() as client:
        assert client.get("/healthz", headers={"Host": host}).json() == {"status": "ok"}
        assert client.get("/readyz", headers={"Host": host}).json() == {
            "status": "failing",
            "database": "failing",
            "archives": "failing",  # without the database, it is not known whether to make them
            "disk": "failing",
            "ground_truth": "unknown",
            "mail": "unknown",
            "workers": "unknown",
        }


def test_secret_addresses_are_not_logged(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with site.client() as client:
        client.get("/anonymous/a-secret?competition=comp4", headers={"Host": HOST})
        client.get("/reset-password?token=another-secret", headers={"Host": HOST})
    logged = [record.getMessage() for record in caplog.records if record.name == access_log.__name__]
    assert len(logged) == 2
    assert "/anonymous/…?competition=comp4" in logged[0]
    assert "secret" not in " ".join(logged)
