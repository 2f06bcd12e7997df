"""What following submissions may cost the server."""

import contextlib
import time
from collections.abc import Iterator

import pytest

from tests.support.backend import Backend
from tests.support.factories import make_token, make_user
from tests.support.site import Site
from vocboard.app.accounts import administration
from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import Role
from vocboard.app.web.open_streams import MAX_STREAMS, OpenStreams

SECONDS_TO_NOTICE = 30


def test_one_person_cannot_open_streams_without_end(embedded_site: Site) -> None:
    backend = Backend(embedded_site.settings, embedded_site.database, embedded_site.application.state.services.store)
    user, other = backend.user(), backend.user()
    challenge = backend.challenge()
    addresses = {one.id: f"/api/v1/submissions/{backend.submit(one, challenge)}/events" for one in (user, other)}
    with embedded_site.writing() as session:
        tokens = {one.id: make_token(session, one) for one in (user, other)}
    with embedded_site.client(tokens[user.id]) as client:
        with contextlib.ExitStack() as streams:
            for _ in range(MAX_STREAMS):
                assert streams.enter_context(client.stream("GET", addresses[user.id])).status_code == 200
            refused = client.get(addresses[user.id])
            assert (refused.status_code, "retry-after" in refused.headers) == (429, True)
            with (
                embedded_site.client(tokens[other.id]) as others,
                others.stream("GET", addresses[other.id]) as stream,
            ):
                assert stream.status_code == 200
        deadline = time.monotonic() + SECONDS_TO_NOTICE
        while True:  # until the server has noticed that they are closed
            with client.stream("GET", addresses[user.id]) as stream:
                if stream.status_code == 200:
                    break
            assert time.monotonic() < deadline
            time.sleep(0.2)


@pytest.mark.parametrize(("number", "seconds"), [(1, 1.0), (50, 1.0), (140, 2.8), (10_000, 10.0)])
def test_many_streams_together_query_no_more_often_than_few(number: int, seconds: float) -> None:
    streams = OpenStreams()
    for person in range(number):
        streams.enter(f"visitor {person}")
    assert streams.interval.total_seconds() == pytest.approx(seconds)


@pytest.mark.parametrize("end", ["disable", "revoke"])
def test_a_stream_ends_with_what_it_was_asked_for_with(embedded_site: Site, end: str) -> None:
    backend = Backend(embedded_site.settings, embedded_site.database, embedded_site.application.state.services.store)
    user = backend.user()
    address = f"/api/v1/submissions/{backend.submit(user, backend.challenge())}/events"
    with embedded_site.writing() as session:
        token = make_token(session, user)
    with embedded_site.client(token) as client, client.stream("GET", address, timeout=SECONDS_TO_NOTICE) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: state"
        with embedded_site.writing() as session:
            if end == "disable":
                present = administration.get_user(session, user.email)
                administration.disable(session, user=present)
                administration.enable(session, user=present)  # does not bring back what has ended
            else:
                [row] = accounts.tokens_of(session, user)
                accounts.revoke_token(session, user=user, token_id=row.id)
        until_the_end(lines)  # although the submission still waits
    with embedded_site.client(token) as client:
        assert client.get(address).status_code == 401


def test_an_organisers_stream_ends_with_the_role(embedded_site: Site) -> None:
    backend = Backend(embedded_site.settings, embedded_site.database, embedded_site.application.state.services.store)
    user = backend.user()
    address = f"/api/v1/submissions/{backend.submit(user, backend.challenge())}/events"
    with embedded_site.writing() as session:
        administrator = make_user(session, role=Role.ADMINISTRATOR)
        token = make_token(session, administrator)
    with embedded_site.client(token) as client, client.stream("GET", address, timeout=SECONDS_TO_NOTICE) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: state"
        with embedded_site.writing() as session:
            present = administration.get_user(session, administrator.email)
            administration.set_role(session, user=present, role=Role.PARTICIPANT)
        until_the_end(lines)


def until_the_end(lines: Iterator[str]) -> None:
    """Read a stream, whose comments keep it alive, until the server ends it."""
    deadline = time.monotonic() + SECONDS_TO_NOTICE
    for line in lines:
        assert time.monotonic() < deadline, f"the stream goes on: {line}"
