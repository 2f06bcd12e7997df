"""The small world of four images, as ground truth."""

import pytest

import vocboard
from tests.support.small_world import EDITION, ground_truth_archive
from vocboard.evaluator.ground_truth import GroundTruth


@pytest.fixture(scope="session")
def truth(tmp_path_factory: pytest.TempPathFactory) -> GroundTruth:
    path = tmp_path_factory.mktemp("small") / "truth.tar.gz"
    path.write_bytes(ground_truth_archive())
    return vocboard.read_ground_truth(path, EDITION)
