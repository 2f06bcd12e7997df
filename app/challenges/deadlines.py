"""What moves with a deadline that is extended: the freezing date after it, and phases that would open before it."""

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


def with_moved_freeze(before: PhaseRules, after: PhaseRules) -> dict[str, datetime]:
    """Return the freezing date that moves with a deadline that is extended, unless it is changed itself, too."""
    old, new, moved = before.freezes_at, after.freezes_at, extension(before, after)
    if not moved or old is None or new is None or before.closes_at is None or old < before.closes_at:
        return {}
    is_unchanged = abs(new - old) < timedelta(minutes=1)  # forms have minutes
    return {"freezes_at": new + moved} if is_unchanged else {}


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
