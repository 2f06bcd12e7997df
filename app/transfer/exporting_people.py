"""Exporting people: who has submitted, organised or been banned."""

import uuid
from collections.abc import Iterator

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.bans import bans_of
from vocboard.app.challenges.models import Ban, ChallengeOrganiser
from vocboard.app.submissions.models import Submission
from vocboard.app.transfer.records import BanRecord, Person


def people(session: Session, challenge_id: uuid.UUID) -> list[Person]:
    """Return everybody whom the records of a challenge refer to, and its organisers, by name."""
    is_organiser = exists().where(
        ChallengeOrganiser.challenge_id == challenge_id, ChallengeOrganiser.user_id == User.id
    )
    has_submitted = exists().where(Submission.challenge_id == challenge_id, Submission.user_id == User.id)
    is_banned = exists().where(Ban.challenge_id == challenge_id, Ban.user_id == User.id)
    query = select(User, is_organiser).where(is_organiser | has_submitted | is_banned).order_by(User.name, User.id)
    return [
        Person(id=user.id, name=user.name, affiliation=user.affiliation, email=user.email, is_organiser=bool(organises))
        for user, organises in session.execute(query)
    ]


def bans(session: Session, challenge_id: uuid.UUID) -> Iterator[BanRecord]:
    """Yield the bans from a challenge, with the address that each holds for elsewhere."""
    for ban in bans_of(session, challenge_id):
        email = ban.email or ban.user.email
        yield BanRecord(person=ban.user_id, email=email, reason=ban.reason, created_at=ban.created_at)
