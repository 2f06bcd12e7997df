"""Applied re-scores with the scores that a test wants, without a worker and without files of ground truth."""

import random

from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support.factories import make_truth
from tests.support.phases import complete
from tests.support.scored import scores_of, store_scores
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.leaderboards.models import RescoreItem, RescoreState
from vocboard.app.rescores import queue, service, switch
from vocboard.evaluator.version import VERSION


def correct(
    session: Session, challenge: Challenge, organiser: User, *, chance: random.Random, is_kept: bool = True
) -> None:
    """Re-score all submissions with corrected ground truth, and apply it; each gets a random score in the class car.

    Args:
        is_kept: false to discard it instead.
    """
    found = complete(session, challenge.id)
    version = make_truth(session, found, current=False)
    rescore = service.start(
        session, challenge=found, user=organiser, ground_truth_version=version.number, reason="Labels corrected"
    )
    session.flush()
    queue.begin(session, rescore, VERSION)
    assert rescore.scoring_id is not None
    for item in session.scalars(select(RescoreItem).where(RescoreItem.rescore_id == rescore.id)):
        scores = {"comp1": scores_of(chance.random())}
        sha256 = version.sha256 or ""
        store_scores(session, item.submission_id, rescore.scoring_id, scores, ground_truth_sha256=sha256)
        item.finished_at = now()
    session.flush()
    switch.make_ready(session, rescore)
    if not is_kept:
        service.discard(session, rescore_id=rescore.id, user=organiser)
        return
    service.request_apply(session, rescore_id=rescore.id, user=organiser)
    session.flush()
    assert switch.apply(session, rescore)
    assert rescore.state is RescoreState.APPLIED
