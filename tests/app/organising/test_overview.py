"""Organisers' lists: searched, filtered and sorted submissions, entrants, the queue, the log."""

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support.factories import make_challenge, make_organiser, make_reported, make_truth, make_user
from tests.support.phases import complete
from tests.support.scored import make_scored
from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import Database, now
from vocboard.app.organising import audit_log as export
from vocboard.app.organising import entrants, queue, submissions, waiting
from vocboard.app.organising.history import Outcome, Steps, history
from vocboard.app.organising.phase_changes import add_phase
from vocboard.app.organising.recent import Recent
from vocboard.app.organising.score_distributions import score_distributions
from vocboard.app.organising.submissions import Filters, Flag, SubmissionSort
from vocboard.app.participating import publishing
from vocboard.app.submissions import queries as submission_queries
from vocboard.app.submissions import queue as submission_queue
from vocboard.app.submissions.filters import OwnFilters, SubmissionKind
from vocboard.app.submissions.models import State
from vocboard.app.submissions.quota import Use
from vocboard.evaluator.names import Metric
from vocboard.evaluator.tasks.definitions import METRICS

DAY = timedelta(days=1)
WARNING = {"code": "x", "severity": "warning", "message": "Odd.", "file": "a.txt", "line": 1}


def scored(session: Session, challenge: Challenge, owner: User, name: str, score: float, **given: Any) -> str:
    fields = {"archive_sha256": f"{uuid.uuid4().int:064x}", "declarations": {"training_data": "VOC"}, **given}
    make_scored(session, challenge, owner, name, score=score, **fields)
    return name


@pytest.fixture
def challenge(database: Database) -> Challenge:
    with database.writing() as session:
        made = make_challenge(session)
        ada = make_user(session, name="Ada", email="ada@lab.example")
        bob = make_user(session, name="Bob_100%", email="bob@lab.example")
        scored(session, made, ada, "First", 0.25, created_at=now() - 9 * DAY, archive_sha256="a" * 64)
        scored(session, made, ada, "Second", 0.75, created_at=now() - 2 * DAY, warnings=[WARNING, WARNING])
        scored(session, made, ada, "Third", 0.5, created_at=now() - 1 * DAY, published_at=now(), declarations={})
        scored(session, made, bob, "Copy", 0.25, created_at=now(), archive_sha256="a" * 64, state=State.DISQUALIFIED)
    return made


def test_submissions_to_a_large_challenge_are_counted_at_most_once_a_minute(
    database: Database, challenge: Challenge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counted() -> tuple[int, int, int]:
        with database.reading() as session:
            one = waiting.waiting(session, [challenge.id])[challenge.id]
            return submissions.counts(session, challenge)[State.SCORED], one.submissions, one.people

    def add(name: str) -> None:
        with database.writing() as session:
            scored(session, session.get_one(Challenge, challenge.id), make_user(session), name, 0.5)

    assert counted() == (3, 4, 2)
    add("Of a small challenge")
    for module in (submissions, waiting):
        monkeypatch.setattr(module, "LARGE", 4)
    assert counted() == (4, 5, 3)
    add("Not yet")
    assert counted() == (4, 5, 3)
    monkeypatch.setattr(submissions, "_recent_counts", Recent())  # a minute later
    monkeypatch.setattr(waiting, "_recent", Recent())
    assert counted() == (5, 6, 4)


def test_nobody_has_to_confirm_ground_truth_that_a_newer_version_has_replaced(database: Database) -> None:
    def to_confirm() -> int:
        with database.reading() as session:
            return waiting.waiting(session, [challenge.id])[challenge.id].to_confirm

    with database.writing() as session:
        challenge = make_challenge(session, ready=False)
        make_truth(session, challenge, current=False).warnings = [WARNING]
    assert to_confirm() == 1
    with database.writing() as session:
        make_truth(session, complete(session, challenge.id))
    assert to_confirm() == 0
    with database.writing() as session:
        make_truth(session, complete(session, challenge.id), current=False).warnings = [WARNING]
    assert to_confirm() == 1


def names(database: Database, challenge: Challenge, **filters: Any) -> list[str]:
    with database.reading() as session:
        found = submissions.page_of_submissions(session, challenge=challenge, filters=Filters(**filters))
        return [row.submission.method.name for row in found.items]


FOUND: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["Copy", "Third", "Second", "First"]),
    ({"q": "sec"}, ["Second"]),
    ({"q": "ADA@LAB"}, ["Third", "Second", "First"]),
    ({"q": "a" * 20}, ["Copy", "First"]),
    ({"q": "_100%"}, ["Copy"]),
    ({"q": "%"}, ["Copy"]),
    ({"q": "\x00nobody"}, []),
    ({"kind": SubmissionKind.DISQUALIFIED}, ["Copy"]),
    ({"kind": SubmissionKind.PUBLISHED}, ["Third"]),
    ({"kind": SubmissionKind.UNPUBLISHED}, ["Second", "First"]),
    ({"flag": Flag.WARNINGS}, ["Second"]),
    ({"flag": Flag.COPIES}, ["Copy", "First"]),
    ({"competition": "comp1"}, ["Copy", "Third", "Second", "First"]),
    ({"competition": "comp3"}, []),
    ({"competition": "\x00"}, []),
    ({"phase": "main", "q": "sec"}, ["Second"]),
    ({"phase": "\x00"}, []),
    ({"person": uuid.uuid4()}, []),
    ({"since": now() - 3 * DAY}, ["Copy", "Third", "Second"]),
    ({"since": now() - 3 * DAY, "until": now() - DAY / 2}, ["Third", "Second"]),
    ({"sort": SubmissionSort.MEAN, "kind": SubmissionKind.SCORED}, ["Second", "Third", "First"]),
    (
        {"sort": SubmissionSort.MEAN, "kind": SubmissionKind.SCORED, "descending": False},
        ["First", "Third", "Second"],
    ),
    ({"sort": SubmissionSort.METHOD}, ["Copy", "First", "Second", "Third"]),
    ({"sort": SubmissionSort.PERSON}, ["Third", "Second", "First", "Copy"]),
    ({"sort": SubmissionSort.WARNINGS}, ["Second", "Copy", "Third", "First"]),
]


def test_submissions_are_searched_filtered_and_sorted(database: Database, challenge: Challenge) -> None:
    for filters, expected in FOUND:
        assert names(database, challenge, **filters) == expected, filters


OWN: list[tuple[dict[str, Any], list[str]]] = [
    ({"challenge": "of another"}, []),
    ({"archive_sha256": "a" * 64}, ["First"]),
    ({"q": "I"}, ["Third", "First"]),
    ({"kind": SubmissionKind.PUBLISHED}, ["Third"]),
    ({"competition": "comp1", "phase": "main"}, ["Third", "Second", "First"]),
    ({"competition": "comp3"}, []),
    ({"phase": "later"}, []),
    ({"since": now() - 3 * DAY, "until": now() - 3 * DAY / 2}, ["Second"]),
    ({"q": "\x00", "competition": "\x00", "phase": "\x00", "challenge": "\x00"}, []),
]


def test_own_submissions_are_filtered(database: Database, challenge: Challenge) -> None:
    for given, expected in OWN:
        with database.reading() as session:
            ada = session.scalars(select(User).where(User.email == "ada@lab.example")).one()
            found = submission_queries.mine(session, user=ada, filters=OwnFilters(**given))
        assert [one.method.name for one in found.items] == expected, given


def test_missing_declarations_are_found(database: Database, challenge: Challenge) -> None:
    with database.reading() as session:
        found = submissions.page_of_submissions(session, challenge=challenge, filters=Filters())
        missing = {row.submission.method.name for row in found.items if row.not_declared}
    assert set(names(database, challenge, flag=Flag.UNDECLARED)) == missing


def test_a_row_has_what_organisers_look_at(database: Database, challenge: Challenge) -> None:
    with database.reading() as session:
        found = submissions.page_of_submissions(session, challenge=challenge, filters=Filters(q="First"))
        by_kind = {"published": 1, "rehearsals": 0, "copies": 2}
        assert submissions.counts(session, challenge) == {"scored": 3, "disqualified": 1, **by_kind}
    [row] = found.items
    assert (row.means, row.has_copies) == ({"comp1": 0.25}, True)


def test_an_id_is_found(database: Database, challenge: Challenge) -> None:
    with database.reading() as session:
        found = submissions.page_of_submissions(session, challenge=challenge, filters=Filters())
        identifier = str(found.items[2].submission.id)
    for text in (identifier, identifier[:12], identifier.replace("-", "")):
        assert names(database, challenge, q=text) == ["Second"]


def test_entrants_have_their_use_of_the_quota_and_their_progress(database: Database, challenge: Challenge) -> None:
    with database.reading() as session:
        ada, bob = entrants.page_of_entrants(
            session, challenge=complete(session, challenge.id), sort=entrants.EntrantSort.BEST
        ).items
    assert (ada.user.name, ada.submissions, ada.quota, ada.published) == ("Ada", 3, Use(3, 2), 1)
    assert [(one.phase, one.method, one.competition, one.scored) for one in ada.progress] == [
        ("main", name, "comp1", 1) for name in ("First", "Second", "Third")
    ]
    assert (bob.submissions, bob.disqualified, bob.progress) == (1, 1, [])


def test_the_order_of_many_entrants_may_be_old_and_nothing_else(
    database: Database, challenge: Challenge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed(page: int = 1) -> list[tuple[str, int]]:
        with database.reading() as session:
            found = entrants.page_of_entrants(session, challenge=complete(session, challenge.id), page=page, per_page=2)
            return [(one.user.name, one.submissions) for one in found.items]

    monkeypatch.setattr(entrants, "MANY", 1)
    before = listed()
    name, number = before[1]
    with database.writing() as session:
        latest = session.scalars(select(User).where(User.name == name)).one()
        scored(session, challenge, latest, "Later", 0.5)
        scored(session, challenge, make_user(session, name="Newcomer"), "Later", 0.5)
    assert (listed(), listed(2)) == ([before[0], (name, number + 1)], [])
    monkeypatch.setattr(entrants, "_orders", Recent())
    assert [one for one, _ in listed() + listed(2)] == ["Newcomer", name, before[0][0]]


def test_entrants_rehearsals_and_returned_quota_do_not_count(database: Database, challenge: Challenge) -> None:
    with database.writing() as session:
        cleo = make_user(session, name="Cleo")
        scored(session, challenge, cleo, "Rehearsed", 0.5, is_rehearsal=True)
        scored(session, challenge, cleo, "Returned", 0.5, quota_returned_at=now())
        scored(session, challenge, cleo, "Counted", 0.5)
    with database.reading() as session:
        found = {
            one.user.name: one
            for one in entrants.page_of_entrants(session, challenge=complete(session, challenge.id)).items
        }
    assert (found["Cleo"].submissions, found["Cleo"].quota) == (3, Use(1, 1))
    assert [one.method for one in found["Cleo"].progress] == ["Returned", "Counted"]


def test_the_best_of_an_error_is_the_lowest(
    database: Database, challenge: Challenge, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_error = replace(METRICS[Metric.AVERAGE_PRECISION], higher_is_better=False)
    monkeypatch.setattr(entrants, "METRICS", {**METRICS, Metric.AVERAGE_PRECISION: as_error})
    with database.writing() as session:
        cleo = make_user(session, name="Cleo")
        for score in (0.5, 0.125, 0.75):
            scored(session, challenge, cleo, "One", score)
        # Another phase is another test: easier, and not an improvement.
        found = complete(session, challenge.id)
        practice = add_phase(
            session,
            challenge=found,
            user=cleo,
            key="practice",
            title="Practice",
            rules=PhaseRules(competitions=("comp1",)),
        )
        scored(session, challenge, cleo, "One", 0.0625, phase_id=practice.id)
    with database.reading() as session:
        by_best, by_improvement = (
            entrants.page_of_entrants(session, challenge=complete(session, challenge.id), sort=sort).items
            for sort in (entrants.EntrantSort.BEST, entrants.EntrantSort.IMPROVEMENT)
        )
    practice, progress = by_best[0].progress
    assert (progress.scored, progress.first, progress.best, progress.improvement) == (3, 0.5, 0.125, 0.375)
    assert (practice.phase, practice.scored, practice.improvement) == ("practice", 1, 0.0)
    for found in (by_best, by_improvement):
        assert [one.user.name for one in found] == ["Cleo", "Ada", "Bob_100%"]


def test_the_queue_tells_what_waits_and_that_no_worker_looks(database: Database, challenge: Challenge) -> None:
    with database.writing() as session:
        person = make_user(session)
        waiting = make_scored(session, challenge, person, "Waiting", state=State.QUEUED, finished_at=None)
        submission_queue.add(session, waiting)
        make_scored(session, challenge, person, "Running", state=State.EVALUATING, claimed_at=now())
        make_scored(session, make_challenge(session), person, "Elsewhere", state=State.QUEUED)
    with database.reading() as session:
        health = queue.health(session, challenge)
    assert (health.own_waiting, health.own_running, health.waiting, health.running) == (1, 1, 2, 1)
    assert [(one.submission.method.name, one.place) for one in health.unfinished] == [("Running", None), ("Waiting", 1)]
    assert health.workers == []
    assert health.mean_seconds == 1.0


def test_a_long_list_of_who_is_in_the_log_has_organisers_and_who_was_chosen(
    database: Database, challenge: Challenge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "MAX_PEOPLE", 1)
    with database.writing() as session:
        ada, aaron = (
            session.scalars(select(User).where(User.name == "Ada")).one(),
            make_organiser(session, name="Aaron"),
        )
        for user in (ada, aaron):
            audit.record(session, actor=user, action="question.ask", subject=challenge)
    with database.reading() as session:
        assert [one.name for one in export.people_in_log(session, challenge.id)] == ["Aaron"]
        assert [one.name for one in export.people_in_log(session, None, who=str(ada.id))] == ["Aaron", "Ada"]


def test_the_log_of_a_challenge_is_filtered_and_exported(database: Database, challenge: Challenge) -> None:
    with database.writing() as session:
        [row] = submissions.page_of_submissions(session, challenge=challenge, filters=Filters(q="Second")).items
        publishing.publish(session, submission_id=row.submission.id, user=row.submission.user)
    operator = Database(database.engine.url.render_as_string(hide_password=False), operator="root@host, command line")
    with operator.writing() as session:
        owner = session.get_one(User, row.submission.user_id)
        publishing.unpublish(session, submission_id=row.submission.id, user=owner)
    operator.close()

    def texts(**filters: Any) -> list[str]:
        with database.reading() as session:
            found = export.page_of_log(session, challenge_id=challenge.id, filters=export.Filters(**filters))
            return [event.text for event in found.items]

    published = "Ada published “Second”."
    unpublished = "root@host, command line unpublished “Second” of Ada."
    assert texts(about=row.submission.id) == [unpublished, published]
    assert texts(who=str(row.submission.user_id)) == [published]
    assert texts(who=export.OPERATOR) == [unpublished]
    assert texts(action="submission") == [unpublished, published]
    assert texts(action="submission.publish") == [published]
    assert texts(who="nobody") == texts(since=now() + timedelta(days=1)) == []
    assert texts(until=now() + timedelta(days=1))[:2] == [unpublished, published]
    lines = "".join(export.as_csv(database, challenge_id=challenge.id, filters=export.Filters())).splitlines()
    assert lines[0].startswith("time,who,action")
    assert next(line.split(",")[2] for line in lines if "submission." in line) == "submission.publish"


def test_the_history_of_a_challenge_counts_everything_but_rehearsals(database: Database, challenge: Challenge) -> None:
    at, day = now(), timedelta(days=1)
    with database.writing() as session:
        assert history(session, complete(session, make_challenge(session).id), at=at) is None
        made, dan = complete(session, challenge.id), make_user(session, name="Dan")
        queued = {"created_at": at - 8 * day, "queued_at": at - 8 * day}
        broken = {**queued, "state": State.FAILED, "failure": "The worker stopped.", "finished_at": at - 7 * day}
        scored(session, made, dan, "Broken", 0.9, **broken)
        scored(session, made, dan, "Waits", 0.9, state=State.QUEUED)
        scored(session, made, dan, "Rehearsal", 0.95, is_rehearsal=True)
        make_reported(session, made, mean=0.125)
    with database.reading() as session:
        found = history(session, complete(session, challenge.id), at=at)
        [board] = score_distributions(session, complete(session, challenge.id))
    assert found is not None
    [phase] = found.phases
    assert (found.submissions, found.published, found.people) == (6, 1, 3)
    totals = {outcome: sum(numbers) for outcome, numbers in phase.counts.items()}
    assert totals == {Outcome.SCORED: 3, Outcome.FAILED: 1, Outcome.REMOVED: 1, Outcome.UNFINISHED: 1}
    assert (found.steps.length, found.steps.count) == (day, 10)
    assert [number for number, count in enumerate(phase.counts[Outcome.SCORED]) if count] == [0, 7, 8]
    assert (found.newcomers[:2], found.returning[:2], sum(found.returning)) == ([1, 1], [0, 0], 3)
    assert board.bins == {250: 1, 500: 1, 750: 1}
    assert (board.median, board.best, board.reported) == (0.5, 0.75, (("Chance", 0.125),))
    assert found.durations.get(86_400) == 1
    assert found.failures == (("The worker stopped.", 1),)


def test_a_long_history_has_longer_steps() -> None:
    first, last = datetime(2020, 2, 29, 12, tzinfo=UTC), datetime(2026, 11, 28, tzinfo=UTC)
    weeks, years = Steps.between(first, first + timedelta(days=100)), Steps.between(first, last)
    assert (weeks.length.days, weeks.begin(0)) == (7, datetime(2020, 2, 24, tzinfo=UTC))
    assert (years.length.days, years.count) == (91, 28)
