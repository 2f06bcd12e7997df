"""Ranks after closing: frozen leaderboards, later results, what was uploaded in time, and names that come later."""

import random
import uuid
from collections.abc import Callable
from datetime import datetime, time, timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tests.app.leaderboards.test_freezing_at_random import Happenings
from tests.support import factories
from tests.support.clock import Clock
from tests.support.factories import ban, make_challenge, make_organiser, make_user
from tests.support.jobs import process
from tests.support.phases import complete, show_board
from tests.support.scored import make_published
from tests.support.site import Site
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge, Freeze
from vocboard.app.database import Database, now
from vocboard.app.jobs.models import Kind
from vocboard.app.leaderboards import freezing
from vocboard.app.leaderboards.board import Board, Part
from vocboard.app.leaderboards.models import FrozenLeaderboard
from vocboard.app.organising import moderation
from vocboard.app.organising.bans import Results
from vocboard.app.participating import publishing, teams
from vocboard.app.participating import withdrawing as submissions
from vocboard.app.settings import Settings
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.editions.column_names import COLUMNS
from vocboard.worker.work import work_next

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
BOARD = "/challenges/frozen/leaderboards/comp1"


class World:
    """A challenge that closes in a day, with three published methods and one private."""

    def __init__(self, session: Session) -> None:
        self.organiser = make_organiser(session)
        self.people = [make_user(session) for _ in range(4)]
        self.challenge = make_challenge(
            session, organiser=self.organiser, slug="frozen", competitions=["comp1"], closes_at=now() + DAY
        )
        scored = [
            make_published(session, self.challenge, person, f"Method {number}", score, published=number < 3)
            for number, (person, score) in enumerate(zip(self.people, (0.5, 0.7, 0.6, 0.9), strict=True))
        ]
        self.ids = [one.id for one in scored]

    def promise(self, session: Session, name: str, began_at: datetime) -> Submission:
        """Add a submission that is published once it has been scored."""
        given = {"published": False, "publish_when_scored": True, "began_at": began_at, "state": State.QUEUED}
        return make_published(session, self.challenge, self.people[3], name, 0.8, **given)

    def publish(self, session: Session, number: int) -> None:
        publishing.publish(session, submission_id=self.ids[number], user=self.people[number])

    def unpublish(self, session: Session, number: int) -> None:
        publishing.unpublish(session, submission_id=self.ids[number], user=self.people[number])

    def found_team(self, session: Session, number: int) -> None:
        teams.create(session, challenge=complete(session, self.challenge.id), user=self.people[number], name="The team")

    def withdraw(self, session: Session, number: int) -> None:
        submissions.withdraw(session, submission_id=self.ids[number], user=self.people[number])


@pytest.fixture
def world(database: Database) -> World:
    with database.writing() as session:
        return World(session)


def ranks(board: Board) -> list[tuple[int | None, str]]:
    return [(row.rank, row.method) for row in board.rows]


def show(database: Database, world: World, part: Part = Part.COUNTING) -> Board:
    with database.writing() as session:
        return show_board(session, world.challenge, "comp1", part=part)


IN_ORDER = [(1, "Method 1"), (2, "Method 2"), (3, "Method 0")]


def test_ranks_do_not_change_after_closing(database: Database, world: World, clock: Clock) -> None:
    assert ranks(show(database, world)) == IN_ORDER
    clock.advance(2 * DAY)
    with database.writing() as session:
        world.publish(session, 3)
    assert ranks(show(database, world)) == IN_ORDER
    with database.writing() as session:
        world.unpublish(session, 1)
        world.withdraw(session, 2)
    assert ranks(show(database, world)) == IN_ORDER
    assert ranks(show(database, world, Part.LATER)) == [(1, "Method 3")]


@pytest.mark.parametrize("change", [World.withdraw, World.found_team])
def test_the_first_change_after_closing_comes_too_late_although_nobody_has_looked(
    database: Database, world: World, clock: Clock, change: Callable[[World, Session, int], None]
) -> None:
    clock.advance(2 * DAY)
    with database.writing() as session:
        change(world, session, 1)
    board = show(database, world)
    assert ranks(board) == IN_ORDER
    assert {row.team for row in board.rows} == {""}


def test_other_decimals_after_closing_come_too_late_although_nobody_has_looked(
    database: Database, world: World, clock: Clock
) -> None:
    before = world.challenge.decimals
    clock.advance(2 * DAY)
    change_rules(database, world, decimals=before - 1)
    assert show(database, world).decimals == before
    assert show(database, world, Part.LATER).decimals == before - 1


def test_a_leaderboard_that_never_freezes_goes_on_changing(database: Database, world: World, clock: Clock) -> None:
    change_rules(database, world, freeze=Freeze.NEVER)
    clock.advance(2 * DAY)
    with database.writing() as session:
        world.publish(session, 3)
    assert show(database, world).rows[0].method == "Method 3"


def test_a_leaderboard_freezes_on_a_date_of_its_own(database: Database, world: World, clock: Clock) -> None:
    change_rules(database, world, freeze=Freeze.DATE, freezes_at=now() + 5 * DAY)
    clock.advance(2 * DAY)
    with database.writing() as session:
        world.publish(session, 3)
    assert show(database, world).rows[0].method == "Method 3"
    clock.advance(5 * DAY)
    with database.writing() as session:
        world.unpublish(session, 3)
    assert show(database, world).rows[0].method == "Method 3"


def test_extending_the_deadline_lets_the_leaderboard_change_again(
    database: Database, world: World, clock: Clock
) -> None:
    clock.advance(2 * DAY)
    with database.writing() as session:
        world.publish(session, 3)
    assert ranks(show(database, world)) == IN_ORDER
    change_rules(database, world, closes_at=now() + DAY)
    assert show(database, world).rows[0].method == "Method 3"


def test_results_promised_in_time_count_although_they_are_scored_later(
    database: Database, world: World, clock: Clock
) -> None:
    closes_at = world.challenge.main_phase.closes_at
    assert closes_at is not None
    with database.writing() as session:
        promised = world.promise(session, "Promised", closes_at - timedelta(seconds=1))
    clock.advance(DAY + HOUR / 2)
    assert ranks(show(database, world)) == IN_ORDER
    score(database, promised.id)
    assert [name for _, name in ranks(show(database, world))] == ["Promised", "Method 1", "Method 2", "Method 0"]
    assert ranks(show(database, world, Part.LATER)) == []


def test_what_organisers_had_removed_by_the_date_does_not_come_back(
    database: Database, world: World, clock: Clock
) -> None:
    with database.writing() as session:
        promised = make_published(
            session, world.challenge, world.people[3], "Promised", 0.8, publish_when_scored=True, began_at=now()
        )
        moderation.hold_back(session, submission_id=promised.id, user=world.organiser)
    clock.advance(DAY + HOUR / 2)
    assert ranks(show(database, world)) == IN_ORDER
    with database.writing() as session:
        moderation.allow_publishing(session, submission_id=promised.id, user=world.organiser)
    assert ranks(show(database, world)) == IN_ORDER  # although copies are not final before an hour has passed
    assert ranks(show(database, world, Part.LATER)) == [(1, "Promised")]


def test_results_promised_too_late_do_not_count(database: Database, world: World, clock: Clock) -> None:
    change_rules(database, world, freeze=Freeze.DATE, freezes_at=now() + DAY / 2)
    with database.writing() as session:
        late = world.promise(session, "Late", now() + DAY / 2 + timedelta(seconds=1))
    clock.advance(DAY)
    score(database, late.id)
    assert ranks(show(database, world)) == IN_ORDER
    assert ranks(show(database, world, Part.LATER)) == [(1, "Late")]


def test_a_promised_result_that_its_owner_publishes_too_late_does_not_count(
    database: Database, world: World, clock: Clock
) -> None:
    with database.writing() as session:
        given = {"published": False, "publish_when_scored": True, "state": State.QUEUED}
        better = make_published(session, world.challenge, world.people[1], "Method 1", 0.9, **given)
    score(database, better.id)  # it stays private, because the method has a published result
    clock.advance(DAY + HOUR / 2)
    with database.writing() as session:
        publishing.publish(session, submission_id=better.id, user=world.people[1], replace=True)
    with database.writing() as session:
        freezing.freeze_phase(session, world.challenge.main_phase.id)
    assert ranks(show(database, world)) == IN_ORDER
    assert ranks(show(database, world, Part.LATER)) == [(1, "Method 1")]


def test_a_promised_result_has_no_row_beside_another_of_its_method(
    database: Database, world: World, clock: Clock
) -> None:
    with database.writing() as session:
        given = {"published": False, "publish_when_scored": True, "state": State.QUEUED}
        better = make_published(session, world.challenge, world.people[1], "Method 1", 0.9, **given)
    clock.advance(DAY + HOUR / 2)
    with database.writing() as session:
        world.unpublish(session, 1)
    score(database, better.id)
    assert ranks(show(database, world)) == IN_ORDER
    assert ranks(show(database, world, Part.LATER)) == [(1, "Method 1")]


def test_a_copy_is_final_once_no_upload_can_come_any_more(database: Database, world: World, clock: Clock) -> None:
    clock.advance(DAY + HOUR / 2)
    show(database, world)
    assert not frozen(database).is_final
    clock.advance(HOUR)
    with database.writing() as session:
        freezing.freeze_phase(session, world.challenge.main_phase.id)
    assert frozen(database).is_final


def test_a_job_freezes_on_the_date_even_if_it_moves_and_completes_the_copy(
    database: Database, world: World, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = process(database, None, Settings(data_directory=tmp_path), Kind.FREEZE)
    # The clock of the worker's machine is behind the database's.
    monkeypatch.setattr(freezing, "now", lambda: now() - timedelta(minutes=2))
    clock.advance(DAY - HOUR)
    assert not work_next(worker)
    deadline = now() + 2 * HOUR
    change_rules(database, world, closes_at=deadline)
    clock.advance(2 * HOUR - timedelta(minutes=1))
    assert not work_next(worker)
    clock.advance(timedelta(minutes=1))
    assert work_next(worker)
    assert frozen(database).frozen_at == deadline
    assert not work_next(worker)
    clock.advance(2 * HOUR)
    assert work_next(worker)
    assert frozen(database).is_final
    clock.advance(DAY)
    assert not work_next(worker)
    change_rules(database, world, freeze=Freeze.DATE, freezes_at=now() + DAY)
    change_rules(database, world, freeze=Freeze.NEVER, freezes_at=None)
    clock.advance(2 * DAY)
    assert not work_next(worker)


def test_names_are_hidden_until_a_date_also_on_a_frozen_leaderboard(
    database: Database, world: World, clock: Clock
) -> None:
    change_rules(database, world, anonymous_until=now() + 10 * DAY)
    clock.advance(2 * DAY)
    board = show(database, world)
    assert board.is_anonymous
    assert all(row.submission_id is None and not row.contributors and not row.affiliation for row in board.rows)
    assert not {row.method for row in board.rows} & {name for _, name in IN_ORDER}
    # who knows when somebody uploaded cannot find the row
    assert {row.submitted_at.time() for row in board.rows} == {time()}
    with database.writing() as session:  # who knows the ids cannot compute the labels: another key gives others
        session.execute(update(Challenge).values(label_key=bytes(32)))
    assert not {row.method for row in board.rows} & {row.method for row in show(database, world).rows}
    board = show(database, world)
    assert [row.method for row in show(database, world).rows] == [row.method for row in board.rows]
    assert not board.has_curves
    clock.advance(10 * DAY)
    assert ranks(show(database, world)) == IN_ORDER


def test_a_frozen_leaderboard_stays_byte_identical_over_a_simulated_month_of_activity(site: Site, clock: Clock) -> None:
    """One thing happens every other day."""
    with site.writing() as session:
        month = Happenings(session, random.Random(0), now() + DAY, slug="frozen")
    by_people = (month.add_private, month.publish, month.unpublish, month.publish, month.declare, month.withdraw)
    by_organisers = (month.edit, month.correct, month.show_less, month.archive, month.reopen)
    actions = [*by_people, month.sweep, *by_organisers, month.add_published, month.add_published, month.unpublish]
    views = (BOARD, f"{BOARD}/embed", f"{BOARD}/preview.png")
    addresses = [*views, *(f"/api/v1{BOARD}.{ending}" for ending in ("json", "csv", "tex"))]
    with site.client() as client:

        def bodies() -> list[bytes]:
            answers = [client.get(address) for address in addresses]
            assert [answer.status_code for answer in answers] == [200] * len(addresses)
            return [answer.content for answer in answers]

        clock.advance(DAY + timedelta(seconds=1))
        at_first = bodies()
        assert at_first[0].count(b"Method ") >= 4
        for day, action in enumerate(actions, 1):
            clock.advance(2 * DAY)
            with site.writing() as session:
                action(session)
            assert bodies() == at_first, f"day {2 * day}: {action.__name__}"
        later = client.get(f"/api/v1{BOARD}?results=later").json()
    assert len(later["rows"]) >= 2
    assert later["frozen_at"] is not None


@pytest.mark.parametrize("is_hidden_by_owner", [False, True])
@pytest.mark.parametrize(
    ("remove", "undo", "cause"),
    [
        (partial(moderation.disqualify_quietly, reason="Copied."), moderation.reinstate_quietly, "disqualified"),
        (moderation.hold_back, moderation.allow_publishing, "unpublished"),
        (partial(moderation.fail, reason="Wrong file."), None, "failed"),
    ],
)
def test_what_organisers_remove_leaves_a_frozen_leaderboard_until_they_undo_it(
    site: Site,
    clock: Clock,
    remove: Callable[..., Submission],
    undo: Callable[..., Submission] | None,
    cause: str,
    is_hidden_by_owner: bool,
) -> None:
    with site.writing() as session:
        world = World(session)
    board, embedded = f"/api/v1{BOARD}", f"{BOARD}/embed"
    with site.client() as client:

        def methods() -> list[tuple[int, str]]:
            found = client.get(board).json()
            return [(row["rank"], row["method"]) for row in found["rows"]]

        def archive(at: datetime | None) -> None:
            with site.writing() as session:
                session.get_one(Challenge, world.challenge.id).archived_at = at

        clock.advance(2 * DAY)
        assert methods() == IN_ORDER
        untouched = [client.get(address).content for address in (board, f"{board}.csv", f"{board}.tex", embedded)]
        if is_hidden_by_owner:  # who is found out may try to hide before
            with site.writing() as session:
                world.unpublish(session, 1)
        clock.advance(DAY)
        with site.writing() as session:
            remove(session, submission_id=world.ids[1], user=session.get_one(User, world.organiser.id))
        assert methods() == [(1, "Method 2"), (2, "Method 0")]
        found = client.get(board).json()
        [removal] = found["removals"]
        assert removal["cause"] == cause
        assert abs(datetime.fromisoformat(removal["removed_at"]) - now()) < HOUR
        header, *rows = client.get(f"{board}.csv").text.splitlines()
        assert header.endswith(",corrected_at")
        # No class can be called like another column.
        assert set(header.split(",")) - set(found["classes"]) <= COLUMNS
        assert {row.rpartition(",")[2][:10] for row in rows} == {f"{now():%Y-%m-%d}"}
        on_that_day = f"{now():%-d %b %Y}"
        archive(now())
        for address in (BOARD, embedded, BOARD.rpartition("/")[0], BOARD.partition("/leaderboards")[0]):
            page = client.get(address).text
            assert "Corrected after it was frozen: 1 result" in page
            assert on_that_day in page
            assert "Method 1" not in page
            assert str(world.ids[1]) not in page
        archive(None)
        assert "% Corrected after it was frozen: 1 result" in client.get(f"{board}.tex").text
        assert "2 methods" in client.get("/challenges/frozen").text
        if undo is not None:
            with site.writing() as session:
                undo(session, submission_id=world.ids[1], user=session.get_one(User, world.organiser.id))
            again = [client.get(address).content for address in (board, f"{board}.csv", f"{board}.tex", embedded)]
            assert again == untouched


def test_what_a_re_score_could_not_evaluate_stays_on_a_frozen_leaderboard(
    database: Database, world: World, clock: Clock
) -> None:
    clock.advance(2 * DAY)
    assert ranks(show(database, world)) == IN_ORDER
    lost = {"state": State.FAILED, "published_at": None, "finished_at": now(), "failure_detail": "Damaged"}
    with database.writing() as session:  # as when it is applied
        session.execute(update(Submission).where(Submission.id == world.ids[1]).values(lost))
    board = show(database, world)
    assert (ranks(board), board.removals) == (IN_ORDER, ())
    with database.writing() as session:
        ban(session, world.challenge, world.people[1], world.organiser, Results.DISQUALIFY)
    assert ranks(show(database, world)) == [(1, "Method 2"), (2, "Method 0")]


def test_a_ban_removes_what_its_owner_has_unpublished_or_withdrawn_from_frozen_leaderboards(
    database: Database, world: World, clock: Clock
) -> None:
    clock.advance(2 * DAY)
    with database.writing() as session:
        world.unpublish(session, 1)
        world.withdraw(session, 2)
    for number in (1, 2):
        with database.writing() as session:
            ban(session, world.challenge, world.people[number], world.organiser, Results.DISQUALIFY)
    board = show(database, world)
    assert ranks(board) == [(1, "Method 0")]
    assert sorted(one.cause for one in board.removals) == ["disqualified", "unpublished"]


def change_rules(database: Database, world: World, **changes: object) -> None:
    with database.writing() as session:
        factories.change_rules(session, world.challenge, world.organiser, **changes)


def score(database: Database, submission_id: uuid.UUID) -> None:
    """Let a submission become scored, as a worker does it."""
    with database.writing() as session:
        session.execute(update(Submission).where(Submission.id == submission_id).values(state=State.SCORED))
        publishing.publish_if_promised(session, submission_id)


def frozen(database: Database) -> FrozenLeaderboard:
    with database.reading() as session:
        return session.scalars(select(FrozenLeaderboard)).one()
