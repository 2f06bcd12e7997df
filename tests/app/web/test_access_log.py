"""The log says of each request when, by whom, and why an upload was refused."""

import json
import logging

import pytest

from tests.support.factories import make_challenge, make_token, make_user
from tests.support.life import upload_results
from tests.support.site import Site
from vocboard.app.logs import DETAILS, JsonLines, Lines, about
from vocboard.app.web import access_log


def test_a_refused_upload_is_logged_with_its_person_and_codes_and_none_of_its_content(
    embedded_site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    caplog.handler.setFormatter(Lines())
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
    assert f" [{answer.headers['X-Request-Id']}]: 127.0.0.1 " in caplog.text
    assert record.__dict__[DETAILS]["person"] == user.id


@pytest.mark.parametrize("formatter", [Lines(), JsonLines()])
def test_addresses_that_others_quote_are_not_logged(formatter: logging.Formatter) -> None:
    try:
        raise ValueError("Key (email)=(ada@lab.example) already exists")
    except ValueError as error:
        arguments = {"name": "x", "level": logging.ERROR, "args": ("550 <bob+1@mail.lab.example>: no\nsuch user",)}
        record = logging.makeLogRecord(
            {**arguments, "msg": "it says %s", "exc_info": (type(error), error, error.__traceback__)}
        )
    with about(submission="0f3a"):
        line = formatter.format(record)
    assert "lab.example" not in line
    assert "0f3a" in line
    assert "already exists" in line
    if isinstance(formatter, JsonLines):
        assert json.loads(line)["message"] == "it says 550 <…@…>: no\nsuch user"
