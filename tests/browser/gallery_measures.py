"""More of the gallery: VOC2005, with two measures and two image sets."""

from sqlalchemy.orm import Session

from tests.support.factories import make_challenge
from tests.support.scored import make_submission, store_scores
from vocboard.app.accounts.models import User
from vocboard.app.database import now
from vocboard.evaluator.editions import Metric, load
from vocboard.evaluator.scores import CompetitionScores, Measure

EDITION = load("VOC2005")
LOWER_BY = {"comp1": 0.0, "comp2": 0.15}  # test2 is harder than test1


def add_two_measures(session: Session, organiser: User, participant: User) -> None:
    """Make the boards of a challenge on which each of two methods is the first by one of the measures."""
    challenge = make_challenge(
        session,
        organiser=organiser,
        slug="voc2005",
        title="Objects and scenes of 2005",
        edition=EDITION.name,
        competitions=list(LOWER_BY),
    )
    assert challenge.main_phase.current_scoring_id is not None
    for name, area, accuracy in (("Bag of keypoints", 0.96, 0.88), ("Boundary fragments", 0.94, 0.90)):
        classes = dict.fromkeys(LOWER_BY, EDITION.classes)
        submission = make_submission(session, challenge, participant, name, classes, published_at=now())
        scores = {
            key: CompetitionScores(
                competition=key,
                task=EDITION.competitions[key].task,
                primary=Measure(Metric.ROC_AUC, dict.fromkeys(EDITION.classes, area - lower_by)),
                secondary=(Measure(Metric.EQUAL_ERROR_RATE, dict.fromkeys(EDITION.classes, accuracy - lower_by)),),
            )
            for key, lower_by in LOWER_BY.items()
        }
        store_scores(session, submission.id, challenge.main_phase.current_scoring_id, scores)
