"""Challenges: who sees them, their rules and their phase."""

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from itertools import product
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support.factories import WEEK, make_challenge, make_organiser, make_user
from tests.support.scored import make_submission
from vocboard.app.accounts import administration
from vocboard.app.accounts.models import Role, User
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges import service
from vocboard.app.challenges.models import Challenge, Detail, Visibility
from vocboard.app.challenges.phases import PhaseState, check_accepting, current_phase
from vocboard.app.challenges.rules import ChallengeRules, PhaseRules
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from vocboard.app.organising import archiving, challenge_changes, phase_changes
from vocboard.app.submissions.models import State

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def rules(**given: Any) -> ChallengeRules:
    fields: dict[str, Any] = {
        "title": "Another title",
        "description": "First.\r\n\r\nSecond.",
        "competitions": ["comp1"],
        "opens_at": None,
        "closes_at": None,
        "quota_count": 3,
        "quota_period_seconds": WEEK.total_seconds(),
        "visibility": Visibility.PUBLIC,
        "decimals": 3,
        "detail": Detail.CLASSES,
    }
    return ChallengeRules(**{**fields, **given})


def enter(session: Session, challenge: Challenge, user: User, competition: str) -> None:
    make_submission(session, challenge, user, "method", {competition: []}, state=State.QUEUED, finished_at=None)


def test_visibility(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        slugs = {
            visibility: make_challenge(session, organiser=organiser, visibility=visibility, ready=False).slug
            for visibility in (Visibility.DRAFT, Visibility.UNLISTED, Visibility.PUBLIC)
        }
        outsiders = [None, make_user(session), make_organiser(session)]
        insiders = [organiser, make_user(session, role=Role.ADMINISTRATOR)]
    with database.reading() as session:
        for person in (*outsiders, *insiders):
            listed = [found.slug for found in service.visible_challenges(session, person)]
            expected = slugs.values() if person in insiders else [slugs[Visibility.PUBLIC]]
            assert sorted(listed) == sorted(expected), person and person.role
            for visibility, slug in slugs.items():
                if visibility is Visibility.DRAFT and person in outsiders:
                    with pytest.raises(NotFoundError):
                        service.get_visible(session, slug, person)
                else:
                    found = service.get_visible(session, slug, person)
                    assert found.main_phase.competition_keys == ["comp1", "comp3"]


def test_an_unknown_or_impossible_slug_is_not_found(database: Database) -> None:
    with database.reading() as session:
        for slug in ("nothing", "", "UPPER", "a\x00b", "a" * 100, "../a"):
            with pytest.raises(NotFoundError):
                service.get_visible(session, slug, None)


def test_all_competitions_of_the_edition_unless_chosen_in_the_editions_order(database: Database) -> None:
    with database.writing() as session:
        everything = make_challenge(session, edition="VOC2009", competitions=None, ready=False)
        assert everything.main_phase.competition_keys == [f"comp{number}" for number in range(1, 9)]
        some = make_challenge(session, competitions=["comp3", "comp1", "comp3"], ready=False)
        assert some.main_phase.competition_keys == ["comp1", "comp3"]


def test_everything_wrong_with_a_new_challenge_is_reported_at_once(database: Database) -> None:
    with database.writing() as session, pytest.raises(InvalidInputError) as caught:
        make_challenge(
            session,
            slug="No Slug",
            title="",
            description="\x07",
            edition="VOC1999",
            opens_at=NOON,
            closes_at=NOON,
            quota_count=0,
            quota_period_seconds=0,
            decimals=17,
        )
    assert set(caught.value.fields) == {
        "slug",
        "title",
        "description",
        "edition",
        "closes_at",
        "quota_count",
        "quota_period_seconds",
        "decimals",
    }


def test_dates_that_have_no_utc_are_refused(database: Database) -> None:
    latest = datetime(9999, 12, 31, 23, 59, tzinfo=timezone(-timedelta(hours=12)))
    earliest = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=12)))
    with database.writing() as session:
        for field, instant in product(("opens_at", "closes_at"), (earliest, latest)):
            with pytest.raises(InvalidInputError) as caught:
                make_challenge(session, **{"opens_at": None, field: instant})
            assert set(caught.value.fields) == {field}, instant


@pytest.mark.parametrize("competitions", [[], ["comp99"]])
def test_competitions_have_to_be_the_editions(database: Database, competitions: list[str]) -> None:
    with database.writing() as session, pytest.raises(InvalidInputError) as caught:
        make_challenge(session, competitions=competitions)
    assert set(caught.value.fields) == {"competitions"}


def test_a_taken_slug_is_a_conflict_and_costs_nothing_else(database: Database) -> None:
    with database.writing() as session:
        make_challenge(session, slug="voc", ready=False)
        with pytest.raises(ConflictError, match="voc"):
            make_challenge(session, slug="voc", ready=False)
        make_challenge(session, slug="voc-2", ready=False)
    with database.reading() as session:
        assert len(service.visible_challenges(session, None)) == 2


@pytest.mark.parametrize(
    ("opens_at", "closes_at", "ready", "expected"),
    [
        (None, None, True, PhaseState.OPEN),
        (NOON, None, True, PhaseState.OPEN),
        (NOON + MINUTE, None, True, PhaseState.NOT_YET_OPEN),
        (NOON - MINUTE, NOON + MINUTE, True, PhaseState.OPEN),
        (NOON - MINUTE, NOON, True, PhaseState.CLOSED),
        (None, None, False, PhaseState.NOT_READY),
        (NOON + MINUTE, None, False, PhaseState.NOT_YET_OPEN),
        (None, NOON, False, PhaseState.CLOSED),
    ],
)
def test_phase(
    database: Database, opens_at: datetime | None, closes_at: datetime | None, ready: bool, expected: PhaseState
) -> None:
    with database.writing() as session:
        challenge = make_challenge(session, opens_at=opens_at, closes_at=closes_at, ready=ready)
        assert current_phase(challenge, NOON).state(NOON) is expected
        if expected is PhaseState.OPEN:
            check_accepting(session, challenge, at=NOON)
        else:
            with pytest.raises(ConflictError):
                check_accepting(session, challenge, at=NOON)


def test_whether_submissions_are_taken_is_read_again(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        slug = make_challenge(session, organiser=organiser).slug
    with database.reading() as session:
        stale = service.get_visible(session, slug, None)
    with database.writing() as session:
        fresh = service.get_organised(session, slug, organiser)
        challenge_changes.update(session, challenge=fresh, user=organiser, rules=rules(closes_at=now() - MINUTE))
    with database.writing() as session, pytest.raises(ConflictError, match="closed"):
        check_accepting(session, stale, at=now())


def test_changed_rules_hold_and_the_log_says_what_changed(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, title="Before")
        challenge_changes.update(
            session, challenge=challenge, user=organiser, rules=rules(title="After", closes_at=NOON)
        )
    with database.reading() as session:
        found = service.get_visible(session, challenge.slug, None)
        assert (found.title, found.description, found.main_phase.closes_at) == ("After", "First.\n\nSecond.", NOON)
        assert (found.main_phase.quota_count, found.main_phase.quota_period_seconds, found.decimals) == (
            3,
            WEEK.total_seconds(),
            3,
        )
        assert found.main_phase.competition_keys == ["comp1"]
        event = session.scalars(select(AuditEvent).where(AuditEvent.action == "challenge.update")).one()
    assert event.actor_id == organiser.id
    assert event.details["title"] == {"from": "Before", "to": "After"}
    assert event.details["competitions"] == {"from": ["comp1", "comp3"], "to": ["comp1"]}
    assert event.details["detail"] == {"from": "curves", "to": "classes"}


def test_a_competition_with_submissions_stays(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser)
        enter(session, challenge, make_user(session), "comp3")
    with database.writing() as session:
        found = service.get_organised(session, challenge.slug, organiser)
        with pytest.raises(ConflictError, match="comp3"):
            challenge_changes.update(session, challenge=found, user=organiser, rules=rules(competitions=["comp1"]))
    with database.writing() as session:
        found = service.get_organised(session, challenge.slug, organiser)
        challenge_changes.update(session, challenge=found, user=organiser, rules=rules(competitions=["comp3"]))
    with database.reading() as session:
        found = service.get_visible(session, challenge.slug, None)
        assert found.main_phase.competition_keys == ["comp3"]


def test_a_competition_that_the_ground_truth_cannot_score_is_not_taken_on(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser)
        with pytest.raises(InvalidInputError, match="comp5"):
            challenge_changes.update(
                session, challenge=challenge, user=organiser, rules=rules(competitions=["comp1", "comp5"])
            )


def test_who_is_an_organiser_no_more_organises_nothing(database: Database) -> None:
    with database.writing() as session:
        organiser = make_organiser(session)
        draft = make_challenge(session, organiser=organiser, visibility=Visibility.DRAFT)
        public = make_challenge(session, organiser=organiser)
        assert service.is_organiser(session, public, organiser)
        administration.set_role(session, user=organiser, role=Role.PARTICIPANT)
    with database.reading() as session:
        assert not service.is_organiser(session, public, organiser)
        with pytest.raises(ForbiddenError):
            service.get_organised(session, public.slug, organiser)
        with pytest.raises(NotFoundError):
            service.get_visible(session, draft.slug, organiser)


@pytest.mark.services
def test_who_saves_rules_while_another_organiser_archives_does_not_change_an_archived_challenge(
    postgres_url: str,
) -> None:
    with contextlib.closing(Database(postgres_url)) as database:
        with database.writing() as session:
            organiser = make_organiser(session)
            make_challenge(session, organiser=organiser, slug="voc")
        with database.writing() as saving:
            user = saving.get_one(User, organiser.id)
            challenge = service.get_organised(saving, "voc", user)
            with database.writing() as session:
                found = service.get_organised(session, "voc", session.get_one(User, organiser.id))
                archiving.archive(session, challenge=found, user=session.get_one(User, organiser.id))
            with pytest.raises(ConflictError, match="is archived"):
                challenge_changes.update(saving, challenge=challenge, user=user, rules=rules())


@pytest.mark.services
def test_two_organisers_who_change_different_rules_of_a_phase_at_once_both_do(postgres_url: str) -> None:
    with contextlib.closing(Database(postgres_url)) as database:
        with database.writing() as session:
            organiser = make_organiser(session)
            challenge = make_challenge(session, organiser=organiser, slug="voc")
            given = PhaseRules(competitions=("comp1",))
            phase_changes.add_phase(session, challenge=challenge, user=organiser, key="late", title="Late", rules=given)

        def change(session: Session, challenge: Challenge, **rules: Any) -> PhaseRules:
            return challenge_changes.change_phase(
                session,
                challenge=challenge,
                user=session.get_one(User, organiser.id),
                key="late",
                title=None,
                change=lambda before: before.model_copy(update=rules),
            ).rules

        with database.writing() as saving:
            challenge = service.get_organised(saving, "voc", saving.get_one(User, organiser.id))
            with database.writing() as session:
                found = service.get_organised(session, "voc", session.get_one(User, organiser.id))
                change(session, found, quota_count=9)
            after = change(saving, challenge, detail=Detail.MEAN)
        assert (after.quota_count, after.detail) == (9, Detail.MEAN)


@pytest.mark.services
@pytest.mark.parametrize("change", [archiving.delete_draft, archiving.archive, archiving.reopen])
def test_a_draft_that_another_request_has_just_deleted_does_not_exist(
    postgres_url: str, change: Callable[..., None]
) -> None:
    with contextlib.closing(Database(postgres_url)) as database:
        with database.writing() as session:
            organiser = make_organiser(session)
            make_challenge(session, organiser=organiser, slug="voc", visibility=Visibility.DRAFT, ready=False)
        with database.writing() as changing:
            user = changing.get_one(User, organiser.id)
            challenge = service.get_organised(changing, "voc", user)
            with database.writing() as session:
                other = session.get_one(User, organiser.id)
                archiving.delete_draft(session, challenge=service.get_organised(session, "voc", other), user=other)
            with pytest.raises(NotFoundError):
                change(changing, challenge=challenge, user=user)
