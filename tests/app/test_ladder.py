"""The Ladder mechanism of a phase: until it closes, no view depends on scores beyond what it releases."""

import random
import re
import uuid
from collections.abc import Mapping
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from tests.app.test_detail_levels import addresses
from tests.support.browsing import sign_in
from tests.support.clock import Clock
from tests.support.corrections import correct
from tests.support.factories import change_rules, make_challenge, make_organiser, make_token, make_user
from tests.support.phases import complete, show_board
from tests.support.scored import make_published
from tests.support.site import Site
from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge, Detail, Freeze
from vocboard.app.challenges.phases import MAX_UPLOAD_DURATION
from vocboard.app.database import Database, now
from vocboard.app.errors import InvalidInputError
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, Curve, Evaluation, Measure
from vocboard.app.evaluations.releases import releases_of_phase
from vocboard.app.evaluations.results import visible_means
from vocboard.app.leaderboards.differences import Differences
from vocboard.app.leaderboards.models import BoardDifferences, BoardStatistics
from vocboard.app.leaderboards.shown_statistics import MEAN
from vocboard.app.leaderboards.statistics import Interval, MethodStatistics, Statistics, digest_of
from vocboard.app.organising import moderation
from vocboard.app.pages.board_state import View
from vocboard.app.participating import publishing, withdrawing
from vocboard.app.submissions.models import Submission
from vocboard.evaluator.names import CurveKind

DAY = timedelta(days=1)
STEP = 0.01
BOARD = "/challenges/ladder/leaderboards/comp1"
# What changes from one request to the next, or with time.
_VARYING = re.compile(r'name="csrf_token" value="[^"]*"|\d+ (second|minute)s? ago|just now')


class World:
    """A phase with the Ladder mechanism that closes in a day; Ada has three submissions, of which one is private."""

    def __init__(self, session: Session, **rules: object) -> None:
        self.organiser, self.ada, self.bob = make_organiser(session), make_user(session), make_user(session)
        given = {
            "competitions": ["comp1"],
            "closes_at": now() + DAY,
            "ladder_step": STEP,
            "statistics": True,
            **rules,
        }
        self.challenge = make_challenge(session, organiser=self.organiser, slug="ladder", **given)
        self.ids: dict[str, uuid.UUID] = {}
        self.methods: dict[str, uuid.UUID] = {}
        self.submit(session, self.ada, "First", 0.512)
        self.submit(session, self.ada, "Private", 0.514, published=False)
        self.submit(session, self.ada, "Worse", 0.33)
        self.submit(session, self.ada, "Better", 0.561)
        self.submit(session, self.bob, "Bobs", 0.5602)

    def submit(
        self, session: Session, person: User, name: str, score: float, *, published: bool = True, **given: object
    ) -> None:
        made = make_published(session, self.challenge, person, name, score, published=published, **given)
        self.ids[name], self.methods[name] = made.id, made.method_id

    def releases(self, session: Session) -> dict[str, float | None]:
        """What is released, by name."""
        found = releases_of_phase(session, self.challenge.main_phase.id, STEP, self.challenge.decimals)
        return {name: found[one]["comp1"].score for name, one in self.ids.items()}


RELEASED = {"First": 0.51, "Private": None, "Worse": None, "Better": 0.56, "Bobs": 0.56}
# Other scores of which the same is released, and another order of unrounded scores.
OTHER_SCORES = {"First": 0.5051, "Private": 0.4, "Worse": 0.0123, "Better": 0.5551, "Bobs": 0.5649}


def rescale(session: Session, ids: Mapping[str, uuid.UUID], scores: Mapping[str, float]) -> None:
    """Change everything that was computed of submissions."""
    for name, score in scores.items():
        results = select(CompetitionResult.id).join(Evaluation).where(Evaluation.submission_id == ids[name])
        measures = select(Measure.id).where(Measure.result_id.in_(results)).scalar_subquery()
        session.execute(update(Measure).where(Measure.id.in_(measures)).values(mean=score))
        session.execute(update(ClassScore).where(ClassScore.measure_id.in_(measures)).values(value=score))
        for result_id in session.scalars(results):
            points = Curve(class_name="car", position=0, kind=CurveKind.PRECISION_RECALL, values=[round(score, 2)] * 11)
            points.result_id = result_id
            session.merge(points)
    add_statistics(session, ids, scores)
    session.execute(update(Challenge).values(title=Challenge.title))  # so that leaderboards are computed again


def add_statistics(session: Session, ids: Mapping[str, uuid.UUID], scores: Mapping[str, float]) -> None:
    """Store what workers compute of the leaderboard: intervals around the scores, ranks, and all differences."""
    challenge_id = session.scalars(select(Challenge.id).where(Challenge.slug == "ladder")).one()
    challenge = complete(session, challenge_id)
    board = show_board(session, challenge, "comp1")
    names = {submission: name for name, submission in ids.items()}
    results = {entry.result_id: scores.get(names[entry.submission_id], 0.5) for entry in board.rows.entries}
    known = {result: score for result, score in results.items() if result is not None}
    digest = digest_of(known, 3)
    assert digest is not None
    ranks = {result: place for place, result in enumerate(sorted(known, key=lambda one: -known[one]), start=1)}
    methods = {}
    for result, score in known.items():
        interval = Interval(round(score - 0.04, 3), round(score + 0.04, 3))
        methods[result] = MethodStatistics(interval, {"car": interval}, (ranks[result], len(ranks)), ranks[result] < 3)
    session.execute(delete(BoardStatistics))
    stored = BoardStatistics(
        challenge_id=challenge.id,
        phase_id=challenge.main_phase.id,
        competition="comp1",
        methods_sha256=digest,
        version=1,
        content=Statistics(3, 1000, 1000, len(known), methods).as_json(),
    )
    session.add(stored)
    session.flush()
    values = np.array(list(known.values()))
    middle, shown = values[:, None] - values, np.ones((len(known),) * 2, dtype=bool)
    packed = Differences.rounded(list(known), middle - 0.05, middle + 0.05, shown, 3, is_shown=shown).packed()
    for column in (MEAN, "car"):
        session.add(BoardDifferences(statistics_id=stored.id, class_name=column, content=packed))


ABOUT_ONESELF = {"/account", "/api/v1/account/export"}  # sessions and sign-ins, no scores


class Reader:
    """What somebody can fetch: the owner of three submissions, in a browser or with a token, or a visitor."""

    def __init__(self, site: Site, world: World, link: str, *, email: str = "", token: str | None = None) -> None:
        self._site, self._email, self._token = site, email, token
        self._paths = set[str]()
        for name, one in world.ids.items():
            known = {"slug": "ladder", "competition": "comp1", "submission_id": str(one), "token": link}
            self._paths |= addresses({**known, "method_id": str(world.methods[name])})
        chosen = "&".join(f"method={one}" for name, one in world.ids.items() if name != "Private")
        self._paths |= {f"{BOARD}/compare?{chosen}&class=car", f"{BOARD}?sort=car"}
        self._paths |= {f"{BOARD}?view={view}" for view in View} | {f"{BOARD}?q=zebra"}

    def views(self) -> dict[str, str]:
        """Answers by address, without what varies; from the second time on, of what was there before."""
        found: dict[str, str] = {}
        with self._site.client(self._token) as client:
            if self._email:
                sign_in(client, self._email)
            for path in sorted(self._paths):
                is_api = path.startswith("/api/")
                if path not in ABOUT_ONESELF and is_api >= bool(self._token) and is_api <= (not self._email):
                    answer = client.get(path)
                    if answer.status_code == 200:
                        found[path] = _VARYING.sub("", answer.text)
        self._paths = {*found}
        return found


def test_no_view_depends_on_more_than_what_is_released_until_the_phase_has_closed(
    embedded_site: Site, clock: Clock
) -> None:
    with embedded_site.writing() as session:
        world = World(session, freeze=Freeze.NEVER)
        rescale(session, world.ids, {"First": 0.512})  # with curves
    clock.advance(DAY + MAX_UPLOAD_DURATION - timedelta(minutes=5))  # closed, but somebody may still upload
    with embedded_site.writing() as session:
        link = publishing.create_anonymous_link(session, submission_id=world.ids["Worse"], user=world.ada)
        token, organisers = make_token(session, world.ada), make_token(session, world.organiser)
    readers = [
        Reader(embedded_site, world, link),
        Reader(embedded_site, world, link, token=token),
        Reader(embedded_site, world, link, email=world.ada.email),
    ]

    def of_organiser() -> str:
        with embedded_site.client(organisers) as client:
            return client.get(f"/api/v1/submissions/{world.ids['First']}").text

    before = [reader.views() for reader in readers]
    assert [len(views) >= 15 for views in before] == [True, True, True]
    assert '"mean":0.512,' in of_organiser()
    with embedded_site.writing() as session:
        rescale(session, world.ids, OTHER_SCORES)
    for reader, views in zip(readers, before, strict=True):
        again = reader.views()
        assert [path for path, text in views.items() if again.get(path) != text] == []
    assert '"mean":0.5051,' in of_organiser()
    clock.advance(timedelta(minutes=5))
    with embedded_site.writing() as session:
        token = make_token(session, world.ada)
    with embedded_site.client(token) as client:
        assert '"mean":0.4,' in client.get(f"/api/v1/submissions/{world.ids['Private']}").text
        assert '"low":0.525' in client.get(f"/api/v1{BOARD}").text  # so that there was something to hide
        rows = client.get(f"/api/v1{BOARD}").json()["rows"]
    assert [(row["method"], row["mean"]) for row in rows[:2]] == [("Bobs", 0.5649), ("Better", 0.5551)]


@pytest.mark.parametrize("rule", ["anonymous_until", "leaderboard_from"])
def test_no_view_names_others_before_the_date_from_which_leaderboards_do(
    embedded_site: Site, clock: Clock, rule: str
) -> None:
    with embedded_site.writing() as session:
        world = World(session, ladder_step=None, **{rule: now() + DAY / 2})
        world.submit(session, world.bob, "Zebra", 0.7, declarations={"training_data": "Images of Zebra"})
        link = publishing.create_anonymous_link(session, submission_id=world.ids["Worse"], user=world.ada)
        stranger = make_token(session, make_user(session))
    world.ids = {name: world.ids[name] for name in ("First", "Private", "Bobs", "Zebra")}
    readers = {
        Reader(embedded_site, world, link): "The (people|laboratory) of|Zebra|Bobs",
        Reader(embedded_site, world, link, token=stranger): "The (people|laboratory) of|Zebra|Bobs",
        Reader(embedded_site, world, link, email=world.ada.email): "Zebra|Bobs",
    }
    ids = [str(one) for of in (world.ids, world.methods) for name, one in of.items() if name in ("Zebra", "Bobs")]
    for reader, names in readers.items():
        views = reader.views()
        assert len(views) >= 10
        for path, text in views.items():
            assert not re.search(names, text), path
            assert not any(one in path.partition("?")[0] or (one in text and one not in path) for one in ids), path
    clock.advance(DAY / 2)
    with embedded_site.client() as visitor:
        for path in (BOARD, f"/methods/{world.methods['Zebra']}", f"/api/v1/submissions/{world.ids['Zebra']}"):
            assert "The people of Zebra" in visitor.get(path).text, path


def test_what_a_submission_and_a_leaderboard_show(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        world = World(session)
        token = make_token(session, world.ada)
    with embedded_site.client(token) as client:
        shown = {
            name: client.get(f"/api/v1/submissions/{one}").json()["competitions"]["comp1"]
            for name, one in world.ids.items()
        }
        assert shown["Better"]["mean"] == shown["Better"]["ladder"]["best"] == 0.56
        assert shown["Better"]["per_class"] == shown["Better"]["secondary"] == {}
        assert shown["Worse"]["mean"] is None
        assert shown["Worse"]["ladder"] == {"step": 0.01, "is_new_best": False, "best": 0.51}
        assert shown["Bobs"]["ladder"] == {"step": 0.01, "is_new_best": True, "best": None}
        board = client.get(f"/api/v1{BOARD}").json()
        assert board["ladder_step"] == 0.01
        found = [(row["rank"], row["method"], row["mean"]) for row in board["rows"]]
        assert found == [(1, "Better", 0.56), (1, "Bobs", 0.56), (3, "First", 0.51), (None, "Worse", None)]
        [phase] = client.get("/api/v1/challenges/ladder").json()["phases"]
        assert phase["ladder_step"] == 0.01


def test_all_of_a_person_counts_and_nothing_that_happens_later_takes_it_back(database: Database) -> None:
    with database.writing() as session:
        world = World(session)
        assert world.releases(session) == RELEASED
        world.submit(session, world.ada, "Rehearsal", 0.9, published=False, is_rehearsal=True)
        world.submit(session, world.ada, "Last", 0.565)
        moderation.disqualify(
            session,
            submission_id=world.ids["Better"],
            user=world.organiser,
            reason="Trained on the test set",
            site="https://voc.example",
        )
        del world.ids["Rehearsal"]
        assert world.releases(session) == {**RELEASED, "Last": None}
        # An organiser's own list: what participants see. That of the whole challenge: scores.
        found = complete(session, world.challenge.id)
        one = session.get_one(Submission, world.ids["First"])
        one.challenge = found
        assert visible_means(session, [one], for_organisers=False)[one.id] == {"comp1": 0.51}
        assert visible_means(session, [one], for_organisers=True)[one.id] == {"comp1": 0.512}


def test_a_re_score_is_shown_by_the_same_rule_and_in_the_same_order(database: Database) -> None:
    with database.writing() as session:
        world = World(session)
        correct(session, world.challenge, world.organiser, chance=random.Random(5))
        found = complete(session, world.challenge.id)
        query = select(Submission.id, Measure.mean).join(Evaluation, Evaluation.id == Submission.current_evaluation_id)
        query = query.join(CompetitionResult).join(Measure)
        scores = {row[0]: row[1] for row in session.execute(query)}
        best = -1.0
        for name in ("First", "Private", "Worse", "Better"):
            score = scores[world.ids[name]]
            expected = round(score, 2) if score > best + STEP else None
            best = expected or best
            assert world.releases(session)[name] == expected
        assert {row.mean.value for row in show_board(session, found, "comp1").rows} <= {
            *world.releases(session).values()
        }


class Always(random.Random):
    """Chance that always has the same score."""

    def random(self) -> float:
        return self.score

    def __init__(self, score: float) -> None:
        super().__init__()
        self.score = score


@pytest.mark.parametrize("is_disqualified", [True, False])
def test_what_a_re_score_leaves_out_counts_with_its_last_score(database: Database, is_disqualified: bool) -> None:
    with database.writing() as session:
        world = World(session)
        correct(session, world.challenge, world.organiser, chance=Always(0.9), is_kept=False)
        if is_disqualified:
            given = {"reason": "Trained on the test set", "site": "https://voc.example"}
            moderation.disqualify(session, submission_id=world.ids["First"], user=world.organiser, **given)
        else:
            withdrawing.withdraw(session, submission_id=world.ids["First"], user=world.ada)
        correct(session, world.challenge, world.organiser, chance=Always(0.517))
        assert world.releases(session) == {**dict.fromkeys(world.ids), "First": 0.51, "Bobs": 0.52}


def test_incomplete_entries_are_not_released_and_do_not_count(database: Database) -> None:
    with database.writing() as session:
        world = World(session)
        session.execute(update(CompetitionResult).where(*_is_of(world.ids["First"])).values(not_entered=["cat"]))
        assert world.releases(session) == {**RELEASED, "First": None, "Private": 0.51}


def _is_of(submission_id: uuid.UUID) -> list[object]:
    evaluations = select(Evaluation.id).where(Evaluation.submission_id == submission_id)
    return [CompetitionResult.evaluation_id.in_(evaluations)]


@pytest.mark.parametrize("freeze", [Freeze.CLOSING, Freeze.DATE])
def test_a_frozen_leaderboard_shows_scores_once_the_phase_has_closed(
    database: Database, clock: Clock, freeze: Freeze
) -> None:
    """Frozen long before, or at closing: the copy keeps what was released, and the scores."""
    date = now() + DAY / 2 if freeze is Freeze.DATE else None
    with database.writing() as session:
        world = World(session, freeze=freeze, freezes_at=date)

    def board() -> list[tuple[str, float | None]]:
        with database.writing() as session:
            shown = show_board(session, world.challenge, "comp1")
            assert (shown.frozen_at is not None) == is_frozen
            return [(row.method, row.mean.value) for row in shown.rows]

    is_frozen = False
    released = [("Better", 0.56), ("Bobs", 0.56), ("First", 0.51), ("Worse", None)]
    assert board() == released
    clock.advance(0.75 * DAY if date else DAY)
    is_frozen = True
    assert board() == released
    with database.writing() as session:
        rescale(session, world.ids, OTHER_SCORES)
    clock.advance(DAY)
    assert board() == [("Better", 0.561), ("Bobs", 0.5602), ("First", 0.512), ("Worse", 0.33)]


def test_the_step_is_checked_and_can_be_changed_and_taken_away(database: Database) -> None:
    with database.writing() as session:
        world = World(session)
        for wrong in ({"ladder_step": 0.0}, {"ladder_step": float("nan")}, {"ladder_step": 1.0}):
            with pytest.raises(InvalidInputError) as raised:
                change_rules(session, world.challenge, world.organiser, **wrong)
            said = "Choose between 0.1 and 20 per cent (0.001 and 0.2 as a fraction)."
            assert raised.value.fields == {"ladder_step": said}
        with pytest.raises(InvalidInputError):
            change_rules(session, world.challenge, world.organiser, detail=Detail.EVERYTHING)
        change_rules(session, world.challenge, world.organiser, ladder_step=0.1)
        assert [row.mean.value for row in show_board(session, world.challenge, "comp1").rows] == [0.6, 0.5, None, None]
        change_rules(session, world.challenge, world.organiser, ladder_step=None)
        assert show_board(session, world.challenge, "comp1").rows[0].mean.value == 0.561
