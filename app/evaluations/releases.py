"""What the Ladder mechanism releases of the submissions to a phase.

One mechanism runs for each person and competition of a phase, over all of the person's submissions, of whatever method,
published or not: somebody with many methods learns no more than somebody with one. Nothing that happens to a submission
later takes it out again: what was released of the others does not change when it is withdrawn or disqualified. Means
over some of the classes are not compared with means over all, and not released.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping

from sqlalchemy.orm import Session

from vocboard.app.evaluations.ladder import Release, releases
from vocboard.app.evaluations.queries import Scored, in_order_of_evaluation
from vocboard.app.evaluations.rounding import rounded
from vocboard.evaluator.editions import Metric
from vocboard.evaluator.tasks.definitions import METRICS


def releases_of_phase(
    session: Session,
    phase_id: uuid.UUID,
    step: float,
    decimals: int,
    *,
    user_ids: Collection[uuid.UUID] | None = None,
    competition: str | None = None,
) -> Mapping[uuid.UUID, Mapping[str, Release]]:
    """Return what is released, by submission and competition. Submissions that are not scored are missing.

    Args:
        step: of the mechanism, a fraction.
        decimals: of the challenge. What is decided by rounded scores tells no more than these, which all appear later.
        user_ids: only submissions of these people.
        competition: only this one.
    """
    found: defaultdict[uuid.UUID, dict[str, Release]] = defaultdict(dict)
    ladders: defaultdict[tuple[uuid.UUID, str], list[Scored]] = defaultdict(list)
    scored = in_order_of_evaluation(session, phase_id, user_ids=user_ids, competition=competition)
    for one in scored:
        ladders[one.user_id, one.competition].append(one)
    for sequence in ladders.values():
        means = [None if one.not_entered else rounded(one.mean, decimals) for one in sequence]
        higher_is_better = METRICS[Metric(sequence[0].metric)].higher_is_better
        for one, release in zip(sequence, releases(means, step, higher_is_better=higher_is_better), strict=True):
            found[one.submission_id][one.competition] = release
    return found
