"""People of an imported challenge: bans hold, and nobody gets rights but by an invitation that the importer wrote."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support.archives import changed, edited
from tests.support.backend import Backend
from tests.support.factories import make_user
from tests.support.jobs import evaluate_next
from tests.support.other_server import Server, write_export
from tests.support.phases import show_board
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges import organisers
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.bans import bans_of, require_not_banned
from vocboard.app.challenges.models import Challenge, ChallengeInvitation, ChallengeOrganiser
from vocboard.app.errors import ForbiddenError, InvalidArchiveError, InvalidInputError
from vocboard.app.organising import bans
from vocboard.app.organising.bans import Results
from vocboard.app.participating import leaving, publishing
from vocboard.app.transfer.importing_people import addresses_in, report_of

CARL, EVE, OLGA = "carl@lab.example", "eve@lab.example", "olga@lab.example"


@pytest.fixture
def exported(backend: Backend, tmp_path: Path) -> Path:
    """Give the export of a challenge of Olga's and Carl's, from which Eve is banned, with her result published."""
    olga = backend.user(role=Role.ORGANISER, name="Olga", email=OLGA)
    carl, eve = backend.user(name="Carl", email=CARL), backend.user(name="Eve", email=EVE)
    challenge = backend.challenge(organiser=olga, slug="spring", title="Spring")
    submission_id = backend.submit(eve, challenge)
    assert evaluate_next(backend.database, backend.store, backend.settings)
    with backend.database.writing() as session:
        publishing.publish(session, submission_id=submission_id, user=eve)
        found = challenges.get_organised(session, "spring", olga)
        organisers.add(session, challenge=found, person=carl, user=olga)
        given = {"reason": "Several accounts.", "results": Results.KEEP, "site": "https://x"}
        bans.ban(session, challenge=found, person=eve, user=olga, **given)
    return write_export(backend.database, backend.store, tmp_path / "spring.tar", olga)


def with_rights(session: Session, challenge: Challenge) -> tuple[set[str], set[str]]:
    """Return the addresses of the organisers of a challenge, and those that are invited."""
    query = select(User.email).join(ChallengeOrganiser, ChallengeOrganiser.user_id == User.id)
    present = session.scalars(query.where(ChallengeOrganiser.challenge_id == challenge.id))
    invited = session.scalars(select(ChallengeInvitation.email).where(ChallengeInvitation.challenge_id == challenge.id))
    return set(present), set(invited)


def test_bans_hold_and_an_invited_organiser_organises(
    backend: Backend, exported: Path, other: Server, tmp_path: Path
) -> None:
    imported = other.take(exported, invited=addresses_in(f"{CARL.upper()}, {CARL}"), site="https://there.example")
    with backend.database.writing() as here, other.database.writing() as there:
        source = here.scalars(select(Challenge)).one()
        assert replace(show_board(there, imported, "comp1"), imported=None) == show_board(here, source, "comp1")
    with other.database.writing() as session:
        assert with_rights(session, imported) == ({other.organiser.email}, {CARL})
        carl = make_user(session, name="Carl", email=CARL)
    with other.database.writing() as session:
        report = report_of(session, session.get_one(Challenge, imported.id))
        assert {(one.email, one.is_invited) for one in report.organisers} == {(OLGA, False), (CARL, True)}
        assert report.bans == 1
        [invitation] = organisers.invitations_of(session, session.get_one(User, carl.id))
        organisers.accept(session, user=session.get_one(User, carl.id), invitation_id=invitation.id)
        challenges.get_organised(session, "spring", session.get_one(User, carl.id))
        report = report_of(session, session.get_one(Challenge, imported.id))
        assert [one.email for one in report.organisers] == [OLGA]
        # A person who registers the banned address later is banned, once it is confirmed; nobody else is.
        for email, is_banned in ((EVE, True), ("eva@lab.example", False)):
            person = make_user(session, email=email)
            if is_banned:
                with pytest.raises(ForbiddenError, match="Several accounts"):
                    require_not_banned(session, user_id=person.id, challenge_id=imported.id)
            else:
                require_not_banned(session, user_id=person.id, challenge_id=imported.id)
    # A copy of the copy bans her, too, until the ban is lifted there.
    again = write_export(other.database, other.store, tmp_path / "again.tar", other.organiser)
    copy = other.take(again, slug="copy")
    with other.database.writing() as session:
        eve = session.scalars(select(User).where(User.email == EVE)).one()
        with pytest.raises(ForbiddenError):
            require_not_banned(session, user_id=eve.id, challenge_id=copy.id)
        challenge = session.get_one(Challenge, copy.id)
        challenge.archived_at = None
        [ban] = bans_of(session, copy.id)
        entrant = bans.entrant(session, challenge=challenge, user_id=ban.user_id)
        bans.lift_ban(session, challenge=challenge, person=entrant, user=other.organiser, site="https://x")
        session.flush()
        require_not_banned(session, user_id=eve.id, challenge_id=copy.id)


@pytest.mark.usefixtures("exported")
def test_the_ban_of_a_deleted_account_holds_for_nobody_elsewhere(
    backend: Backend, other: Server, tmp_path: Path
) -> None:
    with backend.database.writing() as session:
        eve, olga = (session.scalars(select(User).where(User.email == email)).one() for email in (EVE, OLGA))
        leaving.delete_account(session, user=eve, naming=leaving.Naming.KEEP_NAME, settings=backend.settings)
    imported = other.take(write_export(backend.database, backend.store, tmp_path / "later.tar", olga))
    with other.database.reading() as session:
        assert list(bans_of(session, imported.id)) == []


def test_an_archive_gives_nobody_rights(exported: Path, other: Server) -> None:
    with other.database.writing() as session:
        make_user(session, role=Role.ORGANISER, email="mallory@lab.example")
        make_user(session, role=Role.ORGANISER, email=OLGA)

    def forge(files: dict[str, bytes]) -> None:
        rights = {"is_organiser": True, "email": "mallory@lab.example"}
        changed("people.jsonl", lambda person: person.update(rights))(files)
        files["bans.jsonl"] = files["bans.jsonl"].replace(EVE.encode(), other.organiser.email.encode())

    forged = edited(exported, forge)
    imported = other.take(forged)
    with other.database.reading() as session:
        assert with_rights(session, imported) == ({other.organiser.email}, set())
        assert list(bans_of(session, imported.id)) == []  # who imports a challenge organises it
    with pytest.raises(InvalidInputError) as refused:
        other.take(forged, slug="second", invited=(OLGA,))
    assert refused.value.fields["organisers"].startswith(f"Not among the organisers in the archive: {OLGA}.")
    with other.database.reading() as session:
        assert session.scalars(select(Challenge.slug)).all() == ["spring"]


def test_a_ban_holds_for_all_spellings_of_its_address(exported: Path, other: Server) -> None:
    def respell(files: dict[str, bytes]) -> None:
        files["bans.jsonl"] = files["bans.jsonl"].replace(EVE.encode(), b"e.ve@googlemail.com")

    imported = other.take(edited(exported, respell))
    with other.database.writing() as session:
        eve, eva = (make_user(session, email=email) for email in ("eve+2@gmail.com", "eva@gmail.com"))
        with pytest.raises(ForbiddenError, match="Several accounts"):
            require_not_banned(session, user_id=eve.id, challenge_id=imported.id)
        require_not_banned(session, user_id=eva.id, challenge_id=imported.id)
        session.get_one(User, other.organiser.id).email = "eve@gmail.com"
        session.get_one(User, other.organiser.id).mailbox = other.organiser.mailbox = "eve@gmail.com"
    copy = other.take(edited(exported, respell), slug="copy")
    with other.database.reading() as session:
        assert list(bans_of(session, copy.id)) == []  # the importer's own


def test_addresses_that_are_none_are_all_named() -> None:
    with pytest.raises(InvalidInputError) as refused:
        addresses_in(f"{CARL} nobody, @lab.example")
    assert refused.value.fields == {"organisers": "These are not email addresses: nobody, @lab.example."}


def test_bans_that_fit_nobody_are_refused(exported: Path, other: Server) -> None:
    def change(files: dict[str, bytes]) -> None:
        ban = json.loads(files["bans.jsonl"])
        stranger = ban | {"person": "00000000-0000-0000-0000-000000000000", "email": "EVE"}
        files["bans.jsonl"] = b"\n".join(json.dumps(one).encode() for one in (ban, ban, stranger))

    with pytest.raises(InvalidArchiveError) as refused:
        other.take(edited(exported, change))
    assert [(one.file, one.line, one.message.partition(":")[0]) for one in refused.value.problems] == [
        ("bans.jsonl", 2, "person"),
        ("bans.jsonl", 3, "person"),
        ("bans.jsonl", 3, "email"),
    ]
