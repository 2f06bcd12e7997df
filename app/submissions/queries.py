"""Submissions as their owners, organisers and visitors may see them."""

import hashlib
import uuid

from sqlalchemy import ColumnElement, Select, and_, or_, select
from sqlalchemy.orm import Session, contains_eager, joinedload, selectinload

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge, Visibility
from vocboard.app.challenges.queries import organised_by, organises
from vocboard.app.errors import NotFoundError
from vocboard.app.paging import PER_PAGE, Page, paginate
from vocboard.app.submissions.models import State, Submission, SubmissionEntry


def get_for(session: Session, submission_id: uuid.UUID, viewer: User | None) -> Submission:
    """Return a submission with its method, user, challenge (and its competitions) and entries.

    Its owner, the challenge's organisers and administrators see every submission; everyone who sees the challenge
    sees published ones.

    Raises:
        NotFoundError: there is none, or it is not the viewer's to see.
    """
    query = _complete().where(Submission.id == submission_id, _visible_to(viewer))
    submission = session.scalars(query).one_or_none()
    if submission is None:
        raise NotFoundError("This submission does not exist.")
    return submission


def is_managed_by(session: Session, submission: Submission, viewer: User | None) -> bool:
    """Whether the viewer sees more of it than a visitor: its owner, an organiser of its challenge, an administrator."""
    is_own = viewer is not None and submission.user_id == viewer.id
    return is_own or organises(session, viewer, submission.challenge_id)


def by_anonymous_token(session: Session, token: str) -> Submission:
    """Return the scored submission that an anonymous link leads to.

    Views of it must not name the person, the method, contributors or affiliation.

    Raises:
        NotFoundError: there is no such link, or not any more, or the challenge is a draft.
    """
    query = _complete().where(
        Submission.anonymous_token_hash == hash_of(token),
        Submission.state == State.SCORED,
        Challenge.visibility != Visibility.DRAFT,
    )
    submission = session.scalars(query).one_or_none()
    if submission is None:
        raise NotFoundError("This result does not exist.")
    return submission


def mine(session: Session, *, user: User, page: int = 1, per_page: int = PER_PAGE) -> Page[Submission]:
    """Return the person's own submissions, the latest first."""
    query = _complete().where(Submission.user_id == user.id)
    return paginate(session, _latest_first(query), page=page, per_page=per_page)


def of_challenge(
    session: Session, *, challenge: Challenge, page: int = 1, per_page: int = PER_PAGE
) -> Page[Submission]:
    """Return everyone's submissions to a challenge, the latest first; for its organisers alone (the caller checks)."""
    query = _complete().where(Submission.challenge_id == challenge.id)
    return paginate(session, _latest_first(query), page=page, per_page=per_page)


def published_competitor(session: Session, submission: Submission) -> Submission | None:
    """Return another published submission of the same method that shares a competition with this one."""
    keys = [entry.competition for entry in submission.entries]
    query = (
        select(Submission)
        .where(
            Submission.method_id == submission.method_id,
            Submission.id != submission.id,
            Submission.published_at.is_not(None),
            Submission.entries.any(SubmissionEntry.competition.in_(keys)),
        )
        .options(selectinload(Submission.entries))
        .limit(1)
    )
    return session.scalars(query).one_or_none()


def hash_of(token: str) -> bytes:
    """What the database keeps of an anonymous link's token."""
    return hashlib.sha256(token.encode()).digest()


def _complete() -> Select[Submission]:
    return (
        select(Submission)
        .join(Submission.challenge)
        .options(
            contains_eager(Submission.challenge).selectinload(Challenge.competitions),
            joinedload(Submission.method),
            joinedload(Submission.user),
            selectinload(Submission.entries),
        )
    )


def _latest_first(query: Select[Submission]) -> Select[Submission]:
    return query.order_by(Submission.created_at.desc(), Submission.id)


def _visible_to(viewer: User | None) -> ColumnElement[bool]:
    is_published = and_(
        Submission.published_at.is_not(None),
        Submission.state == State.SCORED,
        Challenge.visibility != Visibility.DRAFT,
    )
    if viewer is None:
        return is_published
    return or_(is_published, Submission.user_id == viewer.id, organised_by(viewer))
