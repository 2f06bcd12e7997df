"""Workers score columns and open no archive; columns that are of no use are read again by a confined process."""

import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.archives import stored_path
from tests.support.backend import ROOT, Backend, make_archive, make_columns, make_ground_truth
from tests.support.jobs import evaluate_next
from vocboard.app.evaluations import queries as evaluations
from vocboard.app.intake.fork_server import ForkServerError
from vocboard.app.intake.reading import ReadingProcess, reading_server
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.worker import ground_truth_files, stored_columns

WRONG = (0.1, 0.9, 0.2)  # the image without a car comes first
AVERAGE_PRECISION = {True: 1.0, False: 2 / 3}  # of the right order, and of the wrong one


def score_of(backend: Backend, submission_id: uuid.UUID) -> float | None:
    with backend.database.reading() as session:
        found = evaluations.current(session, session.get_one(Submission, submission_id))
        return found.results[0].measures[0].mean


def evaluated(backend: Backend, submission_id: uuid.UUID) -> float | None:
    assert evaluate_next(backend.database, backend.store, backend.settings)
    submission = backend.submission(submission_id)
    assert submission.state is State.SCORED, submission.failure_detail
    return score_of(backend, submission_id)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[ReadingProcess]:
    """Give a list that grows with every process that reads an archive again, each forked from a server of its own."""
    found: list[ReadingProcess] = []

    class Counted(ReadingProcess):
        def ask(self, *given: Any, **named: Any) -> Any:
            found.append(self)
            return super().ask(*given, **named)

    monkeypatch.setattr(stored_columns, "ReadingProcess", Counted)
    monkeypatch.setattr(stored_columns, "reading_server", reading_server)
    return found


def test_scores_columns_without_the_archive(backend: Backend, started: list[ReadingProcess]) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge(), columns=make_columns())
    stored_path(backend.store, backend.submission(submission_id).archive_sha256).unlink()
    assert evaluated(backend, submission_id) == 1.0
    assert started == []


def remove(backend: Backend, submission: Submission) -> None:
    assert submission.columns_sha256 is not None
    stored_path(backend.store, submission.columns_sha256).unlink()


def damage(backend: Backend, submission: Submission) -> None:
    assert submission.columns_sha256 is not None
    path = stored_path(backend.store, submission.columns_sha256)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def date_back(backend: Backend, submission: Submission) -> None:
    with backend.database.writing() as session:
        session.get_one(Submission, submission.id).columns_reader = 0


@pytest.mark.parametrize("make_useless", [remove, damage, date_back])
def test_reads_the_archive_again_where_columns_are_of_no_use(
    backend: Backend, started: list[ReadingProcess], make_useless: Callable[[Backend, Submission], None]
) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge(), columns=make_columns())
    make_useless(backend, backend.submission(submission_id))
    assert evaluated(backend, submission_id) == 1.0
    [process] = started
    with pytest.raises(ForkServerError):
        process._server.start()  # it was closed


def test_files_of_others_are_not_scored_for_a_submission_that_was_imported_without_its_archive(
    backend: Backend,
) -> None:
    submission_id = backend.submit(
        backend.user(),
        backend.challenge(),
        archive=make_archive((0.9, 0.1, 0.8)),
        columns=make_columns((0.9, 0.1, 0.8)),
    )
    with backend.database.writing() as session:
        session.get_one(Submission, submission_id).has_archive = False
    assert evaluate_next(backend.database, backend.store, backend.settings)
    submission = backend.submission(submission_id)
    assert submission.state is State.FAILED
    assert "was not imported" in (submission.failure_detail or "")


@pytest.mark.parametrize("columns", [make_columns(first_item=1), make_columns(first_item=-1), b"no columns"])
def test_columns_that_no_reader_makes_are_not_scored(
    backend: Backend, started: list[ReadingProcess], columns: bytes
) -> None:
    submission_id = backend.submit(backend.user(), backend.challenge(), columns=columns)
    assert evaluated(backend, submission_id) == 1.0
    assert len(started) == 1


def test_columns_read_against_other_image_sets_are_not_scored(backend: Backend, started: list[ReadingProcess]) -> None:
    """Ground truth that lists the same images in another order: an index means another image."""
    submission_id = backend.submit(backend.user(), backend.challenge(), columns=make_columns())
    truth = make_ground_truth()
    turned = {
        key: ImageSet(each.images[::-1], None if each.sizes is None else each.sizes[::-1].copy(), each.persons)
        for key, each in truth.image_sets.sets.items()
    }
    other = GroundTruth(truth.edition, ImageSets(truth.edition, turned), truth.truths, {}, truth.sha256)
    other.save(ground_truth_files.path_of(backend.settings, truth.sha256))
    ground_truth_files.read.cache_clear()
    assert evaluated(backend, submission_id) == 1.0
    assert len(started) == 1


PARSERS = (
    "vocboard.evaluator.reading",
    "vocboard.evaluator.archives",
    "vocboard.evaluator.result_files",
    "vocboard.evaluator.annotations",
    "vocboard.evaluator.tasks.segmentation.png",
    "vocboard.evaluator.tasks.layout.reader",
    "vocboard.evaluator.tasks.instance_segmentation.rle",
    "PIL",
    "lxml",
    "pyarrow.csv",
    "tarfile",
)
EVALUATE = """
import sys
from vocboard.app.settings import Settings
from vocboard.worker.celery_app import create_worker
from vocboard.app.messaging.broker import WORK
application = create_worker(Settings())
for _ in range(2):  # each evaluates one at least, if one waits
    application.tasks[WORK]()
print("\\n".join(sys.modules))
"""


def test_no_parser_of_result_files_is_imported_where_the_truth_is(backend: Backend) -> None:
    """In a process that has scored submissions, as the worker's processes do: from columns, and from an archive."""
    user, challenge = backend.user(), backend.challenge()
    submitted = [backend.submit(user, challenge, has_columns=has_columns) for has_columns in (True, False)]
    done = subprocess.run(
        [sys.executable, "-c", EVALUATE],
        cwd=ROOT,
        env={
            **os.environ,
            "VOCBOARD_DATA_DIRECTORY": str(backend.settings.data_directory),
            "VOCBOARD_DATABASE_URL": backend.settings.database_url,
            "VOCBOARD_BROKER_URL": backend.settings.broker_url,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    scored = [backend.submission(each) for each in submitted]
    assert [(one.state, one.columns_sha256 is None) for one in scored] == [(State.SCORED, False), (State.SCORED, True)]
    modules = done.stdout.split()
    assert "vocboard.evaluator.scoring" in modules
    found = [name for name in modules if any(name == parser or name.startswith(f"{parser}.") for parser in PARSERS)]
    assert found == []
    assert [name for name in modules if name.startswith("vocboard.") and name.endswith(".format")] == []
