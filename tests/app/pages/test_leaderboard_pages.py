"""The leaderboard's page: order, filter, what is shown of undefined and missing scores."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from lxml import html
from starlette.datastructures import QueryParams

from tests.support.factories import make_challenge, make_organiser
from tests.support.filled_databases import furnish
from tests.support.scored import make_published
from tests.support.site import Site, serving
from vocboard.app.leaderboards import frontiers
from vocboard.app.leaderboards.board import Board, Part
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.ranked_rows import RankedRows
from vocboard.app.pages.board_state import BoardState, part_of
from vocboard.app.pages.charts import class_strips
from vocboard.app.pages.formats import percent
from vocboard.app.settings import Settings
from vocboard.app.submissions.models import Declared
from vocboard.evaluator.declarations import Declaration, DeclarationKind
from vocboard.evaluator.editions import Competition, Metric, load
from vocboard.evaluator.tasks.definitions import METRICS

COMP3 = load("VOC2012").competitions["comp3"]
PATH = "/challenges/voc2012/leaderboards/comp3"


def entry(method: str, day: int, mean: float | None, **scores: float | None) -> Entry:
    return Entry(
        submission_id=uuid4(),
        method=method,
        contributors="",
        affiliation="",
        declared=Declared(),
        submitted_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day),
        mean=mean,
        mean_over=len(scores),
        is_complete=True,
        classes=scores,
        others={},
    )


def board(*entries: Entry, competition: Competition = COMP3, classes: tuple[str, ...] = ("cat", "dog")) -> Board:
    rows = RankedRows(entries, competition, classes, decimals=4)
    rules = competition.rules
    return Board("slug", "Title", "main", competition, rules.metric, classes, 4, rows, others=rules.board)


BOARD = board(
    entry("beta", 1, 0.9, cat=0.5, dog=None),
    entry("Alpha", 2, 0.8, cat=0.7, dog=0.1),
    entry("gamma", 3, 0.7, cat=0.5, dog=0.3),
    entry("delta", 4, 0.6),
    entry("omega", 0, None, cat=None, dog=None),
)


def order(sort: str | None, direction: str | None = None, shown: Board = BOARD) -> list[str]:
    state = BoardState.of(QueryParams(sort=sort, order=direction), shown)
    return [shown.rows[place].method for place in state.places(shown)]


@pytest.mark.parametrize(
    ("sort", "direction", "expected"),
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
def test_order(sort: str | None, direction: str | None, expected: list[str]) -> None:
    assert order(sort, direction) == expected


def test_a_board_with_two_measures_can_be_sorted_by_either_and_shows_the_classes_of_either() -> None:
    comp1 = load("VOC2005").competitions["comp1"]
    error = Metric.EQUAL_ERROR_RATE
    one = replace(entry("beta", 1, 0.9, cars=0.9), others={error: 0.6}, other_classes={error: {"cars": 0.6}})
    two = replace(entry("Alpha", 2, 0.8, cars=0.8), others={error: 0.8}, other_classes={error: {"cars": 0.8}})
    both = board(one, two, competition=comp1, classes=("cars",))
    assert order("equal_error_rate", shown=both) == ["Alpha", "beta"]
    assert order("mean", shown=both) == ["beta", "Alpha"]
    assert order("equal_error_rate") == order(None)  # a board without that measure
    state = BoardState.of(QueryParams(sort="cars", metric="equal_error_rate"), both)
    assert [both.rows[place].method for place in state.places(both)] == ["Alpha", "beta"]
    assert [row.other_cells[0][0].value for row in both.rows] == [0.6, 0.8]


def test_the_first_click_on_a_class_sorts_by_the_measure_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    error = Metric.EQUAL_ERROR_RATE
    monkeypatch.setitem(METRICS, error, replace(METRICS[error], higher_is_better=False))
    one = replace(entry("beta", 1, 0.9, cars=0.9), others={error: 0.6}, other_classes={error: {"cars": 0.6}})
    both = board(one, competition=load("VOC2005").competitions["comp1"], classes=("cars",))
    assert BoardState.of(QueryParams(), both).sorted_by("cars") == "?sort=cars&order=desc"
    shown = BoardState.of(QueryParams(metric=error.value), both)
    assert shown.sorted_by("cars") == f"?metric={error.value}&sort=cars&order=asc"
    assert shown.sorted_by("mean").endswith("sort=mean&order=desc")


def test_a_second_click_turns_the_order_round_and_keeps_everything_but_the_page() -> None:
    chosen = str(BOARD.rows[2].submission_id)
    first = BoardState.of(QueryParams(f"q=lab++x&shade=off&class=dog&method={chosen}"), BOARD)
    kept = f"q=lab+x&shade=off&class=dog&method={chosen}"
    assert first.sorted_by("cat") == f"?{kept}&sort=cat&order=desc"
    again = BoardState.of(QueryParams(sort="cat", order="desc", page="3"), BOARD)
    assert again.sorted_by("cat") == "?sort=cat&order=asc"
    assert first.sorted_by("method") == f"?{kept}&sort=method&order=asc"


@pytest.mark.parametrize("odd", ["0", "-1", "x", "²", "9" * 50, "2"])
def test_a_page_that_does_not_exist_is_the_nearest_one(odd: str) -> None:
    assert BoardState.of(QueryParams(page=odd), BOARD).page == 1


def test_methods_in_the_address_are_at_most_twelve_and_each_once() -> None:
    ids = [str(uuid4()) for _ in range(14)]
    state = BoardState.of(QueryParams([("method", each) for each in ("nonsense", ids[0], *ids)]), BOARD)
    assert [str(each) for each in state.methods] == ids[:12]


def test_what_makes_no_sense_in_an_address_is_ignored() -> None:
    """Links from elsewhere get a leaderboard, not an error."""
    asked = QueryParams("sort=&order=x&page=&results=x&metric=x&shade=x&class=x&method=x&view=figures&tracking=1")
    assert BoardState.of(asked, BOARD) == BoardState.of(QueryParams(), BOARD)
    assert part_of(asked) == (None, Part.COUNTING)
    assert part_of(QueryParams("phase=test&results=later")) == ("test", Part.LATER)


def test_hiding_a_part_of_the_table_keeps_the_rest_of_the_address_and_showing_it_again_drops_it() -> None:
    state = BoardState.of(QueryParams(sort="cat", hide="nonsense,date,classes"), BOARD)
    assert state.hidden == ("classes", "date")
    assert state.toggled("date") == "?sort=cat&order=desc&hide=classes"
    assert BoardState.of(QueryParams(hide="date"), BOARD).toggled("date") == ""


SPEED = Declaration("ms", "Time", DeclarationKind.NUMBER)


def declaring(name: str, day: int, mean: float | None, ms: float | None, *, is_complete: bool = True) -> Entry:
    declared = Declared({} if ms is None else {"ms": ms})
    return replace(entry(name, day, mean, cat=mean), declared=declared, is_complete=is_complete)


def test_only_methods_that_are_better_than_all_quicker_ones_lead() -> None:
    shown = board(
        declaring("slow and best", 1, 0.9, 80),
        declaring("as good, later, as slow", 2, 0.9, 80),
        declaring("slow", 3, 0.7, 90),
        declaring("quick, as good as the middle", 4, 0.7, 5),
        declaring("middle", 0, 0.7, 20),  # submitted first, so it is listed before the quick one
        declaring("silent", 5, 0.8, None),
        declaring("undefined", 6, None, 1),
        declaring("one class", 7, 0.95, 1, is_complete=False),
    )
    found = frontiers.against(shown, SPEED)
    assert [each.method for each in found.leaders] == ["quick, as good as the middle", "slow and best"]
    assert found.numbers.tolist() == [5, 20, 80, 80, 90]
    assert {each.method for each in found.others} == {"middle", "slow", "as good, later, as slow"}
    assert [each.method for each in frontiers.progress(shown).leaders] == ["middle", "slow and best"]


def test_of_many_methods_only_leaders_are_named() -> None:
    many = [declaring(f"m{number}", number, 0.5, number + 1) for number in range(frontiers.MAX_NAMED + 1)]
    found = frontiers.against(board(*many), SPEED)
    assert ([each.method for each in found.leaders], found.others) == (["m0"], [])


def test_groups_of_classes_have_the_mean_of_the_scores_that_are_shown() -> None:
    classes = ("bird", "cat", "cow", "dog", "horse", "sheep", "person", "car")
    animals = dict.fromkeys(classes[:6], 0.5)
    shown = board(
        entry("first", 1, 0.9, **{**animals, "bird": 0.50004, "cat": 0.2, "person": 0.4}),
        entry("second", 2, 0.8, **{**animals, "cat": 0.26, "person": 0.6}),
        entry("undefined", 3, 0.7, **{**animals, "cat": None, "person": 0.5}),
        classes=classes,
    )
    assert shown.groups == {"person": ("person",), "animal": classes[:6]}  # not those of which a class is not shown
    state = BoardState.of(QueryParams(columns="groups", sort="group:animal"), shown)
    assert [shown.rows[place].method for place in state.places(shown)] == ["second", "first", "undefined"]
    table = state.table(shown)
    assert [table.shown(column) for column in (1, 2)] == [[0.4, 0.6, 0.5], [0.45, 0.46, None]]  # of 0.5000, not 0.50004
    assert [[cell.is_best for cell in table.row(place)[1:]] for place in (0, 1)] == [[False, False], [True, True]]
    assert "columns=groups" in state.address()
    for without in (BOARD, board(entry("beta", 1, 0.9), classes=())):  # no whole group, no classes
        hidden = BoardState.of(QueryParams(columns="groups", sort="group:animal"), without)
        assert (without.groups, hidden.by_group, hidden.is_sorted) == ({}, False, False)


def test_classes_are_listed_by_their_median_the_hardest_first() -> None:
    strips = class_strips(BOARD, BOARD.metric)
    found = [(one.name, one.methods, one.median, one.best, BOARD.rows[one.best_row].method) for one in strips.rows]
    assert found == [("dog", 2, 0.2, 0.3, "gamma"), ("cat", 3, 0.5, 0.7, "Alpha")]
    assert class_strips(board(entry("alone", 1, None, cat=None)), BOARD.metric).rows == ()
    [strip] = class_strips(board(entry("one", 1, 0.4, cat=0.4), entry("two", 2, 0.5, cat=0.4005)), BOARD.metric).rows
    assert percent(strip.median, BOARD.decimals) == "40.03"  # of 0.40025, as on the page of a result


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Give a site with 30 published methods; tests only look at it."""
    directory = tmp_path_factory.mktemp("site") / "data"
    furnish(directory, methods=30)
    with serving(Settings(data_directory=directory)) as running:
        yield running


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
    assert re.search(r'<td class="none">–</td>', page)
    assert "not all classes entered" in page


def test_shades_are_explained_only_if_there_are_several_methods(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge, organiser = make_challenge(session), make_organiser(session)
        path = f"/challenges/{challenge.slug}/leaderboards/comp1"
    with embedded_site.client() as client:
        for number, is_explained in ((0, False), (1, True)):
            with embedded_site.writing() as session:
                make_published(session, challenge, organiser, f"Method {number}", 0.5)
            assert ("worst to best fifth" in client.get(f"{path}?page={number}").text) is is_explained


def test_an_unpublished_board_invites_and_an_unknown_one_is_not_found(site: Site) -> None:
    with site.client() as client:
        for view in ("table", "progress", "classes"):  # as links lead there from another leaderboard
            page = client.get(PATH.replace("comp3", "comp9"), params={"view": view}).text
            assert "No results have been published for comp9 yet." in page
        assert client.get(PATH.replace("comp3", "comp99")).status_code == 404
        assert client.get("/challenges/draft/leaderboards/comp3").status_code == 404


def test_a_filter_longer_than_200_characters_is_refused(site: Site) -> None:
    with site.client() as client:
        assert client.get(PATH, params={"q": "x" * 200}).status_code == 200
        refused = client.get(PATH, params={"q": "x" * 201})
    assert refused.status_code == 422
    assert "200 characters" in refused.text


def test_views_show_progress_and_classes_and_lead_back_to_the_rows(site: Site) -> None:
    with site.client() as client:
        tabs = html.fromstring(client.get(PATH).text).xpath("//nav[@aria-label='Views of the leaderboard']/a")
        assert [(tab.text, tab.get("href")) for tab in tabs] == [
            ("Table", PATH),
            ("Progress", f"{PATH}?view=progress"),
            ("Classes", f"{PATH}?view=classes"),
        ]
        progress = html.fromstring(client.get(PATH, params={"view": "progress"}).text)
        chosen = html.fromstring(client.get(PATH).text).xpath("//input[@name='method']/@value")[:2]
        classes = html.fromstring(client.get(PATH, params={"view": "classes", "method": chosen}).text)
        nonsense = client.get(PATH, params={"view": "nonsense", "hide": "x"}).text
    marks = progress.xpath("//figure[@class='progress wide']//a[@class='record' or @class='other']/@href")
    assert len(marks) > 20
    assert all(re.fullmatch(r"\?page=1#m-[0-9a-f]{8}", mark) for mark in marks)
    assert len(classes.xpath("//table[@class='class-strips']/tbody/tr")) == 20
    assert not methods(html.tostring(classes, encoding="unicode"))
    assert classes.xpath("//form[@id='choice']//input[@name='method']/@value") == chosen  # to compare them from here
    assert len(methods(nonsense)) == 30
