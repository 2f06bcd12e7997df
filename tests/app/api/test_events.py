"""What following submissions may cost the server."""

import contextlib
import time

from app.api.events import MOST_STREAMS
from tests.support.backstage import Backstage
from tests.support.factories import make_token
from tests.support.site import Site

SECONDS_TO_NOTICE = 30


def test_one_person_cannot_open_streams_without_end(embedded_site: Site) -> None:
    backstage = Backstage(embedded_site.settings, embedded_site.database, embedded_site.application.state.store)
    user, other = backstage.user(), backstage.user()
    challenge = backstage.challenge()
    addresses = {one.id: f"/api/v1/submissions/{backstage.submit(one, challenge)}/events" for one in (user, other)}
    with embedded_site.writing() as session:
        tokens = {one.id: make_token(session, one) for one in (user, other)}
    with embedded_site.client(tokens[user.id]) as client:
        with contextlib.ExitStack() as streams:
            for _ in range(MOST_STREAMS):
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
