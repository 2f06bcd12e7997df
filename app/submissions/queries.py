"""Queries for submissions that a viewer may see."""

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

    The owner, the challenge's organisers and administrators can see every submission; everyone who can see the
    challenge can see published ones.

    Raises:
        NotFoundError: it does not exist, or the viewer may not see it.
    """
    query = _complete().where(Submission.id == submission_id, _visible_to(viewer))
    submission = session.scalars(query).one_or_none()
    if submission is None:
        raise NotFoundError("This submission does not exist.")
    return submission


def is_managed_by(session: Session, submission: Submission, viewer: User | None) -> bool:
    """Whether the viewer manages the submission: its owner, an organiser of its challenge, or an administrator."""
    is_own = viewer is not None and submission.user_id == viewer.id
    return is_own or organises(session, viewer, submission.challenge_id)


def by_anonymous_token(session: Session, token: str) -> Submission:
    """Return the scored submission of an anonymous link.

    Views must not show the user, the method, contributors or affiliation.

    Raises:
        NotFoundError: the link does not exist or was revoked, or the challenge is a draft.
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
    """Return the user's own submissions, newest first."""
    query = _complete().where(Submission.user_id == user.id)
    return paginate(session, _latest_first(query), page=page, per_page=per_page)


def of_challenge(
    session: Session, *, challenge: Challenge, page: int = 1, per_page: int = PER_PAGE
) -> Page[Submission]:
    """Return all submissions to a challenge, newest first. The caller checks that the user is an organiser."""
    query = _complete().where(Submission.challenge_id == challenge.id)
    return paginate(session, _latest_first(query), page=page, per_page=per_page)


def published_competitor(session: Session, submission: Submission) -> Submission | None:
    """Return another published submission of the same method in one of the same competitions."""
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
    """Return the hash of an anonymous link's token, as stored in the database."""
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
