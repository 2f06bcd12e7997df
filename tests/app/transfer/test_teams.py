"""Teams of an imported challenge: their names, results, quota and Ladder are those of the other server."""

from pathlib import Path

import pytest
from sqlalchemy import select

from tests.support.backend import Backend
from tests.support.jobs import evaluate_next
from tests.support.other_server import Server, write_export
from tests.support.phases import complete, show_board
from tests.support.services import EMBEDDED
from vocboard.app.accounts.models import Role, User
from vocboard.app.participating import publishing, teams
from vocboard.app.submissions.models import Submission, SubmissionPerson
from vocboard.app.teams.models import Team
from vocboard.app.teams.queries import people_by_team


@pytest.fixture
def exported(backend: Backend, tmp_path: Path) -> Path:
    """Give the export of a challenge with a team of Ada and Bob, which Bob has left, and with Cy, who is alone."""
    olga = backend.user(role=Role.ORGANISER, name="Olga")
    ada, bob, cy = (backend.user(name=name) for name in ("Ada", "Bob", "Cy"))
    challenge = backend.challenge(organiser=olga, slug="spring", title="Spring")
    with backend.database.writing() as session:
        team = teams.create(session, challenge=complete(session, challenge.id), user=ada, name="The team")
        _, token = teams.invite(session, team_id=team.id, user=ada, site="https://x")
        teams.accept(session, token=token, user=bob)
    for person, method in ((bob, "Together"), (cy, "Alone")):
        submission_id = backend.submit(person, challenge, method_name=method)
        assert evaluate_next(backend.database, backend.store, backend.settings)
        with backend.database.writing() as session:
            publishing.publish(session, submission_id=submission_id, user=person)
    with backend.database.writing() as session:
        teams.remove(session, team_id=team.id, user=bob, user_id=bob.id)
    return write_export(backend.database, backend.store, tmp_path / "spring.tar", olga)


def test_teams_come_along(exported: Path, other: Server) -> None:
    imported = other.take(exported)
    with other.database.writing() as session:
        board = show_board(session, imported, "comp1")
        assert {row.method: row.team for row in board.rows} == {"Together": "The team", "Alone": ""}
        found = {team.name: team.id for team in session.scalars(select(Team).where(Team.challenge_id == imported.id))}
        members = people_by_team(session, found.values())
        assert {name: [one.name for one in members[found[name]]] for name in found} == {"The team": ["Ada"], "": ["Cy"]}
        counted = session.execute(
            select(User.name, Submission.team_id)
            .join(SubmissionPerson, SubmissionPerson.user_id == User.id)
            .join(Submission, Submission.id == SubmissionPerson.submission_id)
            .order_by(User.name)
        ).all()
        assert counted == [("Ada", found["The team"]), ("Bob", found["The team"]), ("Cy", found[""])]


@pytest.mark.parametrize("set_up", [EMBEDDED], indirect=True)  # others may take these for one name
def test_names_that_the_database_tells_apart_come_along(backend: Backend, other: Server, tmp_path: Path) -> None:
    olga, *people = (backend.user(role=Role.ORGANISER, name=name) for name in ("Olga", "Ada", "Bob"))
    challenge = backend.challenge(organiser=olga, slug="spring", title="Spring")
    names = ("Équipe", "équipe")
    with backend.database.writing() as session:
        for person, name in zip(people, names, strict=True):
            teams.create(session, challenge=complete(session, challenge.id), user=person, name=name)
    other.take(write_export(backend.database, backend.store, tmp_path / "spring.tar", olga))
    with other.database.reading() as session:
        assert set(session.scalars(select(Team.name))) == set(names)
