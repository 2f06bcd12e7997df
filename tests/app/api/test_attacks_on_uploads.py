"""What a participant tries with resumable uploads: more than the limits allow, and to submit what was not checked."""

import base64
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import httpx
import pytest
from anyio import to_thread
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from tests.support.backend import wait_until
from tests.support.site import Site, serving
from tests.support.tus import Entrant, entering
from tests.support.uploading import RESULTS, count
from vocboard.app.accounts import administration
from vocboard.app.accounts import service as accounts
from vocboard.app.challenges.models import Ban, Challenge, ChallengePhase
from vocboard.app.database import now
from vocboard.app.intake import resumable
from vocboard.app.intake.models import ResumableUpload, Upload
from vocboard.app.intake.service import Intake
from vocboard.app.settings import Settings
from vocboard.app.storage.local_files import UnfinishedFile
from vocboard.app.submissions.models import Submission

HALF = len(RESULTS) // 2
MIB = 1 << 20


@pytest.fixture
def entrant(embedded_site: Site) -> Iterator[Entrant]:
    with entering(embedded_site) as entered:
        yield entered


@pytest.fixture
def limited(sqlite_url: str, tmp_path: Path) -> Iterator[Entrant]:
    """Give an entrant who has three attempts an hour."""
    settings = Settings(data_directory=tmp_path / "data", database_url=sqlite_url, uploads_per_hour=3)
    with serving(settings) as site, entering(site) as entered:
        yield entered


def counted_bytes(entrant: Entrant) -> int:
    with entrant.site.database.reading() as session:
        return session.scalar(select(func.sum(Upload.byte_count))) or 0


def in_progress(entrant: Entrant) -> int:
    return count(entrant.site, Upload, Upload.lease_expires_at > now())


# More than the limits allow


def test_an_upload_with_its_check_is_one_attempt_and_further_checks_are_more(limited: Entrant) -> None:
    path = limited.finished()
    assert limited.check(path).status_code == 200
    assert limited.submit(path).status_code == 201
    path = limited.finished()
    assert [limited.check(path).status_code for _ in range(4)] == [200, 200, 200, 429], "the third one is an attempt"
    assert limited.create().status_code == 429
    plain = {"data": {"method_name": "M"}, "files": {"archive": ("results.tar.gz", RESULTS)}}
    url = f"/api/v1/challenges/{limited.slug}/submissions"
    assert limited.client.post(url, **plain).status_code == 429, "both ways of uploading share the attempts"  # type: ignore[arg-type]


def test_uploads_that_are_only_begun_are_few_and_cost_no_disk(limited: Entrant) -> None:
    assert [limited.create(500 * MIB).status_code for _ in range(5)] == [201, 201, 201, 429, 429]
    assert limited.files() == []
    for upload in limited.client.get("/api/v1/uploads").json():
        assert limited.client.delete(f"/api/v1/uploads/{upload['id']}").status_code == 204
    assert counted_bytes(limited) == 0, "nothing has arrived"
    assert limited.create().status_code == 429, "removing them returns no attempt"


def test_removing_an_upload_while_it_arrives_frees_neither_its_place_nor_its_bytes(entrant: Entrant) -> None:
    path = entrant.begun(MIB)
    with entrant.sending(path, bytes(500_000), length=MIB) as connection:
        wait_until(lambda: sum(file.stat().st_size for file in entrant.files()) > 300_000)
        assert entrant.client.delete(path).status_code == 204
        assert in_progress(entrant) == 1
        connection.sendall(bytes(MIB - 500_000))
        assert b" 404 " in connection.recv(1000)
    assert in_progress(entrant) == 0
    assert counted_bytes(entrant) == MIB
    assert entrant.files() == []


def test_many_slow_parts_are_as_limited_as_one_slow_body(entrant: Entrant) -> None:
    path = entrant.begun()
    with entrant.sending(path, RESULTS[:1], length=HALF) as connection:
        time.sleep(0.5)
        connection.sendall(RESULTS[1:HALF])
        assert b" 204 " in connection.recv(1000)
    with entrant.site.database.reading() as session:
        [waited] = session.scalars(select(ResumableUpload.receiving_seconds))
    assert 0.3 < waited < 60

    def send_after(waited: timedelta, offset: int) -> httpx.Response:
        with entrant.site.writing() as session:
            session.execute(update(ResumableUpload).values(receiving_seconds=waited.total_seconds()))
        return entrant.send(path, b"", offset)

    second, hour = timedelta(seconds=1), entrant.site.settings.upload_time_limit
    assert send_after(resumable.IDLE_TIME - second, HALF).status_code == 204
    assert send_after(resumable.IDLE_TIME + second, HALF).status_code == 410
    assert entrant.client.head(path).status_code == 404  # so that clients begin again
    path = entrant.begun()
    entrant.send(path, RESULTS[:HALF])
    much = 500 * MIB  # more than an hour's worth at the minimum rate
    with entrant.site.writing() as session:
        session.execute(update(ResumableUpload).values(received_bytes=much, byte_count=much + 1))
    os.truncate(entrant.files()[0], much)
    assert send_after(hour - timedelta(minutes=1), much).status_code == 204
    with entrant.site.writing() as session:
        session.execute(update(ResumableUpload).values(receiving_seconds=(hour - second / 2).total_seconds()))
    with entrant.sending(path, b"", length=1, offset=much) as connection:  # the last part has half a second left
        ended = HTTPResponse(connection)
        ended.begin()
        assert ended.status == 408
        assert b"took longer" in ended.read()
    refused = send_after(hour, much)
    assert (refused.status_code, refused.json()["code"]) == (410, "upload_too_slow")


def test_an_upload_has_a_limited_number_of_parts(entrant: Entrant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resumable, "MAX_PARTS", 3)
    path = entrant.begun()
    assert [entrant.send(path, b"").status_code for _ in range(4)] == [204, 204, 204, 410]
    assert entrant.client.head(path).status_code == 404


def test_the_next_part_cannot_begin_before_the_lease_of_the_last_has_ended(
    entrant: Entrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    close, in_progress_then = UnfinishedFile.close, list[int]()

    def closing(file: UnfinishedFile) -> None:
        in_progress_then.append(in_progress(entrant))
        close(file)

    monkeypatch.setattr(UnfinishedFile, "close", closing)
    assert entrant.send(entrant.begun(), RESULTS[:HALF]).status_code == 204
    assert in_progress_then == [0]


def test_of_many_parts_at_the_same_offset_one_is_taken(entrant: Entrant) -> None:
    contents = [bytes([number]) * 1000 for number in range(8)]
    path = entrant.begun(1000)
    token = entrant.client.headers["Authorization"]

    def send(content: bytes) -> int:
        with httpx.Client(base_url=entrant.site.url, headers={"Authorization": token}, timeout=60) as client:
            part = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
            return client.patch(path, content=content, headers=part).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(send, contents))
    assert statuses.count(204) == 1, statuses
    assert set(statuses) <= {204, 409, 423, 429}
    [file] = entrant.files()
    assert file.read_bytes() == contents[statuses.index(204)]


# Odd requests


def test_no_offset_but_the_end_of_the_upload_is_taken(entrant: Entrant) -> None:
    path = entrant.begun()
    for offset in ("-1", "1", str(2**63), str(10**40), "0x0", "", "1e0", "nan"):
        assert entrant.send(path, RESULTS, **{"Upload-Offset": offset}).status_code in (409, 422), offset
    assert entrant.files() == []


def test_lengths_that_nothing_can_have_are_refused(entrant: Entrant) -> None:
    for length in ("-1", "0", str(2**63), str(10**40), "1.5", "", "many"):
        assert entrant.create(**{"Upload-Length": length}).status_code in (413, 422), length
    assert entrant.count(Upload) == 0


def test_a_wrong_length_never_becomes_a_submission(entrant: Entrant) -> None:
    for announced in (len(RESULTS) - 1, len(RESULTS) + 1):
        path = entrant.begun(announced)
        entrant.send(path, RESULTS)
        assert entrant.submit(path).status_code == 409
        assert entrant.check(path).status_code == 409
    assert entrant.count(Submission) == 0


def test_a_file_name_can_neither_hide_anything_nor_break_the_database(site: Site) -> None:
    names = {
        "../../etc/passwd": "passwd",
        "C:\\results\\mine.tar": "mine.tar",
        "\u202egpj.tar": "gpj.tar",
        "x" * 1000 + ".tar": "x" * 251 + ".tar",
        "a\0b\r\nc\x1b[2J.tar": "abc[2J.tar",
    }
    with entering(site) as entrant:
        for name, shown in names.items():
            metadata = f"filename {base64.b64encode(name.encode()).decode()},other,again dw=="
            created = entrant.create(**{"Upload-Metadata": metadata})
            assert created.json()["file_name"] == shown
            path = created.headers["Location"]
            assert entrant.client.head(path).headers["Upload-Metadata"] == metadata
        entrant.send(path, RESULTS)
        assert entrant.submit(path).json()["archive"]["name"] == shown


def test_metadata_that_are_not_of_the_protocol_are_refused(entrant: Entrant) -> None:
    for metadata in ("filename /w==", "filename a", "x" * 2001, "filename \xff", "filename 7aCA"):
        answer = entrant.client.post(
            "/api/v1/uploads",
            params={"challenge": entrant.slug},
            headers=[(b"Upload-Length", b"10"), (b"Upload-Metadata", metadata.encode("latin-1"))],
        )
        assert answer.status_code == 422, metadata
    assert entrant.count(Upload) == 0


# People who may not submit any more


def disable(session: Session, entrant: Entrant) -> None:
    administration.disable(session, user=administration.get_user(session, entrant.user.email))


def revoke(session: Session, entrant: Entrant) -> None:
    user = administration.get_user(session, entrant.user.email)
    [row] = accounts.tokens_of(session, user)
    accounts.revoke_token(session, user=user, token_id=row.id)


def close(session: Session, entrant: Entrant) -> None:
    # An upload that begins in time counts for an hour, so this one has begun long before.
    before = now() - timedelta(hours=3)
    session.execute(update(ChallengePhase).values(closes_at=now() - timedelta(hours=2)))
    session.execute(update(ResumableUpload).values(created_at=before))


def ban(session: Session, entrant: Entrant) -> None:
    challenge_id = session.scalars(select(Challenge.id).where(Challenge.slug == entrant.slug)).one()
    session.add(Ban(user_id=entrant.user.id, challenge_id=challenge_id, reason="Two accounts."))


def archive(session: Session, entrant: Entrant) -> None:
    session.execute(update(Challenge).where(Challenge.slug == entrant.slug).values(archived_at=now()))


@pytest.mark.parametrize(("how", "status"), [(disable, 401), (revoke, 401), (ban, 403), (close, 409), (archive, 409)])
def test_an_upload_gives_no_right_to_submit(
    entrant: Entrant, how: Callable[[Session, Entrant], None], status: int
) -> None:
    path = entrant.finished()
    with entrant.site.writing() as session:
        how(session, entrant)
    answers = [entrant.check(path), entrant.submit(path)]
    assert [answer.status_code for answer in answers] == [status] * 2, [answer.text for answer in answers]
    assert entrant.count(Submission) == 0


# What was checked is what is submitted


def test_nothing_changes_a_finished_upload(entrant: Entrant) -> None:
    path = entrant.finished()
    assert entrant.check(path).json()["valid"]
    answers = [
        entrant.send(path, bytes(len(RESULTS))),
        entrant.send(path, bytes(HALF), HALF),
        entrant.send(path, bytes(10), len(RESULTS)),
    ]
    assert [answer.status_code for answer in answers] == [409, 409, 413]
    assert entrant.submit(path).json()["archive"]["sha256"] == hashlib.sha256(RESULTS).hexdigest()


def test_an_upload_that_is_being_checked_cannot_be_written_to(
    entrant: Entrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = entrant.finished()
    statuses: list[int] = []
    validate = Intake._validate

    async def write_first(self: Intake, *given: Any, **named: Any) -> Any:
        part = {**entrant.client.headers, "Upload-Offset": str(len(RESULTS))}
        part["Content-Type"] = "application/offset+octet-stream"
        async with httpx.AsyncClient(base_url=entrant.site.url, headers=part, timeout=60) as client:
            statuses.append((await client.patch(path, content=b"")).status_code)
        return await validate(self, *given, **named)

    monkeypatch.setattr(Intake, "_validate", write_first)
    assert entrant.submit(path).status_code == 201
    assert statuses == [423]


def test_an_upload_whose_file_was_shortened_is_not_submitted(entrant: Entrant) -> None:
    path = entrant.finished()
    [file] = entrant.files()
    file.write_bytes(RESULTS[:-1])
    assert entrant.submit(path).status_code == 404
    assert entrant.count(Submission) == 0


def test_one_upload_is_one_submission_whatever_the_keys(entrant: Entrant, monkeypatch: pytest.MonkeyPatch) -> None:
    path, both_checked, validate = entrant.finished(), threading.Barrier(2), Intake._validate

    async def wait_for_the_other(self: Intake, *given: Any, **named: Any) -> Any:
        report = await validate(self, *given, **named)
        await to_thread.run_sync(both_checked.wait)
        return report

    monkeypatch.setattr(Intake, "_validate", wait_for_the_other)
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda key: entrant.submit(path, key=key), ["one", "another"]))
    assert sorted(answer.status_code for answer in answers) == [201, 404], [answer.text for answer in answers]
    assert entrant.count(Submission) == 1
