"""Every change that can alter a leaderboard increments its revision, in the same transaction, on both databases.

Reading only what has changed gives then what reading everything gives.
"""

import re
import threading
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import delete, event, insert, select, text, update
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.orm import Session, selectinload

from tests.browser.gallery import make_submission
from tests.support.factories import make_challenge, make_organiser, make_reported, make_user
from tests.support.filled_databases import METHODS
from tests.support.phases import show_board
from vocboard import migrations
from vocboard.app.challenges.models import Challenge, ChallengePhase, Scoring
from vocboard.app.database import Database, now
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.leaderboards import entries, queries
from vocboard.app.leaderboards.entries import EntryCache
from vocboard.app.leaderboards.models import (
    BoardStatistics,
    FrozenLeaderboard,
    Rescore,
    RescoreState,
)
from vocboard.app.submissions.models import Method, State, Submission
from vocboard.app.teams.models import Team
from vocboard.migrations.leaderboard_revisions import CHANGES
from vocboard.migrations.privileges import WEB_ROLE, WORKER_ROLE

SLUG, COMPETITION = "voc2012", "comp3"


def revision(database: Database) -> int:
    with database.reading() as session:
        return revision_in(session)


def revision_in(session: Session) -> int:
    return queries.revision(session, SLUG, None).number  # type: ignore[union-attr]  # of a challenge that is public


def challenge(session: Session) -> Challenge:
    query = select(Challenge).where(Challenge.slug == SLUG).options(selectinload(Challenge.phases))
    return session.scalars(query).one()


def phase(session: Session) -> ChallengePhase:
    return challenge(session).main_phase


def submissions(session: Session, *, is_published: bool = True) -> Sequence[Submission]:
    """Those on the board, or those with an entry to it that are on none, in their order."""
    published = Submission.published_at.is_not(None)
    condition = published if is_published else ~published
    entered = Submission.entries.any(competition=COMPETITION)
    query = select(Submission).where(condition, entered, Submission.challenge_id == challenge(session).id)
    return session.scalars(query.options(selectinload(Submission.entries)).order_by(Submission.created_at)).all()


def submission(session: Session, *, is_published: bool = True) -> Submission:
    """The first of them."""
    return submissions(session, is_published=is_published)[0]


def edit(session: Session) -> None:
    submission(session).affiliation = "Elsewhere"


def disqualify(session: Session) -> None:
    submission(session).state = State.DISQUALIFIED


def point_to_other_scores(session: Session) -> None:
    one, other = submissions(session)[:2]
    one.current_evaluation_id, other.current_evaluation_id = other.current_evaluation_id, one.current_evaluation_id


def publish_without_scores(session: Session) -> None:
    make_submission(
        session, challenge(session), make_user(session), name="No scores", keys=[COMPETITION]
    ).published_at = now()


def publish(session: Session) -> None:
    submission(session, is_published=False).published_at = now()


def unpublish(session: Session) -> None:
    submission(session).published_at = None


def make_private(session: Session) -> None:
    submission(session).entries[0].is_private = True


def put_back(session: Session) -> None:
    submission(session).state = State.QUEUED


def change_declaration(session: Session) -> None:
    submission(session).flickr_count = 17


def delete_submission(session: Session) -> None:
    session.execute(delete(Submission).where(Submission.id == submission(session).id))


def rename_method(session: Session) -> None:
    session.execute(update(Method).where(Method.id == submission(session).method_id).values(name="Renamed"))


def rename_team(session: Session) -> None:
    session.execute(update(Team).where(Team.id == submission(session).team_id).values(name="Renamed"))


def change_challenge(session: Session) -> None:
    challenge(session).decimals = 2


def change_phase(session: Session) -> None:
    phase(session).competition_keys = [COMPETITION, "comp99"]


def add_phase(session: Session) -> None:
    main = phase(session)
    values = {column.key: getattr(main, column.key) for column in ChallengePhase.__table__.columns}
    session.add(ChallengePhase(**{**values, "id": uuid.uuid4(), "key": "later"}))


def freeze(session: Session) -> None:
    session.add(
        FrozenLeaderboard(
            challenge_id=challenge(session).id,
            phase_id=phase(session).id,
            competition=COMPETITION,
            frozen_at=now(),
            is_final=True,
            content={},
        )
    )


def add_statistics(session: Session) -> None:
    session.add(
        BoardStatistics(
            challenge_id=challenge(session).id,
            phase_id=phase(session).id,
            competition=COMPETITION,
            methods_sha256="0" * 64,
            version=1,
            content={},
        )
    )


def add_evaluation(session: Session) -> None:
    """As a re-score does it before it is applied: of a published submission, in another scoring."""
    of, found = challenge(session), submission(session)
    version = session.get_one(Scoring, phase(session).current_scoring_id).ground_truth_version_id
    scoring = Scoring(challenge_id=of.id, ground_truth_version_id=version)
    session.add(scoring)
    session.flush()
    old = session.scalars(select(Evaluation).where(Evaluation.submission_id == found.id)).first()
    assert old is not None
    values = {column.key: getattr(old, column.key) for column in Evaluation.__table__.columns}
    session.execute(insert(Evaluation).values(values | {"id": uuid.uuid4(), "scoring_id": scoring.id}))


def switch_scoring(session: Session) -> None:
    of = challenge(session)
    version = session.get_one(Scoring, phase(session).current_scoring_id).ground_truth_version_id
    scoring = Scoring(challenge_id=of.id, ground_truth_version_id=version)
    session.add(scoring)
    session.flush()
    phase(session).current_scoring_id = scoring.id


def switch_evaluation(session: Session) -> None:
    submission(session).current_evaluation_id = None


def announce_rescore(session: Session) -> None:
    of = challenge(session)
    version = session.get_one(Scoring, phase(session).current_scoring_id).ground_truth_version_id
    rescore = Rescore(challenge_id=of.id, ground_truth_version_id=version, reason="Labels corrected")
    session.add(rescore)
    session.flush()
    rescore.state = RescoreState.APPLIED


def disqualify_unpublished(session: Session) -> None:
    """Its owner has unpublished it, so only frozen leaderboards can have it."""
    submission(session, is_published=False).disqualified_at = now()


def hold_back_unpublished(session: Session) -> None:
    submission(session, is_published=False).held_back_at = now()


def fail_unpublished(session: Session) -> None:
    submission(session, is_published=False).state = State.FAILED


def add_reported(session: Session) -> None:
    make_reported(session, challenge(session), competition=COMPETITION)


ALTERING_ENTRIES = (
    edit,
    rename_method,
    rename_team,
    change_declaration,
    publish,
    unpublish,
    make_private,
    disqualify,
    put_back,
    delete_submission,
    point_to_other_scores,
    switch_evaluation,
)
ALTERING = (
    *ALTERING_ENTRIES,
    publish_without_scores,
    add_reported,
    disqualify_unpublished,
    hold_back_unpublished,
    fail_unpublished,
    change_challenge,
    change_phase,
    add_phase,
    freeze,
    add_statistics,
    switch_scoring,
    announce_rescore,
)


def test_a_change_of_a_leaderboard_increments_its_revision_and_is_read(filled: Database) -> None:
    """In its transaction, which is rolled back; reading only what has changed gives what reading everything gives."""
    first = revision(filled)
    for change in ALTERING:
        name, cache = change.__name__, EntryCache()
        with filled.writing() as session:
            asked = (session, phase(session).id, COMPETITION, ())
            before = entries.published(*asked)
            assert cache.published(*asked) == before, name
            assert revision_in(session) == first, name
            make(change, session)
            assert revision_in(session) > first, name
            after = entries.published(*asked)
            assert cache.published(*asked) == after, name
            assert (after != before) is (change in ALTERING_ENTRIES), name
            session.rollback()
    assert revision(filled) == first


def make(change: Callable[[Session], None], session: Session) -> None:
    """Make a change, with what its triggers do at the end of the transaction."""
    change(session)
    session.flush()
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SET CONSTRAINTS ALL IMMEDIATE"))


def change_unpublished(session: Session) -> None:
    submission(session, is_published=False).affiliation = "Elsewhere"


def add_method(session: Session) -> None:
    session.add(Method(challenge_id=challenge(session).id, team_id=submission(session).team_id, name="New"))


def add_other_challenge(session: Session) -> None:
    make_challenge(session, organiser=make_organiser(session), slug="another")


def test_other_changes_leave_the_revision_alone(filled: Database) -> None:
    first = revision(filled)
    for change in (change_unpublished, add_method, add_other_challenge, add_evaluation):
        with filled.writing() as session:
            make(change, session)
            assert revision_in(session) == first, change.__name__
            session.rollback()


@pytest.mark.services
def test_on_postgresql_nothing_is_read_twice(gallery_postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite has no versions of rows."""
    cache, asked = EntryCache(), list[int]()
    published = queries.published

    def noting(*given: Any, only: list[uuid.UUID]) -> object:
        asked.append(len(only))
        return published(*given, only=only)

    monkeypatch.setattr(queries, "published", noting)
    with closing(Database(gallery_postgres_url)) as database:
        for change in (None, None, edit):
            with database.writing() as session:
                if change:
                    change(session)
            with database.snapshot() as session:
                cache.published(session, phase(session).id, COMPETITION, ())
    assert asked == [METHODS, 1]  # at first, and after the change


def test_a_new_challenge_has_a_revision_and_a_deleted_one_none(database: Database) -> None:
    with database.writing() as session:
        make_challenge(session, organiser=make_organiser(session), slug=SLUG, ready=False)
    assert revision(database) >= 1
    with database.writing() as session:
        session.execute(delete(Challenge).where(Challenge.slug == SLUG))
    with database.reading() as session:
        assert session.scalar(text("SELECT count(*) FROM leaderboard_revisions")) == 0


def test_every_table_that_a_leaderboard_is_read_from_is_watched(filled: Database) -> None:
    never_changed = {"evaluations", "competition_results", "measures", "class_scores", "ground_truth_versions"}
    statements: list[str] = []
    event.listen(
        filled.engine, "before_cursor_execute", lambda _connection, _cursor, statement, *_: statements.append(statement)
    )
    with filled.writing() as session:
        session.execute(update(ChallengePhase).values(closes_at=now()))  # from now on it is frozen
        show_board(session, challenge(session), COMPETITION)
    read = set(re.findall(r"(?:FROM|JOIN) (\w+)", " ".join(statements)))
    assert len(read) > len(CHANGES)
    assert read - never_changed == set(CHANGES)


def test_the_triggers_survive_further_upgrades(filled: Database, gallery_url: str) -> None:
    migrations.upgrade(gallery_url)
    before = revision(filled)
    with filled.writing() as session:
        unpublish(session)
    assert revision(filled) == before + 1


@pytest.mark.services
def test_processes_cannot_write_the_revision_but_their_changes_do(
    process_roles: None, gallery_postgres_url: str
) -> None:
    migrations.upgrade(gallery_postgres_url)  # for the roles' privileges
    database = Database(gallery_postgres_url)
    before = revision(database)
    with database.writing() as session:
        found = submission(session)
        session.execute(text(f"SET LOCAL ROLE {WEB_ROLE}"))
        found.affiliation = "Elsewhere"
    assert revision(database) == before + 1
    with database.writing() as session:
        scoring = phase(session).current_scoring_id
        session.execute(text(f"SET LOCAL ROLE {WORKER_ROLE}"))
        session.execute(update(ChallengePhase).values(current_scoring_id=scoring))
    assert revision(database) == before + 2
    for role in (WEB_ROLE, WORKER_ROLE):
        with database.writing() as session:
            session.execute(text(f"SET LOCAL ROLE {role}"))
            with pytest.raises(ProgrammingError, match="permission denied"):
                session.execute(text("UPDATE leaderboard_revisions SET revision = 1"))
            session.rollback()
    database.close()


@pytest.mark.services
def test_transactions_that_change_one_board_in_different_orders_do_not_deadlock(gallery_postgres_url: str) -> None:
    """One changes a submission, then the challenge; the other has the challenge and then changes a submission."""
    database = Database(gallery_postgres_url)
    first_has_changed, second_has_locked = threading.Event(), threading.Event()
    changed: list[uuid.UUID] = []
    before = revision(database)

    def one() -> None:
        with database.writing() as session:
            changed.append(submission(session).id)
            unpublish(session)
            session.flush()
            first_has_changed.set()
            assert second_has_locked.wait(10)
            session.execute(update(Challenge).where(Challenge.slug == SLUG).values(decimals=3))

    thread = threading.Thread(target=one)
    thread.start()
    assert first_has_changed.wait(10)
    with database.writing() as session:
        session.execute(update(Challenge).where(Challenge.slug == SLUG).values(title="New"))
        second_has_locked.set()
        session.execute(update(Submission).where(Submission.id.not_in(changed)).values(contributors="New"))
    thread.join(10)
    assert not thread.is_alive()
    assert revision(database) > before + 1
    database.close()
