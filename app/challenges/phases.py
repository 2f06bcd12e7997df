"""Phases of a challenge."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy.orm import Session

from vocboard.app.challenges import queries
from vocboard.app.challenges.models import Challenge
from vocboard.app.errors import ConflictError


class Phase(StrEnum):
    """Whether a challenge accepts submissions now, and if not, why."""

    NOT_YET_OPEN = "not_yet_open"
    NOT_READY = "not_ready"  # within its dates, but without ground truth
    OPEN = "open"
    CLOSED = "closed"
    ARCHIVED = "archived"  # read-only


def phase(challenge: Challenge, now: datetime) -> Phase:
    """Return the phase of a challenge at a given time. Opening is inclusive, closing exclusive."""
    if challenge.archived_at is not None:
        return Phase.ARCHIVED
    if challenge.closes_at is not None and challenge.closes_at <= now:
        return Phase.CLOSED
    if challenge.opens_at is not None and now < challenge.opens_at:
        return Phase.NOT_YET_OPEN
    return Phase.OPEN if challenge.current_scoring_id is not None else Phase.NOT_READY


def check_accepting(session: Session, challenge: Challenge, *, at: datetime) -> None:
    """Check, in the transaction of a submission, that the challenge accepts submissions.

    Args:
        at: when the upload began; it must begin before the deadline.

    Raises:
        ConflictError: it does not; the message says why.
    """
    present = queries.challenge_as_it_is(session, challenge.id)
    match phase(present, at):
        case Phase.NOT_YET_OPEN:
            raise ConflictError(f"This challenge opens at {present.opens_at:%Y-%m-%d %H:%M} UTC.")
        case Phase.CLOSED:
            raise ConflictError(f"This challenge closed at {present.closes_at:%Y-%m-%d %H:%M} UTC.")
        case Phase.ARCHIVED:
            raise ConflictError("This challenge is archived. Its leaderboards remain available.")
        case Phase.NOT_READY:
            raise ConflictError("You cannot submit yet: the organisers have not uploaded the ground truth.")


def require_not_archived(challenge: Challenge) -> None:
    """Check that a challenge and what belongs to it may be changed.

    Raises:
        ConflictError: it is archived.
    """
    if challenge.archived_at is not None:
        raise ConflictError("This challenge is archived: it can be read, but not changed. An organiser can reopen it.")
