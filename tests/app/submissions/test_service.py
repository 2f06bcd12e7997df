"""What people may do with submissions, and when."""

import contextlib
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from tests.support.archives import stored_path
from tests.support.backend import Backend, make_archive
from tests.support.jobs import claim_next, stores
from tests.support.phases import complete, phase_of
from vocboard.app import database as app_database
from vocboard.app.accounts.models import Role, User
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.models import Challenge, Visibility
from vocboard.app.database import now
from vocboard.app.errors import (
    ConflictError,
    ForbiddenError,
    InvalidArchiveError,
    LimitedError,
    NotFoundError,
    ServiceError,
)
from vocboard.app.intake.report import EnteredCompetition, Report
from vocboard.app.jobs.models import Kind
from vocboard.app.participating import publishing
from vocboard.app.participating import withdrawing as service
from vocboard.app.storage.directory_objects import DirectoryObjects
from vocboard.app.submissions import queries, queue
from vocboard.app.submissions.downloading import ArchiveGoneError, download
from vocboard.app.submissions.models import Method, State, Submission
from vocboard.app.submissions.quota import quotas
from vocboard.evaluator.problems import Problem, Severity

CLASSIFICATION = EnteredCompetition("comp1", ("car",))
DETECTION = EnteredCompetition("comp3", ("car",))


def score(backend: Backend, submission_id: uuid.UUID) -> uuid.UUID:
    """Make a submission scored without an evaluation."""
    with backend.database.writing() as session:
        session.execute(update(Submission).where(Submission.id == submission_id).values(state=State.SCORED))
    return submission_id


def do(
    backend: Backend, action: Callable[..., Submission | str], submission_id: uuid.UUID, user: User
) -> Submission | str:
    with backend.database.writing() as session:
        return action(session, submission_id=submission_id, user=user)


def stored_files(backend: Backend) -> int:
    return sum(path.is_file() for path in backend.settings.archives.rglob("*"))


# Submitting


def test_an_accepted_upload_is_queued_with_its_archive(backend: Backend) -> None:
    user = backend.user()
    submission_id = backend.submit(user, backend.challenge(), method_name="R-CNN", archive_name="r.tar")
    with backend.database.reading() as session:
        submission = queries.get_for(session, submission_id, user)
        assert (submission.state, submission.method.name, submission.archive_name) == (State.QUEUED, "R-CNN", "r.tar")
        assert [(entry.competition, entry.classes) for entry in submission.entries] == [("comp1", ["car"])]
    assert stored_path(backend.store, submission.archive_sha256).read_bytes() == make_archive()


def test_an_archive_may_take_longer_to_store_than_other_transactions_may_pause(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = DirectoryObjects.put

    def slowly(self: DirectoryObjects, path: Path, name: str, *, is_durable: bool = True) -> None:
        time.sleep(0.3)
        put(self, path, name, is_durable=is_durable)

    monkeypatch.setattr(DirectoryObjects, "put", slowly)
    monkeypatch.setattr(app_database, "MAX_PAUSE_WITH_LOCK", timedelta(milliseconds=100))
    assert backend.submission(backend.submit(backend.user(), backend.challenge())).state is State.QUEUED


@pytest.mark.parametrize("left", [None, b"damaged"], ids=["lost", "damaged"])
def test_an_archive_that_cannot_be_sent_is_said_to_be_gone(backend: Backend, left: bytes | None) -> None:
    user = backend.user()
    submission = backend.submission(backend.submit(user, backend.challenge()))
    file = stored_path(backend.store, submission.archive_sha256)
    file.unlink() if left is None else file.write_bytes(left)
    with pytest.raises(ArchiveGoneError, match="no longer stored"):
        download(
            backend.database,
            backend.store,
            submission_id=submission.id,
            user=user,
            withdrawn_kept_for=timedelta(hours=1),
        )


def test_the_archive_of_a_withdrawn_submission_does_not_tell_that_others_have_it(backend: Backend) -> None:
    """Others' submissions of the same keep it in the store."""
    user, challenge = backend.user(), backend.challenge()
    mine, _ = (backend.submit(person, challenge) for person in (user, backend.user()))
    with backend.database.writing() as session:
        service.withdraw(session, submission_id=mine, user=user)
    given: Any = {"submission_id": mine, "user": user}
    assert download(backend.database, backend.store, **given, withdrawn_kept_for=timedelta(hours=1)).size
    with pytest.raises(ArchiveGoneError, match="no longer stored"):
        download(backend.database, backend.store, **given, withdrawn_kept_for=timedelta())


def test_a_refused_upload_leaves_neither_row_nor_file(backend: Backend) -> None:
    challenge, user = backend.challenge(closes_at=now() - timedelta(seconds=1)), backend.user()
    with pytest.raises(ConflictError, match="closed"):
        backend.submit(user, challenge)
    assert stored_files(backend) == 0
    with backend.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Method)) == 0


@pytest.mark.parametrize("is_rehearsal", [False, True])
def test_an_archived_challenge_takes_no_submission(backend: Backend, is_rehearsal: bool) -> None:
    organiser = backend.user(role=Role.ORGANISER)
    challenge = backend.challenge(organiser=organiser)
    with backend.database.writing() as session:
        complete(session, challenge.id).archived_at = now()
    with pytest.raises(ConflictError, match="is archived"):
        backend.submit(organiser, challenge, is_rehearsal=is_rehearsal)


def test_an_upload_of_somebody_disabled_in_the_meantime_is_refused(backend: Backend) -> None:
    challenge, user = backend.challenge(), backend.user()
    with backend.database.writing() as session:
        session.execute(update(User).where(User.id == user.id).values(disabled_at=now()))
    with pytest.raises(ForbiddenError, match="disabled"):
        backend.submit(user, challenge)
    assert stored_files(backend) == 0


def test_an_upload_to_a_competition_that_was_removed_in_the_meantime_is_refused(backend: Backend) -> None:
    user, challenge = backend.user(), backend.challenge()
    with backend.database.writing() as session:
        complete(session, challenge.id).main_phase.competition_keys = ["comp1"]
    with pytest.raises(ConflictError, match="removed comp3"):
        backend.submit(user, challenge, entries=(CLASSIFICATION, DETECTION))
    backend.submit(user, challenge, entries=(CLASSIFICATION,))


def test_an_upload_that_began_before_the_close_counts_unless_it_trickles(backend: Backend) -> None:
    for since, is_accepted in ((timedelta(seconds=1), True), (timedelta(hours=2), False)):
        closes_at = now() - since
        challenge, user = backend.challenge(closes_at=closes_at), backend.user()
        expected = contextlib.nullcontext() if is_accepted else pytest.raises(ConflictError, match="closed")
        with expected:
            submission_id = backend.submit(user, challenge, began_at=closes_at - timedelta(seconds=1))
            assert backend.submission(submission_id).state is State.QUEUED


def test_refuses_a_report_with_errors(backend: Backend) -> None:
    report = Report((Problem("unknown_image", Severity.ERROR, "There is no such image."),))
    with pytest.raises(InvalidArchiveError):
        backend.submit(backend.user(), backend.challenge(), report=report)


def test_a_method_keeps_its_row(backend: Backend) -> None:
    challenge, user = backend.challenge(), backend.user()
    first, second = backend.submit(user, challenge), backend.submit(user, challenge, method_name="Method")
    assert backend.submission(first).method_id == backend.submission(second).method_id


# Quota


def test_every_competition_has_its_own_quota(backend: Backend) -> None:
    challenge, user = backend.challenge(quota_count=1), backend.user()
    backend.submit(user, challenge, entries=(CLASSIFICATION,))
    with pytest.raises(LimitedError, match="comp1"):
        backend.submit(user, challenge, entries=(CLASSIFICATION, DETECTION))
    backend.submit(user, challenge, entries=(DETECTION,))
    backend.submit(backend.user(), challenge, entries=(CLASSIFICATION,))


def test_the_quota_opens_again_after_its_period(backend: Backend) -> None:
    period = timedelta(hours=1)
    challenge, user = (
        backend.challenge(quota_count=2, quota_period_seconds=int(period.total_seconds())),
        backend.user(),
    )
    first, _ = backend.submit(user, challenge), backend.submit(user, challenge)
    made_at = backend.submission(first).created_at
    with backend.database.reading() as session:
        phase = phase_of(session, challenge)
        later = quotas(session, user=user, challenge=challenge, phase=phase, now=made_at + period)
        present = quotas(session, user=user, challenge=challenge, phase=phase, now=now())
    assert (present["comp1"].used, present["comp1"].allowed_at) == (2, made_at + period)
    assert (later["comp1"].used, later["comp1"].allowed_at) == (1, None)


def test_a_failure_of_ours_gives_the_quota_back(backend: Backend) -> None:
    challenge, user = backend.challenge(quota_count=1), backend.user()
    backend.submit(user, challenge)
    claimed = claim_next(backend.database, Kind.EVALUATION)
    assert stores(backend.database, queue.fail, claimed, failure="We are sorry.", detail="")
    backend.submit(user, challenge)


def test_withdrawing_gives_the_quota_back_only_while_the_submission_waits(backend: Backend) -> None:
    challenge, user = backend.challenge(quota_count=1), backend.user()
    do(backend, service.withdraw, backend.submit(user, challenge), user)
    do(backend, service.withdraw, score(backend, backend.submit(user, challenge)), user)
    with pytest.raises(LimitedError):
        backend.submit(user, challenge)


# Withdrawing


def test_rejects_a_second_withdrawal(backend: Backend) -> None:
    user = backend.user()
    submission_id = backend.submit(user, backend.challenge())
    do(backend, service.withdraw, submission_id, user)
    with pytest.raises(ConflictError, match="withdrawn"):
        do(backend, service.withdraw, submission_id, user)


# Publishing


def test_only_what_is_scored_can_be_published(backend: Backend) -> None:
    user = backend.user()
    submission_id = backend.submit(user, backend.challenge())
    with pytest.raises(ConflictError, match="queued"):
        do(backend, publishing.publish, submission_id, user)
    do(backend, publishing.publish, score(backend, submission_id), user)
    assert backend.submission(submission_id).published_at is not None


@pytest.mark.postgres
def test_parallel_publishing_of_one_method_puts_one_on_the_board(backend: Backend) -> None:
    challenge, user = backend.challenge(), backend.user()
    submissions = [score(backend, backend.submit(user, challenge)) for _ in range(6)]

    def publish(submission_id: uuid.UUID) -> bool:
        try:
            do(backend, publishing.publish, submission_id, user)
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(6) as people:
        assert sum(people.map(publish, submissions)) == 1


def test_a_withdrawn_result_leaves_the_board_and_loses_its_link(backend: Backend) -> None:
    user = backend.user()
    submission_id = score(backend, backend.submit(user, backend.challenge()))
    do(backend, publishing.publish, submission_id, user)
    do(backend, publishing.create_anonymous_link, submission_id, user)
    do(backend, service.withdraw, submission_id, user)
    row = backend.submission(submission_id)
    assert (row.published_at, row.anonymous_token_hash) == (None, None)


def test_publishing_and_withdrawing_are_in_the_audit_log_once(backend: Backend) -> None:
    user = backend.user()
    submission_id = score(backend, backend.submit(user, backend.challenge()))
    for action in (
        publishing.publish,
        publishing.publish,
        publishing.unpublish,
        publishing.unpublish,
        service.withdraw,
    ):
        do(backend, action, submission_id, user)
    with backend.database.reading() as session:
        events = session.scalars(
            select(AuditEvent).where(AuditEvent.object_id == submission_id).order_by(AuditEvent.created_at)
        ).all()
    assert [event.action for event in events] == [
        "submission.publish",
        "submission.unpublish",
        "submission.withdraw",
    ]
    assert {event.actor_id for event in events} == {user.id}


# Who sees what


def visible_to(session: Session, submission_id: uuid.UUID, viewer: User | None) -> bool:
    try:
        queries.get_for(session, submission_id, viewer)
    except NotFoundError:
        return False
    return True


def test_published_results_of_a_draft_are_hidden(backend: Backend) -> None:
    owner, challenge = backend.user(), backend.challenge()
    submission_id = score(backend, backend.submit(owner, challenge))
    do(backend, publishing.publish, submission_id, owner)
    with backend.database.writing() as session:
        session.get_one(Challenge, challenge.id).visibility = Visibility.DRAFT
    with backend.database.reading() as session:
        assert not visible_to(session, submission_id, None)
        assert visible_to(session, submission_id, owner)


OWNERS_ALONE = [
    publishing.publish,
    publishing.unpublish,
    service.withdraw,
    publishing.create_anonymous_link,
    publishing.revoke_anonymous_link,
]


def test_others_cannot_touch_a_submission(backend: Backend) -> None:
    organiser, owner, other = backend.user(role=Role.ORGANISER), backend.user(), backend.user()
    submission_id = score(backend, backend.submit(owner, backend.challenge(organiser=organiser)))

    def expect(error: type[ServiceError], user: User) -> None:
        for action in OWNERS_ALONE:
            with pytest.raises(ServiceError) as raised:
                do(backend, action, submission_id, user)
            assert type(raised.value) is error, action.__name__

    expect(NotFoundError, other)
    expect(ForbiddenError, organiser)
    do(backend, publishing.publish, submission_id, owner)
    expect(ForbiddenError, other)


def test_an_anonymous_link_leads_to_its_result_until_it_is_revoked(backend: Backend) -> None:
    owner = backend.user()
    submission_id = score(backend, backend.submit(owner, backend.challenge()))
    first = str(do(backend, publishing.create_anonymous_link, submission_id, owner))
    token = str(do(backend, publishing.create_anonymous_link, submission_id, owner))
    assert len(token) >= 43  # 256 bits in base64
    with backend.database.reading() as session:
        assert queries.by_anonymous_token(session, token).id == submission_id
        with pytest.raises(NotFoundError):
            queries.by_anonymous_token(session, first)
    do(backend, publishing.revoke_anonymous_link, submission_id, owner)
    with backend.database.reading() as session, pytest.raises(NotFoundError):
        queries.by_anonymous_token(session, token)


def test_a_rehearsal_has_no_anonymous_link(backend: Backend) -> None:
    organiser = backend.user(role=Role.ORGANISER)
    challenge = backend.challenge(organiser=organiser)
    submission_id = score(backend, backend.submit(organiser, challenge, is_rehearsal=True))
    with pytest.raises(ConflictError, match="A rehearsal has no anonymous link"):
        do(backend, publishing.create_anonymous_link, submission_id, organiser)


def test_an_anonymous_link_shows_nothing_of_a_draft(backend: Backend) -> None:
    owner, challenge = backend.user(), backend.challenge()
    submission_id = score(backend, backend.submit(owner, challenge))
    token = str(do(backend, publishing.create_anonymous_link, submission_id, owner))
    with backend.database.writing() as session:
        session.execute(update(Challenge).where(Challenge.id == challenge.id).values(visibility=Visibility.DRAFT))
    with backend.database.reading() as session, pytest.raises(NotFoundError):
        queries.by_anonymous_token(session, token)
    with pytest.raises(ConflictError, match="Not everyone can see this challenge"):
        do(backend, publishing.create_anonymous_link, submission_id, owner)


def test_lists_are_paged_with_the_latest_first(backend: Backend) -> None:
    challenge, user, other = backend.challenge(), backend.user(), backend.user()
    own = [backend.submit(user, challenge) for _ in range(5)]
    backend.submit(other, challenge)
    with backend.database.reading() as session:
        second = queries.mine(session, user=user, page=2, per_page=2)
    assert [item.id for item in second.items] == [own[2], own[1]]
    assert (second.total, second.pages) == (5, 3)
