"""What a participant of the demo, as it starts, can be certain of after uploads that are meant to tell.

VOCBOARD_ATTACK=whole decodes every class, which takes about ten minutes; otherwise one class of each kind of list.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.attack import uploads
from tests.attack.detections import Answer, answer, three_decimals
from tests.attack.detections import certain as certain_boxes
from tests.attack.labels import Ranking, certain
from tests.attack.uploads import Upload
from vocboard.commands.demo import EDITION, EXAMPLES_FILLED, READY_FILE, SEED
from vocboard.commands.demo.examples import SLUGS
from vocboard.commands.demo.scenes import World, draw_world
from vocboard.evaluator import editions

LEAKED = 0.05  # of a class's positives, at most
START_SECONDS, SCORING_SECONDS = 300, 120
RIGHT_DETECTIONS = 40
CLASSIFICATION, ACTION = "Main/{competition}_cls_test_{name}.txt", "Action/{competition}_action_test_{name}.txt"
WHOLE = os.environ.get("VOCBOARD_ATTACK") == "whole"
EDITION_OF_DEMO = editions.load(EDITION)
LENGTHS = (None, 12, 30, 1)  # of the good classifier's files, class by class; None for all items
SHORT = 2  # classes in the short form: one whole list, one beginning of a list


@dataclass(frozen=True)
class Attacked:
    """The demo after the attack."""

    world: World
    upload: Upload
    scores: dict[str, Any]
    curves: dict[str, Any]
    pages: dict[str, str]

    def ranking(self, competition: str, class_name: str) -> Ranking:
        """What was shown of one ranked list."""
        scores = self.scores[competition]
        second = scores["secondary"].get("average_precision_with_difficult")
        return Ranking(
            self.upload.orders[competition, class_name],
            scores["per_class"][class_name],
            second["per_class"][class_name] if second else None,
            np.array(self.curves[competition][class_name]["precision"]),
        )

    def detections(self, competition: str, class_name: str, number: int) -> Answer:
        """What was shown of a list of so many boxes."""
        scores = self.scores[competition]
        second = scores["secondary"]["average_precision_with_difficult"]
        return Answer(
            np.arange(number),
            three_decimals(scores["per_class"][class_name]),
            three_decimals(second["per_class"][class_name]),
            tuple(self.curves[competition][class_name]["precision"]),
        )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Start `vocboard demo` and give its data directory."""
    data = tmp_path_factory.mktemp("demo")
    command = (sys.executable, "-m", "vocboard.commands.main", "demo", "--port", "0", "--data", str(data))
    with (data / "demo.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            deadline = time.monotonic() + START_SECONDS
            while not (data / READY_FILE).exists():
                assert process.poll() is None, (data / "demo.log").read_text()
                assert time.monotonic() < deadline, (data / "demo.log").read_text()
                time.sleep(0.2)
            yield data
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def attacked(demo: Path) -> Attacked:
    """Upload everything as the demo's participant, publish it, and fetch what there is."""
    world = draw_world(EDITION_OF_DEMO, seed=SEED)
    upload = _designed(world)
    access = json.loads((demo / READY_FILE).read_text())
    headers = {"Authorization": f"Bearer {access['participant']['token']}"}
    with httpx.Client(base_url=access["url"], headers=headers, timeout=120, trust_env=False) as client:
        submission = _submit(client, upload)
        address = f"/api/v1/submissions/{submission['id']}"
        client.post(f"{address}/publish").raise_for_status()
        link = client.post(f"{address}/anonymous-link").raise_for_status().json()["url"]
        curves = {key: client.get(f"{address}/curves/{key}").json()["curves"] for key in submission["entered"]}
        pages = [link, address, f"/submissions/{submission['id']}"]
        for key in submission["entered"]:
            board = f"/challenges/{EDITION.lower()}/leaderboards/{key}"
            pages += [f"/submissions/{submission['id']}?competition={key}", board]
            pages += [f"/api/v1{board}{ending}" for ending in ("", ".csv", ".tex")]
        texts = {page: client.get(page).raise_for_status().text for page in pages}
    return Attacked(world, upload, submission["competitions"], curves, texts)


def _designed(world: World) -> Upload:
    random, upload = np.random.default_rng(2017), Upload()
    images, people = uploads.images(world), uploads.people(world)
    for number, name in enumerate(EDITION_OF_DEMO.classes):
        good = uploads.good_order(uploads.image_labels(world, name), random)
        upload.rank("comp1", CLASSIFICATION, name, images, random.permutation(len(images)))
        upload.rank("comp2", CLASSIFICATION, name, images, good[: LENGTHS[number % len(LENGTHS)]])
        upload.files[f"Main/comp3_det_test_{name}.txt"] = uploads.exact_boxes(world, name, 1)
        upload.files[f"Main/comp4_det_test_{name}.txt"] = uploads.exact_boxes(world, name, RIGHT_DETECTIONS)
    for number, name in enumerate(EDITION_OF_DEMO.actions):
        good = uploads.good_order(uploads.person_labels(world, name), random)
        upload.rank("comp9", ACTION, name, people, random.permutation(len(people)))
        upload.rank("comp10", ACTION, name, people, good[: LENGTHS[number % len(LENGTHS)]])
    upload.files |= uploads.label_of_its_own(world)
    return upload


def _submit(client: httpx.Client, upload: Upload) -> dict[str, Any]:
    fields = {
        "method_name": "Decoder",
        "method_description": "An upload that is meant to tell which images show what. " * 12,
        "contributors": "An Attacker",
        "affiliation": "Nowhere",
        "training_data": "None.",
        "training_annotation": "other_annotation",
    }
    files = {"archive": ("decoder.tar.gz", upload.archive())}
    answer = client.post(f"/api/v1/challenges/{EDITION.lower()}/submissions", data=fields, files=files)
    assert answer.status_code == 201, answer.text
    deadline = time.monotonic() + SCORING_SECONDS
    while True:
        submission: dict[str, Any] = client.get(f"/api/v1/submissions/{answer.json()['id']}").json()
        if submission["state"] == "scored":
            return submission
        assert submission["state"] in {"queued", "evaluating"}, submission
        assert time.monotonic() < deadline, submission
        time.sleep(0.3)


@pytest.mark.parametrize("name", EDITION_OF_DEMO.classes if WHOLE else EDITION_OF_DEMO.classes[:SHORT])
@pytest.mark.parametrize("competition", ["comp1", "comp2"])
def test_few_positive_images_are_certain(attacked: Attacked, competition: str, name: str) -> None:
    truth = uploads.image_labels(attacked.world, name)
    ranking = attacked.ranking(competition, name)
    assert ranking.distance(truth) == 0  # the answers are understood
    found = certain(truth, [ranking], np.random.default_rng(1))
    assert len(found) <= LEAKED * np.count_nonzero(truth == 1)


@pytest.mark.parametrize("name", EDITION_OF_DEMO.actions if WHOLE else EDITION_OF_DEMO.actions[:SHORT])
@pytest.mark.parametrize("competition", ["comp9", "comp10"])
def test_few_people_are_certain_to_do_something(attacked: Attacked, competition: str, name: str) -> None:
    truth = uploads.person_labels(attacked.world, name)
    ranking = attacked.ranking(competition, name)
    assert ranking.distance(truth) == 0
    found = certain(truth, [ranking], np.random.default_rng(1))
    assert len(found) <= LEAKED * np.count_nonzero(truth == 1)


def test_few_segmented_images_are_certain_to_show_a_class(attacked: Attacked) -> None:
    """A share above 0 in the column of an image's own label says that the image shows the class of the row."""
    matrix = attacked.scores["comp5"]["confusion_matrix"]
    for name, row in zip(EDITION_OF_DEMO.classes, matrix[1:], strict=True):
        positives = uploads.segmented_with(attacked.world, name)
        found = {label - 1 for label, share in enumerate(row) if label and share}
        assert found <= positives
        assert len(found) <= LEAKED * len(positives), name


def test_one_right_detection_reveals_only_itself(attacked: Attacked) -> None:
    for name, score in attacked.scores["comp3"]["per_class"].items():
        assert 0 < score <= LEAKED, name


@pytest.mark.parametrize("name", EDITION_OF_DEMO.classes)
def test_a_list_of_right_detections_reveals_only_itself(attacked: Attacked, name: str) -> None:
    """No object that is not in the list is certain, so at most as many are as the list has boxes."""
    counts = uploads.objects_of(attacked.world, name)
    truth, listed = np.ones(counts.positives, dtype=np.int8), range(RIGHT_DETECTIONS)
    fetched = attacked.detections("comp4", name, RIGHT_DETECTIONS)
    expected = answer(truth, counts, listed, three_decimals)
    assert (fetched.area, fetched.with_difficult, fetched.points) == (
        expected.area,
        expected.with_difficult,
        expected.points,
    )  # the answers are understood
    found = certain_boxes(truth, counts, [fetched], np.random.default_rng(1), needed=RIGHT_DETECTIONS)
    assert set(found) <= set(listed)


def test_nothing_that_can_be_fetched_has_counts_or_more_decimals(attacked: Attacked) -> None:
    for address, text in attacked.pages.items():
        assert not re.search(r'"positives"|>Positives<|Final recall|final_recall', text), address
    for competition, scores in attacked.scores.items():
        shown = [*scores["per_class"].values(), scores["mean"]]
        assert all(value == round(value, 3) for value in shown if value is not None), competition
        assert scores["details"] == {}
        assert scores["confusion_counts"] is None


def test_the_examples_are_added_while_it_runs_and_the_home_page_names_them(demo: Path, attacked: Attacked) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not (demo / EXAMPLES_FILLED).exists():
        assert time.monotonic() < deadline, (demo / "demo.log").read_text()
        time.sleep(0.2)
    access = json.loads((demo / READY_FILE).read_text())
    home = httpx.get(access["url"], trust_env=False).text
    for slug in SLUGS:
        title = slug.replace("-", " ").capitalize()
        assert title in home, "the notice names it"
        assert (f'href="/challenges/{slug}"' in home) == (slug != "harbour-2027"), title
    assert access["participant"]["email"] in home
    assert access["organiser"]["email"] in home
    assert not any(
        access[who][secret] in home for who in ("participant", "organiser") for secret in ("password", "token")
    )
