"""Changing the detail level of a challenge's results from the command line."""

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries
from vocboard.app.challenges.models import Challenge, Detail
from vocboard.app.leaderboards import freezing


def set_detail(session: Session, *, challenge: Challenge, user: User, detail: Detail) -> None:
    """Change the detail level of a challenge, even to `everything` when it has ground truth.

    Only for operators: the database does not let the web process do this, so that a compromised web process cannot get
    exact curves, which reveal the ground truth.

    Args:
        user: an organiser, named in the audit log.
    """
    queries.lock_challenge(session, challenge.id)
    freezing.freeze_due(session, challenge)
    before, challenge.detail = challenge.detail, detail
    session.flush()
    if before is not detail:
        changes = {"detail": {"from": before.value, "to": detail.value}}
        audit.record(session, actor=user, action="challenge.update", subject=challenge, details=changes)
