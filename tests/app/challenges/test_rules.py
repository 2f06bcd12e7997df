"""Rules of challenges have one place each, and short names collide with no page."""

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from starlette.routing import Route

from vocboard.app.api.schemas.challenges import ChallengeChanges, NewChallenge
from vocboard.app.challenges.models import (
    MAIN_PHASE,
    Admission,
    Challenge,
    ChallengePhase,
    Detail,
    Freeze,
    OverallRank,
    QuestionKind,
    Visibility,
)
from vocboard.app.challenges.rules import RESERVED_SLUGS, SLUG, AdmissionQuestion, ChallengeRules, DataLink, check_slug
from vocboard.app.forms import FieldChecks
from vocboard.app.main import create_app
from vocboard.app.pages.organise.rules import form_of, rules_in
from vocboard.app.settings import Settings

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
RULES = ChallengeRules(
    title="A title",
    summary="In a sentence.",
    description="First.\n\nSecond.",
    website="https://challenge.example",
    contact="ask@challenge.example",
    organised_by="Ada, Lab A\nLab B",
    licence="CC-BY-4.0",
    citation="@misc{challenge}",
    data_links=(
        DataLink(title="Images", url="https://data.example/images.tar", bytes=450_000_000_000, sha256="0" * 64),
        DataLink(title="Page", url="https://data.example/"),
    ),
    visibility=Visibility.UNLISTED,
    decimals=3,
    competitions=("comp1", "comp3"),
    opens_at=NOON,
    closes_at=NOON + timedelta(days=1),
    quota_count=5,
    quota_period_seconds=36 * 3600,
    shared_quota=False,
    detail=Detail.CLASSES,
    admission=Admission.APPROVED,
    admission_domains=("lab.example", "cs.lab.example"),
    min_account_days=14,
    leaderboard_from=NOON + timedelta(days=2),
    freeze=Freeze.DATE,
    freezes_at=NOON + timedelta(days=3),
    anonymous_until=NOON + timedelta(days=4),
    ladder_step=0.007,
    phase_title="Validation",
    anywhere_on_earth=True,
    statistics=False,
    overall_rank=OverallRank.MEAN_RANK,
    admission_questions=(
        AdmissionQuestion(question="Where do you work?"),
        AdmissionQuestion(question="Which?", kind=QuestionKind.CHOICE, choices=("A; alone", "B"), required=False),
    ),
    team_size=3,
    teams_until=datetime(2026, 6, 1, tzinfo=UTC),
)


def test_all_rules_are_set_here() -> None:
    defaults = ChallengeRules(title="")
    assert [name for name in ChallengeRules.model_fields if getattr(RULES, name) == getattr(defaults, name)] == []


def test_every_rule_but_the_competitions_has_a_column() -> None:
    own, of_phase = RULES.challenge_columns().keys(), RULES.phase_columns().keys()
    assert own - Challenge.__table__.columns.keys() == of_phase - ChallengePhase.__table__.columns.keys() == set()
    assert ChallengeRules.model_fields.keys() - own - of_phase == {"competitions", "phase_title"}


@pytest.mark.parametrize("seconds", [1, 100, 3600, 36 * 3600, 366 * 24 * 3600])
def test_the_form_has_a_field_for_every_rule_and_takes_what_it_shows(seconds: int) -> None:
    rules = RULES.model_copy(update={"quota_period_seconds": seconds})
    main = ChallengePhase(key=MAIN_PHASE, title=rules.phase_title, **rules.phase_columns())
    challenge = Challenge(slug="mine", edition="VOC2007", phases=[main], **rules.challenge_columns())
    assert rules_in(form_of(challenge)) == rules


def test_a_new_challenge_takes_every_rule() -> None:
    given = {"slug": "mine", "edition": "VOC2007", **RULES.model_dump(mode="json")}
    assert NewChallenge.model_validate(given).rules() == RULES


def test_a_change_leaves_the_other_rules_as_they_are() -> None:
    changes = ChallengeChanges.model_validate({"quota_count": 9, "closes_at": None})
    assert changes.applied_to(RULES) == RULES.model_copy(update={"quota_count": 9, "closes_at": None})


@pytest.mark.parametrize("year", [1, 9999])
def test_dates_that_have_no_utc_are_left_to_the_checks(year: int) -> None:
    zone = timezone(timedelta(hours=12 if year == 1 else -12))
    given = datetime(year, 12 if year > 1 else 1, 31 if year > 1 else 1, 23 if year > 1 else 0, tzinfo=zone)
    assert ChallengeRules(title="A title", opens_at=given).opens_at is not None


UNDER = re.compile(r"/(?:api/v1/)?(?:organise|challenges)/([^/{}]+)")  # where a challenge's short name can be


def test_every_fixed_word_in_the_place_of_a_challenge_is_reserved(tmp_path: Path) -> None:
    routes = create_app(Settings(data_directory=tmp_path)).routes
    paths = {route.path for route in routes if isinstance(route, Route)}
    assert "/organise/{slug}" in paths
    words = {found[1] for path in paths if (found := UNDER.match(path))}
    assert {word for word in words if SLUG.fullmatch(word)} <= RESERVED_SLUGS
    assert "new" in words


@pytest.mark.parametrize("word", sorted(RESERVED_SLUGS))
def test_a_reserved_name_is_refused(word: str) -> None:
    checks = FieldChecks()
    check_slug(checks, word)
    assert checks.messages == {"slug": "This name is reserved. Choose another one."}
