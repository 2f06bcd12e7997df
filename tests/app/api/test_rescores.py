"""Correcting the ground truth over HTTP, with a worker process of its own, on both set-ups."""

import json
import re
from typing import Any

import httpx
import pytest

from tests.support import small_world
from tests.support.life import confirm_warnings, eventually, follow, make_small_world, submit
from tests.support.site import Site

CORRECTED = {"000003": [("car", (10, 10, 50, 50))]}  # where the results have a car that was none
REASON = "A car was annotated as a dog"


@pytest.fixture
def challenge(worker: None, organiser: httpx.Client) -> str:
    return make_small_world(organiser)


@pytest.fixture
def published(challenge: str, participant: httpx.Client) -> str:
    path = f"/api/v1/submissions/{submit(participant, challenge, small_world.results_archive())['id']}"
    assert follow(participant, path)[-1]["state"] == "scored"
    assert participant.post(f"{path}/publish").status_code == 200
    return path


def upload_corrected(organiser: httpx.Client, challenge: str) -> dict[str, Any]:
    """Upload the corrected tree, and return its version once it is ready."""
    upload = {"archive": ("corrected.tar.gz", small_world.ground_truth_archive(CORRECTED))}
    number = organiser.post(f"{challenge}/ground-truth", files=upload).json()["number"]

    def ready() -> dict[str, Any] | None:
        versions = organiser.get(f"{challenge}/ground-truth").json()["items"]
        found: dict[str, Any] = next(one for one in versions if one["number"] == number)
        assert found["state"] != "failed", found["problems"]
        return found if found["state"] == "ready" else None

    version: dict[str, Any] = eventually(ready)
    confirm_warnings(organiser, challenge)
    return version


def start(organiser: httpx.Client, challenge: str, number: int) -> dict[str, Any]:
    response = organiser.post(f"{challenge}/rescores", json={"ground_truth_version": number, "reason": REASON})
    assert response.status_code == 201, response.text
    started: dict[str, Any] = response.json()
    assert response.headers["location"] == f"/api/v1/rescores/{started['id']}"
    return started


def test_ground_truth_is_corrected(
    site: Site, organiser: httpx.Client, participant: httpx.Client, challenge: str, published: str
) -> None:
    """After one submission has been evaluated again."""
    response = organiser.post(f"{published}/evaluate-again", json={"reason": "Asked for"})
    assert response.status_code == 202, response.text
    path = response.headers["location"]
    eventually(lambda: organiser.get(path).json()["state"] == "ready")
    assert organiser.get(path).json()["changes"] == []
    assert organiser.post(f"{path}/discard").json()["state"] == "discarded"
    assert organiser.post(f"{path}/apply").status_code == 409

    version = upload_corrected(organiser, challenge)
    assert not version["is_current"]

    def refused(**body: Any) -> tuple[int, Any]:
        response = organiser.post(f"{challenge}/rescores", json=body)
        return response.status_code, response.json().get("fields")

    no_version = {"ground_truth_version": "This challenge has no version 7."}
    assert refused(ground_truth_version=7, reason=REASON) == (422, no_version)
    assert refused(ground_truth_version=1, reason=" ") == (422, {"reason": "Required."})
    assert refused(ground_truth_version=2**40, reason=REASON)[0] == 422
    assert refused(ground_truth_version=1)[0] == 422

    before = participant.get(published).json()
    started = start(organiser, challenge, version["number"])
    path = f"/api/v1/rescores/{started['id']}"
    with organiser.stream("GET", f"{path}/events", timeout=60) as response:
        events = [json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: ")]
    assert events[-1] == {"state": "ready", "apply_requested": False, "done": 1, "total": 1}
    assert participant.get(published).json() == before

    ready = organiser.get(path).json()
    [detection] = [one for one in ready["changes"] if one["competition"] == "comp3"]
    assert detection["rank"] == {"before": 1, "after": 1}
    assert set(detection["classes"]) == {"car", "dog"}
    assert detection["classes"]["car"]["after"] == 1.0  # all three are found now, in order
    assert detection["mean"]["change"] == round(detection["mean"]["after"] - detection["mean"]["before"], 4)

    blank = organiser.post(f"{path}/apply", json={"reason": " "})
    assert (blank.status_code, blank.json()["fields"]) == (422, {"reason": "Required."})
    assert organiser.get(path).json()["reason"] == REASON
    known_now = f"{REASON}, which moved no rank"
    applied = organiser.post(f"{path}/apply", json={"reason": known_now})
    assert applied.status_code == 200, applied.text
    eventually(lambda: organiser.get(path).json()["state"] == "applied")
    after = participant.get(published).json()
    assert after["competitions"]["comp3"]["per_class"]["car"] == 1.0
    assert after["evaluation"]["ground_truth_version"] == version["number"]
    with site.client() as visitor:
        [row] = visitor.get(f"{challenge}/leaderboards/comp3").json()["rows"]
        assert row["per_class"]["car"] == 1.0
        [announced] = visitor.get(f"{challenge}/leaderboards/comp3").json()["corrections"]
        assert (announced["reason"], announced["ground_truth_version"]) == (known_now, version["number"])
        assert known_now in visitor.get("/challenges/small-world/leaderboards/comp3").text
    [current] = [
        one["number"] for one in organiser.get(f"{challenge}/ground-truth").json()["items"] if one["is_current"]
    ]
    assert current == version["number"]


def test_an_imported_challenge_is_scored_with_newly_uploaded_ground_truth(
    site: Site, organiser: httpx.Client, participant: httpx.Client, challenge: str, published: str
) -> None:
    export = {"archive": ("small-world.vocboard.tar", organiser.post(f"{challenge}/export").content)}
    imported = organiser.post("/api/v1/challenges/imports", data={"slug": "imported"}, files=export)
    assert imported.status_code == 201, imported.text
    copy = imported.headers["location"]
    assert organiser.post(f"{copy}/reopen").status_code == 200
    assert organiser.patch(copy, json={"visibility": "public"}).status_code == 200
    before = organiser.get(f"{challenge}/leaderboards/comp3").json()["rows"]

    def rows() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = organiser.get(f"{copy}/leaderboards/comp3").json()["rows"]
        return found

    assert without_ids(rows()) == without_ids(before)
    assert {not one for one in origins(site, organiser, copy)} == {False}
    version = upload_corrected(organiser, copy)
    assert not version["is_current"]  # that needs a re-score, because there are results
    assert without_ids(rows()) == without_ids(before)
    path = f"/api/v1/rescores/{start(organiser, copy, version['number'])['id']}"
    ready = eventually(lambda: (one := organiser.get(path).json())["state"] == "ready" and one)
    assert ready["failures"] == []
    assert organiser.post(f"{path}/apply").status_code == 200
    eventually(lambda: organiser.get(path).json()["state"] == "applied")
    [row] = rows()
    assert row["per_class"]["car"] == 1.0
    assert {not one for one in origins(site, organiser, copy)} == {True}  # they are this server's now
    assert organiser.get(copy).json()["phase"] == "open"
    submission = organiser.get(f"/api/v1/submissions/{row['submission']}").json()
    assert submission["evaluation"]["ground_truth_version"] == version["number"]
    # And somebody submits to it.
    added = f"/api/v1/submissions/{submit(participant, copy, small_world.results_archive())['id']}"
    assert follow(participant, added)[-1]["state"] == "scored"
    assert participant.get(added).json()["competitions"]["comp3"]["per_class"]["car"] == 1.0


def origins(site: Site, organiser: httpx.Client, challenge: str) -> list[Any]:
    """Return what everything that shows scores of a challenge says of their origin: something, or nothing."""
    slug = challenge.rpartition("/")[2]
    board = organiser.get(f"{challenge}/leaderboards/comp3").json()
    submission = board["rows"][0]["submission"]
    said = [
        organiser.get(challenge).json()["imported"],
        next(one for one in organiser.get("/api/v1/challenges").json()["items"] if one["slug"] == slug)["imported"],
        board["imported"],
        organiser.get(f"/api/v1/submissions/{submission}").json()["competitions"]["comp3"]["imported"],
    ]
    files = [f"{kind}/comp3.{ending}" for kind in ("scores", "curves") for ending in ("csv", "svg")]
    said += [
        "not scored here" in organiser.get(f"/api/v1/submissions/{submission}/{file}").raise_for_status().text
        for file in files
    ]
    said.append(organiser.get(f"/api/v1/submissions/{submission}/curves/comp3").json()["imported"])
    name = "Scores imported from an archive on"
    pages = [
        "",
        "/leaderboards",
        "/leaderboards/comp3",
        "/leaderboards/comp3/embed",
        f"/leaderboards/comp3/compare?method={submission}",
    ]
    with site.client() as visitor:
        method = organiser.get(f"/api/v1/submissions/{submission}").json()["method"]["id"]
        addresses = [
            "/",
            *(f"/challenges/{slug}{page}" for page in pages),
            f"/submissions/{submission}",
            f"/methods/{method}",
        ]
        texts = [visitor.get(address) for address in addresses]
        assert [one.status_code for one in texts] == [200] * len(texts)
        previews = [
            found[1] for one in texts if (found := re.search(r'property="og:description" content="([^"]*)"', one.text))
        ]
        assert len(previews) == 2  # of the leaderboard and the method
        return said + [name in text and "not scored here" in text for text in (*(one.text for one in texts), *previews)]


def without_ids(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in {"submission", "method_id"}} for row in rows]
