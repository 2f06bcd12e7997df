"""What a participant of the demo, as it starts, can be certain of after uploads that are meant to tell.

VOCBOARD_ATTACK=whole decodes every class, which takes minutes; otherwise one class of each kind of list.
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
from tests.attack.detections import Answer, answer, to_decimals
from tests.attack.detections import certain as certain_boxes
from tests.attack.labels import Ranking, certain
from tests.attack.uploads import Upload
from vocboard.commands.demo import EDITION, EXAMPLE_ARCHIVE, EXAMPLES_FILLED, READY_FILE
from vocboard.commands.demo.examples import SLUGS
from vocboard.commands.demo.scenes import World, draw_world
from vocboard.commands.demo.seeding import OPEN_RULES
from vocboard.commands.demo.synthetic import SEED
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Task
from vocboard.evaluator.reading import read_results

LEAKED = 0.05  # of a class's positives, at most
START_SECONDS, SCORING_SECONDS = 300, 120
RIGHT_DETECTIONS = 40
CLASSIFICATION, ACTION = "Main/{competition}_cls_test_{name}.txt", "Action/{competition}_action_test_{name}.txt"
WHOLE = os.environ.get("VOCBOARD_ATTACK") == "whole"
EDITION_OF_DEMO = editions.load(EDITION)
as_shown = to_decimals(OPEN_RULES["decimals"])
LENGTHS = (None, 12, 30, 1)  # of the good classifier's files, class by class; None for all items
SHORT = 2  # classes in the short form: one whole list, one beginning of a list


@dataclass(frozen=True)
class Attacked:
    """The demo after the attack."""

    world: World
    upload: Upload
    scores: dict[str, Any]
    pages: dict[str, str]

    def ranking(self, competition: str, class_name: str) -> Ranking:
        """What was shown of one ranked list."""
        scores = self.scores[competition]
        second = scores["secondary"].get("average_precision_with_difficult")
        return Ranking(
            self.upload.orders[competition, class_name],
            scores["per_class"][class_name],
            second["per_class"][class_name] if second else None,
            None,
            OPEN_RULES["decimals"],
        )

    def detections(self, competition: str, class_name: str, number: int) -> Answer:
        """What was shown of a list of so many boxes."""
        scores = self.scores[competition]
        second = scores["secondary"]["average_precision_with_difficult"]
        return Answer(
            np.arange(number),
            as_shown(scores["per_class"][class_name]),
            as_shown(second["per_class"][class_name]),
            (),
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
        pages = [link, address, f"/submissions/{submission['id']}"]
        for key in submission["entered"]:
            board = f"/challenges/{EDITION.lower()}/leaderboards/{key}"
            pages += [f"/submissions/{submission['id']}?competition={key}", board]
            pages += [f"/api/v1{board}{ending}" for ending in ("", ".csv", ".tex")]
            pages += [f"{address}/{what}/{key}" for what in ("scores", "curves", "diagnosis")]
        texts = {page: client.get(page).raise_for_status().text for page in pages}
    return Attacked(world, upload, submission["competitions"], texts)


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
    few = int(LEAKED * np.count_nonzero(truth == 1))
    assert len(certain(truth, [ranking], np.random.default_rng(1), needed=few)) <= few


@pytest.mark.parametrize("name", EDITION_OF_DEMO.actions if WHOLE else EDITION_OF_DEMO.actions[:SHORT])
@pytest.mark.parametrize("competition", ["comp9", "comp10"])
def test_few_people_are_certain_to_do_something(attacked: Attacked, competition: str, name: str) -> None:
    truth = uploads.person_labels(attacked.world, name)
    ranking = attacked.ranking(competition, name)
    assert ranking.distance(truth) == 0
    few = int(LEAKED * np.count_nonzero(truth == 1))
    assert len(certain(truth, [ranking], np.random.default_rng(1), needed=few)) <= few


@pytest.mark.parametrize("name", EDITION_OF_DEMO.classes)
def test_few_boxes_of_a_list_that_is_all_right_are_certain(attacked: Attacked, name: str) -> None:
    counts = uploads.objects_of(attacked.world, name)
    truth = np.ones(RIGHT_DETECTIONS, dtype=np.int8)
    fetched = attacked.detections("comp4", name, RIGHT_DETECTIONS)
    expected = answer(truth, counts, range(RIGHT_DETECTIONS), as_shown, with_points=False)
    assert (fetched.area, fetched.with_difficult) == (expected.area, expected.with_difficult)  # understood
    most = int(LEAKED * counts.positives)
    assert len(certain_boxes(truth, counts, [fetched], np.random.default_rng(1), needed=most)) <= most


def test_one_right_detection_is_not_told_from_none(attacked: Attacked) -> None:
    assert set(attacked.scores["comp3"]["per_class"].values()) == {0.0}


def test_nothing_that_can_be_fetched_has_counts_curves_or_more_decimals(attacked: Attacked) -> None:
    """Intervals and differences on leaderboards, too. Pages show scores in per cent."""
    for address, text in attacked.pages.items():
        assert not re.search(r'"positives"|>Positives<|Final recall|final_recall', text), address
        if address.startswith("/api/") and "/leaderboards/" in address:
            assert not re.search(r"\b0\.\d{3}|\b[1-9]\d?\.\d{2}\b", text), address
        if "/curves/" in address or "/diagnosis/" in address:
            assert not re.search(r"\d\.\d", text), address
    for competition, scores in attacked.scores.items():
        shown = [*scores["per_class"].values(), scores["mean"]]
        assert all(value == round(value, OPEN_RULES["decimals"]) for value in shown if value is not None), competition
        assert scores["confusion_matrix"] is None
        assert scores["details"] == {}
        assert scores["confusion_counts"] is None


def test_its_example_results_are_of_competitions_that_are_open(demo: Path) -> None:
    access = json.loads((demo / READY_FILE).read_text())
    challenge = httpx.get(f"{access['url']}/api/v1/challenges/{EDITION.lower()}", trust_env=False).json()
    offered = [competition["key"] for competition in challenge["competitions"]]
    results = read_results(demo / EXAMPLE_ARCHIVE, EDITION_OF_DEMO, None, competitions=offered)
    assert len(results.results) == 5
    assert not results.problems


def test_the_examples_are_added_while_it_runs_with_the_measured_rules(demo: Path, attacked: Attacked) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not (demo / EXAMPLES_FILLED).exists():
        assert time.monotonic() < deadline, (demo / "demo.log").read_text()
        time.sleep(0.2)
    access = json.loads((demo / READY_FILE).read_text())
    home = httpx.get(access["url"], trust_env=False).text
    challenges = httpx.get(f"{access['url']}/api/v1/challenges", trust_env=False).json()["items"]
    opened = {
        f"{challenge['slug']}/{phase['key']}": (phase["detail"], challenge["decimals"], phase["quota"]["count"])
        for challenge in challenges
        for phase in challenge["phases"]
        if phase["state"] == "open" and phase["ladder_step"] is None
    }
    tasks = {
        competition["task"]
        for slug in {name.partition("/")[0] for name in opened}
        for competition in httpx.get(f"{access['url']}/api/v1/challenges/{slug}", trust_env=False).json()[
            "competitions"
        ]
    }
    assert Task.LAYOUT not in tasks, "the number of people is public, so a list of right layouts could be confirmed"
    measured = (OPEN_RULES["detail"], OPEN_RULES["decimals"], OPEN_RULES["quota_count"])
    public = opened.pop("harbour-2026/validation")  # whose ground truth counts as public
    assert public[0] == "everything"
    assert opened == {f"{EDITION.lower()}/main": measured, "harbour-2025/main": measured, "orchard-2026/main": measured}
    for slug in SLUGS:
        title = slug.replace("-", " ").capitalize()
        assert title in home, "the notice names it"
        assert (f'href="/challenges/{slug}"' in home) == (slug != "harbour-2027"), title
    assert access["participant"]["email"] in home
    assert access["organiser"]["email"] in home
    assert not any(
        access[who][secret] in home for who in ("participant", "organiser") for secret in ("password", "token")
    )
