"""Database queries for announcements and questions.

Whether the viewer may see the challenge is the caller's to check.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Select, exists, false, func, select
from sqlalchemy.orm import Session, joinedload

from vocboard.app.accounts.models import User
from vocboard.app.announcements.models import Announcement, Question
from vocboard.app.challenges.models import Challenge, Visibility
from vocboard.app.challenges.queries import admitted
from vocboard.app.submissions.models import Submission
from vocboard.app.teams.models import TeamMember


def announcements_of(challenge: Challenge) -> Select[Announcement]:
    """Return the query for the announcements of a challenge, the latest first."""
    return (
        select(Announcement)
        .where(Announcement.challenge_id == challenge.id)
        .order_by(Announcement.created_at.desc(), Announcement.id)
    )


def latest_announcements(session: Session, challenge: Challenge, *, limit: int) -> Sequence[Announcement]:
    """Return the latest announcements of a challenge, the latest first."""
    return session.scalars(announcements_of(challenge).limit(limit)).all()


def entrants(session: Session, challenge: Challenge) -> Sequence[uuid.UUID]:
    """Return the ids of people who have submitted to a challenge, or are in a team that has, if email can reach them.

    Rehearsals do not count, nor do people whom a private challenge admits no longer.
    """
    counts = Submission.challenge_id == challenge.id, ~Submission.is_rehearsal
    has_submitted = User.id.in_(select(Submission.user_id).where(*counts))
    of_team = exists().where(Submission.team_id == TeamMember.team_id, *counts)  # quicker than to join all of them
    is_member = User.id.in_(select(TeamMember.user_id).where(TeamMember.challenge_id == challenge.id, of_team))
    is_reached = User.email_confirmed_at.is_not(None) & User.disabled_at.is_(None)
    people = select(User).where(has_submitted | is_member, is_reached)
    if challenge.visibility is Visibility.PRIVATE:
        return [person.id for person in admitted(session, challenge, session.scalars(people))]
    return session.scalars(people.with_only_columns(User.id)).all()


def visible_questions(challenge: Challenge, viewer: User | None, *, organises: bool) -> Select[Question]:
    """Return the query for the questions that somebody may see, with their askers: open ones first, then the latest.

    Everyone sees public answers with their questions, and a person her own questions with whatever answers. Only
    organisers see other ones, and who has asked.

    Args:
        organises: whether the viewer sees what organisers see.
    """
    query = (
        select(Question)
        .where(Question.challenge_id == challenge.id)
        .options(joinedload(Question.user))
        .order_by(Question.answer.is_not(None), Question.created_at.desc(), Question.id)
    )
    if organises:
        return query
    is_own = Question.user_id == viewer.id if viewer is not None else false()
    return query.where(is_own | (Question.is_public & Question.answer.is_not(None)))


def last_question(session: Session, challenge: Challenge, user: User) -> Question | None:
    """Return what a person has asked last in a challenge."""
    query = select(Question).where(Question.challenge_id == challenge.id, Question.user_id == user.id)
    return session.scalar(query.order_by(Question.created_at.desc(), Question.id).limit(1))


def open_questions(session: Session, challenge_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, int]:
    """Return how many questions wait for an answer, by challenge; those without any are missing."""
    query = (
        select(Question.challenge_id, func.count())
        .where(Question.challenge_id.in_(challenge_ids), Question.answer.is_(None))
        .group_by(Question.challenge_id)
    )
    return {row[0]: row[1] for row in session.execute(query)}
