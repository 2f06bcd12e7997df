"""What has to be true in the end, asked of the database, the store and the mail server."""

import collections
import re
import statistics
import time
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update

from tests.soak.people import VERSIONS, People
from tests.soak.world import World
from tests.support import small_world
from vocboard.app.challenges.models import GroundTruthVersion, Scoring
from vocboard.app.database import Database, now
from vocboard.app.evaluations.models import CompetitionResult, Evaluation, Measure
from vocboard.app.jobs.models import MAIL_KINDS, Job, Kind
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.notifications.models import Notification, NotificationKind
from vocboard.app.storage.stores import archive_store, sealed_truth
from vocboard.app.submissions.models import State, Submission
from vocboard.app.submissions.pruning import needed_contents, prune

ALLOWED_AFTER_LEASE = timedelta(seconds=60)
NOT_AWAITED = {
    Kind.SWEEP,  # due again and again
    Kind.MAIL_SWEEP,
    Kind.FREEZE,
    Kind.DIAGNOSIS,  # comes after everything else, and takes minutes for thousands of submissions
    Kind.SEQUENCES,  # comes after these
}
UNFINISHED = (State.QUEUED, State.EVALUATING)


def settle(world: World, *, everything: bool = False) -> tuple[float, list[str]]:
    """Wait for what was accepted before now, as long as is allowed; return the seconds and what is stuck.

    Args:
        everything: whether to wait for all other jobs, too, as long as they become fewer: nobody acts any more.
    """
    asked_at, started, before = now(), time.monotonic(), list[str]()
    allowed = (world.settings.lease + ALLOWED_AFTER_LEASE).total_seconds()
    deadline = started + allowed
    while True:
        with world.database() as database:
            stuck = _unfinished(database, asked_at, everything=everything)
        if everything and stuck != before:
            before, deadline = stuck, time.monotonic() + allowed
        if not stuck or time.monotonic() > deadline:
            seconds = time.monotonic() - started
            return seconds, [f"{one} is stuck {seconds:.0f} s after the last fault" for one in stuck]
        time.sleep(0.3)


def _unfinished(database: Database, asked_at: datetime, *, everything: bool) -> list[str]:
    with database.writing() as session:
        waiting = select(Submission.id).where(Submission.state.in_(UNFINISHED), Submission.created_at < asked_at)
        found = [f"submission {one}" for one in session.scalars(waiting)]
        if everything:
            # What was put off while the mail server was away need not be waited for.
            mail = Job.kind == Kind.MAIL, Job.finished_at.is_(None), Job.lease_id.is_(None), Job.not_before > now()
            session.execute(update(Job).where(*mail).values(not_before=now()))
            pending = select(Job.kind, func.count()).where(Job.finished_at.is_(None), Job.kind.not_in(NOT_AWAITED))
            found += [f"{row[0]}: {row[1]} jobs" for row in session.execute(pending.group_by(Job.kind))]
    return found


def count(world: World, people: People) -> tuple[dict[str, Any], list[str]]:
    """Return figures for the report, and all that is wrong."""
    with world.database() as database:
        parts = [_submissions(database, people), _evaluations(database, people), _told(database)]
        parts += [_objects(database, world), _mail(database, world)]
    figures: dict[str, Any] = {}
    for part, _ in parts:
        figures |= part
    wrong = [*people.ledger.wrong, *(one for _, found in parts for one in found)]
    return figures, wrong + [f"{name} has ended by itself" for name in world.processes.dead()]


def _submissions(database: Database, people: People) -> tuple[dict[str, Any], list[str]]:
    with database.reading() as session:
        rows = list(session.scalars(select(Submission)))
    known, states = {str(row.id) for row in rows}, collections.Counter(row.state.value for row in rows)
    waited = sorted((row.finished_at - row.created_at).total_seconds() for row in rows if row.finished_at)
    keys = collections.Counter(row.description for row in rows if row.description)
    wrong = [f"{one} was accepted and is lost" for one in people.ledger.accepted.keys() - known]
    wrong += [f"the upload {key} was accepted {times} times" for key, times in keys.items() if times > 1]
    for row in rows:
        is_over = row.state is State.SCORED and row.quota_returned_at is None
        if not is_over and not (row.state is State.FAILED and row.quota_returned_at is not None):
            wrong.append(f"{row.id} is {row.state}, its quota returned at {row.quota_returned_at}")
    seconds = {"median": statistics.median(waited), "95 %": waited[len(waited) * 95 // 100], "longest": waited[-1]}
    figures = {
        "accepted": len(rows),
        **states,
        "accepted without the client's knowledge": len(known - people.ledger.accepted.keys()),
        "failed because": dict(collections.Counter(row.failure_detail for row in rows if row.state is State.FAILED)),
        "seconds until the result": {name: round(value, 1) for name, value in seconds.items()},
    }
    return figures, wrong


def _evaluations(database: Database, people: People) -> tuple[dict[str, Any], list[str]]:
    """Each scored submission has one evaluation that counts, of the version that counts, with the scores it must have.

    Another evaluation belongs to another re-score; the database refuses a second one of the same.
    """
    with database.reading() as session:
        current = select(
            Submission.id, GroundTruthVersion.number, CompetitionResult.competition, Measure.mean, Submission.state
        )
        rows = session.execute(
            current.join(Evaluation, Evaluation.id == Submission.current_evaluation_id)
            .join(Scoring, Scoring.id == Evaluation.scoring_id)
            .join(GroundTruthVersion, GroundTruthVersion.id == Scoring.ground_truth_version_id)
            .join(CompetitionResult, CompetitionResult.evaluation_id == Evaluation.id)
            .join(Measure, (Measure.result_id == CompetitionResult.id) & (Measure.position == 0))
        ).all()
        scored = session.scalars(select(Submission.id).where(Submission.state == State.SCORED)).all()
        evaluations = session.scalar(select(func.count()).select_from(Evaluation)) or 0
    wrong = []
    versions = {number for _, number, *_ in rows}
    if len(versions) > 1 or not versions <= set(VERSIONS):
        wrong.append(f"current evaluations are of the versions {versions}")
    found = collections.Counter(id_ for id_, *_, state in rows if state is State.SCORED)
    wrong += [
        f"submission {one} is scored, and {found[one]} results of it count"
        for one in scored
        if found[one] != len(small_world.COMPETITIONS)
    ]
    for submission_id, number, competition, mean, _ in rows:
        variant = people.ledger.accepted.get(str(submission_id))
        if variant is not None and round(mean or 0, 4) != people.expected[competition, variant, number]:
            wrong.append(f"{submission_id} has {mean} in {competition} by version {number}")
    return {"evaluations, with those of re-scores": evaluations}, wrong


def _told(database: Database) -> tuple[dict[str, Any], list[str]]:
    """Everybody is told once of each result; again if an organiser applies a re-score in which it has failed."""
    of_results = Notification.kind.in_([NotificationKind.SCORED, NotificationKind.FAILED])
    result = Notification.user_id, Notification.link, Notification.kind
    with database.reading() as session:
        rows = session.execute(select(*result, func.count()).where(of_results).group_by(*result)).all()
    wrong = [f"{user} was told {times} times of {link}" for user, link, _, times in rows if times > 1]
    return {"results that somebody was told of": len(rows)}, wrong


def _objects(database: Database, world: World) -> tuple[dict[str, Any], list[str]]:
    """After the sweep, each row has its object, and each object its row."""
    store = archive_store(world.settings)
    swept = prune(database, store, withdrawn_kept_for=world.settings.withdrawn_archives_kept_for)
    with database.reading() as session:
        needed = needed_contents(session, withdrawn_kept_for=world.settings.withdrawn_archives_kept_for)
        truths = set(session.scalars(select(GroundTruthVersion.sha256))) - {None}
    stored = set(store.stored())
    wrong = [f"the row of {one} has no object" for one in needed - stored]
    wrong += [f"the object {one} has no row" for one in stored - needed]
    sealed = sealed_truth(world.settings)
    assert sealed is not None
    names = set(sealed.names())
    wrong += [f"the ground truth {one} has no object" for one in truths if not any(str(one) in name for name in names)]
    return {"objects": len(stored), "objects that the sweep set aside": swept.unknown}, wrong


def _mail(database: Database, world: World) -> tuple[dict[str, Any], list[str]]:
    """Each message has arrived; what arrived twice has the same Message-ID, by which mail programs know it.

    Workers go on: what they have sent is asked for before what has arrived, and what there is to send after it.
    Messages that wait are those of notifications of five minutes ago; `settle` has waited for all others.
    """
    made = select(OutgoingMail.id, OutgoingMail.subject, Job.failure).join(
        Job, (Job.key == OutgoingMail.id) & Job.kind.in_(MAIL_KINDS)
    )
    with database.reading() as session:
        sent = session.execute(made.where(Job.finished_at.is_not(None))).all()
    arrived = world.mail.messages()
    with database.reading() as session:
        rows = session.execute(made).all()
    times = collections.Counter(re.sub(r"[<>]|@.*", "", str(message["Message-ID"])) for message in arrived)
    wrong = [f"email {row.id} ({row.subject}) is {row.failure or 'lost'}" for row in sent if not times[str(row.id)]]
    wrong += [f"email {one} arrived and is not in the outbox" for one in times.keys() - {str(row.id) for row in rows}]
    texts = {
        str(message["Message-ID"]): (message["To"], message["Subject"], message.get_content()) for message in arrived
    }
    doubled = [text for text, number in collections.Counter(texts.values()).items() if number > 1]
    wrong += [f"{to} was sent {subject!r} in two messages" for to, subject, _ in doubled]
    figures = {"emails": len(rows), "arrived again with the same Message-ID": sum(times.values()) - len(times)}
    return figures, wrong
