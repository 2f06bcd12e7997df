"""From ground truth to leaderboard over HTTP, with a worker process of its own, on both set-ups."""

import math
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import small_world
from tests.support.golden import golden
from tests.support.life import eventually, follow, make_ready, make_small_world, submit
from tests.support.site import Site
from tests.support.working import working
from vocboard.app.settings import Settings
from vocboard.app.storage.stores import archive_store
from vocboard.app.submissions.models import Submission
from vocboard.evaluator.stored_results.reader_version import READER_VERSION


@pytest.fixture
def worker(settings: Settings, site: Site, tmp_path: Path) -> Iterator[None]:
    log = tmp_path / "worker.log"
    with working(settings, log):
        yield
    print(log.read_text()[-5000:])  # pytest shows it when the test fails
    assert "is read again" not in log.read_text()  # the columns of the upload were good for the evaluation


def expect_invalid_truth(organiser: httpx.Client) -> None:
    """Upload ground truth that is invalid, which is said with the reason."""
    new = {"slug": "wrong-truth", "title": "Wrong", "edition": "VOC2007", "competitions": ["comp3"]}
    path = organiser.post("/api/v1/challenges", json=new).headers["location"]
    upload = {"archive": ("devkit.tar.gz", small_world.packed([("VOC2007/readme.txt", b"nothing")]))}
    eventually(lambda: organiser.post(f"{path}/ground-truth", files=upload).status_code == 202)

    def failed() -> Any:
        [version] = organiser.get(f"{path}/ground-truth").json()["items"]
        return version if version["state"] == "failed" else None

    assert eventually(failed)["problems"]
    assert organiser.get(path).json()["phase"] == "not_ready"


@pytest.mark.usefixtures("worker")
def test_from_ground_truth_to_leaderboard(site: Site, organiser: httpx.Client, participant: httpx.Client) -> None:
    """After another challenge's ground truth was invalid."""
    expect_invalid_truth(organiser)
    challenge = make_small_world(organiser)
    submitted = submit(participant, challenge, small_world.results_archive(), contributors="A. Person")
    assert submitted["state"] in {"queued", "evaluating", "scored"}  # a quick worker is done before the answer is
    assert submitted["entered"] == {"comp1": ["car"], "comp3": ["car", "dog"]}
    path = f"/api/v1/submissions/{submitted['id']}"

    states = [event["state"] for event in follow(participant, path)]
    assert states[-1] == "scored"
    assert states == sorted(states, key=["queued", "evaluating", "scored"].index)

    scored = participant.get(path).json()
    detection = scored["competitions"]["comp3"]
    assert detection["metric"] == "average_precision"
    assert detection["per_class"] == {"car": round(small_world.CAR_AP, 4), "dog": round(small_world.DOG_AP, 4)}
    assert detection["mean"] == round(small_world.MEAN_AP, 4)
    assert "bird" in detection["not_entered"]
    assert detection["details"] == {}  # for organisers
    assert scored["competitions"]["comp1"]["per_class"] == {"car": round(small_world.CAR_AP, 4)}
    assert scored["evaluation"]["archive_sha256"] == scored["archive"]["sha256"]
    with site.database.reading() as session:
        stored = session.get_one(Submission, uuid.UUID(submitted["id"]))
    assert stored.columns_reader == READER_VERSION
    with archive_store(site.settings).open(str(stored.columns_sha256)):
        pass
    curves = participant.get(f"{path}/curves/comp3").json()["curves"]
    left_out = {"recall": [], "precision": [], "step": None, "is_left_out": True}
    assert curves == {"car": left_out, "dog": left_out}  # of two objects each: too few for steps of at most 10 %

    board = f"{challenge}/leaderboards/comp3"
    with site.client() as visitor:
        assert visitor.get(path).status_code == 404
        assert visitor.get(board).json()["rows"] == []
        as_json = {"Content-Type": "application/json"}
        refused = participant.post(f"{path}/publish", content="null", headers=as_json)
        assert refused.json()["fields"] == {"body": "Send an object instead of null."}
        assert participant.post(f"{path}/publish").json()["published_at"] is not None
        [row] = visitor.get(board).json()["rows"]
        assert row["rank"] == 1
        assert row["method"] == "Method"
        assert row["mean"] == round(small_world.MEAN_AP, 4)
        seen = visitor.get(path).json()
        assert seen["competitions"] == scored["competitions"]
        assert (seen["archive"], seen["warnings"], seen["submitted_by"], seen["evaluation"]) == (None,) * 4
        assert participant.post(f"{path}/unpublish").status_code == 200
        assert visitor.get(board).json()["rows"] == []
        assert visitor.get(path).status_code == 404


@pytest.mark.usefixtures("worker")
def test_the_detectors_of_voc2007_get_the_scores_of_its_kit(
    site: Site, organiser: httpx.Client, participant: httpx.Client
) -> None:
    case = golden("voc2007-real")
    expected = case.expected()
    challenge = make_ready(
        organiser,
        case.ground_truth.read_bytes(),
        slug="voc2007",
        edition=case.edition,
        competitions=list(expected),
        decimals=6,
    )
    submitted = submit(participant, challenge, case.results.read_bytes(), training_data="ImageNet, VOC2007 trainval")
    path = f"/api/v1/submissions/{submitted['id']}"
    assert follow(participant, path)[-1]["state"] == "scored"
    assert participant.post(f"{path}/publish").status_code == 200
    with site.client() as visitor:
        for key, numbers in expected.items():
            [row] = visitor.get(f"{challenge}/leaderboards/{key}").json()["rows"]
            if "ap" not in numbers:
                continue
            rounded = {name: round(float(text), 6) for name, text in numbers["ap"].items()}
            assert row["per_class"] == {name: None if math.isnan(ap) else ap for name, ap in rounded.items()}
