"""Golden cases: results, ground truth, and what the development kits say of them.

The synthetic ones are in tests/golden. The real ones may not be copied into the project: they are beside the checkout,
in `../shared/golden`, or in the directory that VOCBOARD_SHARED names. Tests of one that is absent are skipped.
"""

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from tests.support.run_files import made_once
from vocboard.evaluator.editions import load
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.ground_truth.reader import read_ground_truth

ROOT = Path(__file__).parents[2]
SYNTHETIC = ROOT / "tests" / "golden"
REAL = Path(os.environ.get("VOCBOARD_SHARED") or ROOT.parent / "shared") / "golden"

_NAMES = (
    "voc2006-real",
    "voc2007-real",
    "voc2008-synthetic",
    "voc2009-synthetic",
    "voc2010-synthetic",
    "voc2011-synthetic",
    "voc2012-synthetic",
    "voc2012-real",
)


def _in_tiers(marks: dict[str, pytest.MarkDecorator]) -> list[ParameterSet]:
    return [pytest.param(name, marks=marks.get(name, ())) for name in _NAMES]


CASES = _in_tiers({"voc2012-real": pytest.mark.full})
# For tests of what else is true of each case: the two largest take seconds in each.
CASES_IN_TIERS = _in_tiers({"voc2007-real": pytest.mark.full, "voc2012-real": pytest.mark.long})


@dataclass(frozen=True)
class GoldenCase:
    """One case: a development kit tree, an upload, and the kit's scores."""

    name: str

    @property
    def directory(self) -> Path:
        return (SYNTHETIC if self.name.endswith("-synthetic") else REAL) / self.name

    @property
    def edition(self) -> str:
        return "VOC" + self.name[3:7]

    @property
    def results(self) -> Path:
        return self.directory / "results.tar.gz"

    @property
    def ground_truth(self) -> Path:
        return self.directory / "ground-truth.tar.gz"

    def expected(self) -> dict[str, dict[str, Any]]:
        """The kit's numbers by competition key; scores are strings of 17 digits."""
        content = json.loads((self.directory / "expected.json").read_text())
        return {key: value for key, value in content.items() if key.startswith("comp")}


def golden(name: str) -> GoldenCase:
    """Return a case, or skip the test if it is one of real data that is not on this machine."""
    case = GoldenCase(name)
    if case.directory.parent == REAL and not case.directory.is_dir():
        pytest.skip(f"no real golden data in {case.directory}; set VOCBOARD_SHARED to the directory that has golden/")
    return case


@cache
def golden_truth(name: str) -> GroundTruth:
    """Return the ground truth of a case, as the worker keeps it: read once in a run, which takes seconds."""
    case = golden(name)

    def read(path: Path) -> None:
        read_ground_truth(case.ground_truth, load(case.edition)).save(path)

    return GroundTruth.load(made_once(f"{name}.truth", read))
