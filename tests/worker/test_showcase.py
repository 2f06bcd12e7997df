"""The showcase: drawings are made whenever images and results are there, from nothing but the results."""

import io
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from tests.support import jobs
from tests.support.archives import stored_path
from tests.support.backend import EDITION, Backend
from tests.support.factories import IMAGES, make_file, make_image_sets
from tests.support.services import EMBEDDED
from tests.test_architecture import TRUTH, imported_module, imports, is_truth_of_a_task, modules, within
from vocboard.app.challenges import files
from vocboard.app.challenges.models import Challenge, ChallengeFile, Detail, FileKind
from vocboard.app.evaluations.models import ShowcaseDrawing
from vocboard.app.intake.report import EnteredCompetition
from vocboard.app.jobs.models import Kind
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.results import Detections, Entry
from vocboard.evaluator.stored_results.stored_results import ResultsWriter
from vocboard.worker.work import work_next

# What is drawn does not depend on the set-up.
ON_ONE_SET_UP = pytest.mark.parametrize("set_up", [EMBEDDED], indirect=True)


def reached(module: str) -> set[str]:
    """Return all modules of ours that importing one runs, those of packages around them among them."""
    found, waiting = {module}, [module]
    while waiting:
        importing = waiting.pop()
        targets = {imported_module(each) for each in imports(importing)} if importing in modules() else set()
        targets |= {target.rsplit(".", count)[0] for target in targets for count in range(1, target.count(".") + 1)}
        waiting += targets - found
        found |= targets
    return found


@pytest.mark.parametrize("module", ["evaluator.showcase", "worker.stored_columns", "app.pages.showcase"])
def test_what_draws_cannot_import_what_reads_the_ground_truth(module: str) -> None:
    found = {one for one in reached(module) if within(one, *TRUTH) or is_truth_of_a_task(one)}
    assert found == set()


def test_the_job_that_draws_imports_no_ground_truth() -> None:
    found = {one for one in reached("worker.showcase") if within(one, *TRUTH) or is_truth_of_a_task(one)}
    assert found == set()
    named = {name for each in imports("worker.showcase") for name in (each.target, each.name)}
    assert not {name for name in named if "ground_truth_files" in name or "ground_truth_directory" in name}


def columns() -> bytes:
    """Return a car in the first image and two in the second, as stored columns of comp3."""
    file = io.BytesIO()
    writer = ResultsWriter(file.write, EDITION, make_image_sets(EDITION), limit=1_000_000)
    boxes = np.array([[10, 10, 109, 109], [20, 20, 50, 50], [1, 1, 5, 5]], dtype=np.float64)
    car = Detections(np.array([0, 1, 1], dtype=np.int32), np.array([0.5, 0.9, 0.1]), boxes)
    assert writer.finish({"comp3": Entry(EDITION.competitions["comp3"], ("car",), {"car": car})})
    return file.getvalue()


def submit(backend: Backend, challenge: Challenge, **given: Any) -> uuid.UUID:
    entries = (EnteredCompetition("comp3", ("car",)),)
    found = backend.submit(backend.user(), challenge, columns=columns(), entries=entries, **given)
    assert jobs.evaluate_next(backend.database, backend.store, backend.settings)
    assert backend.submission(found).state is State.SCORED
    return found


def add_image(backend: Backend, challenge: Challenge, name: str) -> None:
    with backend.database.writing() as session:
        given = {"kind": FileKind.SHOWCASE, "media_type": files.PICTURE_TYPE}
        make_file(session, challenge.id, name=f"{name}.webp", **given)


def draw(backend: Backend) -> int:
    """Sweep, and do what it finds to draw; return how many jobs there were."""
    jobs.sweep(backend.database, backend.settings)
    worker, number = jobs.process(backend.database, backend.store, backend.settings, Kind.SHOWCASE), 0
    while work_next(worker):
        number += 1
    return number


def drawing(backend: Backend, submission_id: uuid.UUID) -> Any:
    with backend.database.reading() as session:
        found = session.get(ShowcaseDrawing, submission_id)
        return None if found is None else found.content


ROW = {"class": "car", "confidence": 0.5, "box": [10.0, 10.0, 109.0, 109.0]}


def test_results_that_were_scored_before_are_drawn_on_late_images_once(backend: Backend) -> None:
    challenge = backend.challenge()
    submission_id = submit(backend, challenge)
    assert draw(backend) == 0
    add_image(backend, challenge, IMAGES[0])
    assert draw(backend) == 1
    assert drawing(backend, submission_id) == {"comp3": {IMAGES[0]: {"rows": [ROW], "size": [500, 375]}}}
    assert draw(backend) == 0
    add_image(backend, challenge, IMAGES[2])
    add_image(backend, challenge, "unknown")
    assert draw(backend) == 1
    found = drawing(backend, submission_id)["comp3"]
    assert list(found) == [IMAGES[0], IMAGES[2]]
    assert found[IMAGES[2]]["rows"] == []


def test_drawings_need_neither_the_ground_truth_nor_an_archive(backend: Backend) -> None:
    challenge = backend.challenge()
    submission_id = submit(backend, challenge)
    backend.truth_file.unlink()
    stored_path(backend.store, backend.submission(submission_id).archive_sha256).unlink()
    add_image(backend, challenge, IMAGES[0])
    assert draw(backend) == 1
    assert drawing(backend, submission_id)["comp3"][IMAGES[0]]["rows"] == [ROW]


@ON_ONE_SET_UP
@pytest.mark.parametrize("detail", Detail)
def test_detail_levels_do_not_matter(backend: Backend, detail: Detail) -> None:
    challenge = backend.challenge(detail=detail)
    submission_id = submit(backend, challenge)
    add_image(backend, challenge, IMAGES[0])
    draw(backend)
    assert drawing(backend, submission_id)["comp3"][IMAGES[0]]["rows"] == [ROW]


def withdraw(submission: Submission) -> None:
    submission.state = State.WITHDRAWN


def lose_columns(submission: Submission) -> None:
    submission.columns_sha256 = submission.archive_sha256 = "f" * 64


@ON_ONE_SET_UP
@pytest.mark.parametrize(("change", "expected"), [(withdraw, None), (lose_columns, {})])
def test_there_is_no_drawing_of_withdrawn_and_lost_results(
    backend: Backend, change: Callable[[Submission], None], expected: object
) -> None:
    challenge = backend.challenge()
    submission_id = submit(backend, challenge)
    add_image(backend, challenge, IMAGES[0])
    draw(backend)
    with backend.database.writing() as session:
        change(session.get_one(Submission, submission_id))
    add_image(backend, challenge, IMAGES[1])
    draw(backend)
    assert drawing(backend, submission_id) == expected
    assert draw(backend) == 0, "it is not tried again and again"


@ON_ONE_SET_UP
def test_without_images_nothing_is_kept(backend: Backend) -> None:
    challenge = backend.challenge()
    submission_id = submit(backend, challenge)
    add_image(backend, challenge, IMAGES[0])
    draw(backend)
    with backend.database.writing() as session:
        for file in session.scalars(select(ChallengeFile)):
            session.delete(file)
    draw(backend)
    assert drawing(backend, submission_id) is None
