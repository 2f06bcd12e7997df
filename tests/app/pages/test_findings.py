"""What stands out in a result, and the tiles of its competitions: only what its page shows to the same viewer."""

import re
import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from lxml import html
from sqlalchemy import select

from tests.support.browsing import browser_of
from tests.support.factories import make_challenge, make_organiser, make_user
from tests.support.phases import main_phase
from tests.support.scored import make_submission, store_scores
from tests.support.site import Site
from vocboard.app.challenges.models import Detail
from vocboard.app.database import now
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.evaluations.service import Diagnosis, store_diagnoses
from vocboard.app.evaluations.visible import DiagnosisState
from vocboard.app.pages.diagnosis import DiagnosisView, Gain, Gains
from vocboard.app.pages.findings import _errors
from vocboard.app.participating.publishing import create_anonymous_link
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.editions import Metric, Task, load
from vocboard.evaluator.scores import CompetitionScores, Measure

LABELS = ("background", *load("VOC2012").competitions["comp5"].classes)
SHARES = {
    "first_results": {"right": 3600.0, "location": 400.0, "similar": 0.0, "other": 0.0, "background": 0.0},
    "objects": {"right": 3000.0, "nearly": 0.0, "missed": 1000.0},
}
ERRORS = {
    "gain": {"location": 0.02, "missed": 0.11, "false_negatives": 0.3},
    "counts": {"location": 20, "missed": 40},
    "per_class": {},
}
COSTS = {"errors": ERRORS, "first_false_positives": {}}
PIXELS: dict[str, Any] = {"pixel_accuracy": 0.9, "confusions": []}


def detection(car: float) -> CompetitionScores:
    return CompetitionScores("comp3", Task.DETECTION, Measure(Metric.AVERAGE_PRECISION, {"car": car, "bird": 0.9}))


def segmentation(quality: float) -> CompetitionScores:
    """Scores of label maps in which a fifth of the trains is background."""
    matrix = np.diag(np.full(len(LABELS), 8_000))
    matrix[LABELS.index("train"), 0] = 2_000
    values = dict.fromkeys(LABELS, quality)
    images = np.full(len(LABELS), 400)
    primary = Measure(Metric.INTERSECTION_OVER_UNION, values)
    return CompetitionScores("comp5", Task.SEGMENTATION, primary, confusion_matrix=matrix, images_by_label=images)


@dataclass
class Scene:
    """A private result in detection and segmentation, and a published one that is better."""

    site: Site
    rules: dict[str, Any] = field(default_factory=dict)
    competitions: tuple[str, ...] = ("comp3", "comp5")

    def __post_init__(self) -> None:
        with self.site.writing() as session:
            organiser, rival, owner = make_organiser(session), make_user(session), make_user(session)
            self.organiser, self.owner = organiser.email, owner.email
            challenge = make_challenge(session, organiser=organiser, competitions=["comp3", "comp5"], **self.rules)
            phase = main_phase(session, challenge.id)
            assert phase.current_scoring_id is not None
            classes = {key: ["car"] for key in self.competitions}
            for who, name, car, quality in ((rival, "Best", 0.8, 0.7), (owner, "Own", 0.5, 0.6)):
                known = {"comp3": detection(car), "comp5": segmentation(quality)}
                published_at = now() if who is rival else None
                made = make_submission(session, challenge, who, name, classes, published_at=published_at)
                scores = {key: known[key] for key in self.competitions}
                store_scores(session, made.id, phase.current_scoring_id, scores, archive_sha256=made.archive_sha256)
                evaluation = session.scalars(select(Evaluation.id).where(Evaluation.submission_id == made.id)).one()
                diagnoses = {"comp3": Diagnosis(COSTS, SHARES), "comp5": Diagnosis(PIXELS, {})}
                store_diagnoses(session, evaluation, diagnoses, noise_key=b"key")
            self.own = made.id
            self.link = create_anonymous_link(session, submission_id=made.id, user=owner)

    def page(self, who: str | None, competition: str = "comp3", path: str = "") -> Any:
        with browser_of(self.site, who) as client:
            answer = client.get(f"{path or f'/submissions/{self.own}'}?competition={competition}")
        assert answer.status_code == 200
        return html.fromstring(answer.text)

    def findings(self, who: str | None, competition: str = "comp3", path: str = "") -> list[str]:
        """The texts of the findings; each leads to what is on the page."""
        page = self.page(who, competition, path)
        links = page.xpath("//ul[@class='findings']//a")
        for link in links:
            assert page.xpath("//*[@id=$target]", target=link.get("href").removeprefix("#"))
        return [link.text_content() for link in links]

    def tiles(self, who: str | None, path: str = "") -> list[str]:
        found = self.page(who, path=path).xpath("//li[contains(@class, 'tile')]")
        return [re.sub(r"\s+", " ", tile.text_content()).strip() for tile in found]

    def change(self, submission_id: uuid.UUID, **values: Any) -> None:
        with self.site.writing() as session:
            for name, value in values.items():
                setattr(session.get_one(Submission, submission_id), name, value)


GAP, WORST = "car: 30.00 points behind the best", "car: 50.00 %, the worst class"
MISSED, LOCATION = "Objects: missed 25 %", "First results: poor localisation or duplicate 10 %"
COST, OTHER_COST = "Missed objects: 11.0 points to gain", "Poor localisation: 2.0 points to gain"
TRAIN = "train labelled background: 20 %"


@pytest.mark.parametrize(
    ("detail", "in_detection", "in_segmentation"),
    [
        (Detail.MEAN, [], []),
        (Detail.CLASSES, [GAP], ["aeroplane: 10.00 points behind the best"]),
        (Detail.CURVES, [MISSED, GAP, LOCATION], ["aeroplane: 10.00 points behind the best", f"{TRAIN}, in steps of"]),
        (Detail.EVERYTHING, [COST, GAP, OTHER_COST], ["aeroplane: 10.00 points behind the best", TRAIN]),
    ],
)
def test_findings_say_what_the_detail_level_shows(
    embedded_site: Site, detail: Detail, in_detection: list[str], in_segmentation: list[str]
) -> None:
    scene = Scene(embedded_site, {"detail": detail, "decimals": 4})
    assert scene.findings(scene.owner) == in_detection
    found = scene.findings(scene.owner, "comp5")
    assert len(found) == len(in_segmentation)
    assert all(text.startswith(said) for text, said in zip(found, in_segmentation, strict=True))
    if detail is Detail.MEAN:
        seen = [MISSED, WORST, LOCATION]  # curves, at every level; the leaderboard has no classes
        assert scene.findings(scene.organiser) == seen


def test_the_ladder_mechanism_hides_findings(embedded_site: Site) -> None:
    rules = {"ladder_step": 0.01, "closes_at": now() + timedelta(days=1)}
    scene = Scene(embedded_site, rules)
    assert scene.findings(scene.owner) == []
    assert "behind the best" in scene.tiles(scene.owner)[0], "of what is released"
    assert scene.findings(scene.organiser)


def test_a_tile_for_each_competition_says_where_the_result_stands(embedded_site: Site) -> None:
    scene = Scene(embedded_site, {"decimals": 4})
    assert scene.tiles(scene.owner) == [
        "Detection, trainval comp3 70.00 % mean AP Would be 2nd of 2 15.00 points behind the best",
        "Segmentation, trainval comp5 60.00 % mean IoU Would be 2nd of 2 10.00 points behind the best",
    ]
    page = scene.page(scene.owner, "comp5")
    links = page.xpath("//nav[@aria-label='Competitions']//a[@class='tab']")
    assert [link.get("aria-current") for link in links] == [None, "page"]
    scene.change(scene.own, published_at=now())
    assert "2nd of 2" in scene.tiles(None)[0]


def test_one_competition_has_one_tile_and_no_links_to_others(embedded_site: Site) -> None:
    scene = Scene(embedded_site, competitions=("comp5",))
    assert len(scene.tiles(scene.owner)) == 1
    assert not scene.page(scene.owner).xpath("//a[@class='tab']")


@pytest.mark.parametrize(("value", "said"), [(0.0004, []), (0.0006, ["Duplicates: 0.1 points to gain"])])
def test_what_is_shown_as_nothing_does_not_stand_out(value: float, said: list[str]) -> None:
    costs = Gains((Gain("Duplicates", value, 1.0, 2),), (), ())
    assert [finding.text for finding in _errors(DiagnosisView(DiagnosisState.KNOWN, gains=costs))] == said


@pytest.mark.parametrize("state", [State.FAILED, State.WITHDRAWN, State.QUEUED])
def test_without_a_result_there_is_neither(embedded_site: Site, state: State) -> None:
    scene = Scene(embedded_site)
    scene.change(scene.own, state=state)
    assert scene.tiles(scene.owner) == scene.findings(scene.owner) == []


def test_a_disqualified_result_has_no_rank(embedded_site: Site) -> None:
    scene = Scene(embedded_site, {"decimals": 4})
    scene.change(scene.own, state=State.DISQUALIFIED, disqualified_at=now(), moderation_reason="Copied")
    assert scene.tiles(scene.owner)[0] == "Detection, trainval comp3 70.00 % mean AP"
    assert scene.findings(scene.owner)[1] == WORST


def test_an_anonymous_link_is_compared_with_nobody(embedded_site: Site) -> None:
    scene = Scene(embedded_site, {"decimals": 4})
    path = f"/anonymous/{scene.link}"
    assert scene.tiles(None, path)[0] == "Detection, trainval comp3 70.00 % mean AP"
    assert scene.findings(None, path=path) == [MISSED, WORST, LOCATION]
