"""An evaluation comes out of the database as it went in."""

import numpy as np

from tests.support.backend import Backend
from tests.support.jobs import sweep
from tests.support.phases import main_phase
from vocboard.app.challenges.models import Challenge, Detail
from vocboard.app.database import now
from vocboard.app.evaluations import queries, service
from vocboard.app.evaluations.visibility import StoredDetail
from vocboard.app.submissions.models import Submission
from vocboard.evaluator.editions import Metric, Task
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.scores import ClassDetails, CompetitionScores, Curve, Measure

NAN = float("nan")
THIRD = 1 / 3
SCORES = {
    "comp1": CompetitionScores(
        competition="comp1",
        task=Task.CLASSIFICATION,
        primary=Measure(Metric.AVERAGE_PRECISION, {"car": THIRD, "dog": NAN, "cat": 0.1}),
        secondary=(Measure(Metric.AVERAGE_PRECISION_WITH_DIFFICULT, {"car": 0.25, "dog": NAN, "cat": NAN}),),
        details={"car": ClassDetails(2, 3, 1, 1.0, 0.5), "dog": ClassDetails(0, 3, 0, NAN, 0.0)},
        curves={"car": Curve(np.array([0.0, 0.5]), np.array([NAN, THIRD]))},
        not_entered=("bird",),
    ),
    "comp5": CompetitionScores(
        competition="comp5",
        task=Task.SEGMENTATION,
        primary=Measure(Metric.INTERSECTION_OVER_UNION, {"background": NAN}),
        confusion_matrix=np.array([[2**40, 0], [1, 2]]),
        images_by_label=np.array([400, 80]),
    ),
}


def stored(backend: Backend) -> Submission:
    challenge = backend.challenge()
    submission_id = backend.submit(backend.user(), challenge)
    with backend.database.writing() as session:
        scoring_id = main_phase(session, challenge.id).current_scoring_id
        assert scoring_id is not None
        service.store(
            session,
            submission_id=submission_id,
            scoring_id=scoring_id,
            scores=SCORES,
            ground_truth_sha256="1" * 64,
            archive_sha256="2" * 64,
            started_at=now(),
            seconds=0.5,
        )
    return backend.submission(submission_id)


def test_scores_come_back_exactly_and_undefined_ones_as_none(backend: Backend) -> None:
    submission = stored(backend)
    with backend.database.reading() as session:
        evaluation = queries.current(session, submission)
    classification, segmentation = evaluation.results
    primary, secondary = classification.measures
    assert {score.class_name: score.value for score in primary.class_scores} == {"car": THIRD, "dog": None, "cat": 0.1}
    assert (primary.mean, primary.mean_over) == ((THIRD + 0.1) / 2, 2)
    assert (secondary.metric, secondary.mean) == ("average_precision_with_difficult", 0.25)
    assert classification.details["dog"] == {
        "positives": 0,
        "results": 3,
        "difficult": 0,
        "final_recall": None,
        "final_precision": 0.0,
    }
    assert classification.not_entered == ["bird"]
    assert (segmentation.measures[0].mean, segmentation.measures[0].mean_over) == (None, 0)


def test_exact_curves_and_matrices_come_back_at_the_level_everything_alone(backend: Backend) -> None:
    submission = stored(backend)
    assert detail_of(backend, submission).exact_curves == {}
    assert detail_of(backend, submission).exact_matrices == {}
    set_level(backend, submission, Detail.EVERYTHING)
    found = detail_of(backend, submission)
    (curves,) = found.exact_curves.values()
    assert isinstance(curves["car"], Curve)
    np.testing.assert_array_equal(curves["car"].recall, [0.5])
    np.testing.assert_array_equal(curves["car"].precision, [THIRD])
    assert list(found.exact_matrices.values()) == [[[2**40, 0], [1, 2]]]
    set_level(backend, submission, Detail.CURVES)
    assert detail_of(backend, submission).exact_curves == {}
    assert detail_of(backend, submission).exact_matrices == {}


def test_eleven_points_and_shares_are_stored_with_the_exact_ones(backend: Backend) -> None:
    found = detail_of(backend, stored(backend))
    (points,) = found.eleven_points.values()
    assert points == {"car": (CurveKind.PRECISION_RECALL, [])}  # two positives: no step of at most 10 %
    assert list(found.shares.values()) == [[[1.0, 0.0], [0.35, 0.65]]]
    assert [steps for steps in found.steps.values() if steps] == [[0.01, 0.05]]


def set_level(backend: Backend, submission: Submission, level: Detail) -> None:
    """Change the level as an organiser does, and let the worker's sweep find it."""
    with backend.database.writing() as session:
        main_phase(session, submission.challenge_id).detail = level
    sweep(backend.database, backend.settings)


def detail_of(backend: Backend, submission: Submission) -> StoredDetail:
    with backend.database.reading() as session:
        evaluation = queries.current(session, submission)
        assert evaluation is not None
        challenge = session.get_one(Challenge, submission.challenge_id)
        return queries.detail(session, challenge, evaluation, "comp1")


def test_means_of_a_list_of_submissions(backend: Backend) -> None:
    submission = stored(backend)
    with backend.database.reading() as session:
        means = queries.current_means(session, [submission.id])
    assert means == {submission.id: {"comp1": (THIRD + 0.1) / 2, "comp5": None}}
