"""An evaluation comes out of the database as it went in."""

import numpy as np

from app.challenges.models import Challenge
from app.database import now
from app.evaluations import queries, service
from app.submissions.models import Submission
from evaluator.editions import Metric, Task
from evaluator.scores import ClassDetails, CompetitionScores, Curve, Measure
from tests.support.backstage import Backstage

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
    ),
}


def stored(backstage: Backstage) -> Submission:
    challenge = backstage.challenge()
    submission_id = backstage.submit(backstage.user(), challenge)
    with backstage.database.writing() as session:
        scoring_id = session.get_one(Challenge, challenge.id).current_scoring_id
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
    return backstage.submission(submission_id)


def test_scores_come_back_exactly_and_undefined_ones_as_none(backstage: Backstage) -> None:
    submission = stored(backstage)
    with backstage.database.reading() as session:
        evaluation = queries.current(session, submission)
    assert evaluation is not None
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
    assert classification.confusion_matrix is None
    assert segmentation.confusion_matrix == [[2**40, 0], [1, 2]]
    assert (segmentation.measures[0].mean, segmentation.measures[0].mean_over) == (None, 0)


def test_corners_of_curves_come_back_exactly(backstage: Backstage) -> None:
    submission = stored(backstage)
    with backstage.database.reading() as session:
        curves = queries.current_curves(session, submission, "comp1")
        assert queries.current_curves(session, submission, "comp5") == {}
    assert list(curves) == ["car"]
    assert isinstance(curves["car"], Curve)
    np.testing.assert_array_equal(curves["car"].recall, [0.5])
    np.testing.assert_array_equal(curves["car"].precision, [THIRD])


def test_means_of_a_list_of_submissions(backstage: Backstage) -> None:
    submission = stored(backstage)
    with backstage.database.reading() as session:
        means = queries.current_means(session, [submission.id])
    assert means == {submission.id: {"comp1": (THIRD + 0.1) / 2, "comp5": None}}
