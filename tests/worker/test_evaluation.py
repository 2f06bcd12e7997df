"""Real workers, as child processes, score what is queued."""

from app.doorbell import Doorbell
from app.evaluations import queries as evaluations
from app.submissions.models import State
from evaluator import VERSION
from tests.support.backstage import Backstage, make_ground_truth


def test_scores_a_submission_that_somebody_rang_for(backstage: Backstage) -> None:
    challenge, user = backstage.challenge(), backstage.user()
    with backstage.running("worker"):
        submission_id = backstage.submit(user, challenge)
        Doorbell(backstage.settings).ring()
        submission = backstage.wait_for(submission_id, State.SCORED)
    with backstage.database.reading() as session:
        evaluation = evaluations.current(session, submission)
        assert evaluation is not None
        (result,) = evaluation.results
        assert (result.competition, result.measures[0].metric) == ("comp1", "average_precision")
        assert result.measures[0].mean == 1.0
        assert evaluation.evaluator_version == VERSION
        assert evaluation.ground_truth_sha256 == make_ground_truth().sha256
        assert evaluation.archive_sha256 == submission.archive_sha256
