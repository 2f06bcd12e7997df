"""The worker that sends email, as a process of its own, and a real mail server."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.engine import make_url

from tests.support.backend import Backend, wait_until
from tests.support.factories import make_user
from tests.support.jobs import let_leases_end
from tests.support.mail import MailServer, mail_server
from tests.support.services import in_full
from vocboard.app.database import Database, now
from vocboard.app.jobs import heartbeats
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.messaging import outbox
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.notifications import emails
from vocboard.app.notifications.models import Notification, NotificationKind
from vocboard.app.notifications.service import notify
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.migrations import privileges, upgrade


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MailServer]:
    with mail_server(tmp_path / "received") as running:
        yield running


def put(backend: Backend, to: str = "ada@lab.example") -> None:
    with backend.database.writing() as session:
        outbox.put(session, to=to, template="approved", site="https://voc.example")


def waiting(backend: Backend) -> list[Job]:
    with backend.database.reading() as session:
        return list(session.scalars(select(Job).where(Job.kind == Kind.MAIL, Job.finished_at.is_(None))))


def answers(backend: Backend) -> str:
    """Return what the mail server answered, where it did not take a message."""
    with backend.database.reading() as session:
        return "\n".join(session.scalars(select(OutgoingMail.error).where(OutgoingMail.error.is_not(None))))


def looking(database: Database) -> set[str]:
    with database.reading() as session:
        return set(heartbeats.last_polls(session))


def test_a_lost_message_changes_nothing_and_an_address_that_is_refused_is_given_up_at_once(
    backend: Backend, tmp_path: Path
) -> None:
    with mail_server(tmp_path / "received", "--refuse", "gone@lab.example") as server:
        put(backend, "gone@lab.example")
        put(backend)
        with backend.running("worker", "--only", "mail", mail_url=server.url):
            wait_until(lambda: len(server.messages()) == 1)
            put(backend, "eve@lab.example")  # without notifying workers
            wait_until(lambda: len(server.messages()) == 2)
            wait_until(lambda: waiting(backend) == [])
        assert [message["To"] for message in server.messages()] == ["ada@lab.example", "eve@lab.example"]
    with backend.database.reading() as session:
        session.scalars(select(Job).where(Job.failure.is_not(None))).one()
    assert "no such mailbox" in answers(backend)


def test_a_message_of_the_broker_makes_it_poll_at_once(backend: Backend, server: MailServer) -> None:
    with backend.running("worker", "--only", "mail", mail_url=server.url, poll_interval="PT1H", sweep_interval="PT1H"):
        put(backend)
        wait_until(lambda: len(server.messages()) == 1)  # its first poll
        put(backend)
        WorkerNotifier(backend.settings).wake({Kind.MAIL})
        wait_until(lambda: len(server.messages()) == 2)


def test_nothing_is_lost_while_the_mail_server_is_down(backend: Backend, server: MailServer) -> None:
    server.stop()
    put(backend)
    put(backend, "eve@lab.example")
    with backend.running("worker", "--only", "mail", mail_url=server.url):
        wait_until(lambda: bool(answers(backend)))
        server.start()

        def all_sent() -> bool:
            let_leases_end(backend.database)  # do not wait for the retry
            return waiting(backend) == []

        wait_until(all_sent)
    assert {message["To"] for message in server.messages()} == {"ada@lab.example", "eve@lab.example"}


def test_starttls_and_a_password(backend: Backend, tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    make = f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -keyout {key} -out {certificate} -subj /CN=localhost"
    subprocess.run([*make.split(), "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    options = ("--tls", str(certificate), str(key), "--user", "ada", "s3cret/word")
    with mail_server(tmp_path / "received", *options) as server:
        url = server.url.replace("//", "//ada:s3cret%2Fword@")
        put(backend)
        with backend.running("worker", "--only", "mail", mail_url=url):  # does not know the certificate
            wait_until(lambda: "CERTIFICATE_VERIFY_FAILED" in answers(backend))
        assert server.messages() == []
        let_leases_end(backend.database)
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(os.environ, "SSL_CERT_FILE", str(certificate))
            with backend.running("worker", "--only", "mail", mail_url=url):
                wait_until(lambda: len(server.messages()) == 1)
        [message] = server.messages()
        assert (message["X-Tls"], message["X-User"]) == ("True", "ada")


def test_a_password_is_not_sent_in_the_clear(backend: Backend, server: MailServer) -> None:
    put(backend)
    with backend.running("worker", "--only", "mail", mail_url=server.url.replace("//", "//ada:secret@")):
        wait_until(lambda: "offers no TLS" in answers(backend))
    assert server.messages() == []


def test_the_ordinary_worker_sends_in_the_embedded_set_up(backend: Backend, server: MailServer) -> None:
    put(backend)
    with backend.running("worker", mail_url=server.url):
        wait_until(lambda: len(server.messages()) == 1)


@pytest.mark.postgres
@pytest.mark.services
def test_the_role_of_the_mail_worker_is_enough(
    process_roles: None, empty_postgres_url: str, redis_url: str, tmp_path: Path, server: MailServer
) -> None:
    upgrade(empty_postgres_url)
    database = Database(empty_postgres_url)
    settings = Settings(data_directory=tmp_path / "data", database_url=empty_postgres_url, broker_url=redis_url)
    settings.data_directory.mkdir()
    backend = Backend(settings, database, ArchiveStore(settings.archives))
    put(backend)
    with database.writing() as session:
        notify(
            session, [make_user(session).id], NotificationKind.SCORED, title="“YOLO” was scored", link="/submissions"
        )
        session.execute(update(Notification).values(created_at=now() - emails.DELAY))
    as_mail = in_full(make_url(empty_postgres_url).update_query_dict({"options": f"-c role={privileges.MAIL_ROLE}"}))
    with backend.running("worker", "--only", "mail", mail_url=server.url, database_url=as_mail) as worker:
        wait_until(lambda: len(server.messages()) == 2 and waiting(backend) == [])
        wait_until(lambda: looking(database) == {"mail"})
        worker.terminate()
        wait_until(lambda: looking(database) == set())  # it has stopped in order
    database.close()
