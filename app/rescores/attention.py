"""What an organiser has to read, and confirm by the challenge's name, before a re-score is applied."""

from collections.abc import Mapping
from typing import Any

from vocboard.app.rescores.models import Rescore, RescoreState
from vocboard.evaluator.problems import counted


def attention(rescore: Rescore) -> tuple[str, ...]:
    """Return why applying a re-score has to be confirmed, as sentences; empty if it does not.

    Published results are lost, or it is against other images or other classes.
    """
    if rescore.state is not RescoreState.READY or rescore.report is None:
        return ()
    report: Mapping[str, Any] = rescore.report
    found = []
    if lost := report.get("lost_published", 0):
        found.append(f"{counted(lost, 'published submission')} would lose results, and leave the leaderboards.")
    images = report.get("images")
    if images is not None and images["differ"]:
        found.append(f"The test images differ: {images['before']:,} before, {images['after']:,} after.")
    classes = report.get("classes", {})
    if names := classes.get("missing"):
        have = "class has" if len(names) == 1 else "classes have"
        found.append(f"{len(names)} {have} no object any more: {', '.join(names)}.")
    if names := classes.get("new"):
        found.append(f"{counted(len(names), 'class', 'classes')} had no object before: {', '.join(names)}.")
    return tuple(found)
