"""Reading only what has changed gives what reading everything gives, after every kind of change."""

import uuid
from collections.abc import Callable

import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from tests.browser.gallery import make_submission
from tests.support.factories import make_user
from vocboard.app.challenges.models import Challenge, ChallengePhase
from vocboard.app.database import Database, now
from vocboard.app.leaderboards import entries, queries
from vocboard.app.leaderboards.entries import EntryCache
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry


def first(session: Session, count: int = 1) -> list[Submission]:
    found = session.query(Submission).filter(Submission.published_at.is_not(None)).order_by(Submission.created_at)
    return found.filter(Submission.entries.any(competition="comp3")).limit(count).all()


def edit(session: Session) -> None:
    first(session)[0].affiliation = "Elsewhere"


def rename(session: Session) -> None:
    session.execute(update(Method).where(Method.id == first(session)[0].method_id).values(name="Renamed"))


def unpublish(session: Session) -> None:
    first(session)[0].published_at = None


def make_private(session: Session) -> None:
    session.execute(
        update(SubmissionEntry).where(SubmissionEntry.submission_id == first(session)[0].id).values(is_private=True)
    )


def disqualify(session: Session) -> None:
    first(session)[0].state = State.DISQUALIFIED


def remove(session: Session) -> None:
    submission = first(session)[0]
    session.execute(delete(Submission).where(Submission.id == submission.id))


def point_to_other_scores(session: Session) -> None:
    one, other = first(session, 2)
    one.current_evaluation_id, other.current_evaluation_id = other.current_evaluation_id, one.current_evaluation_id


def board_phase(session: Session) -> uuid.UUID:
    query = select(ChallengePhase.id).join(Challenge, Challenge.id == ChallengePhase.challenge_id)
    return session.scalars(query.where(Challenge.slug == "voc2012")).one()


def publish_without_scores(session: Session) -> None:
    challenge = session.query(Challenge).filter_by(slug="voc2012").one()
    made = make_submission(session, challenge, make_user(session), name="No scores", keys=["comp3"])
    made.published_at = now()


@pytest.mark.parametrize(
    "change", [edit, rename, unpublish, make_private, disqualify, remove, point_to_other_scores, publish_without_scores]
)
def test_what_has_changed_is_read_again(filled: Database, change: Callable[[Session], None]) -> None:
    cache = EntryCache()

    def read() -> tuple[object, object]:
        with filled.snapshot() as session:
            asked = (session, board_phase(session), "comp3", ())
            return cache.published(*asked), entries.published(*asked)

    cached, whole = read()
    assert cached == whole
    with filled.writing() as session:
        change(session)
    cached, now_whole = read()
    assert cached == now_whole
    assert (now_whole == whole) is (change is publish_without_scores)


def test_on_postgresql_nothing_is_read_twice(filled: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    if filled.engine.dialect.name != "postgresql":
        pytest.skip("SQLite has no versions of rows")
    cache, asked = EntryCache(), []
    real = queries.published

    def noting(*given: object, only: list[object] | None = None) -> object:
        asked.append(None if only is None else len(only))
        return real(*given, only=only)  # type: ignore[arg-type]

    monkeypatch.setattr(queries, "published", noting)
    for change in (None, None, edit):
        with filled.writing() as session:
            if change:
                change(session)
        with filled.snapshot() as session:
            cache.published(session, board_phase(session), "comp3", ())
    assert len(asked) == 2  # at first, and after the change
    assert asked[-1] == 1
