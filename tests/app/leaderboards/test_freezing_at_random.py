"""Whatever happens around the freezing date: the leaderboard keeps what it showed on that date."""

import random
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tests.support.clock import Clock
from tests.support.corrections import correct
from tests.support.factories import ban, change_rules, make_challenge, make_organiser, make_user
from tests.support.phases import complete
from tests.support.scored import make_published
from tests.support.services import EMBEDDED, REAL
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Detail
from vocboard.app.challenges.phases import phase_named
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, ForbiddenError
from vocboard.app.leaderboards import freezing, service
from vocboard.app.leaderboards.board import Board, BoardRow
from vocboard.app.leaderboards.export import as_csv, as_latex
from vocboard.app.organising import archiving, bans
from vocboard.app.organising import moderation as bulk
from vocboard.app.organising.bans import Results
from vocboard.app.participating import describing, publishing
from vocboard.app.participating import withdrawing as submissions
from vocboard.app.submissions.models import State, Submission

SITE = "https://voc.example"
STEPS = 40
EARLIEST, LATEST = timedelta(hours=-2), timedelta(hours=3)
MARGIN = timedelta(seconds=10)  # steps take time, and none goes on across the date


class Happenings:
    """A challenge in which anything may happen, before its leaderboard freezes and afterwards."""

    def __init__(self, session: Session, chance: random.Random, closes_at: datetime, **given: Any) -> None:
        self.chance = chance
        self.closes_at = closes_at
        self.organiser = make_organiser(session)
        self.people = [make_user(session) for _ in range(3)]
        self.challenge = make_challenge(
            session, organiser=self.organiser, competitions=["comp1"], opens_at=None, closes_at=closes_at, **given
        )
        for _ in range(4):
            self.add_published(session)

    @property
    def actions(self) -> list[Callable[[Session], object]]:
        """What may happen; more often what there has to be first."""
        return [
            *[self.add_published, self.add_private, self.add_promised, self.score_promised] * 2,
            *[self.publish, self.unpublish, self.disqualify, self.reinstate, self.hold_back, self.allow, self.replace]
            * 2,
            *(self.withdraw, self.fail, self.several, self.ban, self.lift_ban, self.declare),
            *(self.correct, self.edit, self.show_less, self.archive, self.reopen, self.sweep),
        ]

    def _add(self, session: Session, **given: Any) -> Submission:
        name = f"Method {self.chance.randrange(10**9)}"
        person = self.chance.choice(self.people)
        return make_published(session, self.challenge, person, name, self.chance.random(), began_at=now(), **given)

    def add_published(self, session: Session) -> None:
        made = self._add(session, published=False)
        publishing.publish(session, submission_id=made.id, user=session.get_one(User, made.user_id))

    def add_private(self, session: Session) -> None:
        self._add(session, published=False)

    def add_promised(self, session: Session) -> None:
        """Somebody uploads, to be published as soon as it is scored, unless the challenge has closed."""
        if now() < self.closes_at:
            self._add(session, published=False, publish_when_scored=True, state=State.QUEUED)

    def score_promised(self, session: Session) -> None:
        """A worker has evaluated one of these."""
        if (one := self._any(session, Submission.state == State.QUEUED)) is not None:
            session.execute(update(Submission).where(Submission.id == one.id).values(state=State.SCORED))
            publishing.publish_if_promised(session, one.id)

    def publish(self, session: Session) -> None:
        self._by_owner(session, publishing.publish, Submission.published_at.is_(None))

    def replace(self, session: Session) -> None:
        """A better version takes the place of a published one."""
        if (one := self._any(session, Submission.published_at.is_not(None))) is not None:
            user, name = session.get_one(User, one.user_id), f"Version {self.chance.randrange(10**9)}"
            given = {"method_id": one.method_id, "published": False, "began_at": now()}
            made = make_published(session, self.challenge, user, name, self.chance.random(), **given)
            publishing.publish(session, submission_id=made.id, user=user, competitions=["comp1"], replace=True)

    def unpublish(self, session: Session) -> None:
        self._by_owner(session, publishing.unpublish, Submission.published_at.is_not(None))

    def withdraw(self, session: Session) -> None:
        self._by_owner(session, submissions.withdraw)

    def declare(self, session: Session) -> None:
        changes = {"training_data": f"data {self.chance.random()}"}
        self._by_owner(session, describing.declare, Submission.published_at.is_not(None), changes=changes)

    def disqualify(self, session: Session) -> None:
        self._by_organiser(session, bulk.disqualify, Submission.published_at.is_not(None), reason="No.", site=SITE)

    def reinstate(self, session: Session) -> None:
        self._by_organiser(session, bulk.reinstate_quietly, Submission.state == State.DISQUALIFIED)

    def hold_back(self, session: Session) -> None:
        self._by_organiser(session, bulk.hold_back, Submission.published_at.is_not(None))

    def allow(self, session: Session) -> None:
        self._by_organiser(session, bulk.allow_publishing, Submission.held_back_at.is_not(None))

    def fail(self, session: Session) -> None:
        self._by_organiser(session, bulk.fail, Submission.state == State.SCORED, reason="Our disk was full.")

    def several(self, session: Session) -> None:
        query = select(Submission.id).where(Submission.published_at.is_not(None)).order_by(Submission.created_at)
        ids = session.scalars(query.limit(2)).all()
        if ids:
            action = self.chance.choice([bulk.Action.UNPUBLISH, bulk.Action.DISQUALIFY, bulk.Action.FAIL])
            bulk.act(
                session,
                challenge=complete(session, self.challenge.id),
                user=self.organiser,
                action=action,
                submission_ids=ids,
                reason="Several.",
                site=SITE,
            )

    def ban(self, session: Session) -> None:
        person, results = self.chance.choice(self.people), self.chance.choice(list(Results))
        ban(session, self.challenge, person, self.organiser, results)

    def lift_ban(self, session: Session) -> None:
        person = session.get_one(User, self.chance.choice(self.people).id)
        challenge = complete(session, self.challenge.id)
        bans.lift_ban(session, challenge=challenge, person=person, user=self.organiser, site=SITE)

    def correct(self, session: Session) -> None:
        correct(session, self.challenge, self.organiser, chance=self.chance)

    def edit(self, session: Session) -> None:
        title, decimals = f"Title {self.chance.random()}", self.chance.choice([2, 3])
        change_rules(session, self.challenge, self.organiser, title=title, decimals=decimals)

    def show_less(self, session: Session) -> None:
        detail = self.chance.choice([Detail.MEAN, Detail.CLASSES])
        change_rules(session, self.challenge, self.organiser, detail=detail)

    def archive(self, session: Session) -> None:
        archiving.archive(session, challenge=complete(session, self.challenge.id), user=self.organiser)

    def reopen(self, session: Session) -> None:
        archiving.reopen(session, challenge=complete(session, self.challenge.id), user=self.organiser)

    def sweep(self, session: Session) -> None:
        freezing.freeze_phase(session, complete(session, self.challenge.id).main_phase.id)

    def _by_owner(self, session: Session, action: Callable[..., object], *conditions: Any, **given: Any) -> None:
        if (one := self._any(session, *conditions)) is not None:
            action(session, submission_id=one.id, user=session.get_one(User, one.user_id), **given)

    def _by_organiser(self, session: Session, action: Callable[..., object], *conditions: Any, **given: Any) -> None:
        if (one := self._any(session, *conditions)) is not None:
            action(session, submission_id=one.id, user=session.get_one(User, self.organiser.id), **given)

    def _any(self, session: Session, *conditions: Any) -> Submission | None:
        found = session.scalars(select(Submission).where(*conditions).order_by(Submission.created_at)).all()
        return self.chance.choice(found) if found else None


def shown(database: Database, happenings: Happenings) -> Board:
    """The leaderboard, as it is now."""
    with database.writing() as session:
        challenge = complete(session, happenings.challenge.id)
        phase = phase_named(challenge, "main")
        if now() >= happenings.closes_at:
            freezing.freeze_due(session, challenge)
        return service.board(session, challenge, phase, "comp1")


def said(rows: tuple[BoardRow, ...]) -> dict[str, tuple[Any, ...]]:
    """What is shown of each method, but for ranks and what is best, which depend on the others."""
    return {
        row.method: (
            row.submission_id,
            row.contributors,
            row.declared,
            row.mean.value,
            [one.value for one in row.cells],
        )
        for row in rows
    }


def promised_in_time(database: Database, happenings: Happenings) -> set[str]:
    """Names of the methods whose results were promised in time, and have been published by a worker since the date."""
    query = select(Submission).where(
        Submission.publish_when_scored,
        Submission.began_at <= happenings.closes_at,
        Submission.published_at > happenings.closes_at,
    )
    with database.reading() as session:
        found = session.scalars(query).all()
        for one in found:
            session.refresh(one, ["method"])
        return {one.method.name for one in found}


def removed(database: Database) -> set[uuid.UUID]:
    """The submissions that organisers keep off the leaderboards."""
    is_removed = Submission.state.in_((State.DISQUALIFIED, State.FAILED)) | Submission.held_back_at.is_not(None)
    with database.reading() as session:
        return set(session.scalars(select(Submission.id).where(is_removed)))


SEEDS = [(EMBEDDED, 0), (EMBEDDED, 2), *(pytest.param(REAL, seed, marks=pytest.mark.services) for seed in (1, 3))]
MORE_SEEDS = [pytest.param(EMBEDDED, seed, marks=pytest.mark.long) for seed in range(4, 24)]


@pytest.mark.parametrize(("set_up", "seed"), [*SEEDS, *MORE_SEEDS], indirect=["set_up"])
def test_a_frozen_leaderboard_is_what_was_shown_on_its_date(database: Database, clock: Clock, seed: int) -> None:
    chance = random.Random(seed)
    closes_at = now() + timedelta(days=1)
    with database.writing() as session:
        happenings = Happenings(session, chance, closes_at)
    looks = chance.choice((0.0, 0.1, 0.5))  # often nobody looks: then changes have to make the copy first
    instants = sorted(chance.uniform(EARLIEST.total_seconds(), LATEST.total_seconds()) for _ in range(STEPS))
    log: list[str] = []
    on_the_date = shown(database, happenings)
    promised: set[str] = set()
    for seconds in instants:
        at = timedelta(seconds=seconds)
        if abs(at) < MARGIN:
            continue
        clock.set(closes_at + at)
        action = chance.choice(happenings.actions)
        log.append(f"{at}: {action.__name__}")
        try:
            with database.writing() as session:
                action(session)
        except (ConflictError, ForbiddenError) as refusal:
            log[-1] += f" ({refusal})"
        if at < timedelta():
            on_the_date = shown(database, happenings)
            continue
        promised |= promised_in_time(database, happenings)
        if chance.random() < looks or seconds == instants[-1]:
            frozen = shown(database, happenings)
            gone = removed(database)
            expected = {name: row for name, row in said(on_the_date.rows).items() if row[0] not in gone}
            found = said(frozen.rows)
            assert not gone & {row[0] for row in found.values()}, log
            assert frozen.corrections == on_the_date.corrections, log
            assert {name: found.get(name) for name in expected} == expected, log
            assert found.keys() - expected.keys() <= promised, log
            if not frozen.removals and found.keys() == expected.keys():
                assert (as_csv(frozen), as_latex(frozen)) == (as_csv(on_the_date), as_latex(on_the_date)), log
    assert closes_at < now()
