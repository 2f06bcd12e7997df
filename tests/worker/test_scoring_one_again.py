"""Evaluating one submission again."""

import pytest

from tests.support.backend import Backend
from tests.support.jobs import evaluate_next
from tests.support.phases import complete
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
from vocboard.app.challenges import archiving
from vocboard.app.errors import ConflictError
from vocboard.app.moderation import submissions as moderation
from vocboard.app.rescores import service
from vocboard.app.rescores.models import RescoreState
from vocboard.app.submissions.models import State


def test_one_submission_is_evaluated_again(backend: Backend) -> None:
    challenge = backend.challenge()
    chosen, other = submit_scored(backend, challenge, 2)
    untouched = backend.submission(other).current_evaluation_id
    before = backend.submission(chosen).current_evaluation_id
    with backend.database.writing() as session:
        _, started = service.evaluate_again(session, submission_id=chosen, user=administrator(backend))
    assert started is not None
    organiser = administrator(backend)
    with (
        backend.database.writing() as session,
        pytest.raises(ConflictError, match="A re-score of one submission is running"),
    ):
        archiving.archive(session, challenge=complete(session, challenge.id), user=organiser)
    work(backend)
    assert backend.submission(chosen).current_evaluation_id == before
    report = rescore(backend, started.id).report
    assert report is not None
    summary = [(one["competition"], one["evaluated"], one["published"]) for one in report["competitions"]]
    assert summary == [("comp1", 1, 2)]
    apply(backend, started.id)
    assert backend.submission(chosen).current_evaluation_id != before
    assert backend.submission(other).current_evaluation_id == untouched
    assert [one.method for one in board(backend, challenge).corrections] == ["Method 000"]


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


def test_an_evaluation_of_one_does_not_survive_a_change_of_the_ground_truth(backend: Backend) -> None:
    challenge = backend.challenge()
    (chosen,) = submit_scored(backend, challenge, 1)
    with backend.database.writing() as session:
        _, single = service.evaluate_again(session, submission_id=chosen, user=administrator(backend))
    assert single is not None
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    work(backend)
    apply(backend, rescore_id)
    after = backend.submission(chosen).current_evaluation_id
    request_apply(backend, single.id)
    work(backend)
    assert rescore(backend, single.id).state is RescoreState.FAILED
    assert backend.submission(chosen).current_evaluation_id == after
