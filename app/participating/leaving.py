"""Deleting an account. What is published stays, under its name or without one, as the person chooses.

The row of the user stays without anything personal, because quota, bans and the Ladder mechanism count by it; see
`app.accounts.removal`. Frozen leaderboards keep their scores and ranks; names are removed from their copies if the
person wishes.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from anyio import to_thread
from sqlalchemy import Table, delete, func, select, update
from sqlalchemy.orm import Session

from vocboard.app.accounts import removal
from vocboard.app.accounts.account_service import AccountService
from vocboard.app.accounts.addresses import keep_imported_bans
from vocboard.app.accounts.models import User
from vocboard.app.accounts.own_data import BY_EMAIL, BY_ID
from vocboard.app.accounts.privacy import DELETED_WITH_ACCOUNT
from vocboard.app.audit import service as audit
from vocboard.app.challenges.bans import ban_from
from vocboard.app.challenges.models import Ban, Challenge, ChallengeOrganiser
from vocboard.app.database import Base, now
from vocboard.app.errors import ConflictError, NotSignedInError
from vocboard.app.leaderboards import freezing
from vocboard.app.messaging import outbox
from vocboard.app.participating.locking import lock_person, lock_several
from vocboard.app.participating.withdrawing import FINAL, withdraw_locked
from vocboard.app.submissions.models import Method, Submission

REMOVED_FILE_NAME = "archive"


class Naming(StrEnum):
    """Under which name the published results of a deleted account stay."""

    KEEP_NAME = "keep_name"
    WITHOUT_NAME = "without_name"


@dataclass(frozen=True, slots=True)
class Consequences:
    """What deleting an account means now.

    Attributes:
        published: results that stay.
        withdrawn: submissions that are withdrawn.
        owned: titles of challenges that the person has to hand over first.
    """

    published: int
    withdrawn: int
    owned: Sequence[str]


def consequences(session: Session, user: User) -> Consequences:
    """Return what deleting the account of a user means now."""
    of_user = select(func.count()).select_from(Submission).where(Submission.user_id == user.id)
    published = session.scalar(of_user.where(Submission.published_at.is_not(None))) or 0
    withdrawn = session.scalar(of_user.where(Submission.published_at.is_(None), Submission.state.not_in(FINAL))) or 0
    return Consequences(published, withdrawn, _owned(session, user.id))


def delete_account(
    session: Session, *, user: User, naming: Naming, server_key: str, site: str, actor: User | None = None
) -> None:
    """Delete the account of a user, and confirm it by a last email.

    Unpublished submissions are withdrawn; their archives are removed like those of all withdrawn submissions. After the
    commit, the caller calls `WorkerNotifier.mail_queued`.

    Args:
        server_key: `Settings.secret_key`, for the hash of the mailbox.
        site: the public URL.

    Raises:
        ConflictError: the user owns a challenge.
        NotSignedInError: the user no longer exists.
    """
    lock_person(session, user.id)
    person = session.get(User, user.id, populate_existing=True)
    if person is None or person.mailbox_hash is not None:
        raise NotSignedInError("Sign in first.")
    if owned := _owned(session, person.id):
        raise ConflictError(f"You own {', '.join(owned)}. Hand over these challenges first, or delete their drafts.")
    for challenge_id in _challenges(session, person.id):
        _leave_challenge(session, person, challenge_id, naming)
    _keep_bans(session, person)
    outbox.put(session, to=person.email, template="account-deleted", site=site)
    _remove_rows(session, person)
    removal.scrub_log(session, person)
    if person.is_confirmed:
        person.mailbox_hash = removal.mailbox_hash(person.mailbox, server_key=server_key)
    removal.scrub(session, person)
    audit.record(session, actor=actor, action="user.delete", subject=person, details={"results": naming.value})


def _owned(session: Session, user_id: uuid.UUID) -> Sequence[str]:
    owned = ChallengeOrganiser.user_id == user_id, ChallengeOrganiser.is_owner
    query = select(Challenge.title).join(ChallengeOrganiser, ChallengeOrganiser.challenge_id == Challenge.id)
    return session.scalars(query.where(*owned).order_by(Challenge.title)).all()


def _challenges(session: Session, user_id: uuid.UUID) -> Sequence[uuid.UUID]:
    return session.scalars(
        select(Submission.challenge_id)
        .where(Submission.user_id == user_id)
        .distinct()
        .order_by(Submission.challenge_id)
    ).all()


def _leave_challenge(session: Session, user: User, challenge_id: uuid.UUID, naming: Naming) -> None:
    own = Submission.user_id == user.id, Submission.challenge_id == challenge_id
    ids = lock_several(session, challenge_id, session.scalars(select(Submission.id).where(*own)).all())
    current = select(Submission).where(Submission.id.in_(ids)).execution_options(populate_existing=True)
    for submission in session.scalars(current.order_by(Submission.id)).all():
        if submission.published_at is None and submission.state not in FINAL:
            withdraw_locked(session, submission, user)
        submission.note = ""
        if naming is Naming.WITHOUT_NAME or submission.published_at is None:
            submission.contributors = submission.affiliation = submission.description = ""
            submission.archive_name = REMOVED_FILE_NAME
        if naming is Naming.WITHOUT_NAME and submission.published_at is not None:
            submission.contributors = removal.DELETED_NAME
    session.flush()
    if naming is Naming.WITHOUT_NAME:
        methods = update(Method).where(Method.user_id == user.id, Method.challenge_id == challenge_id)
        session.execute(methods.values(paper_url="", code_url=""))
        freezing.remove_names(session, challenge_id, ids, contributors=removal.DELETED_NAME)


def _keep_bans(session: Session, user: User) -> None:
    """Let bans of the address, and a disabled account, hold for the row that stays."""
    keep_imported_bans(session, user)
    for ban in session.scalars(select(Ban).where(Ban.email == user.email)):
        if ban.user_id == user.id:
            ban.email = None
        else:
            session.delete(ban)
    if user.disabled_at is not None and ban_from(session, user_id=user.id, challenge_id=None) is None:
        session.add(Ban(user_id=user.id, challenge_id=None, reason="The account was disabled before it was deleted."))
    session.flush()


def _remove_rows(session: Session, user: User) -> None:
    tables: dict[str, Table] = dict(Base.metadata.tables)
    # With their files: see `app.intake.resumable.remove_expired`.
    unfinished = tables["resumable_uploads"]
    expired = {"expires_at": now(), "client_metadata": ""}
    session.execute(update(unfinished).where(unfinished.c.user_id == user.id).values(expired))
    for name in DELETED_WITH_ACCOUNT:
        column, value = (BY_ID[name], user.id) if name in BY_ID else (BY_EMAIL[name], user.email)
        session.execute(delete(tables[name]).where(tables[name].c[column] == value))


async def delete_own_account(
    account_service: AccountService, user: User, *, password: str, naming: Naming, address: str
) -> None:
    """Delete the account of a user, after verifying the password.

    Args:
        address: IP address of the client.

    Raises:
        WrongPasswordError: for `password`; the attempt is counted.
        ConflictError: the user owns a challenge.
        LimitedError, BusyError: as `AccountService.verify`.
    """
    settings = account_service.settings

    def remove() -> None:
        with account_service.database.writing() as session:
            key, site = settings.secret_key.get_secret_value(), settings.public_url
            delete_account(session, user=user, naming=naming, server_key=key, site=site, actor=user)
        account_service.notifier.mail_queued()

    await account_service.verify(user, password, field="password", address=address)
    await to_thread.run_sync(remove)
