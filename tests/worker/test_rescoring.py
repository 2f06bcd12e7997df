"""Re-scores: the report before anything changes, one switch, and nothing lost on the way."""

import threading
import uuid
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from tests.support.backstage import Backstage, make_archive, make_columns, wait_until
from tests.support.rescoring import (
    add_corrected_truth,
    administrator,
    apply,
    request_apply,
    rescore,
    start_rescore,
    submit_scored,
    work,
)
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.queries import current_truth
from vocboard.app.database import now
from vocboard.app.errors import ConflictError
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.leaderboards import service as leaderboards
from vocboard.app.leaderboards.service import Board
from vocboard.app.rescores import queries, service
from vocboard.app.rescores.models import Rescore, RescoreItem, RescoreState
from vocboard.app.submissions import publishing
from vocboard.app.submissions.models import State, Submission
from vocboard.worker import rescoring
from vocboard.worker.evaluation import evaluate_next


def board(backstage: Backstage, challenge: Challenge) -> Board:
    with backstage.database.snapshot() as session:
        return leaderboards.board(session, session.get_one(Challenge, challenge.id), "comp1")


def means(found: Board) -> list[float | None]:
    return [row.mean.value for row in found.rows]


def test_nothing_changes_until_it_is_applied(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    submit_scored(backstage, challenge, 6)
    version = add_corrected_truth(backstage, challenge)
    before = board(backstage, challenge)
    rescore_id = start_rescore(backstage, challenge, version)
    work(backstage)
    assert rescore(backstage, rescore_id).state is RescoreState.READY
    assert board(backstage, challenge) == before
    apply(backstage, rescore_id)
    after = board(backstage, challenge)
    assert means(after) != means(before)
    with backstage.database.reading() as session:
        current = current_truth(session, session.get_one(Challenge, challenge.id))
    assert current is not None
    assert current.id == version.id
    (correction,) = after.corrections
    assert (correction.reason, correction.ground_truth_version) == ("Labels corrected", version.number)


def test_the_report_says_whose_scores_and_ranks_change(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    user = backstage.user()
    ids = []
    for name, confidences in (("first", (0.9, 0.1, 0.8)), ("second", (0.1, 0.9, 0.5))):
        columns, archive = make_columns(confidences), make_archive(confidences)
        ids.append(backstage.submit(user, challenge, columns=columns, archive=archive, method_name=name))
    while evaluate_next(backstage.database, backstage.store, backstage.settings):
        pass
    with backstage.database.writing() as session:
        for submission_id in ids:
            publishing.publish(session, submission_id=submission_id, user=user)
    before = {row.method: row for row in board(backstage, challenge).rows}
    version = add_corrected_truth(backstage, challenge)
    rescore_id = start_rescore(backstage, challenge, version)
    work(backstage)
    report: dict[str, Any] = rescore(backstage, rescore_id).report or {}
    assert [(one["method"], one["rank"]) for one in report["changes"]] == [
        ("second", {"before": 2, "after": 1}),
        ("first", {"before": 1, "after": 2}),
    ]
    summary = {one["competition"]: one for one in report["competitions"]}["comp1"]
    assert (summary["evaluated"], summary["scores_changed"], summary["ranks_changed"]) == (2, 2, 2)
    apply(backstage, rescore_id)
    after = {row.method: row for row in board(backstage, challenge).rows}
    for change in report["changes"]:
        name = change["method"]
        assert change["mean"]["before"] == before[name].mean.value
        assert change["mean"]["after"] == after[name].mean.value
        assert list(change["classes"]) == ["car"]


def test_applied_scores_are_those_of_a_fresh_evaluation(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    old = submit_scored(backstage, challenge, 6)
    rescore_id = start_rescore(backstage, challenge, add_corrected_truth(backstage, challenge))
    work(backstage)
    apply(backstage, rescore_id)
    submit_scored(backstage, challenge, 6)  # the same confidences, evaluated with the new truth at once
    rows = board(backstage, challenge).rows
    assert len(rows) == 12
    assert sorted(row.mean.value or 0 for row in rows if row.submission_id in old) == sorted(
        row.mean.value or 0 for row in rows if row.submission_id not in old
    )


def test_with_workers_killed_and_the_broker_emptied_it_ends_with_the_same_report(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    submit_scored(backstage, challenge, 50)
    version = add_corrected_truth(backstage, challenge)
    undisturbed = start_rescore(backstage, challenge, version)
    work(backstage)
    expected = rescore(backstage, undisturbed).report
    with backstage.database.writing() as session:
        service.discard(session, rescore_id=undisturbed, user=administrator(backstage))
    rescore_id = start_rescore(backstage, challenge, version)  # no message of it is ever sent
    kills = 0
    while rescore(backstage, rescore_id).state is RescoreState.RUNNING and kills < 3:
        with backstage.running("worker"):
            so_far = _done(backstage, rescore_id)
            wait_until(
                lambda so_far=so_far: (
                    _done(backstage, rescore_id) > so_far
                    or rescore(backstage, rescore_id).state is not RescoreState.RUNNING
                )
            )
        kills += 1
    with backstage.running("worker"):
        wait_until(lambda: rescore(backstage, rescore_id).state is RescoreState.READY)
    assert rescore(backstage, rescore_id).report == expected


def test_a_board_under_load_never_mixes_old_and_new(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    submit_scored(backstage, challenge, 30)
    before = means(board(backstage, challenge))
    rescore_id = start_rescore(backstage, challenge, add_corrected_truth(backstage, challenge))
    work(backstage)
    seen: list[list[float | None]] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            seen.append(means(board(backstage, challenge)))

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: len(seen) > 5)
        apply(backstage, rescore_id)
        looked = len(seen)
        wait_until(lambda: len(seen) > looked + 5)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    after = means(board(backstage, challenge))
    assert before != after
    assert {tuple(one) for one in seen} == {tuple(before), tuple(after)}


def test_submissions_that_are_scored_in_the_meantime_are_included(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    submit_scored(backstage, challenge, 2)
    version = add_corrected_truth(backstage, challenge)
    rescore_id = start_rescore(backstage, challenge, version)
    work(backstage)
    (late,) = submit_scored(backstage, challenge, 1)
    with backstage.database.reading() as session:
        assert _truth_of(session, late) != version.sha256  # scored with the current version at once
    apply(backstage, rescore_id)
    with backstage.database.reading() as session:
        assert _truth_of(session, late) == version.sha256
        assert queries.progress(session, rescore(backstage, rescore_id)).total == 3


def test_gives_way_to_live_submissions(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    submit_scored(backstage, challenge, 4)
    rescore_id = start_rescore(backstage, challenge, add_corrected_truth(backstage, challenge))
    live = backstage.submit(backstage.user(), challenge, columns=make_columns())
    work(backstage)
    assert _done(backstage, rescore_id) == 0
    assert evaluate_next(backstage.database, backstage.store, backstage.settings)
    assert backstage.submission(live).state is State.SCORED
    work(backstage)
    assert _done(backstage, rescore_id) == 5


def test_a_batch_ends_when_a_live_submission_arrives(backstage: Backstage, monkeypatch: pytest.MonkeyPatch) -> None:
    challenge = backstage.challenge()
    submit_scored(backstage, challenge, 6)
    rescore_id = start_rescore(backstage, challenge, add_corrected_truth(backstage, challenge))
    evaluate, calls = rescoring.evaluate, []

    def interrupted(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            backstage.submit(backstage.user(), challenge, columns=make_columns())
        return evaluate(*arguments, **options)

    monkeypatch.setattr(rescoring, "evaluate", interrupted)
    work(backstage)
    assert _done(backstage, rescore_id) == 2
    with backstage.database.reading() as session:
        attempts = session.scalars(select(RescoreItem.attempts).order_by(RescoreItem.attempts)).all()
    assert attempts == [0, 0, 0, 0, 1, 1]


def test_a_cancelled_one_stores_nothing_more(backstage: Backstage, monkeypatch: pytest.MonkeyPatch) -> None:
    challenge = backstage.challenge()
    submit_scored(backstage, challenge, 3)
    rescore_id = start_rescore(backstage, challenge, add_corrected_truth(backstage, challenge))
    before = board(backstage, challenge)
    evaluate, user = rescoring.evaluate, administrator(backstage)

    def cancelled_meanwhile(*arguments: Any, **options: Any) -> Any:
        with backstage.database.writing() as session:
            service.discard(session, rescore_id=rescore_id, user=user)
        return evaluate(*arguments, **options)

    monkeypatch.setattr(rescoring, "evaluate", cancelled_meanwhile)
    work(backstage)
    found = rescore(backstage, rescore_id)
    assert found.state is RescoreState.DISCARDED
    with backstage.database.reading() as session:
        stored = select(func.count()).select_from(Evaluation).where(Evaluation.scoring_id == found.scoring_id)
        assert session.scalar(stored) == 0
    assert board(backstage, challenge) == before
    with backstage.database.writing() as session, pytest.raises(ConflictError, match="Only a re-score that is ready"):
        service.request_apply(session, rescore_id=rescore_id, user=user)


def test_what_cannot_be_evaluated_is_reported_and_fails_when_applied(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    lost, kept = submit_scored(backstage, challenge, 2)
    damaged = backstage.submission(lost)
    assert damaged.columns_sha256 is not None
    backstage.store.path(damaged.columns_sha256).write_bytes(b"damaged")
    backstage.store.path(damaged.archive_sha256).write_bytes(b"damaged")
    rescore_id = start_rescore(backstage, challenge, add_corrected_truth(backstage, challenge))
    work(backstage)
    report = rescore(backstage, rescore_id).report
    assert report is not None
    assert [one["submission"] for one in report["failures"]] == [str(lost)]
    assert "Traceback" not in str(report)
    assert backstage.submission(lost).state is State.SCORED
    apply(backstage, rescore_id)
    gone = backstage.submission(lost)
    assert (gone.state, gone.published_at, gone.current_evaluation_id) == (State.FAILED, None, None)
    assert [row.submission_id for row in board(backstage, challenge).rows] == [kept]


def test_one_that_keeps_killing_workers_is_given_up(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    (deadly,) = submit_scored(backstage, challenge, 1)
    rescore_id = start_rescore(backstage, challenge, add_corrected_truth(backstage, challenge))
    with backstage.database.reading_autocommit() as session:
        assert session.scalar(select(RescoreItem.attempts)) is None
    rescoring.rescore_next(backstage.database, backstage.store, backstage.settings, until=0)  # it begins
    long_ago = now() - timedelta(hours=1)
    with backstage.database.writing() as session:
        silent = {"lease_id": uuid.uuid4(), "lease_expires_at": long_ago, "attempts": 3}
        session.execute(update(RescoreItem).values(**silent))
    work(backstage)
    report = rescore(backstage, rescore_id).report
    assert report is not None
    assert [one["submission"] for one in report["failures"]] == [str(deadly)]


def test_a_later_evaluator_restarts(backstage: Backstage, monkeypatch: pytest.MonkeyPatch) -> None:
    challenge = backstage.challenge()
    submit_scored(backstage, challenge, 2)
    rescore_id = start_rescore(backstage, challenge, add_corrected_truth(backstage, challenge))
    work(backstage)
    request_apply(backstage, rescore_id)
    first = rescore(backstage, rescore_id)
    monkeypatch.setattr(rescoring, "VERSION", "99.0.0")
    work(backstage)
    restarted = rescore(backstage, rescore_id)
    assert (restarted.state, restarted.evaluator_version) == (RescoreState.READY, "99.0.0")
    assert restarted.scoring_id != first.scoring_id
    assert restarted.apply_requested_at is None  # that was about other numbers
    monkeypatch.setattr(rescoring, "VERSION", "9.0.0")
    request_apply(backstage, rescore_id)
    work(backstage)
    assert rescore(backstage, rescore_id).state is RescoreState.READY  # an older worker leaves it alone


def test_the_current_version_can_be_scored_with_again(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    submit_scored(backstage, challenge, 3)
    with backstage.database.reading() as session:
        version = current_truth(session, session.get_one(Challenge, challenge.id))
    assert version is not None
    before = board(backstage, challenge)
    rescore_id = start_rescore(backstage, challenge, version)
    work(backstage)
    report = rescore(backstage, rescore_id).report
    assert report is not None
    assert report["changes"] == []
    apply(backstage, rescore_id)
    assert board(backstage, challenge).rows == before.rows


def test_one_submission_is_evaluated_again(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    chosen, other = submit_scored(backstage, challenge, 2)
    untouched = backstage.submission(other).current_evaluation_id
    before = backstage.submission(chosen).current_evaluation_id
    with backstage.database.writing() as session:
        _, started = service.evaluate_again(session, submission_id=chosen, user=administrator(backstage))
    assert started is not None
    work(backstage)
    assert backstage.submission(chosen).current_evaluation_id == before
    apply(backstage, started.id)
    assert backstage.submission(chosen).current_evaluation_id != before
    assert backstage.submission(other).current_evaluation_id == untouched
    assert [one.method for one in board(backstage, challenge).corrections] == ["Method 000"]


def test_a_failed_submission_is_queued_again(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    failed = backstage.submit(backstage.user(), challenge, archive=b"not an archive")
    assert evaluate_next(backstage.database, backstage.store, backstage.settings)
    assert backstage.submission(failed).state is State.FAILED
    with backstage.database.writing() as session:
        _, started = service.evaluate_again(session, submission_id=failed, user=administrator(backstage))
    assert started is None
    again = backstage.submission(failed)
    assert (again.state, again.failure, again.finished_at) == (State.QUEUED, None, None)


def test_an_evaluation_of_one_does_not_survive_a_change_of_the_ground_truth(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    (chosen,) = submit_scored(backstage, challenge, 1)
    with backstage.database.writing() as session:
        _, single = service.evaluate_again(session, submission_id=chosen, user=administrator(backstage))
    assert single is not None
    rescore_id = start_rescore(backstage, challenge, add_corrected_truth(backstage, challenge))
    work(backstage)
    apply(backstage, rescore_id)
    after = backstage.submission(chosen).current_evaluation_id
    request_apply(backstage, single.id)
    work(backstage)
    assert rescore(backstage, single.id).state is RescoreState.FAILED
    assert backstage.submission(chosen).current_evaluation_id == after


def test_only_one_at_a_time_and_each_step_is_in_the_audit_log(backstage: Backstage) -> None:
    challenge = backstage.challenge()
    submit_scored(backstage, challenge, 1)
    version = add_corrected_truth(backstage, challenge)
    rescore_id = start_rescore(backstage, challenge, version)
    with pytest.raises(ConflictError, match="Another re-score"):
        start_rescore(backstage, challenge, version)
    work(backstage)
    apply(backstage, rescore_id)
    with backstage.database.reading() as session:
        events = session.scalars(
            select(AuditEvent.action).where(AuditEvent.object_id == rescore_id).order_by(AuditEvent.created_at)
        ).all()
    assert events == ["rescore.start", "rescore.apply", "rescore.applied"]


def _done(backstage: Backstage, rescore_id: uuid.UUID) -> int:
    with backstage.database.reading() as session:
        return queries.progress(session, session.get_one(Rescore, rescore_id)).done


def _truth_of(session: Session, submission_id: uuid.UUID) -> str | None:
    """The SHA-256 of the ground truth that a submission's current scores are of."""
    current = select(Submission.current_evaluation_id).where(Submission.id == submission_id)
    return session.scalar(select(Evaluation.ground_truth_sha256).where(Evaluation.id == current.scalar_subquery()))
