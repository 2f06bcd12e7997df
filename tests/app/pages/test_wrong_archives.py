"""Ten archives as newcomers pack them: the page says first what to do, and the corrected archive is accepted."""

import html
import io
import re
from collections.abc import Callable
from pathlib import Path

import lxml.html
import pytest
from PIL import Image

from tests.support.browsing import send_archive, signed_in
from tests.support.factories import make_challenge, make_token, make_user
from tests.support.life import upload_results
from tests.support.site import Site
from tests.support.small_world import packed
from tests.support.wrong_archives import CASES, TRAINING_DATA, WrongArchive, challenge


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_page_and_the_api_say_first_what_to_do(case: WrongArchive, shared_site: Site) -> None:
    with shared_site.writing() as session:
        slug, person = challenge(session).slug, make_user(session)
        token = make_token(session, person)
    path = f"/challenges/{slug}/submit"
    with signed_in(shared_site, person.email) as client:
        refused = send_archive(client, path, case.wrong(), case.file_name, training_data=TRAINING_DATA)
        assert refused.status_code == 422
        (heading,) = re.findall(r'<h2 id="report-title">(.*?)</h2>', refused.text, re.DOTALL)
        said = html.unescape(re.sub(r"<[^>]+>", "", heading))
        assert said == f"{case.counted}. No quota was used. {case.to_do}"
        assert refused.text.index(heading) < refused.text.index('name="archive"')
        accepted = send_archive(client, path, case.corrected(), case.file_name, training_data=TRAINING_DATA)
        assert accepted.status_code == 303, accepted.text
        assert accepted.headers["location"].startswith("/submissions/")
    with shared_site.client(token) as client:
        answer = upload_results(client, slug, case.wrong(), case.file_name, training_data=TRAINING_DATA)
    assert answer.status_code == 422
    content = answer.json()
    assert content["groups"][0]["headline"] == case.to_do
    assert len(content["groups"][0]["places"]) <= 3
    counted = {group["code"]: group["count"] for group in content["groups"]}
    listed = [problem["code"] for problem in content["problems"]]
    assert all(number >= listed.count(code) for code, number in counted.items())
    assert set(counted) == set(listed) - {"more_problems", "more_warnings", "reading_stopped"}


def test_the_command_line_says_the_same(
    shared_site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from vocboard.commands.main import main  # noqa: PLC0415

    monkeypatch.setenv("COLUMNS", "120")
    with shared_site.writing() as session:
        slug, token = challenge(session).slug, make_token(session, make_user(session))
    with shared_site.client(token) as client:
        image_sets = tmp_path / "image-sets.json"
        image_sets.write_text(client.get(f"/api/v1/challenges/{slug}/image-sets").text)
    for case in CASES:
        archive = tmp_path / f"{case.name}-{case.file_name}"
        archive.write_bytes(case.wrong())
        assert main(["validate", "VOC2012", str(archive), "--image-sets", str(image_sets)]) == 1
        out = " ".join(capsys.readouterr().out.split())
        # The command checks for all competitions of the edition, the challenge has two of them.
        assert out.startswith(f"error: {re.split('[;.]', case.to_do)[0]}")
        assert out.rstrip(".").endswith(case.counted)


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


@pytest.mark.parametrize("name", ARCHIVES)
def test_the_page_lists_what_the_api_lists(shared_site: Site, name: str) -> None:
    file_name, make = ARCHIVES[name]
    archive = make()
    with shared_site.writing() as session:
        slug = make_challenge(session, edition="VOC2007", competitions=["comp1", "comp3", "comp5"]).slug
        token = make_token(session, make_user(session))
    with shared_site.client(token) as client:
        answer = upload_results(client, slug, archive, file_name, training_data="segmentations alone")
    with signed_in(shared_site) as client:
        page = send_archive(client, f"/challenges/{slug}/submit", archive, file_name, training_data="boxes")
    assert (answer.status_code, answer.json()["code"], page.status_code) == (422, "invalid_archive", 422)
    assert answer.headers["content-type"] == "application/problem+json"
    assert 'value="Mine"' in page.text
    listed = [(problem["code"], problem["line"], problem["message"]) for problem in answer.json()["problems"]]
    assert listed
    assert sorted(shown_problems(page.text), key=str) == sorted(listed, key=str)


def shown_problems(page: str) -> list[tuple[str, int | None, str]]:
    """Return the code, line and message of every problem on a page; the headline of a cause may be the message."""
    shown = []
    marked = page.replace("<code>", "<code>`").replace("</code>", "`</code>")  # as in messages
    for cause in lxml.html.fromstring(marked).xpath("//*[@data-cause]"):
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
