"""Results as a viewer may see them: the only way from the stored ones to pages, answers and exports."""

import uuid
from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.queries import organises
from vocboard.app.evaluations import queries
from vocboard.app.evaluations.rounding import shown
from vocboard.app.evaluations.visibility import VisibleEvaluation, visible
from vocboard.app.submissions.models import Submission


def visible_evaluation(
    session: Session, submission: Submission, viewer: User | None, *, curves_of: str | None = None
) -> VisibleEvaluation | None:
    """Return what a viewer sees of a submission's current evaluation.

    Args:
        submission: one that the viewer may see, with its challenge.
        viewer: None for visitors, and for whoever follows an anonymous link.
        curves_of: the competition whose curves to load; those of others are left out.

    Returns:
        None while the current scoring has not evaluated it.
    """
    evaluation = queries.current(session, submission)
    if evaluation is None:
        return None
    return visible(
        evaluation,
        queries.detail(session, evaluation, curves_of),
        submission.challenge,
        is_organiser=organises(session, viewer, submission.challenge_id),
    )


def visible_means(
    session: Session, submissions: Sequence[Submission]
) -> Mapping[uuid.UUID, Mapping[str, float | None]]:
    """Return the mean of the primary measure by submission and competition, rounded; every detail level shows it."""
    decimals = {submission.id: submission.challenge.decimals for submission in submissions}
    found = queries.current_means(session, decimals)
    return {
        submission_id: {key: shown(mean, decimals[submission_id]) for key, mean in means.items()}
        for submission_id, means in found.items()
    }
