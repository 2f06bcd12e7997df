"""The wheel with what `pip install "vocboard[server]"` finds today, without the lock: every service runs with it."""

import subprocess
import time
import venv
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.image import PIP, build_wheel
from tests.support.installation import installed
from tests.support.mail import mail_server
from tests.support.processes import skip_or_fail
from tests.support.services import in_full, needed
from vocboard.app.database import Database
from vocboard.app.messaging import outbox
from vocboard.app.messaging.broker import WORK

pytestmark = pytest.mark.services
SETTINGS = {"VOCBOARD_SWEEP_INTERVAL": "PT1S", "VOCBOARD_POLL_INTERVAL": "PT600S"}  # so that only wake-ups cause sweeps
SECONDS_TO_WAIT = 60.0


def install(directory: Path) -> Path:
    """Install the wheel and its newest packages into a new environment; return the directory of its programs."""
    directory.mkdir()
    wheel = build_wheel(directory)
    environment = directory / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    pip = [*PIP, "--python", str(environment / "bin" / "python"), "install"]
    probe = subprocess.run([*pip, "--dry-run", "--no-deps", "celery"], capture_output=True, text=True, check=False)
    if probe.returncode:
        skip_or_fail(f"the package registry cannot be reached: {probe.stderr.strip().splitlines()[-1]}")
    subprocess.run([*pip, f"{wheel}[server]"], check=True, cwd=directory)
    return environment / "bin"


def test_runs_web_worker_beat_and_mail(tmp_path: Path) -> None:
    programs, data = install(tmp_path / "wheel"), tmp_path / "data"
    data.mkdir()
    with (
        mail_server(tmp_path / "received") as mail,
        needed(installed(data, faster=SETTINGS, mail=mail.url, programs=programs)) as installation,
    ):
        with closing(Database(in_full(installation.admin_url))) as database, database.writing() as session:
            outbox.put(session, to="ada@lab.example", template="approved", site="https://voc.example.org")

        def is_working() -> bool:
            # A turn is two lines. When it starts, the worker takes some by itself. Later, only sweeps are due.
            return installation.log("worker").count(f"Task {WORK}[") >= 12 and bool(mail.messages())

        deadline = time.monotonic() + SECONDS_TO_WAIT
        while not is_working() and time.monotonic() < deadline:
            time.sleep(0.2)
        logs = "".join(installation.log(name) for name in ("web", "worker", "beat", "mail"))
        assert is_working(), logs
        assert "Traceback" not in logs
        assert "not receiving wake-ups" not in logs
        for service, health in (("worker", ["worker"]), ("beat", ["beat"]), ("mail", ["worker", "--only", "mail"])):
            environment = dict(installation.environments[service])
            subprocess.run([str(programs / "vocboard"), "health", *health], env=environment, check=True)
