"""The demo's example challenges, filled on a real server with a real worker: states, dates, and what they show."""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from tests.commands.board import Board
from tests.support.factories import make_organiser, make_token, make_user
from vocboard.app.audit.models import AuditEvent
from vocboard.commands.demo.example_seeding import EDITIONS
from vocboard.commands.demo.examples import SLUGS, draw_test_set, draw_validation_set, fill_examples
from vocboard.commands.demo.methods import Method
from vocboard.commands.demo.seeding import Api
from vocboard.evaluator.editions import Edition, read_text

PARTICIPANT = "participant@demo.example"


@pytest.fixture(scope="module")
def fill(board: Board) -> Iterator[Callable[[], Api]]:
    """Give what fills the board and returns the API as the organiser."""
    with board.database.writing() as session:
        organiser = Api(board.url, make_token(session, make_organiser(session)))
    authors: dict[str, Api] = {}

    def author_of(method: Method) -> Api:
        name = method.contributors.partition(",")[0]
        if name not in authors:
            with board.database.writing() as session:
                authors[name] = Api(board.url, make_token(session, make_user(session, name=name)))
        return authors[name]

    def filled() -> Api:
        fill_examples(board.database, organiser, author_of, PARTICIPANT)
        return organiser

    yield filled
    for api in (organiser, *authors.values()):
        api.close()


@pytest.fixture(scope="module")
def organiser(fill: Callable[[], Api]) -> Api:
    """Give the API of the filled server as the organiser."""
    return fill()


@pytest.fixture(scope="module")
def visitor(board: Board, organiser: Api) -> Iterator[Api]:
    """Give the API of the filled server as somebody else."""
    with closing(Api(board.url, board.token())) as api:
        yield api


def test_there_is_one_in_each_state(visitor: Api, organiser: Api) -> None:
    found = {item["slug"]: item for item in visitor.get("/challenges")["items"] if item["slug"] in SLUGS}
    assert {slug: item["phase"] for slug, item in found.items()} == {
        "harbour-2024": "archived",
        "orchard-2025": "closed",
        "harbour-2025": "open",
        "orchard-2026": "open",
        "harbour-2026": "open",
    }
    phases = {phase["key"]: phase for phase in found["harbour-2026"]["phases"]}
    assert {key: (phase["state"], phase["detail"]) for key, phase in phases.items()} == {
        "validation": ("open", "everything"),
        "main": ("open", "mean"),
    }
    assert visitor.get("/challenges/harbour-2027") is None
    draft = organiser.get("/challenges/harbour-2027")
    assert (draft["visibility"], draft["phase"]) == ("draft", "not_yet_open")
    [failed] = organiser.get("/challenges/harbour-2027/ground-truth")["items"]
    assert failed["state"] == "failed"
    assert len(failed["problems"]) == 2


def test_each_phase_has_its_leaderboard(visitor: Api) -> None:
    path = "/challenges/harbour-2026/leaderboards/comp2"
    assert methods(visitor.get(f"{path}?phase=validation")) == {"Mooring", "Quayside", "Tideline"}
    board = visitor.get(path)
    assert len(board["rows"]) == 4
    assert board["is_anonymous"]
    assert not methods(board) & {"Waterline", "Quayside", "Tideline", "Lighthouse"}
    assert not any(row["per_class"] for row in board["rows"])


def test_the_frozen_leaderboard_shows_later_results_apart(visitor: Api) -> None:
    path = "/challenges/harbour-2025/leaderboards/comp2"
    in_time, later = (methods(visitor.get(f"{path}{query}")) for query in ("", "?results=later"))
    assert in_time == {"Waterline", "Breakwater", "Quayside", "Lighthouse"}
    assert later == {"Tideline", "Quayside 2"}


def test_the_closed_leaderboard_shows_nothing_that_is_disqualified(visitor: Api, organiser: Api) -> None:
    shown = methods(visitor.get("/challenges/orchard-2025/leaderboards/comp1"))
    assert shown == {"Orchardist", "Windfall", "Grafted"}
    states = {item["method_name"]: item["state"] for item in items(organiser, "orchard-2025", "submissions")}
    assert states["Perfect harvest"] == "disqualified"


def test_the_corrected_leaderboard_says_why(visitor: Api, organiser: Api) -> None:
    [rescore] = items(organiser, "orchard-2026", "rescores")
    assert rescore["state"] == "applied"
    board = visitor.get("/challenges/orchard-2026/leaderboards/comp1")
    assert "labelled as apples" in board["corrections"][0]["reason"]
    changes = organiser.get(f"/rescores/{rescore['id']}")["changes"]
    assert any(change["rank"]["before"] != change["rank"]["after"] or change["mean"]["change"] for change in changes)


def test_everything_is_dated_when_it_is_said_to_have_been_done(organiser: Api) -> None:
    now = datetime.now(UTC)
    for slug in SLUGS:
        challenge = organiser.get(f"/challenges/{slug}")
        opened = challenge["phases"][0]["opens_at"]
        for submission in items(organiser, slug, "submissions"):
            submitted = datetime.fromisoformat(submission["created_at"])
            assert datetime.fromisoformat(opened) < submitted < now - timedelta(days=1), (slug, submission)
        logged = [datetime.fromisoformat(event["created_at"]) for event in items(organiser, slug, "log")]
        assert logged
        assert max(logged) < now - timedelta(hours=12), slug


def test_only_validation_images_are_shown_in_full(visitor: Api) -> None:
    challenges = [item for item in visitor.get("/challenges")["items"] if item["slug"] in SLUGS]
    shown = [
        (item["slug"], phase["key"])
        for item in challenges
        for phase in item["phases"]
        if phase["detail"] == "everything"
    ]
    assert shown == [("harbour-2026", "validation")]
    assert not any(item["detail"] == "curves" for item in challenges)  # their test sets are too small for it
    edition = example_edition("harbour")
    drawn = [draw_test_set(slug, edition) for slug in SLUGS if slug.startswith("harbour")]
    hidden = {scene.objects for world in drawn for scenes in world.sets.values() for scene in scenes}
    validation = [scene for scenes in draw_validation_set("harbour-2026", edition).sets.values() for scene in scenes]
    assert not {scene.objects for scene in validation} & hidden
    tested = {scene.image for scenes in draw_test_set("harbour-2026", edition).sets.values() for scene in scenes}
    assert not {scene.image for scene in validation} & tested


def test_a_test_set_is_used_once() -> None:
    edition = example_edition("orchard")
    worlds = [draw_test_set(slug, edition) for slug in SLUGS]
    scenes = [scene.objects for world in worlds for drawn in world.sets.values() for scene in drawn]
    assert len(set(scenes)) == len(scenes)


def test_filling_again_changes_nothing(board: Board, organiser: Api, fill: Callable[[], Api]) -> None:
    def events() -> int:
        with board.database.reading() as session:
            return session.scalar(select(func.count()).select_from(AuditEvent)) or 0

    before = events()
    fill()
    assert events() == before


def example_edition(name: str) -> Edition:
    path = EDITIONS / f"{name}.toml"
    return read_text(path.read_text(encoding="utf-8"), path.name)


def methods(board: dict[str, Any]) -> set[str]:
    return {row["method"] for row in board["rows"]}


def items(api: Api, slug: str, what: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(f"/challenges/{slug}/{what}?per_page=100")["items"]
    return found
