"""Growth is measured by name, and what is to be plotted is among what is measured."""

from pathlib import Path

from benchmarks.growth import GROWTHS


def test_growth_of_detections_is_measured(tmp_path: Path) -> None:
    growth = GROWTHS["detections"]
    figures = growth.measure(2_000, 1, tmp_path)
    assert growth.plotted.keys() <= figures.keys()
    assert all(value > 0 for value in figures.values())
