"""How much quota people have used, by the rule and by others."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support.factories import WEEK, make_challenge, make_user
from tests.support.scored import make_scored
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge, ExtraQuota
from vocboard.app.challenges.phases import phases_of
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import Database, lock_for_transaction, now
from vocboard.app.errors import ConflictError, LimitedError
from vocboard.app.submissions import quota as rule
from vocboard.app.submissions.quota import Quota, Use, check_quota, quota_uses, quotas, sentence


@pytest.fixture
def challenge(database: Database) -> Challenge:
    with database.writing() as session:
        return make_challenge(session, quota_count=3, quota_period_seconds=int(WEEK.total_seconds()))


def test_organisers_see_what_the_rule_counts(database: Database, challenge: Challenge) -> None:
    at = now()
    with database.writing() as session:
        person, other = make_user(session), make_user(session)
        for name, given in {
            "Old": {"created_at": at - WEEK - timedelta(seconds=1)},
            "New": {"created_at": at - WEEK + timedelta(seconds=1)},
            "Returned": {"quota_returned_at": at},
            "Rehearsed": {"is_rehearsal": True},
        }.items():
            make_scored(session, challenge, person, name, **given)
        make_scored(session, challenge, other, "Returned", quota_returned_at=at)
    with database.reading() as session:
        uses = quota_uses(session, challenge, [person.id, other.id], now=at)
        [phase] = phases_of(challenge)
        quota = quotas(session, user=person, challenge=challenge, phase=phase, now=at)["comp1"]
    assert uses == {person.id: Use(counted=2, counted_now=1)}
    assert quota.used == uses[person.id].counted_now


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        (timedelta(days=2), "2 days"),
        (timedelta(hours=36), "36 hours"),
        (timedelta(hours=1), "60 minutes"),
        (timedelta(seconds=90), "90 seconds"),
        (timedelta(seconds=1), "second"),
    ],
)
def test_the_period_is_in_its_largest_whole_unit(period: timedelta, expected: str) -> None:
    rules = PhaseRules(quota_count=2, quota_period_seconds=int(period.total_seconds()))
    assert sentence(rules) == f"2 submissions every {expected} in competitions with the same ground truth together"
    separate = rules.model_copy(update={"shared_quota": False})
    assert sentence(separate) == f"2 submissions per competition every {expected}"


@pytest.mark.parametrize(("days", "after"), [(1, 0), (3, -5)])
def test_extra_quota_that_ends_before_is_not_counted_on(database: Database, days: int, after: int) -> None:
    at = now()
    with database.writing() as session:
        challenge, person = make_challenge(session, quota_count=1), make_user(session)
        until = at + timedelta(days=days)
        session.add(ExtraQuota(phase_id=challenge.main_phase.id, email=person.email, count=1, until=until, reason=""))
        for ago in (5, 0):
            make_scored(session, challenge, person, f"Of {ago} days", created_at=at - timedelta(days=ago))
        [phase] = phases_of(challenge)
        who: dict[str, Any] = {"user": person, "challenge": challenge, "phase": phase, "now": at}
        assert quotas(session, **who)["comp1"] == Quota(2, 2, at + timedelta(days=after) + WEEK)
        with pytest.raises(LimitedError) as refused:
            check_quota(session, **who, competitions=["comp1"])
        assert refused.value.allowed_at == at + timedelta(days=after) + WEEK


MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)


def monday_of(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=at.weekday())


def use_calendar_weeks(monkeypatch: pytest.MonkeyPatch) -> None:
    def counts_after(_: PhaseRules, now: datetime) -> datetime:
        return monday_of(now) - MOMENT

    def allowed_again(_: PhaseRules, counted: Sequence[datetime], allowed: int) -> datetime:
        return monday_of(counted[0]) + WEEK

    def sentence(rules: PhaseRules, allowed: int | None = None) -> str:
        return f"{allowed or rules.quota_count} per competition from Monday to Sunday (UTC)"

    for function in (counts_after, allowed_again, sentence):
        monkeypatch.setattr(rule, function.__name__, function)


def test_calendar_weeks(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    use_calendar_weeks(monkeypatch)
    saturday = MONDAY + timedelta(days=5)
    with database.writing() as session:
        challenge, person = make_challenge(session, quota_count=2), make_user(session)
        for name, at in {"Sunday": MONDAY - MOMENT, "Monday": MONDAY, "Tuesday": MONDAY + timedelta(days=1)}.items():
            make_scored(session, challenge, person, name, created_at=at)
        [phase] = phases_of(challenge)
        who: dict[str, Any] = {"user": person, "challenge": challenge, "phase": phase}
        on_saturday = quotas(session, **who, now=saturday)["comp1"]
        assert (on_saturday.used, on_saturday.allowed_at) == (2, MONDAY + WEEK)
        on_monday = quotas(session, **who, now=MONDAY + WEEK)["comp1"]
        assert (on_monday.used, on_monday.allowed_at) == (0, None)
        with pytest.raises(LimitedError, match="2 per competition from Monday to Sunday"):
            check_quota(session, **who, competitions=["comp1"], now=saturday)
        check_quota(session, **who, competitions=["comp3"], now=saturday)


def test_people_of_one_affiliation(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def people_together(session: Session, _: PhaseRules, challenge: Challenge, user: User) -> Sequence[User]:
        lock_for_transaction(session, f"quota {challenge.id} {user.affiliation}")
        return session.scalars(select(User).where(User.affiliation == user.affiliation)).all()

    monkeypatch.setattr(rule, "people_together", people_together)
    with database.writing() as session:
        challenge = make_challenge(session, quota_count=2)
        people = [make_user(session, affiliation=name) for name in ("Laboratory", "Laboratory", "Elsewhere")]
        for person in people:
            make_scored(session, challenge, person, "Method")
        [phase] = phases_of(challenge)
        who: dict[str, Any] = {"challenge": challenge, "phase": phase, "now": now()}
        assert [quotas(session, user=person, **who)["comp1"].used for person in people] == [2, 2, 1]
        with pytest.raises(LimitedError, match="comp1 is used up"):
            check_quota(session, user=people[0], **who, competitions=["comp1"])
        check_quota(session, user=people[2], **who, competitions=["comp1"])


def test_competitions_with_the_same_ground_truth_share_a_quota(database: Database) -> None:
    keys = ("comp1", "comp2", "comp3", "comp4", "comp10", "comp12")
    with database.writing() as session:
        challenge, person = make_challenge(session, competitions=keys, quota_count=3), make_user(session)
        [phase] = phases_of(challenge)
        who: dict[str, Any] = {"user": person, "challenge": challenge, "phase": phase, "now": now()}
        made = make_scored(session, challenge, person, "Both", competitions=("comp3", "comp4"))
        make_scored(session, challenge, person, "Ten", competitions=("comp10",))
        used = {key: quota.used for key, quota in quotas(session, **who).items()}
        assert used == {"comp1": 0, "comp2": 0, "comp3": 2, "comp4": 2, "comp10": 1, "comp12": 1}
        check_quota(session, **who, competitions=["comp1", "comp2", "comp4", "comp10", "comp12"])
        with pytest.raises(LimitedError, match="The quota of comp3, comp4 is used up: 3 submissions every") as refused:
            check_quota(session, **who, competitions=["comp3", "comp4"])
        assert refused.value.allowed_at == made.created_at + WEEK
        challenge.main_phase.quota_count = 1
        [who["phase"]] = phases_of(challenge)
        with pytest.raises(ConflictError, match="Submit them separately"):
            check_quota(session, **who, competitions=["comp1", "comp2"])
        challenge.main_phase.quota_count, challenge.main_phase.shared_quota = 3, False
        [who["phase"]] = phases_of(challenge)
        assert quotas(session, **who)["comp3"].used == 1
        check_quota(session, **who, competitions=["comp3", "comp4"])
