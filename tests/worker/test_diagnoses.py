"""What the server stores and shows of errors is what `vocboard evaluate --diagnose --json` prints."""

import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from unittest.mock import Mock

import pytest
from sqlalchemy import select

from tests.support.backend import Backend
from tests.support.golden import golden, golden_truth
from tests.support.jobs import claim_next, diagnose_next, evaluate_next, let_leases_end, sweep
from tests.support.phases import main_phase, main_truth
from tests.support.rescoring import add_corrected_truth, administrator, start_rescore, submit_scored, work
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge, Detail
from vocboard.app.errors import ConflictError
from vocboard.app.evaluations import diagnosis_shares, diagnosis_tasks, exact_copies
from vocboard.app.evaluations.diagnosis_failures import DiagnosisFailure
from vocboard.app.evaluations.diagnosis_tasks import UnknownDiagnoses
from vocboard.app.evaluations.models import (
    CompetitionResult,
    DiagnosisShares,
    PublicCurve,
    PublicDiagnosis,
    SecretDiagnosis,
)
from vocboard.app.evaluations.results import visible_evaluation
from vocboard.app.evaluations.visible import DiagnosisState, VisibleDiagnosis
from vocboard.app.intake.report import EnteredCompetition
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.leaderboards import statistics_states
from vocboard.app.organising import moderation
from vocboard.app.participating import withdrawing as submissions
from vocboard.app.rescores import service as rescores
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import Submission
from vocboard.evaluator.diagnosis.report import diagnosis
from vocboard.evaluator.diagnosis.summary import summarise
from vocboard.evaluator.editions import load
from vocboard.evaluator.evaluation import read_for_scoring
from vocboard.evaluator.statistics.collect import collect_evidence
from vocboard.worker import diagnoses, ground_truth_files
from vocboard.worker.ground_truth_directory import PRIVATE_KEY_FILE, GroundTruthDirectory

GOLDEN, EDITION = "voc2012-synthetic", load("VOC2012")
OFFLINE_ONLY = {"measures", "mean_over_overlaps"}


def test_diagnoses_of_all_tasks_are_those_of_the_command_line(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis_shares, "MIN_IMAGES", 1)  # the test set has fewer images than shares need
    truth = golden_truth(GOLDEN)
    read, confusions = read_for_scoring(golden(GOLDEN).results, EDITION, truth, with_boundaries=True)
    evidence = collect_evidence(read.results, EDITION, truth, confusions)
    offline = json.loads(json.dumps(diagnosis(read.results, EDITION, truth, evidence, confusions=confusions)))
    for found in offline.values():
        for name in OFFLINE_ONLY & set(found):
            del found[name]

    challenge = backend.challenge(truth=truth, competitions=list(read.results), detail=Detail.EVERYTHING)
    user = backend.user()
    submission_id = backend.submit(
        user,
        challenge,
        archive=golden(GOLDEN).results.read_bytes(),
        entries=tuple(EnteredCompetition(key, entry.classes) for key, entry in read.results.items()),
        declarations={"training_annotation": "segmentation_only"},
    )
    assert evaluate_next(backend.database, backend.store, backend.settings)
    assert diagnose_next(backend.database, backend.store, backend.settings)
    assert not diagnose_next(backend.database, backend.store, backend.settings)

    with backend.database.reading() as session:
        submission = queries.get_for(session, submission_id, user)
        seen = visible_evaluation(session, submission, queries.access_of(session, submission, user))
        assert seen is not None
        stored = {
            key: (exact, shares)
            for key, exact, shares in session.execute(
                select(CompetitionResult.competition, SecretDiagnosis.content, DiagnosisShares.shares)
                .join(SecretDiagnosis, SecretDiagnosis.result_id == CompetitionResult.id)
                .join(DiagnosisShares, DiagnosisShares.result_id == CompetitionResult.id)
            )
        }
    assert {key: exact for key, (exact, _) in stored.items()} == offline
    for result in seen.results:
        key, entry = result.competition, read.results[result.competition]
        part = entry.competition.task, entry.competition.image_set
        counts, public = confusions.counts(entry.competition), truth.image_sets.sets[part]
        sums = summarise(entry, truth.truths[part], EDITION, public, counts).by_image
        release = f"{truth.sha256} {challenge.id} 1 {submission.archive_sha256} {key}"  # the first version of the rules
        noise_key = GroundTruthDirectory(backend.settings).noise_key()
        assert stored[key][1] == diagnosis_shares.diagnosis_shares(sums, key=noise_key, release=release)
        assert result.diagnosis.shares == stored[key][1]
        assert result.diagnosis.exact == offline[key]

    with backend.database.writing() as session:
        main_phase(session, challenge.id).detail = Detail.CURVES
    sweep(backend.database, backend.settings)
    with backend.database.reading() as session:
        assert session.scalars(select(PublicDiagnosis)).all() == []


@pytest.mark.full
def test_the_sweep_and_a_job_may_copy_the_exact_curves_of_one_result_at_once(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 1)
    with backend.database.writing() as session:
        main_phase(session, challenge.id).detail = Detail.EVERYTHING

    def copy(pause: float = 0.0) -> None:
        with backend.database.writing() as session:
            exact_copies.synchronise(session)
            time.sleep(pause)

    with ThreadPoolExecutor() as threads:
        first = threads.submit(copy, pause=0.5)
        time.sleep(0.2)
        threads.submit(copy).result()
        first.result()
    with backend.database.reading() as session:
        assert session.scalars(select(PublicCurve)).all() != []


def diagnose_all(backend: Backend) -> int:
    done = 0
    while diagnose_next(backend.database, backend.store, backend.settings):
        done += 1
    return done


def seen_by(backend: Backend, user: User, submission_id: uuid.UUID) -> VisibleDiagnosis:
    with backend.database.reading() as session:
        submission = queries.get_for(session, submission_id, user)
        seen = visible_evaluation(session, submission, queries.access_of(session, submission, user))
    assert seen.results[0].diagnosis is not None
    return seen.results[0].diagnosis


def test_a_failed_diagnosis_says_why_and_is_tried_again_when_an_organiser_asks(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, challenge, admin = backend.user(), backend.challenge(statistics=False), administrator(backend)
    submission_id = backend.submit(user, challenge)
    assert evaluate_next(backend.database, backend.store, backend.settings)
    assert seen_by(backend, user, submission_id).state is DiagnosisState.WAITING
    away = backend.truth_file.rename(backend.truth_file.with_suffix(".away"))
    for wait in range(2 * backend.settings.evaluation_attempts):  # it waits for what cannot be read, however often
        if wait == backend.settings.evaluation_attempts:
            backend.truth_file.mkdir()
            ground_truth_files.read.cache_clear()
        assert diagnose_all(backend) == 1
        assert seen_by(backend, user, submission_id).state is DiagnosisState.WAITING
        let_leases_end(backend.database)
    backend.truth_file.rmdir()
    away.rename(backend.truth_file)
    GroundTruthDirectory(backend.settings).private_key()
    key = backend.settings.truth / PRIVATE_KEY_FILE
    away = key.rename(key.with_suffix(".away"))
    assert diagnose_all(backend) == 1
    assert seen_by(backend, user, submission_id).state is DiagnosisState.WAITING
    let_leases_end(backend.database)
    away.rename(key)
    with backend.database.writing() as session:
        version = main_truth(session, challenge)
        assert version is not None
        here = session.merge(version).sha256
        session.merge(version).sha256 = "0" * 64  # the results were scored with another one, elsewhere
    assert diagnose_all(backend) == 1
    found = seen_by(backend, user, submission_id)
    assert (found.state, found.failure) == (DiagnosisState.FAILED, DiagnosisFailure.NO_GROUND_TRUTH)

    def ask() -> None:
        with backend.database.writing() as session:
            organised = session.get_one(Challenge, challenge.id)
            statistics_states.request_computation(session, challenge=organised, user=admin)
        with backend.database.reading() as session:
            assert diagnosis_tasks.unknown(session, challenge.id) == UnknownDiagnoses(1, {})
        assert seen_by(backend, user, submission_id).state is DiagnosisState.WAITING

    ask()
    with backend.database.writing() as session:
        session.merge(version).sha256 = here
    with monkeypatch.context() as patched:
        patched.setattr(diagnoses.columns, "diagnose", Mock(side_effect=RuntimeError("image 000123 has no car")))
        assert diagnose_all(backend) == 1
    with backend.database.reading() as session:
        assert diagnosis_tasks.unknown(session, challenge.id) == UnknownDiagnoses(0, {DiagnosisFailure.ERROR: 1})
        detail = session.scalars(select(Job.detail).where(Job.kind == Kind.DIAGNOSIS)).one() or ""
    assert "RuntimeError" in detail
    assert "000123" not in detail
    ask()
    assert diagnose_all(backend) == 1
    assert seen_by(backend, user, submission_id).state is DiagnosisState.KNOWN
    with pytest.raises(ConflictError):
        ask()


def test_a_worker_that_dies_again_and_again_leaves_a_reason_and_can_be_asked_again(backend: Backend) -> None:
    user, challenge = backend.user(), backend.challenge()
    submission_id = backend.submit(user, challenge)
    assert evaluate_next(backend.database, backend.store, backend.settings)
    for _ in range(backend.settings.evaluation_attempts):
        assert claim_next(backend.database, Kind.DIAGNOSIS, lease=timedelta(0)) is not None
    assert diagnose_all(backend) == 1
    assert seen_by(backend, user, submission_id).failure is DiagnosisFailure.INTERRUPTED
    admin = administrator(backend)
    with backend.database.writing() as session:
        organised = session.get_one(Challenge, challenge.id)
        statistics_states.request_computation(session, challenge=organised, user=admin)
    assert diagnose_all(backend) == 1
    assert seen_by(backend, user, submission_id).state is DiagnosisState.KNOWN


def test_a_failed_diagnosis_of_a_submission_that_is_evaluated_again_is_tried_once_more(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, challenge, admin = backend.user(), backend.challenge(), administrator(backend)
    submission_id = backend.submit(user, challenge)
    for is_first in (True, False):
        assert evaluate_next(backend.database, backend.store, backend.settings)
        with backend.database.writing() as session:
            organised = session.get_one(Challenge, challenge.id)
            statistics_states.request_computation(session, challenge=organised, user=admin)
        with monkeypatch.context() as patched:
            if is_first:
                patched.setattr(diagnoses.columns, "diagnose", Mock(side_effect=RuntimeError))
            assert diagnose_all(backend) == 1
        with backend.database.writing() as session:
            failed = {DiagnosisFailure.ERROR: 1} if is_first else {}
            assert diagnosis_tasks.unknown(session, challenge.id) == UnknownDiagnoses(0, failed)
            if is_first:
                moderation.fail(session, submission_id=submission_id, user=admin, reason="A broken disk.")
                rescores.evaluate_again(session, submission_id=submission_id, user=admin)


def test_what_no_longer_counts_is_not_diagnosed(backend: Backend) -> None:
    challenge, admin = backend.challenge(), administrator(backend)
    ids = submit_scored(backend, challenge, 3)
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    work(backend)
    withdraw(backend, ids[0])
    assert diagnose_all(backend) == 3  # those of a re-score do not count yet
    with backend.database.writing() as session:
        assert len(session.scalars(select(DiagnosisShares)).all()) == 2
        rescores.discard(session, rescore_id=rescore_id, user=admin)
    assert diagnose_all(backend) == 0


def withdraw(backend: Backend, submission_id: uuid.UUID) -> None:
    with backend.database.writing() as session:
        submission = session.get_one(Submission, submission_id)
        owner = session.get_one(User, submission.user_id)
        submissions.withdraw(session, submission_id=submission_id, user=owner)
