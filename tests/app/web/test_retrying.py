"""A request whose transaction PostgreSQL ends because of a deadlock is repeated once."""

import threading
import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import OperationalError

from tests.support.factories import make_challenge, make_token, make_user
from tests.support.scored import make_scored
from tests.support.services import in_full
from tests.support.site import serving
from vocboard.app.database import Database
from vocboard.app.settings import Settings
from vocboard.app.web.problem_details import details_of

SECONDS_TO_WAIT = 60.0


@pytest.mark.services
def test_a_deadlock_does_not_reach_the_person(
    postgres_url: str, redis_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # PostgreSQL looks for a deadlock once, when a statement has waited for so long: then there has to be one.
    patient = make_url(postgres_url).update_query_dict({"options": "-c deadlock_timeout=5s"})
    settings = Settings(data_directory=tmp_path, database_url=in_full(patient), broker_url=redis_url)
    with serving(settings) as site, closing(Database(postgres_url)) as other:
        with site.writing() as session:
            owner = make_user(session)
            submission = make_scored(session, make_challenge(session), owner, "Method")
            token = make_token(session, owner)
        answers: list[int] = []

        def publish() -> None:
            with site.client() as client:
                path = f"/api/v1/submissions/{submission.id}/publish"
                answer = client.post(path, json={}, headers={"Authorization": f"Bearer {token}"})
            answers.append(answer.status_code)

        request = threading.Thread(target=publish)
        with other.writing() as session:
            session.execute(text("SET LOCAL deadlock_timeout = '300s'"))  # so it is the request that is ended
            session.execute(text("SELECT id FROM submissions FOR UPDATE"))
            request.start()
            waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            deadline = time.monotonic() + SECONDS_TO_WAIT
            while not session.scalar(waiting) and time.monotonic() < deadline:
                time.sleep(0.05)
            session.execute(text("SELECT id FROM users FOR UPDATE"))
        request.join(SECONDS_TO_WAIT)
    assert answers == [200]
    assert caplog.text.count("repeated after a conflict") == 1


@pytest.mark.parametrize("conflict", [psycopg.errors.DeadlockDetected(), psycopg.errors.SerializationFailure()])
def test_a_conflict_is_not_called_an_unavailable_database(conflict: psycopg.Error) -> None:
    details = details_of(OperationalError("UPDATE", {}, conflict))
    assert (details.status, details.headers["Retry-After"]) == (503, "5")
    assert details.detail == "Others changed the same things. Nothing was changed; please try again in a moment."
