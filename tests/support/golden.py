"""Golden cases: results, ground truth, and what the development kits say of them.

They lie beside the checkout, in `../shared/golden`, or below the directory that VOCBOARD_SHARED names; they are no part
of the project, and tests of them are skipped where they are absent.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("VOCBOARD_SHARED") or Path(__file__).parents[2].parent / "shared")

CASES = (
    "voc2006-real",
    "voc2007-real",
    "voc2008-synthetic",
    "voc2009-synthetic",
    "voc2010-synthetic",
    "voc2011-synthetic",
    "voc2012-synthetic",
    "voc2012-real",
)


@dataclass(frozen=True)
class GoldenCase:
    """One case: a development kit tree, an upload, and the kit's scores."""

    name: str

    @property
    def directory(self) -> Path:
        return SHARED / "golden" / self.name

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
    """Return a case, or skip the test if the golden data is not there."""
    case = GoldenCase(name)
    if not case.directory.is_dir():
        pytest.skip(f"no golden data in {case.directory}; VOCBOARD_SHARED names the directory it is in")
    return case
