"""`vocboard admin doctor` says everything that is wrong at once, and what to do."""

import os
import shutil
import subprocess
import sys
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from tests.support.services import make_tables
from vocboard.app.database import Database, now
from vocboard.app.jobs.heartbeats import GROUND_TRUTH, Heartbeat
from vocboard.app.jobs.models import Job, Kind, WorkerHeartbeat
from vocboard.app.messaging.broker import MAIL, SCORING
from vocboard.app.messaging.outbox import MailFailure, put
from vocboard.app.settings import Settings
from vocboard.app.storage.stores import archive_store
from vocboard.commands.main import main


def test_everything_that_is_wrong_is_said_at_once(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOCBOARD_DATABASE_URL", database_url)
    monkeypatch.setenv("VOCBOARD_DATA_DIRECTORY", str(tmp_path / "data"))
    settings = Settings()
    archive_store(settings).set_up()
    database = Database(settings.database)
    for kind in (SCORING, MAIL, GROUND_TRUTH):
        Heartbeat(database, kind=kind).record()
    assert main(["admin", "doctor"]) == 0
    assert capsys.readouterr().out == "Nothing is wrong.\n"

    an_hour_ago = now() - timedelta(hours=1)
    with database.writing() as session:
        put(session, to="gone@lab.example", template="approved", site="https://voc.example")
        session.flush()
        session.execute(update(Job).values(failure=MailFailure.REJECTED, finished_at=now()))
        session.add(Job(kind=Kind.EVALUATION, key=uuid.uuid4(), priority=1, not_before=an_hour_ago))
        session.add(Job(kind=Kind.DIAGNOSIS, key=uuid.uuid4(), priority=1, failure="error", finished_at=now()))
        session.execute(update(WorkerHeartbeat).values(looked_at=an_hour_ago))
    database.close()
    shutil.rmtree(settings.archives)
    monkeypatch.setenv("VOCBOARD_BROKER_URL", "redis://127.0.0.1:1/0")
    assert main(["admin", "doctor"]) == 1
    said = capsys.readouterr().out
    for what in (
        f"Archives cannot be kept in {settings.archives}",
        "The broker cannot be reached",
        "Worker scoring on ",
        "Worker mail on ",
        "No worker evaluates submissions.",
        "Work is late: 1 of evaluation, since ",
        "`vocboard admin requeue diagnosis error`",
        "Email that could not be sent: 1.",
    ):
        assert what in said
    assert "Email is not sent" not in said  # its worker is named already


def test_a_database_that_does_not_fit_is_said_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOCBOARD_DATA_DIRECTORY", str(tmp_path))
    (tmp_path / "vocboard.sqlite3").touch()
    assert main(["admin", "doctor"]) == 1
    assert "Run `vocboard migrate`" in capsys.readouterr().out
    monkeypatch.setenv("VOCBOARD_DATABASE_URL", "postgresql://voc:secret@127.0.0.1:1/voc")
    assert main(["admin", "doctor"]) == 1
    said = capsys.readouterr()
    assert "correct VOCBOARD_DATABASE_URL" in said.out
    assert "secret" not in said.out + said.err


def test_an_extension_of_which_only_workers_load_a_broken_module_is_named(tmp_path: Path) -> None:
    files = {
        "voc_broken/__init__.py": "",
        "voc_broken/definition.py": "ONLY_SECONDARY = {}",
        "voc_broken/metrics.py": "import nothing_such",
        "voc_broken-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: voc-broken\nVersion: 1.0\n",
        "voc_broken-1.0.dist-info/entry_points.txt": "[vocboard.metrics]\nbroken = voc_broken\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    environment = os.environ | {"VOCBOARD_DATA_DIRECTORY": str(tmp_path), "VOCBOARD_EXTENSIONS": "voc-broken"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    make_tables(Settings(data_directory=tmp_path))
    program = [sys.executable, "-m", "vocboard.commands.main", "admin", "doctor"]
    done = subprocess.run(program, env=environment, check=False, capture_output=True, text=True)
    assert "Extension voc-broken 1.0 cannot be used: broken: ModuleNotFoundError" in done.stdout
