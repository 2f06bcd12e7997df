"""Who may submit to a phase, and who may submit more than its quota: what organisers decide about single people.

People are named by email address, whether or not somebody has registered with it: so an organiser can prepare a phase
before people have accounts, and cannot find out who has one.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, contains_eager

from vocboard.app import rate_limits
from vocboard.app.accounts.models import User
from vocboard.app.accounts.people import checked_email, normalised_email
from vocboard.app.audit import service as audit
from vocboard.app.challenges import admission_requests
from vocboard.app.challenges.models import Challenge, ChallengePhase, ExtraQuota, PhaseAdmission, Visibility
from vocboard.app.challenges.phases import Phase, lock_to_change, phase_named, phase_with_id
from vocboard.app.challenges.rules import LATEST
from vocboard.app.database import now
from vocboard.app.errors import InvalidInputError, NotFoundError
from vocboard.app.forms import FieldChecks
from vocboard.app.messaging import outbox
from vocboard.app.paging import Page, paginate

MAX_EXTRA = 1_000
MAX_ADMITTED = 1_000  # people at a time
MAX_TOLD = 200  # of these by email
MAX_LISTED = 20  # invalid addresses in a message
MAX_REASON_LENGTH = 500
NO_SUCH_QUOTA = "This extra quota does not exist."


def is_admitted(session: Session, phase: Phase, user: User) -> bool:
    """Whether organisers have admitted a person to a phase."""
    query = select(PhaseAdmission.id).where(PhaseAdmission.phase_id == phase.id, PhaseAdmission.email == user.email)
    return session.scalar(query) is not None


def admissions(session: Session, challenge: Challenge) -> Sequence[PhaseAdmission]:
    """Return who is admitted to the phases of a challenge, in the order of admission; for organisers."""
    return session.scalars(_admissions(challenge).order_by(PhaseAdmission.created_at, PhaseAdmission.id)).all()


def page_of_admissions(
    session: Session, challenge: Challenge, *, contains: str = "", page: int = 1
) -> Page[PhaseAdmission]:
    """Return a page of who is admitted to the phases of a challenge, the latest first; for organisers.

    Args:
        contains: part of the address.
    """
    query = _admissions(challenge).order_by(PhaseAdmission.created_at.desc(), PhaseAdmission.id)
    wanted = "".join(filter(str.isprintable, contains)).strip()
    if wanted:
        query = query.where(PhaseAdmission.email.icontains(wanted, autoescape=True))
    return paginate(session, query, page=page)


def _admissions(challenge: Challenge) -> Select[PhaseAdmission]:
    query = select(PhaseAdmission).join(PhaseAdmission.phase).options(contains_eager(PhaseAdmission.phase))
    return query.where(ChallengePhase.challenge_id == challenge.id)


def admit(
    session: Session,
    *,
    challenge: Challenge,
    phase: Phase,
    organiser: User,
    emails: Sequence[str],
    field: str = "email",
    tell: bool = False,
    site: str = "",
) -> list[PhaseAdmission]:
    """Let people submit to a phase that is not open to everyone, or not to new accounts. Idempotent.

    This admits who has asked for it.

    Args:
        tell: whether those who are admitted now get an email.
        site: the address of this server, for the link in emails.

    Returns:
        One for each address, in their order.

    Raises:
        InvalidInputError: on `field`, with everything that is not an email address, or that there are too many; on
            `tell` if the challenge is a draft.
        NotFoundError: the phase was just removed.
        ConflictError: the challenge is archived.
        LimitedError: too many emails were sent.
    """
    lock_to_change(session, challenge)
    phase = phase_named(challenge, phase.key)  # another organiser may have removed it before the lock
    addresses = _addresses(emails, field)
    if tell:
        _check_telling(session, challenge, addresses, field)
    query = select(PhaseAdmission).where(PhaseAdmission.phase_id == phase.id)
    known = {one.email: one for one in session.scalars(query)}
    for address in addresses:
        if address in known:
            continue
        known[address] = PhaseAdmission(phase=challenge.phase_row(phase.key), email=address)
        session.add(known[address])
        details = {"phase": phase.key, "email": address}
        audit.record(session, actor=organiser, action="phase.admit", subject=challenge, details=details)
        if tell:
            link = f"{site}/challenges/{challenge.slug}"
            outbox.put(
                session,
                to=address,
                template="admitted",
                challenge=challenge.title,
                organiser=organiser.name,
                link=link,
                site=site,
            )
    session.flush()
    admission_requests.settle(session, challenge, phase.id, addresses)
    return [known[address] for address in addresses]


def admit_request(session: Session, *, challenge: Challenge, user: User, request_id: uuid.UUID) -> PhaseAdmission:
    """Admit a person who has asked, and is told.

    Args:
        challenge: from `get_organised`.

    Raises:
        NotFoundError, ConflictError: as `admission_requests.open_request`.
    """
    request = admission_requests.open_request(session, challenge=challenge, request_id=request_id)
    phase = phase_with_id(challenge, request.phase_id)
    [found] = admit(session, challenge=challenge, phase=phase, organiser=user, emails=[request.user.email])
    return found


def _check_telling(session: Session, challenge: Challenge, addresses: Sequence[str], field: str) -> None:
    if challenge.visibility is Visibility.DRAFT:
        raise InvalidInputError({"tell": "Only organisers can see this challenge: it is a draft."})
    if len(addresses) > MAX_TOLD:
        raise InvalidInputError({field: f"At most {MAX_TOLD} people at a time can be told by email."})
    rate_limits.spend(session, {rate_limits.ADMISSIONS_BY_EMAIL: str(challenge.id)})


def end_admission(session: Session, *, challenge: Challenge, organiser: User, admission_id: uuid.UUID) -> None:
    """End a person's admission. Idempotent. What the person has submitted stays.

    Raises:
        NotFoundError: it is another challenge's.
        ConflictError: the challenge is archived.
    """
    lock_to_change(session, challenge)
    found = session.get(PhaseAdmission, admission_id)
    if found is None:
        return
    phase = next((row for row in challenge.phases if row.id == found.phase_id), None)
    if phase is None:
        raise NotFoundError("This admission does not exist.")
    session.delete(found)
    details = {"phase": phase.key, "email": found.email}
    audit.record(session, actor=organiser, action="phase.end_admission", subject=challenge, details=details)


def largest_extra_quota(session: Session, phase: Phase, people: Sequence[User], *, at: datetime) -> int:
    """Return how many submissions one of these people may make at most beyond a phase's quota at an instant."""
    emails = [person.email for person in people]
    query = select(func.sum(ExtraQuota.count)).where(
        ExtraQuota.phase_id == phase.id, ExtraQuota.email.in_(emails), ExtraQuota.until > at
    )
    return max(session.scalars(query.group_by(ExtraQuota.email)), default=0)


def extra_quotas(session: Session, challenge: Challenge) -> Sequence[ExtraQuota]:
    """Return all extra quota of a challenge, the latest first; for organisers."""
    query = select(ExtraQuota).join(ExtraQuota.phase).options(contains_eager(ExtraQuota.phase))
    query = query.where(ChallengePhase.challenge_id == challenge.id)
    return session.scalars(query.order_by(ExtraQuota.created_at.desc(), ExtraQuota.id)).all()


def running_extra_quotas(session: Session, challenge: Challenge, *, at: datetime) -> Mapping[str, Sequence[ExtraQuota]]:
    """Return the extra quota of a challenge that has not ended, by email address; for organisers."""
    found: dict[str, list[ExtraQuota]] = {}
    for one in extra_quotas(session, challenge):
        if one.until > at:
            found.setdefault(one.email, []).append(one)
    return found


def extra_quotas_of(session: Session, phase: Phase, user: User, *, at: datetime) -> Sequence[ExtraQuota]:
    """Return a person's extra quota in a phase at an instant, that which ends first before the rest."""
    query = select(ExtraQuota).where(
        ExtraQuota.phase_id == phase.id,
        ExtraQuota.email == user.email,
        ExtraQuota.until > at,
    )
    return session.scalars(query.order_by(ExtraQuota.until, ExtraQuota.id)).all()


def grant_extra_quota(
    session: Session,
    *,
    challenge: Challenge,
    phase: Phase,
    organiser: User,
    email: str,
    count: int,
    until: datetime,
    reason: str = "",
) -> ExtraQuota:
    """Let a person make more submissions in each competition of a phase, until a date.

    Args:
        count: on top of what the quota, and earlier grants, allow.
        reason: for organisers.

    Raises:
        NotFoundError: the phase was just removed.
        InvalidInputError: with everything that is wrong.
        ConflictError: the challenge is archived.
    """
    lock_to_change(session, challenge)
    phase = phase_named(challenge, phase.key)  # another organiser may have removed it before the lock
    checks = FieldChecks()
    address = checked_email(checks, email)
    reason = _checked_grant(checks, count=count, until=until, reason=reason)
    checks.finish()
    grant = ExtraQuota(phase=challenge.phase_row(phase.key), email=address, count=count, until=until, reason=reason)
    session.add(grant)
    details = {"phase": phase.key, "email": address, "count": count, "until": until, "reason": reason}
    audit.record(session, actor=organiser, action="quota.grant", subject=challenge, details=details)
    return grant


def change_extra_quota(
    session: Session,
    *,
    challenge: Challenge,
    organiser: User,
    grant_id: uuid.UUID,
    count: int | None = None,
    until: datetime | None = None,
    reason: str | None = None,
) -> ExtraQuota:
    """Change extra quota; what is None stays. What was submitted with it stays.

    Raises:
        NotFoundError: it is another challenge's, or was revoked.
        InvalidInputError: with everything that is wrong.
        ConflictError: the challenge is archived.
    """
    lock_to_change(session, challenge)
    grant = session.get(ExtraQuota, grant_id, with_for_update=True)
    phase = next((row for row in challenge.phases if grant and row.id == grant.phase_id), None)
    if grant is None or phase is None:
        raise NotFoundError(NO_SUCH_QUOTA)
    count, until = grant.count if count is None else count, grant.until if until is None else until
    checks = FieldChecks()
    reason = _checked_grant(checks, count=count, until=until, reason=grant.reason if reason is None else reason)
    checks.finish()
    after = {"count": count, "until": until, "reason": reason}
    before = {"count": grant.count, "until": grant.until, "reason": grant.reason}
    if after == before:
        return grant
    grant.count, grant.until, grant.reason = count, until, reason
    session.flush()
    details = {"phase": phase.key, "email": grant.email, "before": before, **after}
    audit.record(session, actor=organiser, action="quota.change_grant", subject=challenge, details=details)
    return grant


def end_extra_quota(session: Session, *, challenge: Challenge, organiser: User, grant_id: uuid.UUID) -> None:
    """Revoke extra quota. Idempotent. What was submitted with it stays.

    Raises:
        NotFoundError: it is another challenge's.
        ConflictError: the challenge is archived.
    """
    lock_to_change(session, challenge)
    found = session.get(ExtraQuota, grant_id)
    if found is None:
        return
    phase = next((row for row in challenge.phases if row.id == found.phase_id), None)
    if phase is None:
        raise NotFoundError(NO_SUCH_QUOTA)
    session.delete(found)
    details = {"phase": phase.key, "email": found.email, "count": found.count}
    audit.record(session, actor=organiser, action="quota.end_grant", subject=challenge, details=details)


def _checked_grant(checks: FieldChecks, *, count: int, until: datetime, reason: str) -> str:
    """Note what is wrong with extra quota, and return its reason, tidied."""
    if not 1 <= count <= MAX_EXTRA:
        checks.fail("count", f"Choose between 1 and {MAX_EXTRA}.")
    if until.tzinfo is None:
        checks.fail("until", "Give a time zone.")
    elif not now() < until <= LATEST:
        checks.fail("until", "Choose a date in the future.")
    return checks.line("reason", reason, max_length=MAX_REASON_LENGTH)


def _addresses(emails: Sequence[str], field: str) -> list[str]:
    if not 1 <= len(emails) <= MAX_ADMITTED:
        raise InvalidInputError({field: f"Give between 1 and {MAX_ADMITTED} addresses at a time."})
    found = {email: normalised_email(email) for email in emails}
    if wrong := [email[:100] for email, address in found.items() if address is None]:
        known = "This is not an email address" if len(emails) == 1 else "These are not email addresses"
        raise InvalidInputError({field: f"{known}: {', '.join(wrong[:MAX_LISTED])}."})
    return list(dict.fromkeys(address for address in found.values() if address is not None))
