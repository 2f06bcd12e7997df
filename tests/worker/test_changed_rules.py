"""Re-scores by a changed edition: what stays as it was, phases with ground truth of their own, and what has to wait."""

import io
import json
import uuid
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select

from tests.support.archives import edited
from tests.support.backend import Backend, make_archive, make_ground_truth
from tests.support.clock import Clock
from tests.support.factories import change_rules, make_image_sets, make_truth
from tests.support.other_server import Server, write_export
from tests.support.phases import complete, show_board
from tests.support.rescoring import administrator, apply, evaluate_all, request_apply, rescore, work
from vocboard.app.accounts.models import User
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.edition_versions import source_of_version
from vocboard.app.challenges.models import Challenge, Freeze, Scoring
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, InvalidArchiveError, InvalidInputError
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.evaluations.scorings import make_current, start_scoring
from vocboard.app.leaderboards.board import Board, Part
from vocboard.app.leaderboards.export import as_csv, as_latex
from vocboard.app.leaderboards.models import RescoreState
from vocboard.app.organising import phase_changes
from vocboard.app.participating import publishing
from vocboard.app.rescores import service
from vocboard.app.submissions.models import Submission
from vocboard.evaluator.editions import Edition, Task, for_image_set, source
from vocboard.evaluator.editions.loader import read_text
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.results import Confidences, Entry
from vocboard.evaluator.stored_results.stored_results import ResultsWriter
from vocboard.worker import ground_truth_files, stored_columns

DAY = timedelta(days=1)
FILE = source("VOC2012").replace('name = "VOC2012"', 'name = "Harbour"')
CHANGED = FILE.replace('interpolation = "area"', 'interpolation = "11-point"', 1).replace(
    'secondary = ["average_precision_with_difficult"]',
    'secondary = ["area_under_curve"]\nboard = ["area_under_curve"]',
    1,
)
EDITION = read_text(FILE, "harbour.toml")
CONFIDENCES = ((0.9, 0.8, 0.7), (0.1, 0.9, 0.8), (0.2, 0.9, 0.3))


def truth_of(edition: Edition) -> GroundTruth:
    """Return the ground truth of the backend's challenge, for another edition."""
    known = make_ground_truth().truths[Task.CLASSIFICATION, "test"]
    image_set = edition.competitions["comp1"].image_set
    return GroundTruth.of(make_image_sets(edition), {(Task.CLASSIFICATION, image_set): known}, {})


@pytest.fixture
def challenge(backend: Backend) -> Challenge:
    return backend.challenge(truth=truth_of(EDITION), edition="", edition_file=FILE, competitions=["comp1"])


def add_phase_with_own_truth(backend: Backend, challenge: Challenge) -> None:
    organiser, truth = administrator(backend), truth_of(for_image_set(EDITION, "val"))
    ground_truth_files.save(backend.settings, truth)
    with backend.database.writing() as session:
        found = complete(session, challenge.id)
        rules = PhaseRules(competitions=("comp1",), quota_count=100)
        phase_changes.add_phase(
            session,
            challenge=found,
            user=organiser,
            key="val",
            title="Validation",
            rules=rules,
            image_set="val",
        )
        version = make_truth(session, found, current=False)
        version.phase_id, version.sha256 = found.phase_row("val").id, truth.sha256
        session.flush()
        scoring = start_scoring(session, challenge=found, version=version)
        make_current(session, challenge=found, scoring=scoring, actor=None, phase_id=version.phase_id)


def submit(backend: Backend, challenge: Challenge, *, phase: str = "main", published: bool = True) -> list[uuid.UUID]:
    edition = EDITION if phase == "main" else for_image_set(EDITION, phase)
    user, ids = backend.user(), []
    for number, confidences in enumerate(CONFIDENCES):
        file = io.BytesIO()
        writer = ResultsWriter(file.write, edition, make_image_sets(edition), limit=1_000_000)
        content = {"car": Confidences(np.arange(3, dtype=np.int32), np.array(confidences))}
        assert writer.finish({"comp1": Entry(edition.competitions["comp1"], ("car",), content)})
        given: dict[str, Any] = {"columns": file.getvalue(), "archive": make_archive(confidences), "phase_key": phase}
        ids.append(backend.submit(user, challenge, method_name=f"Method {number}", **given))
    evaluate_all(backend, ids, user if published else None)
    return ids


def start(backend: Backend, challenge: Challenge, file: str = CHANGED) -> uuid.UUID:
    organiser = administrator(backend)
    with backend.database.writing() as session:
        return service.start(
            session,
            challenge=complete(session, challenge.id),
            user=organiser,
            reason="As in the text",
            edition_file=file,
        ).id


def board(backend: Backend, challenge: Challenge, *, phase: str = "main", part: Part = Part.COUNTING) -> Board:
    with backend.database.writing() as session:
        return show_board(session, challenge, "comp1", phase=phase, part=part)


def edition_versions(backend: Backend, submission_ids: list[uuid.UUID]) -> list[int]:
    """Return the edition version of each submission's current evaluation."""
    with backend.database.reading() as session:
        query = (
            select(Scoring.edition_version)
            .join(Evaluation, Evaluation.scoring_id == Scoring.id)
            .join(Submission, Submission.current_evaluation_id == Evaluation.id)
            .where(Submission.id.in_(submission_ids))
        )
        return list(session.scalars(query))


def test_all_phases_change_together_and_no_archive_is_read_again(
    backend: Backend, challenge: Challenge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_again(*_: object) -> None:
        raise AssertionError("the columns are as good as before")

    monkeypatch.setattr(stored_columns, "_read_again", read_again)
    add_phase_with_own_truth(backend, challenge)
    ids = submit(backend, challenge) + submit(backend, challenge, phase="val")
    before = {phase: board(backend, challenge, phase=phase) for phase in ("main", "val")}
    rescore_id = start(backend, challenge)
    work(backend)
    ready = rescore(backend, rescore_id)
    assert (ready.state, ready.report and ready.report["failures"]) == (RescoreState.READY, [])
    assert {phase: board(backend, challenge, phase=phase) for phase in before} == before
    apply(backend, rescore_id)
    assert edition_versions(backend, ids) == [2] * 6
    for phase, old in before.items():
        new = board(backend, challenge, phase=phase)
        assert [row.mean.value for row in new.rows] != [row.mean.value for row in old.rows]
        # The area, by which the leaderboard ranked before, is now beside it.
        assert sorted(row.others[0].value or 0 for row in new.rows) == sorted(row.mean.value or 0 for row in old.rows)
        assert [one.edition_version for one in new.corrections] == [2]
    again = submit(backend, challenge)
    assert edition_versions(backend, again) == [2] * 3
    with backend.database.reading() as session:
        found = complete(session, challenge.id)
        assert (found.edition_file, found.edition_version) == (CHANGED, 2)
        actions = set(session.scalars(select(AuditEvent.action)))
    assert {"rescore.start_edition", "rescore.apply", "rescore.applied_edition"} <= actions


def test_discarded_leaves_nothing(backend: Backend, challenge: Challenge) -> None:
    ids = submit(backend, challenge)
    before = board(backend, challenge)
    organiser, rescore_id = administrator(backend), start(backend, challenge)
    work(backend)
    with backend.database.writing() as session:
        service.discard(session, rescore_id=rescore_id, user=organiser)
    work(backend)
    assert board(backend, challenge) == before
    assert edition_versions(backend, ids) == [1] * 3
    with backend.database.reading() as session:
        found = complete(session, challenge.id)
        assert (found.edition_file, found.edition_version) == (FILE, 1)
    # The same file is the same version, whenever it is scored by.
    assert rescore(backend, start(backend, challenge)).edition_version == 2


def test_a_frozen_leaderboard_keeps_its_rules(backend: Backend, challenge: Challenge, clock: Clock) -> None:
    submit(backend, challenge)
    hidden, organiser = submit(backend, challenge, published=False), administrator(backend)
    with backend.database.writing() as session:
        change_rules(session, challenge, organiser, freeze=Freeze.DATE, freezes_at=now() + DAY)
    clock.advance(DAY + timedelta(minutes=1))
    before = board(backend, challenge)
    texts = as_csv(before), as_latex(before)
    rescore_id = start(backend, challenge)
    work(backend)
    with pytest.raises(ConflictError, match="still waits for results"):
        request_apply(backend, rescore_id)
    clock.advance(timedelta(hours=1))
    apply(backend, rescore_id)
    after = board(backend, challenge)
    assert after == before
    assert (as_csv(after), as_latex(after)) == texts
    with backend.database.writing() as session:
        owner = session.get_one(User, session.get_one(Submission, hidden[0]).user_id)
        publishing.publish(session, submission_id=hidden[0], user=owner)
    later = board(backend, challenge, part=Part.LATER)
    assert [metric.value for metric in later.others] == ["area_under_curve"]


def test_an_export_and_import_keep_all_versions(
    backend: Backend, challenge: Challenge, clock: Clock, other: Server, tmp_path: Path
) -> None:
    ids, organiser = submit(backend, challenge), administrator(backend)
    with backend.database.writing() as session:
        change_rules(session, challenge, organiser, freeze=Freeze.DATE, freezes_at=now() + DAY)
    clock.advance(2 * DAY)
    shown = as_csv(board(backend, challenge))
    apply(backend, start_and_work(backend, challenge))
    path = write_export(backend.database, backend.store, tmp_path / "out.tar", organiser, slug=challenge.slug)
    there = other.take(path)
    with other.database.writing() as session:
        brought = show_board(session, there, "comp1")
        assert brought.imported is not None
        assert as_csv(replace(brought, imported=None)) == shown  # by the former rules
        imported = complete(session, there.id)
        assert (imported.edition_file, imported.edition_version) == (CHANGED, 2)
        assert source_of_version(session, imported, 1) == FILE
        versions = select(Scoring.edition_version).join(Evaluation, Evaluation.scoring_id == Scoring.id)
        assert set(session.scalars(versions.where(Evaluation.submission_id.in_(ids)))) == {2}

    def forge(files: dict[str, bytes]) -> None:
        header = json.loads(files["challenge.json"])
        header["edition_file"] = header["edition_versions"][0]["file"]
        files["challenge.json"] = json.dumps(header).encode()

    with pytest.raises(InvalidArchiveError) as refused:
        other.take(edited(path, forge), slug="again")
    assert "edition_file" in refused.value.problems[0].message


def test_one_submission_is_not_given_a_result_by_former_rules(backend: Backend, challenge: Challenge) -> None:
    ids, organiser = submit(backend, challenge), administrator(backend)
    with backend.database.writing() as session:
        _, single = service.evaluate_again(session, submission_id=ids[0], user=organiser)
        assert single is not None
    work(backend)
    apply(backend, start_and_work(backend, challenge))
    request_apply(backend, single.id)
    work(backend)
    assert rescore(backend, single.id).state is RescoreState.FAILED
    assert edition_versions(backend, ids) == [2] * 3


def start_and_work(backend: Backend, challenge: Challenge) -> uuid.UUID:
    rescore_id = start(backend, challenge)
    work(backend)
    return rescore_id


def test_a_removed_competition_that_somebody_runs_is_refused_and_nothing_is_stored(
    backend: Backend, challenge: Challenge
) -> None:
    submit(backend, challenge)
    without = CHANGED.replace('number = 1\ntask = "classification"', 'number = 21\ntask = "classification"')
    narrower = without.replace("[tasks.classification]", "[tasks.classification]\nconfidence_range = [0, 1]")
    with pytest.raises(InvalidInputError) as refused:
        start(backend, challenge, f"{narrower}\n[limits]\ndetections_per_image = 5\n")
    assert [line.partition(",")[0] for line in refused.value.fields["edition_file"].split("\n")] == [
        "The limit detections_per_image falls from 10",
        "comp1 is missing",
        "comp1 is missing",
    ]
    with backend.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Scoring)) == 1
        assert complete(session, challenge.id).edition_version == 1
    built_in = backend.challenge()
    with pytest.raises(ConflictError, match="come with vocboard"):
        start(backend, built_in)
