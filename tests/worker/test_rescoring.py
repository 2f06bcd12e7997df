"""Re-scores: the report before anything changes, one switch, and nothing lost on the way; of one submission, too."""

import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tests.support.archives import stored_path
from tests.support.backend import EDITION, Backend, make_archive, make_columns, wait_until
from tests.support.factories import make_image_sets
from tests.support.jobs import evaluate_next
from tests.support.phases import complete, main_truth
from tests.support.rescoring import (
    add_corrected_truth,
    administrator,
    apply,
    board,
    request_apply,
    rescore,
    start_rescore,
    submit_scored,
    work,
)
from tests.support.services import REAL
from vocboard.app.accounts.models import User
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.ground_truth import pack_image_sets
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, Scoring, TruthState
from vocboard.app.challenges.queries import challenge_with_phases
from vocboard.app.database import now
from vocboard.app.errors import ConfirmationRequiredError, ConflictError
from vocboard.app.evaluations import diagnosis_tasks
from vocboard.app.evaluations import service as evaluations
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.leaderboards.board import Board
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.organising import archiving, moderation
from vocboard.app.participating import publishing, withdrawing
from vocboard.app.rescores import queries, service, switch
from vocboard.app.rescores.queries import attention
from vocboard.app.rescores.report import truth_changes
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.editions import Metric, Task
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.problems import Problem, Severity
from vocboard.evaluator.tasks.definitions import METRICS
from vocboard.worker import rescoring


def means(found: Board) -> list[float | None]:
    return [row.mean.value for row in found.rows]


@pytest.mark.services
@pytest.mark.full  # SQLite has no clock of its own
@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_the_last_rescore_counts_as_the_last_although_the_clocks_of_machines_differ(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 1)
    corrected = add_corrected_truth(backend, challenge)
    with backend.database.reading() as session:
        former = main_truth(session, challenge)
    for version, is_fast in ((corrected, True), (former, False)):
        rescore_id = start_rescore(backend, challenge, version)
        work(backend)
        with monkeypatch.context() as patch:
            if is_fast:
                patch.setattr(switch, "now", lambda: now() + timedelta(minutes=6))
            apply(backend, rescore_id, confirm=challenge.slug)
    assert board(backend, challenge).corrections[0].ground_truth_version == former.number


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_the_report_says_whose_scores_and_ranks_change(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, higher_is_better: bool
) -> None:
    changed = replace(METRICS[Metric.AVERAGE_PRECISION], higher_is_better=higher_is_better)
    monkeypatch.setitem(METRICS, Metric.AVERAGE_PRECISION, changed)  # type: ignore[arg-type]  # a dict, read as a mapping
    challenge = backend.challenge()
    user = backend.user()
    ids = []
    for name, confidences in (("first", (0.9, 0.1, 0.8)), ("second", (0.1, 0.9, 0.5))):
        columns, archive = make_columns(confidences), make_archive(confidences)
        ids.append(backend.submit(user, challenge, columns=columns, archive=archive, method_name=name))
    while evaluate_next(backend.database, backend.store, backend.settings):
        pass
    with backend.database.writing() as session:
        for submission_id in ids:
            publishing.publish(session, submission_id=submission_id, user=user)
    before = {row.method: row for row in board(backend, challenge).rows}
    version = add_corrected_truth(backend, challenge)
    rescore_id = start_rescore(backend, challenge, version)
    work(backend)
    report: dict[str, Any] = rescore(backend, rescore_id).report or {}
    better_after, worse_after = ("second", "first") if higher_is_better else ("first", "second")
    assert [(one["method"], one["rank"]) for one in report["changes"]] == [
        (better_after, {"before": 2, "after": 1}),
        (worse_after, {"before": 1, "after": 2}),
    ]
    summary = {one["competition"]: one for one in report["competitions"]}["comp1"]
    assert (summary["evaluated"], summary["scores_changed"], summary["ranks_changed"]) == (2, 2, 2)
    apply(backend, rescore_id)
    after = {row.method: row for row in board(backend, challenge).rows}
    for change in report["changes"]:
        name = change["method"]
        assert change["rank"] == {"before": before[name].rank, "after": after[name].rank}
        assert change["mean"]["before"] == before[name].mean.value
        assert change["mean"]["after"] == after[name].mean.value
        assert list(change["classes"]) == ["car"]


def test_a_class_that_lost_its_objects_in_the_test_set_needs_attention(backend: Backend) -> None:
    """Also if other image sets of the tree, or another task, still have objects of it.

    Tasks that the challenge does not run do not count.
    """

    def numbers(cars: int, dogs: int) -> dict[str, Any]:
        return {"images": 3, "classes": {"car": {"images": cars}, "dog": {"images": dogs}, "Total": {"images": 3}}}

    challenge = backend.challenge()
    version = add_corrected_truth(backend, challenge)
    counts = {"classification/test": (2, 1), "detection/test": (2, 0), "detection/train": (1, 1)}
    with backend.database.writing() as session:
        organised = challenge_with_phases(session, challenge.id)
        current = main_truth(session, organised)
        corrected = session.get_one(GroundTruthVersion, version.id)
        current.summary = {key: numbers(*of_set) for key, of_set in counts.items()}
        changed = counts | {"detection/test": (0, 1), "layout/test": (0, 0)}
        corrected.summary = {key: numbers(*of_set) for key, of_set in changed.items()}
        current.summary |= {"layout/test": numbers(1, 1)}
        image_sets = make_image_sets(EDITION)
        more = {(Task.LAYOUT, "test"): ImageSet(("another",))}
        corrected.image_sets = pack_image_sets(replace(image_sets, sets={**image_sets.sets, **more}))
        found = truth_changes(session, organised, corrected)
    assert found["images"] == {"before": 3, "after": 3, "differ": False}
    assert found["classes"] == {"missing": ["car"], "new": ["dog"]}
    rescore = Rescore(state=RescoreState.READY, report=found)
    assert attention(rescore) == ("1 class has no object any more: car.", "1 class had no object before: dog.")


def test_applied_scores_are_those_of_a_fresh_evaluation(backend: Backend) -> None:
    challenge = backend.challenge()
    old = submit_scored(backend, challenge, 6)
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    work(backend)
    apply(backend, rescore_id)
    submit_scored(backend, challenge, 6)  # the same confidences, evaluated with the new truth at once
    rows = board(backend, challenge).rows
    assert len(rows) == 12
    assert sorted(row.mean.value or 0 for row in rows if row.submission_id in old) == sorted(
        row.mean.value or 0 for row in rows if row.submission_id not in old
    )


@pytest.mark.full
def test_a_board_under_load_never_mixes_old_and_new(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 30)
    before = means(board(backend, challenge))
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    work(backend)
    seen: list[list[float | None]] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            seen.append(means(board(backend, challenge)))

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: len(seen) > 5)
        apply(backend, rescore_id)
        looked = len(seen)
        wait_until(lambda: len(seen) > looked + 5)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    after = means(board(backend, challenge))
    assert before != after
    assert {tuple(one) for one in seen} == {tuple(before), tuple(after)}


def test_submissions_that_are_scored_in_the_meantime_are_included(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 2)
    version = add_corrected_truth(backend, challenge)
    rescore_id = start_rescore(backend, challenge, version)
    work(backend)
    (late,) = submit_scored(backend, challenge, 1)
    with backend.database.reading() as session:
        assert _truth_of(session, late) != version.sha256  # scored with the current version at once
    apply(backend, rescore_id)
    with backend.database.reading() as session:
        assert _truth_of(session, late) == version.sha256
        assert queries.progress(session, rescore(backend, rescore_id)).total == 3


@pytest.mark.parametrize("is_of_one", [False, True])
def test_what_cannot_be_evaluated_is_reported_and_fails_when_applied(backend: Backend, is_of_one: bool) -> None:
    challenge = backend.challenge()
    lost, kept = submit_scored(backend, challenge, 2)
    damaged = backend.submission(lost)
    assert damaged.columns_sha256 is not None
    stored_path(backend.store, damaged.columns_sha256).write_bytes(b"damaged")
    stored_path(backend.store, damaged.archive_sha256).write_bytes(b"damaged")
    if is_of_one:
        with backend.database.writing() as session:
            _, started = service.evaluate_again(session, submission_id=lost, user=administrator(backend))
        assert started is not None
        rescore_id = started.id
    else:
        rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    work(backend)
    report = rescore(backend, rescore_id).report
    assert [one["submission"] for one in report["failures"]] == [str(lost)]
    assert "Traceback" not in str(report)
    assert backend.submission(lost).state is State.SCORED
    assert {name: report[name] for name in ("images", "scored", "lost", "lost_published")} == {
        "images": {"before": 3, "after": 3, "differ": False},
        "scored": 1,
        "lost": 1,
        "lost_published": 1,
    }
    for wrong in (None, "", "another"):
        with pytest.raises(ConfirmationRequiredError, match="1 published submission would lose results"):
            apply(backend, rescore_id, confirm=wrong)
    apply(backend, rescore_id, confirm=challenge.slug)
    gone = backend.submission(lost)
    assert (gone.state, gone.published_at, gone.current_evaluation_id) == (State.FAILED, None, None)
    assert [row.submission_id for row in board(backend, challenge).rows] == [kept]


def test_after_a_rescore_with_a_new_evaluator_every_result_names_its_version(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 3)
    with backend.database.reading() as session:
        version = main_truth(session, session.get_one(Challenge, challenge.id))
    before = _versions_of_results(backend)
    evaluate = rescoring.evaluate

    def otherwise(*arguments: Any, **options: Any) -> Any:
        found = evaluate(*arguments, **options)
        halved = {
            key: replace(
                one,
                primary=replace(
                    one.primary, per_class={name: value / 2 for name, value in one.primary.per_class.items()}
                ),
            )
            for key, one in found.scores.items()
        }
        return replace(found, scores=halved)

    monkeypatch.setattr(rescoring, "evaluate", otherwise)
    for module in (rescoring, evaluations):
        monkeypatch.setattr(module, "VERSION", "99.0.0")
    means_before = means(board(backend, challenge))
    rescore_id = start_rescore(backend, challenge, version)
    work(backend)
    report = rescore(backend, rescore_id).report
    assert report["evaluator"] == {"before": before[0][1], "after": "99.0.0"}
    assert report["ground_truth"] == {"before": version.number, "after": version.number}
    assert _versions_of_results(backend) == before
    apply(backend, rescore_id)
    assert _versions_of_results(backend) == [(version.number, "99.0.0")] * 3
    after = board(backend, challenge)
    assert means(after) != means_before
    (correction,) = after.corrections
    assert (correction.ground_truth_version, correction.evaluator_version) == (version.number, "99.0.0")


def test_only_one_at_a_time_and_each_step_is_in_the_audit_log(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 1)
    version = add_corrected_truth(backend, challenge)
    rescore_id = start_rescore(backend, challenge, version)
    with pytest.raises(ConflictError, match="Another re-score"):
        start_rescore(backend, challenge, version)
    work(backend)
    apply(backend, rescore_id)
    with backend.database.reading() as session:
        events = session.scalars(
            select(AuditEvent.action).where(AuditEvent.object_id == rescore_id).order_by(AuditEvent.created_at)
        ).all()
    assert events == ["rescore.start", "rescore.apply", "rescore.applied"]


def _versions_of_results(backend: Backend) -> list[tuple[int, str]]:
    """Versions of ground truth and evaluator that produced the results that count."""
    query = (
        select(GroundTruthVersion.number, Evaluation.evaluator_version)
        .join(Scoring, Scoring.ground_truth_version_id == GroundTruthVersion.id)
        .join(Evaluation, Evaluation.scoring_id == Scoring.id)
        .join(Submission, Submission.current_evaluation_id == Evaluation.id)
    )
    with backend.database.reading() as session:
        return [(row[0], row[1]) for row in session.execute(query)]


def _truth_of(session: Session, submission_id: uuid.UUID) -> str | None:
    """The SHA-256 of the ground truth that a submission's current scores are of."""
    current = select(Submission.current_evaluation_id).where(Submission.id == submission_id)
    return session.scalar(select(Evaluation.ground_truth_sha256).where(Evaluation.id == current.scalar_subquery()))


WARNING = Problem("unknown_class", Severity.WARNING, "'Plum' is not a class of the edition: 12 objects.").as_json()


@pytest.mark.parametrize(
    ("imported", "failure"),
    [
        ({"state": TruthState.READY}, None),
        ({"state": TruthState.READY, "warnings": [WARNING]}, "has warnings. Read and confirm them first"),
        ({"state": TruthState.READY, "competitions": ["comp9"]}, "cannot score comp1"),
        ({"state": TruthState.FAILED}, "it is failed"),
    ],
)
def test_a_rescore_that_an_upload_started_begins_once_the_import_is_good(
    backend: Backend, imported: dict[str, Any], failure: str | None
) -> None:
    challenge = backend.challenge()
    organiser = administrator(backend)
    version = add_corrected_truth(backend, challenge)

    def upload(reason: str, **values: Any) -> Rescore | None:
        with backend.database.writing() as session:
            changed = session.get_one(GroundTruthVersion, version.id)
            for name, value in values.items():
                setattr(changed, name, value)
            organised = complete(session, challenge.id)
            return service.start_with_upload(
                session, challenge=organised, user=organiser, version=changed, reason=reason
            )

    assert upload("Nobody has submitted") is None
    submit_scored(backend, challenge, 2)
    before = board(backend, challenge)
    assert upload(" ") is None
    started = upload("Ten boxes", state=TruthState.IMPORTING)
    with pytest.raises(ConflictError, match="Another re-score of this challenge is running"):
        upload("Ten boxes")
    work(backend)
    assert rescore(backend, started.id).scoring_id is None
    with backend.database.writing() as session:
        session.execute(update(GroundTruthVersion).where(GroundTruthVersion.id == version.id).values(**imported))
    work(backend)
    found = rescore(backend, started.id)
    assert board(backend, challenge) == before
    if failure is not None:
        assert (found.state, found.scoring_id) == (RescoreState.FAILED, None)
        assert failure in str(found.failure)
        return
    assert found.state is RescoreState.READY
    apply(backend, started.id)
    assert means(board(backend, challenge)) != means(before)
    assert board(backend, challenge).corrections[0].reason == "Ten boxes"


def test_one_submission_is_evaluated_again(backend: Backend) -> None:
    challenge = backend.challenge()
    chosen, other = submit_scored(backend, challenge, 2)
    untouched = backend.submission(other).current_evaluation_id
    before = backend.submission(chosen).current_evaluation_id
    with backend.database.writing() as session:
        _, started = service.evaluate_again(session, submission_id=chosen, user=administrator(backend))
    organiser = administrator(backend)
    with (
        backend.database.writing() as session,
        pytest.raises(ConflictError, match="A re-score of one submission is running"),
    ):
        archiving.archive(session, challenge=complete(session, challenge.id), user=organiser)
    work(backend)
    assert backend.submission(chosen).current_evaluation_id == before
    report = rescore(backend, started.id).report
    summary = [(one["competition"], one["evaluated"], one["published"]) for one in report["competitions"]]
    assert summary == [("comp1", 1, 2)]
    apply(backend, started.id)
    with backend.database.reading() as session:
        current = session.get_one(Evaluation, backend.submission(chosen).current_evaluation_id)
    assert current.id != before
    assert (current.submission_id, current.scoring_id) == (chosen, rescore(backend, started.id).scoring_id)
    assert backend.submission(other).current_evaluation_id == untouched
    with backend.database.reading() as session:
        assert diagnosis_tasks.outcome(session, current.id) == (True, None)
    assert [one.method for one in board(backend, challenge).corrections] == ["Method 000"]


@pytest.mark.parametrize(("is_ready", "is_withdrawn"), [(False, True), (True, True), (True, False)])
def test_an_evaluation_of_one_ends_when_its_submission_is_withdrawn_or_fails(
    backend: Backend, is_ready: bool, is_withdrawn: bool
) -> None:
    challenge = backend.challenge()
    (chosen,) = submit_scored(backend, challenge, 1)
    with backend.database.writing() as session:
        _, started = service.evaluate_again(session, submission_id=chosen, user=administrator(backend))
    if is_ready:
        work(backend)
    with backend.database.writing() as session:
        if is_withdrawn:
            owner = session.get_one(User, session.get_one(Submission, chosen).user_id)
            withdrawing.withdraw(session, submission_id=chosen, user=owner)
        else:
            moderation.fail(session, submission_id=chosen, user=administrator(backend), reason="The disk was full.")
    work(backend)
    ended = rescore(backend, started.id)
    assert (ended.state, ended.failure) == (RescoreState.FAILED, "The submission was withdrawn or marked as failed.")


def test_a_failed_submission_is_queued_again(backend: Backend) -> None:
    challenge = backend.challenge()
    failed = backend.submit(backend.user(), challenge, archive=b"not an archive")
    assert evaluate_next(backend.database, backend.store, backend.settings)
    assert backend.submission(failed).state is State.FAILED
    with backend.database.writing() as session:
        _, started = service.evaluate_again(session, submission_id=failed, user=administrator(backend))
    assert started is None
    again = backend.submission(failed)
    assert (again.state, again.failure, again.finished_at) == (State.QUEUED, None, None)


def test_a_submission_that_was_marked_as_failed_gets_its_result_back(backend: Backend) -> None:
    challenge = backend.challenge()
    (chosen,) = submit_scored(backend, challenge, 1)
    before = backend.submission(chosen).current_evaluation_id
    organiser = administrator(backend)
    with backend.database.writing() as session:
        moderation.fail(session, submission_id=chosen, user=organiser, reason="The disk was full.")
    with backend.database.writing() as session:
        service.evaluate_again(session, submission_id=chosen, user=organiser)
    assert evaluate_next(backend.database, backend.store, backend.settings)
    again = backend.submission(chosen)
    assert (again.state, again.failure, again.current_evaluation_id) == (State.SCORED, None, before)


@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_a_submission_that_is_reinstated_while_a_re_score_is_applied_has_a_result(backend: Backend) -> None:
    challenge, organiser = backend.challenge(), administrator(backend)
    chosen, _ = submit_scored(backend, challenge, 2)
    with backend.database.writing() as session:
        moderation.disqualify_quietly(session, submission_id=chosen, user=organiser, reason="A copy.")
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    work(backend)
    request_apply(backend, rescore_id)
    with ThreadPoolExecutor(1) as pool:
        with backend.database.writing() as session:
            moderation.reinstate_quietly(session, submission_id=chosen, user=organiser)
            session.flush()
            applying = pool.submit(work, backend)
            time.sleep(0.4)
        applying.result()
    assert rescore(backend, rescore_id).state is RescoreState.APPLIED
    row = backend.submission(chosen)
    assert (row.state, row.current_evaluation_id is not None) == (State.SCORED, True)


def test_an_evaluation_of_one_does_not_survive_a_change_of_the_ground_truth(backend: Backend) -> None:
    challenge = backend.challenge()
    (chosen,) = submit_scored(backend, challenge, 1)
    with backend.database.writing() as session:
        _, single = service.evaluate_again(session, submission_id=chosen, user=administrator(backend))
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    work(backend)
    apply(backend, rescore_id)
    after = backend.submission(chosen).current_evaluation_id
    request_apply(backend, single.id)
    work(backend)
    assert rescore(backend, single.id).state is RescoreState.FAILED
    assert backend.submission(chosen).current_evaluation_id == after
