"""The leaderboard's page: order, filter, what is shown of undefined and missing scores."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from lxml import html

from tests.browser.gallery import fill
from tests.support.site import Site
from vocboard.app.leaderboards.service import Board, BoardRow, Cell
from vocboard.app.pages.leaderboards import Order
from vocboard.evaluator.editions import load

COMP3 = load("VOC2012").competitions["comp3"]
PATH = "/challenges/voc2012/leaderboards/comp3"


def row(rank: int | None, method: str, *scores: float | None, entered: bool = True) -> BoardRow:
    mean = None if rank is None else 1 - rank / 10
    return BoardRow(
        rank=rank,
        submission_id=uuid4(),
        method=method,
        contributors="",
        affiliation="",
        declared=(),
        submitted_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=rank or 0),
        mean=Cell(mean, True, False),
        mean_over=len(scores),
        is_complete=True,
        cells=tuple(Cell(score, entered, False) for score in scores),
    )


ROWS = (
    row(1, "beta", 0.5, None),
    row(2, "Alpha", 0.7, 0.1),
    row(3, "gamma", 0.5, 0.3),
    row(4, "delta", None, None, entered=False),
    row(None, "omega", None, None),
)
BOARD = Board("slug", "Title", "main", COMP3, COMP3.rules.metric, ("cat", "dog"), 4, ROWS)


@pytest.mark.parametrize(
    ("sort", "order", "expected"),
    [
        (None, None, ["beta", "Alpha", "gamma", "delta", "omega"]),
        ("nonsense", "desc", ["beta", "Alpha", "gamma", "delta", "omega"]),
        ("rank", "desc", ["delta", "gamma", "Alpha", "beta", "omega"]),
        ("method", None, ["Alpha", "beta", "delta", "gamma", "omega"]),
        ("cat", None, ["Alpha", "beta", "gamma", "delta", "omega"]),  # of equals the better rank first
        ("cat", "asc", ["beta", "gamma", "Alpha", "delta", "omega"]),
        ("dog", "desc", ["gamma", "Alpha", "beta", "delta", "omega"]),  # undefined and not entered last
        ("dog", "asc", ["Alpha", "gamma", "beta", "delta", "omega"]),
        ("mean", None, ["beta", "Alpha", "gamma", "delta", "omega"]),
        ("submitted", None, ["delta", "gamma", "Alpha", "beta", "omega"]),
    ],
)
def test_order(sort: str | None, order: str | None, expected: list[str]) -> None:
    asked = Order.asked(sort, order, "", BOARD)
    assert [item.method for item in asked.sorted(ROWS, BOARD)] == expected


def test_a_board_with_two_measures_can_be_sorted_by_either() -> None:
    comp1 = load("VOC2005").competitions["comp1"]
    one, two = (replace(ROWS[place], others=(Cell(mean, True, False),)) for place, mean in ((0, 0.6), (1, 0.8)))
    both = replace(BOARD, competition=comp1, metric=comp1.rules.metric, rows=(one, two), others=comp1.rules.board)
    by_error = Order.asked("equal_error_rate", None, "", both)
    assert [item.method for item in by_error.sorted(both.rows, both)] == ["Alpha", "beta"]
    assert [item.method for item in Order.asked("mean", None, "", both).sorted(both.rows, both)] == ["beta", "Alpha"]
    assert Order.asked("equal_error_rate", None, "", BOARD).column == "rank"  # a board without that measure


def test_a_second_click_turns_the_order_round_and_keeps_the_filter() -> None:
    first = Order.asked(None, None, "lab x", BOARD)
    assert first.address("cat") == "?sort=cat&order=desc&q=lab+x"
    assert Order.asked("cat", "desc", "", BOARD).address("cat") == "?sort=cat&order=asc"
    assert first.address("method") == "?sort=method&order=asc&q=lab+x"


@pytest.fixture
def site(embedded_site: Site) -> Site:
    with embedded_site.writing() as session:
        fill(session, methods=30)
    return embedded_site


def methods(page: str) -> list[str]:
    found: list[str] = html.fromstring(page).xpath("//table[contains(@class,'board')]/tbody/tr/th/a/text()")
    return found


def test_filter_finds_methods_by_all_words(site: Site) -> None:
    with site.client() as client:
        found = methods(client.get(PATH, params={"q": "institute YOLO"}).text)
        assert 0 < len(found) < 30
        assert all(name.startswith("YOLO") for name in found)
        nothing = client.get(PATH, params={"q": "<script>"}).text
    assert "No method matches “&lt;script&gt;”." in nothing


def test_the_sorted_column_says_so_to_screen_readers(site: Site) -> None:
    with site.client() as client:
        page = html.fromstring(client.get(PATH, params={"sort": "cow", "order": "asc"}).text)
    [head] = page.xpath("//th[@aria-sort]")
    assert head.get("aria-sort") == "ascending"
    assert head.text_content().strip() == "cow"


def test_undefined_is_not_available_and_missing_is_a_dash(site: Site) -> None:
    with site.client() as client:
        page = client.get(PATH).text
    assert re.search(r'<td class="none">n/a</td>', page)
    assert re.search(r'<td class="none"><span title="not entered">–</span></td>', page)
    assert "not all classes entered" in page


def test_an_unpublished_board_invites_and_an_unknown_one_is_not_found(site: Site) -> None:
    with site.client() as client:
        assert "No results have been published for comp9 yet." in client.get(PATH.replace("comp3", "comp9")).text
        assert client.get(PATH.replace("comp3", "comp99")).status_code == 404
        assert client.get("/challenges/draft/leaderboards/comp3").status_code == 404


def test_a_filter_longer_than_200_characters_is_refused(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        fill(session)
    with embedded_site.client() as client:
        assert client.get(PATH, params={"q": "x" * 200}).status_code == 200
        refused = client.get(PATH, params={"q": "x" * 201})
    assert refused.status_code == 422
    assert "200 characters" in refused.text
