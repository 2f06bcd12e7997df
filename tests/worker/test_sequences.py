"""Across methods: what organisers see is what a fresh offline computation gives, and never of other submissions."""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select, update

from tests.support.backend import Backend
from tests.support.golden import golden_truth
from tests.support.jobs import claim_next, compare_next, sweep
from tests.support.phases import complete, phase_of
from tests.support.rescoring import administrator, apply, work
from tests.worker.test_statistics import EDITION, GOLDEN, rounded_ends, submit_golden, update_all, withdraw
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.jobs.models import Kind
from vocboard.app.leaderboards.across_methods import AcrossMethods, across_methods
from vocboard.app.leaderboards.models import SubmissionSequence
from vocboard.app.leaderboards.sequences import Verdict
from vocboard.app.leaderboards.statistics import Failure
from vocboard.app.rescores import service as rescores
from vocboard.app.submissions.models import Submission
from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.results import Results
from vocboard.evaluator.statistics.across import agreement
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.statistics.collect import collect_evidence
from vocboard.evaluator.statistics.found import found as found_by
from vocboard.evaluator.statistics.intervals import ReplicatedScore
from vocboard.evaluator.statistics.sequence import compare_sequence
from vocboard.worker import sequences


def compare_all(backend: Backend) -> None:
    """Do everything that a worker would about sequences."""
    sweep(backend.database, backend.settings)
    while compare_next(backend.database, backend.store, backend.settings):
        pass


def seen(backend: Backend, challenge: Challenge, competition: str) -> AcrossMethods:
    with backend.database.snapshot() as session:
        found = complete(session, challenge.id)
        return across_methods(session, found, phase_of(session, found), competition, at=now())


def as_versions(backend: Backend) -> None:
    """Let all submissions be versions of one method."""
    with backend.database.writing() as session:
        one = session.scalars(select(Submission.method_id).limit(1)).one()
        session.execute(update(Submission).values(method_id=one))


def offline_means(submitted: Mapping[uuid.UUID, Results], competition: str) -> dict[uuid.UUID, ReplicatedScore]:
    truth, rules = golden_truth(GOLDEN), EDITION.competitions[competition]
    means = {}
    for submission_id, results in submitted.items():
        evidence = collect_evidence({competition: results[competition]}, EDITION, truth)[competition]
        drawn = replicate(evidence, rules.rules.metric, EDITION, rules, draw_weights(evidence.images))
        means[submission_id] = drawn.mean
    return means


def test_organisers_see_what_a_fresh_offline_computation_gives(backend: Backend) -> None:
    challenge, submitted = submit_golden(backend)
    assert not seen(backend, challenge, "comp1").entrants  # one person's methods are not compared with each other
    as_versions(backend)
    [waiting] = seen(backend, challenge, "comp1").entrants
    assert waiting.verdict is None
    update_all(backend)
    compare_all(backend)
    truth = golden_truth(GOLDEN)
    for competition in ("comp1", "comp3"):
        found, rules = seen(backend, challenge, competition), EDITION.competitions[competition]
        [entrant] = found.entrants
        means = offline_means(submitted, competition)
        assert [step.member.submission_id for step in entrant.steps] == list(means)
        expected = compare_sequence(list(means.values()))
        for step, change in zip(entrant.steps[1:], expected.steps, strict=True):
            assert step.difference is not None
            assert abs(step.difference - change.difference) < 1e-9
            assert (step.change is None) == (change.counting_images < 10)
            if step.change is not None:
                decimals = 3 if change.counting_images >= 100 else 2
                assert (step.change.low, step.change.high) == rounded_ends(change, decimals)
                assert step.change.is_significant == change.is_significant
        assert (entrant.verdict is Verdict.UNKNOWN) == (expected.overall.counting_images < 10)

        shares = [
            found_by(collect_evidence({competition: results[competition]}, EDITION, truth)[competition], EDITION, rules)
            for results in submitted.values()
        ]
        correlations = np.round(agreement(shares), 2)
        places = {submission_id: place for place, submission_id in enumerate(submitted)}
        means = [one.entry.mean or 0.0 for one in found.agreement]
        assert means == sorted(means, reverse=True)  # as on the leaderboard
        order = [places[one.entry.submission_id] for one in found.agreement]
        assert len(order) == len(submitted)
        assert [one.with_others for one in found.agreement] == correlations[np.ix_(order, order)].tolist()


def test_what_changes_while_it_is_compared_is_compared_again(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    challenge, submitted = submit_golden(backend)
    as_versions(backend)
    update_all(backend)
    compare, compared = sequences._compare_all, 0

    def compare_slowly(*arguments: Any, **options: Any) -> Any:
        nonlocal compared
        found, compared = compare(*arguments, **options), compared + 1
        if compared == 1:
            withdraw(backend, challenge, list(submitted))
            sweep(backend.database, backend.settings)
        return found

    monkeypatch.setattr(sequences, "_compare_all", compare_slowly)
    compare_all(backend)
    assert compared == 2
    [entrant] = seen(backend, challenge, "comp1").entrants
    assert entrant.verdict is not None


def test_what_was_evaluated_again_before_the_latest_submission_was_scored_is_compared_again(backend: Backend) -> None:
    challenge, submitted = submit_golden(backend)
    as_versions(backend)
    one, another = list(submitted)[:2]
    with backend.database.writing() as session:
        _, again = rescores.evaluate_again(session, submission_id=one, user=administrator(backend))
    assert again is not None
    work(backend)
    with backend.database.writing() as session:  # as if it had been scored only now
        latest = session.get_one(Submission, another).current_evaluation_id
        session.execute(update(Evaluation).where(Evaluation.id == latest).values(created_at=now()))
    for act in (lambda: None, lambda: apply(backend, again.id)):
        act()
        update_all(backend)
        compare_all(backend)
        [entrant] = seen(backend, challenge, "comp1").entrants
        assert entrant.verdict is not None


def test_a_withdrawn_submission_is_never_counted_and_without_the_switch_nothing_is_kept(backend: Backend) -> None:
    challenge, submitted = submit_golden(backend)
    as_versions(backend)
    update_all(backend)
    compare_all(backend)
    [before] = seen(backend, challenge, "comp1").entrants
    withdraw(backend, challenge, list(submitted))
    [between] = seen(backend, challenge, "comp1").entrants
    assert (before.verdict is None, between.verdict) == (False, None)
    assert len(between.steps) == 3
    update_all(backend)
    compare_all(backend)
    [after] = seen(backend, challenge, "comp1").entrants
    assert after.verdict is not None
    with backend.database.reading() as session:
        assert not session.scalars(select(SubmissionSequence).where(SubmissionSequence.is_due)).all()
    with backend.database.writing() as session:
        session.get_one(Challenge, challenge.id).statistics = False
    assert not seen(backend, challenge, "comp1").entrants
    sweep(backend.database, backend.settings)
    with backend.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(SubmissionSequence)) == 0


def test_what_stops_workers_again_and_again_is_given_up_until_an_organiser_asks(backend: Backend) -> None:
    challenge, _ = submit_golden(backend)
    as_versions(backend)
    update_all(backend)
    sweep(backend.database, backend.settings)
    attempts = backend.settings.evaluation_attempts
    for _ in range(attempts):  # claimed by workers that died
        assert claim_next(backend.database, Kind.SEQUENCES, lease=timedelta()) is not None
    compare_all(backend)
    assert [one.failure for one in seen(backend, challenge, "comp1").entrants] == [Failure.INTERRUPTED]
    with backend.database.writing() as session:
        session.get_one(Challenge, challenge.id).statistics_requested_at = now()
    update_all(backend)
    compare_all(backend)
    assert [one.failure for one in seen(backend, challenge, "comp1").entrants] == [None]
