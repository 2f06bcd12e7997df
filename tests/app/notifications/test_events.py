"""Who is told what: nothing above what the person may see, and deadlines once."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from tests.support.backend import Backend
from tests.support.clock import Clock
from tests.support.factories import make_challenge, make_organiser, make_user
from tests.support.jobs import evaluate_next
from tests.support.rescoring import add_corrected_truth, apply, board, start_rescore, submit_scored, work
from tests.support.scored import make_scored
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Ban, Challenge, ChallengePhase
from vocboard.app.database import Database, now
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.notifications.models import Notification, NotificationKind, NotificationSetting
from vocboard.app.organising import moderation
from vocboard.app.participating import deadlines, publishing
from vocboard.app.submissions.models import Submission
from vocboard.app.teams.models import TeamMember, TeamRole


def told(database: Database, kind: NotificationKind) -> Sequence[Notification]:
    with database.reading() as session:
        return session.scalars(select(Notification).where(Notification.kind == kind).order_by(Notification.title)).all()


def change_phase(backend: Backend, challenge: Challenge, **values: Any) -> None:
    with backend.database.writing() as session:
        session.execute(update(ChallengePhase).where(ChallengePhase.challenge_id == challenge.id).values(**values))


def correct(backend: Backend, challenge: Challenge) -> None:
    rescore_id = start_rescore(backend, challenge, add_corrected_truth(backend, challenge))
    work(backend)
    apply(backend, rescore_id, confirm=challenge.slug)


def test_owners_are_told_that_something_was_scored_and_not_the_score(backend: Backend) -> None:
    challenge = backend.challenge()
    [submission_id] = submit_scored(backend, challenge, 1)
    [one] = told(backend.database, NotificationKind.SCORED)
    with backend.database.reading() as session:
        assert one.user_id == session.get_one(Submission, submission_id).user_id
    assert one.title == f"“Method 000” was scored in “{challenge.title}”"
    assert (one.text, one.link) == ("", f"/submissions/{submission_id}")


def test_owners_are_told_why_something_failed(backend: Backend) -> None:
    challenge = backend.challenge()
    backend.submit(backend.user(), challenge, archive=b"lost its columns", method_name="Mine")
    while evaluate_next(backend.database, backend.store, backend.settings):
        pass
    [one] = told(backend.database, NotificationKind.FAILED)
    assert one.title.startswith("“Mine” failed in")
    assert "does not count against your quota" in one.text


def test_a_correction_names_shown_scores_and_ranks_before_and_after(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 6)
    rows = {row.method: row for row in board(backend, challenge).rows}
    correct(backend, challenge)
    after = {row.method: row for row in board(backend, challenge).rows}
    notifications = told(backend.database, NotificationKind.CORRECTED)
    lines = "\n".join(one.text for one in notifications).splitlines()
    shown = {line.partition(":")[0]: line for line in lines if "→" in line and "rank" in line}
    assert len({one.user_id for one in notifications}) == len(notifications), "one for each person"
    for name, row in rows.items():
        if (row.mean.value, row.rank) == (after[name].mean.value, after[name].rank):
            continue
        line = next(line for line in lines if line.startswith(f"{name}, comp1: "))
        if row.mean.value != after[name].mean.value:
            assert f"{100 * row.mean.value:.2f} % → {100 * after[name].mean.value:.2f} %" in line
        assert (f"rank {row.rank} → {after[name].rank}" in line) == (row.rank != after[name].rank)
    assert shown


@pytest.mark.parametrize(
    ("rules", "figures"),
    [
        ({"ladder_step": 0.01}, ""),
        ({"leaderboard_from": datetime(2100, 1, 1).astimezone()}, "%"),
    ],
)
def test_a_correction_reveals_nothing_that_is_hidden(backend: Backend, rules: dict[str, Any], figures: str) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 6)
    change_phase(backend, challenge, **rules)
    correct(backend, challenge)
    [one] = told(backend.database, NotificationKind.CORRECTED)
    assert "rank" not in one.text
    assert bool(re.search(r"\d % →", one.text)) == bool(figures)
    assert "Labels corrected" in one.text


def test_with_the_ladder_people_whose_scores_did_not_change_are_told_the_same(backend: Backend) -> None:
    challenge = backend.challenge()
    submit_scored(backend, challenge, 2)
    submit_scored(backend, challenge, 2)
    change_phase(backend, challenge, ladder_step=0.01)
    correct(backend, challenge)
    found = told(backend.database, NotificationKind.CORRECTED)
    assert len(found) == 2
    assert len({(one.title, one.text) for one in found}) == 1


def test_a_deadline_is_told_once_for_each_time_to_those_who_had_entered(database: Database, clock: Clock) -> None:
    start = now()
    closes = start + timedelta(days=5)
    with database.writing() as session:
        challenge = make_challenge(session, title="Harbour", closes_at=closes)
        make_challenge(session, title="Empty", closes_at=closes)
        early, late, banned, elsewhere = (make_user(session) for _ in range(4))
        for person in (early, early, banned):
            make_scored(session, challenge, person, f"of {person.name}")
        make_scored(session, make_challenge(session), elsewhere, "elsewhere")
        session.add(Ban(user_id=banned.id, challenge_id=challenge.id, reason="Cheated"))
        [phase] = session.scalars(select(ChallengePhase).where(ChallengePhase.challenge_id == challenge.id)).all()

    def pass_time(until: datetime) -> None:
        while now() < until:
            clock.advance(timedelta(hours=1))
            for _ in range(2):
                with database.writing() as session:
                    deadlines.remind(session)

    pass_time(closes - timedelta(hours=49))
    [first] = told(database, NotificationKind.DEADLINE)
    assert first.user_id == early.id
    assert first.title == f"“Harbour” closes on {closes:%-d %b %Y, %H:%M} UTC"
    assert first.link == f"/challenges/{challenge.slug}/submit?phase=main"  # which need not be the current phase
    assert first.created_at - (closes - timedelta(hours=72)) < timedelta(hours=1, minutes=1)
    with database.writing() as session:
        make_scored(session, challenge, late, "late", created_at=now())
    pass_time(closes + timedelta(days=1))
    assert whom(database) == {early.id: 2, late.id: 1}
    with database.writing() as session:
        session.get_one(ChallengePhase, phase.id).closes_at = now() + timedelta(days=6)
    pass_time(closes + timedelta(days=9))
    assert whom(database) == {early.id: 4, late.id: 3}, "the date was moved, so they are told the new one"


def whom(database: Database) -> dict[Any, int]:
    found: dict[Any, int] = {}
    for one in told(database, NotificationKind.DEADLINE):
        found[one.user_id] = found.get(one.user_id, 0) + 1
    return found


def test_a_disqualification_is_mailed_whatever_a_person_has_chosen(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        owner: User = make_user(session)
        submission = make_scored(session, make_challenge(session, organiser=organiser), owner, "Mine")
        for kind in NotificationKind:
            session.add(NotificationSetting(user_id=owner.id, kind=kind, by_email=False))
    with database.writing() as session:
        moderation.disqualify(
            session,
            submission_id=submission.id,
            user=organiser,
            reason="Trained on the test set.",
            site="https://x.example",
        )
    [one] = told(database, NotificationKind.DISQUALIFIED)
    assert (one.user_id, one.text) == (owner.id, "Trained on the test set.")
    assert one.mailed_at is not None, "it has its own message"
    with database.reading() as session:
        assert session.scalars(select(OutgoingMail.recipient)).all() == [owner.email]


def test_members_of_a_team_are_told_what_another_one_publishes(database: Database) -> None:
    with database.writing() as session:
        owner, member, former = (make_user(session) for _ in range(3))
        challenge = make_challenge(session)
        submission = make_scored(session, challenge, owner, "Ours")
        joined = {"challenge_id": challenge.id, "team_id": submission.team_id, "role": TeamRole.MEMBER}
        session.add(TeamMember(user_id=member.id, **joined))
        make_scored(session, challenge, former, "Others")
    for _ in range(2):
        with database.writing() as session:
            publishing.publish(session, submission_id=submission.id, user=owner)
    [one] = told(database, NotificationKind.PUBLISHED)
    assert one.user_id == member.id
    assert owner.name not in one.title + one.text
