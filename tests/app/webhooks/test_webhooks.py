"""Webhooks: every event arrives once its receiver is back, signed; and no request reaches a private network."""

import base64
import hashlib
import hmac
import json
import re
import ssl
import subprocess
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from tests.support.browsing import from_here, signed_in, token_of
from tests.support.clock import Clock
from tests.support.factories import make_challenge, make_organiser, make_user
from tests.support.jobs import process
from tests.support.receiver import Receiver, receiving
from tests.support.scored import make_scored
from tests.support.site import serving
from vocboard.app.accounts import administration
from vocboard.app.accounts.models import Role, User
from vocboard.app.announcements import announcing
from vocboard.app.challenges import organisers
from vocboard.app.challenges.models import Challenge, ChallengeOrganiser
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, InvalidInputError, NotFoundError
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.participating import publishing
from vocboard.app.settings import Settings
from vocboard.app.submissions import notices
from vocboard.app.webhooks import delivering, events, sending, service
from vocboard.app.webhooks.models import CHOICES, Event, Off, Webhook, WebhookDelivery
from vocboard.app.webhooks.service import Owner
from vocboard.worker.process import Process
from vocboard.worker.work import work_next

MINUTE = timedelta(minutes=1)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_directory=tmp_path, webhooks_anywhere=True, webhook_key="k" * 40)


@pytest.fixture
def worker(database: Database, settings: Settings) -> Process:
    with database.writing() as session:
        jobs.add(session, Kind.MAIL_SWEEP, jobs.SWEEP_KEY)
    return process(database, None, settings, Kind.MAIL_SWEEP, Kind.WEBHOOK)


@pytest.fixture
def people(database: Database) -> tuple[User, User, Challenge]:
    """Give an organiser, a participant, and a challenge."""
    with database.writing() as session:
        organiser, participant = make_organiser(session), make_user(session)
        return organiser, participant, make_challenge(session, organiser=organiser, competitions=["comp1"])


def add(database: Database, settings: Settings, owner: Owner, url: str) -> tuple[Webhook, str]:
    with database.writing() as session:
        return service.add(session, owner=owner, url=url, chosen=CHOICES, settings=settings)


def work(worker: Process, clock: Clock, *, until: timedelta = timedelta(), step: timedelta = MINUTE) -> None:
    """Let time pass in steps, and do what is due."""
    for _ in range(max(1, int(until / step))):
        clock.advance(step)
        while work_next(worker):
            pass


def verified(secret: str, headers: dict[str, str], body: str) -> dict[str, Any]:
    """Verify a request as Standard Webhooks says, and return its content."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    content: dict[str, Any] = json.loads(body)
    happened = datetime.fromisoformat(content["timestamp"]).timestamp()
    assert int(happened) <= int(headers["webhook-timestamp"]) <= now().timestamp()
    return content


def test_a_receiver_that_is_down_for_an_hour_gets_every_event_once(
    database: Database,
    settings: Settings,
    worker: Process,
    receiver: Receiver,
    people: tuple[User, User, Challenge],
    clock: Clock,
) -> None:
    organiser, participant, challenge = people
    own, secret = add(database, settings, Owner(participant), f"{receiver.url}/own")
    _, secret_of_challenge = add(database, settings, Owner(organiser, challenge.id), f"{receiver.url}/all")
    receiver.answers = {"/own": None, "/all": 503}
    expected = []
    for number in range(3):  # in this hour
        with database.writing() as session:
            submission = make_scored(session, challenge, participant, f"Method {number}")
            notices.scored(session, submission.id)
            publishing.publish(session, submission_id=submission.id, user=participant)
            expected += [("submission.scored", f"Method {number}"), ("submission.published", f"Method {number}")]
        work(worker, clock, until=20 * MINUTE, step=2 * MINUTE)
    with database.writing() as session:
        announcing.announce(session, challenge=challenge, user=organiser, title="News", text="Text", email=False)
    assert 2 * 6 < len(receiver.got) < 60, "it is asked again and again, and less and less often"
    tried, receiver.answers, receiver.got = {headers["webhook-id"] for _, headers, _ in receiver.got}, {}, []
    work(worker, clock, until=70 * MINUTE, step=5 * MINUTE)
    for path, key in (("/own", secret), ("/all", secret_of_challenge)):
        got = [(headers, body) for to, headers, body in receiver.got if to == path]
        assert len({headers["webhook-id"] for headers, _ in got}) == len(got) == 7
        contents = [verified(key, dict(headers), body) for headers, body in got]
        found = {(one["type"], one["data"].get("method_name", "")) for one in contents}
        assert found == {*expected, ("challenge.announced", "")}
    assert tried <= {headers["webhook-id"] for _, headers, _ in receiver.got}, "under the same ids as before"
    with database.reading() as session:
        assert all(one.is_delivered for one in session.scalars(select(WebhookDelivery)))
        assert session.scalar(select(Job).where(Job.kind == Kind.WEBHOOK, Job.finished_at.is_(None))) is None
        assert b"whsec" not in session.get_one(Webhook, own.id).sealed_secret
        failed = service.deliveries(session, Owner(participant), own.id).items
        assert max(one.attempts for one in failed) > 1
    clock.advance(settings.webhook_log_kept_for)
    work(worker, clock)
    with database.reading() as session:
        assert session.scalar(select(WebhookDelivery)) is None


@pytest.mark.postgres
def test_webhooks_are_switched_off_and_on(
    database: Database,
    settings: Settings,
    worker: Process,
    receiver: Receiver,
    people: tuple[User, User, Challenge],
    clock: Clock,
) -> None:
    """By 410, by silence and by another key; what is announced then is not kept, and a test that arrives ends it."""
    organiser, _, challenge = people
    owner = Owner(organiser, challenge.id)
    webhook, _ = add(database, settings, owner, f"{receiver.url}/hook")

    def announce(title: str) -> None:
        with database.writing() as session:
            announcing.announce(session, challenge=challenge, user=organiser, title=title, text="Text", email=False)

    def state() -> Off | None:
        with database.reading() as session:
            return session.get_one(Webhook, webhook.id).off_because

    def test() -> WebhookDelivery:
        with database.writing() as session:
            tested = service.test(session, owner=owner, webhook_id=webhook.id)
        work(worker, clock)
        with database.reading() as session:
            return session.get_one(WebhookDelivery, tested.id)

    receiver.answers = {"/hook": 500}
    assert test().status == 500
    with database.reading() as session:
        assert not service.next_attempts(session, [webhook]), "nothing waits after a test that has failed"
    receiver.got.clear()
    receiver.answers = {"/hook": 410}
    announce("One")
    announce("Two")
    work(worker, clock, until=3 * MINUTE)
    assert (state(), len(receiver.got)) == (Off.GONE, 1)
    announce("Three")
    work(worker, clock, until=3 * MINUTE)
    assert len(receiver.got) == 1
    failed = test()
    assert (failed.status, failed.is_delivered, failed.ended_at is not None, state()) == (410, False, True, Off.GONE)
    receiver.answers = {"/hook": 302}
    assert (test().status, state()) == (302, Off.GONE)
    assert {path for path, _, _ in receiver.got} == {"/hook"}, "redirects are not followed"
    receiver.answers = {}
    assert (test().status, state()) == (204, None)
    receiver.got.clear()
    receiver.answers = {"/hook": 500}
    announce("Four")
    work(worker, clock, until=3 * MINUTE)
    before = len(receiver.got)
    receiver.answers = {}
    test()
    assert len(receiver.got) >= before + 2, "a test does not wait, and what waits follows it"
    receiver.answers = {"/hook": 500}
    announce("Five")
    work(worker, clock)
    clock.advance(delivering.LIFETIME)
    work(worker, clock)
    assert state() is Off.SILENT
    receiver.answers = {}
    test()
    receiver.got.clear()
    announce("Six")
    clock.advance(delivering.LIFETIME)  # without a worker
    work(worker, clock)
    assert (state(), len(receiver.got)) == (None, 1)
    announce("Seven")
    worker.settings = settings.model_copy(update={"webhook_key": type(settings.webhook_key)("another" * 6)})
    work(worker, clock)
    assert state() is Off.KEY


@pytest.mark.postgres
def test_who_is_told(
    database: Database,
    settings: Settings,
    worker: Process,
    receiver: Receiver,
    people: tuple[User, User, Challenge],
    clock: Clock,
) -> None:
    """Members of the team and organisers; nobody who has stopped organising, is disabled or has not chosen it."""
    organiser, participant, challenge = people
    with database.writing() as session:
        stranger, second, disabled = make_user(session), make_organiser(session), make_user(session)
        demoted, administrator = make_organiser(session), make_user(session, role=Role.ADMINISTRATOR)
        for person in (second, demoted):
            session.add(ChallengeOrganiser(challenge_id=challenge.id, user_id=person.id))
        submissions = [make_scored(session, challenge, person, "Method") for person in (participant, disabled)]
    owners = {
        "/own": Owner(participant),
        "/stranger": Owner(stranger),
        "/second": Owner(second, challenge.id),
        "/disabled": Owner(disabled),
        "/demoted": Owner(demoted, challenge.id),
        "/administrator": Owner(administrator, challenge.id),
        "/organiser": Owner(organiser, challenge.id),
    }
    for path, owner in owners.items():
        add(database, settings, owner, receiver.url + path)
    with database.writing() as session:
        service.add(
            session, owner=Owner(participant), url=f"{receiver.url}/failed", chosen=[Event.FAILED], settings=settings
        )
        organisers.remove(session, challenge=challenge, user=organiser, user_id=second.id)
        for person, role in (
            (organiser, Role.CO_ORGANISER),
            (demoted, Role.PARTICIPANT),
            (administrator, Role.ORGANISER),
        ):
            administration.set_role(session, user=session.get_one(User, person.id), role=role)
        notices.scored(session, submissions[0].id)
        notices.failed(session, [submissions[1].id])
        administration.disable(session, user=session.get_one(User, disabled.id))
    work(worker, clock)
    told = sorted((path, json.loads(body)["type"]) for path, _, body in receiver.got)
    both = [("/organiser", "submission.failed"), ("/organiser", "submission.scored")]
    assert told == [*both, ("/own", "submission.scored")]
    with database.reading() as session:
        [own] = session.scalars(select(Webhook).where(Webhook.url.endswith("/own")))
    with database.writing() as session, pytest.raises(NotFoundError):
        service.remove(session, owner=Owner(stranger), webhook_id=own.id)
    with database.writing() as session:
        service.remove(session, owner=Owner(participant), webhook_id=own.id)
    with database.reading() as session:
        assert session.scalar(select(WebhookDelivery).where(WebhookDelivery.webhook_id == own.id)) is None


@pytest.mark.postgres
def test_a_webhook_that_is_removed_while_something_happens_does_not_prevent_it(
    database: Database, settings: Settings, people: tuple[User, User, Challenge]
) -> None:
    owner = Owner(people[1])
    found = [add(database, settings, owner, f"https://hooks.example/{name}")[0].id for name in ("removed", "kept")]
    with database.writing() as session:
        service.remove(session, owner=owner, webhook_id=found[0])
    with database.writing() as session:
        events.add(session, Event.ANNOUNCED, found, {})  # as they were found before
        events.add(session, Event.ANNOUNCED, found[:1], {})
        with pytest.raises(IntegrityError, match="event"):  # not tried for ever
            events.add(session, None, found[1:], {})  # type: ignore[arg-type]
    with database.reading() as session:
        assert session.scalars(select(WebhookDelivery.webhook_id)).all() == found[1:]


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example/",
        "https://user:password@hooks.example/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://localhost/",
        "ftp://hooks.example/",
        "https://hooks.example:x/",
        "https://",
        "https://hooks.example/#a",
        "https://169.254.169.254/latest",
        "https://10.0.0.1/",
        "https://[::ffff:10.0.0.1]/",
        "https://hooks.exämple/",
    ],
)
def test_addresses_that_are_refused(
    database: Database, tmp_path: Path, people: tuple[User, User, Challenge], url: str
) -> None:
    strict = Settings(data_directory=tmp_path)
    with pytest.raises(InvalidInputError) as refused:
        add(database, strict, Owner(people[1]), url)
    assert list(refused.value.fields) == ["url"]


def test_a_person_has_at_most_so_many_webhooks(
    database: Database, settings: Settings, people: tuple[User, User, Challenge]
) -> None:
    for number in range(service.MAX_WEBHOOKS):
        add(database, settings, Owner(people[1]), f"https://hooks.example/{number}")
    with pytest.raises(ConflictError, match="which is the limit"):
        add(database, settings, Owner(people[1]), "https://hooks.example/more")


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f000001", "[::1]", "0.0.0.0", "no.invalid"])
def test_no_connection_is_made_to_a_private_address(receiver: Receiver, host: str) -> None:
    """Whatever the name resolves to: that is checked when it is about to connect, and the connection goes there.

    The error is that of a name that does not exist: nobody learns which names the server's network has.
    """
    port = receiver.url.rpartition(":")[2]
    answer = sending.post(f"http://{host}:{port}/", "{}", {})
    assert (answer.status, answer.error) == (None, "no public address")
    assert receiver.got == []
    assert sending.post(f"http://localhost:{port}/", "{}", {}, anywhere=True).status == 204
    assert receiver.got[0][1]["Host"] == f"localhost:{port}"


def test_the_certificate_is_verified_for_the_name_though_the_connection_goes_to_a_checked_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    make = f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -keyout {key} -out {certificate} -subj /CN=localhost"
    subprocess.run([*make.split(), "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with receiving(context) as receiver:
        named = receiver.url.replace("127.0.0.1", "localhost")
        assert sending.post(named, "{}", {}, anywhere=True).error == "certificate not valid", "of nobody we know"
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert sending.post(named, "{}", {}, anywhere=True).status == 204
        assert sending.post(receiver.url, "{}", {}, anywhere=True).error == "certificate not valid", "of another name"


@pytest.mark.parametrize("base", ["/account/webhooks", "/organise/{slug}/webhooks"])
def test_the_page_adds_shows_the_secret_once_tests_and_removes(tmp_path: Path, sqlite_url: str, base: str) -> None:
    with serving(Settings(data_directory=tmp_path, database_url=sqlite_url)) as site:
        with site.writing() as session:
            organiser = make_organiser(session)
            base = base.format(slug=make_challenge(session, organiser=organiser).slug)
        with signed_in(site, organiser.email) as browser:

            def send(path: str, **given: Any) -> httpx.Response:
                form = {"csrf_token": token_of(browser.get(base)), **given}
                return browser.post(base + path, data=form, headers=from_here(browser))

            refused = send("", url="http://hooks.example/")
            assert refused.status_code == 422
            assert ">Address: The address has to begin with https://." in refused.text
            assert "Choose at least one of" in refused.text
            assert send("", url="https://hooks.example/<voc>", events=list(CHOICES)).headers["Location"] == base
            first, again = browser.get(base).text, browser.get(base).text
            assert ("whsec_" in first, "whsec_" in again) == (True, False)
            assert "https://hooks.example/&lt;voc&gt;" in again
            [own] = re.findall(rf'action="{base}/([^/"]+)/test"', again)
            assert send(f"/{own}/test").status_code == 303
            assert "webhook.test" in browser.get(base).text
            assert send(f"/{own}/remove").status_code == 303
            assert "There are no webhooks." in browser.get(base).text
