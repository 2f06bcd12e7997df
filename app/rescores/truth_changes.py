"""How the ground truth of a re-score differs from the current one, in what organisers may see of it."""

from typing import Any

from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge, GroundTruthVersion
from vocboard.app.challenges.other_images import images_of_version, number_of
from vocboard.app.challenges.phases import phase_with_id
from vocboard.app.challenges.queries import truth_of_scoring


def truth_changes(session: Session, challenge: Challenge, version: GroundTruthVersion) -> dict[str, Any]:
    """Return how the images, and the classes that have objects, differ from those of the current version.

    Classes are compared in each image set of each task that both versions can score: a class without objects in the
    test set has lost its scores, whatever the other image sets of the tree have of it.
    """
    current = truth_of_scoring(session, phase_with_id(challenge, version.phase_id).scoring_id) or version
    after = images_of_version(session, version.id) or {}
    before = images_of_version(session, current.id) or after
    old, new = _classes(current), _classes(version)
    both = before.keys() & after.keys()
    return {
        "images": {"before": number_of(before), "after": number_of(after), "differ": before != after},
        "classes": {
            "missing": sorted(set().union(*(old.get(key, set()) - new.get(key, set()) for key in both))),
            "new": sorted(set().union(*(new.get(key, set()) - old.get(key, set()) for key in both))),
        },
    }


def _classes(version: GroundTruthVersion) -> dict[str, set[str]]:
    """The classes that have objects, by task and image set: `detection/test`."""
    return {
        key: {name for name, counts in numbers.get("classes", {}).items() if counts.get("images")}
        for key, numbers in (version.summary or {}).items()
    }
