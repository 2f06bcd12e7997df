"""Who is told of announcements, questions and answers, and that what was removed is no longer told."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import Role, User
from vocboard.app.announcements import queries
from vocboard.app.announcements.models import Announcement, Question
from vocboard.app.challenges.models import Challenge, ChallengeOrganiser
from vocboard.app.notifications.models import Notification, NotificationKind
from vocboard.app.notifications.service import notify

MAX_LENGTH = 2_000  # characters of a text; the rest is on the page


def announced(session: Session, announcement: Announcement, challenge: Challenge) -> int:
    """Tell the entrants of a challenge, each once, and return how many these are."""
    entrants = queries.entrants(session, challenge.id)
    notify(
        session,
        entrants,
        NotificationKind.ANNOUNCEMENT,
        title=f"{_short(challenge.title, 80)}: {announcement.title}",
        text=_short(announcement.text),
        link=f"/challenges/{challenge.slug}/announcements#{announcement.id}",
        challenge_id=challenge.id,
        once_key=f"announcement:{announcement.id}",
    )
    return len(entrants)


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
    is_about_it = Notification.challenge_id == about.challenge_id, Notification.link.endswith(f"#{about.id}")
    session.execute(delete(Notification).where(*is_about_it), execution_options={"synchronize_session": False})


def _short(text: str, length: int = MAX_LENGTH) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
