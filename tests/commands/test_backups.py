"""`vocboard admin backup` and `restore`: loss of everything in between, and of parts of it; rotation of keys."""

import contextlib
import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, select

from tests.support.backend import Backend, make_ground_truth
from tests.support.factories import make_organiser, make_token, make_user
from tests.support.jobs import update_next
from tests.support.postgres import PostgresServer
from tests.support.rescoring import submit_scored
from tests.support.s3_server import settings_of
from tests.support.services import in_full
from tests.support.site import serving
from tests.support.working import environment_of
from vocboard.app.accounts import removal, second_factor
from vocboard.app.accounts.models import Scope, SecondFactor, User
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.models import Detail
from vocboard.app.database import Database
from vocboard.app.jobs.heartbeats import Heartbeat
from vocboard.app.settings import Settings
from vocboard.app.storage.s3_objects import Bucket
from vocboard.commands.admin.actions import operator
from vocboard.commands.backups import database_copy
from vocboard.commands.backups.repository import TRUTH, Repository
from vocboard.commands.main import main
from vocboard.worker import ground_truth_files
from vocboard.worker.ground_truth_directory import GroundTruthDirectory

ADDRESSES = (
    "/api/v1/challenges",
    "{challenge}",
    "{challenge}/leaderboards/comp1",
    "{challenge}/leaderboards/comp1?format=csv",
    "{challenge}/statistics/comp1",
    "{challenge}/log",
    "{challenge}/log.csv",
    "{challenge}/ground-truth",
    "{challenge}/submissions",
    "/api/v1/submissions/{submission}",
    "/api/v1/submissions/{submission}/curves/comp1",
    "/api/v1/submissions/{submission}/scores/comp1",
    "/api/v1/submissions/{submission}/archive",
    "/challenges/{slug}",
)


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Give the file of the private key; the settings have the public key."""
    file = tmp_path / "backup.key"
    assert main(["admin", "make-backup-key", str(file)]) == 0
    monkeypatch.setenv(*capsys.readouterr().out.strip().split("="))
    return file


@pytest.fixture
def empty_url(set_up: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Give a database without tables beside the backend's."""
    if set_up == "embedded":
        yield f"sqlite:///{tmp_path / 'other' / 'vocboard.sqlite3'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    url = server.create_database()
    yield in_full(url)
    server.drop_database(url)


def admin(settings: Settings, capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> str:
    """Run a command with settings; return what it says."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("VOCBOARD_DATABASE_URL", settings.database)
        environment.setenv("VOCBOARD_DATA_DIRECTORY", str(settings.data_directory))
        assert main(["admin", *map(str, arguments)]) == status
    return "".join(capsys.readouterr())


def answers(settings: Settings, token: str, **names: Any) -> dict[str, bytes]:
    with serving(settings) as site, site.client(token) as client:
        found = {address: client.get(address.format(**names)) for address in ADDRESSES}
    assert {address: one.status_code for address, one in found.items()} == dict.fromkeys(ADDRESSES, 200)
    return {address: one.content for address, one in found.items()}


def done_by_operators(database: Database) -> set[str]:
    """Return the actions in the log that name the operator."""
    with database.reading() as session:
        return set(session.scalars(select(AuditEvent.action).where(AuditEvent.operator == operator())))


def rows(database: Database) -> dict[str, list[Any]]:
    metadata = MetaData()
    with database.reading() as session:
        metadata.reflect(session.connection())
        return {
            name: sorted(map(str, session.execute(select(table)).all()))
            for name, table in metadata.tables.items()
            if name != "audit_events"  # has an event of each backup and restore
        }


def hashes(directory: Path) -> dict[str, str]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_everything_is_as_before_after_the_loss_of_everything(
    backend: Backend, key: Path, empty_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, backups = backend.settings, tmp_path / "backups"
    with backend.database.writing() as session:
        organiser = make_organiser(session)
        token = make_token(session, organiser, Scope.READ, Scope.ORGANISE)
    challenge = backend.challenge(organiser=organiser, detail=Detail.EVERYTHING)
    first = submit_scored(backend, challenge, 3)[0]
    while update_next(backend.database, backend.store, settings):
        pass
    GroundTruthDirectory(settings).private_key()
    Heartbeat(backend.database, kind="scoring").record()
    names = {"challenge": f"/api/v1/challenges/{challenge.slug}", "slug": challenge.slug, "submission": first}
    before, all_rows = answers(settings, token, **names), rows(backend.database)
    said = admin(settings, capsys, "backup", backups)
    assert said.endswith("the database and 8 files, 8 of them new\n")  # archives, columns, ground truth and its key
    sealed = b"".join(path.read_bytes() for path in backups.rglob("*") if path.is_file())
    secret = (settings.truth / "worker.private-key").read_bytes()
    assert not any(each in sealed for each in (secret, organiser.email.encode(), *map(bytes, before.values())))

    submit_scored(backend, challenge, 1)
    assert "10 files, 2 of them new" in admin(settings, capsys, "backup", backups)

    other = Settings(data_directory=tmp_path / "other", database_url=empty_url, broker_url=settings.broker_url)
    yesterday, _ = Repository(backups).names()
    restore = ["restore", backups, "--identity", key, "--backup", yesterday]
    assert "the database and 8 files\n" in admin(other, capsys, *restore)
    with contextlib.closing(Database(other.database)) as database:
        assert rows(database) == {**all_rows, "worker_heartbeats": []}  # nobody looks for workers that are lost
        assert done_by_operators(database) == {"server.restore"}
    assert done_by_operators(backend.database) == {"server.back_up"}
    assert hashes(other.truth) == hashes(settings.truth)
    assert answers(other, token, **names) == before
    assert "is not empty" in admin(other, capsys, *restore, status=1)


def test_a_copy_has_nothing_that_was_added_while_it_was_made(backend: Backend, empty_url: str) -> None:
    backend.user(name="Before")
    with backend.database.snapshot() as session:
        session.scalars(select(User.name)).all()
        backend.user(name="After")
        copy = io.BytesIO()
        database_copy.write(session, copy)
    copy.seek(0)
    with contextlib.closing(Database(empty_url)) as database:
        database_copy.load(database, empty_url, copy)
        with database.reading() as session:
            assert session.scalars(select(User.name)).all() == ["Before"]


@pytest.mark.parametrize("set_up", ["embedded"], indirect=True)
def test_yesterdays_backup_beside_todays_store_says_what_is_missing(
    backend: Backend, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge, user, backups = backend.challenge(), backend.user(), Repository(tmp_path / "backups")
    ids = [backend.submit(user, challenge, archive=bytes([number])) for number in range(3)]
    present, lost, damaged = (backend.submission(one).archive_sha256 for one in ids)
    (backend.settings.truth / f".{backend.truth_file.name}.1").write_bytes(b"An import is just")
    admin(backend.settings, capsys, "backup", tmp_path / "backups")
    backend.submit(user, challenge, archive=b"today's")
    backend.store.remove(lost)
    backend.store.remove(damaged)
    with (tmp_path / "backups" / "contents" / damaged[:2] / damaged[2:]).open("ab") as file:
        file.write(b"damage")
    backend.database.close()
    for path in tmp_path.glob("vocboard.sqlite*"):
        path.unlink()

    (tmp_path / "other.key").write_text("0" * 64)
    restore = ["restore", tmp_path / "backups", "--key-file"]
    assert "sealed to another key" in admin(backend.settings, capsys, *restore, tmp_path / "other.key", status=1)
    said = admin(backend.settings, capsys, *restore, key, status=1)
    assert f"archives/{damaged} cannot be restored: {damaged[2:]} " in said
    assert f"the archive of submission {ids[2]} of {challenge.slug} is missing\n" in said
    assert str(ids[1]) not in said
    assert "1 content of the store belongs to no row" in said
    assert {present, lost} < set(backend.store.stored())

    # The next backup says what the store lacks, and can replace earlier ones.
    (tmp_path / "backups" / "contents" / damaged[:2] / damaged[2:]).unlink()
    keep = Repository.keep

    def keep_locked(repository: Repository, count: int) -> int:
        # Otherwise another backup could need by now what no complete one does.
        with pytest.raises(BlockingIOError), Repository(tmp_path / "backups").locked():
            pass
        return keep(repository, count)

    monkeypatch.setattr(Repository, "keep", keep_locked)
    said = admin(backend.settings, capsys, "backup", tmp_path / "backups", "--keep", 1, status=1)
    assert f"missing or damaged in the store: {damaged}\n" in said
    assert "1 earlier backup removed\n" in said
    assert len(backups.names()) == 1
    assert {file.name for file in backups.files(backups.names()[0]) if file.part == TRUTH} == {backend.truth_file.name}
    assert {path.parent.name + path.name for path in tmp_path.glob("backups/contents/*/*")} == {
        file.sha256 for file in backups.files(backups.names()[0])
    }


@pytest.mark.services
def test_sealed_ground_truth_of_an_object_store_comes_along(
    sqlite_url: str,
    bucket: Bucket,
    key: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment_of(Settings(**settings_of(bucket))).items():
        monkeypatch.setenv(name, value)
    settings, truth = Settings(data_directory=tmp_path / "data", database_url=sqlite_url), make_ground_truth()
    GroundTruthDirectory(settings).private_key()
    ground_truth_files.save(settings, truth)
    recipient = os.environ["VOCBOARD_BACKUP_KEY"]
    monkeypatch.delenv("VOCBOARD_BACKUP_KEY")
    assert "Set VOCBOARD_BACKUP_KEY, or --recipient" in admin(
        settings, capsys, "backup", tmp_path / "backups", status=1
    )
    backup = ("backup", tmp_path / "backups", "--recipient", recipient)
    assert "the database and 2 files" in admin(settings, capsys, *backup)

    monkeypatch.delenv("VOCBOARD_STORE")
    monkeypatch.setenv("VOCBOARD_STORE_URL", f"{bucket.url}/restored")
    elsewhere = tmp_path / "other"
    other = Settings(data_directory=elsewhere, database_url=f"sqlite:///{elsewhere / 'vocboard.sqlite3'}")
    assert "and 2 files" in admin(other, capsys, "restore", tmp_path / "backups", "--identity", key)
    assert ground_truth_files.load(other, truth.sha256).sha256 == truth.sha256


@pytest.mark.parametrize("set_up", ["embedded"], indirect=True)
def test_a_new_secret_key_reads_what_the_former_one_wrote(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    user, deleted = backend.user(), backend.user()
    with backend.database.writing() as session:
        second_factor.begin(session, user=user, settings=Settings(secret_key="old"))  # type: ignore[arg-type]
        key = second_factor.app_key(session.get_one(SecondFactor, user.id), server_key="old")
        session.get_one(User, deleted.id).mailbox_hash = removal.mailbox_hash("ada@lab.example", server_key="old")
    monkeypatch.setenv("VOCBOARD_SECRET_KEY", "new")
    monkeypatch.setenv("VOCBOARD_FORMER_SECRET_KEYS", "older, old")
    for count in (1, 0):
        assert admin(backend.settings, capsys, "rotate-secret-key").startswith(f"{count} second factors")
    monkeypatch.setenv("VOCBOARD_SECRET_KEY", "unrelated")
    assert "; 1 cannot be read" in admin(backend.settings, capsys, "rotate-secret-key")
    admin(backend.settings, capsys, "rotate-worker-key")
    assert done_by_operators(backend.database) == {"server.rotate_secret_key", "server.rotate_worker_key"}
    with backend.database.writing() as session:
        assert second_factor.app_key(session.get_one(SecondFactor, user.id), server_key="new") == key
        again = make_user(session, email="ada@lab.example")
        for former, found in (("", again.id), ("old", deleted.id)):
            new = Settings(secret_key="new", former_secret_keys=former)  # type: ignore[arg-type]
            assert removal.taken_over(session, again, new).id == found


def test_a_directory_of_backups_that_is_missing_is_no_empty_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["admin", "list-backups", str(tmp_path)]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["admin", "list-backups", str(tmp_path / "missing")]) == 1
    assert f"{tmp_path}/missing: No such file or directory" in capsys.readouterr().err
