"""Results as a viewer may see them. Pages, API responses and exports must use these functions."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Detail
from vocboard.app.challenges.phases import phase_named
from vocboard.app.challenges.queries import organises
from vocboard.app.evaluations import queries
from vocboard.app.evaluations.rounding import shown
from vocboard.app.evaluations.visibility import VisibleCurve, VisibleEvaluation, visible, visible_curves
from vocboard.app.submissions.models import Submission
from vocboard.app.submissions.queries import visible_competitions


def visible_evaluation(
    session: Session,
    submission: Submission,
    viewer: User | None,
    *,
    curves_of: str | None = None,
    is_by_link: bool = False,
) -> VisibleEvaluation | None:
    """Return the part of a submission's current evaluation that a viewer may see.

    Args:
        submission: a submission that the viewer may see, with its challenge.
        viewer: None for visitors and for anonymous links.
        curves_of: the competition whose curves to load.
        is_by_link: whether the viewer has its anonymous link, which shows all of its competitions.

    Returns:
        None if the current scoring has not evaluated it yet.
    """
    evaluation = queries.current(session, submission)
    if evaluation is None:
        return None
    shown_evaluation = visible(
        evaluation,
        queries.detail(session, evaluation, curves_of),
        detail=phase_named(submission.challenge, submission.phase_key).rules.detail,
        decimals=submission.challenge.decimals,
        is_organiser=organises(session, viewer, submission.challenge_id),
    )
    if is_by_link:
        return shown_evaluation
    keys = visible_competitions(session, submission, viewer)
    return replace(shown_evaluation, results=tuple(one for one in shown_evaluation.results if one.competition in keys))


def published_curves(
    session: Session, submission_ids: Collection[uuid.UUID], competition: str, class_name: str, *, detail: Detail
) -> Mapping[uuid.UUID, VisibleCurve]:
    """Return the curves of one class, by submission, of those submissions that are published and have one.

    Args:
        detail: level of the submissions' phase.
    """
    results, stored = queries.published_curves(session, submission_ids, competition, class_name)
    found = visible_curves(stored, detail=detail)
    return {results[result_id]: of_class[class_name] for result_id, of_class in found.items() if class_name in of_class}


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
