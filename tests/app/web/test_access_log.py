"""The log says of each request when, by whom, and why an upload was refused."""

import logging

import pytest

from tests.support.factories import make_challenge, make_token, make_user
from tests.support.life import upload_results
from tests.support.site import Site
from vocboard.app.web import access_log
from vocboard.app.web.access_log import CONFIGURATION, RequestIds


def test_a_refused_upload_is_logged_with_its_person_and_codes_and_none_of_its_content(
    embedded_site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    caplog.handler.addFilter(RequestIds())
    with embedded_site.writing() as session:
        challenge, user = make_challenge(session), make_user(session)
        token = make_token(session, user)
    with embedded_site.client(token) as client:
        answer = upload_results(client, challenge.slug, b"private content", "private.tar", method_name="Private name")
        client.get("/healthz")
    assert answer.status_code == 422
    [record] = [record for record in caplog.records if record.name == access_log.__name__]
    message = record.getMessage()
    assert f'"POST /api/v1/challenges/{challenge.slug}/submissions" 422 ' in message
    assert message.endswith(f" user={user.id} refused=not_an_archive")
    assert "rivate" not in message
    assert record.__dict__["request"] == f" [{answer.headers['X-Request-Id']}]"
    assert "%(asctime)s" in CONFIGURATION["formatters"]["line"]["format"]
