"""Leaderboards and curves in the format that the client takes, every score rounded to the challenge's decimals."""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest

from tests.app.authorisation_world import build
from tests.support.factories import make_challenge, make_user
from tests.support.scored import make_scored
from tests.support.site import Site
from vocboard.app.api.exports import curves_of
from vocboard.app.challenges.models import Visibility
from vocboard.app.database import now
from vocboard.app.evaluations.visible import VisibleCurve, VisibleEvaluation, VisibleMeasure, VisibleResult
from vocboard.evaluator.editions import Task
from vocboard.evaluator.names import CurveKind

BOARD = "/api/v1/challenges/public-challenge/leaderboards/comp1"
UNROUNDED = "0.12345"  # of the one published score, 0.123456789
JSON, CSV, LATEX = "application/json", "text/csv; charset=utf-8", "application/x-tex"


@pytest.fixture
def visitor(embedded_site: Site) -> Iterator[httpx.Client]:
    with embedded_site.writing() as session:
        build(session)
    with embedded_site.client() as client:
        yield client


def test_the_format_is_the_clients_choice(visitor: httpx.Client) -> None:
    asked = {
        (BOARD, ""): JSON,
        (BOARD, "*/*"): JSON,
        (BOARD, "text/csv"): CSV,
        (BOARD, "application/json;q=0.5, text/csv"): CSV,
        (BOARD, "text/csv;q=0, */*"): JSON,
        (BOARD, "application/x-latex"): LATEX,
        (f"{BOARD}.csv", "application/json"): CSV,
        (f"{BOARD}.tex", "*/*"): LATEX,
        (f"{BOARD}.json", "text/csv"): JSON,
        (f"{BOARD}?format=csv", "application/json"): CSV,
        (f"{BOARD}?format=tex", "*/*"): LATEX,
    }
    found = {}
    for path, accept in asked:
        response = visitor.get(path, headers={"Accept": accept})
        assert response.status_code == 200, (path, accept, response.text)
        found[path, accept] = response.headers["content-type"]
    assert found == asked


def test_what_we_do_not_have_is_said_so(visitor: httpx.Client) -> None:
    assert visitor.get(BOARD, headers={"Accept": "image/png"}).status_code == 406
    assert visitor.get(f"{BOARD}?format=xml").status_code == 422
    assert visitor.get(f"{BOARD}.xml").status_code == 404
    assert visitor.get(BOARD.replace("comp1", "comp9")).status_code == 404


def test_scores_are_rounded_in_every_format(visitor: httpx.Client) -> None:
    [row] = visitor.get(BOARD).json()["rows"]
    assert row["per_class"] == {"car": 0.1235}
    assert row["mean"] == 0.1235
    assert row["best"] == ["car"]  # the mean of an incomplete entry is never the best
    assert not row["is_complete"]
    line, reported = csv.DictReader(io.StringIO(visitor.get(f"{BOARD}.csv").text))
    assert (line["rank"], reported["rank"]) == ("1", "n/a")
    assert (line["car"], line["mean"], line["bird"]) == ("0.1235", "0.1235", "")
    assert r"\textbf{12.35}" in visitor.get(f"{BOARD}.tex").text
    for ending in ("", ".csv", ".tex"):
        assert UNROUNDED not in visitor.get(BOARD + ending).text


def test_exports_are_files_with_a_name(visitor: httpx.Client) -> None:
    disposition = visitor.get(f"{BOARD}.csv").headers["content-disposition"]
    assert disposition == 'attachment; filename="public-challenge-comp1.csv"'


def test_scores_and_curves_of_a_submission_are_rounded_too(embedded_site: Site, visitor: httpx.Client) -> None:
    with embedded_site.writing() as session:
        challenge = make_challenge(session, slug="many-cars")
        given = {"positives": 200, "published_at": now()}
        of_many = make_scored(session, challenge, make_user(session), "Method", **given).id
    [row] = visitor.get(BOARD).json()["rows"]
    submission = visitor.get(f"/api/v1/submissions/{row['submission']}")
    scores = submission.json()["competitions"]["comp1"]
    assert scores["per_class"] == {"car": 0.1235}
    assert scores["details"] == {}, "counts are for organisers"
    assert UNROUNDED not in submission.text
    curves = visitor.get(f"/api/v1/submissions/{row['submission']}/curves/comp1").json()["curves"]
    assert curves["car"] == {"recall": [], "precision": [], "step": None, "is_left_out": True}, "two positives"
    curves = visitor.get(f"/api/v1/submissions/{of_many}/curves/comp1").json()["curves"]
    assert curves["car"] == {
        "recall": [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        "precision": [0.94] * 6 + [0.67] * 5,  # exactly 1, above the highest that is displayed, and 0.666666666
        "step": 0.01,
        "is_left_out": False,
    }


def evaluation_with(curves: dict[str, VisibleCurve]) -> VisibleEvaluation:
    measure = VisibleMeasure("average_precision", {}, None, 0)
    result = VisibleResult("comp1", Task.CLASSIFICATION, (measure,), (), {}, curves, None)
    return VisibleEvaluation(datetime(2026, 1, 1, tzinfo=UTC), 1.0, "1.0", (), "0" * 64, 1, 1, None, (result,))


def test_a_receiver_operating_characteristic_has_rates_of_positives() -> None:
    curve = VisibleCurve(CurveKind.ROC, ((0.0, 0.0), (0.5, 0.67), (1.0, 1.0)))
    assert curves_of("comp1", evaluation_with({"cars": curve})).model_dump() == {
        "competition": "comp1",
        "kind": "roc",
        "curves": {
            "cars": {
                "false_positive_rate": [0.0, 0.5, 1.0],
                "true_positive_rate": [0.0, 0.67, 1.0],
                "step": None,
                "is_left_out": False,
            }
        },
        "imported": None,
    }


def test_other_competitions_have_recall_and_precision() -> None:
    found = {
        "car": VisibleCurve(CurveKind.PRECISION_RECALL, ((0.5, 1.0), (1.0, 0.67)), step=0.01),
        "dog": VisibleCurve(CurveKind.PRECISION_RECALL, (), is_left_out=True),
    }
    curves = curves_of("comp1", evaluation_with(found)).model_dump()
    assert curves["kind"] == "precision_recall"
    assert curves["curves"] == {
        "car": {"recall": [0.5, 1.0], "precision": [1.0, 0.67], "step": 0.01, "is_left_out": False},
        "dog": {"recall": [], "precision": [], "step": None, "is_left_out": True},
    }


def test_there_are_none_without_an_evaluation_and_of_other_competitions() -> None:
    nothing = {"competition": "comp5", "kind": None, "curves": {}, "imported": None}
    assert curves_of("comp5", None).model_dump() == nothing
    assert curves_of("comp5", evaluation_with({})).model_dump() == nothing


@pytest.mark.parametrize("competition", ["comp4%00", "comp4%ff", "%F0%9F%98%80", "comp4" * 50])
@pytest.mark.parametrize("path", ["/challenges/{}/leaderboards/{}", "/api/v1/challenges/{}/leaderboards/{}"])
def test_a_competition_that_no_database_can_look_for_is_not_found(site: Site, path: str, competition: str) -> None:
    with site.writing() as session:
        slug = make_challenge(session, visibility=Visibility.PUBLIC).slug
    with site.client() as visitor:
        assert visitor.get(path.format(slug, competition)).status_code == 404
