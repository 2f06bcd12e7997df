"""What organisers announce: on the challenge's page, as a feed, and by email to entrants if they wish."""

import uuid

from sqlalchemy.orm import Session

from vocboard.app import rate_limits
from vocboard.app.accounts.models import User
from vocboard.app.announcements import notices, queries
from vocboard.app.announcements.models import Announcement
from vocboard.app.audit import service as audit
from vocboard.app.challenges.models import Challenge, Visibility
from vocboard.app.challenges.phases import lock_to_change
from vocboard.app.database import now
from vocboard.app.errors import InvalidInputError, NotFoundError
from vocboard.app.forms import FieldChecks
from vocboard.app.webhooks.events import emit
from vocboard.app.webhooks.models import Event

MAX_TITLE_LENGTH, MAX_TEXT_LENGTH = 200, 20_000


def announce(session: Session, *, challenge: Challenge, user: User, title: str, text: str, email: bool) -> Announcement:
    """Announce something. The same once more, as by a second click, adds and sends nothing, unless it is now emailed.

    Args:
        challenge: from `get_organised`.
        email: whether entrants are notified, each once, also by email.

    Raises:
        ConflictError: the challenge is archived.
        InvalidInputError: with all errors of the fields; drafts are not sent by email.
        LimitedError: too many announcements were sent by email.
    """
    lock_to_change(session, challenge)
    title, text = _checked(title, text)
    if email and challenge.visibility is Visibility.DRAFT:
        raise InvalidInputError({"email": "Only organisers can see this challenge: it is a draft."})
    last = next(iter(queries.latest_announcements(session, challenge, limit=1)), None)
    if last is not None and (last.title, last.text) == (title, text) and last.by_email >= email:
        return last
    instant = now()
    announcement = Announcement(
        challenge_id=challenge.id, title=title, text=text, by_email=email, created_at=instant, changed_at=instant
    )
    session.add(announcement)
    session.flush()
    content = {"challenge": challenge.slug, "announcement": str(announcement.id), "title": title}
    is_draft = challenge.visibility is Visibility.DRAFT  # which organisers alone see
    entrants = [] if is_draft else queries.entrants(session, challenge)
    emit(session, Event.ANNOUNCED, [(entrants, content)], challenge_id=challenge.id)
    if email:
        rate_limits.spend(session, {rate_limits.ANNOUNCEMENTS_BY_EMAIL: str(challenge.id)})
        notices.announced(session, announcement, challenge, entrants)
    details = {"title": title, "told": len(entrants) if email else 0}
    audit.record(session, actor=user, action="announcement.create", subject=announcement, details=details)
    return announcement


def correct(
    session: Session, *, challenge: Challenge, user: User, announcement_id: uuid.UUID, title: str, text: str
) -> Announcement:
    """Change an announcement, also in notifications and in emails that are not made yet; nobody is notified again.

    Raises:
        ConflictError: the challenge is archived.
        InvalidInputError: with all errors of the fields.
        NotFoundError: the challenge has no such announcement.
    """
    lock_to_change(session, challenge)
    announcement = get(session, challenge, announcement_id)
    title, text = _checked(title, text)
    if (announcement.title, announcement.text) != (title, text):
        details = {"title": title}
        announcement.title, announcement.text, announcement.changed_at = title, text, now()
        notices.corrected(session, announcement, challenge)
        audit.record(session, actor=user, action="announcement.correct", subject=announcement, details=details)
    return announcement


def remove(session: Session, *, challenge: Challenge, user: User, announcement_id: uuid.UUID) -> None:
    """Remove an announcement, also from people's notifications. Idempotent.

    Raises:
        ConflictError: the challenge is archived.
        NotFoundError: it is another challenge's.
    """
    lock_to_change(session, challenge)
    if session.get(Announcement, announcement_id) is None:
        return
    announcement = get(session, challenge, announcement_id)
    details = {"title": announcement.title}
    audit.record(session, actor=user, action="announcement.remove", subject=announcement, details=details)
    notices.withdrawn(session, announcement)
    session.delete(announcement)


def get(session: Session, challenge: Challenge, announcement_id: uuid.UUID) -> Announcement:
    """Return an announcement of a challenge.

    Raises:
        NotFoundError: the challenge has no such announcement.
    """
    found = session.get(Announcement, announcement_id)
    if found is None or found.challenge_id != challenge.id:
        raise NotFoundError("This announcement does not exist.")
    return found


def _checked(title: str, text: str) -> tuple[str, str]:
    checks = FieldChecks()
    found = (
        checks.line("title", title, max_length=MAX_TITLE_LENGTH, required=True),
        checks.text("text", text, max_length=MAX_TEXT_LENGTH, required=True),
    )
    checks.finish()
    return found
