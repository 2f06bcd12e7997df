"""What a participant of the demo, as it starts, can be certain of after uploads that are meant to tell.

VOCBOARD_ATTACK=whole decodes every class, which takes minutes; otherwise one class of each kind of list.

Then, on the same demo, its example challenges: states, dates, and what they show.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
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
from tests.support.factories import make_token, make_user
from vocboard.app.database import Database
from vocboard.app.pages.wording import FLAT
from vocboard.app.settings import Settings
from vocboard.commands.demo import EDITION, EXAMPLE_ARCHIVE, READY_FILE
from vocboard.commands.demo.examples import SLUGS, draw_test_set, draw_validation_set
from vocboard.commands.demo.scenes import World, draw_world
from vocboard.commands.demo.seeding import EDITIONS, OPEN_RULES, Api
from vocboard.commands.demo.synthetic import MAIN_RULES, SEED, SEGMENTATION
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Edition, Task, read_text
from vocboard.evaluator.reading.results import read_results

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

    def points(self, competition: str, class_name: str) -> tuple[float, ...]:
        """The eleven points as shown."""
        page = next(text for address, text in self.pages.items() if address.endswith(f"/curves/{competition}"))
        curve = json.loads(page)["curves"][class_name]
        return tuple(curve["precision"])

    def ranking(self, competition: str, class_name: str) -> Ranking:
        """What was shown of one ranked list."""
        scores = self.scores[competition]
        second = scores["secondary"].get("average_precision_with_difficult")
        return Ranking(
            self.upload.orders[competition, class_name],
            scores["per_class"][class_name],
            second["per_class"][class_name] if second else None,
            np.array(self.points(competition, class_name)),
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
            self.points(competition, class_name),
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
        texts: dict[str, str] = {}
        scores: dict[str, Any] = {}
        for phase, each in (("main", upload), (SEGMENTATION, Upload(files=uploads.label_of_its_own(world)))):
            submission = _submit(client, each, phase)
            scores |= submission["competitions"]
            texts |= {page: client.get(page).raise_for_status().text for page in _pages(client, submission, phase)}
    return Attacked(world, upload, scores, texts)


def _pages(client: httpx.Client, submission: dict[str, Any], phase: str) -> list[str]:
    address = f"/api/v1/submissions/{submission['id']}"
    client.post(f"{address}/publish").raise_for_status()
    link = client.post(f"{address}/anonymous-link").raise_for_status().json()["url"]
    pages = [link, address, f"/submissions/{submission['id']}"]
    for key in submission["entered"]:
        board = f"/challenges/{EDITION.lower()}/leaderboards/{key}"
        pages += [f"/submissions/{submission['id']}?competition={key}", f"{board}?phase={phase}"]
        pages += [f"/api/v1{board}{ending}?phase={phase}" for ending in ("", ".csv", ".tex")]
        pages += [f"{address}/{what}/{key}" for what in ("scores", "curves", "diagnosis")]
    return pages


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
    return upload


def _submit(client: httpx.Client, upload: Upload, phase: str) -> dict[str, Any]:
    fields = {
        "method_name": "Decoder",
        "method_description": "An upload that is meant to tell which images show what. " * 12,
        "contributors": "An Attacker",
        "affiliation": "Nowhere",
        "training_data": "None.",
        "training_annotation": "other_annotation",
    }
    files = {"archive": ("decoder.tar.gz", upload.archive())}
    address = f"/api/v1/challenges/{EDITION.lower()}/submissions"
    answer = client.post(address, params={"phase": phase}, data=fields, files=files)
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
    assert len(certain(truth, [ranking], np.random.default_rng(1), most=few)) <= few


@pytest.mark.parametrize("name", EDITION_OF_DEMO.actions if WHOLE else EDITION_OF_DEMO.actions[:SHORT])
@pytest.mark.parametrize("competition", ["comp9", "comp10"])
def test_few_people_are_certain_to_do_something(attacked: Attacked, competition: str, name: str) -> None:
    truth = uploads.person_labels(attacked.world, name)
    ranking = attacked.ranking(competition, name)
    assert ranking.distance(truth) == 0
    few = int(LEAKED * np.count_nonzero(truth == 1))
    assert len(certain(truth, [ranking], np.random.default_rng(1), most=few)) <= few


@pytest.mark.parametrize("name", EDITION_OF_DEMO.classes)
def test_few_boxes_of_a_list_that_is_all_right_are_certain(attacked: Attacked, name: str) -> None:
    counts = uploads.objects_of(attacked.world, name)
    truth = np.ones(RIGHT_DETECTIONS, dtype=np.int8)
    fetched = attacked.detections("comp4", name, RIGHT_DETECTIONS)
    expected = answer(truth, counts, range(RIGHT_DETECTIONS), as_shown)
    for part in ("area", "with_difficult", "points"):
        assert getattr(fetched, part) == getattr(expected, part), part  # understood
    if not WHOLE and name not in EDITION_OF_DEMO.classes[:SHORT]:
        return  # the answers are as expected, and test_demo_rules.py searches in those of the class with fewest objects
    most = int(LEAKED * counts.positives)
    assert len(certain_boxes(truth, counts, [fetched], np.random.default_rng(1), most=most)) <= most


def test_one_right_detection_is_not_told_from_none(attacked: Attacked) -> None:
    assert set(attacked.scores["comp3"]["per_class"].values()) == {0.0}


def test_nothing_that_can_be_fetched_has_counts_or_more_decimals(attacked: Attacked) -> None:
    """Intervals and differences on leaderboards, too. Pages show scores in per cent."""
    for address, text in attacked.pages.items():
        assert not re.search(r'"positives"|>Positives<|Final recall|final_recall', text), address
        if address.startswith("/api/") and "/leaderboards/" in address:
            assert not re.search(r"\b0\.\d{3}|\b[1-9]\d?\.\d{2}\b", text), address
        if "/curves/" in address or "/diagnosis/" in address:
            assert not re.search(r"\d\.\d{3}", text), address
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
    assert len(results.results) == 4
    assert not results.problems


def test_its_front_page_leads_to_a_board_with_curves(attacked: Attacked, demo: Path) -> None:
    """Of real uploads: a class is large enough, and good methods find more than half of it."""
    url = json.loads((demo / READY_FILE).read_text())["url"]
    board = f"{url}/challenges/{EDITION.lower()}/leaderboards/comp4"
    ids = re.findall(r'name="method" value="([0-9a-f-]{36})"', httpx.get(board, trust_env=False).text)[:2]
    page = httpx.get(f"{board}/compare", params={"method": ids, "class": "car"}, trust_env=False).text
    assert page.count("<polyline") >= 2
    assert "Rounded to steps of 1 %" in page
    assert FLAT in page


@pytest.fixture(scope="module")
def examples(demo: Path, attacked: Attacked) -> str:
    """Return the demo's address."""
    return str(json.loads((demo / READY_FILE).read_text())["url"])


def test_everything_is_open_with_the_measured_rules(demo: Path, examples: str) -> None:
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
    with_curves = (MAIN_RULES["detail"], MAIN_RULES["decimals"], MAIN_RULES["quota_count"])
    public = opened.pop("harbour-2026/validation")  # whose ground truth counts as public
    assert public[0] == "everything"
    main = EDITION.lower()
    others = dict.fromkeys((f"{main}/{SEGMENTATION}", "harbour-2025/main", "orchard-2026/main"), measured)
    assert opened == {f"{main}/main": with_curves, **others}
    for slug in SLUGS:
        assert (f'href="/challenges/{slug}"' in home) == (slug != "harbour-2027"), slug
    assert access["participant"]["email"] in home
    assert access["organiser"]["email"] in home
    assert not any(
        access[who][secret] in home for who in ("participant", "organiser") for secret in ("password", "token")
    )


@pytest.fixture(scope="module")
def database(demo: Path) -> Iterator[Database]:
    """Give the demo's database."""
    with closing(Database(Settings(data_directory=demo).database)) as opened:
        yield opened


@pytest.fixture(scope="module")
def organiser(demo: Path, examples: str) -> Iterator[Api]:
    """Give the API of the filled demo as the organiser."""
    token = json.loads((demo / READY_FILE).read_text())["organiser"]["token"]
    with closing(Api(examples, token)) as api:
        yield api


@pytest.fixture(scope="module")
def visitor(database: Database, examples: str) -> Iterator[Api]:
    """Give the API of the filled demo as somebody else."""
    with database.writing() as session:
        token = make_token(session, make_user(session))
    with closing(Api(examples, token)) as api:
        yield api


def test_there_is_an_example_challenge_in_each_state(visitor: Api, organiser: Api) -> None:
    found = {item["slug"]: item for item in visitor.get("/challenges")["items"] if item["slug"] in SLUGS}
    assert {slug: item["phase"] for slug, item in found.items()} == {
        "harbour-2024": "archived",
        "orchard-2025": "closed",
        "harbour-2025": "open",
        "orchard-2026": "open",
        "harbour-2026": "open",
    }
    phases = {phase["key"]: phase for phase in found["harbour-2026"]["phases"]}
    assert {key: (phase["state"], phase["detail"]) for key, phase in phases.items()} == {
        "validation": ("open", "everything"),
        "main": ("open", "mean"),
    }
    assert visitor.get("/challenges/harbour-2027") is None
    draft = organiser.get("/challenges/harbour-2027")
    assert (draft["visibility"], draft["phase"]) == ("draft", "not_yet_open")
    [failed] = organiser.get("/challenges/harbour-2027/ground-truth")["items"]
    assert failed["state"] == "failed"
    assert len(failed["problems"]) == 2


def test_each_phase_of_an_example_challenge_has_its_leaderboard(visitor: Api) -> None:
    path = "/challenges/harbour-2026/leaderboards/comp2"
    assert methods(visitor.get(f"{path}?phase=validation")) == {"Mooring", "Quayside", "Tideline"}
    board = visitor.get(path)
    assert len(board["rows"]) == 4
    assert board["is_anonymous"]
    assert not methods(board) & {"Waterline", "Quayside", "Tideline", "Lighthouse"}
    assert not any(row["per_class"] for row in board["rows"])


def test_the_frozen_leaderboard_shows_later_results_apart(visitor: Api) -> None:
    path = "/challenges/harbour-2025/leaderboards/comp2"
    in_time, later = (methods(visitor.get(f"{path}{query}")) for query in ("", "?results=later"))
    assert in_time == {"Waterline", "Breakwater", "Quayside", "Lighthouse"}
    assert later == {"Tideline", "Quayside 2"}


def test_the_closed_leaderboard_shows_nothing_that_is_disqualified(visitor: Api, organiser: Api) -> None:
    board = visitor.get("/challenges/orchard-2025/leaderboards/comp1")
    assert methods(board) == {"Orchardist", "Windfall", "Grafted"}
    assert all(row["interval"] and row["ranks"] for row in board["rows"])
    states = {item["method_name"]: item["state"] for item in items(organiser, "orchard-2025", "submissions")}
    assert states["Perfect harvest"] == "disqualified"


def test_the_corrected_leaderboard_says_why(visitor: Api, organiser: Api) -> None:
    [rescore] = items(organiser, "orchard-2026", "rescores")
    assert rescore["state"] == "applied"
    board = visitor.get("/challenges/orchard-2026/leaderboards/comp1")
    assert "labelled as apples" in board["corrections"][0]["reason"]
    changes = organiser.get(f"/rescores/{rescore['id']}")["changes"]
    assert any(change["rank"]["before"] != change["rank"]["after"] or change["mean"]["change"] for change in changes)


def test_everything_is_dated_when_it_is_said_to_have_been_done(organiser: Api) -> None:
    now = datetime.now(UTC)
    for slug in SLUGS:
        challenge = organiser.get(f"/challenges/{slug}")
        opened = challenge["phases"][0]["opens_at"]
        for submission in items(organiser, slug, "submissions"):
            submitted = datetime.fromisoformat(submission["created_at"])
            assert datetime.fromisoformat(opened) < submitted < now - timedelta(days=1), (slug, submission)
        logged = [datetime.fromisoformat(event["created_at"]) for event in items(organiser, slug, "log")]
        assert logged
        assert max(logged) < now - timedelta(hours=12), slug


def test_only_validation_images_are_shown_in_full(visitor: Api) -> None:
    challenges = [item for item in visitor.get("/challenges")["items"] if item["slug"] in SLUGS]
    shown = [
        (item["slug"], phase["key"])
        for item in challenges
        for phase in item["phases"]
        if phase["detail"] == "everything"
    ]
    assert shown == [("harbour-2026", "validation")]
    assert not any(item["detail"] == "curves" for item in challenges)  # their test sets are too small for it
    edition = example_edition("harbour")
    drawn = [draw_test_set(slug, edition) for slug in SLUGS if slug.startswith("harbour")]
    hidden = {scene.objects for world in drawn for scenes in world.sets.values() for scene in scenes}
    validation = [scene for scenes in draw_validation_set("harbour-2026", edition).sets.values() for scene in scenes]
    assert not {scene.objects for scene in validation} & hidden
    tested = {scene.image for scenes in draw_test_set("harbour-2026", edition).sets.values() for scene in scenes}
    assert not {scene.image for scene in validation} & tested


def test_a_test_set_is_used_for_one_example_challenge() -> None:
    edition = example_edition("orchard")
    worlds = [draw_test_set(slug, edition) for slug in SLUGS]
    scenes = [scene.objects for world in worlds for drawn in world.sets.values() for scene in drawn]
    assert len(set(scenes)) == len(scenes)


def example_edition(name: str) -> Edition:
    path = EDITIONS / f"{name}.toml"
    return read_text(path.read_text(encoding="utf-8"), path.name)


def methods(board: dict[str, Any]) -> set[str]:
    return {row["method"] for row in board["rows"]}


def items(api: Api, slug: str, what: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(f"/challenges/{slug}/{what}?per_page=100")["items"]
    return found
