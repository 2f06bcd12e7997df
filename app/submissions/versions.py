"""Versions of a method: its submissions, those before and beside one, and those that it can replace."""

import uuid
from collections.abc import Collection, Sequence

from sqlalchemy import and_, select
from sqlalchemy.orm import Session, joinedload, selectinload

from vocboard.app.errors import NotFoundError
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry
from vocboard.app.submissions.queries import complete, latest_first, visible_to


def published_competitors(
    session: Session, submission: Submission, competitions: Collection[str]
) -> Sequence[Submission]:
    """Return the other published submissions of the same method in some of these competitions of the same phase."""
    query = (
        select(Submission)
        .where(
            Submission.method_id == submission.method_id,
            Submission.phase_key == submission.phase_key,
            Submission.id != submission.id,
            Submission.published_at.is_not(None),
            Submission.entries.any(
                and_(SubmissionEntry.competition.in_(competitions), SubmissionEntry.is_private.is_(False))
            ),
        )
        .options(selectinload(Submission.entries))
        .order_by(Submission.id)
    )
    return session.scalars(query).all()


def previous_of(session: Session, submission: Submission, competition: str) -> Submission | None:
    """Return the scored submission of the same method to the same phase and competition before it."""
    query = (
        complete()
        .where(
            Submission.method_id == submission.method_id,
            Submission.phase_key == submission.phase_key,
            Submission.state == State.SCORED,
            Submission.id != submission.id,
            Submission.created_at <= submission.created_at,
            Submission.entries.any(SubmissionEntry.competition == competition),
        )
        .order_by(Submission.created_at.desc(), Submission.id)
    )
    return session.scalars(query.limit(1)).one_or_none()


def replaceable_by(session: Session, submission: Submission) -> Sequence[Submission]:
    """Return the published submissions whose place a submission can take where it is not published itself."""
    published = submission.published_competitions
    private = [entry.competition for entry in submission.entries if entry.competition not in published]
    return published_competitors(session, submission, private)


def method_by_id(session: Session, method_id: uuid.UUID) -> Method:
    """Return a method with its challenge.

    Raises:
        NotFoundError: there is none.
    """
    query = select(Method).where(Method.id == method_id).options(joinedload(Method.challenge))
    method = session.scalars(query).one_or_none()
    if method is None:
        raise NotFoundError("This method does not exist, or none of its results is published.")
    return method


def versions_of(session: Session, method: Method, *, only_published: bool) -> Sequence[Submission]:
    """Return the submissions of a method, the latest first.

    Args:
        only_published: those that everyone sees; otherwise all, for its owner.
    """
    query = complete().where(Submission.method_id == method.id)
    if only_published:
        query = query.where(visible_to(None))
    return session.scalars(latest_first(query)).all()
