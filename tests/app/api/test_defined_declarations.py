"""Declarations that an edition defines: asked for, checked, shown, exported, and columns to sort by."""

import csv
import io
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
from lxml import html
from sqlalchemy import select

from tests.support.browsing import from_here, send_archive, signed_in, token_of
from tests.support.factories import make_organiser, make_token, make_user
from tests.support.figures import DECLARED, RESULTS, street_challenge
from tests.support.life import submit, upload_results
from tests.support.scored import make_published
from tests.support.site import Site
from vocboard.app.accounts.models import User
from vocboard.app.database import now
from vocboard.app.submissions.models import Method, Submission

EMAIL = "entrant@lab.example"
ORGANISER = "organiser@lab.example"
PATH = "/api/v1/challenges/street"
BOARD = "/challenges/street/leaderboards/comp1"


@pytest.fixture
def entrant(embedded_site: Site) -> Iterator[httpx.Client]:
    with embedded_site.writing() as session:
        street_challenge(session)
        token = make_token(session, make_user(session, email=EMAIL))
    with embedded_site.client(token) as client:
        yield client


def test_the_challenge_describes_them(entrant: httpx.Client) -> None:
    [competition] = entrant.get(PATH).json()["competitions"]
    assert competition["declarations"] == ["training_data", "parameters", "ms_per_image", "licence"]
    types = {each.pop("name"): each for each in competition["declaration_types"]}
    assert types["parameters"] == {
        "title": "Parameters",
        "kind": "number",
        "unit": "million",
        "choices": {},
        "is_required": True,
    }
    assert types["licence"]["choices"] == {"open": "Apache 2.0", "none": "not released"}


def test_an_upload_makes_them_as_fields(entrant: httpx.Client) -> None:
    made = submit(entrant, PATH, RESULTS, **DECLARED, licence="open")
    assert made["method"]["declarations"] == {"training_data": "COCO", "parameters": 25.6, "licence": "open"}
    assert made["not_declared"] == ["ms_per_image"]


def test_what_is_missing_or_wrong_is_reported_at_once(entrant: httpx.Client) -> None:
    answer = upload_results(entrant, "street", RESULTS, ms_per_image="fast", licence="mine")
    assert answer.status_code == 422
    assert answer.json()["fields"] == {
        "training_data": "For comp1, describe the training data.",
        "parameters": "For comp1, enter a number, in million.",
        "ms_per_image": "Enter a number that is at least 0, such as 25.6.",
        "licence": "Choose open or none.",
    }


def test_an_unknown_field_is_refused_with_the_nearest_one(entrant: httpx.Client) -> None:
    answer = upload_results(entrant, "street", RESULTS, **DECLARED, ms_per_imge="3")
    assert answer.status_code == 422
    assert answer.json()["fields"]["ms_per_imge"].startswith("There is no such field. Do you mean 'ms_per_image'?")


def test_a_repeated_upload_returns_the_submission_and_another_one_with_the_key_is_refused(
    entrant: httpx.Client,
) -> None:
    headers = {"Idempotency-Key": "once"}
    fields = {"method_name": "Method", **DECLARED}

    def send(**others: str) -> httpx.Response:
        archive = {"archive": ("results.tar.gz", RESULTS)}
        return entrant.post(f"{PATH}/submissions", data={**fields, **others}, files=archive, headers=headers)

    first = send()
    assert first.status_code == 201, first.text
    again = send()
    assert (again.json()["id"], again.headers["Idempotent-Replayed"]) == (first.json()["id"], "true")
    assert send(parameters="26").status_code == 422


def test_they_are_corrected_later(entrant: httpx.Client) -> None:
    made = submit(entrant, PATH, RESULTS, **DECLARED)
    address = f"/api/v1/submissions/{made['id']}"
    changed = entrant.patch(address, json={"ms_per_image": 12.5, "parameters": "30"}).json()
    assert changed["method"]["declarations"] == {"training_data": "COCO", "parameters": 30.0, "ms_per_image": 12.5}
    assert entrant.patch(address, json={"ms_per_image": None}).json()["not_declared"] == ["ms_per_image", "licence"]
    for wrong, message in (
        ({"ms_per_imge": 3}, "There is no such field. Do you mean 'ms_per_image'?"),
        ({"declarations": {"ms_per_image": 3}}, "There is no such field."),
        ({"ms_per_image": True}, "Send text or a number."),
        ({"ms_per_image": [3]}, "Send text or a number."),
        ({"parameters": -1}, "Enter a number that is at least 0, such as 25.6."),
        ({"licence": 0}, "Choose open or none."),
        ({"parameters": None}, "For comp1, enter a number, in million."),
    ):
        answer = entrant.patch(address, json=wrong)
        assert (answer.status_code, list(answer.json()["fields"].values())) == (422, [message])


def test_the_pages_ask_for_them_and_show_them(embedded_site: Site, entrant: httpx.Client) -> None:
    with signed_in(embedded_site, EMAIL) as browser:
        refused = send_archive(browser, "/challenges/street/submit", RESULTS, parameters="many", licence="open")
        assert refused.status_code == 422
        form = html.fromstring(refused.text)
        assert form.xpath("//input[@name='parameters']/@value") == ["many"]
        assert form.xpath("//input[@name='licence'][@checked]/@value") == ["open"]
        assert "Parameters: Enter a number" in refused.text
        made = send_archive(browser, "/challenges/street/submit", RESULTS, **DECLARED, licence="open")
        assert made.status_code == 303
        page = browser.get(made.headers["location"]).text
        assert "25.6 million" in page
        assert "Apache 2.0" in page
        declarations = f"{made.headers['location']}/declarations"
        shown = browser.get(declarations)
        assert html.fromstring(shown.text).xpath("//input[@name='parameters']/@value") == ["25.6"]
        typed = {"csrf_token": token_of(shown), "parameters": "26", "ms_per_image": "1e3"}
        assert browser.post(declarations, data=typed, headers=from_here(browser)).status_code == 303
        assert "1,000 ms per image" in browser.get(made.headers["location"]).text
        wrong = browser.post(declarations, data=typed | {"parameters": "-3"}, headers=from_here(browser))
        assert wrong.status_code == 422
        again = html.fromstring(browser.get("/challenges/street/submit").text)
        assert again.xpath("//input[@name='ms_per_image']/@value") == ["1000"]


@pytest.fixture
def board(embedded_site: Site) -> Iterator[httpx.Client]:
    """Give a visitor of a leaderboard with three methods, one of which has not declared its time."""
    with embedded_site.writing() as session:
        challenge = street_challenge(session, organiser=make_organiser(session, email=ORGANISER))
        for name, score, declared in (
            ("Fast", 0.5, {"parameters": 9.0, "ms_per_image": 3.5}),
            ("Slow", 0.7, {"parameters": 86600.0, "ms_per_image": 120.0, "licence": "open"}),
            ("Silent", 0.6, {"parameters": 25.6}),
        ):
            make_published(session, challenge, make_user(session), name, score, declarations=declared)
    with embedded_site.client() as client:
        yield client


def methods(board: httpx.Client, query: str) -> list[str]:
    return [str(each) for each in html.fromstring(board.get(BOARD + query).text).xpath("//tbody//th/a/text()")]


def test_numbers_are_columns_that_sort_both_ways_with_the_undeclared_last(board: httpx.Client) -> None:
    assert methods(board, "") == ["Slow", "Silent", "Fast"]
    assert methods(board, "?sort=declared_ms_per_image&order=asc") == ["Fast", "Slow", "Silent"]
    assert methods(board, "?sort=declared_ms_per_image&order=desc") == ["Slow", "Fast", "Silent"]
    assert methods(board, "?sort=declared_parameters") == ["Fast", "Silent", "Slow"]
    assert methods(board, "?sort=declared_licence") == ["Slow", "Silent", "Fast"]  # not a number: by rank
    page = html.fromstring(board.get(f"{BOARD}?sort=declared_ms_per_image").text)
    [heading] = page.xpath("//th[@aria-sort]")
    assert (heading.text_content().strip(), heading.get("aria-sort")) == ("Time, ms per image", "ascending")
    cells = [cell.text_content() for cell in page.xpath("//tbody//td[contains(@class, 'figure')]")]
    assert cells == ["9", "3.5", "86,600", "120", "25.6", "–"]


def test_programs_get_numbers(board: httpx.Client) -> None:
    rows = {row["method"]: row["declared"] for row in board.get(f"{PATH}/leaderboards/comp1").json()["rows"]}
    assert rows["Slow"] == {
        "training_data": None,
        "parameters": 86600.0,
        "ms_per_image": 120.0,
        "licence": "Apache 2.0",
    }
    assert rows["Silent"]["ms_per_image"] is None
    table = csv.DictReader(io.StringIO(board.get(f"{PATH}/leaderboards/comp1.csv").text))
    declared = {row["method"]: (row["declared_parameters"], row["declared_ms_per_image"]) for row in table}
    assert declared == {"Slow": ("86600", "120"), "Silent": ("25.6", "not declared"), "Fast": ("9", "3.5")}


def test_organisers_find_submissions_that_lack_a_declaration(embedded_site: Site, board: httpx.Client) -> None:
    with signed_in(embedded_site, ORGANISER) as browser:
        page = browser.get("/organise/street/submissions?flag=undeclared")
        assert page.status_code == 200
        assert "Time" in page.text


def test_an_anonymous_leaderboard_hides_texts_and_shows_numbers(embedded_site: Site, board: httpx.Client) -> None:
    with embedded_site.writing() as session:
        token = make_token(session, session.scalars(select(User).where(User.email == ORGANISER)).one())
        [method] = session.scalars(select(Submission).join(Submission.method).where(Method.name == "Fast"))
        method.declarations = {**method.declarations, "training_data": "Images of Ada", "other": "By Ada"}
    with embedded_site.client(token) as organiser:
        hidden = organiser.patch(PATH, json={"anonymous_until": (now() + timedelta(days=2)).isoformat()})
        assert hidden.status_code == 200, hidden.text
    text = board.get(f"{PATH}/leaderboards/comp1.csv").text
    assert "Ada" not in text
    assert [row["declared_parameters"] for row in csv.DictReader(io.StringIO(text))] == ["86600", "25.6", "9"]
    assert "hidden" in text
