"""Terms of a challenge, which everyone who submits has to accept. Every version is kept, with who accepted it and when.

They are asked for before an upload, and before files for admitted people are downloaded, whatever the admission of the
phase is. The version that was current when an upload began counts. In a team, each person who submits accepts.
Rehearsals of organisers need no acceptance. `app.participating.admission` accepts.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session, contains_eager, joinedload

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.models import Challenge, ChallengeTerms, TermsAcceptance
from vocboard.app.challenges.phases import lock_to_change
from vocboard.app.errors import ForbiddenError, NotFoundError
from vocboard.app.forms import FieldChecks

MAX_LENGTH = 50_000


class TermsNotAcceptedError(ForbiddenError):
    """The person has not accepted the current terms of the challenge.

    Attributes:
        slug: of the challenge.
        version: number of the terms.
    """

    code, title = "terms_not_accepted", "Accept the terms of the challenge first"

    def __init__(self, slug: str, version: int) -> None:
        super().__init__(
            f"Read the terms of the challenge, version {version}, and accept them: at /challenges/{slug}/take-part, or "
            f"with POST /api/v1/challenges/{slug}/terms/accept. Terms that have changed have to be accepted again."
        )
        self.slug, self.version = slug, version


def versions(session: Session, challenge_id: uuid.UUID) -> Sequence[ChallengeTerms]:
    """Return all versions of the terms of a challenge, the latest first."""
    query = select(ChallengeTerms).where(ChallengeTerms.challenge_id == challenge_id)
    return session.scalars(query.order_by(ChallengeTerms.number.desc())).all()


def current(session: Session, challenge_id: uuid.UUID, *, at: datetime | None = None) -> ChallengeTerms | None:
    """Return the terms of a challenge, by default the latest; None if it has none.

    Args:
        at: an instant; then the terms that were current at it.
    """
    query = select(ChallengeTerms).where(ChallengeTerms.challenge_id == challenge_id)
    if at is not None:
        query = query.where(ChallengeTerms.created_at <= at)
    found = session.scalar(query.order_by(ChallengeTerms.number.desc()).limit(1))
    return found if found is not None and found.text else None


def version(session: Session, challenge_id: uuid.UUID, number: int) -> ChallengeTerms:
    """Return a version of the terms of a challenge.

    Raises:
        NotFoundError: there is none, or it says that there are no terms any more.
    """
    found = session.scalar(
        select(ChallengeTerms).where(ChallengeTerms.challenge_id == challenge_id, ChallengeTerms.number == number)
    )
    if found is None or not found.text:
        raise NotFoundError("The challenge has no such version of its terms.")
    return found


def accepted(session: Session, challenge_id: uuid.UUID, user: User) -> TermsAcceptance | None:
    """Return which version of the terms of a challenge the person has accepted last, with the version."""
    query = select(TermsAcceptance).join(TermsAcceptance.terms).options(contains_eager(TermsAcceptance.terms))
    own = query.where(ChallengeTerms.challenge_id == challenge_id, TermsAcceptance.user_id == user.id)
    return session.scalar(own.order_by(ChallengeTerms.number.desc()).limit(1))


def require_accepted(session: Session, challenge: Challenge, user: User, *, at: datetime) -> None:
    """Check that a person has accepted the terms that were current at an instant, or later ones.

    Raises:
        TermsNotAcceptedError: the person has not.
    """
    terms = current(session, challenge.id, at=at)
    if terms is None:
        return
    acceptance = accepted(session, challenge.id, user)
    if acceptance is None or acceptance.terms.number < terms.number:
        raise TermsNotAcceptedError(challenge.slug, terms.number)


def publish(session: Session, *, challenge: Challenge, user: User, text: str) -> ChallengeTerms | None:
    """Set the terms of a challenge; everyone has to accept another text before the next upload.

    Args:
        challenge: from `get_organised`.
        text: Markdown; empty to have no terms from now on.

    Returns:
        The current version, which is the earlier one if nothing has changed; None if there never were terms.

    Raises:
        InvalidInputError: for `text`.
        ConflictError: the challenge is archived.
    """
    lock_to_change(session, challenge)
    checks = FieldChecks()
    text = checks.text("text", text, max_length=MAX_LENGTH)
    checks.finish()
    last = next(iter(versions(session, challenge.id)), None)
    if text == (last.text if last is not None else ""):
        return last
    terms = ChallengeTerms(challenge_id=challenge.id, number=1 if last is None else last.number + 1, text=text)
    session.add(terms)
    session.flush()
    action = "challenge.set_terms" if text else "challenge.end_terms"
    audit.record(session, actor=user, action=action, subject=challenge, details={"version": terms.number})
    return terms


def acceptances(session: Session, challenge_id: uuid.UUID) -> Sequence[TermsAcceptance]:
    """Return who has accepted which version of the terms, with people and versions, in this order; for organisers."""
    query = select(TermsAcceptance).join(TermsAcceptance.terms)
    query = query.options(contains_eager(TermsAcceptance.terms), joinedload(TermsAcceptance.user))
    of_challenge = query.where(ChallengeTerms.challenge_id == challenge_id)
    return session.scalars(of_challenge.order_by(TermsAcceptance.created_at, TermsAcceptance.id)).all()


def acceptance_counts(session: Session, challenge_id: uuid.UUID) -> dict[int, int]:
    """Return how many people have accepted each version; versions that nobody has accepted are missing."""
    query = select(ChallengeTerms.number, func.count()).join(TermsAcceptance).group_by(ChallengeTerms.number)
    rows = session.execute(query.where(ChallengeTerms.challenge_id == challenge_id))
    return {row[0]: row[1] for row in rows}
