"""A challenge with a custom edition: the small world by the rules of VOC2007, and changed rules for it."""

import io
import tarfile
from pathlib import Path

from tests.support import small_world
from vocboard.evaluator.editions import source
from vocboard.evaluator.editions.loader import read_text

NAME = "Harbour"
EDITION_FILE = source(small_world.EDITION).replace(f'name = "{small_world.EDITION}"', f'name = "{NAME}"')
# Boxes must overlap by more than 0.9; average precision is the area; the leaderboard shows one more metric.
CHANGED_FILE = (
    EDITION_FILE.replace("threshold = 0.5\nstrict = false", "threshold = 0.9\nstrict = true")
    .replace('interpolation = "11-point"\nwithout_positives = "zero"  # as in the kit\n', 'interpolation = "area"\n')
    .replace(
        'secondary = ["area_under_curve", "average_precision_with_difficult"]',
        'secondary = ["average_precision_with_difficult"]\nboard = ["average_precision_with_difficult"]',
    )
)
EDITION, CHANGED = read_text(EDITION_FILE, "harbour.toml"), read_text(CHANGED_FILE, "changed.toml")
# The first and the second car overlap by 0.88 and 1: only one of them is found by the changed rules.
LOOSE_BOXES = ["000001 0.9 10 10 50 45", "000003 0.8 10 10 50 50", "000002 0.7 20 20 60 60"]


def ground_truth_archive() -> bytes:
    """Return the tree of the small world, in a folder of the edition's name."""
    return _renamed(small_world.ground_truth_archive())


def results_archive(**changed: list[str] | None) -> bytes:
    """Return results as `small_world.results_archive` does, in a folder of the edition's name."""
    return _renamed(small_world.results_archive(**changed))


def write(directory: Path, **files: bytes) -> list[Path]:
    """Write archives to a directory, in order."""
    paths = [directory / f"{name}.tar.gz" for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        path.write_bytes(content)
    return paths


def _renamed(archive: bytes) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        files = {name: tar.extractfile(name).read() for name in tar.getnames()}  # type: ignore[union-attr]
    return small_world.packed((name.replace(small_world.EDITION, NAME), content) for name, content in files.items())
