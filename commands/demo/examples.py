"""The demo's example challenges: one in each state, held by the same organiser over three years.

Each has a test set of its own, drawn from a seed of its own, and shows no more of it than scores by class: the test
sets are small, and curves would reveal more (docs/detail-levels.md). Only the validation images of `harbour-2026` are
shown in full; they are other scenes than its test images.
"""

from dataclasses import replace
from pathlib import Path

from vocboard.commands.demo import cast as methods
from vocboard.commands.demo.scenes import Scene, World, draw_world
from vocboard.commands.demo.seeding import OPEN_RULES, WEEK_SECONDS, DemoChallenge, Stage, in_days
from vocboard.evaluator.editions import Edition, for_image_set

IMAGES = 240  # of each test set: about 300 objects of each class, see `scenes.MAIN_IMAGES`
VALIDATION_IMAGES = 80
FIRST_VALIDATION_IMAGE = 5001
VALIDATION = "val"  # image set
MISLABELLED_IMAGES = 12
SLUGS = ("harbour-2024", "orchard-2025", "harbour-2025", "orchard-2026", "harbour-2026", "harbour-2027")
DAY_SECONDS = 24 * 3600


def draw_test_set(slug: str, edition: Edition) -> World:
    """Draw the test set of an example challenge."""
    return draw_world(edition, seed=SLUGS.index(slug), main=IMAGES)


def draw_validation_set(slug: str, edition: Edition) -> World:
    """Draw the validation set of an example challenge: other scenes with other names."""
    drawn_on = for_image_set(edition, VALIDATION)
    return draw_world(drawn_on, seed=100 + SLUGS.index(slug), main=VALIDATION_IMAGES, first=FIRST_VALIDATION_IMAGE)


def open_with_phases(stage: Stage) -> None:
    """Two phases are open: validation, which shows everything, and test, which shows means without names."""
    challenge = DemoChallenge(stage, "harbour-2026", "harbour")
    world, validation = (draw(challenge.slug, challenge.edition) for draw in (draw_test_set, draw_validation_set))
    drawn_on = for_image_set(challenge.edition, VALIDATION)
    challenge.create(
        75,
        title="Harbour 2026",
        description="Find barges, buoys, dinghies and ferries in pictures of a harbour.\n\n"
        "Try your method in the phase Validation, which shows every number. The phase Test counts: two submissions a "
        "week, only means that are new bests are shown, and the leaderboard names nobody until it closes.",
        visibility="public",
        phase_title="Test",
        detail="mean",
        opens_at=in_days(-12),
        closes_at=in_days(24),
        anonymous_until=in_days(24),
        ladder_step=0.01,
        anywhere_on_earth=True,
        quota_count=2,
        quota_period_seconds=WEEK_SECONDS,
    )
    challenge.add_phase(
        75,
        "validation",
        title="Validation",
        image_set=VALIDATION,
        detail="everything",
        opens_at=in_days(-60),
        closes_at=in_days(3),
        quota_count=10,
        quota_period_seconds=DAY_SECONDS,
        freeze="never",
    )
    challenge.upload_truth(74, world)
    challenge.upload_truth(74, validation, drawn_on, phase="validation")
    for days, method in ((52.1, methods.MOORING), (47.35, methods.QUAYSIDE), (33.6, methods.TIDELINE)):
        challenge.submit(days, method, validation, drawn_on, phase="validation")
    challenge.submit(9.2, methods.FIRST_TRY, validation, drawn_on, phase="validation", publish=False)
    submitted = (
        (11.45, methods.QUAYSIDE),
        (8.55, methods.TIDELINE),
        (6.3, methods.WATERLINE),
        (4.1, methods.LIGHTHOUSE),
    )
    for days, method in submitted:
        challenge.submit(days, method, world)
    challenge.submit(2.35, methods.FIRST_TRY, world, publish=False)
    challenge.give_extra_quota(1, count=1, until_days=14, reason="Lost two days to the power cut on campus.")


def corrected(stage: Stage) -> None:
    """It is open, and everything was scored again after mistakes in the ground truth had been found."""
    challenge = DemoChallenge(stage, "orchard-2026", "orchard")
    world = draw_test_set(challenge.slug, challenge.edition)
    challenge.create(
        64,
        title="Orchard 2026",
        description="Find and name the fruit on trees.\n\n"
        "The ground truth was corrected while the challenge was running: the leaderboard says when and why.",
        visibility="public",
        opens_at=in_days(-60),
        closes_at=in_days(40),
        **OPEN_RULES,
    )
    challenge.upload_truth(62, mislabelled(world, "pear", "apple"))
    submitted = (
        (55.6, methods.ORCHARDIST),
        (41.2, methods.WINDFALL),
        (30.45, methods.GRAFTED),
        (21.55, methods.CANOPY),
    )
    for days, method in submitted:
        challenge.submit(days, method, world)
    challenge.upload_truth(10, world, becomes_current=False)
    reason = f"Pears in {MISLABELLED_IMAGES} images had been labelled as apples. Thanks to H. Nakamura for the report."
    challenge.rescore(9.3, 2, reason)


def frozen(stage: Stage) -> None:
    """Its leaderboard was frozen for a workshop; submissions go on, and are shown separately."""
    challenge = DemoChallenge(stage, "harbour-2025", "harbour")
    world = draw_test_set(challenge.slug, challenge.edition)
    challenge.create(
        400,
        title="Harbour 2025",
        description="The leaderboard was frozen for the workshop on harbour perception. The challenge goes on as a "
        "benchmark: later results are shown separately.",
        visibility="public",
        opens_at=in_days(-390),
        **OPEN_RULES,
    )
    challenge.upload_truth(395, world)
    in_time = (
        (372.3, methods.WATERLINE),
        (340.1, methods.BREAKWATER),
        (310.35, methods.QUAYSIDE),
        (291.6, methods.LIGHTHOUSE),
    )
    for days, method in in_time:
        challenge.submit(days, method, world)
    challenge.change(285.1, freeze="date", freezes_at=in_days(-280))
    challenge.submit(120.2, methods.TIDELINE, world)
    challenge.submit(17.45, methods.improved(methods.QUAYSIDE, "Quayside 2", 0.81), world)
    challenge.invite(15.35, "ines.kaya@coastal-perception.example")


def closed(stage: Stage) -> None:
    """It has closed, which froze its leaderboard; one submission was disqualified."""
    challenge = DemoChallenge(stage, "orchard-2025", "orchard")
    world = draw_test_set(challenge.slug, challenge.edition)
    challenge.create(
        460,
        title="Orchard 2025",
        description="Find and name the fruit on trees. This challenge has closed; its final leaderboard stays.",
        visibility="public",
        detail="classes",
        opens_at=in_days(-450),
        quota_count=3,
        quota_period_seconds=WEEK_SECONDS,
    )
    challenge.upload_truth(455, world)
    for days, method in ((431.55, methods.ORCHARDIST), (420.3, methods.LEAKED), (402.1, methods.WINDFALL)):
        challenge.submit(days, method, world)
    challenge.disqualify(398.35, methods.LEAKED, "Its author confirmed that it was trained on the test images.")
    challenge.submit(391.6, methods.GRAFTED, world)
    challenge.change(388.6, closes_at=in_days(-380))


def archived(stage: Stage) -> None:
    """It is closed and archived: read-only."""
    challenge = DemoChallenge(stage, "harbour-2024", "harbour")
    world = draw_test_set(challenge.slug, challenge.edition)
    challenge.create(
        800,
        title="Harbour 2024",
        description="The first harbour challenge. It is archived: its results remain, and nothing can be changed.",
        visibility="public",
        detail="classes",
        opens_at=in_days(-790),
        quota_count=5,
        quota_period_seconds=WEEK_SECONDS,
    )
    challenge.upload_truth(795, world)
    for days, method in ((771.2, methods.WATERLINE), (748.45, methods.MOORING), (733.55, methods.BREAKWATER)):
        challenge.submit(days, method, world)
    challenge.change(730.2, closes_at=in_days(-720))
    challenge.archive(560.4)


def draft(stage: Stage) -> None:
    """Only its organisers see it: it has a checklist, and ground truth that could not be read."""
    challenge = DemoChallenge(stage, "harbour-2027", "harbour")
    challenge.create(
        6,
        title="Harbour 2027",
        description="Next year: at night and in fog.",
        opens_at=in_days(90),
        closes_at=in_days(180),
        detail="mean",
    )
    challenge.upload_truth(2, draw_test_set(challenge.slug, challenge.edition), spoil=malformed)


def malformed(tree: Path) -> None:
    """Make two annotations of a tree unreadable."""
    first, second, *_ = sorted((tree / "Annotations").iterdir())
    first.write_text(first.read_text().replace("<xmin>", "<xmin>left of ", 1))
    second.write_text(second.read_text().removesuffix("</annotation>\n"))


def mislabelled(world: World, wrong: str, right: str) -> World:
    """Return the scenes with one class labelled as another in the first images that show it."""
    sets = {}
    for key, scenes in world.sets.items():
        shown = [scene for scene in scenes if any(thing.class_name == wrong for thing in scene.objects)]
        chosen = {scene.image for scene in shown[:MISLABELLED_IMAGES]}
        sets[key] = tuple(_relabelled(one, wrong, right) if one.image in chosen else one for one in scenes)
    return World(sets)


def _relabelled(scene: Scene, old: str, new: str) -> Scene:
    objects = (replace(thing, class_name=new) if thing.class_name == old else thing for thing in scene.objects)
    return replace(scene, objects=tuple(objects))


EXAMPLES = (open_with_phases, corrected, frozen, closed, archived, draft)  # each creates a challenge
