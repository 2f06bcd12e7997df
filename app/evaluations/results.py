"""Results as a viewer may see them. Pages, API responses and exports must use these functions."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Detail
from vocboard.app.challenges.phases import Phase, phase_with_id
from vocboard.app.database import now
from vocboard.app.evaluations import queries
from vocboard.app.evaluations.ladder import Ladder, Release
from vocboard.app.evaluations.releases import releases_of_phase
from vocboard.app.evaluations.rounding import rounded
from vocboard.app.evaluations.visibility import visible, visible_curves
from vocboard.app.evaluations.visible import VisibleCurve, VisibleEvaluation
from vocboard.app.submissions.models import WITH_RESULT, Submission
from vocboard.app.submissions.queries import Access, visible_competitions

_NOTHING = Release(None, None)


def visible_evaluation(
    session: Session,
    submission: Submission,
    access: Access,
    *,
    curves_of: str | None = None,
    is_by_link: bool = False,
) -> VisibleEvaluation | None:
    """Return the part of a submission's current evaluation that a viewer may see.

    Args:
        submission: a submission that the viewer may see, with its challenge.
        access: what the viewer is to the submission; the default for visitors and anonymous links.
        curves_of: the competition whose curves to load.
        is_by_link: whether the viewer has its anonymous link, which shows all of its competitions.

    Returns:
        None if the current scoring has not evaluated it yet, or it has failed or been withdrawn.
    """
    evaluation = None if submission.state not in WITH_RESULT else queries.current(session, submission)
    if evaluation is None:
        return None
    phase = phase_with_id(submission.challenge, submission.phase_id)
    shown_evaluation = visible(
        evaluation,
        queries.detail(session, submission.challenge, evaluation, curves_of),
        detail=phase.rules.detail,
        decimals=submission.challenge.decimals,
        is_organiser=access.is_organised,
        ladder=None if access.is_organised else _ladder(session, submission, phase, access),
    )
    if is_by_link:
        return shown_evaluation
    keys = visible_competitions(submission, access)
    return replace(shown_evaluation, results=tuple(one for one in shown_evaluation.results if one.competition in keys))


def _ladder(session: Session, submission: Submission, phase: Phase, access: Access) -> Ladder | None:
    step = phase.ladder_step(now())
    if step is None:
        return None
    found = releases_of_phase(session, phase.id, step, submission.challenge.decimals, user_ids=[submission.user_id])
    return Ladder(step, found.get(submission.id, {}), access.is_own)


def published_curves(
    session: Session,
    shown: Mapping[uuid.UUID, uuid.UUID | None],
    competition: str,
    class_name: str,
    *,
    detail: Detail,
    has_ladder: bool,
) -> Mapping[uuid.UUID, VisibleCurve]:
    """Return the curves of one class, by submission, of those submissions that are published and have one.

    Args:
        shown: the results that a leaderboard shows, by submission; None where that is not known. A frozen one may show
            earlier results than the current ones, whose curves do not belong to its scores.
        detail: level of the submissions' phase.
        has_ladder: whether the Ladder mechanism hides their scores now.
    """
    results, stored = queries.published_curves(session, list(shown), competition, class_name)
    found = visible_curves(stored, detail=detail, has_ladder=has_ladder)
    return {
        results[result_id]: of_class[class_name]
        for result_id, of_class in found.items()
        if class_name in of_class and shown[results[result_id]] in {None, result_id}
    }


def visible_means(
    session: Session, submissions: Sequence[Submission], *, for_organisers: bool
) -> Mapping[uuid.UUID, Mapping[str, float | None]]:
    """Return the rounded mean of the primary metric by submission and competition, visible at every detail level.

    Args:
        submissions: with their challenges. Those that have failed or been withdrawn have no scores.
        for_organisers: whether the reader organises the challenges; others see what the Ladder mechanism releases.
    """
    decimals = {one.id: one.challenge.decimals for one in submissions if one.state in WITH_RESULT}
    found = queries.current_means(session, decimals)
    released = {} if for_organisers else _released(session, submissions)
    return {
        submission_id: {
            key: rounded(released[submission_id].get(key, _NOTHING).score, decimals[submission_id])
            if submission_id in released
            else rounded(mean, decimals[submission_id])
            for key, mean in means.items()
        }
        for submission_id, means in found.items()
    }


def incomplete_results(session: Session, submissions: Sequence[Submission]) -> set[tuple[uuid.UUID, str]]:
    """Return the submissions and competitions in which not all classes were entered, visible at every detail level."""
    return queries.incomplete_results(session, [one.id for one in submissions if one.state in WITH_RESULT])


def _released(session: Session, submissions: Sequence[Submission]) -> Mapping[uuid.UUID, Mapping[str, Release]]:
    """What the Ladder mechanism releases of those submissions whose scores it hides now."""
    at, by_phase = now(), defaultdict[tuple[uuid.UUID, float, int], list[Submission]](list)
    for one in submissions:
        step = phase_with_id(one.challenge, one.phase_id).ladder_step(at)
        if step is not None:
            by_phase[one.phase_id, step, one.challenge.decimals].append(one)
    released: dict[uuid.UUID, Mapping[str, Release]] = {}
    for phase, hidden in by_phase.items():
        found = releases_of_phase(session, *phase, user_ids={one.user_id for one in hidden})
        released |= {one.id: found.get(one.id, {}) for one in hidden}
    return released
