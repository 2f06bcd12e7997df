"""The outbox: claims, retries, giving up; what becomes of a message on its way."""

import smtplib
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tests.support.jobs import claim_next, job_of, let_leases_end, send_due
from tests.support.mail import link_in, mail_server, read
from vocboard.app.accounts.people import normalised_email
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.messaging import outbox, undelivered
from vocboard.app.messaging.delivery import DeferredError, MailServerError, SmtpServer, UndeliverableError, sender
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.messaging.outbox import MailFailure
from vocboard.app.settings import Settings


def put(session: Session, to: str = "ada@lab.example") -> None:
    outbox.put(session, to=to, template="approved", site="https://voc.example")


def only_row(database: Database) -> OutgoingMail:
    with database.reading() as session:
        return session.scalars(select(OutgoingMail)).one()


def only_job(database: Database) -> Job:
    return job_of(database, only_row(database).id)


def no_message(_message: OutgoingMail) -> None:
    """Accept a message."""


def test_a_message_is_part_of_the_transaction_that_it_announces(database: Database, tmp_path: Path) -> None:
    with database.writing() as session:
        put(session)
        session.rollback()
    assert send_due(database, tmp_path, no_message) == 0


def test_a_claimed_message_is_nobody_elses_until_its_lease_ends(database: Database, tmp_path: Path) -> None:
    with database.writing() as session:
        put(session)
    assert claim_next(database, Kind.MAIL) is not None
    assert send_due(database, tmp_path, no_message) == 0
    let_leases_end(database)  # the worker died
    assert send_due(database, tmp_path, no_message) == 1
    assert only_job(database).attempts == 2


def test_what_is_sent_keeps_no_secret(database: Database, tmp_path: Path) -> None:
    with database.writing() as session:
        put(session)
    assert send_due(database, tmp_path, no_message) == 1
    assert only_job(database).finished_at is not None
    assert only_row(database).body == ""
    assert send_due(database, tmp_path, no_message) == 0


def test_a_server_that_is_down_is_tried_once_and_again_later(database: Database, tmp_path: Path) -> None:
    tried: list[OutgoingMail] = []

    def fail(message: OutgoingMail) -> None:
        tried.append(message)
        raise MailServerError("no route")

    with database.writing() as session:
        put(session)
        put(session)
    assert send_due(database, tmp_path, fail) == 1
    assert len(tried) == 1  # the other one waits, too
    with database.reading() as session:
        rows = session.scalars(select(Job).order_by(Job.attempts)).all()
        [failed] = undelivered.page_of(session).items
        errors = [session.get_one(OutgoingMail, row.key).error for row in rows]
    assert [(row.attempts, row.failure) for row in rows] == [(0, None), (1, MailFailure.MAIL_SERVER)]
    assert errors == [None, "no route"]
    assert (failed.error, failed.next_attempt_at, failed.can_be_retried) == ("no route", rows[1].not_before, False)
    assert all(timedelta() < row.not_before - now() <= outbox.FIRST_RETRY_DELAY for row in rows)
    let_leases_end(database)
    assert send_due(database, tmp_path, no_message) == 2


def test_the_delay_grows_with_each_attempt(database: Database, tmp_path: Path) -> None:
    def defer(_message: OutgoingMail) -> None:
        raise DeferredError("450 busy")

    with database.writing() as session:
        put(session)
    for seconds in (15, 30, 60, 120):
        let_leases_end(database)
        assert send_due(database, tmp_path, defer) == 1
        assert (only_job(database).not_before - now()).total_seconds() == pytest.approx(seconds, abs=5)


def test_a_message_is_given_up_in_the_end(database: Database, tmp_path: Path) -> None:
    def defer(_message: OutgoingMail) -> None:
        raise DeferredError("450 busy")

    with database.writing() as session:
        put(session)
    send_due(database, tmp_path, defer)
    with database.writing() as session:
        session.scalars(select(OutgoingMail)).one().expires_at = now()
    let_leases_end(database)
    send_due(database, tmp_path, lambda message: pytest.fail("too late"))
    job = only_job(database)
    assert job.finished_at is not None
    assert (job.failure, only_row(database).error) == (MailFailure.EXPIRED, "450 busy")
    assert only_row(database).body == ""
    with database.writing() as session:
        assert undelivered.retry_all(session) == 0
        with pytest.raises(ConflictError, match="too old"):
            undelivered.retry(session, message_id=job.key)


def test_a_refused_message_does_not_hold_up_the_others(database: Database, tmp_path: Path) -> None:
    def send(message: OutgoingMail) -> None:
        if message.recipient.startswith("gone"):
            raise UndeliverableError("550 no such mailbox")

    with database.writing() as session:
        put(session, "gone@lab.example")
        put(session)
    assert send_due(database, tmp_path, send) == 2
    with database.reading() as session:
        rows = session.scalars(select(Job).order_by(Job.created_at)).all()
        [gone] = undelivered.page_of(session).items
        assert undelivered.page_of(session, recipient="ada@lab.example").total == 0
    assert [row.failure for row in rows] == [MailFailure.REJECTED, None]
    assert all(row.finished_at for row in rows)
    assert (gone.recipient, gone.error) == ("gone@lab.example", "550 no such mailbox")


@pytest.mark.parametrize("at_once", [False, True])
def test_what_was_rejected_can_be_sent_again_until_it_is_too_old(
    database: Database, tmp_path: Path, at_once: bool
) -> None:
    def reject(_message: OutgoingMail) -> None:
        raise UndeliverableError("550 relaying denied")

    sent: list[str] = []
    with database.writing() as session:
        put(session)
    assert send_due(database, tmp_path, reject) == 1
    with database.writing() as session:
        if at_once:
            assert (undelivered.retriable(session), undelivered.retry_all(session)) == (1, 1)
        else:
            undelivered.retry(session, message_id=session.scalars(select(OutgoingMail.id)).one())
    assert send_due(database, tmp_path, lambda message: sent.append(message.body)) == 1
    assert "approved" in sent[0]
    assert only_row(database).body == ""
    with database.writing() as session:
        assert undelivered.page_of(session).total == 0
        put(session, "old@lab.example")
    assert send_due(database, tmp_path, reject) == 1
    with database.writing() as session:
        session.execute(update(OutgoingMail).values(expires_at=now()))
        outbox.remove_old(session)
        assert set(session.scalars(select(OutgoingMail.body))) == {""}
        assert [one.can_be_retried for one in undelivered.page_of(session).items] == [False]


@pytest.mark.parametrize("fails", [False, True])
def test_what_was_mailed_to_a_deleted_account_is_forgotten(database: Database, tmp_path: Path, fails: bool) -> None:
    def send(message: OutgoingMail) -> None:
        if fails and message.recipient.startswith("ada"):
            raise UndeliverableError("550 no such mailbox")

    with database.writing() as session:
        put(session)
    send_due(database, tmp_path, send)
    with database.writing() as session:
        put(session)
        about = {"challenge": "Faces of Ada Lovelace", "inviter": "Cem", "site": "https://voc.example", "link": "/"}
        outbox.put(session, to="bob@lab.example", template="invitation", **about)
        put(session, "bob@lab.example")
        outbox.forget(session, email="gone@lab.example", name="Ad")
        outbox.forget(session, email="ada@lab.example", name="Ada Lovelace")
        assert len(session.scalars(select(OutgoingMail)).all()) == 3
    send_due(database, tmp_path, send)
    assert only_row(database).subject == "Your account is approved"


@pytest.mark.parametrize("recipient", ["a@b.example\nBcc: eve@evil.example", "a@b.example\r\nSubject: x"])
def test_no_header_can_be_added(database: Database, tmp_path: Path, recipient: str) -> None:
    message = OutgoingMail(id=only_id(), created_at=now(), recipient=recipient, subject="s", body="b")
    with pytest.raises(UndeliverableError):
        sender(Settings(data_directory=tmp_path))(message)
    with pytest.raises(UndeliverableError):
        sender(Settings(data_directory=tmp_path))(
            OutgoingMail(id=only_id(), created_at=now(), recipient="a@b.example", subject="s\nBcc: e@e", body="")
        )
    assert not list(tmp_path.rglob("*.eml"))


ENCODED_WORDS = [
    "=?utf-8?q?eve=40evil.example=2c_a?=@lab.example",  # two addresses, once decoded
    "=?utf-8?q?eve=40evil.example?=@lab.example",
    "=?utf-8?b?ZXZlQGV2aWwuZXhhbXBsZT4=?=@lab.example",
]


@pytest.mark.parametrize("recipient", ENCODED_WORDS)
def test_an_encoded_word_is_no_address(tmp_path: Path, recipient: str) -> None:
    assert normalised_email(recipient) is None
    message = OutgoingMail(id=only_id(), created_at=now(), recipient=recipient, subject="s", body="b")
    with pytest.raises(UndeliverableError):
        sender(Settings(data_directory=tmp_path))(message)
    assert not list(tmp_path.rglob("*.eml"))


@pytest.mark.parametrize("title", ["=?utf-8?q?x=0aBcc:eve=40evil.example?=", "=?utf-8?q?=0d=0a=0d=0ABcc:_you?="])
def test_an_encoded_word_in_a_subject_is_text(tmp_path: Path, title: str) -> None:
    subject = f"Invitation to organise {title}"
    message = OutgoingMail(id=only_id(), created_at=now(), recipient="a@b.example", subject=subject, body="b")
    sender(Settings(data_directory=tmp_path))(message)
    [written] = read(tmp_path / "mail")
    assert written.keys() == [
        "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted",
        "Content-Type", "Content-Transfer-Encoding", "MIME-Version",
    ]  # fmt: skip
    assert written["Subject"] == subject.replace("=?", "= ?")


def test_mail_that_can_be_stopped_says_how_to_mail_programs(tmp_path: Path) -> None:
    """RFC 8058, section 8.1: the address is in one line, and not encoded."""
    url = f"https://a-long-name-of-a-challenge-server.voc.example/unsubscribe?token={'_-' * 21}x"
    message = OutgoingMail(
        id=only_id(), created_at=now(), recipient="a@b.example", subject="s", body="b", unsubscribe_url=url
    )
    sender(Settings(data_directory=tmp_path))(message)
    [file] = (tmp_path / "mail").iterdir()
    lines = file.read_text().splitlines()
    assert f"List-Unsubscribe: <{url}>" in lines
    assert "List-Unsubscribe-Post: List-Unsubscribe=One-Click" in lines


def test_a_domain_that_is_not_ascii_is_written_as_mail_servers_know_it(tmp_path: Path) -> None:
    recipient = normalised_email("ada@xn--bcher-kva.example")
    assert recipient == "ada@bücher.example"
    message = OutgoingMail(id=only_id(), created_at=now(), recipient=recipient, subject="s", body="b")
    sender(Settings(data_directory=tmp_path))(message)
    assert [written["To"] for written in read(tmp_path / "mail")] == ["ada@xn--bcher-kva.example"]


def test_an_address_that_the_mail_server_cannot_take_does_not_hold_up_the_others(
    database: Database, tmp_path: Path
) -> None:
    with database.writing() as session:
        put(session, "bücher@lab.example")  # needs SMTPUTF8, which this server does not offer
        put(session, "full@lab.example")
        put(session)
    with mail_server(tmp_path / "received", "--defer", "full@lab.example") as server:
        send = sender(Settings(data_directory=tmp_path, mail_url=SecretStr(server.url)))
        assert send_due(database, tmp_path, send) == 3
        assert [message["To"] for message in server.messages()] == ["ada@lab.example"]
    with database.reading() as session:
        rows = session.scalars(select(Job).order_by(Job.created_at)).all()
    assert [(row.failure, row.finished_at is not None) for row in rows] == [
        (MailFailure.REJECTED, True),
        (MailFailure.DEFERRED, False),
        (None, True),
    ]


def test_what_the_mail_server_has_taken_is_not_sent_again_whatever_it_answers_to_quit(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.writing() as session:
        put(session)
    ask = smtplib.SMTP.docmd

    def busy(connection: smtplib.SMTP, command: str, args: str = "") -> tuple[int, bytes]:
        return (421, b"closing") if command == "QUIT" else ask(connection, command, args)

    monkeypatch.setattr(smtplib.SMTP, "docmd", busy)
    with mail_server(tmp_path / "received") as server:
        send = sender(Settings(data_directory=tmp_path, mail_url=SecretStr(server.url)))
        assert send_due(database, tmp_path, send) == 1
        assert len(server.messages()) == 1
    with database.reading() as session:
        assert session.scalars(select(Job.failure)).all() == [None]


def only_id() -> uuid.UUID:
    return uuid.uuid4()


def test_the_embedded_set_up_writes_files_for_its_owner_alone(database: Database, tmp_path: Path) -> None:
    settings = Settings(data_directory=tmp_path, public_url="https://voc.example")
    link = f"https://voc.example/confirm?token={'x' * 43}"
    with database.writing() as session:
        outbox.put(
            session, to="ada@lab.example", template="confirm-address", site="https://voc.example", link=link, hours=72
        )
    send_due(database, tmp_path, sender(settings))
    assert settings.mail_directory == tmp_path / "mail"
    [message] = read(tmp_path / "mail")
    assert message["To"] == "ada@lab.example"
    assert message["From"] == "vocboard@voc.example"
    assert message["Auto-Submitted"] == "auto-generated"
    assert link in message.get_content()
    [file] = (tmp_path / "mail").iterdir()
    assert link_in(file.read_text()) == link, "it can be copied out of the file"
    assert file.stat().st_mode & 0o077 == 0
    assert (tmp_path / "mail").stat().st_mode & 0o077 == 0


def test_reads_the_address_of_a_mail_server() -> None:
    assert SmtpServer.parse("smtp://mail.example") == SmtpServer("mail.example", 25, encrypted=False)
    assert SmtpServer.parse("smtps://a%40b:p%2Fw@mail.example") == SmtpServer(
        "mail.example", 465, encrypted=True, user="a@b", password="p/w"
    )


@pytest.mark.parametrize("url", ["", "http://x", "smtp://", "smtp://user:secret@host:port", "mail.example"])
def test_a_wrong_address_of_a_mail_server_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match="VOCBOARD_MAIL_URL must be") as caught:
        SmtpServer.parse(url)
    assert "secret" not in str(caught.value)


def test_old_records_are_deleted(database: Database, tmp_path: Path) -> None:
    with database.writing() as session:
        put(session)
    send_due(database, tmp_path, no_message)
    with database.writing() as session:
        jobs.remove_old(session)
        outbox.remove_old(session)
        session.scalars(select(Job)).one().finished_at = now() - outbox.RECORD_LIFETIME
    with database.writing() as session:
        jobs.remove_old(session)
        assert len(session.scalars(select(OutgoingMail)).all()) == 1
        outbox.remove_old(session)
    with database.reading() as session:
        assert session.scalars(select(OutgoingMail)).all() == []
        assert session.scalars(select(Job)).all() == []
