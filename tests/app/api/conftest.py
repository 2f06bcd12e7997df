"""Clients of the REST API with tokens of an organiser and of a participant."""

from collections.abc import Iterator

import httpx
import pytest

from tests.support.factories import make_token, make_user
from tests.support.site import Site
from vocboard.app.accounts.models import Role


def _client(site: Site, role: Role) -> Iterator[httpx.Client]:
    with site.writing() as session:
        token = make_token(session, make_user(session, role=role))
    with site.client(token) as client:
        yield client


@pytest.fixture
def organiser(site: Site) -> Iterator[httpx.Client]:
    yield from _client(site, Role.ORGANISER)


@pytest.fixture
def participant(site: Site) -> Iterator[httpx.Client]:
    yield from _client(site, Role.PARTICIPANT)
