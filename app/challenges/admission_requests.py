"""Requests to be admitted to a phase: what organisers see of them, and decide. `app.participating.admission` adds them.

Admitting somebody, by the request or by the email address, answers an open request. A declined request stays declined:
the person cannot ask again, but the organisers can still admit the address.
"""

import uuid
from collections.abc import Collection, Mapping

from sqlalchemy import func, select
from sqlalchemy.orm import Session, contains_eager, joinedload

from vocboard.app.accounts.models import Role, User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.models import (
    AdmissionRequest,
    Challenge,
    ChallengeOrganiser,
    ChallengePhase,
    RequestState,
)
from vocboard.app.challenges.phases import lock_to_change
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.app.forms import FieldChecks
from vocboard.app.notifications.models import NotificationKind
from vocboard.app.notifications.service import notify
from vocboard.app.paging import PER_PAGE, Page, paginate

MAX_REASON_LENGTH = 2_000
NO_SUCH_REQUEST = "This request does not exist. The person may have withdrawn it."


def page_of_requests(
    session: Session, challenge_id: uuid.UUID, *, page: int = 1, per_page: int = PER_PAGE
) -> Page[AdmissionRequest]:
    """Return requests of a challenge with people and phases, open ones first, then by time; for organisers.

    Those of deleted accounts are left out.
    """
    query = select(AdmissionRequest).join(AdmissionRequest.phase).join(AdmissionRequest.user)
    query = query.options(contains_eager(AdmissionRequest.phase), contains_eager(AdmissionRequest.user))
    of_challenge = query.where(ChallengePhase.challenge_id == challenge_id, User.mailbox_hash.is_(None))
    is_decided = AdmissionRequest.state != RequestState.OPEN
    ordered = of_challenge.order_by(is_decided, AdmissionRequest.created_at, AdmissionRequest.id)
    return paginate(session, ordered, page=page, per_page=per_page)


def own_requests(session: Session, challenge_id: uuid.UUID, user: User) -> Mapping[uuid.UUID, AdmissionRequest]:
    """Return the requests of a person in a challenge by phase."""
    query = select(AdmissionRequest).join(AdmissionRequest.phase).options(contains_eager(AdmissionRequest.phase))
    own = query.where(ChallengePhase.challenge_id == challenge_id, AdmissionRequest.user_id == user.id)
    return {one.phase_id: one for one in session.scalars(own)}


def count_open(session: Session, challenge_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, int]:
    """Return how many requests are open, by challenge; those without any are missing."""
    query = select(ChallengePhase.challenge_id, func.count()).join(AdmissionRequest)
    is_open = ChallengePhase.challenge_id.in_(challenge_ids), AdmissionRequest.state == RequestState.OPEN
    rows = session.execute(query.where(*is_open).group_by(ChallengePhase.challenge_id))
    return {row[0]: row[1] for row in rows}


def open_request(session: Session, *, challenge: Challenge, request_id: uuid.UUID) -> AdmissionRequest:
    """Return a request that is still to be decided, with person and phase, in a transaction that decides it.

    Args:
        challenge: from `get_organised`.

    Raises:
        NotFoundError: the challenge has no such request.
        ConflictError: it has been decided, perhaps by another organiser; or the challenge is archived.
    """
    # First the person, as everywhere: who is just deleting the account would else be admitted after that.
    asking = select(AdmissionRequest.user_id).where(AdmissionRequest.id == request_id).scalar_subquery()
    session.execute(select(User.id).where(User.id == asking).with_for_update(key_share=True, of=User))
    lock_to_change(session, challenge)
    query = select(AdmissionRequest).where(AdmissionRequest.id == request_id)
    query = query.options(joinedload(AdmissionRequest.phase), joinedload(AdmissionRequest.user))
    found = session.scalar(query.with_for_update(of=AdmissionRequest).execution_options(populate_existing=True))
    if found is None or found.phase.challenge_id != challenge.id:
        raise NotFoundError(NO_SUCH_REQUEST)
    if found.state is not RequestState.OPEN:
        raise ConflictError(f"This request has been {found.state.value} already, perhaps by another organiser.")
    return found


def decline(
    session: Session, *, challenge: Challenge, user: User, request_id: uuid.UUID, reason: str
) -> AdmissionRequest:
    """Decline a request. The person is told the reason.

    Raises:
        InvalidInputError: for `reason`.
        NotFoundError, ConflictError: as `open_request`.
    """
    checks = FieldChecks()
    reason = checks.text("reason", reason, max_length=MAX_REASON_LENGTH, required=True)
    checks.finish()
    request = open_request(session, challenge=challenge, request_id=request_id)
    request.state, request.reason, request.decided_at = RequestState.DECLINED, reason, now()
    _tell(session, challenge, request.user_id, f"You were not admitted to “{challenge.title}”", text=reason)
    details = {"phase": request.phase.key, "person": request.user.name, "reason": reason}
    audit.record(session, actor=user, action="phase.decline_request", subject=challenge, details=details)
    return request


def settle(session: Session, challenge: Challenge, phase_id: uuid.UUID, emails: Collection[str]) -> None:
    """Answer the open requests of people who have just been admitted by address."""
    query = select(AdmissionRequest).join(AdmissionRequest.user).where(AdmissionRequest.phase_id == phase_id)
    is_open = User.email.in_(emails), AdmissionRequest.state == RequestState.OPEN
    for request in session.scalars(query.where(*is_open).order_by(AdmissionRequest.id)).all():
        request.state, request.decided_at = RequestState.ADMITTED, now()
        _tell(session, challenge, request.user_id, f"You are admitted to “{challenge.title}”")


def tell_organisers(session: Session, challenge: Challenge) -> None:
    """Tell the organisers of a challenge that somebody has asked."""
    organisers = session.scalars(
        select(User.id)
        .join(ChallengeOrganiser, ChallengeOrganiser.user_id == User.id)
        .where(ChallengeOrganiser.challenge_id == challenge.id, User.role != Role.PARTICIPANT)
    ).all()
    notify(
        session,
        organisers,
        NotificationKind.ADMISSION,
        title=f"Somebody asks to take part in “{challenge.title}”",
        link=f"/organise/{challenge.slug}/admission",
        challenge_id=challenge.id,
    )


def _tell(session: Session, challenge: Challenge, user_id: uuid.UUID, title: str, *, text: str = "") -> None:
    link = f"/challenges/{challenge.slug}/take-part"
    notify(session, [user_id], NotificationKind.ADMISSION, title=title, text=text, link=link, challenge_id=challenge.id)
