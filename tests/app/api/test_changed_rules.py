"""Changing the rules of a challenge over HTTP, with a worker process of its own, on both set-ups."""

from pathlib import Path
from typing import Any

import httpx
import pytest

import vocboard
from tests.support import own_rules
from tests.support.life import eventually, follow, make_ready, submit
from tests.support.own_rules import CHANGED, CHANGED_FILE, EDITION_FILE, LOOSE_BOXES
from tests.support.site import Site

REASON = "The text of the challenge says 0.9"


@pytest.fixture
def challenge(worker: None, organiser: httpx.Client) -> str:
    truth = own_rules.ground_truth_archive()
    rules = {"competitions": ["comp1", "comp3"], "decimals": 6, "quota_count": 9}
    return make_ready(organiser, truth, slug="harbour", edition_file=EDITION_FILE, **rules)


def publish(client: httpx.Client, challenge: str, archive: bytes, name: str) -> str:
    path = f"/api/v1/submissions/{submit(client, challenge, archive, method_name=name)['id']}"
    assert follow(client, path)[-1]["state"] == "scored"
    assert client.post(f"{path}/publish").status_code == 200
    return path


def board(site: Site, challenge: str) -> dict[str, Any]:
    """Return what a leaderboard shows, without its statistics, which workers compute some time later."""
    with site.client() as visitor:
        found = visitor.get(f"{challenge}/leaderboards/comp3").json()
    shown = ("rank", "method", "mean", "per_class")
    return {
        "corrections": found["corrections"],
        "rows": [{name: row[name] for name in shown} for row in found["rows"]],
    }


def expect_refusals(organiser: httpx.Client, challenge: str) -> None:
    """Everything that cannot change is said at once."""
    wrong = (
        CHANGED_FILE.replace('name = "Harbour"', 'name = "Port"')
        .replace('"aeroplane", "bicycle"', '"bicycle", "aeroplane"')
        .replace("_det_{image_set}", "_boxes_{image_set}")
    )

    def refused(**body: Any) -> tuple[int, dict[str, str]]:
        response = organiser.post(f"{challenge}/rescores", json={"reason": REASON, **body})
        return response.status_code, response.json()["fields"]

    status, fields = refused(edition_file=wrong)
    assert status == 422
    lines = fields["edition_file"].split("\n")
    assert [line.split(",")[0] for line in lines] == [
        "The name changes from Harbour to Port",
        "The list of classes changes (their order changes)",
        "comp3 has submissions",
    ]
    assert refused(edition_file=EDITION_FILE)[1]["edition_file"].startswith("The rules in this file are those")
    assert refused(edition_file="name = ")[1]["edition_file"].startswith("edition file: not a TOML file")
    assert "ground_truth_version" in refused(edition_file=CHANGED_FILE, ground_truth_version=1)[1]
    assert "ground_truth_version" in refused()[1]
    replaced = organiser.put(f"{challenge}/edition", json={"edition_file": CHANGED_FILE})
    assert (replaced.status_code, "start a re-score" in replaced.json()["detail"]) == (409, True)
    assert organiser.get(f"{challenge}/rescores").json()["items"] == []


def test_rules_are_changed(
    site: Site, organiser: httpx.Client, participant: httpx.Client, challenge: str, tmp_path: Path
) -> None:
    archives = {
        "loose": own_rules.results_archive(comp3_det_test_car=LOOSE_BOXES),
        "tight": own_rules.results_archive(comp3_det_test_dog=None),
        "late": own_rules.results_archive(),
    }
    paths = {name: publish(participant, challenge, archives[name], name) for name in ("loose", "tight")}
    before = board(site, challenge)
    expect_refusals(organiser, challenge)

    wanted = {"edition_file": CHANGED_FILE, "reason": "Said first."}
    response = organiser.post(f"{challenge}/rescores", json=wanted)
    assert response.status_code == 201, response.text
    started = response.json()
    assert {"what": "Overlap that is enough", "before": "at least 0.5", "after": "more than 0.9"} in started[
        "edition_changes"
    ]
    path = response.headers["location"]
    eventually(lambda: organiser.get(path).json()["state"] == "ready")
    assert board(site, challenge) == before
    # What is submitted meanwhile is scored by the current rules, and added to the report.
    paths["late"] = publish(participant, challenge, archives["late"], "late")
    live = participant.get(paths["late"]).json()
    assert live["evaluation"]["edition_version"] == 1
    assert set(live["competitions"]["comp3"]["secondary"]) == {"area_under_curve", "average_precision_with_difficult"}
    ready = eventually(lambda: (one := organiser.get(path).json())["total"] == 3 and one["state"] == "ready" and one)
    loose = next(one for one in ready["changes"] if (one["method"], one["competition"]) == ("loose", "comp3"))
    assert loose["classes"]["car"]["before"] > loose["classes"]["car"]["after"]

    assert organiser.post(f"{path}/apply", json={"reason": REASON}).status_code == 200
    eventually(lambda: organiser.get(path).json()["state"] == "applied")
    (tree,) = own_rules.write(tmp_path, tree=own_rules.ground_truth_archive())
    truth = vocboard.read_ground_truth(tree, CHANGED)
    for name, file in zip(archives, own_rules.write(tmp_path, **archives), strict=True):
        fresh = vocboard.evaluate(file, CHANGED, truth).to_dict()["competitions"]
        shown = participant.get(paths[name]).json()
        assert shown["evaluation"]["edition_version"] == 2
        for key, scores in fresh.items():
            assert shown["competitions"][key]["mean"] == pytest.approx(scores["mean"], abs=5e-7)
            assert {n for n, one in shown["competitions"][key]["per_class"].items() if one is not None} == {
                n for n, one in scores["per_class"].items() if one is not None
            }
            assert set(shown["competitions"][key]["secondary"]) == {"average_precision_with_difficult"}
    after = board(site, challenge)
    [announced] = after["corrections"]
    assert (announced["reason"], announced["edition_version"], announced["changes_edition"]) == (REASON, 2, True)
    assert {row["method"] for row in after["rows"]} == set(archives)
    for version, content in ((None, CHANGED_FILE), (1, EDITION_FILE), (2, CHANGED_FILE)):
        assert organiser.get(f"{challenge}/edition", params={"version": version} if version else {}).text == content
    assert organiser.get(challenge).json()["edition_version"] == 2


def test_while_nobody_has_submitted_changed_rules_become_current_by_themselves(
    organiser: httpx.Client, participant: httpx.Client, challenge: str
) -> None:
    response = organiser.post(f"{challenge}/rescores", json={"edition_file": CHANGED_FILE, "reason": REASON})
    path = response.headers["location"]
    eventually(lambda: organiser.get(path).json()["state"] == "applied")
    assert organiser.get(f"{challenge}/edition").text == CHANGED_FILE
    submission = publish(participant, challenge, own_rules.results_archive(), "Method")
    assert participant.get(submission).json()["evaluation"]["edition_version"] == 2
