"""Deleting an account. What is published stays, under its name or without one, as the person chooses.

The row of the user stays without anything personal, because quota, bans and the Ladder mechanism count by it; see
`app.accounts.removal`. Frozen leaderboards keep their scores and ranks; names are removed from their copies if the
person wishes.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Select, Table, delete, exists, func, select, update
from sqlalchemy.orm import Session, aliased

from vocboard.app.accounts import administration, removal
from vocboard.app.accounts.addresses import keep_imported_bans
from vocboard.app.accounts.models import User
from vocboard.app.accounts.privacy import DELETED_WITH_ACCOUNT, EMAIL
from vocboard.app.accounts.registration import registered_domain
from vocboard.app.audit import service as audit
from vocboard.app.challenges.bans import ban_from
from vocboard.app.challenges.models import Ban, Challenge, ChallengeOrganiser, RequestState
from vocboard.app.database import Base, now
from vocboard.app.errors import ConflictError, NotSignedInError
from vocboard.app.leaderboards import freezing
from vocboard.app.messaging import outbox
from vocboard.app.participating.locking import lock_person, lock_several
from vocboard.app.participating.withdrawing import FINAL, withdraw_locked
from vocboard.app.settings import Settings
from vocboard.app.submissions.models import Method, Submission
from vocboard.app.teams.models import Team, TeamInvitation, TeamMember, TeamRole
from vocboard.app.teams.queries import lock_team, members_of, membership

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
    own = select(func.count()).select_from(Submission).where(Submission.team_id.in_(_teams_of_one(user.id)))
    published = session.scalar(own.where(Submission.published_at.is_not(None))) or 0
    withdrawn = session.scalar(own.where(Submission.published_at.is_(None), Submission.state.not_in(FINAL))) or 0
    return Consequences(published, withdrawn, _owned(session, user.id))


def delete_account(
    session: Session, *, user: User, naming: Naming, settings: Settings, actor: User | None = None
) -> None:
    """Delete the account of a user, and confirm it by a last email.

    Unpublished submissions are withdrawn; their archives are removed like those of all withdrawn submissions. What was
    submitted by a team with others stays with the team.

    Raises:
        ConflictError: the user owns a challenge; or an administrator who acts would leave the server without any.
        NotSignedInError: the user no longer exists.
    """
    _lock_people(session, user.id)
    person = session.get(User, user.id, populate_existing=True)
    if person is None or person.mailbox_hash is not None:
        raise NotSignedInError("Sign in first.")
    if owned := _owned(session, person.id):
        raise ConflictError(f"You own {', '.join(owned)}. Hand over these challenges first, or delete their drafts.")
    if actor is not None:
        administration.require_another_administrator(session, person)
    for team in _leave_teams(session, person):
        _leave_results(session, person, team, naming)
    if person.is_confirmed:  # else the address may be another person's
        _keep_bans(session, person)
    _remove_rows(session, person)  # waits for emails that are being made of the person's notifications
    outbox.put(session, to=person.email, template="account-deleted", site=settings.public_url)
    outbox.forget(session, email=person.email, name=person.name)
    removal.scrub_log(session, person)
    key, confirmed_at = settings.secret_key.get_secret_value(), person.email_confirmed_at
    mailbox, domain = person.mailbox, registered_domain(person.email)
    removal.scrub(session, person)
    if confirmed_at is not None:
        person.mailbox_hash = removal.mailbox_hash(mailbox, server_key=key)
        person.mailbox = removal.mailbox_of_domain(domain, server_key=key)
        person.email_confirmed_at = confirmed_at
    details = {"results": naming.value, "own": actor is not None and actor.id == person.id}
    audit.record(session, actor=actor, action="user.delete", subject=person, details=details)


def _lock_people(session: Session, user_id: uuid.UUID) -> None:
    """Lock a person and all who have submitted in the person's teams, whose submissions may be withdrawn, by id."""
    mine = select(TeamMember.team_id).where(TeamMember.user_id == user_id)
    others = session.scalars(select(Submission.user_id).where(Submission.team_id.in_(mine)).distinct())
    for each in sorted({user_id, *others}):
        lock_person(session, each)


def _owned(session: Session, user_id: uuid.UUID) -> Sequence[str]:
    owned = ChallengeOrganiser.user_id == user_id, ChallengeOrganiser.is_owner
    query = select(Challenge.title).join(ChallengeOrganiser, ChallengeOrganiser.challenge_id == Challenge.id)
    return session.scalars(query.where(*owned).order_by(Challenge.title)).all()


def _teams_of_one(user_id: uuid.UUID) -> Select[uuid.UUID]:
    """Return the query of the ids of teams whose only member is the user."""
    another = aliased(TeamMember)
    has_others = exists().where(another.team_id == TeamMember.team_id, another.user_id != user_id)
    return select(TeamMember.team_id).where(TeamMember.user_id == user_id, ~has_others)


def _leave_teams(session: Session, user: User) -> Sequence[Team]:
    """End the memberships of teams with others, to whom all that the team has submitted is left; return the rest."""
    mine = select(TeamMember.team_id).where(TeamMember.user_id == user.id).order_by(TeamMember.team_id)
    for team_id in session.scalars(mine).all():
        lock_team(session, team_id)
        members = [one for one in members_of(session, team_id) if one.user_id != user.id]
        own = membership(session, team_id, user)
        if own is None or not members:
            continue
        if not any(one.role is TeamRole.OWNER for one in members):
            members[0].role = TeamRole.OWNER  # who has been in the team for longest
        session.delete(own)
        team = session.get_one(Team, team_id)
        details = {"team": team.name, "person": removal.DELETED_NAME, "user": str(user.id)}
        audit.record(session, actor=user, action="team.leave", subject=team, details=details)
    session.execute(delete(TeamInvitation).where(TeamInvitation.team_id.in_(_teams_of_one(user.id))))
    return session.scalars(select(Team).where(Team.id.in_(_teams_of_one(user.id))).order_by(Team.challenge_id)).all()


def _leave_results(session: Session, user: User, team: Team, naming: Naming) -> None:
    """Withdraw what a team of one has not published, and remove its texts, and names if the person wishes."""
    own = select(Submission.id).where(Submission.team_id == team.id)
    ids = lock_several(session, team.challenge_id, session.scalars(own).all())
    current = select(Submission).where(Submission.id.in_(ids)).execution_options(populate_existing=True)
    for submission in session.scalars(current.order_by(Submission.id)).all():
        if submission.published_at is None and submission.state not in FINAL:
            withdraw_locked(session, submission, user)
        submission.note = ""
        is_published = submission.published_at is not None
        if not is_published:  # nor is it when organisers lift a disqualification or evaluate it again
            submission.publish_when_scored, submission.published_before = False, None
        if naming is Naming.WITHOUT_NAME or not is_published:
            submission.contributors = removal.DELETED_NAME if is_published else ""
            submission.affiliation = submission.description = ""
            submission.archive_name = REMOVED_FILE_NAME
    session.flush()
    if naming is Naming.WITHOUT_NAME:
        team.name = ""
        session.execute(update(Method).where(Method.team_id == team.id).values(paper_url="", code_url=""))
        freezing.remove_names(session, team.challenge_id, ids, contributors=removal.DELETED_NAME)


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
    questions = tables["questions"]
    session.execute(delete(questions).where(questions.c.user_id == user.id, ~questions.c.is_public))
    asked = tables["admission_requests"]
    is_own, is_declined = asked.c.user_id == user.id, asked.c.state == RequestState.DECLINED
    session.execute(delete(asked).where(is_own, ~is_declined))
    session.execute(update(asked).where(is_own).values(answers=[]))  # who registers again cannot ask again
    told = tables["notifications"]
    session.execute(delete(told).where(told.c.about_id == user.id))
    for name, column in DELETED_WITH_ACCOUNT.items():
        if column == EMAIL and not user.is_confirmed:
            continue
        value = user.email if column == EMAIL else user.id
        session.execute(delete(tables[name]).where(tables[name].c[column] == value))
