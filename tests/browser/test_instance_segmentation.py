"""Instance segmentation in a real browser: from an edition file and ground truth to a scored leaderboard."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE_MS, SignIn
from tests.evaluator.reference.instance_segmentation import Region, encode
from tests.support.factories import make_user
from tests.support.site import Site
from tests.support.small_world import packed
from vocboard.evaluator.conversion.painting import indexed_png

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

EDITION_FILE = Path(__file__).parents[2] / "docs" / "editions" / "examples" / "instances.toml"
WIDTH, HEIGHT = 40, 30
CAR, PERSON = 1, 2
Box = tuple[int, int, int, int]  # columns and rows, from and up to

# Two cars and a person; number of the object, its class, and its pixels.
OBJECTS: dict[str, list[tuple[int, int, Box]]] = {
    "a": [(1, CAR, (0, 10, 0, 10)), (2, PERSON, (20, 30, 5, 25))],
    "b": [(1, CAR, (10, 30, 10, 20))],
}
# The second car is found at an overlap of 0.6, which is enough for 0.5 and too little for 0.7. Of the regions called
# a person, the first is none.
CARS = [("a", 0.9, (0, 10, 0, 10)), ("b", 0.5, (10, 22, 10, 20))]
PEOPLE = [("b", 0.8, (0, 5, 0, 5)), ("a", 0.4, (20, 30, 5, 25))]
CAR_AT_50, CAR_AT_70, PERSON_AT_BOTH = 1.0, 0.5, 0.5


def region(box: Box) -> Region:
    left, right, top, bottom = box
    return {(row, column) for row in range(top, bottom) for column in range(left, right)}


def line(image: str, confidence: float, box: Box) -> str:
    return f"{image} {confidence} {encode(region(box), HEIGHT, WIDTH)}\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    tree = {"Instances/ImageSets/Segmentation/test.txt": b"a\nb\n"}
    for image, objects in OBJECTS.items():
        of_object = np.zeros((HEIGHT, WIDTH), dtype=np.uint8)
        of_class = np.zeros_like(of_object)
        for number, kind, (left, right, top, bottom) in objects:
            of_object[top:bottom, left:right], of_class[top:bottom, left:right] = number, kind
        tree[f"Instances/SegmentationObject/{image}.png"] = indexed_png(of_object)
        tree[f"Instances/SegmentationClass/{image}.png"] = indexed_png(of_class)
    cars, people = "".join(line(*each) for each in CARS), "".join(line(*each) for each in PEOPLE)
    results = {"comp1_inst_test_car.txt": cars, "comp1_inst_test_person.txt": people}
    wrong = {**results, "comp1_inst_test_car.txt": cars + "a nan 52\nc 0.5 [1,2,3]\n"}
    archives = {
        "devkit": packed(tree.items()),
        "results": packed((name, text.encode()) for name, text in results.items()),
        "wrong": packed((name, text.encode()) for name, text in wrong.items()),
    }
    paths = {name: tmp_path / f"{name}.tar.gz" for name in archives}
    for name, content in archives.items():
        paths[name].write_bytes(content)
    return paths


def test_from_an_edition_file_to_a_scored_leaderboard(
    laboratory: Site, organiser: str, sign_in: SignIn, page: Page, files: dict[str, Path]
) -> None:
    page.goto(laboratory.url)
    sign_in(page, organiser)
    set_up_challenge(page, files["devkit"])
    page.get_by_role("button", name="Sign out").click()

    with laboratory.writing() as session:
        participant = make_user(session, name="Ada Newcomer").email
    sign_in(page, participant)
    submit(page, files)
    look_at_the_scores(page)
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("status").filter(has_text="on the leaderboard")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()

    page.goto(f"{laboratory.url}/challenges/instances/leaderboards/comp1")
    row = page.get_by_role("row", name=re.compile("Small segmenter"))
    expect(row.locator(".mean").first).to_have_text(re.compile(f"{100 * (CAR_AT_50 + PERSON_AT_BOTH) / 2:.2f}"))
    expect(row).to_contain_text(f"{100 * CAR_AT_50:.2f}")
    expect(row).to_contain_text(f"{100 * (CAR_AT_70 + PERSON_AT_BOTH) / 2:.2f}")
    expect(page.get_by_role("columnheader", name=re.compile("0.7"))).to_be_visible()


def set_up_challenge(page: Page, devkit: Path) -> None:
    page.get_by_role("link", name="Organise").click()
    page.get_by_role("link", name="New challenge").first.click()
    page.get_by_label("Title").fill("Instances")
    page.get_by_label("URL name").fill("instances")
    page.get_by_label(re.compile("Your own edition file")).set_input_files(EDITION_FILE)
    page.get_by_role("heading", name="Rules").click()
    page.get_by_label("Decimals of scores").fill("4")
    page.get_by_role("heading", name="Who can see it").click()
    page.locator("input[name=visibility][value=public]").check()
    page.get_by_role("button", name="Create challenge").click()
    expect(page.get_by_role("heading", name="Instances", exact=True)).to_be_visible()
    page.get_by_label(re.compile("Development kit tree")).set_input_files(devkit)
    expect(page.locator(".page-head .state.open")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_text("Images and objects by class").click()
    expect(page.locator("details[open]").first).to_contain_text("car")


def submit(page: Page, files: dict[str, Path]) -> None:
    """First an archive with wrong lines, then the right one."""
    page.get_by_role("link", name="Instances").first.click()
    page.get_by_role("link", name="Submit results").click()
    page.get_by_label("Name", exact=True).fill("Small segmenter")
    page.get_by_label("Result files in one archive").set_input_files(files["wrong"])
    report = page.locator("#report")
    expect(report.get_by_role("heading", name="No quota was used")).to_be_visible(timeout=PATIENCE_MS)
    for found in ("must be a finite number", "The runs of this region have", "is not a compressed COCO RLE"):
        expect(report).to_contain_text(found)
    page.get_by_label("Result files in one archive").set_input_files(files["results"])
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url(re.compile("/submissions/"), timeout=PATIENCE_MS)


def look_at_the_scores(page: Page) -> None:
    """The page follows the evaluation without being reloaded by hand."""
    expect(page.get_by_role("heading", name=re.compile("comp1"))).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(".tile.here")).to_contain_text(f"{100 * (CAR_AT_50 + PERSON_AT_BOTH) / 2:.2f}")
    car = page.get_by_role("row", name=re.compile("^car"))
    expect(car).to_contain_text(f"{100 * CAR_AT_50:.2f}")
    expect(car).to_contain_text(f"{100 * CAR_AT_70:.2f}")
    expect(page.get_by_role("row", name=re.compile("^person"))).to_contain_text(f"{100 * PERSON_AT_BOTH:.2f}")
    # A curve in steps of at most 10 % needs more positives than this world has.
    expect(page.get_by_text("too few positives").first).to_be_visible()
