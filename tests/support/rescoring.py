"""Challenges whose ground truth has been corrected, on `backend`."""

import itertools
import uuid

import numpy as np
from sqlalchemy import select

from tests.support.backend import EDITION, Backend, make_archive, make_columns, make_ground_truth
from tests.support.factories import IMAGES, make_image_sets, make_truth
from tests.support.jobs import evaluate_next, rescore_next
from tests.support.phases import complete, show_board
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges.models import Challenge, GroundTruthVersion
from vocboard.app.leaderboards.board import Board
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.participating import publishing
from vocboard.app.rescores import service
from vocboard.app.rescores.summaries import summarise
from vocboard.evaluator.editions import Task
from vocboard.evaluator.ground_truth import GroundTruth, Key, Labels, LabelTruth, Truth
from vocboard.worker import ground_truth_files

_confidences = itertools.cycle(itertools.permutations((0.9, 0.5, 0.1)))


def make_corrected_truth() -> GroundTruth:
    """Make ground truth with a car in the middle image alone, where `make_ground_truth` has it in the others."""
    items = np.arange(len(IMAGES), dtype=np.int32)
    absent = Labels(items, np.array([-1, -1, -1], dtype=np.int8))
    present = Labels(items, np.array([-1, 1, -1], dtype=np.int8))
    labels = LabelTruth({name: present if name == "car" else absent for name in EDITION.classes})
    boxes = make_ground_truth().truths[Task.DETECTION, "test"]
    truths: dict[Key, Truth] = {(Task.CLASSIFICATION, "test"): labels, (Task.DETECTION, "test"): boxes}
    return GroundTruth.of(make_image_sets(EDITION), truths, {})


def add_corrected_truth(backend: Backend, challenge: Challenge) -> GroundTruthVersion:
    """Add the version that `make_corrected_truth` makes, as the worker leaves it once it is imported."""
    truth = make_corrected_truth()
    ground_truth_files.save(backend.settings, truth)
    with backend.database.writing() as session:
        version = make_truth(session, complete(session, challenge.id), current=False)
        version.sha256 = truth.sha256
    return version


def board(backend: Backend, challenge: Challenge) -> Board:
    """Return the leaderboard of comp1 as it is shown now."""
    with backend.database.snapshot() as session:
        return show_board(session, challenge, "comp1")


def submit_scored(backend: Backend, challenge: Challenge, count: int, *, published: bool = True) -> list[uuid.UUID]:
    """Make submissions with confidences in different orders, all scored, each a method of its own."""
    user = backend.user()
    ids = []
    for number, confidences in zip(range(count), _confidences, strict=False):
        columns, archive = make_columns(confidences), make_archive(confidences)
        ids.append(backend.submit(user, challenge, columns=columns, archive=archive, method_name=f"Method {number:03}"))
    evaluate_all(backend, ids, user if published else None)
    return ids


def evaluate_all(backend: Backend, ids: list[uuid.UUID], publisher: User | None) -> None:
    """Evaluate all that waits, and publish these if it is said as whom."""
    while evaluate_next(backend.database, backend.store, backend.settings):
        pass
    if publisher is not None:
        with backend.database.writing() as session:
            for submission_id in ids:
                publishing.publish(session, submission_id=submission_id, user=publisher)


def start_rescore(backend: Backend, challenge: Challenge, version: GroundTruthVersion) -> uuid.UUID:
    """Start a re-score, as an organiser."""
    user = administrator(backend)
    with backend.database.writing() as session:
        organised = complete(session, challenge.id)
        reason, number = "Labels corrected", version.number
        return service.start(session, challenge=organised, user=user, ground_truth_version=number, reason=reason).id


def work(backend: Backend) -> None:
    """Do all that re-scores wait for, in this process."""
    while rescore_next(backend.database, backend.store, backend.settings):
        pass


def rescore(backend: Backend, rescore_id: uuid.UUID) -> Rescore:
    """Read a re-score's row as it is now, with its report."""
    with backend.database.snapshot() as session:
        found = session.get_one(Rescore, rescore_id)
        assert found.report_summary == (None if found.report is None else summarise(found.report))
        return found


def request_apply(backend: Backend, rescore_id: uuid.UUID, *, confirm: str | None = None) -> None:
    """Ask for a re-score to be applied, as an organiser, confirmed by the challenge's short name if needed."""
    user = administrator(backend)
    with backend.database.writing() as session:
        service.request_apply(session, rescore_id=rescore_id, user=user, confirm=confirm)


def apply(backend: Backend, rescore_id: uuid.UUID, *, confirm: str | None = None) -> None:
    """Apply a re-score, in this process."""
    request_apply(backend, rescore_id, confirm=confirm)
    work(backend)
    assert rescore(backend, rescore_id).state is RescoreState.APPLIED


def administrator(backend: Backend) -> User:
    """Return the server's administrator, who organises everything."""
    with backend.database.reading() as session:
        known = session.scalar(select(User).where(User.role == Role.ADMINISTRATOR))
    return known or backend.user(role=Role.ADMINISTRATOR)
