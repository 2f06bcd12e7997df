"""What an upload may cost the server is limited before the work is done, and however the upload ends."""

import contextlib
import errno
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.backend import wait_until
from tests.support.crashing_servers import crashing_postgres
from tests.support.factories import WEEK, make_challenge, make_token, make_user
from tests.support.services import in_full, needed
from tests.support.site import Site, serving
from tests.support.uploading import BODY, MULTIPART, PART, RESULTS, sending, stored
from vocboard import migrations
from vocboard.app.database import now
from vocboard.app.intake.report import Report
from vocboard.app.intake.service import Intake
from vocboard.app.settings import Settings
from vocboard.app.storage.local_files import IncomingFile
from vocboard.app.submissions import forms

LIMIT = 1 << 20
MIB = 1 << 20

Serve = Callable[..., Site]


@pytest.fixture
def serve(sqlite_url: str, tmp_path: Path) -> Iterator[Serve]:
    """Give a function that starts a site with settings of its own."""
    with contextlib.ExitStack() as stack:

        def start(**given: object) -> Site:
            settings = Settings.model_validate(
                {
                    "data_directory": tmp_path / "data",
                    "database_url": sqlite_url,
                    "broker_url": "redis://127.0.0.1:1/0",  # where nothing answers
                    "upload_limit_bytes": LIMIT,
                    **given,
                }
            )
            return stack.enter_context(serving(settings))

        yield start


class Entrant:
    """A participant of a VOC2007 challenge, over HTTP."""

    def __init__(self, site: Site, *, quota: int = 2, **given: Any) -> None:
        self.site = site
        with site.writing() as session:
            self.challenge = make_challenge(
                session,
                edition="VOC2007",
                competitions=["comp1"],
                quota_count=quota,
                quota_period_seconds=int(WEEK.total_seconds()),
                **given,
            )
            self.token = make_token(session, make_user(session))

    @property
    def path(self) -> str:
        return f"/api/v1/challenges/{self.challenge.slug}/submissions"

    def submit(self, archive: bytes = RESULTS, **fields: str) -> httpx.Response:
        with self.site.client(self.token) as client:
            return client.post(
                self.path, data={"method_name": "Method", **fields}, files={"archive": ("results.tar.gz", archive)}
            )

    def withdraw(self, submission_id: str) -> None:
        with self.site.client(self.token) as client:
            assert client.post(f"/api/v1/submissions/{submission_id}/withdraw").status_code == 200

    def sending(
        self, begin: bytes = PART, *, length: int = 500_000
    ) -> contextlib.AbstractContextManager[socket.socket]:
        """Announce a body, send its beginning, and give the connection."""
        headers = {"Authorization": f"Bearer {self.token}", **MULTIPART, "Content-Length": str(length)}
        return sending(self.site, self.path, begin, headers=headers)

    def stored(self) -> list[Path]:
        return stored(self.site)

    def total(self) -> int:
        with self.site.client(self.token) as client:
            return int(client.get("/api/v1/submissions").json()["total"])


def assert_limited(response: httpx.Response, *, within: timedelta) -> None:
    assert response.status_code == 429, response.text
    assert 0 < int(response.headers["retry-after"]) <= within.total_seconds()
    assert response.json()["allowed_at"] > now().isoformat()


def test_a_valid_upload_is_stored_even_though_the_broker_is_down(serve: Serve) -> None:
    entrant = Entrant(serve())
    response = entrant.submit()
    assert response.status_code == 201
    submission = response.json()
    assert (submission["state"], submission["queue_position"]) == ("queued", 1)
    assert submission["archive"]["bytes"] == len(RESULTS)
    store = entrant.site.application.state.services.store
    assert len(list(store.stored())) == 2, "the archive, and the columns that were read from it"
    with store.open(submission["archive"]["sha256"]) as archive:
        assert archive.read() == RESULTS


# Before the body


@pytest.mark.parametrize("token", [None, "vocb_unknown"], ids=["visitor", "unknown"])
def test_visitors_are_refused_before_the_body_is_read(serve: Serve, token: str | None) -> None:
    entrant = Entrant(serve())
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with sending(
        entrant.site, entrant.path, b"", headers={**headers, **MULTIPART, "Content-Length": "500000"}
    ) as connection:
        assert b" 401 " in connection.recv(100)


def test_a_challenge_that_is_closed_refuses_before_the_body_is_read(serve: Serve) -> None:
    entrant = Entrant(serve(), opens_at=now() - 2 * WEEK, closes_at=now() - WEEK)
    assert entrant.submit(bytes(LIMIT + 1)).status_code == 409


def test_a_used_up_quota_refuses_before_the_body_is_read(serve: Serve) -> None:
    entrant = Entrant(serve(), quota=1)
    assert entrant.submit().status_code == 201
    with entrant.sending(b"") as connection:
        assert b" 429 " in connection.recv(100)


def test_too_many_bytes_in_a_day_are_refused_before_they_are_read(serve: Serve) -> None:
    entrant = Entrant(serve(upload_bytes_per_day=LIMIT))
    assert entrant.submit(bytes(LIMIT // 2)).status_code == 422
    with entrant.sending(b"", length=LIMIT * 3 // 4) as connection:
        assert b" 429 " in connection.recv(100)
    assert_limited(entrant.submit(bytes(LIMIT * 3 // 4)), within=timedelta(days=1))


def test_withdrawing_returns_the_quota_but_not_the_bytes(serve: Serve) -> None:
    entrant = Entrant(serve(upload_bytes_per_day=2000), quota=1)
    for _ in range(2):
        accepted = entrant.submit()
        assert accepted.status_code == 201, accepted.text
        entrant.withdraw(accepted.json()["id"])
    assert_limited(entrant.submit(bytes(1500)), within=timedelta(days=1))


# Attempts


def cut_off(entrant: Entrant) -> None:
    with entrant.sending(PART + bytes(1000)):
        wait_until(lambda: len(entrant.stored()) == 1)
    wait_until(lambda: entrant.stored() == [])


def malformed(entrant: Entrant) -> None:
    with entrant.sending(b"no form at all", length=14) as connection:
        assert b" 400 " in connection.recv(100)


def too_large(entrant: Entrant) -> None:
    assert entrant.submit(bytes(LIMIT + 1)).status_code == 413
    assert entrant.stored() == []


def far_too_large(entrant: Entrant) -> None:
    response = entrant.submit(bytes(LIMIT + 11 * MIB))
    assert (response.status_code, response.json()["detail"]) == (413, "A file may have at most 1 MiB.")


def announced_too_large(entrant: Entrant) -> None:
    with entrant.sending(b"", length=100 * MIB) as connection:
        assert b" 413 " in connection.recv(100)


def larger_than_announced(entrant: Entrant) -> None:
    """In chunks, of which the server learns the number when they arrive."""

    def endless() -> Iterator[bytes]:
        yield PART
        for _ in range(LIMIT // 1000 * 3):
            yield bytes(1000)

    # It may have answered and hung up while the rest is sent.
    with entrant.site.client(entrant.token) as client, contextlib.suppress(httpx.WriteError):
        assert client.post(entrant.path, content=endless(), headers=MULTIPART).status_code == 413
    assert entrant.stored() == []


def rejected(entrant: Entrant) -> None:
    assert entrant.submit(b"no archive").status_code == 422


def with_wrong_fields(entrant: Entrant) -> None:
    assert entrant.submit(method_name="").status_code == 422


def accepted(entrant: Entrant) -> None:
    assert entrant.submit().status_code == 201


def over_quota(entrant: Entrant) -> None:
    assert entrant.submit().status_code == 429


@pytest.mark.parametrize(
    "attempt",
    [
        cut_off,
        malformed,
        too_large,
        far_too_large,
        announced_too_large,
        larger_than_announced,
        rejected,
        with_wrong_fields,
        accepted,
    ],
)
def test_an_attempt_counts_whatever_its_outcome(serve: Serve, attempt: Callable[[Entrant], None]) -> None:
    entrant = Entrant(serve(uploads_per_hour=1))
    attempt(entrant)
    wait_until(lambda: entrant.submit().status_code == 429)
    assert_limited(entrant.submit(), within=timedelta(hours=1))


def test_an_attempt_over_quota_counts_too(serve: Serve) -> None:
    entrant = Entrant(serve(uploads_per_hour=3), quota=1)
    accepted(entrant)
    for _ in range(2):
        over_quota(entrant)
    assert "within an hour" in entrant.submit().json()["detail"]


# While the body arrives


def test_a_person_has_two_uploads_in_progress_and_the_third_gets_the_time_to_retry(serve: Serve) -> None:
    entrant = Entrant(serve())
    with entrant.sending(), entrant.sending():
        wait_until(lambda: len(entrant.stored()) == 2)
        assert_limited(entrant.submit(), within=timedelta(minutes=1))
    wait_until(lambda: entrant.submit().status_code == 201)


@pytest.mark.services
def test_uploads_that_end_while_the_database_is_down_do_not_keep_their_places(serve: Serve) -> None:
    with needed(crashing_postgres()) as (server, process):
        url = in_full(server.create_database())
        migrations.upgrade(url)
        entrant = Entrant(serve(database_url=url))
        with entrant.sending(), entrant.sending():
            wait_until(lambda: len(entrant.stored()) == 2)
            process.kill()
        wait_until(lambda: entrant.stored() == [])
        process.start()
        wait_until(lambda: entrant.submit().status_code == 201)  # long before the leases expire
        entrant.site.database.close()


def test_a_body_that_is_too_slow_is_aborted(serve: Serve) -> None:
    entrant = Entrant(serve(upload_time_limit=timedelta(seconds=1)))
    with entrant.sending(PART + bytes(1000)) as connection:
        assert b" 408 " in connection.recv(100)
    wait_until(lambda: entrant.stored() == [])


# While it is checked


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_a_client_that_goes_away_ends_the_checks(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The upload is a pipe that nothing is written to when it is checked, so that reading it never ends."""
    entrant = Entrant(serve(uploads_per_hour=2, validation_processes=1))
    archives = entrant.site.application.state.services.store
    receive, writers = archives.receive, list[int]()

    def receive_into_pipe(**given: int) -> object:
        archive = receive(**given)
        flush = archive.flush  # before the check; the archive is flushed to disk while it is checked

        def flush_and_replace() -> None:
            flush()
            archive.path.unlink(missing_ok=True)
            os.mkfifo(archive.path)
            writers.append(os.open(archive.path, os.O_RDWR))

        archive.flush = flush_and_replace
        return archive

    monkeypatch.setattr(archives, "receive", receive_into_pipe)
    validator = entrant.site.application.state.services.validator
    with entrant.sending(BODY, length=len(BODY)):
        wait_until(lambda: validator.reading == 1)
    wait_until(lambda: validator.reading == 0)
    monkeypatch.undo()
    wait_until(lambda: not any(path.is_fifo() for path in entrant.site.settings.archives.rglob("*")))
    for writer in writers:
        os.close(writer)
    assert entrant.total() == 0
    assert entrant.submit().status_code == 201, "the only process for validation is free again"
    assert entrant.submit().status_code == 429, "the attempt that was broken off counts"


def test_a_refused_file_is_removed_outside_the_event_loop(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    removed_in = []
    remove = IncomingFile.remove

    def remove_and_tell(incoming: IncomingFile) -> None:
        removed_in.append(threading.current_thread().name)
        remove(incoming)

    monkeypatch.setattr(IncomingFile, "remove", remove_and_tell)
    entrant = Entrant(serve())
    assert entrant.submit(b"no archive").status_code == 422
    assert removed_in
    assert "site" not in removed_in, "the thread that serves everyone"


def test_an_archive_that_the_disk_fails_to_take_is_not_accepted(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    entrant = Entrant(serve())

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        response = entrant.submit()
    assert (response.status_code, response.json()["code"]) == (507, "storage_full")
    assert (entrant.total(), entrant.stored()) == (0, [])
    assert entrant.submit().status_code == 201


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_archive_that_is_lost_while_it_is_read_is_to_be_sent_again(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    entrant, validate = Entrant(serve()), Intake._validate
    incoming = entrant.site.settings.archives / "incoming"

    async def lose(self: Intake, *given: Any, **named: Any) -> Report:
        report = await validate(self, *given, **named) if when == "after" else None
        shutil.rmtree(incoming)
        incoming.mkdir()
        return report or await validate(self, *given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(Intake, "_validate", lose)
        response = entrant.submit()
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert (entrant.total(), entrant.stored()) == (0, [])
    assert entrant.submit().status_code == 201


# Fields


def test_other_bodies_are_capped_too(serve: Serve) -> None:
    entrant = Entrant(serve())
    with entrant.site.client(entrant.token) as client:
        assert client.post("/api/v1/challenges", json={"title": "x" * (2 << 20)}).status_code == 413


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"method_name": ""}, "method_name"),
        ({"method_name": "x" * 101}, "method_name"),
        ({"method_name": "bell\x07"}, "method_name"),
        ({"segmentation_classes": "car,unicorn"}, "segmentation_classes"),
        ({"contributors": "x" * 100_000}, "contributors"),
        ({"segmentation_classes": "x," * 5000}, "segmentation_classes"),
        ({"segmentation_classes": "," * (8 * MIB)}, "segmentation_classes"),
    ],
    ids=["empty", "long", "control character", "unknown class", "longer than any", "commas", "commas without end"],
)
def test_wrong_fields_are_reported_by_name(serve: Serve, fields: dict[str, str], wrong: str) -> None:
    entrant = Entrant(serve(upload_limit_bytes=16 * MIB))
    response = entrant.submit(**fields)
    assert response.status_code == 422
    assert set(response.json()["fields"]) == {wrong}
    assert len(response.text) < 1000
    assert entrant.stored() == []


def test_a_misspelt_parameter_is_refused_instead_of_ignored(serve: Serve) -> None:
    entrant = Entrant(serve())
    with entrant.site.client(entrant.token) as client:
        address = f"{entrant.path}?rehersal=true"
        refused = client.post(address, files={"archive": RESULTS}, data={"method_name": "Net"})
        listed = client.get("/api/v1/submissions?chalenge=x&per_page=1&v=2")
    assert refused.status_code == 422
    assert refused.json()["fields"] == {"rehersal": "There is no such parameter. Do you mean 'rehearsal'?"}
    assert listed.status_code == 422
    assert set(listed.json()["fields"]) == {"chalenge", "v"}
    assert (entrant.total(), entrant.stored()) == (0, [])


def test_a_long_list_of_images_is_read_once(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    parse_list = forms.parse_list

    def counting(text: str) -> object:
        nonlocal read
        read += len(text) > 0
        return parse_list(text)

    monkeypatch.setattr(forms, "parse_list", counting)
    entrant = Entrant(serve(upload_limit_bytes=16 * MIB))
    lines = "".join(f"{number:064x} {number:016x}\n" for number in range(80_000))
    response = entrant.submit(flickr_images="yes", flickr_image_hashes=lines)
    assert response.status_code == 201, response.text[:1000]
    assert response.json()["method"]["flickr_image_count"] == 80_000
    assert read == 1
