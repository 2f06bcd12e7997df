"""Uploads that are sent again with their idempotency key, because their answer was lost: they count once."""

import html
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest
from sqlalchemy import select, update

from tests.support.browsing import from_here, signed_in, token_of
from tests.support.factories import WEEK, make_challenge, make_token, make_user
from tests.support.phases import complete
from tests.support.site import Site
from tests.support.small_world import results_of
from tests.support.uploading import RESULTS, count
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.participating import teams
from vocboard.app.submissions import idempotency
from vocboard.app.submissions.models import IdempotencyKey, Submission

OTHERS = results_of({"Main/comp1_cls_test_car.txt": ["000001 0.1", "000002 0.2", "000003 0.3"]})
KEY = "8e03978e-40d5-43e8-bc93-6894a57f9324"


@pytest.fixture
def challenge(site: Site) -> Challenge:
    with site.writing() as session:
        return make_challenge(
            session,
            edition="VOC2007",
            competitions=["comp1"],
            quota_count=1,
            quota_period_seconds=int(WEEK.total_seconds()),
        )


@pytest.fixture
def user(site: Site) -> User:
    with site.writing() as session:
        return make_user(session)


@pytest.fixture
def client(site: Site, user: User) -> Iterator[httpx.Client]:
    with site.writing() as session:
        token = make_token(session, user)
    with site.client(token) as opened:
        yield opened


def submit(
    client: httpx.Client, challenge: Challenge, key: str = KEY, archive: bytes = RESULTS, **fields: str
) -> httpx.Response:
    return client.post(
        f"/api/v1/challenges/{challenge.slug}/submissions",
        data={"method_name": "Method", **fields},
        files={"archive": ("results.tar.gz", archive)},
        headers={"Idempotency-Key": key} if key else {},
    )


def test_a_repeated_request_returns_the_same_submission_and_uses_no_quota(
    site: Site, client: httpx.Client, challenge: Challenge
) -> None:
    first, again = submit(client, challenge), submit(client, challenge)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json()["id"] == first.json()["id"]
    assert again.headers["Location"] == first.headers["Location"]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert count(site, Submission) == 1
    assert submit(client, challenge, "").status_code == 429, "the quota is used up, but was not asked of the repetition"


def test_the_same_key_with_something_else_is_refused(site: Site, client: httpx.Client, challenge: Challenge) -> None:
    accepted = submit(client, challenge).json()
    for answer in (
        submit(client, challenge, archive=OTHERS),
        submit(client, challenge, method_name="Another method"),
        submit(client, challenge, publish="true"),
    ):
        assert answer.status_code == 422
        assert answer.json()["code"] == "idempotency_key_reused"
        assert accepted["id"] in answer.json()["detail"]
    assert count(site, Submission) == 1


def test_the_key_of_somebody_else_is_as_good_as_a_new_one(
    site: Site, client: httpx.Client, challenge: Challenge
) -> None:
    own = submit(client, challenge).json()
    with site.writing() as session:
        token = make_token(session, make_user(session))
    with site.client(token) as other:
        answer = submit(other, challenge)
    assert answer.status_code == 201
    assert answer.json()["id"] != own["id"]
    assert count(site, Submission) == 2


def test_who_has_left_the_team_learns_that_the_upload_was_accepted(
    site: Site, client: httpx.Client, challenge: Challenge, user: User
) -> None:
    with site.writing() as session:
        owner = make_user(session)
        team = teams.create(session, challenge=complete(session, challenge.id), user=owner, name="A team")
        _, token = teams.invite(session, team_id=team.id, user=owner, site="https://voc.example.org")
        teams.accept(session, token=token, user=user)
    accepted = submit(client, challenge).json()
    with site.writing() as session:
        teams.remove(session, team_id=team.id, user=user, user_id=user.id)
    again = submit(client, challenge)
    assert again.status_code == 409
    assert accepted["id"] in again.json()["detail"]
    assert count(site, Submission) == 1


def test_a_rejected_upload_stores_no_key(site: Site, client: httpx.Client, challenge: Challenge) -> None:
    assert submit(client, challenge, archive=b"not an archive").status_code == 422
    assert count(site, IdempotencyKey) == 0
    assert submit(client, challenge).status_code == 201


@pytest.mark.parametrize("key", ["a" * 256, "two words", "é".encode()])
def test_keys_that_are_not_allowed(client: httpx.Client, challenge: Challenge, key: str | bytes) -> None:
    answer = client.post(
        f"/api/v1/challenges/{challenge.slug}/submissions",
        data={"method_name": "Method"},
        files={"archive": ("results.tar.gz", RESULTS)},
        headers=[(b"Idempotency-Key", key.encode() if isinstance(key, str) else key)],
    )
    assert answer.status_code == 422
    assert list(answer.json()["fields"]) == ["Idempotency-Key"]


@pytest.mark.full
def test_twenty_at_the_same_time_make_one_submission(site: Site, client: httpx.Client, challenge: Challenge) -> None:
    at_once = 20
    together = threading.Barrier(at_once)

    def until_accepted(_: int) -> httpx.Response:
        with site.client(client.headers["Authorization"].removeprefix("Bearer ")) as own:
            together.wait()
            answer = submit(own, challenge)
            while answer.status_code == 429 and int(answer.headers["Retry-After"]) < 60:  # two may be in progress
                time.sleep(0.05)
                answer = submit(own, challenge)
            return answer

    with ThreadPoolExecutor(at_once) as pool:
        answers = list(pool.map(until_accepted, range(at_once)))
    assert [answer.status_code for answer in answers] == [201] * at_once, [answer.text for answer in answers]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert sum("Idempotent-Replayed" in answer.headers for answer in answers) == at_once - 1
    assert count(site, Submission) == 1


def test_a_key_expires(site: Site, client: httpx.Client, challenge: Challenge) -> None:
    assert submit(client, challenge).status_code == 201
    with site.writing() as session:
        session.execute(update(IdempotencyKey).values(created_at=now() - idempotency.KEPT_FOR - timedelta(seconds=1)))
    assert submit(client, challenge).status_code == 429, "it is a new request, for which there is no quota"
    with site.writing() as session:
        idempotency.forget_expired(session)
    assert count(site, IdempotencyKey) == 0


def test_the_number_of_keys_is_bounded(
    site: Site, user: User, challenge: Challenge, monkeypatch: pytest.MonkeyPatch, client: httpx.Client
) -> None:
    monkeypatch.setattr(idempotency, "KEYS_PER_PERSON", 3)
    submission_id = submit(client, challenge, "").json()["id"]
    for number in range(5):
        with site.writing() as session:
            submission = session.scalars(select(Submission)).one()
            idempotency.remember(session, user, idempotency.RepeatableRequest(f"key {number}", "0" * 64), submission)
    with site.database.reading() as session:
        kept = set(session.scalars(select(IdempotencyKey.key)))
        assert kept == {"key 2", "key 3", "key 4"}
        assert {row.submission_id for row in session.scalars(select(IdempotencyKey))} == {submission.id}
    assert submission_id == str(submission.id)


def test_a_form_that_is_sent_twice_counts_once(site: Site, user: User, challenge: Challenge) -> None:
    path = f"/challenges/{challenge.slug}/submit"
    with signed_in(site, user.email) as browser:
        page = browser.get(path)
        found = re.search(r'action="([^"]*idempotency_key=[^"]*)"', page.text)
        action = html.unescape(found[1])

        def send(archive: bytes) -> httpx.Response:
            return browser.post(
                action,
                data={"csrf_token": token_of(page), "method_name": "Method", "submit_incomplete": "true"},
                files={"archive": ("results.tar.gz", archive)},
                headers=from_here(browser),
            )

        first, again = send(RESULTS), send(RESULTS)
        assert (first.status_code, again.status_code) == (303, 303)
        assert again.headers["Location"] == first.headers["Location"]
        assert count(site, Submission) == 1

        other = send(OTHERS)
        assert other.status_code == 422
        assert "This form was already sent, and made the submission" in other.text
        assert action not in html.unescape(other.text), "the form that is shown again has a key of its own"
