"""Whether a version of the ground truth can be scored with."""

from vocboard.app.challenges.ground_truth import needs_confirmation
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, TruthState
from vocboard.app.challenges.phases import competitions_scored_with, phase_with_id
from vocboard.app.rescores.models import Rescore, RescoreState


def why_unusable(challenge: Challenge, version: GroundTruthVersion) -> str | None:
    """Say for organisers why a re-score cannot score with a version; None if it can.

    Args:
        challenge: with its competitions and phases.
        version: whose import has ended; one that has not is unusable, too.
    """
    if version.state is not TruthState.READY:
        return f"Version {version.number} cannot be scored with: it is {version.state}."
    if needs_confirmation(version):
        return f"Version {version.number} has warnings. Read and confirm them first."
    if phase_with_id(challenge, version.phase_id).scoring_id is None and challenge.imported_at is None:
        return "This challenge has no current ground truth yet, so there is nothing to score again."
    known = set(version.competitions or ())
    if missing := [key for key in competitions_scored_with(challenge, version.phase_id) if key not in known]:
        return (
            f"Version {version.number} cannot score {', '.join(missing)}. Remove these competitions from the "
            "challenge, or upload a version that can score them."
        )
    return None


def has_unused_truth(rescore: Rescore) -> bool:
    """Whether a re-score failed before it evaluated anything."""
    return rescore.state is RescoreState.FAILED and rescore.scoring_id is None


def awaits_confirmation(rescore: Rescore, challenge: Challenge) -> bool:
    """Whether a re-score evaluated nothing because its ground truth has warnings that an organiser can still confirm.

    Args:
        rescore: with its ground truth version.
        challenge: its challenge.
    """
    version = rescore.ground_truth_version
    is_asked = has_unused_truth(rescore) and version.state is TruthState.READY and challenge.archived_at is None
    return is_asked and needs_confirmation(version)
