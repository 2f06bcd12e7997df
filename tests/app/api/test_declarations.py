"""What entrants declare: asked for, shown, added later, and open to programs that know nothing of it."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PIL import Image

from tests.support.browsing import from_here, signed_in, token_of
from tests.support.factories import make_challenge, make_token, make_user
from tests.support.life import submit
from tests.support.site import Site
from tests.support.small_world import packed
from vocboard.app.challenges.models import Challenge
from vocboard.commands.main import main

RESULTS = packed([("comp4_det_test_car.txt", b"000001 0.5 1 1 9 9\n")])
HASHES = f"{'0a' * 32} {'f0' * 8}\n"
EMAIL = "entrant@lab.example"


@pytest.fixture
def challenge(embedded_site: Site) -> Challenge:
    with embedded_site.writing() as session:
        return make_challenge(session, competitions=["comp3", "comp4"], quota_count=10)


@pytest.fixture
def entrant(embedded_site: Site) -> Iterator[httpx.Client]:
    with embedded_site.writing() as session:
        token = make_token(session, make_user(session, email=EMAIL))
    with embedded_site.client(token) as client:
        yield client


def path(challenge: Challenge) -> str:
    return f"/api/v1/challenges/{challenge.slug}"


def test_the_challenge_says_what_each_competition_asks_for(entrant: httpx.Client, challenge: Challenge) -> None:
    asked = {item["key"]: item["declarations"] for item in entrant.get(path(challenge)).json()["competitions"]}
    assert asked == {"comp3": [], "comp4": ["training_data", "flickr_images"]}


def test_a_statement_in_words_alone_is_still_enough(entrant: httpx.Client, challenge: Challenge) -> None:
    made = submit(entrant, path(challenge), RESULTS, training_data="COCO")
    assert made["not_declared"] == ["flickr_images"]
    assert made["method"]["flickr_images"] is None


def test_missing_and_contradictory_declarations_are_reported_at_once(
    entrant: httpx.Client, challenge: Challenge
) -> None:
    answer = entrant.post(
        f"{path(challenge)}/submissions",
        data={"method_name": "", "flickr_images": "yes", "training_annotation": "boxes"},
        files={"archive": ("results.tar.gz", b"no archive at all")},
    )
    assert answer.status_code == 422
    assert set(answer.json()["fields"]) == {"method_name", "flickr_image_hashes", "training_annotation"}
    answer = entrant.post(
        f"{path(challenge)}/submissions", data={"method_name": "M"}, files={"archive": ("r.tar.gz", RESULTS)}
    )
    assert set(answer.json()["fields"]) == {"training_data"}


def test_a_list_of_hashes_comes_as_a_file_and_only_those_concerned_see_it(
    embedded_site: Site, entrant: httpx.Client, challenge: Challenge
) -> None:
    answer = entrant.post(
        f"{path(challenge)}/submissions",
        data={"method_name": "M", "training_data": "COCO", "flickr_images": "yes"},
        files={"archive": ("r.tar.gz", RESULTS), "flickr_image_hashes": ("hashes.txt", HASHES.encode())},
    )
    assert answer.status_code == 201, answer.text
    assert answer.json()["not_declared"] == []
    assert answer.json()["method"]["flickr_image_count"] == 1
    listed = f"/api/v1/submissions/{answer.json()['id']}/flickr-images"
    assert entrant.get(listed).text == HASHES
    with embedded_site.client() as visitor:
        assert visitor.get(listed).status_code == 401


def test_declarations_are_added_and_corrected_later(
    embedded_site: Site, entrant: httpx.Client, challenge: Challenge
) -> None:
    made = submit(entrant, path(challenge), RESULTS, training_data="COCO")
    address = f"/api/v1/submissions/{made['id']}"
    changed = entrant.patch(address, json={"flickr_images": "yes", "flickr_image_hashes": HASHES}).json()
    assert (changed["not_declared"], changed["method"]["training_data"]) == ([], "COCO")
    assert set(entrant.patch(address, json={"training_data": ""}).json()["fields"]) == {"training_data"}
    with signed_in(embedded_site, EMAIL) as browser:
        page = f"/submissions/{made['id']}/declarations"
        form = {"csrf_token": token_of(browser.get(page)), "training_data": "COCO and more", "flickr_images": "yes"}
        saved = browser.post(page, data=form, headers=from_here(browser))
        assert saved.status_code == 303
        assert "1, listed for the organisers" in browser.get(f"/submissions/{made['id']}").text
        wrong = browser.post(page, data=form | {"training_data": ""}, headers=from_here(browser))
        assert wrong.status_code == 422
        assert "For comp4, describe the training data." in wrong.text


def test_listed_images_are_compared_with_the_test_images(
    embedded_site: Site,
    entrant: httpx.Client,
    challenge: Challenge,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, degrees in (("test", 90), ("mine", 90), ("other", 270)):
        (tmp_path / name).mkdir()
        Image.linear_gradient("L").rotate(degrees).save(tmp_path / name / f"{name}.png")
    assert main(["hash-images", str(tmp_path / "mine")]) == 0
    fields = {"training_data": "COCO", "flickr_images": "yes", "flickr_image_hashes": capsys.readouterr().out}
    made = submit(entrant, path(challenge), RESULTS, **fields)
    monkeypatch.setenv("VOCBOARD_DATABASE_URL", embedded_site.settings.database_url)
    compare = ["admin", "compare-images", "--submission", made["id"]]
    assert main([*compare, str(tmp_path / "test")]) == 1
    assert capsys.readouterr().out.startswith("line 1: the same file as test.png\n1 of 1 listed images overlap")
    assert main([*compare, str(tmp_path / "other")]) == 0
    (tmp_path / "empty").mkdir()
    assert main([*compare, str(tmp_path / "empty")]) == 1
    assert "empty has no images" in capsys.readouterr().err
    made = submit(entrant, path(challenge), RESULTS, training_data="COCO", flickr_images="no")
    assert main(["admin", "compare-images", "--submission", made["id"], str(tmp_path / "test")]) == 1
    assert "no images are listed" in capsys.readouterr().err
