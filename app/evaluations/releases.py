"""What the Ladder mechanism releases of the submissions to a phase.

One mechanism runs for each person and competition of a phase, over all submissions that count for the person (alone or
in a team), of whatever method, published or not: somebody with many methods or teams learns no more than with one.
Nothing that happens to a submission later takes it out again: what was released of the others does not change when it
is withdrawn or disqualified. Means over some of the classes are not compared with means over all, and not released.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping

from sqlalchemy.orm import Session

from vocboard.app.evaluations.ladder import Release, releases
from vocboard.app.evaluations.queries import Scored, connected_people, in_order_of_evaluation, people_of_submissions
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
        user_ids: only submissions of these people, and what these depend on.
        competition: only this one.
    """
    found: defaultdict[uuid.UUID, dict[str, Release]] = defaultdict(dict)
    ladders: defaultdict[tuple[str, str], list[Scored]] = defaultdict(list)  # by metric, which an edition may change
    connected = None if user_ids is None else connected_people(session, phase_id, user_ids)
    for one in in_order_of_evaluation(session, phase_id, user_ids=connected, competition=competition):
        ladders[one.competition, one.metric].append(one)
    people = people_of_submissions(session, phase_id, user_ids=connected)
    for sequence in ladders.values():
        means = [None if one.not_entered else rounded(one.mean, decimals) for one in sequence]
        higher_is_better = METRICS[Metric(sequence[0].metric)].higher_is_better
        groups = [people[one.submission_id] for one in sequence]
        shown = releases(means, step, higher_is_better=higher_is_better, people=groups)
        for one, release in zip(sequence, shown, strict=True):
            found[one.submission_id][one.competition] = release
    return found
