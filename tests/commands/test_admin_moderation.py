"""`vocboard admin` moderates, bans, exports and imports; the log names the operator."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.support.backend import make_archive
from tests.support.factories import make_challenge, make_organiser, make_user
from tests.support.scored import make_scored
from vocboard.app.accounts.models import User
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.models import Challenge, ChallengeOrganiser
from vocboard.app.database import Database
from vocboard.app.participating import publishing
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.submissions.models import State, Submission
from vocboard.commands.main import main


@pytest.fixture
def database(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setenv("VOCBOARD_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("VOCBOARD_DATA_DIRECTORY", str(tmp_path / "data"))
    opened = Database(sqlite_url)
    yield opened
    opened.close()


@pytest.fixture
def submission(database: Database, tmp_path: Path) -> Submission:
    """Give a published submission of ada@lab.example to the challenge spring of olga@lab.example."""
    store = ArchiveStore(Settings().archives)
    store.set_up()
    with store.receive(limit=1_000_000) as incoming:
        incoming.write(make_archive())
        incoming.finish()
        sha256, size = incoming.sha256, incoming.size
        incoming.keep()
    with database.writing() as session:
        organiser = make_organiser(session, email="olga@lab.example")
        challenge = make_challenge(session, organiser=organiser, slug="spring")
        owner = make_user(session, email="ada@lab.example", name="Ada")
        made = make_scored(session, challenge, owner, "Method", archive_sha256=sha256, archive_bytes=size)
        publishing.publish(session, submission_id=made.id, user=owner)
    return made


def admin(*arguments: str) -> int:
    return main(["admin", *arguments])


@pytest.fixture(autouse=True)
def operator_is_logged(database: Database, submission: Submission) -> Iterator[None]:
    """Whatever a test runs is logged as the operator's, and as nobody else's."""
    with database.reading() as session:
        before = set(session.scalars(select(AuditEvent.id)))
    yield
    with database.reading() as session:
        added = [event for event in session.scalars(select(AuditEvent)) if event.id not in before]
    assert added, "nothing is logged"
    for event in added:
        assert event.actor_id is None
        assert event.operator.endswith(", command line")


def test_what_an_operator_disqualifies_cannot_be_published_until_it_is_reinstated(
    database: Database, submission: Submission, capsys: pytest.CaptureFixture[str]
) -> None:
    def state() -> tuple[State, bool]:
        with database.reading() as session:
            row = session.get_one(Submission, submission.id)
            return row.state, row.published_at is not None

    command = ["disqualify", str(submission.id), "--reason", "Trained on the test set.", "--organiser"]
    assert admin(*command, "stranger@lab.example") == 1
    assert admin(*command, "olga@lab.example") == 0
    with database.reading() as session:
        olga = session.scalars(select(User).where(User.email == "olga@lab.example")).one()
        logged = session.scalars(select(AuditEvent).where(AuditEvent.action == "submission.disqualify")).one()
        assert logged.details["on_behalf_of"] == str(olga.id)
    assert state() == (State.DISQUALIFIED, False)
    assert admin("allow-publishing", str(submission.id)) == 1
    assert "disqualified" in capsys.readouterr().err
    assert state() == (State.DISQUALIFIED, False)
    assert admin("reinstate", str(submission.id)) == 0
    assert state() == (State.SCORED, True)
    assert admin("unpublish", str(submission.id)) == 0
    assert admin("allow-publishing", str(submission.id)) == 0
    assert admin("fail", str(submission.id), "--reason", "Wrong ground truth.") == 0
    assert state() == (State.FAILED, False)
    assert admin("log", "--challenge", "spring") == 0
    printed = capsys.readouterr().out
    assert "command line disqualified “Method” of Ada: “Trained on the test set.”" in printed
    assert "command line marked “Method” of Ada as failed and gave the quota back: “Wrong ground truth.”" in printed


def test_an_operator_bans_from_the_server(database: Database, submission: Submission) -> None:
    assert admin("ban", "ada@lab.example", "--reason", "Two accounts.", "--results", "disqualify") == 0
    with database.reading() as session:
        assert session.get_one(Submission, submission.id).state is State.DISQUALIFIED
        assert session.scalars(select(User.disabled_at).where(User.email == "ada@lab.example")).one() is not None
    assert admin("enable-user", "ada@lab.example") == 0  # which lifts the ban
    assert admin("ban", "ada@lab.example", "--reason", "Two accounts.", "--results", "disqualify") == 0
    assert admin("lift-ban", "ada@lab.example") == 0
    assert admin("lift-ban", "ada@lab.example") == 1
    assert (
        admin("ban", "ada@lab.example", "--challenge", "spring", "--reason", "Two accounts.", "--results", "keep") == 0
    )
    assert admin("lift-ban", "ada@lab.example", "--challenge", "spring") == 0


def test_an_operator_exports_imports_archives_and_deletes(
    database: Database, submission: Submission, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spring.tar"
    assert admin("export-challenge", "spring", ".") == 1
    assert ". is a directory" in capsys.readouterr().err
    assert admin("export-challenge", "spring", str(file)) == 0
    assert file.stat().st_mode & 0o777 == 0o600
    again = ("import-challenge", str(file), "--organiser", "olga@lab.example")
    assert admin(*again) == 1
    assert "already taken" in capsys.readouterr().err
    assert admin(*again, "--slug", "autumn") == 0
    assert capsys.readouterr().out == "imported as autumn, an archived draft\n"
    file.write_bytes(file.read_bytes()[:-5000])
    assert admin(*again, "--slug", "winter") == 1
    assert "cut off" in capsys.readouterr().err
    assert admin("reopen-challenge", "autumn") == 0
    assert admin("archive-challenge", "autumn") == 0
    assert admin("delete-draft", "autumn") == 1
    assert "has submissions" in capsys.readouterr().err


def test_an_operator_imports_before_the_server_has_started(
    submission: Submission, sqlite_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, directory = tmp_path / "spring.tar", tmp_path / "new"
    assert admin("export-challenge", "spring", str(file)) == 0
    directory.mkdir()
    monkeypatch.setenv("VOCBOARD_DATABASE_URL", f"sqlite:///{shutil.copy(sqlite_template, directory / 'new.sqlite3')}")
    monkeypatch.setenv("VOCBOARD_DATA_DIRECTORY", str(directory))
    assert admin("create-user", "olga@lab.example", "--name", "Olga", "--role", "organiser") == 0
    assert admin("import-challenge", str(file), "--organiser", "olga@lab.example") == 0


def test_an_operator_adds_organisers_and_hands_over(database: Database, submission: Submission) -> None:
    assert admin("add-organiser", "spring", "ada@lab.example") == 0
    assert admin("hand-over", "spring", "ada@lab.example") == 0
    assert admin("remove-organiser", "spring", "ada@lab.example") == 1
    assert admin("remove-organiser", "spring", "olga@lab.example") == 0
    with database.reading() as session:
        found = session.execute(
            select(User.email, ChallengeOrganiser.is_owner)
            .join(ChallengeOrganiser, ChallengeOrganiser.user_id == User.id)
            .join(Challenge, Challenge.id == ChallengeOrganiser.challenge_id)
            .where(Challenge.slug == "spring")
        ).all()
    assert [tuple(row) for row in found] == [("ada@lab.example", True)]
