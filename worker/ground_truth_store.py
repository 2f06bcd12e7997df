"""Storage of imported ground truth, which only workers can read."""

from functools import lru_cache
from pathlib import Path

from vocboard.app.settings import Settings
from vocboard.evaluator.ground_truth import GroundTruth

KEPT = 2  # cached per process: the next submission is usually for the same challenge


def path_of(settings: Settings, sha256: str) -> Path:
    """Return the path of ground truth with this hash, whether or not it exists; see `GroundTruth.save`."""
    return settings.truth / f"{sha256}.npz"


@lru_cache(maxsize=KEPT)
def load(path: Path) -> GroundTruth:
    """Return stored ground truth, cached because its content never changes.

    Raises:
        GroundTruthFileError, OSError: as for `GroundTruth.load`.
    """
    return GroundTruth.load(path)
