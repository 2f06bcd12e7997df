"""Results as a viewer may see them. Pages, API responses and exports must use these functions."""

import uuid
from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.phases import phase_named
from vocboard.app.challenges.queries import organises
from vocboard.app.evaluations import queries
from vocboard.app.evaluations.rounding import shown
from vocboard.app.evaluations.visibility import VisibleEvaluation, visible
from vocboard.app.submissions.models import Submission


def visible_evaluation(
    session: Session, submission: Submission, viewer: User | None, *, curves_of: str | None = None
) -> VisibleEvaluation | None:
    """Return the part of a submission's current evaluation that a viewer may see.

    Args:
        submission: a submission that the viewer may see, with its challenge.
        viewer: None for visitors and for anonymous links.
        curves_of: the competition whose curves to load.

    Returns:
        None if the current scoring has not evaluated it yet.
    """
    evaluation = queries.current(session, submission)
    if evaluation is None:
        return None
    return visible(
        evaluation,
        queries.detail(session, evaluation, curves_of),
        detail=phase_named(submission.challenge, submission.phase_key).rules.detail,
        decimals=submission.challenge.decimals,
        is_organiser=organises(session, viewer, submission.challenge_id),
    )


def visible_means(
    session: Session, submissions: Sequence[Submission]
) -> Mapping[uuid.UUID, Mapping[str, float | None]]:
    """Return the rounded mean of the primary metric by submission and competition, visible at every detail level."""
    decimals = {submission.id: submission.challenge.decimals for submission in submissions}
    found = queries.current_means(session, decimals)
    return {
        submission_id: {key: shown(mean, decimals[submission_id]) for key, mean in means.items()}
        for submission_id, means in found.items()
    }
