"""How the ground truth of a re-score differs from the current one, in what organisers may see of it."""

from typing import Any

from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge, GroundTruthVersion
from vocboard.app.challenges.other_images import images_of_version, number_of
from vocboard.app.challenges.phases import phase_with_id
from vocboard.app.challenges.queries import truth_of_scoring


def truth_changes(session: Session, challenge: Challenge, version: GroundTruthVersion) -> dict[str, Any]:
    """Return how the images, and the classes that have objects, differ from those of the current version."""
    current = truth_of_scoring(session, phase_with_id(challenge, version.phase_id).scoring_id) or version
    after = images_of_version(session, version.id) or {}
    before = images_of_version(session, current.id) or after
    old, new = _classes(current), _classes(version)
    return {
        "images": {"before": number_of(before), "after": number_of(after), "differ": before != after},
        "classes": {"missing": sorted(old - new), "new": sorted(new - old)},
    }


def _classes(version: GroundTruthVersion) -> set[str]:
    """The classes that have objects in any of the image sets that are scored."""
    return {
        name
        for numbers in (version.summary or {}).values()
        for name, counts in numbers.get("classes", {}).items()
        if counts.get("images")
    }
