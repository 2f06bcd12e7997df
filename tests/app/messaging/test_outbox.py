"""The outbox: claims, retries, giving up; what becomes of a message on its way."""

import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support.mail import link_in, mail_server, read
from vocboard.app.accounts.people import normalised_email
from vocboard.app.database import Database, now
from vocboard.app.messaging import outbox
from vocboard.app.messaging.delivery import MailServerError, SmtpServer, UndeliverableError, send_due, sender
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.messaging.outbox import Claimed
from vocboard.app.settings import Settings


def put(session: Session, to: str = "ada@lab.example") -> None:
    outbox.put(session, to=to, template="approved", site="https://voc.example")


def only_row(database: Database) -> OutgoingMail:
    with database.reading() as session:
        return session.scalars(select(OutgoingMail)).one()


def make_due(database: Database) -> None:
    with database.writing() as session:
        session.scalars(select(OutgoingMail)).one().due_at = now()


def test_a_message_is_part_of_the_transaction_that_it_announces(database: Database) -> None:
    with database.writing() as session:
        put(session)
        session.rollback()
    with database.writing() as session:
        assert outbox.claim_next(session) is None


def test_a_claimed_message_is_nobody_elses_until_its_lease_ends(database: Database) -> None:
    with database.writing() as session:
        put(session)
    with database.writing() as session:
        assert outbox.claim_next(session) is not None
    with database.writing() as session:
        assert outbox.claim_next(session) is None
    assert now() < only_row(database).due_at <= now() + outbox.LEASE
    make_due(database)  # the worker died
    with database.writing() as session:
        again = outbox.claim_next(session)
    assert again is not None
    assert again.attempts == 2


def test_what_is_sent_keeps_no_secret(database: Database) -> None:
    with database.writing() as session:
        put(session)
    assert send_due(database, lambda message: None) == 1
    row = only_row(database)
    assert row.sent_at is not None
    assert row.body == ""
    assert send_due(database, lambda message: None) == 0


def test_a_server_that_is_down_is_tried_once_and_again_later(database: Database) -> None:
    tried: list[Claimed] = []

    def fail(message: Claimed) -> None:
        tried.append(message)
        raise MailServerError("no route")

    with database.writing() as session:
        put(session)
        put(session)
    assert send_due(database, fail) == 0
    assert len(tried) == 1
    assert send_due(database, lambda message: None) == 1  # the other one waited for nothing
    with database.writing() as session:
        row = session.scalars(select(OutgoingMail).where(OutgoingMail.sent_at.is_(None))).one()
        assert timedelta() < row.due_at - now() <= outbox.FIRST_RETRY_DELAY
        assert row.last_error == "no route"
        row.due_at = now()
    assert send_due(database, lambda message: None) == 1


def test_a_message_is_given_up_in_the_end(database: Database) -> None:
    with database.writing() as session:
        put(session)
        session.scalars(select(OutgoingMail)).one().expires_at = now()
    assert send_due(database, lambda message: pytest.fail("too late")) == 0
    row = only_row(database)
    assert row.failed_at is not None
    assert row.body == ""


def test_a_refused_message_does_not_hold_up_the_others(database: Database) -> None:
    def send(message: Claimed) -> None:
        if message.recipient.startswith("gone"):
            raise UndeliverableError("550 no such mailbox")

    with database.writing() as session:
        put(session, "gone@lab.example")
        put(session)
    assert send_due(database, send) == 1


@pytest.mark.parametrize("recipient", ["a@b.example\nBcc: eve@evil.example", "a@b.example\r\nSubject: x"])
def test_no_header_can_be_added(database: Database, tmp_path: Path, recipient: str) -> None:
    message = Claimed(id=only_id(), created_at=now(), recipient=recipient, subject="s", body="b", attempts=1)
    with pytest.raises(UndeliverableError):
        sender(Settings(data_directory=tmp_path))(message)
    with pytest.raises(UndeliverableError):
        sender(Settings(data_directory=tmp_path))(
            Claimed(id=only_id(), created_at=now(), recipient="a@b.example", subject="s\nBcc: e@e", body="", attempts=1)
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
    message = Claimed(id=only_id(), created_at=now(), recipient=recipient, subject="s", body="b", attempts=1)
    with pytest.raises(UndeliverableError):
        sender(Settings(data_directory=tmp_path))(message)
    assert not list(tmp_path.rglob("*.eml"))


@pytest.mark.parametrize("title", ["=?utf-8?q?x=0aBcc:eve=40evil.example?=", "=?utf-8?q?=0d=0a=0d=0ABcc:_you?="])
def test_an_encoded_word_in_a_subject_is_text(tmp_path: Path, title: str) -> None:
    subject = f"Invitation to organise {title}"
    message = Claimed(id=only_id(), created_at=now(), recipient="a@b.example", subject=subject, body="b", attempts=1)
    sender(Settings(data_directory=tmp_path))(message)
    [written] = read(tmp_path / "mail")
    assert written.keys() == [
        "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted",
        "Content-Type", "Content-Transfer-Encoding", "MIME-Version",
    ]  # fmt: skip
    assert written["Subject"] == subject.replace("=?", "= ?")


def test_a_domain_that_is_not_ascii_is_written_as_mail_servers_know_it(tmp_path: Path) -> None:
    recipient = normalised_email("ada@xn--bcher-kva.example")
    assert recipient == "ada@bücher.example"
    message = Claimed(id=only_id(), created_at=now(), recipient=recipient, subject="s", body="b", attempts=1)
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
        assert send_due(database, send) == 1
        assert [message["To"] for message in server.messages()] == ["ada@lab.example"]
    with database.reading() as session:
        rows = session.scalars(select(OutgoingMail).order_by(OutgoingMail.created_at)).all()
        assert [row.failed_at is not None for row in rows] == [True, False, False]


def only_id() -> uuid.UUID:
    return uuid.uuid4()


def test_the_embedded_set_up_writes_files_for_its_owner_alone(database: Database, tmp_path: Path) -> None:
    settings = Settings(data_directory=tmp_path, public_url="https://voc.example")
    link = f"https://voc.example/confirm?token={'x' * 43}"
    with database.writing() as session:
        outbox.put(
            session, to="ada@lab.example", template="confirm-address", site="https://voc.example", link=link, hours=72
        )
    send_due(database, sender(settings))
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


def test_old_records_are_deleted(database: Database) -> None:
    with database.writing() as session:
        put(session)
    send_due(database, lambda message: None)
    with database.writing() as session:
        session.scalars(select(OutgoingMail)).one().sent_at = now() - outbox.RECORD_LIFETIME
    send_due(database, lambda message: None)
    with database.reading() as session:
        assert session.scalars(select(OutgoingMail)).all() == []
