"""How workers go through a re-score: killed, cancelled, interrupted by live submissions."""

import uuid
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from tests.support.archives import stored_path
from tests.support.backend import Backend, make_columns, wait_until
from tests.support.jobs import claim_next, let_leases_end, process, rescore_next
from tests.support.rescoring import (
    add_corrected_truth,
    administrator,
    board,
    request_apply,
    rescore,
    start_rescore,
    submit_scored,
    work,
)
from vocboard.app.errors import ConflictError
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.leaderboards.models import Rescore, RescoreItem, RescoreState
from vocboard.app.organising import moderation
from vocboard.app.rescores import queries, service
from vocboard.app.submissions.models import State
from vocboard.worker import ground_truth_files, rescoring
from vocboard.worker.work import work_next


def test_with_workers_killed_and_the_broker_emptied_it_ends_with_the_same_report(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 25)
    version = add_corrected_truth(backend, challenge)
    undisturbed = start_rescore(backend, challenge, version)
    work(backend)
    expected = rescore(backend, undisturbed).report
    with backend.database.writing() as session:
        service.discard(session, rescore_id=undisturbed, user=administrator(backend))
    rescore_id = start_rescore(backend, challenge, version)  # no message of it is ever sent
    kills = 0  # fewer than attempts: all may interrupt the same evaluation
    while rescore(backend, rescore_id).state is RescoreState.RUNNING and kills < 2:
        with backend.running("worker"):
            so_far = _done(backend, rescore_id)
            wait_until(
                lambda so_far=so_far: (
                    _done(backend, rescore_id) > so_far
                    or rescore(backend, rescore_id).state is not RescoreState.RUNNING
                )
            )
        kills += 1
    with backend.running("worker"):
        wait_until(lambda: rescore(backend, rescore_id).state is RescoreState.READY)
    assert rescore(backend, rescore_id).report == expected


def test_gives_way_to_live_submissions(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 4)
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    live = backend.submit(backend.user(), challenge, columns=make_columns())
    everything = process(backend.database, backend.store, backend.settings)
    assert work_next(everything)
    assert backend.submission(live).state is State.SCORED
    assert _done(backend, rescore_id) == 0
    work(backend)
    assert _done(backend, rescore_id) == 5


def test_a_batch_ends_when_a_live_submission_arrives(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 6)
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    evaluate, calls = rescoring.evaluate, []

    def interrupted(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            backend.submit(backend.user(), challenge, columns=make_columns())
        return evaluate(*arguments, **options)

    monkeypatch.setattr(rescoring, "evaluate", interrupted)
    everything = process(backend.database, backend.store, backend.settings)
    assert work_next(everything)  # it begins
    assert work_next(everything)
    assert _done(backend, rescore_id) == 2
    with backend.database.reading() as session:
        assert session.scalars(select(Job.attempts).where(Job.kind == Kind.BATCH)).all() == [0]


def test_a_cancelled_one_stores_nothing_more(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 3)
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    before = board(backend, challenge)
    evaluate, user = rescoring.evaluate, administrator(backend)

    def cancelled_meanwhile(*arguments: Any, **options: Any) -> Any:
        with backend.database.writing() as session:
            service.discard(session, rescore_id=rescore_id, user=user)
        return evaluate(*arguments, **options)

    monkeypatch.setattr(rescoring, "evaluate", cancelled_meanwhile)
    work(backend)
    found = rescore(backend, rescore_id)
    assert found.state is RescoreState.DISCARDED
    with backend.database.reading() as session:
        stored = select(func.count()).select_from(Evaluation).where(Evaluation.scoring_id == found.scoring_id)
        assert session.scalar(stored) == 0
    assert board(backend, challenge) == before
    with backend.database.writing() as session, pytest.raises(ConflictError, match="Only a re-score that is ready"):
        service.request_apply(session, rescore_id=rescore_id, user=user)


def test_one_that_keeps_killing_workers_is_given_up(backend: Backend) -> None:
    challenge = backend.challenge()
    (deadly,) = submit_scored(backend, challenge, 1)
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    rescore_next(backend.database, backend.store, backend.settings)  # it begins
    for _ in range(backend.settings.evaluation_attempts):  # claimed by workers that died
        assert claim_next(backend.database, Kind.BATCH, lease=timedelta()) is not None
    work(backend)
    report = rescore(backend, rescore_id).report
    assert [one["submission"] for one in report["failures"]] == [str(deadly)]


def test_a_lost_archive_is_reported_with_its_error(backend: Backend) -> None:
    challenge = backend.challenge()
    (lost,) = submit_scored(backend, challenge, 1)
    files = backend.submission(lost)
    for sha256 in (files.archive_sha256, files.columns_sha256):
        stored_path(backend.store, str(sha256)).unlink()
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    for _ in range(backend.settings.evaluation_attempts):
        with suppress(FileNotFoundError):
            work(backend)
        let_leases_end(backend.database)
    work(backend)
    assert [one["reason"] for one in rescore(backend, rescore_id).report["failures"]] == [rescoring.WENT_WRONG]
    with backend.database.reading() as session:
        assert "FileNotFoundError" in (session.scalars(select(RescoreItem.failure_detail)).one() or "")


@pytest.mark.parametrize(("allowed", "counted"), [(3, 1), (1, 0)])
def test_when_workers_die_while_dividing_a_batch_none_of_its_submissions_is_given_up(
    backend: Backend, allowed: int, counted: int
) -> None:
    backend = replace(backend, settings=backend.settings.model_copy(update={"evaluation_attempts": allowed}))
    challenge = backend.challenge()
    submit_scored(backend, challenge, 3)
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    rescore_next(backend.database, backend.store, backend.settings)  # it begins
    for _ in range(allowed):
        assert claim_next(backend.database, Kind.BATCH, lease=timedelta()) is not None
    assert work_next(process(backend.database, backend.store, backend.settings))
    with backend.database.reading() as session:
        pending = Job.kind == Kind.BATCH, Job.finished_at.is_(None)
        assert session.scalars(select(Job.attempts).where(*pending)).all() == 3 * [counted]
    work(backend)
    found = rescore(backend, rescore_id)
    assert found.state is RescoreState.READY
    assert not found.report["failures"]


def test_what_is_disqualified_while_its_batch_is_divided_can_come_back(backend: Backend) -> None:
    challenge = backend.challenge()
    first, *_ = submit_scored(backend, challenge, 3)
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    rescore_next(backend.database, backend.store, backend.settings)  # it begins
    assert claim_next(backend.database, Kind.BATCH, lease=timedelta()) is not None
    given = {"submission_id": first, "user": administrator(backend), "reason": "Copied", "site": "https://voc.example"}
    with backend.database.writing() as session:
        moderation.disqualify(session, **given)
    work(backend)
    with backend.database.writing() as session:
        moderation.reinstate(session, **given)
    work(backend)
    assert rescore(backend, rescore_id).state is RescoreState.READY
    assert _done(backend, rescore_id) == 3


def test_it_waits_for_ground_truth_that_is_away(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 3)
    version = add_corrected_truth(backend, challenge)
    rescore_id = start_rescore(backend, challenge, version)
    ground_truth_files.read.cache_clear()
    path = ground_truth_files.path_of(backend.settings, version.sha256)
    away = path.rename(path.with_suffix(".away"))
    for _ in range(backend.settings.evaluation_attempts + 1):
        work(backend)
        with backend.database.reading() as session:
            assert session.scalars(select(Job.attempts).where(Job.kind == Kind.BATCH)).all() == [0]
        let_leases_end(backend.database)
    away.rename(path)
    work(backend)
    report = rescore(backend, rescore_id).report
    assert not report["failures"]


def test_a_later_evaluator_restarts(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 2)
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    work(backend)
    request_apply(backend, rescore_id)
    first = rescore(backend, rescore_id)
    monkeypatch.setattr(rescoring, "VERSION", "99.0.0")
    work(backend)
    restarted = rescore(backend, rescore_id)
    assert (restarted.state, restarted.evaluator_version) == (RescoreState.READY, "99.0.0")
    assert restarted.scoring_id != first.scoring_id
    assert restarted.apply_requested_at is None  # that was about other numbers
    monkeypatch.setattr(rescoring, "VERSION", "9.0.0")
    request_apply(backend, rescore_id)
    work(backend)
    assert rescore(backend, rescore_id).state is RescoreState.READY  # an older worker leaves it alone


def _done(backend: Backend, rescore_id: uuid.UUID) -> int:
    with backend.database.reading() as session:
        return queries.progress(session, session.get_one(Rescore, rescore_id)).done
