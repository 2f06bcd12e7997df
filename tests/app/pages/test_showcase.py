"""The showcase on pages and in the API: who sees which results, with which images, and what stays text."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from lxml import html

from tests.support.browsing import browser_of
from tests.support.factories import IMAGES, make_challenge, make_file, make_organiser, make_user
from tests.support.phases import main_phase
from tests.support.scored import make_scored
from tests.support.site import Site
from vocboard.app.challenges import files
from vocboard.app.challenges.models import ChallengeFile, Detail, FileKind
from vocboard.app.database import now
from vocboard.app.evaluations.models import ShowcaseDrawing
from vocboard.app.submissions.models import State, Submission, SubmissionEntry

HOSTILE = "<img src=x onerror=alert(1)>"
COMP1, COMP3 = "comp1", "comp3"
BOXES = [
    {"class": "car", "confidence": 0.9, "box": [1.0, 2.0, 10.0, 21.0]},
    *({"class": "dog", "confidence": 0.5 - place / 100, "box": [5.0, 5.0, 9.0, 9.0]} for place in range(9)),
]


def content_of(mark: float) -> dict[str, Any]:
    """Return a drawing in two competitions, with a confidence to recognise it by."""
    own = {"class": "cat", "confidence": mark}
    rows = [{"class": "car", "confidence": mark + 0.5, "box": [1.0, 2.0, 10.0, 21.0]}, *BOXES[1:]]
    return {
        COMP1: {IMAGES[0]: {"rows": [own], "size": [500, 375]}},
        COMP3: {IMAGES[0]: {"rows": rows, "size": [500, 375]}, IMAGES[1]: {"rows": [], "size": [500, 375]}},
    }


class Scene:
    """A published method with a private later version, and another published method, on two images."""

    def __init__(self, site: Site) -> None:
        self.site = site
        with site.writing() as session:
            owner, other, organiser = make_user(session), make_user(session), make_organiser(session)
            challenge = make_challenge(session, organiser=organiser, detail=Detail.MEAN)
            self.slug, self.owner, self.organiser = challenge.slug, owner.email, organiser.email
            self.challenge_id = challenge.id
            self.stranger = other.email
            given: dict[str, Any] = {"competitions": [COMP1, COMP3]}
            old = make_scored(session, challenge, owner, "Ours", score=0.5, published_at=now(), **given)
            new = make_scored(session, challenge, owner, "Ours", score=0.6, **given)
            theirs = make_scored(session, challenge, other, "Theirs", score=0.4, published_at=now(), **given)
            self.old, self.new, self.theirs, self.method = old.id, new.id, theirs.id, old.method_id
            for mark, one in ((0.11, old), (0.22, new), (0.33, theirs)):
                session.add(ShowcaseDrawing(submission_id=one.id, basis="", content=content_of(mark)))
            self.images = [
                self._image(session, challenge.id, name, title)
                for name, title in zip(IMAGES, ("", HOSTILE), strict=False)
            ]

    @staticmethod
    def _image(session: Any, challenge_id: uuid.UUID, name: str, title: str) -> uuid.UUID:
        given = {"kind": FileKind.SHOWCASE, "media_type": files.PICTURE_TYPE}
        return make_file(session, challenge_id, name=f"{name}.webp", title=title, **given).id

    def change(self, submission_id: uuid.UUID, **values: Any) -> None:
        with self.site.writing() as session:
            submission = session.get_one(Submission, submission_id)
            for name, value in values.items():
                setattr(submission, name, value)

    def get(self, path: str, who: str | None = None) -> Any:
        with browser_of(self.site, who) as client:
            return client.get(path)

    def showcase(self, path: str, who: str | None = None) -> Any:
        """Return the section of a page; None without one."""
        answer = self.get(path, who)
        assert answer.status_code == 200, answer.text
        return next(iter(html.fromstring(answer.text).xpath('//section[@id="showcase"]')), None)

    def on_method_page(self, query: str = "", who: str | None = None) -> Any:
        return self.showcase(f"/methods/{self.method}{query}", who)

    def compared(self, query: str = "", who: str | None = None) -> Any:
        methods = f"method={self.old}&method={self.theirs}"
        return self.showcase(f"/challenges/{self.slug}/leaderboards/{COMP3}/compare?{methods}{query}", who)

    def in_api(self, submission_id: uuid.UUID, who: str | None = None) -> Any:
        return self.get(f"/api/v1/submissions/{submission_id}/showcase", who)


@pytest.fixture
def scene(embedded_site: Site) -> Scene:
    return Scene(embedded_site)


def shown(section: Any) -> list[list[str]]:
    """Return what each picture's caption lists."""
    lists = [figure.xpath(".//li[not(@hidden)]") for figure in section.xpath(".//figure")]
    return [[" ".join(one.text_content().split()) for one in found] for found in lists]


def test_the_page_of_a_method_draws_its_published_results_with_their_images(scene: Scene) -> None:
    section = scene.on_method_page(f"?showcase=main.{COMP3}")
    assert [img.get("src") for img in section.xpath(".//img")] == [
        f"/api/v1/challenges/{scene.slug}/files/{file_id}" for file_id in scene.images
    ]
    for img in section.xpath(".//img"):
        assert (img.get("loading"), img.get("width"), img.get("height")) == ("lazy", "500", "375")
        assert img.get("alt").startswith("Test image 00000")
    rect, *others = section.xpath('.//*[local-name()="g" and not(@hidden)]/*[not(@class)]')[::-1]
    assert [rect.get(name) for name in ("x", "y", "width", "height")] == ["0.0", "1.0", "10.0", "20.0"]
    assert len(others) == 5
    first, second = shown(section)
    assert first[0] == "car 0.61", "of the published version"
    assert len(first) == 6, "three for each of two images"
    assert second == []
    assert "Nothing found" in section.text_content()
    assert not section.xpath(".//*[@style or @onerror or @onload]")


def test_without_scripts_the_slider_asks_the_server(scene: Scene) -> None:
    [slider] = scene.on_method_page(f"?showcase=main.{COMP3}").xpath('.//form//input[@type="range"]')
    assert (slider.get("name"), slider.get("value"), slider.get("min"), slider.get("max")) == (
        "per_image",
        "3",
        "1",
        "10",
    )
    for asked, number in (("1", 2), ("10", 10), ("99", 10), ("0", 2), ("-1", 6), ("x", 6), ("²", 6)):
        first, _ = shown(scene.on_method_page(f"?showcase=main.{COMP3}&per_image={asked}"))
        assert len(first) == number, asked


def test_confidences_of_images_have_no_slider(scene: Scene) -> None:
    section = scene.on_method_page(f"?showcase=main.{COMP1}")
    assert shown(section) == [["cat 0.11"]]
    assert not section.xpath('.//input[@type="range"]')


def test_owners_see_their_own_results_and_others_what_is_published(scene: Scene) -> None:
    assert scene.in_api(scene.old).status_code == 200
    assert scene.in_api(scene.new).status_code == 404
    assert scene.in_api(scene.new, scene.stranger).status_code == 404
    scene.change(scene.old, published_at=None)
    assert scene.get(f"/methods/{scene.method}").status_code == 404
    section = scene.on_method_page(f"?showcase=main.{COMP1}", scene.owner)
    assert shown(section) == [["cat 0.22"]], "the latest version"
    assert "Only you see this" in section.text_content()
    assert scene.in_api(scene.old).status_code == 404


def test_a_competition_that_was_left_out_of_publishing_is_private(scene: Scene) -> None:
    with scene.site.writing() as session:
        session.get_one(SubmissionEntry, (scene.old, COMP3)).is_private = True
    assert shown(scene.on_method_page(f"?showcase=main.{COMP3}")) == [["cat 0.11"]]
    assert list(scene.in_api(scene.old).json()["competitions"]) == [COMP1]
    own = scene.on_method_page(f"?showcase=main.{COMP3}", scene.owner)
    assert shown(own)[0][0] == "car 0.72"


@pytest.mark.parametrize("state", [State.WITHDRAWN, State.DISQUALIFIED])
def test_withdrawn_and_disqualified_results_are_not_drawn_for_others(scene: Scene, state: State) -> None:
    scene.change(scene.old, state=state)
    assert scene.get(f"/methods/{scene.method}").status_code == 404
    assert scene.in_api(scene.old).status_code == 404
    assert scene.compared() is None or "car 0.61" not in scene.compared().text_content()


def test_nothing_is_drawn_while_leaderboards_are_anonymous_or_hidden(scene: Scene) -> None:
    for column in ("anonymous_until", "leaderboard_from"):
        with scene.site.writing() as session:
            setattr(main_phase(session, scene.challenge_id), column, now() + timedelta(days=1))
        assert scene.in_api(scene.old).status_code == 404
        assert scene.get(f"/methods/{scene.method}").status_code == 404
        answer = scene.get(f"/challenges/{scene.slug}/leaderboards/{COMP3}/compare?method={scene.old}")
        assert "showcase-panel" not in answer.text
        with scene.site.writing() as session:
            setattr(main_phase(session, scene.challenge_id), column, None)


def test_the_comparison_has_a_row_for_each_image_and_a_column_for_each_method(scene: Scene) -> None:
    section = scene.compared()
    rows = section.xpath(".//tbody/tr")
    assert [len(row.xpath("./td")) for row in rows] == [2, 2]
    first = shown(rows[0])
    assert [found[0] for found in first] == ["car 0.61", "car 0.83"]
    assert len(shown(scene.compared("&per_image=1"))[0]) == 2


def test_images_that_were_deleted_are_not_drawn(scene: Scene) -> None:
    with scene.site.writing() as session:
        session.delete(session.get_one(ChallengeFile, scene.images[0]))
    assert shown(scene.on_method_page(f"?showcase=main.{COMP3}")) == [[]]
    assert [len(found) for found in scene.in_api(scene.old).json()["competitions"].values()] == [0, 1]


def test_hostile_titles_stay_text(scene: Scene) -> None:
    for section in (scene.on_method_page(f"?showcase=main.{COMP3}"), scene.compared()):
        assert HOSTILE in section.text_content()
        assert not section.xpath(".//*[@onerror] | .//script")


def test_the_api_has_the_results_with_the_addresses_of_the_images(scene: Scene) -> None:
    found = scene.in_api(scene.old).json()["competitions"][COMP3]
    assert [one["image"] for one in found] == list(IMAGES[:2])
    assert found[0]["path"] == f"/api/v1/challenges/{scene.slug}/files/{scene.images[0]}"
    assert found[0]["size"] == [500, 375]
    assert found[0]["results"][0] == {
        "class": "car",
        "confidence": 0.61,
        "box": [1.0, 2.0, 10.0, 21.0],
        "outline": None,
        "person": None,
        "share": None,
    }
