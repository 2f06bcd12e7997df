"""The world that the table of authorisation speaks of: people, challenges, submissions, all with tell-tale names."""

import base64
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from tests.app.authorisation_table import TERMS, Person
from tests.support.factories import make_challenge, make_file, make_reported, make_token, make_user
from tests.support.phases import main_truth, phase_of
from tests.support.scored import make_scored
from tests.support.site import Site
from vocboard.app.accounts import links
from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import LinkPurpose, Role, User
from vocboard.app.accounts.secret_tokens import digest
from vocboard.app.announcements.models import Announcement, Question
from vocboard.app.challenges import phase_people, terms
from vocboard.app.challenges.models import (
    AdmissionRequest,
    Audience,
    Challenge,
    ChallengeInvitation,
    ChallengeOrganiser,
    GroundTruthVersion,
    TermsAcceptance,
    Visibility,
)
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import Database, now
from vocboard.app.intake.models import ResumableUpload, Upload, UploadKind
from vocboard.app.leaderboards.current import Boards
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.notifications.models import NotificationKind, NotificationSetting
from vocboard.app.organising import phase_changes
from vocboard.app.settings import Settings
from vocboard.app.teams.models import Team, TeamInvitation, TeamMember, TeamRole
from vocboard.app.teams.queries import locked_team_of
from vocboard.app.webhooks import service as webhooks
from vocboard.app.webhooks.models import CHOICES, Webhook
from vocboard.app.webhooks.service import Owner

ROLES = {
    Person.OTHER_ORGANISER: Role.ORGANISER,
    Person.ORGANISER: Role.ORGANISER,
    Person.SECOND_ORGANISER: Role.CO_ORGANISER,
    Person.ADMINISTRATOR: Role.ADMINISTRATOR,
}
SECRET = "zebra-crossing"  # stands in everything that only some may see
SHOWN_SCORE = "0.1235"  # of every submission, as the API rounds it
ANONYMOUS_TOKEN = "a" * 43
JOIN_TOKEN = "c" * 43


@dataclass(frozen=True)
class World:
    """What requests need to know.

    Attributes:
        objects: what the names of the table stand for in paths.
        tokens: of each person, with all scopes that the person may have.
        sessions: the secret of each person's browser session.
    """

    objects: Mapping[str, str]
    tokens: Mapping[Person, str]
    sessions: Mapping[Person, str]


def meant(world: World, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with the world's objects in place of their names, also in lists."""

    def one(value: Any) -> Any:
        if isinstance(value, list):
            return [one(each) for each in value]
        return world.objects.get(value, value) if isinstance(value, str) else value

    return {name: one(value) for name, value in fields.items()}


@contextmanager
def using(site: Site, file: Path, directory: Path) -> Iterator[None]:
    """Let the site use a copy of a database.

    Args:
        directory: where the copy will be.
    """
    database = Database(f"sqlite:///{shutil.copy(file, directory / 'world.sqlite')}")
    services = site.application.state.services
    before = services.database, services.boards
    services.database, services.boards = database, Boards(database)
    try:
        yield
    finally:
        services.database, services.boards = before
        database.close()


def build(session: Session) -> World:
    """Fill an empty database."""
    people = {
        person: make_user(
            session, role=ROLES.get(person, Role.PARTICIPANT), email=f"{person.replace(' ', '-')}@lab.example"
        )
        for person in Person
        if person is not Person.VISITOR
    }
    organiser, owner = people[Person.ORGANISER], people[Person.OWNER]
    public = make_challenge(session, organiser=organiser, slug="public-challenge")
    draft = make_challenge(
        session, organiser=organiser, slug="draft-challenge", title=f"Draft {SECRET}", visibility=Visibility.DRAFT
    )
    for challenge in (public, draft):
        session.add(ChallengeOrganiser(challenge_id=challenge.id, user_id=people[Person.SECOND_ORGANISER].id))
        _later_phase(session, challenge, organiser)
    main = phase_of(session, public)
    [admission] = phase_people.admit(
        session, challenge=public, phase=main, organiser=organiser, emails=["admitted@lab.example"]
    )
    terms.publish(session, challenge=public, user=organiser, text=TERMS)
    of_public = terms.version(session, public.id, 1)
    accepted = {"terms_id": of_public.id, "created_at": now()}  # at the same time: they see the same
    session.add_all(TermsAcceptance(user_id=user.id, **accepted) for user in people.values())
    request = _request(session, public)
    extra = phase_people.grant_extra_quota(
        session,
        challenge=public,
        phase=main,
        organiser=organiser,
        email="admitted@lab.example",
        count=1,
        until=now() + timedelta(days=1),
    )
    invited = owner
    accepted, declined, of_draft = (
        ChallengeInvitation(challenge_id=made.id, email=email)
        for made, email in (
            (make_challenge(session, slug="accepted"), invited.email),
            (make_challenge(session, slug="declined"), invited.email),
            (draft, "invited@lab.example"),
        )
    )
    stopping = NotificationSetting(user_id=owner.id, kind=NotificationKind.SCORED, unsubscribe_token="u" * 43)
    session.add_all((accepted, declined, of_draft, stopping))
    published = make_scored(session, public, owner, "Published method", **_named("it"))
    published.published_at = now()
    private = make_scored(session, public, owner, f"Method {SECRET}", **_named(SECRET))
    anonymous = make_scored(session, public, owner, f"Anonymous method {SECRET}", **_named(SECRET))
    anonymous.anonymous_token_hash = digest(ANONYMOUS_TOKEN)
    session.flush()
    team, member, invitation = _team(session, public, owner)
    tokens = {person: make_token(session, user) for person, user in people.items()}
    sessions = {person: _signed_in(session, user) for person, user in people.items()}
    waiting = make_user(session, email="waiting@lab.example", approved=False)
    [owned_token] = accounts.tokens_of(session, owner)
    [owned_session] = accounts.sessions_of(session, owner)
    return World(
        objects={
            "published": str(published.id),
            "private": str(private.id),
            "published-method": str(published.method_id),
            "private-method": str(private.method_id),
            "anonymous": ANONYMOUS_TOKEN,
            "unsubscribe-token": stopping.unsubscribe_token,
            "guessed": "b" * 43,
            "owner": str(owner.id),
            "team": str(team.id),
            "team-member": str(member.id),
            "team-invitation": str(invitation.id),
            "join-link": JOIN_TOKEN,
            "organiser": str(organiser.id),
            "accepted-invitation": str(accepted.id),
            "declined-invitation": str(declined.id),
            "draft-invitation": str(of_draft.id),
            "admission": str(admission.id),
            "extra-quota": str(extra.id),
            "request": str(request.id),
            "token": str(owned_token.id),
            "session": str(owned_session.id),
            "waiting": str(waiting.id),
            "public-version": str(_version(session, public).number),
            "draft-version": str(_version(session, draft).number),
            "public-announcement": str(_announcement(session, public, "New data").id),
            "draft-announcement": str(_announcement(session, draft, f"New {SECRET}").id),
            "webhook": str(_webhook(session, owner).id),
            "challenge-webhook": str(_webhook(session, organiser, public.id).id),
            "private-question": str(_private_question(session, public, owner).id),
            "public-file": str(make_file(session, public.id).id),
            "admitted-file": str(make_file(session, public.id, audience=Audience.ADMITTED).id),
            "draft-file": str(make_file(session, draft.id, name=f"{SECRET}.zip").id),
            "reported": str(make_reported(session, public).id),
            "draft-reported": str(make_reported(session, draft, method=SECRET).id),
            "upload": str(_upload(session, public, owner).id),
            "rescore": str(_rescore(session, public).id),
            "confirm-link": links.create(session, user=waiting, purpose=LinkPurpose.CONFIRM_ADDRESS),
            "address-link": links.create(
                session, user=owner, purpose=LinkPurpose.CHANGE_ADDRESS, new_email="owner@elsewhere.example"
            ),
            "reset-link": links.create(session, user=waiting, purpose=LinkPurpose.RESET_PASSWORD),
        },
        tokens=tokens,
        sessions=sessions,
    )


def _later_phase(session: Session, challenge: Challenge, organiser: User) -> None:
    rules = PhaseRules(competitions=("comp1",), opens_at=now() + timedelta(days=30))
    phase_changes.add_phase(session, challenge=challenge, user=organiser, key="later", title="Later", rules=rules)


def _request(session: Session, challenge: Challenge) -> AdmissionRequest:
    """Let somebody ask to be admitted."""
    person = make_user(session, email="asking@lab.example", name=SECRET)
    request = AdmissionRequest(
        phase_id=challenge.main_phase.id, user_id=person.id, answers=[{"question": "Why?", "answer": SECRET}]
    )
    session.add(request)
    session.flush()
    return request


def _version(session: Session, challenge: Challenge) -> GroundTruthVersion:
    version = main_truth(session, challenge)
    assert version is not None
    return version


def _team(session: Session, challenge: Challenge, owner: User) -> tuple[Team, User, TeamInvitation]:
    """Name the owner's team, fill it with another member, and add a link that has nobody to let in."""
    challenge.team_size = 2
    (team, _), member = locked_team_of(session, challenge, owner), make_user(session, email="member@lab.example")
    team.name = "The team"
    session.add(TeamMember(challenge_id=challenge.id, user_id=member.id, team_id=team.id, role=TeamRole.MEMBER))
    invitation = TeamInvitation(team_id=team.id, token_hash=digest(JOIN_TOKEN), expires_at=now() + timedelta(days=1))
    session.add(invitation)
    session.flush()
    return team, member, invitation


def _webhook(session: Session, user: User, challenge_id: uuid.UUID | None = None) -> Webhook:
    owner = Owner(user, challenge_id)
    url = f"https://hooks.example/{SECRET}"
    return webhooks.add(session, owner=owner, url=url, chosen=list(CHOICES), settings=Settings())[0]


def _announcement(session: Session, challenge: Challenge, title: str) -> Announcement:
    announcement = Announcement(challenge_id=challenge.id, title=title, text=title, changed_at=now())
    session.add(announcement)
    session.flush()
    return announcement


def _private_question(session: Session, challenge: Challenge, user: User) -> Question:
    question = Question(
        challenge_id=challenge.id, user_id=user.id, text=f"Why {SECRET}?", answer=SECRET, answered_at=now()
    )
    session.add(question)
    session.flush()
    return question


def _rescore(session: Session, challenge: Challenge) -> Rescore:
    rescore = Rescore(
        challenge_id=challenge.id,
        ground_truth_version_id=_version(session, challenge).id,
        reason=f"About {SECRET}",
        state=RescoreState.DISCARDED,
        finished_at=now(),
    )
    session.add(rescore)
    session.flush()
    return rescore


def _upload(session: Session, challenge: Challenge, user: User) -> ResumableUpload:
    attempt = Upload(kind=UploadKind.RESUMABLE, user_id=user.id, address="192.0.2.1", byte_count=9)
    session.add(attempt)
    session.flush()
    upload = ResumableUpload(
        id=attempt.id,
        expires_at=now() + timedelta(days=1),
        user_id=user.id,
        challenge_id=challenge.id,
        phase_id=challenge.main_phase.id,
        is_rehearsal=False,
        client_metadata=f"filename {base64.b64encode(SECRET.encode()).decode()}",
        byte_count=9,
    )
    session.add(upload)
    session.flush()
    return upload


def _signed_in(session: Session, user: User) -> str:
    return accounts.start_session(session, user=user, browser="Browser", lifetime=timedelta(days=1))


def _named(about: str) -> dict[str, str]:
    return {"description": f"About {about}", "archive_name": f"{SECRET}.tar.gz"}
