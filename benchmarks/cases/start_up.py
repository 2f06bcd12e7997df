"""`vocboard validate` of a small archive, from nothing to its output: the whole process."""

import subprocess
import sys
import tarfile
from pathlib import Path

from benchmarks.benchmark import Case, Goal, Implementation, Kind, Run


def make_small(directory: Path, _: float) -> None:
    """Write an archive of one small result file."""
    path = directory / "results" / "VOC2012" / "Main" / "comp3_det_test_car.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"2008_{n:06} 0.{n:04} 10 10 {n % 90 + 20} 60\n" for n in range(1, 400)))
    with tarfile.open(directory / "results.tar.gz", "w:gz") as archive:
        archive.add(directory / "results", "results")


def _command(*arguments: str) -> Run:
    return lambda: subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


VALIDATE = Case(
    name="start-up",
    title="vocboard validate of a small archive, the whole process",
    make=make_small,
    implementations={
        "vocboard": Implementation(
            Kind.OURS,
            lambda directory: _command(
                "-m", "vocboard.commands.main", "validate", "VOC2012", str(directory / "results.tar.gz")
            ),
        ),
        "Python starts": Implementation(Kind.FLOOR, lambda _: _command("-c", "")),
        "Python imports numpy": Implementation(Kind.FLOOR, lambda _: _command("-c", "import numpy")),
    },
    goals=(Goal(0.25, unit="s"),),
)
