"""Co-organisers: invited by email address, without a word on whether the address has an account."""

import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support.backend import Backend
from tests.support.services import REAL
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges import organisers
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge, ChallengeInvitation
from vocboard.app.challenges.rules import ChallengeRules
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidInputError, LimitedError, NotFoundError
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.organising import challenge_changes
from vocboard.app.participating.leaving import Naming, delete_account

SITE = "https://voc.example"


class Case:
    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.owner = backend.user(role=Role.ORGANISER, name="Olga")
        self.challenge: Challenge = backend.challenge(organiser=self.owner, slug="spring", title="Spring")

    def invite(self, email: str, user: User | None = None) -> ChallengeInvitation:
        with self.backend.database.writing() as session:
            challenge = session.get_one(Challenge, self.challenge.id)
            return organisers.invite(session, challenge=challenge, user=user or self.owner, email=email, site=SITE)

    def accept(self, user: User, invitation_id: uuid.UUID) -> None:
        with self.backend.database.writing() as session:
            organisers.accept(session, user=user, invitation_id=invitation_id)

    def invited(self, name: str = "Ada") -> User:
        person = self.backend.user(name=name)
        self.accept(person, self.invite(person.email).id)
        return self.present(person)

    def present(self, user: User) -> User:
        with self.backend.database.reading() as session:
            return session.get_one(User, user.id)

    def act(self, action: str, user: User, person: User) -> None:
        with self.backend.database.writing() as session:
            challenge = session.get_one(Challenge, self.challenge.id)
            getattr(organisers, action)(session, challenge=challenge, user=user, user_id=person.id)

    def names(self) -> list[tuple[str, bool]]:
        with self.backend.database.reading() as session:
            found = organisers.organisers_of(session, session.get_one(Challenge, self.challenge.id))
        return [(one.user.name, one.is_owner) for one in found]


@pytest.fixture
def case(backend: Backend) -> Case:
    return Case(backend)


def test_an_invitation_looks_the_same_with_and_without_an_account(case: Case) -> None:
    known = case.backend.user(email="known@lab.example")
    with_account, without = case.invite(known.email), case.invite("nobody@lab.example")
    with case.backend.database.reading() as session:
        mails = {mail.recipient: mail.body for mail in session.scalars(select(OutgoingMail))}
    assert set(mails) == {"known@lab.example", "nobody@lab.example"}
    assert len(set(mails.values())) == 1
    assert "https://voc.example/invitations" in mails["known@lab.example"]
    assert {type(one.id) for one in (with_account, without)} == {uuid.UUID}
    assert case.names() == [("Olga", True)]


def test_who_accepts_organises_this_challenge_and_creates_none(case: Case) -> None:
    ada = case.invited()
    assert case.names() == [("Olga", True), ("Ada", False)]
    assert ada.role is Role.CO_ORGANISER
    with case.backend.database.writing() as session:
        assert challenges.get_organised(session, "spring", ada).id == case.challenge.id
        with pytest.raises(ForbiddenError):
            challenge_changes.create(
                session,
                organiser=ada,
                slug="own",
                edition="VOC2012",
                rules=ChallengeRules(title="Own"),
            )


def test_nobody_else_can_accept_or_decline(case: Case) -> None:
    invitation = case.invite("ada@lab.example")
    unconfirmed = case.backend.user(email="ada@lab.example", confirmed=False)
    for person in (case.backend.user(), case.owner, unconfirmed):
        with pytest.raises(NotFoundError):
            case.accept(person, invitation.id)
    assert case.names() == [("Olga", True)]


def test_an_invitation_is_answered_once(case: Case) -> None:
    ada = case.backend.user(name="Ada")
    invitation = case.invite(ada.email)
    assert case.invite(ada.email).id == invitation.id
    case.accept(ada, invitation.id)
    with pytest.raises(NotFoundError):
        case.accept(ada, invitation.id)
    with pytest.raises(ConflictError, match="already organises"):
        case.invite(ada.email)
    with pytest.raises(InvalidInputError):
        case.invite("not an address")


@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_an_invitation_that_is_accepted_at_the_same_moment_is_not_withdrawn(case: Case) -> None:
    person = case.backend.user(name="Ada")
    invitation = case.invite(person.email)
    with case.backend.database.writing() as session:
        challenge = session.get_one(Challenge, case.challenge.id)
        seen = session.get_one(ChallengeInvitation, invitation.id)
        case.accept(person, invitation.id)
        with pytest.raises(NotFoundError):
            organisers.withdraw_invitation(session, challenge=challenge, user=case.owner, invitation_id=seen.id)


@pytest.mark.parametrize("set_up", [REAL], indirect=True)
@pytest.mark.parametrize("deleted_first", [True, False])
def test_who_deletes_the_account_while_a_challenge_is_handed_over_does_not_own_it(
    case: Case, deleted_first: bool
) -> None:
    ada, database = case.invited(), case.backend.database

    def delete(session: Session) -> None:
        delete_account(session, user=ada, naming=Naming.KEEP_NAME, settings=case.backend.settings)

    def hand_over(session: Session) -> None:
        challenge = session.get_one(Challenge, case.challenge.id)
        organisers.hand_over(session, challenge=challenge, user=case.owner, user_id=ada.id)

    def change(action: Callable[[Session], None]) -> None:
        with database.writing() as session:
            action(session)

    first, second = (delete, hand_over) if deleted_first else (hand_over, delete)
    with ThreadPoolExecutor(1) as pool:
        with database.writing() as session:
            first(session)
            session.flush()
            changing = pool.submit(change, second)
            time.sleep(0.4)
        with pytest.raises(NotFoundError if deleted_first else ConflictError):
            changing.result()
    assert case.names() == [("Olga", True)] if deleted_first else [("Ada", True), ("Olga", False)]


def test_the_owner_removes_and_others_leave(case: Case) -> None:
    ada, bob = case.invited(), case.invited("Bob")
    with pytest.raises(ForbiddenError):
        case.act("remove", ada, bob)
    with pytest.raises(ConflictError, match="Hand the challenge over"):
        case.act("remove", case.owner, case.owner)
    case.act("remove", case.owner, bob)
    case.act("remove", ada, ada)
    assert case.names() == [("Olga", True)]
    with case.backend.database.reading() as session, pytest.raises(ForbiddenError):
        challenges.get_organised(session, "spring", ada)


def test_who_is_removed_cannot_come_back_with_another_account(case: Case) -> None:
    ada, friend = case.invited(), case.backend.user(name="Friend")
    own = case.invite(friend.email, ada)
    kept = case.invite("bob@lab.example")
    case.act("remove", case.owner, ada)
    with pytest.raises(NotFoundError):
        case.accept(friend, own.id)
    with case.backend.database.reading() as session:
        waiting = organisers.invitations_to(session, session.get_one(Challenge, case.challenge.id))
    assert [one.id for one in waiting] == [kept.id]


def test_a_challenge_is_handed_over(case: Case) -> None:
    ada = case.invited()
    with pytest.raises(ForbiddenError):
        case.act("hand_over", ada, ada)
    case.act("hand_over", case.owner, ada)
    assert case.names() == [("Ada", True), ("Olga", False)]
    with pytest.raises(NotFoundError):
        case.act("hand_over", ada, case.backend.user())
    case.act("remove", ada, case.owner)
    assert case.names() == [("Ada", True)]


def test_invitations_are_limited(case: Case) -> None:
    for number in range(30):
        case.invite(f"person{number}@elsewhere.example")
    with pytest.raises(LimitedError):
        case.invite("one-more@elsewhere.example")
