"""Requests that are sent again with their idempotency key, because their answer was lost: they count once."""

import contextlib
import html
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import delete, event, select, update

from tests.support.browsing import from_here, signed_in, token_of
from tests.support.factories import WEEK, make_challenge, make_organiser, make_token, make_user
from tests.support.phases import complete
from tests.support.site import Site
from tests.support.small_world import results_of
from tests.support.uploading import RESULTS, count
from vocboard.app.accounts.models import KeptAnswer, Scope, User
from vocboard.app.announcements.models import Announcement, Question
from vocboard.app.challenges.models import Challenge, ChallengeFile
from vocboard.app.database import Database, now
from vocboard.app.participating import teams
from vocboard.app.submissions import idempotency
from vocboard.app.submissions.models import IdempotencyKey, Submission
from vocboard.app.teams.models import TeamInvitation
from vocboard.app.web import idempotency as kept_answers

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
    client: httpx.Client,
    challenge: Challenge,
    key: str = KEY,
    archive: bytes = RESULTS,
    *,
    require_all_classes: bool = False,
    **fields: str,
) -> httpx.Response:
    return client.post(
        f"/api/v1/challenges/{challenge.slug}/submissions",
        params={"require_all_classes": True} if require_all_classes else {},
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
        submit(client, challenge, require_all_classes=True),
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


def ask(client: httpx.Client, challenge: Challenge) -> httpx.Response:
    path = f"/api/v1/challenges/{challenge.slug}/questions"
    return client.post(path, json={"text": "When?"}, headers={"Idempotency-Key": KEY})


@pytest.mark.full
@pytest.mark.parametrize(("send", "made"), [(submit, Submission), (ask, Question)], ids=["submission", "question"])
def test_twenty_at_the_same_time_make_one(
    site: Site,
    client: httpx.Client,
    challenge: Challenge,
    send: Callable[[httpx.Client, Challenge], httpx.Response],
    made: type,
) -> None:
    at_once = 20
    together = threading.Barrier(at_once)

    def until_accepted(_: int) -> httpx.Response:
        with site.client(client.headers["Authorization"].removeprefix("Bearer ")) as own:
            together.wait()
            answer = send(own, challenge)
            while int(answer.headers.get("Retry-After", 60)) < 60:  # two uploads may be in progress, one question
                time.sleep(0.05)
                answer = send(own, challenge)
            return answer

    with ThreadPoolExecutor(at_once) as pool:
        answers = list(pool.map(until_accepted, range(at_once)))
    assert [answer.status_code for answer in answers] == [201] * at_once, [answer.text for answer in answers]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert sum("Idempotent-Replayed" in answer.headers for answer in answers) == at_once - 1
    assert count(site, made) == 1


def _file(content: bytes) -> dict[str, Any]:
    return {"data": {"kind": "data", "audience": "public"}, "files": {"file": ("a.txt", content)}}


# Of some kinds, by path: a request, and another one.
REQUESTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "challenges/{slug}/announcements": ({"json": {"title": "A", "text": "B"}}, {"json": {"title": "A", "text": "C"}}),
    "challenges/{slug}/files": (_file(b"one"), _file(b"two")),
    "uploads?challenge={slug}": ({"headers": {"Upload-Length": "5"}}, {"headers": {"Upload-Length": "6"}}),
    "teams/{team}/invitations": ({"json": {}}, {"json": {"email": "a@lab.example"}}),
    "notifications/read": ({"json": {}}, {"json": {"ids": [KEY]}}),
}


def test_every_post_is_done_once_with_its_key(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    give_back = kept_answers._Exchange.give_back

    def slowly(exchange: kept_answers._Exchange, database: Database) -> None:
        time.sleep(0.3)  # a database can need a moment
        give_back(exchange, database)

    monkeypatch.setattr(kept_answers._Exchange, "give_back", slowly)
    with site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, edition="VOC2007", competitions=["comp1"])
        tokens = [make_token(session, organiser), make_token(session, organiser, Scope.SUBMIT)]
        tokens += [make_token(session, make_user(session))]
        team = teams.create(session, challenge=complete(session, challenge.id), user=organiser, name="A team").id
    with site.client(tokens[0]) as client, site.client(tokens[1]) as narrow, site.client(tokens[2]) as other:
        for number, (path, (given, changed)) in enumerate(REQUESTS.items()):
            address = "/api/v1/" + path.format(slug=challenge.slug, team=team)

            def send(content: dict[str, Any], address: str = address, number: int = number) -> httpx.Response:
                headers = content.get("headers", {}) | {"Idempotency-Key": f"{KEY}-{number}"}
                return client.post(address, **content | {"headers": headers})

            first, again, refused = send(given), send(given), send(changed)
            assert first.is_success, first.text
            assert (again.status_code, again.content) == (first.status_code, first.content)
            assert "Idempotent-Replayed" not in first.headers
            limits = {"ratelimit", "ratelimit-policy"}  # a repeated upload counts, other repetitions do not
            own = {"date", "x-request-id", "idempotent-replayed"} | limits
            assert (set(again.headers) ^ set(first.headers)) - limits == {"idempotent-replayed"}
            assert {name: again.headers[name] for name in set(again.headers) - own} == {
                name: first.headers[name] for name in set(first.headers) - own
            }
            assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused"), address
        assert (count(site, Announcement), count(site, ChallengeFile), count(site, TeamInvitation)) == (1, 1, 1)

        path = f"/api/v1/challenges/{challenge.slug}/questions"
        for _ in range(2):  # the key is free once there is an answer
            assert client.post(path, json={"text": ""}, headers={"Idempotency-Key": KEY}).status_code == 422
        assert [ask(client, challenge).status_code for _ in range(2)] == [201, 201], "the error was not kept"
        assert ask(other, challenge).status_code == 201
        assert ask(narrow, challenge).json()["code"] == "idempotency_key_reused", "it may not do all that the first may"
        assert count(site, Question) == 2
        with site.writing() as session:
            assert all(b"When?" not in kept for kept in session.scalars(select(KeptAnswer.answer)) if kept)
            session.execute(update(KeptAnswer).values(answer=None))  # as while it is in progress
        busy = ask(client, challenge)
        assert (busy.status_code, busy.json()["code"], busy.headers["Retry-After"]) == (
            409,
            "idempotency_key_in_use",
            "1",
        )
        with site.writing() as session:
            session.execute(update(KeptAnswer).values(created_at=now() - idempotency.KEPT_FOR - timedelta(seconds=1)))
        assert "Idempotent-Replayed" not in ask(client, challenge).headers
        with site.writing() as session:
            session.execute(update(KeptAnswer).values(created_at=now() - idempotency.KEPT_FOR - timedelta(seconds=1)))
            idempotency.forget_expired(session)
        assert count(site, KeptAnswer) == 0
        wrong = client.post(path, json={"text": "When?"}, headers={"Idempotency-Key": "two words"})
        assert list(wrong.json()["fields"]) == ["Idempotency-Key"]


@pytest.mark.services
def test_a_key_that_is_given_back_while_another_request_asks_for_it_is_in_use(postgres_url: str) -> None:
    key = b"\0" * 32
    with contextlib.closing(Database(postgres_url)) as database:
        with database.writing() as session:
            user = make_user(session)
        with database.writing() as session:
            assert kept_answers._claimed(session, user.id, key) is None

        def give_back(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            if statement.startswith("INSERT INTO kept_answers"):
                with database.writing() as session:
                    session.execute(delete(KeptAnswer))

        with database.writing() as session:
            event.listen(database.engine, "after_cursor_execute", give_back)
            with pytest.raises(kept_answers.KeyInUseError):
                kept_answers._claimed(session, user.id, key)


def test_an_uploads_key_expires(site: Site, client: httpx.Client, challenge: Challenge) -> None:
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

        def send(archive: bytes, to: str = action) -> httpx.Response:
            return browser.post(
                to,
                data={"csrf_token": token_of(page), "method_name": "Method", "submit_incomplete": "true"},
                files={"archive": ("results.tar.gz", archive)},
                headers=from_here(browser),
            )

        assert send(RESULTS, f"{path}?idempotency_key=%00").status_code == 422
        first, again = send(RESULTS), send(RESULTS)
        assert (first.status_code, again.status_code) == (303, 303)
        assert again.headers["Location"] == first.headers["Location"]
        assert count(site, Submission) == 1

        other = send(OTHERS)
        assert other.status_code == 422
        assert "This form was already sent, and made the submission" in other.text
        assert action not in html.unescape(other.text), "the form that is shown again has a key of its own"
