"""What leaves the site of a leaderboard: previews of links, the embedded board; and the overview of all boards."""

import io
import re
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from lxml import html
from PIL import Image
from sqlalchemy import update

from tests.browser.gallery import make_submission
from tests.support.browsing import sign_in
from tests.support.factories import make_challenge, make_organiser, make_user
from tests.support.filled_databases import furnish
from tests.support.phases import main_phase
from tests.support.scored import make_published, store_scores
from tests.support.site import Site, serving
from vocboard.app.challenges.models import Challenge, Detail, OverallRank, Visibility
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.leaderboards.board import Board
from vocboard.app.leaderboards.entries import Entry
from vocboard.app.leaderboards.ranked_rows import RankedRows
from vocboard.app.organising.phase_changes import add_phase
from vocboard.app.pages import embedding, participation
from vocboard.app.settings import Settings
from vocboard.app.submissions.models import Declared, Submission
from vocboard.evaluator.editions import Metric, Task, load
from vocboard.evaluator.scores import CompetitionScores, Measure

VOC2005 = load("VOC2005")
BOARD = "/challenges/voc2012/leaderboards/comp3"


@pytest.fixture(scope="module")
def thirty_methods(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the data directory of a site with 30 published methods, which others are copied from."""
    directory = tmp_path_factory.mktemp("methods") / "data"
    furnish(directory, methods=30)
    return directory


@pytest.fixture
def site(thirty_methods: Path, tmp_path: Path) -> Iterator[Site]:
    """Give a site with 30 published methods."""
    with serving(Settings(data_directory=shutil.copytree(thirty_methods, tmp_path / "data"))) as running:
        yield running


def scores_of(competition: str, area: float) -> CompetitionScores:
    """Return scores of a competition of VOC2005: in all classes this area under the ROC curve, and an EER of half."""
    classes = VOC2005.competitions[competition].classes
    primary = Measure(Metric.ROC_AUC, dict.fromkeys(classes, area))
    other = Measure(Metric.EQUAL_ERROR_RATE, dict.fromkeys(classes, area / 2))
    return CompetitionScores(competition, Task.CLASSIFICATION, primary, (other,))


def change(site: Site, **columns: object) -> None:
    with site.writing() as session:
        challenge = session.query(Challenge).filter_by(slug="voc2012").one()
        main = main_phase(session, challenge.id)
        for name, value in columns.items():
            setattr(challenge if hasattr(challenge, name) else main, name, value)


def test_a_preview_is_a_picture_of_the_size_that_previews_show(site: Site) -> None:
    with site.client() as client:
        page = html.fromstring(client.get(BOARD).text)
        [address] = page.xpath("//meta[@property='og:image']/@content")
        assert address.startswith(site.settings.public_url)
        answer = client.get(f"{BOARD}/preview.png")
        assert answer.headers["content-type"] == "image/png"
        with Image.open(io.BytesIO(answer.content)) as picture:
            assert picture.size == (1200, 630)
        assert len(answer.content) < 100_000
        again = client.get(f"{BOARD}/preview.png", headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304


def test_a_preview_names_the_metric_as_pages_do(monkeypatch: pytest.MonkeyPatch) -> None:
    written = list[str]()
    monkeypatch.setattr(embedding, "_write", lambda _draw, _where, text, *_rest, **_more: written.append(text))
    competition = next(iter(VOC2005.competitions.values()))
    entry = Entry(uuid4(), "Own", "", "", Declared(), now(), 0.5, 1, True, {}, {})
    rows = RankedRows([entry], competition, (), decimals=4)
    embedding.preview_picture(Board("slug", "Title", "main", competition, competition.rules.metric, (), 4, rows))
    assert written[-1] == "1 method · mean area under the ROC curve, per cent · vocboard"


def test_previews_and_embedded_boards_show_everybody_what_a_visitor_sees(site: Site) -> None:
    shared = (f"{BOARD}/preview.png", f"{BOARD}/embed")
    with site.client() as visitor, site.client() as organiser:
        with site.writing() as session:
            email = make_user(session, name="Someone").email
        sign_in(organiser, email)
        for path in shared:
            assert visitor.get(path).content == organiser.get(path).content
        change(site, detail=Detail.MEAN)
        embedded = visitor.get(f"{BOARD}/embed").text
        assert "aeroplane" not in embedded
        change(site, visibility=Visibility.DRAFT)
        for path in shared:
            assert visitor.get(path).status_code == 404


@pytest.mark.parametrize(
    ("detail", "classes", "curves"),
    [(Detail.MEAN, False, False), (Detail.CLASSES, True, False), (Detail.CURVES, True, True)],
)
def test_a_comparison_shows_what_the_detail_level_allows(
    site: Site, detail: Detail, classes: bool, curves: bool
) -> None:
    change(site, detail=detail)
    with site.client() as client:
        board = html.fromstring(client.get(BOARD).text)
        ids = board.xpath("//input[@name='method']/@value")[:3]
        answer = client.get(f"{BOARD}/compare", params={"method": ids, "class": "dog"})
    assert (" of each class in per cent" in board.findtext(".//caption")) is classes
    assert answer.status_code == 200
    page = html.fromstring(answer.text)
    assert len(page.xpath("//table[@class='compare']/tbody/tr")) == (21 if classes else 1)
    assert len(page.xpath("//figure[@class='curve-plot']//*[local-name()='g'][starts-with(@class, 's')]")) == (
        3 if curves else 0
    )
    assert ("dog" in answer.text) is classes


def test_pages_say_that_only_twelve_methods_or_curves_are_drawn(site: Site) -> None:
    change(site, detail=Detail.CURVES)
    with site.client() as client:
        ids = html.fromstring(client.get(BOARD).text).xpath("//input[@name='method']/@value")[:13]
        compared = client.get(f"{BOARD}/compare", params={"method": ids})
        plotted = client.get(f"/submissions/{ids[0]}", params={"curve": load("VOC2012").classes})
    assert "At most 12 methods are compared." in compared.text
    assert "At most 12 curves are drawn." in plotted.text


def test_a_method_that_is_no_longer_published_leaves_the_comparison(site: Site) -> None:
    with site.client() as client:
        ids = html.fromstring(client.get(BOARD).text).xpath("//input[@name='method']/@value")[:2]
        with site.writing() as session:
            session.execute(update(Submission).where(Submission.id == UUID(ids[0])).values(published_at=None))
        page = html.fromstring(client.get(f"{BOARD}/compare", params={"method": ids}).text)
        assert len(page.xpath("//ul[contains(@class,'compared')]/li")) == 1
        assert "method=nonsense" not in client.get(f"{BOARD}?method=nonsense").text


def test_the_picture_of_an_anonymous_board_is_another_one(site: Site) -> None:
    """Whether texts have names: tests/app/test_ladder.py."""
    with site.client() as client:
        named = client.get(f"{BOARD}/preview.png").content
        with site.writing() as session:
            challenge_id = session.query(Challenge.id).filter_by(slug="voc2012").scalar()
            main_phase(session, challenge_id).anonymous_until = now().replace(year=now().year + 1)
        assert client.get(f"{BOARD}/preview.png").content != named


def test_methods_are_listed_by_the_competitions_that_they_entered(site: Site) -> None:
    with site.client() as client:
        page = html.fromstring(client.get("/challenges/voc2012/leaderboards").text)
    heads = [head.text_content().strip() for head in page.xpath("//table[contains(@class,'matrix')]//thead//th")]
    assert heads == ["Method", "Classificationtrainval", "Detectiontrainval", "Segmentationtrainval", "Layouttrainval"]
    rows = page.xpath("//table[contains(@class,'matrix')]/tbody/tr")
    assert len(rows) == 42
    entered = [len(row.xpath("td[not(contains(@class,'none'))]")) for row in rows]
    assert entered == [3] * 12 + [1] * 30
    [missing] = {cell.text_content().strip() for cell in page.xpath("//td[contains(@class,'none')]")}
    assert missing == "–"


def test_two_test_sets_are_compared(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge = make_challenge(
            session, slug="voc2005", edition="VOC2005", competitions=["comp1", "comp2"], title="VOC2005"
        )
        challenge.overall_rank = OverallRank.MEAN_RANK
        # The last two are not compared: each was scored on one of the test sets only.
        for number, achieved in enumerate(
            ({"comp1": 0.9, "comp2": 0.6}, {"comp1": 0.7, "comp2": 0.75}, {"comp1": 0.5}, {"comp2": 0.5})
        ):
            user = make_user(session)
            made = make_submission(session, challenge, user, name=f"Method {number}", keys=[*achieved])
            assert challenge.main_phase.current_scoring_id is not None
            scores = {key: scores_of(key, score) for key, score in achieved.items()}
            store_scores(session, made.id, challenge.main_phase.current_scoring_id, scores)
            made.published_at = now()
    with embedded_site.client() as client:
        page = html.fromstring(client.get("/challenges/voc2005/leaderboards").text)
        board = client.get("/challenges/voc2005/leaderboards/comp1?metric=equal_error_rate").text
        answer = client.get("/api/v1/challenges/voc2005/overall").json()
    assert (answer["by"], answer["phase"], len(answer["groups"])) == ("mean_rank", "main", 1)
    [group] = answer["groups"]
    assert (group["training"], group["competitions"]) == ("trainval", ["comp1", "comp2"])
    assert [(one["method"], one["rank"], one["value"], one["limits"]) for one in group["rows"]] == [
        ("Method 0", 1, 1.5, None),
        ("Method 1", 1, 1.5, None),
    ]
    assert page.xpath("//h2/text()") == ["All leaderboards", "test1 against test2: Classification, trainval"]
    ranked = page.xpath("//table[contains(@class,'matrix')]/tbody/tr/td[1]")
    assert [cell.text_content() for cell in ranked] == ["1.50 #1", "1.50 #1", "– ", "– "]
    rows = page.xpath("//table[contains(@class,'compare')]/tbody/tr")
    values = [[cell.text_content() for cell in row.xpath("td[contains(@class,'value')]")] for row in rows]
    assert values == [["90.00", "60.00", "−30.00"], ["70.00", "75.00", "+5.00"]]
    [first_row, *_] = html.fromstring(board).xpath("//table[contains(@class,'board')]/tbody/tr")
    cells = first_row.xpath("td[contains(@class,'q')]/text()")
    assert cells == ["45.00"] * 4  # the equal error rate of each class


def test_methods_are_ranked_over_all_phases_that_are_visible(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser, ann, bob = make_organiser(session), make_user(session), make_user(session)
        challenge = make_challenge(session, organiser=organiser, slug="series", competitions=["comp1"])
        challenge.overall_rank = OverallRank.MEAN_RANK
        hidden = now() + timedelta(days=1)
        for key, shown in (("second", None), ("hidden", hidden)):
            rules = PhaseRules(competitions=("comp1",), leaderboard_from=shown)
            add_phase(session, challenge=challenge, user=organiser, key=key, title=key.title(), rules=rules)
        for phase, scores in (("main", (0.9, 0.8)), ("second", (0.7, 0.75)), ("hidden", (0.1, 0.9))):
            for person, name, score in ((ann, "A", scores[0]), (bob, "B", scores[1])):
                make_published(session, challenge, person, name, score, phase_key=phase, contributors=name)
        make_published(session, challenge, bob, "Once", 0.95, contributors="B")
    with embedded_site.client() as client:
        page = html.fromstring(client.get("/challenges/series/leaderboards?phases=all").text)
        answer = client.get("/api/v1/challenges/series/overall?phases=all").json()
        alone = client.get("/api/v1/challenges/series/overall?phase=second").json()
        assert client.get("/api/v1/challenges/series/overall?phases=some").status_code == 422
    assert (answer["phase"], alone["phase"], alone["groups"]) == (None, "second", [])
    [group] = answer["groups"]
    assert group["competitions"] == ["second/comp1", "main/comp1"]
    assert {(one["method"], one["rank"], one["value"], *one["submissions"]) for one in group["rows"]} == {
        ("A", 1, 2.0, "second/comp1", "main/comp1"),
        ("B", 1, 2.0, "second/comp1", "main/comp1"),
    }
    heads = [head.text_content() for head in page.xpath("//table[contains(@class,'matrix')]//thead//th/a")]
    assert heads == ["SecondClassificationtrainval", "Main phaseClassificationtrainval"]
    links = page.xpath("//table[contains(@class,'matrix')]//td/a/@href")
    assert {re.sub("#.*", "", link) for link in links} == {
        f"leaderboards/comp1?phase={key}&page=1" for key in ("main", "second")
    }


def test_addresses_of_one_page_of_the_overview_are_rendered_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered = []
    tables = participation._tables
    monkeypatch.setattr(
        participation, "_tables", lambda *given, **more: rendered.append(given) or tables(*given, **more)
    )
    with site.client() as client:
        for number in range(1_000, 1_010):
            for query in (f"page={number}", f"phases=all&phase=made-up-{number}", f"phases=all&page={number}"):
                assert client.get(f"/challenges/voc2012/leaderboards?{query}").status_code == 200
    assert len(rendered) == 2  # one for the phase, one for all phases
