"""Bans: who is banned can neither submit nor publish, and what is published is decided at once."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select

from tests.app.organising.case import Case
from tests.support import factories
from tests.support.backend import Backend
from tests.support.phases import complete
from tests.support.services import REAL
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.queries import challenge_as_it_is
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, ForbiddenError, NotFoundError
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.organising import audit_log as log
from vocboard.app.organising import bans, moderation
from vocboard.app.organising.audit_log import Filters
from vocboard.app.organising.bans import Results
from vocboard.app.participating import publishing
from vocboard.app.participating.leaving import Naming, delete_account
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import State, Submission
from vocboard.app.teams.models import TeamMember

REASON = "Several accounts."
SITE = "https://voc.example"


@pytest.fixture
def case(backend: Backend) -> Case:
    return Case(backend)


def ban(case: Case, results: Results = Results.KEEP, *, person: User | None = None) -> None:
    with case.backend.database.writing() as session:
        factories.ban(session, case.challenge, person or case.owner, case.organiser, results)


def lift(case: Case) -> None:
    with case.backend.database.writing() as session:
        challenge = session.get_one(Challenge, case.challenge.id)
        person = session.get_one(User, case.owner.id)
        bans.lift_ban(session, challenge=challenge, person=person, user=case.organiser, site=SITE)


def test_who_is_banned_can_neither_submit_nor_publish(case: Case) -> None:
    private = case.scored("Private")
    ban(case)
    with pytest.raises(ForbiddenError, match=REASON):
        case.backend.submit(case.owner, case.challenge)
    with pytest.raises(ForbiddenError, match=REASON):
        case.publish(private)
    other_challenge = case.backend.challenge()
    case.backend.submit(case.owner, other_challenge)
    lift(case)
    case.publish(private)
    case.backend.submit(case.owner, case.challenge)


@pytest.mark.parametrize(
    ("results", "state", "is_published"),
    [
        (Results.KEEP, State.SCORED, True),
        (Results.UNPUBLISH, State.SCORED, False),
        (Results.DISQUALIFY, State.DISQUALIFIED, False),
    ],
)
def test_the_ban_decides_about_published_results(
    case: Case, results: Results, state: State, is_published: bool
) -> None:
    private = case.scored("Private")
    ban(case, results)
    assert (case.row.state, case.row.published_at is not None) == (state, is_published)
    assert case.row.moderation_reason == (None if results is Results.KEEP else REASON)
    assert case.backend.submission(private).state is State.SCORED


@pytest.mark.parametrize("who", ["the owner", "the owner, from the server", "a team mate", "another person"])
def test_what_was_to_be_published_when_scored_is_not_if_anybody_in_the_team_is_banned(case: Case, who: str) -> None:
    mate = case.backend.user()
    waiting = case.scored("Waiting", publish_when_scored=True)
    with case.backend.database.writing() as session:
        team_id = session.get_one(Submission, waiting).team_id
        if who == "a team mate":
            session.add(TeamMember(challenge_id=case.challenge.id, user_id=mate.id, team_id=team_id, joined_at=now()))
    if who == "the owner, from the server":
        with case.backend.database.writing() as session:
            administrator, owner = (
                factories.make_user(session, role=Role.ADMINISTRATOR),
                session.get_one(User, case.owner.id),
            )
            given = {"reason": REASON, "results": Results.KEEP, "site": SITE}
            bans.ban_from_server(session, person=owner, user=administrator, **given)
    else:
        ban(case, person=mate if "person" in who or "mate" in who else case.owner)
    with case.backend.database.writing() as session:
        publishing.publish_if_promised(session, waiting)
    assert (case.backend.submission(waiting).published_at is not None) == (who == "another person")


@pytest.mark.parametrize("set_up", [REAL], indirect=True)
@pytest.mark.parametrize("role", [Role.ORGANISER, Role.ADMINISTRATOR])
def test_what_is_published_as_promised_at_the_moment_of_the_ban_does_not_stay(case: Case, role: Role) -> None:
    waiting = case.scored("Waiting", publish_when_scored=True)
    user = case.organiser if role is Role.ORGANISER else case.backend.user(role=role)

    def ban_at_once() -> None:
        with case.backend.database.writing() as session:
            person = session.get_one(User, case.owner.id)
            given: dict[str, Any] = {
                "person": person,
                "user": user,
                "reason": REASON,
                "results": Results.UNPUBLISH,
                "site": SITE,
            }
            if role is Role.ADMINISTRATOR:
                bans.ban_from_server(session, **given)
            else:
                bans.ban(session, challenge=complete(session, case.challenge.id), **given)

    with ThreadPoolExecutor(1) as pool:
        with case.backend.database.writing() as session:
            challenge_as_it_is(session, case.challenge.id)  # as a worker that has scored it
            publishing.publish_if_promised(session, waiting)
            session.flush()
            banning = pool.submit(ban_at_once)
            time.sleep(0.4)
        banning.result()
    assert case.backend.submission(waiting).published_at is None


@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_two_organisers_lift_a_ban_once(case: Case) -> None:
    ban(case)
    with ThreadPoolExecutor(1) as pool:
        with case.backend.database.writing() as session:
            challenge, person = complete(session, case.challenge.id), session.get_one(User, case.owner.id)
            bans.lift_ban(session, challenge=challenge, person=person, user=case.organiser, site=SITE)
            session.flush()
            second = pool.submit(lift, case)
            time.sleep(0.4)
        with pytest.raises(ConflictError, match="is not banned"):
            second.result()


@pytest.mark.parametrize("action", ["challenge.ban", "submission.disqualify"])
@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_the_log_gets_back_no_name_that_its_person_has_just_removed_with_the_account(case: Case, action: str) -> None:
    naming, settings = Naming.WITHOUT_NAME, case.backend.settings
    with case.backend.database.writing() as session:
        challenge, person = complete(session, case.challenge.id), session.get_one(User, case.owner.id)
        submission = queries.get_for(session, case.submission_id, case.organiser)
        with case.backend.database.writing() as leaving:
            delete_account(leaving, user=case.owner, naming=naming, settings=settings, actor=case.owner)
        given: dict[str, Any] = {"user": case.organiser, "reason": REASON, "site": SITE}
        if action == "challenge.ban":
            bans.ban(session, challenge=challenge, person=person, results=Results.UNPUBLISH, **given)
        else:
            moderation.disqualify(session, submission_id=submission.id, **given)
    with case.backend.database.reading() as session:
        found = log.page_of_log(session, challenge_id=case.challenge.id, filters=Filters(action=action))
        told = session.scalars(select(OutgoingMail.recipient)).all()
    assert told.count(case.owner.email) <= 1  # of the deletion alone
    [event] = found.items
    assert "Ada" not in event.text


def test_the_log_tells_of_a_ban_in_a_sentence(case: Case) -> None:
    ban(case, Results.UNPUBLISH)
    with case.backend.database.reading() as session:
        found = log.page_of_log(session, challenge_id=case.challenge.id, filters=Filters(action="challenge.ban"))
    [event] = found.items
    assert event.text == (
        f"{case.organiser.name} banned Ada from the challenge, and unpublished 1 published result: “{REASON}”"
    )


def test_nobody_is_banned_twice_and_no_organiser_is(case: Case) -> None:
    ban(case)
    with pytest.raises(ConflictError, match="already banned"):
        ban(case)
    with pytest.raises(ConflictError, match="organises this challenge"):
        ban(case, person=case.organiser)
    lift(case)
    with pytest.raises(ConflictError, match="not banned"):
        lift(case)


def test_organisers_ban_entrants_and_learn_nothing_of_other_accounts(case: Case) -> None:
    stranger = case.backend.user()
    with case.backend.database.reading() as session, pytest.raises(NotFoundError):
        bans.entrant(session, challenge=case.challenge, user_id=stranger.id)


def test_a_ban_from_the_server_ends_in_all_challenges(case: Case) -> None:
    administrator = case.backend.user(role=Role.ADMINISTRATOR)
    elsewhere = Case(case.backend, owner=case.owner)

    def act(user: User, lifting: bool = False) -> None:
        with case.backend.database.writing() as session:
            person = session.get_one(User, case.owner.id)
            if lifting:
                bans.lift_server_ban(session, person=person, user=user, site=SITE)
            else:
                bans.ban_from_server(
                    session, person=person, user=user, reason=REASON, results=Results.DISQUALIFY, site=SITE
                )

    with pytest.raises(ForbiddenError, match="administrators"):
        act(case.organiser)
    act(administrator)
    assert (case.row.state, elsewhere.row.state) == (State.DISQUALIFIED, State.DISQUALIFIED)
    with case.backend.database.reading() as session:
        assert session.get_one(User, case.owner.id).disabled_at is not None
    with pytest.raises(ForbiddenError, match="disabled"):
        case.backend.submit(case.owner, case.challenge)
    act(administrator, lifting=True)
    case.backend.submit(case.owner, case.challenge, archive=b"another")
