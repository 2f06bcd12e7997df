"""The demo's main challenge: a synthetic test set, two phases, and the results of synthetic methods.

Its main phase is open, and shows participants as little as a test set that is to last should: no upload makes more
than 5 % of a class's positives certain (tests/attack, docs/detail-levels.md). So it has no person layout: the number of
people is public, and a list of right layouts could be confirmed. What all that hides is seen in its phase Practice,
which is closed and shows everything about other images.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.database import Database
from vocboard.commands.demo.backdating import days_ago
from vocboard.commands.demo.development_kit import write_development_kit
from vocboard.commands.demo.example_seeding import in_days
from vocboard.commands.demo.methods import Method
from vocboard.commands.demo.scenes import World, draw_world
from vocboard.commands.demo.seeding import (
    OPEN_RULES,
    Api,
    Rules,
    ensure_challenge,
    ensure_phase,
    has_ground_truth,
    slug_of,
    submit_cast,
    upload_ground_truth,
)
from vocboard.evaluator.editions import Edition, Task, for_image_set

SEED = 2005  # of the synthetic scenes; the year of the first challenge
PRACTICE, PRACTICE_IMAGE_SET = "practice", "val"
EACH_ITS_OWN: Rules = {"shared_quota": False}  # until the cast has submitted: some enter four competitions of actions
PRACTICE_RULES: Rules = {
    "detail": "everything",
    "freeze": "never",
    "image_set": PRACTICE_IMAGE_SET,
    **EACH_ITS_OWN,
}
PRACTICE_OPENED, PRACTICE_SUBMITTED, PRACTICE_CLOSED = 30, 20, 15  # days ago
SUBMITTED = 10  # days ago: longer than the period of the quota, so that the participant has all of it left
DESCRIPTION = (
    "A synthetic test set for trying vocboard: random scenes of ellipses, scored by the rules of {title}.\n\n"
    "The methods are synthetic too: each one's results are the ground truth with noise; better methods have less "
    "noise. "
    "Register, or sign in as the participant, to submit your own results; sign in as the organiser to see all "
    "submissions.\n\n"
    "Results show scores by class in whole per cent, so that uploads reveal little of the ground truth. For curves, "
    "confusion matrices, kinds of errors and person layout, see the results of the phase Practice, which is closed. It "
    "had other images."
)


def fill_with_synthetic(
    edition: Edition, database: Database, *, author_of: Callable[[Method], Api], own: Api, organiser: Api
) -> World:
    """Create what an earlier start has not created of the challenge; return the scenes of its main phase."""
    slug, world = slug_of(edition), draw_world(edition, seed=SEED)
    on_practice = for_image_set(edition, PRACTICE_IMAGE_SET)
    practice = draw_world(on_practice, seed=SEED + 1, main=120, segmented=60, layout=40, action=80, first=5001)
    with days_ago(database, slug, PRACTICE_OPENED):
        title = f"Synthetic objects, by the rules of {edition.title}"
        description = DESCRIPTION.format(title=edition.title)
        rules = {**OPEN_RULES, **EACH_ITS_OWN, "competitions": open_competitions(edition)}
        ensure_challenge(organiser, edition, title=title, description=description, rules=rules)
        rules = {**PRACTICE_RULES, "competitions": list(edition.competitions), "opens_at": in_days(-PRACTICE_OPENED)}
        ensure_phase(organiser, slug, PRACTICE, title="Practice", rules=rules)
        _ensure_ground_truth(organiser, slug, world, edition, MAIN_PHASE)
        _ensure_ground_truth(organiser, slug, practice, on_practice, PRACTICE)
    with days_ago(database, slug, PRACTICE_SUBMITTED):
        submit_cast(slug, on_practice, practice, author_of, own, phase=PRACTICE)
        organiser.patch(f"/challenges/{slug}/phases/{PRACTICE}", json={"closes_at": in_days(-PRACTICE_CLOSED)})
    with days_ago(database, slug, SUBMITTED):
        submit_cast(slug, edition, world, author_of, own)
        organiser.patch(f"/challenges/{slug}", json={"shared_quota": True})
    return world


def open_competitions(edition: Edition) -> list[str]:
    """Return the competitions of the main phase."""
    return [key for key, competition in edition.competitions.items() if competition.task is not Task.LAYOUT]


def _ensure_ground_truth(organiser: Api, slug: str, world: World, edition: Edition, phase: str) -> None:
    if not has_ground_truth(organiser, slug, phase):
        with tempfile.TemporaryDirectory(prefix="vocboard-") as directory:
            tree = write_development_kit(world, edition, Path(directory))
            upload_ground_truth(organiser, slug, tree, phase=phase)
