"""A wrong archive is told the same list of problems everywhere: by the API, on the page, and by `vocboard validate`."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from PIL import Image

from tests.support.browsing import from_here, sign_in, token_of
from tests.support.factories import make_challenge, make_token, make_user
from tests.support.site import Site
from tests.support.small_world import packed
from vocboard.app.challenges.models import Challenge

Problems = list[dict[str, Any]]

TOO_SMALL = (499, 375)  # of the factories' images, 500 by 375


def label_map(size: tuple[int, int]) -> bytes:
    image = Image.new("P", size)
    image.putpalette(bytes(768))  # of 256 colours: 8 bits a pixel
    output = io.BytesIO()
    image.save(output, "PNG")
    return output.getvalue()


def wrong_in_every_way() -> bytes:
    """One unknown image, one line of five fields, one NaN, one class file twice, one label map of the wrong size."""
    detections = [
        "000001 0.9 10 10 50 50",
        "999999 0.8 10 10 50 50",
        "000002 0.7 20 20 60",
        "000003 NaN 20 20 60 60",
    ]
    confidences = b"000001 0.5\n000002 0.25\n000003 0.75\n"
    maps = [(f"results/VOC2007/Segmentation/comp5_test_cls/{image}.png", size) for image, size in _MAPS.items()]
    return packed(
        [
            ("results/VOC2007/Main/comp3_det_test_car.txt", "\n".join(detections).encode()),
            ("results/VOC2007/Main/comp1_cls_test_dog.txt", confidences),
            ("comp1_cls_test_dog.txt", confidences),
            *((name, label_map(size)) for name, size in maps),
        ]
    )


_MAPS = {"000001": (500, 375), "000002": TOO_SMALL, "000003": (500, 375)}

ARCHIVES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "wrong in every way": ("results.tar.gz", wrong_in_every_way),
    "a text file": ("results.tgz", lambda: b"000001 0.9 10 10 50 50\n" * 20),
    "cut off": ("results.tar.gz", lambda: wrong_in_every_way()[:-200]),
    "nothing in it": ("results.tar.gz", lambda: packed([])),
}


@pytest.fixture
def challenge(embedded_site: Site) -> Challenge:
    with embedded_site.writing() as session:
        return make_challenge(session, edition="VOC2007", competitions=["comp1", "comp3", "comp5"])


@pytest.fixture
def problems_of(embedded_site: Site, challenge: Challenge) -> Callable[[str, bytes], Problems]:
    """Give what the API says of an archive."""
    with embedded_site.writing() as session:
        token = make_token(session, make_user(session))

    def upload(name: str, archive: bytes) -> Problems:
        with embedded_site.client(token) as client:
            response = client.post(
                f"/api/v1/challenges/{challenge.slug}/submissions",
                data={"method_name": "Method", "training_data": "segmentations alone"},
                files={"archive": (name, archive)},
            )
        assert response.status_code == 422
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json()["code"] == "invalid_archive"
        problems: Problems = response.json()["problems"]
        return problems

    return upload


def test_every_problem_is_listed_at_its_place(problems_of: Callable[[str, bytes], Problems]) -> None:
    problems = problems_of("results.tar.gz", wrong_in_every_way())
    errors = [problem for problem in problems if problem["severity"] == "error"]
    detections = "results/VOC2007/Main/comp3_det_test_car.txt"
    assert {(problem["file"], problem["line"]) for problem in errors} == {
        (detections, 2),
        (detections, 3),
        (detections, 4),
        ("comp1_cls_test_dog.txt", None),
        ("results/VOC2007/Segmentation/comp5_test_cls/000002.png", None),
    }
    assert len(errors) == 5
    by_place = {(problem["file"], problem["line"]): problem for problem in errors}
    assert "999999" in by_place[detections, 2]["message"]
    assert "5" in by_place[detections, 3]["message"]
    assert "NaN" in by_place[detections, 4]["message"]


@pytest.mark.parametrize("name", ARCHIVES)
def test_the_command_line_says_the_same(
    embedded_site: Site,
    challenge: Challenge,
    problems_of: Callable[[str, bytes], Problems],
    tmp_path: Path,
    name: str,
) -> None:
    file_name, make = ARCHIVES[name]
    archive = make()
    image_sets, results = tmp_path / "image-sets.json", tmp_path / file_name
    with embedded_site.client() as client:
        image_sets.write_bytes(client.get(f"/api/v1/challenges/{challenge.slug}/image-sets").content)
    results.write_bytes(archive)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "vocboard.commands.main",
            "validate",
            "VOC2007",
            results,
            "--image-sets",
            image_sets,
            "--json",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    problems = json.loads(done.stdout)["problems"]
    assert problems
    assert problems == problems_of(file_name, archive)


@pytest.mark.parametrize("name", ARCHIVES)
def test_the_page_says_the_same(
    embedded_site: Site, challenge: Challenge, problems_of: Callable[[str, bytes], Problems], name: str
) -> None:
    file_name, make = ARCHIVES[name]
    archive = make()
    with embedded_site.writing() as session:
        email = make_user(session).email
    path = f"/challenges/{challenge.slug}/submit"
    with embedded_site.client() as client:
        sign_in(client, email)
        page = client.post(
            path,
            data={"csrf_token": token_of(client.get(path)), "method_name": "Mine", "training_data": "boxes"},
            files={"archive": (file_name, archive)},
            headers=from_here(client),
        )
    assert page.status_code == 422
    assert 'value="Mine"' in page.text
    listed = [(problem["code"], problem["line"], problem["message"]) for problem in problems_of(file_name, archive)]
    assert sorted(shown_problems(page.text), key=str) == sorted(listed, key=str)


def shown_problems(page: str) -> list[tuple[str, int | None, str]]:
    """Return the code, line and message of every problem on a page; the headline of a cause may be the message."""
    shown = []
    marked = page.replace("<code>", "<code>`").replace("</code>", "`</code>")  # as in messages
    for cause in html.fromstring(marked).xpath("//*[@data-cause]"):
        headline = words(cause.xpath("string(.//*[@class='to-do'] | ./h3)"))
        places = cause.xpath(".//li[@data-code]")
        for place in places:
            line = place.get("data-line")
            message = words(place.xpath("string(.//*[@class='message'])")) or headline
            shown.append((place.get("data-code"), None if line is None else int(line), message))
        if not places:
            shown.append((cause.get("data-cause"), None, headline))
    return shown


def words(text: str) -> str:
    return " ".join(text.split())


def test_nothing_of_a_refused_upload_stays(embedded_site: Site, problems_of: Callable[[str, bytes], Problems]) -> None:
    problems_of("results.tar.gz", wrong_in_every_way())
    left = [path for path in embedded_site.settings.archives.rglob("*") if path.is_file()]
    assert left == []
