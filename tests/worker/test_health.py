"""What does no work is noticed, by health checks and by the web application."""

import os
import signal
import tempfile
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select, update

from tests.support import forked
from tests.support.backend import Backend, wait_until
from tests.support.crashing_servers import crashing_redis
from tests.support.factories import make_challenge, make_truth
from tests.support.jobs import let_leases_end
from tests.support.mail import mail_server
from tests.support.services import REAL, needed
from tests.support.site import serving
from vocboard.app.database import now
from vocboard.app.jobs import heartbeats
from vocboard.app.jobs.models import Job, WorkerHeartbeat
from vocboard.app.messaging import outbox
from vocboard.app.messaging.outbox import MailFailure
from vocboard.app.storage.local_files import StoreUnavailableError


def health(backend: Backend, *service: str, **environment: str) -> tuple[int, str]:
    with tempfile.TemporaryFile() as output:
        own = {"VOCBOARD_DATABASE_URL": backend.settings.database, **environment}
        status = forked.start(["health", *service], environment=os.environ | own, output=output).wait()
        output.seek(0)
        return status, output.read().decode()


def looking(backend: Backend) -> set[str]:
    """Return the kinds of worker that have looked for work."""
    with backend.database.reading() as session:
        return set(heartbeats.last_polls(session)) - {heartbeats.GROUND_TRUTH}


def let_time_pass(backend: Backend, kind: str) -> None:
    """Date what the one worker of a kind has recorded back, until it is too long ago."""
    with backend.database.writing() as session:
        [row] = session.scalars(select(WorkerHeartbeat).where(WorkerHeartbeat.kind == kind))
        row.looked_at -= heartbeats.SILENT_AFTER


def test_a_worker_that_is_paused_is_noticed_and_one_that_stops_in_order_is_not_missed(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert health(backend, "worker") == (1, "the worker last looked for work: never\n")
    with serving(backend.settings) as site, site.client() as client:

        def readiness() -> tuple[int, str, str]:
            response: httpx.Response = client.get("/readyz")
            return response.status_code, response.json()["status"], response.json()["workers"]

        assert readiness() == (200, "degraded", "failing")
        with backend.running("worker") as worker:
            wait_until(lambda: readiness() == (200, "ok", "ok"))
            status, message = health(backend, "worker")
            assert (status, message.count("\n")) == (0, 1), message
            os.killpg(worker.pid, signal.SIGSTOP)
            monkeypatch.setattr(heartbeats, "SILENT_AFTER", timedelta(seconds=0.5))
            wait_until(lambda: readiness() == (200, "degraded", "failing"))
            os.killpg(worker.pid, signal.SIGCONT)
            worker.terminate()
            worker.wait(timeout=30)
    assert health(backend, "worker") == (1, "the worker last looked for work: never\n")


def test_a_mail_worker_that_dies_is_noticed(backend: Backend, tmp_path: Path) -> None:
    assert health(backend, "worker", "--only", "mail") == (1, "the worker last looked for work: never\n")
    with (
        mail_server(tmp_path / "received") as mail,
        serving(backend.settings) as site,
        site.client() as client,
        backend.running("worker"),
    ):

        def readiness() -> str:
            return str(client.get("/readyz").json()["workers"])

        with backend.running("worker", "--only", "mail", mail_url=mail.url, sweep_interval="PT1H"):
            wait_until(lambda: looking(backend) == {"mail", "scoring"} and readiness() == "ok")
            assert health(backend, "worker", "--only", "mail")[0] == 0
        # That killed it. The other worker goes on.
        let_time_pass(backend, "mail")
        wait_until(lambda: readiness() == "failing")
        with backend.running("worker", "--only", "mail", mail_url=mail.url):
            wait_until(lambda: readiness() == "ok")


def test_a_mail_worker_that_stops_in_order_is_not_missed(backend: Backend, tmp_path: Path) -> None:
    with mail_server(tmp_path / "received") as mail:
        with backend.running("worker", "--only", "mail", mail_url=mail.url) as worker:
            wait_until(lambda: looking(backend) == {"mail"})
            assert health(backend, "worker", "--only", "mail")[0] == 0
            worker.terminate()
            worker.wait(timeout=30)
        assert looking(backend) == set()


@pytest.mark.postgres
@pytest.mark.services
@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_a_database_that_is_away_is_reported_in_one_line(backend: Backend) -> None:
    away = "postgresql+psycopg://nobody@127.0.0.1:9/nothing"
    status, message = health(backend, "worker", VOCBOARD_DATABASE_URL=away)
    assert status == 1
    assert message.startswith("cannot read from the database")
    assert message.count("\n") == 1


@pytest.mark.postgres
@pytest.mark.services
@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_beat_that_does_not_reach_the_broker_is_noticed(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    often = {"VOCBOARD_SWEEP_INTERVAL": "PT0.5S"}
    assert health(backend, "beat", **often) == (1, "beat last reached the broker: never\n")
    with needed(crashing_redis()) as (url, server), backend.running("beat", broker_url=f"{url}/0"):
        wait_until(lambda: health(backend, "beat", **often)[0] == 0)
        server.kill()
        wait_until(lambda: health(backend, "beat", **often)[0] == 1)
        server.start()
        wait_until(lambda: health(backend, "beat", **often)[0] == 0)


def unready(client: httpx.Client) -> set[str]:
    return {name for name, state in client.get("/readyz").json().items() if state == "failing"}


def test_ready_says_that_ground_truth_is_missing(backend: Backend) -> None:
    backend.challenge()
    with backend.database.writing() as session:
        lost_sha256 = make_truth(session, make_challenge(session)).sha256
    lost = backend.settings.truth / f"{lost_sha256}.npz"
    lost.write_bytes(b"that of another challenge")
    lost.chmod(0o644)
    with serving(backend.settings) as site, site.client() as client:
        with backend.running("worker"):
            wait_until(lambda: client.get("/readyz").json()["status"] == "ok")
            assert lost.stat().st_mode & 0o077 == 0
        lost.unlink()
        let_time_pass(backend, heartbeats.GROUND_TRUTH)
        with backend.running("worker"):
            wait_until(lambda: unready(client) == {"ground_truth"})
        backend.truth_file.unlink()
        with backend.running("worker") as worker:
            assert worker.wait() == 1  # none of the files is there: not the directory that workers share


def test_ready_says_that_email_is_not_sent(backend: Backend, tmp_path: Path) -> None:
    with backend.database.writing() as session:
        outbox.put(session, to="ada@lab.example", template="approved", site="https://voc.example.org")
        session.execute(update(Job).values(created_at=now() - timedelta(hours=1)))
    with serving(backend.settings) as site, site.client() as client, mail_server(tmp_path / "received") as mail:
        mail.stop()
        with backend.running("worker", "--only", "mail", mail_url=mail.url):
            wait_until(lambda: attempts(backend) > 0)
            assert "mail" in unready(client)
            mail.start()
            let_leases_end(backend.database)
            wait_until(lambda: "mail" not in unready(client))


def attempts(backend: Backend) -> int:
    with backend.database.reading() as session:
        return session.scalar(select(Job.attempts).where(Job.failure == MailFailure.MAIL_SERVER)) or 0


def test_ready_says_that_the_disk_is_full_and_that_archives_are_gone(backend: Backend) -> None:
    settings = backend.settings.model_copy(update={"upload_limit_bytes": 1 << 60})  # more than any disk has
    with serving(settings) as site, site.client() as client:
        assert "disk" in unready(client)
    backend.submit(backend.user(), backend.challenge())
    backend.settings.archives.rename(backend.settings.archives.with_name("elsewhere"))
    with serving(backend.settings) as site, site.client() as client:
        assert {"status", "archives", "disk"} <= unready(client)
    assert not backend.settings.archives.exists()  # it was not created again
    with pytest.raises(StoreUnavailableError):
        backend.store.receive(limit=1)
