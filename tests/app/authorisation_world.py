"""The world that the table of authorisation speaks of: people, challenges, submissions, all with tell-tale names."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from sqlalchemy.orm import Session

from tests.app.authorisation_table import Person
from tests.support.factories import make_challenge, make_token, make_user
from vocboard.app.accounts import links
from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import LinkPurpose, Role, User
from vocboard.app.challenges.models import Challenge, Visibility
from vocboard.app.challenges.queries import current_truth
from vocboard.app.database import now
from vocboard.app.evaluations import service as evaluations
from vocboard.app.rescores.models import Rescore, RescoreState
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry
from vocboard.app.submissions.queries import hash_of
from vocboard.evaluator.editions import Metric, Task
from vocboard.evaluator.scores import ClassDetails, CompetitionScores, Curve, Measure

ROLES = {
    Person.OTHER_ORGANISER: Role.ORGANISER,
    Person.ORGANISER: Role.ORGANISER,
    Person.ADMINISTRATOR: Role.ADMINISTRATOR,
}
SECRET = "zebra-crossing"  # stands in everything that only some may see
SHOWN_SCORE = "0.1235"  # of every submission, as the API rounds it
ANONYMOUS_TOKEN = "a" * 43


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
    make_challenge(
        session, organiser=organiser, slug="draft-challenge", title=f"Draft {SECRET}", visibility=Visibility.DRAFT
    )
    published = _scored(session, public, owner, "Published method")
    published.published_at = now()
    private = _scored(session, public, owner, f"Method {SECRET}")
    anonymous = _scored(session, public, owner, f"Anonymous method {SECRET}")
    anonymous.anonymous_token_hash = hash_of(ANONYMOUS_TOKEN)
    session.flush()
    tokens = {person: make_token(session, user) for person, user in people.items()}
    sessions = {person: _signed_in(session, user) for person, user in people.items()}
    waiting = make_user(session, email="waiting@lab.example", approved=False)
    [owned_token] = accounts.tokens_of(session, owner)
    [owned_session] = accounts.sessions_of(session, owner)
    return World(
        objects={
            "published": str(published.id),
            "private": str(private.id),
            "anonymous": ANONYMOUS_TOKEN,
            "guessed": "b" * 43,
            "token": str(owned_token.id),
            "session": str(owned_session.id),
            "waiting": str(waiting.id),
            "rescore": str(_rescore(session, public).id),
            "confirm-link": links.create(session, user=waiting, purpose=LinkPurpose.CONFIRM_ADDRESS),
            "reset-link": links.create(session, user=waiting, purpose=LinkPurpose.RESET_PASSWORD),
        },
        tokens=tokens,
        sessions=sessions,
    )


def _rescore(session: Session, challenge: Challenge) -> Rescore:
    version = current_truth(session, challenge)
    assert version is not None
    rescore = Rescore(
        challenge_id=challenge.id,
        ground_truth_version_id=version.id,
        reason=f"About {SECRET}",
        state=RescoreState.DISCARDED,
        finished_at=now(),
    )
    session.add(rescore)
    session.flush()
    return rescore


def _signed_in(session: Session, user: User) -> str:
    return accounts.start_session(session, user=user, browser="Browser", lifetime=timedelta(days=1))


def _scored(session: Session, challenge: Challenge, owner: User, method_name: str) -> Submission:
    method = Method(challenge_id=challenge.id, user_id=owner.id, name=method_name)
    session.add(method)
    session.flush()
    submission = Submission(
        challenge_id=challenge.id,
        user_id=owner.id,
        method_id=method.id,
        description=f"About {SECRET}" if SECRET in method_name else "About it",
        archive_sha256="0" * 64,
        archive_bytes=1,
        archive_name=f"{SECRET}.tar.gz",
        warnings=[],
        state=State.SCORED,
        finished_at=now(),
        entries=[SubmissionEntry(competition="comp1", position=0, classes=["car"])],
    )
    session.add(submission)
    session.flush()
    assert challenge.current_scoring_id is not None
    evaluations.store(
        session,
        submission_id=submission.id,
        scoring_id=challenge.current_scoring_id,
        scores={"comp1": _scores()},
        ground_truth_sha256="1" * 64,
        archive_sha256="0" * 64,
        started_at=now(),
        seconds=1.0,
    )
    return submission


def _scores() -> CompetitionScores:
    return CompetitionScores(
        competition="comp1",
        task=Task.CLASSIFICATION,
        primary=Measure(Metric.AVERAGE_PRECISION, {"car": 0.123456789}),
        details={"car": ClassDetails(2, 3, 0, 1.0, 0.666666666)},
        curves={"car": Curve(np.array([0.5, 0.5, 1.0]), np.array([1.0, 0.5, 0.666666666]))},
        not_entered=("bird",),
    )
