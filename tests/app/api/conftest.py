"""Clients of the REST API with tokens of an organiser and of a participant."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.factories import make_token, make_user
from tests.support.site import Site
from tests.support.working import working
from vocboard.app.accounts.models import Role
from vocboard.app.settings import Settings


def _client(site: Site, role: Role) -> Iterator[httpx.Client]:
    with site.writing() as session:
        token = make_token(session, make_user(session, role=role))
    with site.client(token) as client:
        yield client


@pytest.fixture
def worker(settings: Settings, site: Site, tmp_path: Path) -> Iterator[None]:
    """Run a worker process beside the site."""
    log = tmp_path / "worker.log"
    with working(settings, log):
        yield
    print(log.read_text()[-5000:])  # pytest shows it when the test fails


@pytest.fixture
def organiser(site: Site) -> Iterator[httpx.Client]:
    yield from _client(site, Role.ORGANISER)


@pytest.fixture
def participant(site: Site) -> Iterator[httpx.Client]:
    yield from _client(site, Role.PARTICIPANT)
