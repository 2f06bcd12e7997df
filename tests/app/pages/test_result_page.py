"""A result beside the leaderboard and the version before it: what its owner and others see of it."""

import re
import uuid
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from lxml import html

from tests.support.browsing import browser_of
from tests.support.factories import make_challenge, make_organiser, make_user
from tests.support.phases import main_phase
from tests.support.scored import make_published, make_scored
from tests.support.site import Site
from vocboard.app.challenges.models import Challenge, Detail
from vocboard.app.database import now
from vocboard.app.submissions.models import Submission
from vocboard.evaluator.editions import Metric
from vocboard.evaluator.tasks.definitions import METRICS

HOUR = timedelta(hours=1)


@dataclass
class Scene:
    """A challenge of one class with two rivals on its board, and a method with two private versions.

    Attributes:
        own: the second version.
    """

    site: Site
    rules: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with self.site.writing() as session:
            organiser, rival = make_organiser(session), make_user(session)
            owner = make_user(session)
            self.owner, self.rival, self.organiser = owner.email, rival.email, organiser.email
            given = {"competitions": ["comp1"], "decimals": 4, **self.rules}
            challenge = make_challenge(session, organiser=organiser, **given)
            self.challenge_id = challenge.id
            for number, score in enumerate((0.8, 0.6)):
                make_scored(session, challenge, rival, f"Rival {number}", score=score, published_at=now() - HOUR)
            made = (
                make_scored(session, challenge, owner, "Own", score=score, created_at=now() - age)
                for score, age in ((0.5, 2 * HOUR), (0.7, HOUR))
            )
            self.first, self.own = (submission.id for submission in made)

    def page(self, who: str | None, submission_id: uuid.UUID | None = None, query: str = "") -> str:
        """What somebody sees of the second version, its words in one line; empty if there is no such page."""
        with browser_of(self.site, who) as client:
            answer = client.get(f"/submissions/{submission_id or self.own}{query}")
        if answer.status_code == 404:
            return ""
        assert answer.status_code == 200
        main = answer.text[answer.text.index("<main") : answer.text.index("</main>")]
        return " ".join(re.sub("<[^>]*>", " ", main).split())

    def change(self, **values: Any) -> None:
        with self.site.writing() as session:
            main = main_phase(session, self.challenge_id)
            for name, value in values.items():
                assert hasattr(main, name)
                setattr(main, name, value)

    def publish(self) -> None:
        with self.site.writing() as session:
            session.get_one(Submission, self.own).published_at = now()


def test_the_owner_sees_the_rank_to_come_and_the_changes(embedded_site: Site) -> None:
    scene = Scene(embedded_site)
    page = scene.page(scene.owner)
    assert "70.00 % mean AP Would be 2nd of 3 " in page
    assert "+20.00 since the previous version" in page
    assert "car 70.00 +20.00 −10.00" in page
    assert "Private" in page
    assert "since" not in scene.page(scene.owner, scene.first).split("Provenance")[0]


@pytest.mark.parametrize(("is_higher_better", "kinds"), [(True, ["up", "down"]), (False, ["down", "down"])])
def test_what_is_better_by_the_metric_looks_so(
    embedded_site: Site, monkeypatch: pytest.MonkeyPatch, is_higher_better: bool, kinds: list[str]
) -> None:
    definition = replace(METRICS[Metric.AVERAGE_PRECISION], higher_is_better=is_higher_better)
    monkeypatch.setitem(METRICS, Metric.AVERAGE_PRECISION, definition)
    scene = Scene(embedded_site)
    with browser_of(embedded_site, scene.owner) as client:
        page = html.fromstring(client.get(f"/submissions/{scene.own}").text)
    found = page.xpath("//tbody/tr[th='car']/td[contains(@class, 'difference')]/@class")
    assert found == [f"difference {kind}" for kind in kinds]  # the change, and the gap to the best


def test_published_everyone_sees_the_rank_but_not_private_versions(embedded_site: Site) -> None:
    scene = Scene(embedded_site)
    assert scene.page(None) == scene.page(scene.rival) == ""
    scene.publish()
    for who in (None, scene.rival):
        page = scene.page(who)
        assert "2nd of 3" in page
        assert "car 70.00 −10.00" in page
        assert "+20.00" not in page, "the version before is private"


@pytest.mark.parametrize(
    ("rules", "seen"),
    [
        ({"leaderboard_from": now() + HOUR}, []),
        ({"anonymous_until": now() + HOUR}, ["Would be 2nd of 3", "70.00 +20.00 −10.00"]),
        ({"detail": Detail.MEAN}, ["Would be 2nd of 3", "only show means"]),
    ],
)
def test_nothing_is_said_that_the_leaderboard_does_not_show(
    embedded_site: Site, rules: dict[str, Any], seen: list[str]
) -> None:
    scene = Scene(embedded_site, rules)
    page = scene.page(scene.owner)
    assert "+20.00 since the previous version" in page, "own results are always comparable"
    assert all(text in page for text in seen)
    assert "Rival" not in page
    if "leaderboard_from" in rules:
        assert not any(text in page for text in ("Would be", "of 3", "−10.00"))
        assert "Would be 2nd of 3" in scene.page(scene.organiser)
    if "detail" in rules:
        assert "−10.00" not in page


def test_after_freezing_no_rank_is_promised(embedded_site: Site) -> None:
    scene = Scene(embedded_site)
    scene.change(closes_at=now() - HOUR / 2)
    assert "published now, it would be a later result that does not count" in scene.page(scene.owner)
    scene.publish()
    page = scene.page(None)
    assert "A later result: it does not count on the frozen leaderboard" in page
    assert "2nd of" not in page


def test_a_result_of_some_classes_is_not_ahead_of_complete_ones(embedded_site: Site) -> None:
    scene = Scene(embedded_site)
    with embedded_site.writing() as session:
        make_published(session, session.get_one(Challenge, scene.challenge_id), make_user(session), "Complete", 0.4)
    page = scene.page(scene.owner)
    assert "Would be 3rd of 4" in page
    assert "ahead of the next" not in page


def test_classes_are_sorted_by_what_the_address_says(embedded_site: Site) -> None:
    scene = Scene(embedded_site)
    assert scene.page(scene.owner, query="?sort=gap").index("car 70.00") < scene.page(scene.owner).index("car 70.00")
    assert scene.page(scene.owner, query="?sort=nonsense") == scene.page(scene.owner)
