"""Real workers, as child processes, score what is queued; each task evaluates for a while."""

from datetime import timedelta

import pytest

from tests.support.backend import Backend, make_ground_truth
from tests.support.jobs import process
from vocboard.app.evaluations import queries as evaluations
from vocboard.app.jobs.models import Kind
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.submissions.models import State
from vocboard.evaluator import VERSION
from vocboard.worker import work


def test_scores_a_submission_that_it_was_woken_for(backend: Backend) -> None:
    challenge, user = backend.challenge(), backend.user()
    with backend.running("worker", poll_interval="PT1H"):
        submission_id = backend.submit(user, challenge)
        WorkerNotifier(backend.settings).jobs_added()
        submission = backend.wait_for(submission_id, State.SCORED)
    with backend.database.reading() as session:
        evaluation = evaluations.current(session, submission)
        assert evaluation is not None
        (result,) = evaluation.results
        assert (result.competition, result.measures[0].metric) == ("comp1", "average_precision")
        assert result.measures[0].mean == 1.0
        assert evaluation.evaluator_version == VERSION
        assert evaluation.ground_truth_sha256 == make_ground_truth().sha256
        assert evaluation.archive_sha256 == submission.archive_sha256


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
