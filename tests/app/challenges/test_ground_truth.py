"""Versions of ground truth, as the web process and the queue of imports know them."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session, selectinload

from tests.support.backend import Backend, make_columns
from tests.support.factories import (
    IMAGES,
    make_challenge,
    make_image_sets,
    make_organiser,
    make_truth,
)
from tests.support.jobs import claim_next, import_next, stores
from tests.support.phases import main_truth, phase_of
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges import ground_truth as versions
from vocboard.app.challenges import queries
from vocboard.app.challenges.ground_truth import (
    add_ground_truth_version,
    current_image_sets,
    image_sets_json,
    pack_image_sets,
)
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, TruthState
from vocboard.app.challenges.phases import PhaseState, current_phase, phase_named, phases_of
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.app.evaluations import ground_truth_queue, scorings
from vocboard.app.evaluations.ground_truth_queue import ImportedTruth
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.jobs.service import Claim
from vocboard.app.organising import phase_changes
from vocboard.app.organising.phase_changes import add_phase
from vocboard.app.settings import Settings
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.problems import Problem, Severity

LEASE = timedelta(seconds=60)
IMPORTED = ImportedTruth("0" * 64, {}, ("comp1", "comp3"), pack_image_sets(make_image_sets(load("VOC2012"))))


def upload(database: Database, challenge: Challenge | None = None) -> GroundTruthVersion:
    with database.writing() as session:
        organiser = make_organiser(session)
        challenge = challenge or make_challenge(session, organiser=organiser, ready=False)
        return add_ground_truth_version(
            session, challenge=challenge, user=organiser, file_name="kit.tar", version_id=uuid.uuid4()
        )


def claim(database: Database, *, lease: timedelta = LEASE) -> Claim | None:
    return claim_next(database, Kind.IMPORT, lease=lease)


def state_of(database: Database, version: GroundTruthVersion) -> TruthState:
    with database.reading() as session:
        return session.scalars(select(GroundTruthVersion.state).where(GroundTruthVersion.id == version.id)).one()


def test_versions_are_numbered_and_logged(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, ready=False)
        for name in ("C:\\data\\kit.tar.gz", "/tmp/second.zip", "evil\x00.zip"):
            add_ground_truth_version(
                session, challenge=challenge, user=organiser, file_name=name, version_id=uuid.uuid4()
            )
        versions = queries.truth_versions(session, challenge.id)
        assert [(version.number, version.file_name) for version in versions] == [
            (3, "evil.zip"),
            (2, "second.zip"),
            (1, "kit.tar.gz"),
        ]
        uploads = session.scalars(select(AuditEvent).where(AuditEvent.action == "ground_truth.upload")).all()
        assert {event.object_id for event in uploads} == {version.id for version in versions}


def test_image_sets_are_those_of_the_current_ground_truth(database: Database) -> None:
    with database.writing() as session:
        challenge = make_challenge(session)
        image_sets = current_image_sets(session, phase_of(session, challenge))
        assert image_sets.sets[Task.DETECTION, "test"].images == IMAGES
        assert current_image_sets(session, phase_of(session, challenge)) is image_sets
        assert image_sets.from_json(image_sets_json(session, phase_of(session, challenge))).edition == "VOC2012"


def test_without_ground_truth_there_are_no_image_sets(database: Database) -> None:
    with database.writing() as session:
        challenge = make_challenge(session, ready=False)
        make_truth(session, challenge, current=False)
        with pytest.raises(ConflictError):
            current_image_sets(session, phase_of(session, challenge))


def test_listing_challenges_and_versions_leaves_the_image_sets_in_the_database(database: Database) -> None:
    with database.writing() as session:
        challenge = make_challenge(session)
    with database.reading() as session:
        (version,) = queries.truth_versions(session, challenge.id)
        assert "image_sets" not in version.__dict__


def test_one_upload_is_claimed_at_a_time_the_first_one_first(database: Database) -> None:
    """Also if many workers ask at once; else a few large ones would take the processes that evaluations need."""
    first, second = upload(database), upload(database)
    with ThreadPoolExecutor(4) as workers:
        claims = [found for found in workers.map(lambda _: claim(database), range(8)) if found is not None]
    assert [found.key for found in claims] == [first.id]
    assert state_of(database, first) is TruthState.IMPORTING
    with database.reading() as session:
        assert not jobs.count_due(session, [Kind.IMPORT], limit=1)
    assert stores(database, ground_truth_queue.refuse, claims[0], [])
    with database.reading() as session:
        assert jobs.count_due(session, [Kind.IMPORT], limit=1)
    found = claim(database)
    assert found.key == second.id


def test_organisers_take_turns(database: Database) -> None:
    """Else one of them could keep all others waiting with many trees that take long."""
    first, second, third = upload(database), upload(database), upload(database)
    of_another = upload(database)
    with database.writing() as session:  # the first three from one organiser, before that of another
        session.execute(update(Job).where(Job.key.in_((second.id, third.id))).values(owner=first.uploaded_by_id))
    order = []
    while (found := claim(database)) is not None:
        order.append(found.key)
        assert stores(database, ground_truth_queue.refuse, found, [])
    assert order == [first.id, of_another.id, second.id, third.id]


def test_one_whose_worker_lease_expired_is_claimed_again_and_the_expired_one_stores_nothing(database: Database) -> None:
    version = upload(database)
    silent = claim(database, lease=timedelta())
    taker = claim(database)
    assert silent is not None
    assert taker.key == version.id
    assert not stores(database, ground_truth_queue.finish, silent, IMPORTED)
    assert not stores(database, ground_truth_queue.refuse, silent, [])
    assert state_of(database, version) is TruthState.IMPORTING
    assert stores(database, ground_truth_queue.finish, taker, IMPORTED)
    assert state_of(database, version) is TruthState.READY


def test_one_that_kills_every_worker_is_given_up_and_the_next_has_its_turn(database: Database) -> None:
    deadly = upload(database)
    for _ in range(2):
        found = claim(database, lease=timedelta())
        assert found.key == deadly.id
    good = upload(database)
    found = claim(database)
    assert found.key == good.id
    assert stores(database, ground_truth_queue.refuse, found, [])
    assert import_next(database, Settings(evaluation_attempts=2))
    with database.reading() as session:
        given_up = session.get_one(GroundTruthVersion, deadly.id)
        assert given_up.state is TruthState.FAILED
        assert given_up.problems[0]["code"] == "import_stopped"


def test_what_is_wrong_is_kept_for_the_organiser_within_bounds(database: Database) -> None:
    version = upload(database)
    found = claim(database)
    assert found is not None
    problems = [Problem("bad", Severity.ERROR, "wrong", "file", line) for line in range(1000)]
    assert stores(database, ground_truth_queue.refuse, found, problems)
    with database.reading() as session:
        stored = session.get_one(GroundTruthVersion, version.id)
    assert stored.state is TruthState.FAILED
    assert len(stored.problems) == ground_truth_queue.MAX_PROBLEMS + 1
    assert "800" in stored.problems[-1]["message"]


def test_the_newest_truth_that_scores_everything_starts_the_first_scoring(database: Database) -> None:
    with database.writing() as session:
        challenge = make_challenge(session, ready=False)
        make_truth(session, challenge, current=False)
        newest = make_truth(session, challenge, current=False)
        partial = make_truth(session, challenge, current=False)
        partial.competitions = ["comp1"]
        session.flush()
        assert scorings.start_scorings(session) == 1
        current = main_truth(session, challenge)
        assert current.id == newest.id


def test_a_truth_that_scores_too_little_waits_until_the_challenge_asks_for_less(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, ready=False)
        make_truth(session, challenge, current=False).competitions = ["comp1"]
        session.flush()
        assert scorings.start_scorings(session) == 0
        assert current_phase(challenge, now()).state(now()) is PhaseState.NOT_READY
        challenge.main_phase.competition_keys = ["comp1"]
        session.flush()
        assert scorings.start_scorings(session) == 1
        assert current_phase(challenge, now()).state(now()) is PhaseState.OPEN


def test_a_later_truth_does_not_change_the_board_by_itself(backend: Backend) -> None:
    challenge = backend.challenge()
    backend.submit(backend.user(), challenge, columns=make_columns())
    with backend.database.writing() as session:
        make_truth(session, loaded(session, challenge), current=False)
        assert scorings.start_scorings(session) == 0
        assert loaded(session, challenge).main_phase.current_scoring_id == challenge.main_phase.current_scoring_id


def test_while_nobody_has_submitted_a_later_truth_becomes_current_by_itself(database: Database) -> None:
    with database.writing() as session:
        challenge = make_challenge(session)
        later = make_truth(session, challenge, current=False)
        assert scorings.start_scorings(session) == 1
        current = main_truth(session, challenge)
        assert current.id == later.id


def test_a_truth_with_warnings_waits_until_they_are_confirmed(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, ready=False)
        version = make_truth(session, challenge, current=False)
        version.warnings = [Problem("unknown_class", Severity.WARNING, "'Plum' is not a class").as_json()]
        session.flush()
        assert scorings.start_scorings(session) == 0
        versions.confirm(session, challenge=challenge, user=organiser, number=version.number)
        assert scorings.start_scorings(session) == 1
        events = session.scalars(select(AuditEvent.action).where(AuditEvent.object_id == version.id)).all()
        assert events == ["ground_truth.confirm"]


def test_competitions_that_a_truth_cannot_score_are_named_and_can_be_removed(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, ready=False)
        version = make_truth(session, challenge, current=False)
        version.competitions = ["comp1"]
        version.summary = {"detection/test": {"images": 3, "missing": "its images have no Annotations"}}
        session.flush()
        assert versions.unscorable(challenge, version) == {"comp3": "its images have no Annotations"}
        removed = phase_changes.remove_unscorable(session, challenge=challenge, user=organiser, number=version.number)
        assert removed == ["comp3"]
        assert scorings.start_scorings(session) == 1


def test_competitions_are_also_removed_from_phases_that_share_the_truth(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, ready=False)
        for key, has_own_truth in (("shared", False), ("own", True)):
            rules = PhaseRules(competitions=("comp1", "comp3"))
            add_phase(
                session,
                challenge=challenge,
                user=organiser,
                key=key,
                title=key,
                rules=rules,
                has_own_truth=has_own_truth,
            )
        version = make_truth(session, challenge, current=False)
        version.competitions = ["comp1"]
        session.flush()
        assert phase_changes.remove_unscorable(session, challenge=challenge, user=organiser, number=version.number) == [
            "comp3"
        ]
        competitions = {phase.key: phase.competitions for phase in phases_of(challenge)}
        assert competitions == {"main": ("comp1",), "shared": ("comp1",), "own": ("comp1", "comp3")}
        assert scorings.start_scorings(session) == 1


def test_competitions_of_a_phase_are_removed_that_its_own_truth_cannot_score(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser)
        rules = PhaseRules(competitions=("comp1", "comp3"))
        add_phase(
            session, challenge=challenge, user=organiser, key="final", title="Final", rules=rules, has_own_truth=True
        )
        version = make_truth(session, challenge, current=False)
        version.phase_id, version.competitions = phase_named(challenge, "final").id, ["comp3"]
        session.flush()
        assert list(versions.unscorable(challenge, version)) == ["comp1"]
        assert phase_changes.remove_unscorable(session, challenge=challenge, user=organiser, number=version.number) == [
            "comp1"
        ]
        assert phase_named(challenge, "final").competitions == ("comp3",)
        assert phase_named(challenge, "main").competitions == ("comp1", "comp3")
        event = session.scalars(select(AuditEvent).where(AuditEvent.action == "phase.update")).one()
        changes = {"competitions": {"from": ["comp1", "comp3"], "to": ["comp3"]}}
        assert event.details == {"phase": "final", "changes": changes}
        version.competitions = []
        with pytest.raises(ConflictError, match="none of the competitions of the phase “Final”"):
            phase_changes.remove_unscorable(session, challenge=challenge, user=organiser, number=version.number)


def test_only_a_failed_version_can_be_removed(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser)
        good = make_truth(session, challenge, current=False)
        bad = make_truth(session, challenge, current=False)
        bad.state = TruthState.FAILED
        session.flush()
        with pytest.raises(ConflictError, match="Only a version that failed"):
            versions.remove_failed(session, challenge=challenge, user=organiser, number=good.number)
        versions.remove_failed(session, challenge=challenge, user=organiser, number=bad.number)
        with pytest.raises(NotFoundError):
            versions.get_version(session, challenge, bad.number)


def loaded(session: Session, challenge: Challenge) -> Challenge:
    """The challenge in this session, with its competitions."""
    return session.scalars(
        select(Challenge).where(Challenge.id == challenge.id).options(selectinload(Challenge.phases))
    ).one()
