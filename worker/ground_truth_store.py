"""Imported ground truth, where the worker alone can read it."""

from functools import lru_cache
from pathlib import Path

from vocboard.app.settings import Settings
from vocboard.evaluator.ground_truth import GroundTruth

KEPT = 2  # in memory of each process: the next submission is most often to the same challenge


def path_of(settings: Settings, sha256: str) -> Path:
    """Where ground truth with this content lies, or would lie; see `GroundTruth.save`."""
    return settings.truth / f"{sha256}.npz"


@lru_cache(maxsize=KEPT)
def load(path: Path) -> GroundTruth:
    """Return stored ground truth; its content never changes, so that it is read once.

    Raises:
        GroundTruthFileError, OSError: as `GroundTruth.load`.
    """
    return GroundTruth.load(path)
