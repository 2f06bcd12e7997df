"""What moves with a deadline that is extended: the dates after it, and phases that would open before it."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.models import Challenge, ChallengePhase
from vocboard.app.challenges.phases import phases_of
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.errors import InvalidInputError


def with_moved_dates(before: PhaseRules, after: PhaseRules) -> dict[str, datetime]:
    """Return the dates from a deadline on that move with it if it is extended, unless they are changed themselves, too.

    They are the freezing date, and those until which leaderboards are hidden or anonymous. Leaderboards and names that
    are shown already stay so.
    """
    moved, deadline = extension(before, after), before.closes_at
    dates = {}
    for name in ("freezes_at", "leaderboard_from", "anonymous_until"):
        old, new = getattr(before, name), getattr(after, name)
        if not moved or deadline is None or old is None or new is None or old < deadline:
            continue
        is_over = name != "freezes_at" and old <= now()
        if not is_over and abs(new - old) < timedelta(minutes=1):  # forms have minutes
            dates[name] = new + moved
    return dates


def extension(before: PhaseRules, after: PhaseRules) -> timedelta:
    """Return by how much a deadline was extended; nothing if it was not, or is new or removed.

    >>> from vocboard.app.challenges.rules import EARLIEST, LATEST
    >>> extension(PhaseRules(closes_at=EARLIEST), PhaseRules(closes_at=LATEST)).days
    73049
    """
    if before.closes_at is None or after.closes_at is None:
        return timedelta()
    return max(after.closes_at - before.closes_at, timedelta())


def move_next_phases(
    session: Session, challenge: Challenge, *, user: User, key: str, before: PhaseRules, after: PhaseRules
) -> None:
    """Let phases that would open between the old and the new deadline of a phase open later by as much.

    Phases that have opened stay open.

    Raises:
        InvalidInputError: one would then open after it closes.
    """
    moved, deadline = extension(before, after), before.closes_at
    if not moved or deadline is None or after.closes_at is None:
        return
    for phase in phases_of(challenge):
        opens_at, closes_at = phase.rules.opens_at, phase.rules.closes_at
        if phase.key == key or opens_at is None or not deadline <= opens_at < after.closes_at or opens_at <= now():
            continue
        if closes_at is not None and closes_at <= opens_at + moved:
            raise InvalidInputError(
                {
                    "closes_at": f"The phase “{phase.title}” opens before that. If it opened as much later, it would "
                    "open after it closes. Change its dates first."
                }
            )
        row: Challenge | ChallengePhase = challenge
        if not phase.is_main:
            row = next(one for one in challenge.further_phases if one.key == phase.key)
        row.opens_at = opens_at + moved
        session.flush()
        changes = {"opens_at": {"from": opens_at, "to": row.opens_at}}
        details: dict[str, Any] = changes
        action = "challenge.update"
        if not phase.is_main:
            action, details = "phase.update", {"phase": phase.key, "changes": changes}
        audit.record(session, actor=user, action=action, subject=challenge, details=details)
