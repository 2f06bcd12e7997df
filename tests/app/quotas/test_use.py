"""How much quota people have used, as organisers see it and as the rule counts it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.support.factories import WEEK, make_challenge, make_user
from tests.support.scored import make_scored
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import phases_of
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import Database, now
from vocboard.app.quotas.rule import sentence
from vocboard.app.quotas.service import Use, quotas, use_of_everyone


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = Database(database_url)
    yield opened
    opened.close()


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
        uses = use_of_everyone(session, challenge, now=at)
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
