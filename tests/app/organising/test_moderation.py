"""What organisers do about submissions, and that it lasts."""

import contextlib
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from sqlalchemy import select

from tests.app.organising.case import Case
from tests.support.backend import Backend
from tests.support.jobs import claim_next, evaluate_next, stores
from tests.support.phases import complete
from tests.support.services import REAL
from vocboard.app.audit.models import AuditEvent
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidInputError
from vocboard.app.evaluations.results import visible_evaluation, visible_means
from vocboard.app.jobs.models import Kind
from vocboard.app.organising import archiving
from vocboard.app.organising import moderation as submissions
from vocboard.app.organising import submissions as overview
from vocboard.app.organising.moderation import Action
from vocboard.app.participating import publishing
from vocboard.app.rescores import service as rescores
from vocboard.app.submissions import queries, queue
from vocboard.app.submissions.models import State, Submission

REASON = "Trained on the test set."
SITE = "https://voc.example"
disqualify = partial(submissions.disqualify, site=SITE)
reinstate = partial(submissions.reinstate, site=SITE)


@pytest.fixture
def case(backend: Backend) -> Case:
    return Case(backend)


# Disqualifying


def test_a_disqualified_method_cannot_come_back_in_another_submission(case: Case) -> None:
    same_method = case.scored("Method")
    same_archive = case.scored("Another name", archive_sha256=case.row.archive_sha256)
    case.do(disqualify, reason=REASON)
    for submission_id in (same_method, same_archive):
        with pytest.raises(ConflictError, match=f"was disqualified .*{REASON}"):
            case.publish(submission_id)
    case.publish(case.scored("A different method"))
    case.do(reinstate)
    case.do(publishing.unpublish, case.owner)
    case.publish(same_method)


def test_the_same_results_in_another_archive_do_not_come_back_either(case: Case) -> None:
    first = case.scored("First", columns_sha256="c" * 64)
    again = case.scored("Packed again", columns_sha256="c" * 64)
    case.do(disqualify, submission_id=first, reason=REASON)
    with pytest.raises(ConflictError, match="archive of this submission was disqualified"):
        case.publish(again)


def test_a_disqualified_rehearsal_does_not_keep_the_method_off_leaderboards(case: Case) -> None:
    rehearsal = case.scored("Rehearsed", is_rehearsal=True, archive_sha256="a" * 64)
    case.do(disqualify, submission_id=rehearsal, reason=REASON)
    case.publish(case.scored("Rehearsed", archive_sha256="a" * 64))


def test_another_persons_copy_is_not_disqualified_with_it(case: Case) -> None:
    other = case.backend.user()
    copy = case.scored("Original", other, archive_sha256=case.row.archive_sha256)
    case.do(disqualify, reason=REASON)
    case.do(publishing.publish, other, submission_id=copy)


@pytest.mark.postgres
def test_publishing_while_being_disqualified_publishes_nothing(case: Case) -> None:
    """Whatever comes first, the disqualified method is not on the board in the end."""
    others = [case.scored("Method") for _ in range(4)]
    case.do(publishing.unpublish, case.owner)

    def publish(submission_id: uuid.UUID) -> None:
        with contextlib.suppress(ConflictError):
            case.publish(submission_id)

    with ThreadPoolExecutor(8) as people:
        disqualifying = [
            people.submit(case.do, disqualify, submission_id=each, reason=REASON)
            for each in (*others, case.submission_id)
        ]
        for each in others:
            people.submit(publish, each)
        for one in disqualifying:
            one.result()
    with case.backend.database.reading() as session:
        assert session.scalars(select(Submission).where(Submission.published_at.is_not(None))).all() == []


@pytest.mark.parametrize("action", [disqualify, submissions.fail])
def test_a_running_evaluation_stores_nothing_afterwards(case: Case, action: Callable[..., Submission]) -> None:
    waiting = case.backend.submit(case.owner, case.challenge)
    claim = claim_next(case.backend.database, Kind.EVALUATION)
    assert claim is not None
    case.do(action, submission_id=waiting, reason=REASON)
    assert not stores(case.backend.database, queue.finish, claim)


def test_what_was_not_evaluated_yet_waits_again_when_it_is_reinstated(case: Case) -> None:
    waiting = case.backend.submit(case.owner, case.challenge)
    case.do(disqualify, submission_id=waiting, reason=REASON)
    assert not evaluate_next(case.backend.database, case.backend.store, case.backend.settings)
    case.do(reinstate, submission_id=waiting)
    assert evaluate_next(case.backend.database, case.backend.store, case.backend.settings)
    assert case.backend.submission(waiting).state is State.SCORED


@pytest.mark.parametrize("set_up", [REAL], indirect=True)
def test_a_challenge_is_not_archived_while_a_submission_that_waits_then_is_reinstated(case: Case) -> None:
    database, waiting = case.backend.database, case.backend.submit(case.owner, case.challenge)
    case.do(disqualify, submission_id=waiting, reason=REASON)

    def archive() -> None:
        with database.writing() as session:
            archiving.archive(session, challenge=complete(session, case.challenge.id), user=case.organiser)

    with ThreadPoolExecutor(1) as pool:
        with database.writing() as session:
            submissions.reinstate_quietly(session, submission_id=waiting, user=case.organiser)
            session.flush()
            done = pool.submit(archive)
            time.sleep(0.4)
        with pytest.raises(ConflictError, match="1 submission is still being evaluated"):
            done.result()


def test_what_a_re_score_has_left_out_is_published_again_once_it_is_scored(case: Case) -> None:
    backend, submission_id = case.backend, case.backend.submit(case.owner, case.challenge, method_name="Lifted")
    assert evaluate_next(backend.database, backend.store, backend.settings)
    case.publish(submission_id)
    case.do(disqualify, submission_id=submission_id, reason=REASON)
    with backend.database.writing() as session:  # as a re-score that is applied then
        session.get_one(Submission, submission_id).current_evaluation_id = None
    case.do(reinstate, submission_id=submission_id)
    assert backend.submission(submission_id).state is State.QUEUED
    assert evaluate_next(backend.database, backend.store, backend.settings)
    assert backend.submission(submission_id).published_at is not None


def test_a_disqualification_needs_a_reason(case: Case) -> None:
    with pytest.raises(InvalidInputError) as caught:
        case.do(disqualify, reason="  ")
    assert caught.value.fields == {"reason": "Required."}


# Holding back


def test_an_organiser_cannot_publish_what_its_owner_keeps_private(case: Case) -> None:
    private = case.scored("Private")
    with pytest.raises(ForbiddenError, match="Only the owner can publish"):
        case.do(publishing.publish, submission_id=private)
    with pytest.raises(ConflictError, match="No organiser has unpublished"):
        case.do(submissions.allow_publishing, submission_id=private)
    assert case.backend.submission(private).published_at is None


def test_unpublishing_by_an_organiser_lasts(case: Case) -> None:
    published_at = case.row.published_at
    case.do(submissions.unpublish, reason="Under review.")
    with pytest.raises(ConflictError, match=r"have unpublished .*“Under review.”"):
        case.publish()
    case.do(submissions.allow_publishing)
    assert (case.row.published_at, case.row.held_back_at) == (published_at, None)


def test_what_its_owner_takes_back_in_the_meantime_is_not_published_when_it_is_allowed(case: Case) -> None:
    case.do(submissions.unpublish)
    case.do(submissions.unpublish, case.owner)
    case.do(submissions.allow_publishing)
    assert case.row.published_at is None
    case.publish()


def test_a_result_held_back_and_then_disqualified_stays_held_back(case: Case) -> None:
    case.do(submissions.unpublish)
    case.do(disqualify, reason=REASON)
    with pytest.raises(ConflictError, match="Lift that first"):
        case.do(submissions.allow_publishing)
    case.do(reinstate)
    assert (case.row.state, case.row.published_at) == (State.SCORED, None)
    case.do(submissions.allow_publishing)
    assert case.row.published_at is not None


def test_a_reinstated_result_is_not_shown_with_its_successor(case: Case) -> None:
    case.do(submissions.unpublish)
    successor = case.scored("Method")
    case.publish(successor)
    case.do(submissions.allow_publishing)
    assert case.row.published_at is None
    assert case.backend.submission(successor).published_at is not None


# Failing


def test_a_failed_submission_gives_its_quota_back(case: Case) -> None:
    case.do(submissions.fail, reason="The ground truth was wrong.")
    row = case.row
    assert (row.state, row.published_at) == (State.FAILED, None)
    assert row.quota_returned_at is not None
    assert "The ground truth was wrong." in (row.failure or "")
    with pytest.raises(ConflictError, match="already failed"):
        case.do(submissions.fail, reason="Again.")


def test_a_failed_submission_has_no_result(case: Case) -> None:
    def results() -> tuple[int, int]:
        with case.backend.database.reading() as session:
            one = queries.get_for(session, case.submission_id, case.owner)
            evaluation = visible_evaluation(session, one, queries.access_of(session, one, case.owner))
            return len(evaluation.results if evaluation else ()), len(
                visible_means(session, [one], for_organisers=False)
            )

    assert results() == (1, 1)
    case.do(submissions.fail, reason="The ground truth was wrong.")
    assert results() == (0, 0)
    case.do(lambda session, **given: rescores.evaluate_again(session, **given)[0])
    assert results() == (0, 0)


# Several at once


def test_several_are_disqualified_at_once_and_refusals_are_distinguished(case: Case) -> None:
    second, withdrawn = case.scored("Second"), case.scored("Withdrawn", state=State.WITHDRAWN)
    elsewhere = Case(case.backend).submission_id
    chosen = [case.submission_id, second, withdrawn, elsewhere, uuid.uuid4()]
    outcomes = case.act(Action.DISQUALIFY, *chosen, reason=REASON, site=SITE)
    done = {one.submission_id for one in outcomes if one.refusal is None}
    assert done == {case.submission_id, second}
    assert case.backend.submission(elsewhere).state is State.SCORED
    assert case.backend.submission(withdrawn).state is State.WITHDRAWN


# Copies


def test_the_same_archive_of_another_person_is_found(case: Case) -> None:
    copy = case.scored("Copy", case.backend.user(name="Mallory"), archive_sha256=case.row.archive_sha256)
    case.scored("Own again", archive_sha256=case.row.archive_sha256)
    with case.backend.database.reading() as session:
        found = queries.copies_of(session, session.get_one(Submission, case.submission_id))
        assert [(each.id, each.user.name) for each in found] == [(copy, "Mallory")]


def test_a_rehearsal_with_an_entrants_archive_is_no_copy(case: Case) -> None:
    same = {"archive_sha256": case.row.archive_sha256, "is_rehearsal": True}
    rehearsal = case.scored("Rehearsal", case.organiser, **same)
    with case.backend.database.reading() as session:
        assert overview.counts(session, case.challenge)["copies"] == 0
        for one in (rehearsal, case.submission_id):
            assert not queries.copies_of(session, session.get_one(Submission, one))


def test_every_action_is_logged_once_with_its_reason(case: Case) -> None:
    case.do(disqualify, reason=REASON)
    case.do(reinstate, reason="A mistake.")
    case.do(submissions.unpublish, reason="Under review.")
    case.do(submissions.allow_publishing)
    case.do(submissions.fail, reason="Our fault.")
    with case.backend.database.reading() as session:
        query = select(AuditEvent).where(AuditEvent.object_id == case.submission_id).order_by(AuditEvent.created_at)
        events = session.scalars(query).all()
    assert [(event.action, event.details.get("reason")) for event in events] == [
        ("submission.publish", None),
        ("submission.disqualify", REASON),
        ("submission.reinstate", "A mistake."),
        ("submission.hold_back", "Under review."),
        ("submission.allow_publishing", None),
        ("submission.fail", "Our fault."),
    ]
    assert {event.challenge_id for event in events} == {case.challenge.id}
    assert {event.actor_id for event in events[1:]} == {case.organiser.id}
