"""Statistics of leaderboards: those of a fresh offline computation, and never of other results than are shown."""

import io
import json
import math
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from tests.support.backend import Backend, wait_until
from tests.support.golden import golden, golden_truth
from tests.support.jobs import claim_next, evaluate_next, let_leases_end, sweep, update_next
from tests.support.phases import complete, main_phase, show_board
from tests.support.rescoring import add_corrected_truth, administrator, apply, start_rescore, submit_scored, work
from tests.support.services import REAL
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge, Detail
from vocboard.app.database import now
from vocboard.app.evaluations.models import CompetitionResult, Evaluation, SecretEvidence
from vocboard.app.intake.report import EnteredCompetition
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.leaderboards import freezing, statistics_states
from vocboard.app.leaderboards.board import Board
from vocboard.app.leaderboards.models import BoardStatistics, SecretReplicates, StatisticsUpdate
from vocboard.app.leaderboards.shown_statistics import MEAN, differences
from vocboard.app.leaderboards.statistics import Failure
from vocboard.app.leaderboards.statistics_states import StatisticsState
from vocboard.app.organising import moderation
from vocboard.app.participating import publishing
from vocboard.app.participating import withdrawing as service
from vocboard.app.submissions.models import Submission
from vocboard.evaluator.editions import Competition, load
from vocboard.evaluator.evaluation import read_for_scoring
from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.ground_truth import DetectionTruth, GroundTruth
from vocboard.evaluator.results import Results
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.statistics.collect import collect_evidence
from vocboard.evaluator.statistics.comparison import Difference, compare
from vocboard.evaluator.statistics.influence import degrees_of_freedom
from vocboard.evaluator.statistics.intervals import Interval, ReplicatedScore
from vocboard.evaluator.statistics.simultaneous import Change
from vocboard.evaluator.stored_results.stored_results import ResultsWriter
from vocboard.evaluator.tasks.classification.truth import LabelTruth
from vocboard.worker import board_statistics, replicates

GOLDEN = "voc2012-synthetic"
EDITION = load("VOC2012")


def update_all(backend: Backend) -> None:
    """Do everything that a worker would."""
    while update_next(backend.database, backend.store, backend.settings):
        pass


def shown(backend: Backend, challenge: Challenge, competition: str = "comp1") -> Board:
    with backend.database.snapshot() as session:
        return show_board(session, challenge, competition)


def assert_statistics_are_of_what_is_shown(board: Board) -> None:
    """What a reader sees of a leaderboard at any instant: nothing, or statistics of exactly its rows."""
    results = {entry.result_id for entry in board.rows.entries}
    assert board.statistics.methods.keys() <= results
    if board.statistics.is_current:
        assert board.statistics.methods.keys() == results
    else:
        assert all(row.statistics is None or row.statistics.ranks is None for row in board.rows)


def perturbed(results: Results, keys: tuple[str, ...], seed: int) -> Results:
    """Return results with other confidences, in which methods differ a little."""
    random = np.random.default_rng(seed)
    changed = {}
    for key in keys:
        entry = results[key]
        content: dict[str, Any] = {
            name: replace(each, confidence=each.confidence + random.normal(0, 0.3, len(each.confidence)))
            for name, each in entry.content.items()
        }
        changed[key] = replace(entry, content=content)
    return changed


def submit_golden(backend: Backend) -> tuple[Challenge, Mapping[uuid.UUID, Results]]:
    """Submit a golden case and perturbed copies, all evaluated and published."""
    keys, truth = ("comp1", "comp3"), golden_truth(GOLDEN)
    challenge = backend.challenge(truth=truth, competitions=list(keys), detail=Detail.CLASSES)
    read, _ = read_for_scoring(golden(GOLDEN).results, EDITION, truth)
    user = backend.user()
    submitted = {}
    for seed in range(4):
        results = perturbed(read.results, keys, seed)
        file = io.BytesIO()
        assert ResultsWriter(file.write, EDITION, truth.image_sets, limit=10_000_000).finish(results)
        entries = tuple(EnteredCompetition(key, results[key].classes) for key in keys)
        submission_id = backend.submit(
            user, challenge, archive=bytes([seed]), columns=file.getvalue(), entries=entries, method_name=f"M{seed}"
        )
        submitted[submission_id] = results
    while evaluate_next(backend.database, backend.store, backend.settings):
        pass
    with backend.database.writing() as session:
        for submission_id in submitted:
            publishing.publish(session, submission_id=submission_id, user=user)
    return challenge, submitted


def test_leaderboards_show_what_a_fresh_offline_computation_gives(backend: Backend) -> None:
    challenge, submitted = submit_golden(backend)
    competitions = ("comp1", "comp3")
    assert not any(shown(backend, challenge, competition).statistics.is_current for competition in competitions)
    update_all(backend)
    for competition in competitions:
        expect_offline(backend, shown(backend, challenge, competition), submitted, competition)


def expect_offline(backend: Backend, board: Board, submitted: Mapping[uuid.UUID, Results], competition: str) -> None:
    """Expect that a leaderboard shows what a fresh offline computation gives."""
    assert board.statistics.is_current
    truth, rules = golden_truth(GOLDEN), EDITION.competitions[competition]
    offline = {}
    for submission_id, results in submitted.items():
        evidence = collect_evidence({competition: results[competition]}, EDITION, truth)[competition]
        weights = draw_weights(evidence.images)
        offline[str(submission_id)] = replicate(evidence, rules.rules.metric, EDITION, rules, weights)
    expected = compare({name: one.mean for name, one in offline.items()})
    positives = positive_images(truth, rules)
    for row in board.rows:
        one = offline[str(row.submission_id)]
        assert row.statistics.mean == expected_interval(one.mean, len(rules.classes))
        assert row.statistics.ranks == expected.rank_ranges[str(row.submission_id)]
        assert row.statistics.is_in_first_group == (str(row.submission_id) in expected.first_group)
        by_class = {name: expected_interval(one.of_class(name)) for name in rules.classes if positives[name] >= 10}
        assert row.statistics.classes == {name: each for name, each in by_class.items() if each is not None}
    assert board.statistics.compared == len(submitted)

    result_of = {entry.submission_id: entry.result_id for entry in board.rows.entries}
    assert board.statistics.statistics_id is not None
    by_column = {MEAN: expected}
    for name in (name for name in rules.classes if positives[name] >= 10):
        by_column[name] = compare({method: one.of_class(name) for method, one in offline.items()})
    with backend.database.reading() as session:
        stored = differences(session, board.statistics.statistics_id, [MEAN, *rules.classes])
    assert stored.keys() == by_column.keys()
    for column, comparison in by_column.items():
        for (one_id, other_id), difference in comparison.differences.items():
            first, second = result_of[uuid.UUID(one_id)], result_of[uuid.UUID(other_id)]
            assert first is not None
            assert second is not None
            found_difference = stored[column].of(first, second, 3)
            scores = [
                one.mean if column == MEAN else one.of_class(column) for one in (offline[one_id], offline[other_id])
            ]
            both = difference_of(*scores)
            if expected_interval(both) is None:
                assert found_difference is None
                continue
            [freedom] = degrees_of_freedom(both.influence[None], len(both.replicates))
            decimals = 3 if freedom >= 100 and column == MEAN and len(rules.classes) >= 10 else 2
            assert (found_difference.low, found_difference.high) == rounded_ends(difference, decimals)
            assert found_difference.is_significant == difference.is_significant
            reverse = stored[column].of(second, first, 3)
            assert (reverse.low, reverse.high) == (-found_difference.high, -found_difference.low)


def expected_interval(score: ReplicatedScore, classes: int = 1) -> tuple[float, float] | None:
    """What is shown of a mean of classes, or of one: nothing if fewer than ten images determine it."""
    if np.isnan(score.score) or score.replicates.std() < 1e-12:
        return None
    [freedom] = degrees_of_freedom(score.influence[None], len(score.replicates))
    found = score.interval()
    decimals = 3 if freedom >= 100 and classes >= 10 else 2
    return rounded_ends(found, decimals) if freedom >= 10 else None


def rounded_ends(found: Interval | Difference | Change, decimals: int) -> tuple[float, float]:
    """The ends of an interval as they are shown: whole per cent outwards, thousandths to the nearest."""
    if decimals == 2:
        return math.floor(round(found.low * 100, 6)) / 100, math.ceil(round(found.high * 100, 6)) / 100
    return round(found.low, decimals), round(found.high, decimals)


def difference_of(one: ReplicatedScore, other: ReplicatedScore) -> ReplicatedScore:
    """The difference of two scores, as if it were a score."""
    return ReplicatedScore(one.score - other.score, one.replicates - other.replicates, one.influence - other.influence)


def positive_images(truth: GroundTruth, competition: Competition) -> dict[str, int]:
    """How many images show each class, from the ground truth alone."""
    part = truth.truths[competition.task, competition.image_set]
    if isinstance(part, DetectionTruth):
        listed = zip(part.class_index.tolist(), part.image.tolist(), part.difficult.tolist(), strict=True)
        seen = {(EDITION.classes[number], image) for number, image, is_difficult in listed if not is_difficult}
        return Counter(name for name, _ in seen)
    assert isinstance(part, LabelTruth)
    return {name: int(np.count_nonzero(labels.label == 1)) for name, labels in part.labels.items()}


def lose_evidence(session: Session) -> None:
    session.execute(delete(SecretEvidence))


def damage_evidence(session: Session) -> None:
    session.execute(update(SecretEvidence).values(content=b"damaged"))


def swap_evidence(session: Session) -> None:
    """Give every result the evidence of the first one, with its hash."""
    first = session.execute(select(SecretEvidence.content, SecretEvidence.sha256).limit(1)).one()
    session.execute(update(SecretEvidence).values(content=first.content, sha256=first.sha256))


@pytest.mark.parametrize("spoil", [lose_evidence, damage_evidence, swap_evidence])
def test_evidence_is_collected_again_where_it_cannot_be_used(
    backend: Backend, spoil: Callable[[Session], None]
) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 3)
    update_all(backend)
    with backend.database.writing() as session:
        before = session.scalars(select(SecretEvidence.content).order_by(SecretEvidence.result_id)).all()
        expected = session.scalars(select(BoardStatistics.content)).one()
        spoil(session)
        session.execute(delete(SecretReplicates))
        session.execute(delete(BoardStatistics))
    update_all(backend)
    with backend.database.reading() as session:
        assert session.scalars(select(BoardStatistics.content)).one() == expected
        after = session.scalars(select(SecretEvidence.content).order_by(SecretEvidence.result_id)).all()
    assert after == before


def test_evaluations_leave_no_evidence_and_statistics_collect_that_of_the_leaderboard_alone(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 1, published=False)
    shown_ids = submit_scored(backend, challenge, 1)
    with backend.database.reading() as session:
        assert session.scalars(select(SecretEvidence)).all() == []
    update_all(backend)
    with backend.database.reading() as session:
        query = (
            select(Evaluation.submission_id)
            .join(CompetitionResult, CompetitionResult.evaluation_id == Evaluation.id)
            .join(SecretEvidence, SecretEvidence.result_id == CompetitionResult.id)
        )
        assert session.scalars(query).all() == shown_ids


@pytest.mark.full
def test_two_jobs_may_store_the_replicates_of_one_result_at_once(backend: Backend) -> None:
    """Those of a leaderboard and of the versions of a method, in two processes of a worker."""
    submit_scored(backend, backend.challenge(), 1)

    def store(content: bytes, pause: float = 0.0) -> None:
        with backend.database.writing() as session:
            result_id = session.scalars(select(CompetitionResult.id)).one()
            replicates._replace(session, SecretReplicates, result_id, content=content)
            time.sleep(pause)

    with ThreadPoolExecutor() as threads:
        first = threads.submit(store, b"1", pause=0.5)
        time.sleep(0.2)
        threads.submit(store, b"2").result()
        first.result()
    with backend.database.reading() as session:
        assert session.scalars(select(SecretReplicates.content)).all() == [b"2"]


def test_a_new_method_costs_only_its_own_replicates(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 3)
    update_all(backend)
    computed: list[uuid.UUID] = []
    compute = replicates.compute

    def counting(*given: Any) -> Any:
        computed.append(given[-1].result_id)
        return compute(*given)

    monkeypatch.setattr(replicates, "compute", counting)
    submit_scored(backend, challenge, 1)
    update_all(backend)
    assert len(computed) == 1
    assert_statistics_are_of_what_is_shown(board := shown(backend, challenge))
    assert board.statistics.compared == 0  # these methods entered one class of twenty
    assert all(row.statistics is not None for row in board.rows)


def publish_again(backend: Backend, challenge: Challenge, ids: list[uuid.UUID]) -> None:
    with backend.database.writing() as session:
        session.get_one(Submission, ids[0]).published_at = now()


def unpublish(backend: Backend, challenge: Challenge, ids: list[uuid.UUID]) -> None:
    with backend.database.writing() as session:
        session.get_one(Submission, ids[1]).published_at = None


def withdraw(backend: Backend, challenge: Challenge, ids: list[uuid.UUID]) -> None:
    with backend.database.writing() as session:
        owner = session.get_one(User, session.get_one(Submission, ids[2]).user_id)
        service.withdraw(session, submission_id=ids[2], user=owner)


def score_again(backend: Backend, challenge: Challenge, ids: list[uuid.UUID]) -> None:
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    work(backend)
    apply(backend, rescore_id)


@pytest.mark.full
@pytest.mark.parametrize("change", [publish_again, unpublish, withdraw, score_again])
def test_a_change_during_the_computation_never_leads_to_mixed_statistics(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, change: Callable[[Backend, Challenge, list[uuid.UUID]], None]
) -> None:
    challenge = backend.challenge()
    ids = submit_scored(backend, challenge, 4)
    with backend.database.writing() as session:
        session.get_one(Submission, ids[0]).published_at = None
    update_all(backend)
    with backend.database.writing() as session:
        session.execute(delete(BoardStatistics))  # so that there is something to compute
    compute, is_changed = board_statistics.statistics_of, False

    def interrupted(*given: Any, **named: Any) -> Any:
        nonlocal is_changed
        if not is_changed:
            is_changed = True
            change(backend, challenge, ids)
            assert_statistics_are_of_what_is_shown(shown(backend, challenge))
        return compute(*given, **named)

    monkeypatch.setattr(board_statistics, "statistics_of", interrupted)
    while update_next(backend.database, backend.store, backend.settings):
        assert_statistics_are_of_what_is_shown(shown(backend, challenge))
    assert is_changed
    board = shown(backend, challenge)
    assert board.statistics.is_current
    assert_statistics_are_of_what_is_shown(board)


@pytest.mark.full
def test_killed_workers_lose_no_more_than_one_result(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 20)

    def stored() -> int:
        with backend.database.reading() as session:
            return session.scalar(select(func.count()).select_from(SecretReplicates)) or 0

    for least in (1, 10):
        with backend.running("worker"):
            wait_until(lambda least=least: stored() >= least)
    with backend.running("worker"):
        wait_until(lambda: bool((found := shown(backend, challenge)).statistics and found.statistics.is_current))
    assert_statistics_are_of_what_is_shown(shown(backend, challenge))
    with backend.database.reading() as session:
        assert not any(session.scalars(select(StatisticsUpdate.failure)))


def test_frozen_statistics_stay_as_they_are(backend: Backend) -> None:
    challenge = backend.challenge(closes_at=now() + timedelta(hours=1))
    ids = submit_scored(backend, challenge, 3)
    with backend.database.writing() as session:
        main_phase(session, challenge.id).closes_at = now()
        session.flush()
        freezing.freeze_phase(session, main_phase(session, challenge.id).id)
    assert shown(backend, challenge).frozen_at is not None
    update_all(backend)
    frozen = shown(backend, challenge).statistics
    assert frozen.is_current
    with backend.database.writing() as session:
        stored = session.scalars(select(BoardStatistics).where(BoardStatistics.frozen_at.is_not(None))).one()
        content = stored.id, stored.content
        session.get_one(Challenge, challenge.id).statistics = False  # of the live leaderboard
        session.execute(update(StatisticsUpdate).values(version=0))  # another version computes again
    withdraw(backend, challenge, ids)
    score_again(backend, challenge, ids)
    sweep(backend.database, backend.settings)
    update_all(backend)
    assert shown(backend, challenge).statistics == frozen
    with backend.database.reading() as session:
        stored = session.scalars(select(BoardStatistics).where(BoardStatistics.frozen_at.is_not(None))).one()
    assert (stored.id, stored.content) == content


def test_a_sweep_leaves_what_frozen_statistics_are_being_computed_from(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge = backend.challenge(closes_at=now() + timedelta(hours=1))
    ids = submit_scored(backend, challenge, 3)
    with backend.database.writing() as session:
        main_phase(session, challenge.id).closes_at = now()
        session.flush()
        freezing.freeze_phase(session, main_phase(session, challenge.id).id)
    score_again(backend, challenge, ids)
    compute = board_statistics.statistics_of

    def swept(*given: Any, **named: Any) -> Any:
        sweep(backend.database, backend.settings)
        return compute(*given, **named)

    monkeypatch.setattr(board_statistics, "statistics_of", swept)
    update_all(backend)
    found = shown(backend, challenge)
    assert found.frozen_at is not None
    assert (found.statistics.is_current, found.statistics.failure) == (True, None)
    sweep(backend.database, backend.settings)
    with backend.database.reading() as session:
        assert session.scalars(select(SecretReplicates)).all() == []


def test_without_the_switch_nothing_is_kept_and_nothing_shown(backend: Backend) -> None:
    challenge = backend.challenge(statistics=False)
    submit_scored(backend, challenge, 2)
    update_all(backend)
    assert shown(backend, challenge).statistics is None
    tables = (SecretEvidence, SecretReplicates, BoardStatistics)
    with backend.database.reading() as session:
        assert [session.scalar(select(func.count()).select_from(table)) for table in tables] == [0, 0, 0]


@pytest.mark.full
def test_the_sweep_removes_evidence_of_withdrawn_submissions_and_of_replaced_evaluations(backend: Backend) -> None:
    challenge = backend.challenge()
    ids = submit_scored(backend, challenge, 4)
    update_all(backend)
    with backend.database.writing() as session:
        organiser = administrator(backend)
        moderation.disqualify_quietly(session, submission_id=ids[3], user=organiser, reason="A copy.")
    score_again(backend, challenge, ids)
    update_all(backend)
    withdraw(backend, challenge, ids)
    update_all(backend)
    sweep(backend.database, backend.settings)
    with backend.database.reading() as session:
        for table in (SecretEvidence, SecretReplicates):
            assert session.scalar(select(func.count()).select_from(table)) == 2


def states(backend: Backend, challenge: Challenge) -> dict[str, tuple[StatisticsState, Failure | None]]:
    with backend.database.reading() as session:
        found = statistics_states.states(session, complete(session, challenge.id), at=now())
    return {one.competition.key: (one.state, one.failure) for one in found}


def request_again(backend: Backend, challenge: Challenge) -> None:
    user = administrator(backend)
    with backend.database.writing() as session:
        organised = session.get_one(Challenge, challenge.id)
        statistics_states.request_computation(session, challenge=organised, user=user)


@pytest.mark.full
def test_a_failure_concerns_one_leaderboard_and_is_tried_again_when_an_organiser_asks(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge, _ = submit_golden(backend)
    compute, calls = replicates.compute, list[str]()

    def failing(*given: Any) -> Any:
        calls.append(given[-1].competition)
        if given[-1].competition == "comp1":
            raise RuntimeError("image 000123 has no car")  # what an error may quote
        return compute(*given)

    with monkeypatch.context() as patched:
        patched.setattr(replicates, "compute", failing)
        update_all(backend)
        assert calls.count("comp1") == 1
    failed, fine = shown(backend, challenge, "comp1").statistics, shown(backend, challenge, "comp3").statistics
    assert (failed.is_current, failed.failure, failed.methods) == (True, Failure.ERROR, {})
    assert fine.is_current
    assert fine.methods
    assert states(backend, challenge) == {
        "comp1": (StatisticsState.FAILED, Failure.ERROR),
        "comp3": (StatisticsState.SHOWN, None),
    }
    with backend.database.reading() as session:
        technical = session.scalars(select(StatisticsUpdate.failure)).one()
        stored = [json.dumps(one) for one in session.scalars(select(BoardStatistics.content))]
    assert technical is not None
    assert "RuntimeError" in technical
    assert not any("000123" in text for text in (technical, *stored))
    with backend.database.writing() as session:
        session.execute(update(Challenge).values(title="Another"))  # which changes the leaderboards' revision
    update_all(backend)
    assert states(backend, challenge)["comp1"] == (StatisticsState.FAILED, Failure.ERROR)  # nobody has asked
    request_again(backend, challenge)
    update_all(backend)
    assert states(backend, challenge)["comp1"] == (StatisticsState.SHOWN, None)


def test_statistics_wait_for_ground_truth_that_cannot_be_read(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 2)
    away = backend.truth_file.rename(backend.truth_file.with_suffix(".away"))
    for _ in range(backend.settings.evaluation_attempts + 1):
        update_all(backend)
        assert states(backend, challenge)["comp1"] == (StatisticsState.BEING_COMPUTED, None)
        let_leases_end(backend.database)
    away.rename(backend.truth_file)
    update_all(backend)
    assert states(backend, challenge)["comp1"] == (StatisticsState.SHOWN, None)


@pytest.mark.services
@pytest.mark.full  # SQLite has no clock of its own
@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_what_an_organiser_asks_for_is_tried_once_although_the_clocks_of_machines_differ(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge, calls = backend.challenge(), []
    submit_scored(backend, challenge, 2)

    def failing(*given: Any) -> Any:
        calls.append(given)
        raise RuntimeError

    monkeypatch.setattr(replicates, "compute", failing)
    update_all(backend)
    with monkeypatch.context() as patched:
        patched.setattr(statistics_states, "now", lambda: now() + timedelta(minutes=6), raising=False)
        request_again(backend, challenge)
    sweep(backend.database, backend.settings)
    for _ in range(5):
        update_next(backend.database, backend.store, backend.settings)
    assert len(calls) == 2


def test_what_stops_workers_again_and_again_is_given_up_and_says_so(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 2)
    for _ in range(backend.settings.evaluation_attempts):  # claimed by workers that died
        assert claim_next(backend.database, Kind.STATISTICS, lease=timedelta()) is not None
    update_all(backend)
    assert states(backend, challenge)["comp1"] == (StatisticsState.FAILED, Failure.INTERRUPTED)
    request_again(backend, challenge)
    update_all(backend)
    assert states(backend, challenge)["comp1"] == (StatisticsState.SHOWN, None)


def test_a_lost_archive_is_a_failure_of_its_leaderboard_and_does_not_stop_the_worker(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 2)
    with backend.database.writing() as session:
        lose_evidence(session)
    for name in list(backend.store.stored()):
        backend.store.set_aside(name)
    update_all(backend)
    assert states(backend, challenge)["comp1"] == (StatisticsState.FAILED, Failure.UNREADABLE)


def submit_one(backend: Backend, challenge: Challenge) -> None:
    backend.submit(backend.user(), challenge)


def score_all_again(backend: Backend, challenge: Challenge) -> None:
    start_rescore(backend, challenge, add_corrected_truth(backend, challenge))


@pytest.mark.parametrize("add_work", [submit_one, score_all_again])
def test_submissions_and_rescores_go_first(backend: Backend, add_work: Callable[[Backend, Challenge], object]) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 2)
    claim = claim_next(backend.database, Kind.STATISTICS)
    assert claim is not None
    with backend.database.reading() as session:
        assert not jobs.must_give_way(session, claim, tuple(Kind))
    add_work(backend, challenge)
    with backend.database.reading() as session:
        assert jobs.must_give_way(session, claim, tuple(Kind))
    with backend.database.writing() as session:
        jobs.release(session, claim)
        first = jobs.claim(session, tuple(Kind), lease=timedelta(minutes=1))
    assert first.kind in {Kind.EVALUATION, Kind.RESCORE}
