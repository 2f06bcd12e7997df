"""The demo's main challenge: a synthetic test set, three phases, and the results of synthetic methods.

Its open phases show participants no more than a test set that is to last should: no upload makes more than 5 % of a
class's positives certain (tests/attack, docs/detail-levels.md). So segmentation has its own phase without confusion
matrices, and there is no person layout: the number of people is public, and a list of right layouts could be confirmed.
What that hides is seen in the phase Practice, which is closed and shows everything about other images.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.commands.demo.cast import EXAMPLE, PRIVATE, PUBLISHED, WITHDRAWN
from vocboard.commands.demo.methods import results_archive
from vocboard.commands.demo.scenes import World, draw_world
from vocboard.commands.demo.seeding import OPEN_RULES, DemoChallenge, Entry, Rules, Stage
from vocboard.evaluator.editions import Edition, Task, Training, for_image_set

SEED = 2005  # of the synthetic scenes; the year of the first challenge
PRACTICE, PRACTICE_IMAGE_SET = "practice", "val"
SEGMENTATION = "segmentation"
MAIN_RULES: Rules = {**OPEN_RULES, "detail": "curves"}
OPENED, PRACTISED, PRACTICE_CLOSED, OPENS = 90, 80, 75, 74  # days ago
SUBMITTED = 10  # days ago: longer than the period of the quota, so that the participant has all of it left
DAYS_BETWEEN = 6  # submissions of methods to the main phase
# The methods of the other phases, which have only their competitions: label maps take long to draw and to score.
FEW = [method for method in PUBLISHED if method.training is Training.TRAINVAL][-3:]
DESCRIPTION = (
    "A synthetic test set for trying vocboard, scored by the rules of {title}.\n\n"
    "The methods are synthetic too: each one's results are the ground truth with noise; better methods have less "
    "noise. **Register**, or sign in as the participant, to submit your own results; sign in as the organiser to see "
    "all submissions.\n\n"
    "## What you see\n\n"
    "Results show scores by class in whole per cent, and curves. The phase *Segmentation* shows no confusion matrices, "
    "so that uploads reveal little of the ground truth. For everything about a result, and for person layout, see the "
    "phase *Practice*, which is closed. It had other images."
)


def slug_of(edition: Edition) -> str:
    """Return the short name of the demo's main challenge."""
    return edition.name.lower()


@dataclass(frozen=True, slots=True)
class Drawn:
    """Scenes and results of the main challenge, drawn while the server starts.

    Attributes:
        world: of its open phases.
        archives: results in the main phase, by the name of the method.
    """

    world: World
    archives: Mapping[str, bytes]


def draw(edition: Edition) -> Drawn:
    """Draw the scenes of the open phases, and the results of all methods in the main phase."""
    world, offered = draw_world(edition, seed=SEED), open_competitions(edition)
    methods = (EXAMPLE, PRIVATE, WITHDRAWN, *PUBLISHED)
    return Drawn(world, {method.name: results_archive(method, world, edition, offered) for method in methods})


def fill_with_synthetic(stage: Stage, edition: Edition, drawn: Drawn) -> None:
    """Create the main challenge."""
    on_practice = for_image_set(edition, PRACTICE_IMAGE_SET)
    practice = draw_world(on_practice, seed=SEED + 1, main=120, segmented=60, layout=40, action=80, first=5001)
    maps = segmentations(edition)
    challenge = DemoChallenge(stage, slug_of(edition), edition)
    challenge.test_sets = dict.fromkeys((MAIN_PHASE, SEGMENTATION), (drawn.world, edition))
    challenge.archives = {(MAIN_PHASE, name): archive for name, archive in drawn.archives.items()}
    challenge.test_sets[PRACTICE] = practice, on_practice
    # Until the methods have been submitted: some enter four competitions of actions.
    unshared: Rules = {"shared_quota": False}
    challenge.create(
        OPENED,
        title=f"Synthetic objects, by the rules of {edition.title}",
        **_texts(edition.title),
        visibility="public",
        competitions=open_competitions(edition),
        opens_at=-OPENS,
        **MAIN_RULES,
        **unshared,
    )
    challenge.post(
        OPENED,
        "/phases",
        key=PRACTICE,
        title="Practice",
        detail="everything",
        freeze="never",
        image_set=PRACTICE_IMAGE_SET,
        competitions=[key for key, each in edition.competitions.items() if each.training is Training.TRAINVAL],
        opens_at=-OPENED,
        **unshared,
    )
    if maps:
        # Opened before the main phase: pages lead to the open phase that opened last. Decimals are the challenge's.
        rules = {"opens_at": -PRACTICE_CLOSED, **OPEN_RULES, **unshared}
        del rules["decimals"]
        challenge.post(OPENED, "/phases", key=SEGMENTATION, title="Segmentation", competitions=maps, **rules)
    challenge.upload_truth(OPENED)
    challenge.upload_truth(OPENED, PRACTICE)
    challenge.add_showcase(OPENED)
    entries = [Entry(PRACTISED, method.name, PRACTICE) for method in FEW]
    dated = enumerate(reversed(PUBLISHED))
    entries += [Entry(SUBMITTED + number * DAYS_BETWEEN, method.name) for number, method in dated]
    entries += [Entry(SUBMITTED, method.name, publish=False) for method in (PRIVATE, WITHDRAWN)]
    entries += [Entry(SUBMITTED, method.name, SEGMENTATION) for method in FEW if maps]
    challenge.submit(entries)
    challenge.change(PRACTISED, PRACTICE, closes_at=-PRACTICE_CLOSED)
    challenge.withdraw(SUBMITTED, WITHDRAWN.name)
    for phase in (MAIN_PHASE, SEGMENTATION) if maps else (MAIN_PHASE,):
        challenge.change(SUBMITTED, phase, shared_quota=True)
    challenge.show_statistics(SUBMITTED)


def open_competitions(edition: Edition) -> list[str]:
    """Return the competitions of the main phase."""
    hidden = (Task.LAYOUT, Task.SEGMENTATION)
    return [key for key, competition in edition.competitions.items() if competition.task not in hidden]


def segmentations(edition: Edition) -> list[str]:
    """Return the competitions of the phase Segmentation."""
    return [
        key
        for key, competition in edition.competitions.items()
        if competition.task is Task.SEGMENTATION and competition.training is Training.TRAINVAL
    ]


def _texts(title: str) -> Rules:
    """Return what the page of the challenge says, as the API takes it.

    Args:
        title: of its edition.
    """
    return {
        "overall_rank": "mean_score",
        "summary": "Random scenes of ellipses: try everything that this server does.",
        "description": DESCRIPTION.format(title=title),
        "organised_by": "Demo Organiser, vocboard demo",
        "website": "https://vocboard.example",
        "contact": "organiser@vocboard.example",
        "citation": "@misc{vocboarddemo,\n  title = {Random scenes of ellipses},\n  note = {Synthetic data}\n}",
        "data_links": [
            {"title": "Nothing to download: the scenes are drawn", "url": "https://vocboard.example/scenes"}
        ],
    }
