"""What workers score, and what fails by our fault: the quota is given back, and participants see no traceback."""

import json
import os
import subprocess
import sys
import threading
import uuid
from dataclasses import replace
from datetime import timedelta
from shutil import rmtree

import pytest
from sqlalchemy import text

from tests.support.archives import stored_path
from tests.support.backend import ROOT, Backend, kill_group, make_archive, make_ground_truth
from tests.support.factories import IMAGES
from tests.support.jobs import evaluate_next, job_of, let_leases_end, process
from tests.support.life import eventually
from tests.support.phases import complete, main_phase, main_truth
from tests.support.s3_server import settings_of
from tests.support.services import REAL
from vocboard.app.challenges.queries import lock_challenge
from vocboard.app.evaluations import queries as evaluations
from vocboard.app.evaluations.scorings import make_current, start_scoring
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.jobs.service import Claim
from vocboard.app.storage.s3_objects import Bucket
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator import VERSION
from vocboard.worker import evaluation, work
from vocboard.worker.evaluation import TOOK_TOO_LONG, TOOK_TOO_MUCH_MEMORY, TOOK_TOO_MUCH_SPACE, WENT_WRONG
from vocboard.worker.ground_truth_files import GroundTruthFiles
from vocboard.worker.process import MoreUrgentError, Process

MEBIBYTE = 1024 * 1024

UNKNOWN = "9" * len(IMAGES[2])


def evaluate(backend: Backend) -> bool:
    return evaluate_next(backend.database, backend.store, backend.settings)


def expect_failure(submission: Submission, failure: str) -> None:
    assert (submission.state, submission.failure) == (State.FAILED, failure)
    assert submission.quota_returned_at is not None
    assert "worker/evaluation.py" in (submission.failure_detail or "")
    assert "Traceback" not in (submission.failure or "")


@pytest.fixture
def submission_id(backend: Backend) -> uuid.UUID:
    return backend.submit(backend.user(), backend.challenge())


def test_a_damaged_archive_is_not_scored(backend: Backend) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge(), has_columns=False)
    stored_path(backend.store, backend.submission(submission_id).archive_sha256).write_bytes(
        make_archive((0.1, 0.2, 0.3))
    )
    assert evaluate(backend)
    expect_failure(backend.submission(submission_id), WENT_WRONG)


def test_an_archive_that_does_not_fit_the_present_image_sets_is_not_scored_and_its_owner_learns_why(
    backend: Backend,
) -> None:
    submission_id = backend.submit(
        backend.user(), backend.challenge(), archive=make_archive().replace(IMAGES[2].encode(), UNKNOWN.encode())
    )
    assert evaluate(backend)
    failure = backend.submission(submission_id).failure or ""
    expect_failure(backend.submission(submission_id), failure)
    assert "it does not pass any more: " in failure
    assert UNKNOWN in failure
    assert failure.endswith("This submission does not count against your quota.")


def test_the_technical_reason_never_quotes_what_the_code_was_working_on(
    backend: Backend, submission_id: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("image 000001 has a car at 10, 10, 109, 109")

    monkeypatch.setattr(evaluation, "evaluate", fails)
    assert evaluate(backend)
    reason = backend.submission(submission_id).failure_detail or ""
    assert reason.startswith("ValueError\n")
    assert "worker/evaluation.py" in reason
    assert "000001" not in reason
    assert "10, 10" not in reason


def test_the_technical_reason_of_our_own_errors_has_their_message(backend: Backend) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge(), archive=b"not an archive")
    assert evaluate(backend)
    reason = (backend.submission(submission_id).failure_detail or "").splitlines()
    assert reason[0] == "OutdatedArchiveError: an accepted archive has problems:"
    assert reason[1].endswith(" (not_an_archive)"), "a line for each problem"


def test_damaged_ground_truth_fails_the_submission(backend: Backend, submission_id: uuid.UUID) -> None:
    backend.truth_file.write_bytes(b"something else")
    assert evaluate(backend)
    expect_failure(backend.submission(submission_id), WENT_WRONG)


def test_a_challenge_without_a_scoring_fails_the_submission(backend: Backend, submission_id: uuid.UUID) -> None:
    with backend.database.writing() as session:
        main_phase(session, backend.submission(submission_id).challenge_id).current_scoring_id = None
    assert evaluate(backend)
    expect_failure(backend.submission(submission_id), WENT_WRONG)


def test_a_lost_archive_fails_the_submission_at_the_last_attempt_and_the_reason_says_so(
    backend: Backend, submission_id: uuid.UUID
) -> None:
    lost = backend.submission(submission_id)
    for sha256 in {lost.archive_sha256, lost.columns_sha256} - {None}:
        stored_path(backend.store, str(sha256)).unlink()
    for _ in range(backend.settings.evaluation_attempts - 1):
        with pytest.raises(FileNotFoundError):
            evaluate(backend)
        let_leases_end(backend.database)
    assert evaluate(backend)
    expect_failure(backend.submission(submission_id), WENT_WRONG)
    assert "FileNotFoundError" in (backend.submission(submission_id).failure_detail or "")


def test_a_disk_that_is_away_leaves_the_submission_to_a_later_attempt(
    backend: Backend, submission_id: uuid.UUID, caplog: pytest.LogCaptureFixture
) -> None:
    away = backend.truth_file.rename(backend.truth_file.with_suffix(".away"))
    for _ in range(backend.settings.evaluation_attempts + 1):  # however often: nobody is told that workers went silent
        assert evaluate(backend)
        assert str(backend.truth_file) in caplog.text
        waiting = backend.submission(submission_id)
        assert (waiting.state, job_of(backend.database, submission_id).attempts) == (State.QUEUED, 0)
        assert not evaluate(backend), "not before the lease would have ended"
        let_leases_end(backend.database)
    away.rename(backend.truth_file)
    assert evaluate(backend)
    assert backend.submission(submission_id).state is State.SCORED


@pytest.mark.services
@pytest.mark.full
@pytest.mark.parametrize("set_up", ["embedded"], indirect=True)
def test_a_worker_whose_private_key_is_away_leaves_the_submission_to_a_later_attempt(
    backend: Backend, bucket: Bucket
) -> None:
    sealed = replace(backend, settings=backend.settings.model_copy(update=settings_of(bucket)))
    submission_id = sealed.submit(sealed.user(), sealed.challenge())
    rmtree(sealed.settings.truth)
    assert evaluate(sealed)
    assert sealed.submission(submission_id).state is State.QUEUED


def test_a_worker_that_can_read_all_ground_truth_reports_no_recovery(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    files = GroundTruthFiles(backend.database, backend.settings)
    with backend.database.reading_autocommit() as session:
        files.check(session)
    files.stop()
    assert "read again" not in caplog.text


def test_a_worker_that_looks_for_work_without_the_object_store_says_what_cannot_be_read(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    away = {"store": "s3://bucket", "store_endpoint": "http://127.0.0.1:1", "store_region": "x", "store_key_id": "x"}
    files = GroundTruthFiles(backend.database, backend.settings.model_copy(update=away))
    with backend.database.reading_autocommit() as session:
        files.check(session)
    assert "cannot read the ground truth in s3://bucket: Could not connect" in caplog.text


@pytest.mark.full
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits memory and forking")
def test_evaluations_that_break_a_limit_fail_while_others_go_on(backend: Backend) -> None:
    expected = {
        "memory": (TOOK_TOO_MUCH_MEMORY, "VOCBOARD_EVALUATION_MEMORY_LIMIT_BYTES"),  # 3 GiB, where 1 GiB is allowed
        "time": (TOOK_TOO_LONG, "VOCBOARD_EVALUATION_TIME_LIMIT"),
        "fork": (WENT_WRONG, "StoppedProcessError"),
        "scratch": (TOOK_TOO_MUCH_SPACE, "TMPDIR"),
    }
    user, challenge, submissions, poison = backend.user(), backend.challenge(), {}, {}
    for place, kind in enumerate(expected):
        submissions[kind] = backend.submit(user, challenge, archive=make_archive((0.9, 0.1, 0.2 + place / 10)))
        poison[backend.submission(submissions[kind]).archive_sha256] = kind
    others = [backend.submit(user, challenge) for _ in range(2)]
    own = {
        "data_directory": backend.settings.data_directory,
        "database_url": backend.settings.database_url,
        "broker_url": backend.settings.broker_url,
        "lease": "PT1S",
        "evaluation_attempts": 2,
        "evaluation_memory_limit_bytes": 1024 * MEBIBYTE,
        "evaluation_time_limit": "PT30S",
    }
    environment = {f"VOCBOARD_{name.upper()}": str(value) for name, value in own.items()}
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.support.poisoned", "worker"],
        env={**os.environ, **environment, "POISON": json.dumps(poison)},
        cwd=ROOT,
        start_new_session=True,
    )
    try:
        for kind, (failure, reason) in expected.items():
            failed = backend.wait_for(submissions[kind], State.FAILED)
            expect_failure(failed, failure)
            assert reason in (failed.failure_detail or "")
            attempts = 2 if kind == "scratch" else 1  # there may be room again later
            assert job_of(backend.database, failed.id).attempts == attempts
        for submission_id in others:
            backend.wait_for(submission_id, State.SCORED)
        assert worker.poll() is None
    finally:
        kill_group(worker)


def test_a_switch_of_the_ground_truth_in_the_meantime_evaluates_again(
    backend: Backend, submission_id: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate_once = evaluation.evaluate

    def switched_meanwhile(*arguments: object, **options: object) -> object:
        monkeypatch.undo()
        with backend.database.writing() as session:
            challenge = complete(session, backend.submission(submission_id).challenge_id)
            version = main_truth(session, challenge)
            assert version is not None
            scoring = start_scoring(session, challenge=challenge, version=version)
            make_current(session, challenge=challenge, scoring=scoring, actor=None, phase_id=challenge.main_phase.id)
        return evaluate_once(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(evaluation, "evaluate", switched_meanwhile)
    assert evaluate(backend)
    assert backend.submission(submission_id).state is State.QUEUED
    assert evaluate(backend)
    scored = backend.submission(submission_id)
    assert (scored.state, job_of(backend.database, submission_id).attempts) == (State.SCORED, 1)
    with backend.database.reading() as session:
        found = evaluations.current(session, scored)
    assert found is not None
    assert (found.evaluator_version, found.ground_truth_sha256) == (VERSION, make_ground_truth().sha256)


@pytest.mark.full
@pytest.mark.services
@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_a_switch_that_storing_waits_for_evaluates_again(
    backend: Backend, submission_id: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate_once, has_switched = evaluation.evaluate, threading.Event()

    def is_waited_for() -> bool:
        with backend.database.reading() as session:
            waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return session.scalar(waiting) == 1

    def switch_and_wait() -> None:
        with backend.database.writing() as session:
            lock_challenge(session, backend.submission(submission_id).challenge_id)
            challenge = complete(session, backend.submission(submission_id).challenge_id)
            version = main_truth(session, challenge)
            assert version is not None
            scoring = start_scoring(session, challenge=challenge, version=version)
            make_current(session, challenge=challenge, scoring=scoring, actor=None, phase_id=challenge.main_phase.id)
            has_switched.set()
            eventually(is_waited_for)

    def switched_meanwhile(*arguments: object, **options: object) -> object:
        switching.start()
        assert has_switched.wait(60)
        return evaluate_once(*arguments, **options)  # type: ignore[arg-type]

    switching = threading.Thread(target=switch_and_wait)
    with monkeypatch.context() as patched:
        patched.setattr(evaluation, "evaluate", switched_meanwhile)
        assert evaluate(backend)
    switching.join()
    assert backend.submission(submission_id).state is State.QUEUED
    assert evaluate(backend)
    scored = backend.submission(submission_id)
    with backend.database.reading() as session:
        assert evaluations.current(session, scored) is not None


@pytest.mark.parametrize(
    ("turn", "scored"), [(timedelta(hours=1), 3), (timedelta(0), 1)], ids=["in its turn", "turn over"]
)
def test_a_task_evaluates_until_none_waits_or_its_turn_is_over(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, turn: timedelta, scored: int
) -> None:
    monkeypatch.setattr(work, "TURN", turn)
    challenge, user = backend.challenge(), backend.user()
    submissions = [backend.submit(user, challenge) for _ in range(3)]
    work.work(process(backend.database, backend.store, backend.settings, Kind.EVALUATION))
    states = [backend.submission(submission).state for submission in submissions]
    assert states == [State.SCORED] * scored + [State.QUEUED] * (3 - scored)


def test_what_gives_way_after_another_worker_has_claimed_it_is_no_error(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_way(process: Process, claim: Claim) -> None:
        with process.database.writing() as session:
            jobs.cancel(session, claim.kind, [claim.key])
        raise MoreUrgentError

    monkeypatch.setitem(work.WORK, Kind.SEQUENCES, work.Work(give_way))  # type: ignore[arg-type]  # a dict
    with backend.database.writing() as session:
        jobs.add(session, Kind.SEQUENCES, uuid.uuid4())
    assert work.work_next(process(backend.database, backend.store, backend.settings, Kind.SEQUENCES))
