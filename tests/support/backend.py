"""The backend of an installation under test: database, archives, and real workers as child processes.

`backend` is on both set-ups in turn. Its challenge has three images and can be scored in classification (comp1) and
detection (comp3).
"""

import contextlib
import io
import os
import signal
import sqlite3
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import make_url, text

from tests.support import forked
from tests.support.factories import IMAGES, make_challenge, make_image_sets, make_user
from tests.support.forked import Forked
from tests.support.small_world import packed
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.queries import truth_of_scoring
from vocboard.app.database import Database
from vocboard.app.intake import submitting
from vocboard.app.intake.report import EnteredCompetition, Report
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.stores import archive_store
from vocboard.app.submissions.forms import SubmissionForm
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.ground_truth import DetectionTruth, GroundTruth, Key, Labels, LabelTruth, Truth
from vocboard.evaluator.results import Confidences, Entry
from vocboard.evaluator.stored_results.stored_results import ResultsWriter
from vocboard.worker import ground_truth_files

EDITION = load("VOC2012")
CAR = EDITION.classes.index("car")
SECONDS_TO_WAIT = 90.0
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Backend:
    """What the web process and the workers share."""

    settings: Settings
    database: Database
    store: ArchiveStore

    @property
    def truth_file(self) -> Path:
        """Where workers read the ground truth of `challenge`."""
        return ground_truth_files.path_of(self.settings, make_ground_truth().sha256)

    def challenge(self, *, truth: GroundTruth | None = None, **given: Any) -> Challenge:
        """Make a challenge that can be scored; by default with a quota that no test reaches.

        Args:
            truth: its ground truth; by default that of `make_ground_truth`.
        """
        truth = truth or make_ground_truth()
        self.truth_file.parent.mkdir(exist_ok=True)
        ground_truth_files.save(self.settings, truth)
        with self.database.writing() as session:
            challenge = make_challenge(session, **{"quota_count": 1000, **given})
            version = truth_of_scoring(session, challenge.main_phase.current_scoring_id)
            assert version is not None
            version.sha256 = truth.sha256
        return challenge

    def user(self, **given: Any) -> User:
        """Make a participant."""
        with self.database.writing() as session:
            return make_user(session, **given)

    def submit(
        self,
        user: User,
        challenge: Challenge,
        *,
        archive: bytes | None = None,
        columns: bytes | None = None,
        has_columns: bool = True,
        entries: tuple[EnteredCompetition, ...] = (EnteredCompetition("comp1", ("car",)),),
        report: Report | None = None,
        phase_key: str | None = None,
        is_rehearsal: bool = False,
        began_at: datetime | None = None,
        **given: Any,
    ) -> uuid.UUID:
        """Queue a submission, by default to comp1 with confidences in the right order, without notifying workers.

        Args:
            archive: its content.
            columns: those that were read from it; by default those of the default archive, and none of another.
            has_columns: False if none were stored, so that the worker has the archive read.
            report: of its check; by default a valid one of the entries.
            given: fields of the form.
        """
        if archive is None and columns is None and has_columns:
            columns = make_columns()
        with self.store.receive(limit=1_000_000) as incoming, self.store.receive(limit=1_000_000) as read:
            incoming.write(make_archive() if archive is None else archive)
            incoming.finish()
            read.write(columns or b"")
            with self.database.writing() as session:
                return submitting.submit(
                    session,
                    user=user,
                    challenge=challenge,
                    form=SubmissionForm(**{"method_name": "Method", **given}),
                    archive=incoming,
                    report=report or Report((), entries, has_columns=columns is not None),
                    columns=read,
                    phase_key=phase_key,
                    is_rehearsal=is_rehearsal,
                    began_at=began_at,
                ).id

    def submission(self, submission_id: uuid.UUID) -> Submission:
        """Read a submission's row as it is now."""
        with self.database.reading() as session:
            return session.get_one(Submission, submission_id)

    def wait_for(self, submission_id: uuid.UUID, state: State) -> Submission:
        """Wait until a submission is in a state."""
        wait_until(lambda: self.submission(submission_id).state is state, lambda: self._seen(submission_id))
        return self.submission(submission_id)

    @contextlib.contextmanager
    def running(self, *command: str, **settings: object) -> Iterator[Forked]:
        """Run a command in a process group of its own until the block ends, then kill what is left of it.

        Args:
            command: such as `worker`.
            settings: those that are this process's alone, by the names of `Settings`.
        """
        environment = {
            "data_directory": self.settings.data_directory,
            "database_url": self.settings.database_url,
            "broker_url": self.settings.broker_url,
            "lease": "PT1S",
            "poll_interval": "PT0.2S",
            "sweep_interval": "PT0.5S",
            "worker_processes": 1,
            **settings,
        }
        log = self.settings.data_directory / f"{command[0]}-{uuid.uuid4()}.log"
        with log.open("wb") as output:
            own = {f"VOCBOARD_{name.upper()}": str(value) for name, value in environment.items()}
            process = forked.start(command, environment=os.environ | own, output=output)
        try:
            yield process
        except BaseException:
            print(log.read_text(errors="replace"))  # pytest shows it with the failure
            raise
        finally:
            kill_group(process)

    def pause(self, worker: Forked) -> None:
        """Stop a worker's processes with SIGSTOP, while they have no transaction open that others would wait for."""

        def is_paused() -> bool:
            os.killpg(worker.pid, signal.SIGSTOP)
            if not self._is_in_transaction():
                return True
            os.killpg(worker.pid, signal.SIGCONT)
            return False

        wait_until(is_paused)

    def _is_in_transaction(self) -> bool:
        """Whether another process has a transaction open; on SQLite, one that writes."""
        if self.database.is_sqlite:
            url = make_url(self.settings.database)
            with contextlib.closing(
                sqlite3.connect(str(url.database), timeout=0.1, isolation_level=None)
            ) as connection:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError:
                    return True
            return False
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state != 'idle'"
        with self.database.reading() as session:
            return bool(session.scalar(text(f"{query} AND pid != pg_backend_pid()")))

    def _seen(self, submission_id: uuid.UUID) -> str:
        row = self.submission(submission_id)
        return f"{row.state}; {row.failure_detail}"


@pytest.fixture
def backend(database_url: str, broker_url: str, tmp_path: Path) -> Iterator[Backend]:
    """Give a fresh database, broker and archives of the set-up."""
    settings = Settings(
        data_directory=tmp_path / "data", database_url=database_url, broker_url=broker_url, lease=timedelta(seconds=1)
    )
    settings.archives.mkdir(parents=True)
    database = Database(settings.database)
    store = archive_store(settings)
    store.set_up()
    yield Backend(settings, database, store)
    database.close()


def make_ground_truth() -> GroundTruth:
    """Make ground truth with a car in the first and the last of three images."""
    items = np.arange(len(IMAGES), dtype=np.int32)
    absent = Labels(items, np.array([-1, -1, -1], dtype=np.int8))
    present = Labels(items, np.array([1, -1, 1], dtype=np.int8))
    boxes = DetectionTruth(
        image=np.array([0, 2], dtype=np.int32),
        class_index=np.array([CAR, CAR], dtype=np.int16),
        box=np.array([[10, 10, 109, 109], [10, 10, 109, 109]], dtype=np.float64),
        difficult=np.array([False, False]),
    )
    labels = LabelTruth({name: present if name == "car" else absent for name in EDITION.classes})
    truths: dict[Key, Truth] = {(Task.CLASSIFICATION, "test"): labels, (Task.DETECTION, "test"): boxes}
    return GroundTruth.of(make_image_sets(EDITION), truths, {})


def make_archive(confidences: tuple[float, ...] = (0.9, 0.1, 0.8)) -> bytes:
    """Make a tar of car's classification results: by default both images with a car come first."""
    content = "".join(f"{image} {score}\n" for image, score in zip(IMAGES, confidences, strict=True)).encode()
    return packed([("results/VOC2012/Main/comp1_cls_test_car.txt", content)], mode="w")


def make_columns(confidences: tuple[float, ...] = (0.9, 0.1, 0.8), *, first_item: int = 0) -> bytes:
    """Make the columns of `make_archive`; with another first item, of images that may not be there."""
    file = io.BytesIO()
    writer = ResultsWriter(file.write, EDITION, make_image_sets(EDITION), limit=1_000_000)
    items = np.arange(first_item, first_item + len(confidences), dtype=np.int32)
    content = {"car": Confidences(items, np.array(confidences, dtype=np.float64))}
    assert writer.finish({"comp1": Entry(EDITION.competitions["comp1"], ("car",), content)})
    return file.getvalue()


def wait_until(condition: Callable[[], object], explain: Callable[[], str] = str) -> None:
    """Wait for a condition; fail, with an explanation, if it does not come true."""
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while not condition():
        assert time.monotonic() < deadline, f"waited {SECONDS_TO_WAIT:.0f} s in vain: {explain()}"
        time.sleep(0.05)


def kill_group(process: subprocess.Popen[bytes] | Forked) -> None:
    """Kill a worker with SIGKILL, its children included."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
