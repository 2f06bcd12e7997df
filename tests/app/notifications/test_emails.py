"""Email of notifications: one for each person and kind, none lost, none twice."""

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.support.clock import Clock
from tests.support.factories import make_user
from tests.support.jobs import process
from tests.support.services import REAL
from vocboard.app.accounts.models import User
from vocboard.app.database import Database
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.messaging.delivery import MailServerError
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.notifications import emails
from vocboard.app.notifications.models import Notification, NotificationKind, NotificationSetting
from vocboard.app.notifications.service import choose_emails, notify
from vocboard.app.participating.leaving import Naming, delete_account
from vocboard.app.settings import Settings
from vocboard.worker.process import Process
from vocboard.worker.work import work_next


class Killed(BaseException):
    """Ends a worker where it is, as the kernel would."""


def mail_worker(database: Database, directory: Path) -> Process:
    """Return a worker of email that writes files."""
    settings = Settings(data_directory=directory, public_url="https://voc.example")
    with database.writing() as session:
        jobs.add(session, Kind.MAIL_SWEEP, jobs.SWEEP_KEY)
    return process(database, None, settings, Kind.MAIL, Kind.MAIL_SWEEP)


def told(database: Database, people: list[User], title: str, kind: NotificationKind = NotificationKind.SCORED) -> None:
    with database.writing() as session:
        notify(session, [person.id for person in people], kind, title=title, link=f"/submissions/{title}")


def test_none_is_lost_or_sent_twice_while_the_server_is_down_for_an_hour_and_workers_are_killed(
    database: Database, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = random.Random(1)
    sent: list[tuple[str, str]] = []
    kills = 0
    with database.writing() as session:
        people = [make_user(session) for _ in range(4)]
    expected = [(person.email, f"event-{number}.") for person in people for number in range(6)]
    worker = mail_worker(database, tmp_path)

    def send(message: OutgoingMail) -> None:
        if clock.offset < timedelta(hours=1):
            raise MailServerError("down")
        sent.extend(
            (message.recipient, f"event-{number}.") for number in range(6) if f"event-{number}." in message.body
        )

    real_put = vars(emails.outbox)["put"]

    def put_or_die(*given: object, **named: object) -> None:
        nonlocal kills
        if kills < 5 and generator.random() < 0.3:
            kills += 1
            raise Killed
        real_put(*given, **named)

    monkeypatch.setattr(emails.outbox, "put", put_or_die)
    worker.send_mail = send
    for number in range(18):
        if number < 6:
            told(database, people, f"event-{number}.")
        try:
            while work_next(worker):
                pass
        except Killed:
            pass  # its lease ends later
        clock.advance(timedelta(minutes=10))
    assert kills == 5
    assert Counter(sent) == Counter(expected)


def test_what_comes_together_is_one_email_of_each_kind(database: Database, tmp_path: Path, clock: Clock) -> None:
    with database.writing() as session:
        ada, unconfirmed, disabled = make_user(session), make_user(session, confirmed=False), make_user(session)
        quiet = make_user(session)
        disabled.disabled_at = disabled.created_at
        session.add(NotificationSetting(user_id=quiet.id, kind=NotificationKind.SCORED, by_email=False))
    for number in range(60):
        told(database, [ada, unconfirmed, disabled, quiet], f"number-{number}.")
    told(database, [ada], "an announcement", NotificationKind.ANNOUNCEMENT)
    sent: list[OutgoingMail] = []
    worker = mail_worker(database, tmp_path)
    worker.send_mail = sent.append
    assert work_next(worker)
    assert not work_next(worker), "the digest waits for more"
    clock.advance(emails.DELAY)
    while work_next(worker):
        pass
    assert {message.recipient for message in sent} == {ada.email}
    assert {message.subject for message in sent} == {"number-0. – and 59 more", "an announcement"}
    with database.reading() as session:
        assert session.scalars(select(Notification).where(Notification.mailed_at.is_(None))).all() == []
        tokens = set(session.scalars(select(NotificationSetting.unsubscribe_token)).all())
    assert {message.unsubscribe_url for message in sent} < {
        f"https://voc.example/unsubscribe?token={one}" for one in tokens
    }


def test_once_is_once(database: Database) -> None:
    with database.writing() as session:
        ada, eve = make_user(session), make_user(session)
    for people in ([ada], [ada, eve], [eve]):
        with database.writing() as session:
            ids = [person.id for person in people]
            notify(session, ids, NotificationKind.DEADLINE, title="Soon", link="/", once_key="closes")
    with database.reading() as session:
        assert Counter(session.scalars(select(Notification.user_id))) == Counter([ada.id, eve.id])


@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_what_a_person_chooses_while_an_email_is_made_holds(database: Database, clock: Clock) -> None:
    with database.writing() as session:
        ada = make_user(session)
    told(database, [ada], "event")
    clock.advance(emails.DELAY)

    def put_due() -> None:
        with database.writing() as session:
            emails.put_due(session, site="https://voc.example")

    with ThreadPoolExecutor(1) as pool:
        with database.writing() as session:
            choose_emails(session, ada.id, {NotificationKind.SCORED: False})
            done = pool.submit(put_due)
            time.sleep(0.4)
        done.result()
    with database.reading() as session:
        assert session.scalars(select(OutgoingMail)).all() == []


@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_an_email_that_is_made_while_its_person_deletes_the_account_is_not_kept(
    database: Database, clock: Clock, tmp_path: Path
) -> None:
    with database.writing() as session:
        ada = make_user(session)
    told(database, [ada], "event")
    clock.advance(emails.DELAY)

    def delete() -> None:
        with database.writing() as session:
            settings = Settings(data_directory=tmp_path)
            delete_account(session, user=ada, naming=Naming.WITHOUT_NAME, settings=settings, actor=ada)

    with ThreadPoolExecutor(1) as pool:
        with database.writing() as session:
            emails.put_due(session, site="https://voc.example")
            session.flush()
            done = pool.submit(delete)
            time.sleep(0.4)
        done.result()
    with database.reading() as session:
        kept = session.scalars(select(OutgoingMail.is_forgotten)).all()
    assert kept == [True, True]  # and the confirmation
