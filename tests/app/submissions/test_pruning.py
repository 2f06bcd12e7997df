"""Archives that nothing needs are removed, never one that a row needs or that is being uploaded."""

import contextlib
import hashlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select, update

from tests.support.archives import stored_path
from tests.support.backend import Backend, make_archive, make_columns
from tests.support.factories import make_file
from tests.support.phases import complete
from tests.support.services import REAL
from vocboard.app.accounts.models import EmailLink, LinkPurpose, Role, User, WebSession
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import Database, now
from vocboard.app.intake.challenge_files import remove_file
from vocboard.app.organising import copying
from vocboard.app.participating import withdrawing as service
from vocboard.app.storage.archives import SET_ASIDE_FOR, ArchiveStore
from vocboard.app.storage.local_files import ABANDONED_AFTER
from vocboard.app.submissions.models import State, Submission
from vocboard.app.submissions.pruning import Pruned, prune
from vocboard.app.teams.models import TeamInvitation
from vocboard.app.teams.queries import locked_team_of

MONTH = timedelta(days=30)
ARCHIVE = make_archive()
SHA256 = hashlib.sha256(ARCHIVE).hexdigest()
PROCESSES = multiprocessing.get_context("forkserver")  # all forked from one, which has imported this module
PROCESSES.set_forkserver_preload([__name__])


def check_stored(backend: Backend, sha256: str | None) -> None:
    assert sha256 is not None
    with backend.store.open(sha256):
        pass


def pruned(backend: Backend, kept_for: timedelta = MONTH) -> Pruned:
    return prune(backend.database, backend.store, withdrawn_kept_for=kept_for)


def withdraw_all(backend: Backend, *, ago: timedelta) -> None:
    with backend.database.writing() as session:
        session.execute(update(Submission).values(state=State.WITHDRAWN, finished_at=now() - ago))


def orphan(backend: Backend) -> Path:
    """Store an archive that no row knows, as a process does that is killed before it commits."""
    with backend.store.receive(limit=len(ARCHIVE)) as incoming:
        incoming.write(ARCHIVE)
        incoming.keep()
    return stored_path(backend.store, SHA256)


def age(path: Path, by: timedelta) -> None:
    then = time.time() - by.total_seconds() - 60
    os.utime(path, (then, then))


@pytest.mark.parametrize("state", [state for state in State if state is not State.WITHDRAWN])
def test_the_archive_of_a_submission_stays_in_every_state_but_one(backend: Backend, state: State) -> None:
    backend.submit(backend.user(), backend.challenge())
    with backend.database.writing() as session:
        session.execute(update(Submission).values(state=state, finished_at=now() - 2 * MONTH))
    assert pruned(backend) == Pruned(0, 0, 0, 0)
    check_stored(backend, SHA256)


def test_the_archive_of_a_withdrawn_submission_is_removed_after_a_time(backend: Backend) -> None:
    backend.submit(backend.user(), backend.challenge(), has_columns=False)
    withdraw_all(backend, ago=MONTH / 2)
    assert pruned(backend).withdrawn == 0
    check_stored(backend, SHA256)
    withdraw_all(backend, ago=2 * MONTH)
    assert pruned(backend).withdrawn == 1
    assert not stored_path(backend.store, SHA256).exists()
    assert pruned(backend) == Pruned(0, 0, 0, 0)
    with backend.database.reading() as session:
        query = select(AuditEvent).where(AuditEvent.action == "submission.remove_archive")
        assert len(session.scalars(query).all()) == 1


def test_the_time_begins_with_the_withdrawal_however_long_ago_it_was_scored(backend: Backend) -> None:
    user = backend.user()
    submission_id = backend.submit(user, backend.challenge())
    with backend.database.writing() as session:
        session.execute(update(Submission).values(state=State.SCORED, finished_at=now() - 2 * MONTH))
    with backend.database.writing() as session:
        service.withdraw(session, submission_id=submission_id, user=user)
    assert pruned(backend) == Pruned(0, 0, 0, 0)
    check_stored(backend, SHA256)


def test_columns_stay_and_go_with_their_archive(backend: Backend) -> None:
    user, challenge = backend.user(), backend.challenge()
    submission = backend.submission(backend.submit(user, challenge, columns=make_columns()))
    assert submission.columns_sha256 is not None
    assert pruned(backend) == Pruned(0, 0, 0, 0)
    check_stored(backend, submission.columns_sha256)
    withdraw_all(backend, ago=2 * MONTH)
    assert pruned(backend).withdrawn == 2
    assert list(backend.store.stored()) == []
    assert backend.store.aside() == []
    with backend.database.reading() as session:
        events = session.scalars(select(AuditEvent.action)).all()
    assert list(events).count("submission.remove_archive") == 1


def test_columns_stay_while_another_submission_needs_them(backend: Backend) -> None:
    user, challenge = backend.user(), backend.challenge()
    backend.submit(user, challenge, columns=make_columns())
    withdraw_all(backend, ago=2 * MONTH)
    kept = backend.submission(backend.submit(user, challenge, archive=b"another", columns=make_columns()))
    assert pruned(backend).withdrawn == 1
    assert set(backend.store.stored()) == {kept.archive_sha256, kept.columns_sha256}


def test_columns_that_were_set_aside_come_back_when_a_row_needs_them(backend: Backend) -> None:
    submission = backend.submission(backend.submit(backend.user(), backend.challenge(), columns=make_columns()))
    assert submission.columns_sha256 is not None
    backend.store.set_aside(submission.columns_sha256)
    assert pruned(backend).restored == 1
    check_stored(backend, submission.columns_sha256)


def test_an_archive_stays_while_any_submission_of_the_same_content_needs_it(backend: Backend) -> None:
    user, challenge = backend.user(), backend.challenge()
    backend.submit(user, challenge)
    withdraw_all(backend, ago=2 * MONTH)
    backend.submit(user, challenge)
    assert pruned(backend).withdrawn == 0
    check_stored(backend, SHA256)


def test_an_archive_that_no_row_knows_is_set_aside_then_removed(backend: Backend) -> None:
    path = orphan(backend)
    assert pruned(backend).unknown == 1
    assert not path.exists()
    [aside] = backend.settings.archives.glob("set-aside/*")
    assert pruned(backend) == Pruned(0, 0, 0, 0)
    age(aside, SET_ASIDE_FOR)
    assert pruned(backend).abandoned == 1
    assert not aside.exists()


def test_an_archive_that_was_set_aside_comes_back_when_a_row_needs_it(backend: Backend) -> None:
    """As when pruning has met the wrong database, or one that was restored afterwards."""
    backend.submit(backend.user(), backend.challenge())
    backend.store.set_aside(SHA256)
    assert pruned(backend).restored == 1
    check_stored(backend, SHA256)


def test_what_still_arrives_is_left_alone_and_what_a_killed_process_left_is_removed(backend: Backend) -> None:
    ready = PROCESSES.Event()
    killed = PROCESSES.Process(target=receive_for_ever, args=(backend.settings.archives, ready))
    killed.start()
    assert ready.wait(60)
    [left] = backend.store.incoming.iterdir()
    age(left, ABANDONED_AFTER)
    assert pruned(backend).abandoned == 0, "its process lives"
    assert killed.pid is not None
    os.kill(killed.pid, signal.SIGKILL)
    killed.join()
    with backend.store.receive(limit=10) as incoming:
        age(incoming.path, ABANDONED_AFTER)
        assert pruned(backend).abandoned == 1
        assert not left.exists()
        assert incoming.path.exists()


def receive_for_ever(directory: Path, ready: threading.Event) -> None:
    """Be the process that is killed while an upload arrives."""
    with ArchiveStore(directory).receive(limit=10) as incoming:
        incoming.write(b"half")
        incoming.finish()
        ready.set()
        signal.pause()


@pytest.mark.full
def test_sessions_links_and_invitations_are_kept_no_longer_than_the_privacy_page_says(backend: Backend) -> None:
    user, challenge, hour = backend.user(), backend.challenge(), timedelta(hours=1)
    with backend.database.writing() as session:
        team, _ = locked_team_of(session, challenge, user)
        for number in range(2):
            given: dict[str, Any] = {"expires_at": now() + hour * number, "token_hash": bytes([number]) * 32}
            session.add(WebSession(user_id=user.id, last_used_at=now(), **given))
            session.add(EmailLink(user_id=user.id, purpose=LinkPurpose.RESET_PASSWORD, **given))
            session.add(TeamInvitation(team_id=team.id, email="bob@lab.example", **given))
    pruned(backend)
    with backend.database.reading() as session:
        for table in (WebSession, EmailLink, TeamInvitation):
            assert session.scalars(select(table.token_hash)).all() == [b"\1" * 32]


def test_identical_archives_are_uploaded_while_others_prune(backend: Backend) -> None:
    """Each upload makes an archive needed that a moment ago was not; no accepted one may ever be missing."""
    user, challenge = backend.user(), backend.challenge()
    backend.submit(user, challenge)
    withdraw_all(backend, ago=2 * MONTH)
    stop = PROCESSES.Event()
    settings = backend.settings
    pruners = [
        PROCESSES.Process(target=prune_until, args=(settings.database, settings.archives, stop)) for _ in range(2)
    ]
    for pruner in pruners:
        pruner.start()
    missing: list[str] = []
    uploads = [threading.Thread(target=upload_and_look, args=(backend, user, challenge, missing)) for _ in range(2)]
    try:
        for upload in uploads:
            upload.start()
        for upload in uploads:
            upload.join()
    finally:
        stop.set()
        for pruner in pruners:
            pruner.join(60)
    assert missing == []
    assert [pruner.exitcode for pruner in pruners] == [0, 0]


def upload_and_look(backend: Backend, user: User, challenge: Challenge, missing: list[str]) -> None:
    for _ in range(15):
        submission_id = backend.submit(user, challenge)
        for sha256 in (SHA256, backend.submission(submission_id).columns_sha256):
            if not stored_path(backend.store, str(sha256)).exists():
                missing.append(f"{submission_id} has no {sha256}")
        with backend.database.writing() as session:
            service.withdraw(session, submission_id=submission_id, user=user)
            row = session.get_one(Submission, submission_id)
            row.finished_at = now() - 2 * MONTH


def prune_until(url: str, directory: Path, stop: threading.Event) -> None:
    """Be a process that prunes all the time."""
    database = Database(url)
    while not stop.wait(0.005):  # SQLite's lock goes to the process that polls at the right moment
        prune(database, ArchiveStore(directory), withdrawn_kept_for=MONTH)
    database.close()


@pytest.mark.postgres
def test_pruning_waits_for_an_upload_that_is_about_to_commit(backend: Backend) -> None:
    """The archive is in its place and the row not yet committed: the moment at which a look finds no row."""
    user, challenge = backend.user(), backend.challenge()
    found: list[Pruned] = []
    asks_for_lock = threading.Event()

    def look(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement == "BEGIN IMMEDIATE" or "pg_advisory_xact_lock" in statement:
            asks_for_lock.set()

    def prune_beside() -> None:
        with contextlib.closing(Database(backend.settings.database)) as database:
            event.listen(database.engine, "before_cursor_execute", look)
            found.append(prune(database, backend.store, withdrawn_kept_for=MONTH))

    pruner = threading.Thread(target=prune_beside)
    keep = backend.store.keep

    def keep_and_wait(archive: object) -> str:
        sha256 = keep(archive)  # type: ignore[arg-type]
        pruner.start()
        assert asks_for_lock.wait(60)
        assert found == []
        return sha256

    replaced: Callable[..., str] = keep_and_wait
    backend.store.keep = replaced  # type: ignore[method-assign]
    backend.submit(user, challenge, has_columns=False)
    pruner.join(60)
    assert found == [Pruned(0, 0, 0, 0)]
    check_stored(backend, SHA256)


@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_a_copied_challenge_has_the_files_that_are_removed_meanwhile(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    organiser, path = backend.user(role=Role.ORGANISER), orphan(backend)
    challenge = backend.challenge(organiser=organiser)
    with backend.database.writing() as session:
        file = make_file(session, challenge.id, sha256=SHA256)
    files_of = vars(copying)["files_of"]
    removed: list[Future[None]] = []

    with ThreadPoolExecutor(1) as pool:

        def remove_then(*given: Any) -> Any:
            found = files_of(*given)
            who = {"slug": challenge.slug, "file_id": file.id, "user": organiser}
            removed.append(pool.submit(remove_file, backend.database, backend.store, **who))
            time.sleep(0.5)
            return found

        monkeypatch.setattr(copying, "files_of", remove_then)
        with backend.database.writing() as session:
            copying.copy(session, challenge=complete(session, challenge.id), user=organiser, slug="next")
        removed[0].result()
    assert path.exists()
