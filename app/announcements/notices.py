"""Who is told of announcements, questions and answers, and that what was removed is no longer told."""

import uuid
from collections.abc import Collection

from sqlalchemy import ColumnElement, and_, delete, select, update
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import Role, User
from vocboard.app.announcements.models import Announcement, Question
from vocboard.app.challenges.models import Challenge, ChallengeOrganiser
from vocboard.app.notifications.models import Notification, NotificationKind
from vocboard.app.notifications.service import notify

MAX_LENGTH = 2_000  # characters of a text; the rest is on the page


def announced(
    session: Session, announcement: Announcement, challenge: Challenge, entrants: Collection[uuid.UUID]
) -> None:
    """Tell the entrants of a challenge, each once."""
    notify(
        session,
        entrants,
        NotificationKind.ANNOUNCEMENT,
        title=_title(announcement, challenge),
        text=_short(announcement.text),
        link=f"/challenges/{challenge.slug}/announcements#{announcement.id}",
        challenge_id=challenge.id,
        once_key=f"announcement:{announcement.id}",
    )


def corrected(session: Session, announcement: Announcement, challenge: Challenge) -> None:
    """Correct what people were told, also in emails that are not made yet; nobody is told again."""
    told = {"title": _title(announcement, challenge), "text": _short(announcement.text)}
    change = update(Notification).where(_locked(session, announcement)).values(told)
    session.execute(change, execution_options={"synchronize_session": False})


def asked(session: Session, question: Question, challenge: Challenge) -> None:
    """Tell the organisers of a challenge that somebody has asked."""
    organisers = session.scalars(
        select(User.id)
        .join(ChallengeOrganiser, ChallengeOrganiser.user_id == User.id)
        .where(ChallengeOrganiser.challenge_id == challenge.id, User.role != Role.PARTICIPANT)
    ).all()
    notify(
        session,
        organisers,
        NotificationKind.QUESTION,
        title=f"A question about {challenge.title}",
        link=f"/organise/{challenge.slug}/questions#{question.id}",
        challenge_id=challenge.id,
    )


def answered(session: Session, question: Question, challenge: Challenge) -> None:
    """Tell who has asked the answer, and nobody else."""
    notify(
        session,
        [question.user_id] if question.user_id is not None else [],
        NotificationKind.ANSWER,
        title=f"Answer to your question about {challenge.title}",
        text=_short(question.answer or ""),
        link=f"/challenges/{challenge.slug}/questions#{question.id}",
        challenge_id=challenge.id,
    )


def withdrawn(session: Session, about: Announcement | Question) -> None:
    """Remove what people were told of something; emails that have been sent stay."""
    removal = delete(Notification).where(_locked(session, about))
    session.execute(removal, execution_options={"synchronize_session": False})


def _locked(session: Session, about: Announcement | Question) -> ColumnElement[bool]:
    """Lock the notifications of something, in the order in which their emails are made, and return which they are."""
    are = and_(Notification.challenge_id == about.challenge_id, Notification.link.endswith(f"#{about.id}"))
    query = select(Notification.id).where(are).order_by(Notification.created_at, Notification.id)
    session.execute(query.with_for_update())
    return are


def _title(announcement: Announcement, challenge: Challenge) -> str:
    return f"{_short(challenge.title, 80)}: {announcement.title}"


def _short(text: str, length: int = MAX_LENGTH) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
