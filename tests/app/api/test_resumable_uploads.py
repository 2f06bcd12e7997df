"""Resumable uploads by the tus protocol: continued after every interruption, bounded, and nobody else's business."""

import errno
import hashlib
import os
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import httpx
import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from tests.support.backend import wait_until
from tests.support.browsing import from_here, signed_in, token_of
from tests.support.factories import make_challenge, make_token, make_user
from tests.support.life import upload_results
from tests.support.site import Site, serving
from tests.support.tus import NAME, Entrant, entering
from tests.support.uploading import RESULTS, count
from vocboard.app.database import now
from vocboard.app.intake import parts, receiving, resumable
from vocboard.app.intake.models import ResumableUpload, Upload, UploadKind
from vocboard.app.settings import Settings
from vocboard.app.storage import local_files
from vocboard.app.submissions.models import Submission

HALF = len(RESULTS) // 2
LIMIT = 1 << 20
TOO_LONG = "The part is larger than what is missing of the upload."


@pytest.fixture
def settings(database_url: str, broker_url: str, tmp_path: Path) -> Settings:
    return Settings(
        data_directory=tmp_path / "data", database_url=database_url, broker_url=broker_url, upload_limit_bytes=LIMIT
    )


@pytest.fixture
def entrant(site: Site) -> Iterator[Entrant]:
    with entering(site) as entered:
        yield entered


@pytest.fixture
def embedded(embedded_site: Site) -> Iterator[Entrant]:
    """An entrant of the embedded set-up, for what does not depend on the database."""
    with entering(embedded_site) as entered:
        yield entered


def other(entrant: Entrant) -> str:
    with entrant.site.writing() as session:
        return make_token(session, make_user(session))


# The life of an upload


def test_an_upload_in_parts_is_submitted_like_any_other(entrant: Entrant) -> None:
    created = entrant.create()
    assert created.status_code == 201
    path = created.headers["Location"]
    assert created.headers["Tus-Resumable"] == "1.0.0"
    assert created.headers["Upload-Expires"].endswith(" GMT")
    assert entrant.offset(path) == 0
    first = entrant.send(path, RESULTS[:HALF])
    assert (first.status_code, first.headers["Upload-Offset"]) == (204, str(HALF))
    head = entrant.client.head(path)
    assert head.headers["Upload-Offset"] == str(HALF)
    assert head.headers["Upload-Length"] == str(len(RESULTS))
    assert head.headers["Upload-Metadata"] == f"filename {NAME}"
    assert head.headers["Cache-Control"] == "no-store"
    too_early = entrant.submit(path)
    assert (too_early.status_code, too_early.json()["code"]) == (409, "conflict")
    assert f"{HALF:,} of the {len(RESULTS):,} bytes" in too_early.json()["detail"]
    assert entrant.send(path, RESULTS[HALF:], HALF).status_code == 204
    [shown] = entrant.client.get("/api/v1/uploads").json()
    assert (shown["received_bytes"], shown["file_name"], shown["challenge"]) == (
        len(RESULTS),
        "results.tar.gz",
        entrant.slug,
    )

    accepted = entrant.submit(path)
    assert accepted.status_code == 201, accepted.text
    assert accepted.json()["archive"] == {
        "name": "results.tar.gz",
        "bytes": len(RESULTS),
        "sha256": hashlib.sha256(RESULTS).hexdigest(),
    }
    assert entrant.client.head(path).status_code == 404
    assert entrant.files() == []
    assert entrant.client.get("/api/v1/uploads").json() == []

    again = entrant.submit(path)
    assert (again.status_code, again.json()["id"]) == (201, accepted.json()["id"])
    assert again.headers["Idempotent-Replayed"] == "true"
    assert entrant.count(Submission) == 1
    assert entrant.submit(path, method_name="Another").json()["code"] == "idempotency_key_reused"


@pytest.mark.postgres
def test_two_submissions_of_one_upload_at_the_same_time_are_one(entrant: Entrant) -> None:
    path = entrant.finished()
    together = threading.Barrier(2)

    def at_once(_: int) -> httpx.Response:
        together.wait()
        return entrant.submit(path)

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(at_once, range(2)))
    assert [answer.status_code for answer in answers] == [201, 201], [answer.text for answer in answers]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert entrant.count(Submission) == 1
    assert entrant.files() == []


def test_an_error_of_the_form_does_not_cost_the_upload_but_a_wrong_archive_does(entrant: Entrant) -> None:
    path = entrant.finished()
    wrong = entrant.submit(path, method_name=" ")
    assert (wrong.status_code, list(wrong.json()["fields"])) == (422, ["method_name"])
    assert entrant.submit(path).status_code == 201
    path = entrant.finished(b"not an archive")
    wrong = entrant.submit(path)
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_archive")
    assert entrant.client.head(path).status_code == 404
    assert entrant.files() == []


def test_an_archive_that_is_not_the_file_that_was_sent_is_refused(entrant: Entrant) -> None:
    path = entrant.finished()
    wrong = entrant.submit(path, archive_sha256="0" * 64)
    assert (wrong.status_code, wrong.json()["code"]) == (409, "wrong_digest")
    assert entrant.client.head(path).status_code == 404
    assert entrant.submit(entrant.finished(), archive_sha256=hashlib.sha256(RESULTS).hexdigest()).status_code == 201


def test_two_web_processes_share_an_upload(settings: Settings, entrant: Entrant) -> None:
    path = entrant.begun()
    assert entrant.send(path, RESULTS[:HALF]).status_code == 204
    with serving(settings) as second:
        entrant.client.base_url = second.url
        assert entrant.offset(path) == HALF
        with entrant.sending(path, b"", length=len(RESULTS) - HALF, offset=HALF):
            wait_until(lambda: is_arriving(entrant))
            locked = entrant.send(path, RESULTS[HALF:], HALF)
            assert (locked.status_code, locked.json()["code"]) == (423, "locked")
        wait_until(lambda: not is_arriving(entrant))
        assert entrant.send(path, RESULTS[HALF:], HALF).status_code == 204
        assert entrant.submit(path).status_code == 201


def is_arriving(entrant: Entrant) -> bool:
    return count(entrant.site, Upload, Upload.lease_expires_at.is_not(None)) == 1


# Interruptions


def test_what_has_arrived_before_the_client_hangs_up_counts(entrant: Entrant) -> None:
    content = random.Random(1).randbytes(900_000)
    path = entrant.begun(len(content))
    with entrant.sending(path, content[:500_000], length=len(content)):
        wait_until(lambda: sum(file.stat().st_size for file in entrant.files()) > 400_000)
        assert entrant.offset(path) == 0, "it is not recorded yet"
    wait_until(lambda: entrant.offset(path) > 400_000)
    offset = entrant.offset(path)
    assert entrant.send(path, content[offset:], offset).status_code == 204
    assert [file.read_bytes() for file in entrant.files()] == [content]


def test_what_a_crash_leaves_beyond_the_offset_is_cut_off(embedded: Entrant) -> None:
    path = embedded.begun()
    assert embedded.send(path, RESULTS[:HALF]).status_code == 204
    [file] = embedded.files()
    with file.open("ab") as written:
        written.write(b"not brought to disk before the crash")
    assert embedded.offset(path) == HALF
    assert embedded.send(path, RESULTS[HALF:-1], HALF).status_code == 204
    assert embedded.send(path, RESULTS[-1:], len(RESULTS) - 1).status_code == 204
    assert embedded.submit(path).json()["archive"]["sha256"] == hashlib.sha256(RESULTS).hexdigest()


@pytest.mark.parametrize("is_finished", [False, True])
@pytest.mark.parametrize("how", ["removed", "shortened"])
def test_an_upload_whose_file_is_lost_is_begun_again(embedded: Entrant, how: str, is_finished: bool) -> None:
    path = embedded.begun()
    assert embedded.send(path, RESULTS if is_finished else RESULTS[:HALF]).status_code == 204
    [file] = embedded.files()
    if how == "removed":
        file.unlink()
    else:
        os.truncate(file, HALF - 1)
    assert embedded.client.head(path).status_code == 404
    answer = embedded.submit(path) if is_finished else embedded.send(path, RESULTS[HALF:], HALF)
    assert (answer.status_code, answer.json()["detail"]) == (
        404,
        "The server has lost what was sent of this upload. Send the file again.",
    )


def test_parts_are_recorded_while_they_arrive(embedded: Entrant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "RECORDED_EVERY_BYTES", 1)
    size = 3 << 20
    path = embedded.begun(size)
    with embedded.sending(path, bytes(size - 1), length=size):
        wait_until(lambda: embedded.offset(path) >= 1 << 20)


def test_a_part_whose_end_the_database_does_not_record_is_sent_again(
    embedded: Entrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = resumable.record
    failures = iter([OperationalError("UPDATE uploads", {}, Exception("connection lost"))])

    def fail_once(session: Session, upload_id: UUID, size: int) -> None:
        for failure in failures:
            raise failure
        record(session, upload_id, size)

    monkeypatch.setattr(resumable, "record", fail_once)
    path = embedded.begun()
    lost = embedded.send(path, RESULTS[:HALF])
    assert (lost.status_code, lost.headers["Upload-Offset"]) == (204, "0")
    assert not receiving._ending  # or it would end the next part
    assert embedded.send(path, RESULTS).status_code == 204
    assert embedded.submit(path).status_code == 201


@pytest.mark.parametrize(
    ("error", "status", "code", "message"),
    [
        (errno.ENOSPC, 507, "storage_full", "no disk space left"),
        (errno.EIO, 503, "unavailable", "cannot reach the storage"),
    ],
)
def test_an_error_of_the_disk_is_explained_and_keeps_what_is_there(
    embedded: Entrant, monkeypatch: pytest.MonkeyPatch, error: int, status: int, code: str, message: str
) -> None:
    path = embedded.begun()
    write, written = os.write, 0

    def full(descriptor: int, data: bytes) -> int:
        nonlocal written
        if written >= HALF:
            raise OSError(error, os.strerror(error))
        written += write(descriptor, data[: HALF - written])
        return written

    with monkeypatch.context() as patched:
        patched.setattr(local_files.os, "write", full)
        answer = embedded.send(path, RESULTS)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert message in answer.json()["detail"]
    assert embedded.offset(path) == HALF
    assert embedded.send(path, RESULTS[HALF:], HALF).status_code == 204
    assert embedded.submit(path).status_code == 201


def test_an_upload_that_the_disk_has_no_room_for_is_refused_at_once(
    embedded: Entrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_files.UnfinishedFiles, "free_bytes", lambda _: HALF)
    assert embedded.create().json()["code"] == "storage_full"
    assert embedded.create(HALF).status_code == 201


# Limits


def test_the_oldest_unfinished_upload_makes_way(entrant: Entrant) -> None:
    paths = [entrant.begun() for _ in range(5)]
    assert entrant.send(paths[1], RESULTS[:HALF]).status_code == 204
    assert entrant.client.head(paths[0]).status_code == 404
    assert len(entrant.client.get("/api/v1/uploads").json()) == 4
    with entrant.sending(paths[1], b"", length=1, offset=HALF):
        wait_until(lambda: is_arriving(entrant))
        paths.append(entrant.begun())
        assert entrant.client.head(paths[1]).status_code == 200, "something is being sent to it"
        assert entrant.client.head(paths[2]).status_code == 404
    assert len(entrant.files()) == 1


def test_announced_bytes_count_until_the_upload_is_removed(settings: Settings) -> None:
    with (
        serving(settings.model_copy(update={"upload_bytes_per_day": LIMIT})) as site,
        entering(site) as entrant,
    ):
        path = entrant.begun(LIMIT // 2 + 1)
        assert entrant.send(path, bytes(1000)).status_code == 204
        limited = entrant.create(LIMIT // 2)
        assert limited.status_code == 429
        assert limited.json()["allowed_at"] > now().isoformat()
        plain = upload_results(entrant.client, entrant.slug, bytes(LIMIT // 2))
        assert plain.status_code == 429, "both ways of uploading share the limit"
        assert entrant.client.delete(path).status_code == 204
        assert entrant.files() == []
        assert entrant.create(LIMIT - 1000).status_code == 201
        assert entrant.create(1).status_code == 429, "what has arrived counts"


def test_parts_count_as_concurrent_uploads(entrant: Entrant) -> None:
    paths = [entrant.begun() for _ in range(3)]
    with entrant.sending(paths[0], b"x", length=2), entrant.sending(paths[1], b"x", length=2):
        wait_until(lambda: len(entrant.files()) == 2)

        def refused() -> bool:
            return entrant.send(paths[2], b"").status_code == 429

        wait_until(refused)
    wait_until(lambda: entrant.send(paths[2], RESULTS).status_code == 204)


def test_an_expired_upload_is_gone_with_its_file(entrant: Entrant) -> None:
    path = entrant.begun()
    assert entrant.send(path, RESULTS[:HALF]).status_code == 204
    with entrant.site.writing() as session:
        session.execute(update(ResumableUpload).values(expires_at=now() - timedelta(seconds=1)))
    assert entrant.client.head(path).status_code == 404
    assert entrant.send(path, RESULTS[HALF:], HALF).status_code == 404
    assert entrant.submit(path).status_code == 404
    services = entrant.site.application.state.services
    assert resumable.remove_expired(services.database, services.store) == 1
    assert entrant.files() == []
    assert entrant.count(ResumableUpload) == 0
    with entrant.site.database.reading() as session:
        is_resumable = Upload.kind == UploadKind.RESUMABLE
        assert session.scalars(select(Upload.byte_count).where(is_resumable)).all() == [HALF]


def test_who_may_not_submit_cannot_begin(entrant: Entrant) -> None:
    for _ in range(2):
        assert entrant.submit(entrant.finished()).status_code == 201
    assert entrant.create().status_code == 429, "no quota is left"
    assert entrant.client.post("/api/v1/uploads", params={"challenge": "none"}).status_code == 422
    unknown = entrant.client.post("/api/v1/uploads", params={"challenge": "none"}, headers={"Upload-Length": "1"})
    assert unknown.status_code == 404


def test_an_upload_for_another_challenge_is_refused(entrant: Entrant) -> None:
    path = entrant.finished()
    with entrant.site.writing() as session:
        entrant.slug = make_challenge(session, edition="VOC2007", competitions=["comp1"]).slug
    answer = entrant.submit(path)
    assert answer.status_code == 409
    assert "for another challenge" in answer.json()["detail"]


def test_a_stranger_can_do_nothing_with_it(entrant: Entrant) -> None:
    path = entrant.finished()
    owners = entrant.client.headers["Authorization"]
    entrant.client.headers["Authorization"] = f"Bearer {other(entrant)}"
    assert entrant.client.get("/api/v1/uploads").json() == []
    part = {"Upload-Offset": str(len(RESULTS)), "Content-Type": "application/offset+octet-stream"}
    answers = [
        entrant.client.head(path),
        entrant.client.get(path),
        entrant.send(path, b"", len(RESULTS)),
        entrant.client.delete(path),
        entrant.check(path),
        entrant.submit(path),
        entrant.client.post(path, content=b"", headers={**part, "X-HTTP-Method-Override": "PATCH"}),
        entrant.client.post(path, headers={"X-HTTP-Method-Override": "DELETE"}),
    ]
    assert [answer.status_code for answer in answers] == [404] * 8
    entrant.client.headers["Authorization"] = owners
    assert entrant.submit(path).status_code == 201


# The protocol


def test_requests_that_do_not_fit(embedded: Entrant) -> None:
    path = embedded.begun()
    assert embedded.send(path, RESULTS, 1).json()["code"] == "wrong_offset"
    longer = embedded.send(path, RESULTS + b"x")
    assert (longer.status_code, longer.json()["detail"]) == (413, TOO_LONG)
    assert embedded.send(path, RESULTS, **{"Content-Type": "text/plain"}).status_code == 415
    assert embedded.offset(path) == 0
    old = embedded.send(path, RESULTS, **{"Tus-Resumable": "0.2.2"})
    assert (old.status_code, old.headers["Tus-Version"], old.headers["Tus-Resumable"]) == (412, "1.0.0", "1.0.0")
    assert embedded.create(0).status_code == 422
    assert embedded.create(513 << 20).status_code == 413
    assert list(embedded.create(**{"Upload-Metadata": "filename *"}).json()["fields"]) == ["Upload-Metadata"]


def test_a_part_without_a_length_ends_at_the_end_of_the_upload(embedded: Entrant) -> None:
    path = embedded.begun()
    answer = embedded.client.patch(
        path,
        content=iter([RESULTS, b"too much"]),
        headers={"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"},
    )
    assert (answer.status_code, answer.json()["detail"]) == (413, TOO_LONG)
    assert embedded.offset(path) <= len(RESULTS)


def test_the_protocol_is_described(embedded: Entrant) -> None:
    answer = embedded.client.options("/api/v1/uploads")
    assert answer.status_code == 204
    assert answer.headers["Tus-Version"] == "1.0.0"
    assert answer.headers["Tus-Extension"] == "creation,expiration,termination"
    assert int(answer.headers["Tus-Max-Size"]) == embedded.site.settings.upload_limit_bytes


def test_a_client_without_patch_and_delete_sends_post(embedded: Entrant) -> None:
    path = embedded.begun()
    part = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    sent = embedded.client.post(path, content=RESULTS, headers={**part, "X-HTTP-Method-Override": "PATCH"})
    assert (sent.status_code, sent.headers["Upload-Offset"]) == (204, str(len(RESULTS)))
    assert embedded.client.post(path, headers={"X-HTTP-Method-Override": "DELETE"}).status_code == 204


# The page


def test_the_page_submits_an_upload_and_points_out_an_identical_archive(entrant: Entrant) -> None:
    path = f"/challenges/{entrant.slug}/submit"
    with signed_in(entrant.site, entrant.user.email) as browser:
        page = browser.get(path)

        def submit(upload: str, **fields: str) -> httpx.Response:
            sent = {"csrf_token": token_of(page), "method_name": "Method", "submit_incomplete": "true", **fields}
            return browser.post(
                path,
                params={"upload": upload.rpartition("/")[2]},
                files={name: (None, value) for name, value in sent.items()},
                headers=from_here(browser),
            )

        def begun_by_script(token: str) -> httpx.Response:
            return browser.post(
                "/api/v1/uploads",
                params={"challenge": entrant.slug},
                headers={"Upload-Length": "1", "X-CSRF-Token": token, **from_here(browser)},
            )

        assert begun_by_script(token_of(page)).status_code == 201
        assert begun_by_script("0" * 64).status_code == 403
        upload = entrant.finished()
        assert submit(upload, csrf_token="0" * 64).status_code == 403
        first = submit(upload)
        assert first.status_code == 303, first.text
        again = entrant.finished()
        pointed_out = submit(again)
        assert pointed_out.status_code == 409
        assert "You have submitted exactly this archive before" in pointed_out.text
        assert first.headers["Location"] in pointed_out.text
        assert entrant.count(Submission) == 1
        assert submit(again, submit_identical="true").status_code == 303
    assert entrant.count(Submission) == 2
